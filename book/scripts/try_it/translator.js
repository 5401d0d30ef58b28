// The translator of the course: the same answers as coursepkg.projects.translation.Translator, a sentence at a time.
import { mask, nLost, restore, withOwnMarks } from "./marks.js";
import { loadModel } from "./runtime.js";
import { beamSearch } from "./search.js";
import { Subwords } from "./subwords.js";
import { hasWords, toModel, toReader } from "./text.js";

// Beams of the second search, for a sentence whose beams all lose a number or a code.
const WIDE_BEAM = 20;

export class Translator {
  static async load(root, say) {
    return new Translator(await loadModel(root, "translation", say));
  }

  constructor({ ort, card, sessions }) {
    Object.assign(this, { ort, card, sessions, subwords: new Subwords(card) });
  }

  // { text, note, sourcePieces, pieces, alignment }; an Error whose message a reader can act on.
  async translate(text, source, target) {
    if (!text.trim()) throw new Error("Write a sentence first.");
    if (text.includes("▁")) throw new Error("The sentence holds ▁ (U+2581); put a space in its place.");
    if (/^\s*<2[\p{L}\p{N}_]+>/u.test(text)) throw new Error("The sentence begins with a language tag; leave it out.");
    if (!hasWords(text)) return { text, note: "There is no word to translate, so it was copied.", pieces: [] };
    const masked = this.card.placeholders === "mask" ? mask(text) : { text, values: new Map() };
    const tag = this.subwords.pieces.indexOf(this.card.tags[target]);
    const ids = [tag, ...this.subwords.encode(toModel(masked.text, source))];
    const longest = this.card.max_len - 1;
    if (ids.length > longest) {
      throw new Error(`The text has ${ids.length} subwords, the model takes ${longest}: translate it in parts.`);
    }
    return this.#chosen(masked, ids, await this.#search(masked, ids), target);
  }

  async #search({ values }, ids) {
    const found = await this.#beams(ids, this.card.beam_size);
    const allLose = values.size > 0 && found.every((one) => nLost(this.#line(one, values), values));
    return allLose ? [...found, ...(await this.#beams(ids, WIDE_BEAM))] : found;
  }

  #line(one, values) {
    return withOwnMarks(this.subwords.decode(one.ids), values);
  }

  #chosen({ values }, ids, found, target) {
    const lines = found.map((one) => ({ one, line: this.#line(one, values) }));
    // Sorting is stable: among those that keep as many marks the search decides.
    lines.sort((a, b) => nLost(a.line, values) - nLost(b.line, values));
    const { one, line } = lines[0];
    const lost = [...values].filter(([mark]) => !line.includes(mark)).map(([, value]) => value);
    const eos = this.card["special ids"].eos;
    return {
      text: restore(toReader(line, target), values),
      note: lost.length ? `Not copied: ${lost.join(", ")}.` : "",
      sourcePieces: [...ids, eos].map((id) => this.subwords.pieces[id]),
      pieces: one.ids.map((id) => this.subwords.pieces[id]),
      alignment: one.looks.slice(0, one.ids.length),
      values,
    };
  }

  async #beams(ids, beamSize) {
    const { bos, eos } = this.card["special ids"];
    const sources = [...ids, eos];
    const { Tensor } = this.ort;
    const int64 = (values) => new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
    const source = await this.sessions["encoder.onnx"].run({ ids: int64(sources) });
    const [layers, , heads, , width] = source.cross_keys.dims;
    let past = [0, 1].map(() => new Tensor("float32", new Float32Array(0), [layers, 1, 1, heads, 0, width]));
    const step = async (tokens, parents) => {
      if (parents) past = past.map((cache) => this.#selected(cache, parents));
      const found = await this.sessions["step.onnx"].run({
        ...source,
        tokens: int64(tokens),
        past_keys: past[0],
        past_values: past[1],
      });
      past = [found.keys, found.values];
      const n = sources.length;
      const looks = tokens.map((_, row) => found.alignment.data.slice(row * n, (row + 1) * n));
      return { logProbs: found.log_probs.data, alignment: looks };
    };
    return beamSearch(step, {
      bos,
      eos,
      nTokens: this.subwords.pieces.length,
      limit: Math.min(sources.length + this.card.extra_length, this.card.max_len - 1),
      beamSize,
      alpha: this.card.length_penalty,
    });
  }

  // The cache (layers, 1, R, G, T, D) of the rows that live on, by number.
  #selected(cache, parents) {
    const [layers, , rows, ...rest] = cache.dims;
    const size = rest.reduce((a, b) => a * b);
    const chosen = new Float32Array(layers * parents.length * size);
    for (let layer = 0; layer < layers; layer++) {
      parents.forEach((parent, row) => {
        const from = (layer * rows + parent) * size;
        chosen.set(cache.data.subarray(from, from + size), (layer * parents.length + row) * size);
      });
    }
    return new this.ort.Tensor("float32", chosen, [layers, 1, parents.length, ...rest]);
  }
}
