// Runs the networks of the sign demo beside the page, which stays quick meanwhile. Takes { id, task, ... } and answers
// { id, answer } or { id, error }; while it loads it tells { said }.
import { LandmarkTracker } from "./landmarks.js";
import { loadModel } from "./runtime.js";

const N_FEATURES = 137;
let ort, tracker, embedding;

const tasks = {
  async load({ root }) {
    const loaded = await loadModel(new URL(root), "sign_language", (said) => postMessage({ said }));
    ({ ort } = loaded);
    embedding = loaded.sessions["program.onnx"];
    tracker = new LandmarkTracker(ort, loaded.sessions);
    return loaded.card;
  },

  // Landmarks of one picture; `begins` where another film begins.
  track({ picture, seconds, begins }) {
    if (begins) tracker.reset();
    return tracker.track(picture, seconds);
  },

  // Vectors of signs from their features.
  async embed({ signs }) {
    const nSteps = signs[0].length / N_FEATURES;
    const steps = new Float32Array(signs.length * signs[0].length);
    signs.forEach((sign, i) => steps.set(sign, i * sign.length));
    const tensor = new ort.Tensor("float32", steps, [signs.length, nSteps, N_FEATURES]);
    const { vectors } = await embedding.run({ steps: tensor });
    const width = vectors.dims[1];
    return signs.map((_, i) => [...vectors.data.subarray(i * width, (i + 1) * width)]);
  },
};

// One task after another, in the order in which they come.
let before = Promise.resolve();
addEventListener("message", ({ data }) => {
  before = before.then(async () => {
    try {
      postMessage({ id: data.id, answer: await tasks[data.task](data) });
    } catch (error) {
      postMessage({ id: data.id, error: error.message });
    }
  });
});
