// Byte pair encoding with the vocabulary of a SentencePiece model: the ids of its pieces are the ranks of its merges.
import { words } from "./text.js";

const MARK = "▁";

export class Subwords {
  // card: of the exported model.
  constructor(card) {
    this.pieces = card.vocabulary;
    this.special = new Set([...Object.values(card["special ids"]), ...this.#tagIds(card)]);
    this.bytes = new Map();
    this.ids = new Map();
    for (const [id, piece] of this.pieces.entries()) {
      const byte = /^<0x([0-9A-F]{2})>$/.exec(piece);
      if (byte) this.bytes.set(id, parseInt(byte[1], 16));
      else if (!this.special.has(id)) this.ids.set(piece, id);
    }
    this.byteIds = new Map([...this.bytes].map(([id, byte]) => [byte, id]));
    this.unknown = card["special ids"].unk;
  }

  #tagIds(card) {
    return Object.values(card.tags).map((tag) => card.vocabulary.indexOf(tag));
  }

  encode(text) {
    return words(text.normalize("NFC")).flatMap((word) => this.#encodeWord(MARK + word));
  }

  // Joins the pair whose piece has the lowest id, the leftmost among equals, until no pair is a piece.
  #encodeWord(word) {
    const parts = [...word];
    for (;;) {
      let best = Infinity;
      let at = -1;
      for (let i = 0; i + 1 < parts.length; i++) {
        const id = this.ids.get(parts[i] + parts[i + 1]);
        if (id < best) [best, at] = [id, i];
      }
      if (at < 0) return parts.flatMap((part) => this.#idsOf(part));
      parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
  }

  #idsOf(piece) {
    const id = this.ids.get(piece);
    if (id !== undefined) return [id];
    if (this.byteIds.size === 0) return [this.unknown];
    return [...new TextEncoder().encode(piece)].map((byte) => this.byteIds.get(byte));
  }

  decode(ids) {
    let text = "";
    let run = [];
    const flush = () => {
      text += new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(run));
      run = [];
    };
    for (const id of ids) {
      if (this.bytes.has(id)) {
        run.push(this.bytes.get(id));
        continue;
      }
      flush();
      if (id === this.unknown) text += " ⁇ ";
      else if (!this.special.has(id)) text += this.pieces[id];
    }
    flush();
    return text.replaceAll(MARK, " ").replace(/^ /, "");
  }
}

