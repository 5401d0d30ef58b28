// The only script that runs before a click: it shows the demos where they can run, and else says why they cannot.
(() => {
  const base = new URL(".", document.currentScript.src);
  const missing =
    location.protocol === "file:"
      ? "This page was opened as a file, and a browser loads no models from files. Serve the folder of the site " +
        "(python -m http.server) and open its address, http://localhost:8000."
      : typeof WebAssembly !== "object" || typeof DecompressionStream !== "function"
        ? "This demo needs a browser with WebAssembly and DecompressionStream, such as any of 2023 or later. The " +
          "command line of the course does the same without a browser."
        : "";
  // A browser gives the camera only to pages from https or from the same machine.
  const noCamera = navigator.mediaDevices?.getUserMedia
    ? ""
    : "This demo needs a camera, and the browser gives none to this page: open it by https or from localhost. The " +
      "command line of the course does the same without a browser.";
  // The script stands behind each demo of a page: the first one that sees a demo takes it.
  for (const demo of document.querySelectorAll(".try-it:not([data-started])")) {
    demo.dataset.started = "";
    const note = demo.querySelector(".try-it-note");
    const reason = missing || (demo.dataset.demo === "sign_language" ? noCamera : "");
    if (reason) {
      note.textContent = reason;
      continue;
    }
    note.hidden = true;
    const button = demo.querySelector(".try-it-load");
    const status = demo.querySelector("[role=status]");
    button.hidden = false;
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const { open } = await import(new URL(`${demo.dataset.demo}_demo.js`, base));
        await open(demo, new URL("../", base), (text) => (status.textContent = text));
        button.hidden = true;
        demo.querySelector(".try-it-form").hidden = false;
        demo.querySelector(".try-it-form :is(textarea, input, button)").focus();
        status.textContent = "Loaded. Nothing that you enter leaves this machine.";
      } catch (error) {
        // Another click may find the network back.
        button.disabled = false;
        status.textContent = `The model could not be loaded (${error.message}). Click again to retry.`;
      }
    });
  }
})();
