// The recogniser of lines in the browser: the CTC head of the model that ships, as ExportedReader in
// coursepkg.projects.ocr.export reads by it.
import { fitted } from "./pictures.js";
import { loadModel } from "./runtime.js";

const BLANK = 0;

export class Reader {
  static async load(root, say) {
    return new Reader(await loadModel(root, "ocr", say));
  }

  constructor({ ort, card, sessions }) {
    Object.assign(this, { ort, card, session: sessions["program.onnx"] });
  }

  // What a picture of one line says.
  async read(gray) {
    if (Math.min(gray.width, gray.height) < 2) throw new Error("The picture is too small to hold text.");
    const { pixels, width, height } = fitted(gray, this.card);
    const wide = Math.max(width, this.card.widths[0]);
    const values = new Float32Array(wide * height).fill(1);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) values[y * wide + x] = pixels[y * width + x] / 127.5 - 1;
    }
    const images = new this.ort.Tensor("float32", values, [1, 1, height, wide]);
    const { log_probs: found } = await this.session.run({ images });
    return this.#text(found);
  }

  // The best symbol of every column; repeats merged, blanks dropped.
  #text({ data, dims: [, columns, nSymbols] }) {
    const offset = nSymbols - this.card.characters.length;
    let text = "";
    let before = BLANK;
    for (let column = 0; column < columns; column++) {
      const row = data.subarray(column * nSymbols, (column + 1) * nSymbols);
      const best = row.indexOf(row.reduce((a, b) => Math.max(a, b)));
      if (best !== before && best !== BLANK) text += this.card.characters[best - offset];
      before = best;
    }
    return text;
  }
}
