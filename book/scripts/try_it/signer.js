// The networks of the sign demo, as the page calls them: landmarks of pictures, and the matcher of words.
import { Matcher } from "./matching.js";

export class Signer {
  #waiting = new Map();
  #number = 0;

  static async load(root, say) {
    const signer = new Signer(new Worker(new URL("sign_worker.js", import.meta.url), { type: "module" }), say);
    try {
      const { weights } = await signer.#ask("load", { root: root.href });
      signer.matcher = new Matcher((signs) => signer.#ask("embed", { signs }), weights);
    } catch (error) {
      signer.worker.terminate();
      throw error;
    }
    return signer;
  }

  constructor(worker, say) {
    this.worker = worker;
    worker.addEventListener("message", ({ data: { id, said, answer, error } }) => {
      if (said) return say(said);
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(answer);
      else reject(new Error(error));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      for (const { reject } of this.#waiting.values()) reject(new Error("the worker of the page did not start"));
      this.#waiting.clear();
    });
  }

  // Body and hands in a picture (ImageData), whose pixels are given away.
  track({ data, width, height }, seconds, begins) {
    return this.#ask("track", { picture: { data, width, height }, seconds, begins }, [data.buffer]);
  }

  #ask(task, what, transfer = []) {
    const id = this.#number++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, task, ...what }, transfer);
    });
  }
}
