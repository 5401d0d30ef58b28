// Numbers, links and codes become marks before translation and come back behind it: the rules of
// coursepkg.projects.translation.placeholders.
import { SPACE, WORD } from "./text.js";

const MARKS = [..."①②③④⑤⑥⑦⑧⑨"];
const D = "\\p{Nd}";
const LATIN = "[A-Za-z0-9\\u00c0-\\u024f\\u1e00-\\u1eff]";
const BEFORE = `(?<!_)(?<!${LATIN})`;
const BEHIND = `(?!_)(?!${LATIN})`;
const COPIED = new RegExp(
  [
    `https?://[^${SPACE}<>"，。；）]+[^${SPACE}<>"，。；）.,;:!?)]`,
    `(?<![${WORD}.+\\-])[${WORD}.+\\-]+@[${WORD}\\-]+(?:\\.[${WORD}\\-]+)+`,
    `%(?:${D}+\\$)?[\\-+0#]*${D}*(?:\\.${D}+)?(?:l{0,2}[duifxs]|@)(?![A-Za-z])`,
    "\\{\\{?[A-Za-z0-9_.$]*\\}?\\}",
    "</?[A-Za-z][^<>]{0,80}>",
    "\\\\[nt]",
    `${BEFORE}(?=[a-z_]*[A-Z0-9])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+${BEHIND}`,
    `${BEFORE}(?<!${LATIN}\\.)(?=(?:[A-Za-z0-9]+\\.)*[A-Za-z0-9]*[a-z][A-Z])` +
      `[A-Za-z0-9]+(?:\\.[A-Za-z0-9]+)*${BEHIND}`,
    `(?<![A-Za-z0-9_.,])${D}+(?:[.,:/\\-]${D}+)+(?![A-Za-z0-9_])`,
    `(?<![A-Za-z0-9_])(?<![A-Za-z0-9_][.,])${D}+(?![A-Za-z0-9_])`,
    `[${MARKS.join("")}]`,
  ].join("|"),
  "gu"
);
// English ordinals in digits: the number alone is kept.
const ORDINAL = new RegExp(`(?<![${WORD}.,])(${D}+)(?:st|nd|rd|th)(?![${WORD}])`, "gu");

// The text with marks, and a Map from mark to what it stands for.
export function mask(text) {
  text = text.replace(ORDINAL, "$1");
  const found = [...new Set(text.match(COPIED) ?? [])].slice(0, MARKS.length);
  const marks = new Map(found.map((value, i) => [value, MARKS[i]]));
  const values = new Map(found.map((value, i) => [MARKS[i], value]));
  return { text: text.replace(COPIED, (value) => marks.get(value) ?? value), values };
}

// Marks that a line should have and has not.
export const lostMarks = (line, values) => [...values.keys()].filter((mark) => !line.includes(mark));

// A mark that stands for nothing takes the place of the only one that is missing.
export function withOwnMarks(text, values) {
  const lost = lostMarks(text, values);
  const odd = MARKS.filter((mark) => text.includes(mark) && !values.has(mark));
  return lost.length === 1 && odd.length === 1 ? text.replaceAll(odd[0], lost[0]) : text;
}

export function restore(text, values) {
  text = withOwnMarks(text, values);
  for (const mark of MARKS) {
    const value = values.get(mark) ?? "";
    const signs = [...value];
    const isLetter = (sign) => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);
    if (isLetter(signs[0])) text = text.replace(new RegExp(`(?<=${LATIN})${mark}`, "gu"), ` ${mark}`);
    if (isLetter(signs.at(-1))) text = text.replace(new RegExp(`${mark}(?=${LATIN})`, "gu"), `${mark} `);
    text = text.replaceAll(mark, () => value);
  }
  return text;
}

// Marks that a line of the model lacks, or invents.
export const nLost = (line, values) => MARKS.filter((mark) => line.includes(mark) !== values.has(mark)).length;
