// The translator of the course: the same answers as coursepkg.projects.translation.Translator, for sentences that it
// does not cut.
import { lostMarks, mask, nLost, restore, unmask, withOwnMarks, withoutMarks } from "./marks.js";
import { loadModel } from "./runtime.js";
import { beamSearch, penalty } from "./search.js";
import { Subwords } from "./subwords.js";
import { hasWords, splitSentences, toModel, toReader } from "./text.js";

// Beams of the second search, for a sentence whose beams all lose a number or a code.
const WIDE_BEAM = 20;

// The translation of a text from those of its sentences; each piece looks at its own sentence alone.
function joined(parts, target) {
  const sourcePieces = parts.flatMap((one) => one.sourcePieces);
  let first = 0;
  const alignment = parts.flatMap((one) => {
    const before = first;
    first += one.sourcePieces.length;
    return one.alignment.map((look) => sourcePieces.map((_, i) => look[i - before] ?? 0));
  });
  return {
    text: parts.map((one) => one.text).join(target === "zh" ? "" : " "),
    note: parts.map((one) => one.note).filter(Boolean).join(" "),
    sourcePieces,
    pieces: parts.flatMap((one) => one.pieces),
    alignment,
  };
}

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
    const masked = this.#masked(text);
    // What is masked the model does not read.
    const read = masked.text;
    if (read.includes("▁")) throw new Error("The sentence holds ▁ (U+2581); put a space in its place.");
    if (/^\s*<2[\p{L}\p{N}_]+>/u.test(read)) throw new Error("The sentence begins with a language tag; leave it out.");
    const isCopied = !hasWords(withoutMarks(read));
    if (isCopied) return { text, note: "There is no word to translate, so it was copied.", pieces: [] };
    const sentences = this.card.split_sentences ? splitSentences(read) : [read];
    const parts = [];
    for (const one of sentences) parts.push(await this.#part(unmask(one, masked.values), source, target));
    return joined(parts, target);
  }

  #masked(text) {
    return this.card.placeholders === "mask" ? mask(text) : { text, values: new Map(), isCrowded: false };
  }

  // The translation of what the model reads at once.
  async #part(text, source, target) {
    const masked = this.#masked(text);
    if (!hasWords(withoutMarks(masked.text))) return { text, note: "", sourcePieces: [], pieces: [], alignment: [] };
    const ids = this.#sourceIds(masked.text, source, target);
    const longest = this.card.max_len - 1;
    if (ids.length > longest) {
      throw new Error(`A sentence has ${ids.length} subwords, the model takes ${longest}: cut it in parts.`);
    }
    if (masked.isCrowded) throw new Error("A sentence has more than 9 numbers and codes: cut it in parts.");
    const { found, added } = await this.#search(masked, ids, target);
    return this.#chosen(masked, ids, await this.#ranked(masked, found, source, target), added, target);
  }

  // A text as the encoder reads it: the tag of the language to translate into, then its pieces.
  #sourceIds(text, language, into) {
    const tag = this.subwords.pieces.indexOf(this.card.tags[into]);
    return [tag, ...this.subwords.encode(toModel(text, language))];
  }

  // The hypotheses, best first: by the score of the search and, with a weight, that of the source read back from each.
  async #ranked({ text, values }, found, source, target) {
    const { directions, length_penalty: alpha, reverse_weight: weight } = this.card;
    const translatesBack = directions.some(([from, to]) => from === target && to === source);
    if (!weight || found.length === 1 || !translatesBack) return found;
    const longest = this.card.max_len - 1;
    const wanted = this.subwords.encode(toModel(text, source)).slice(0, longest);
    const rows = [];
    for (const one of found) {
      const read = this.#sourceIds(this.#line(one, values), target, source).slice(0, longest);
      const { total } = await this.#likeliest(await this.#encoded(read), [wanted]);
      rows.push({ ...one, score: one.score + (weight * total) / penalty(wanted.length + 1, alpha) });
    }
    return rows.sort((a, b) => b.finished - a.finished || b.score - a.score);
  }

  async #search(masked, ids, target) {
    const source = await this.#encoded(ids);
    const found = await this.#beams(source, this.card.beam_size);
    const loses = (one) => nLost(this.#line(one, masked.values), masked.values);
    if (masked.values.size === 0 || !found.every(loses)) return { found, added: [] };
    const known = new Set(found.map((one) => one.ids.join()));
    found.push(...(await this.#beams(source, WIDE_BEAM)).filter((one) => !known.has(one.ids.join())));
    return this.#withMarks(masked, source, found, target);
  }

  #line(one, values) {
    return withOwnMarks(this.subwords.decode(one.ids), values);
  }

  // If every hypothesis loses a mark: the one that loses fewest gets them, each where the model finds it most likely.
  async #withMarks({ values }, source, found, target) {
    const losses = found.map((one) => nLost(this.#line(one, values), values));
    const best = found[losses.indexOf(Math.min(...losses))];
    const lost = lostMarks(this.#line(best, values), values);
    const added = lost.map((mark) => this.subwords.encode(toModel(mark, target)));
    const isFull = best.ids.length + added.flat().length >= this.card.max_len - 1;
    if (lost.length === 0 || isFull) return { found, added: [] };
    let made = best;
    for (const own of added) {
      const { ids: written } = made;
      const places = [...written, null].map((_, i) => [...written.slice(0, i), ...own, ...written.slice(i)]);
      made = await this.#likeliest(source, places);
    }
    const score = made.total / penalty(made.ids.length + 1, this.card.length_penalty);
    return { found: [...found, { ...made, score, finished: true }], added: lost.map((mark) => values.get(mark)) };
  }

  // The most probable of some translations of equal length.
  async #likeliest(source, written) {
    const step = this.#decoder(source);
    const { bos, eos } = this.card["special ids"];
    const nTokens = this.subwords.pieces.length;
    const rows = written.map((ids) => ({ ids, looks: [], total: 0 }));
    let tokens = rows.map(() => bos);
    let parents = rows.map(() => 0);
    for (let place = 0; place <= written[0].length; place++) {
      const { logProbs, alignment } = await step(tokens, parents);
      tokens = rows.map((one) => one.ids[place] ?? eos);
      rows.forEach((one, i) => {
        one.total += logProbs[i * nTokens + tokens[i]];
        one.looks.push(alignment[i]);
      });
      parents = null; // each row goes on by itself
    }
    return rows.reduce((best, one) => (one.total > best.total ? one : best));
  }

  #chosen({ values }, ids, ranked, added, target) {
    const lines = ranked.map((one) => ({ one, line: this.#line(one, values) }));
    // Sorting is stable: among those that keep as many marks the score decides.
    lines.sort((a, b) => nLost(a.line, values) - nLost(b.line, values));
    const { one, line } = lines[0];
    const lost = lostMarks(line, values).map((mark) => values.get(mark));
    const notes = [
      lost.length ? `Not copied: ${lost.join(", ")}.` : "",
      added.length ? `Put in after the search, look where: ${added.join(", ")}.` : "",
    ];
    const eos = this.card["special ids"].eos;
    return {
      text: restore(toReader(line, target), values),
      note: notes.filter(Boolean).join(" "),
      sourcePieces: [...ids, eos].map((id) => unmask(this.subwords.pieces[id], values)),
      pieces: one.ids.map((id) => unmask(this.subwords.pieces[id], values)),
      alignment: one.looks.slice(0, one.ids.length),
    };
  }

  #beams(source, beamSize) {
    const { bos, eos } = this.card["special ids"];
    return beamSearch(this.#decoder(source), {
      bos,
      eos,
      nTokens: this.subwords.pieces.length,
      limit: Math.min(source.length + this.card.extra_length, this.card.max_len - 1),
      beamSize,
      alpha: this.card.length_penalty,
    });
  }

  #int64(values) {
    return new this.ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
  }

  // The source as the decoder sees it, and its length, EOS counted.
  async #encoded(ids) {
    const read = [...ids, this.card["special ids"].eos];
    return { length: read.length, states: await this.sessions["encoder.onnx"].run({ ids: this.#int64(read) }) };
  }

  // A function that feeds a token to each row and gives log-probabilities and alignment, as `beamSearch` wants it.
  #decoder({ length, states }) {
    const [layers, , heads, , width] = states.cross_keys.dims;
    const empty = () => new this.ort.Tensor("float32", new Float32Array(0), [layers, 1, 1, heads, 0, width]);
    let past = [empty(), empty()];
    return async (tokens, parents) => {
      if (parents) past = past.map((cache) => this.#selected(cache, parents));
      const found = await this.sessions["step.onnx"].run({
        ...states,
        tokens: this.#int64(tokens),
        past_keys: past[0],
        past_values: past[1],
      });
      past = [found.keys, found.values];
      const looks = tokens.map((_, row) => found.alignment.data.slice(row * length, (row + 1) * length));
      return { logProbs: found.log_probs.data, alignment: looks };
    };
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
