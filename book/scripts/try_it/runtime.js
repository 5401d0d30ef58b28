// Loads files that are stored compressed, and onnxruntime with the models.

let runtime = null;

async function answered(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname.split("/").pop()}: HTTP status ${response.status}`);
  return response;
}

// Some hosts unpack .gz files on the way and some do not, so the first two bytes decide.
async function unpacked(url) {
  const bytes = new Uint8Array(await (await answered(url)).arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// root: the site's static folder. One thread: more need headers (COOP, COEP) that static hosts do not send.
async function loadRuntime(root) {
  const folder = new URL("onnxruntime/", root);
  const [ort, binary] = await Promise.all([
    import(new URL("ort.wasm.bundle.min.mjs", folder)),
    unpacked(new URL("ort-wasm-simd-threaded.wasm.gz", folder)),
  ]);
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = binary;
  return ort;
}

// The card of an exported folder, and its graphs as sessions by file name.
export async function loadModel(root, name, say) {
  const folder = new URL(`models/${name}/`, root);
  say("Loading the model …");
  runtime ??= loadRuntime(root);
  runtime.catch(() => (runtime = null));
  const [ort, card] = await Promise.all([runtime, answered(new URL("export.json", folder)).then((a) => a.json())]);
  const files = Object.keys({ ...card.files, ...card.networks });
  const graphs = await Promise.all(files.map((file) => unpacked(new URL(`${file}.gz`, folder))));
  say("Preparing the model …");
  const sessions = {};
  for (const [i, file] of files.entries()) sessions[file] = await ort.InferenceSession.create(graphs[i]);
  return { ort, card, sessions };
}
