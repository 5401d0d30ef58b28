// Numbers, links and codes become marks before translation and come back behind it: the rules of
// coursepkg.projects.translation.placeholders.
import { SPACE, WORD } from "./text.js";

const MARKS = [..."①②③④⑤⑥⑦⑧⑨"];
const D = "\\p{Nd}";
const LATIN = "[A-Za-z0-9\\u00c0-\\u024f\\u1e00-\\u1eff]";
const BEFORE = `(?<!_)(?<!${LATIN})`;
const BEHIND = `(?!_)(?!${LATIN})`;
const BEHIND_LINK = `${SPACE}<>"”’，。；：、！？）」』》】`;
const COPIED = new RegExp(
  [
    `https?://[^${BEHIND_LINK}]+[^${BEHIND_LINK}.,;:!?)]`,
    `(?<!${LATIN})(?<![_.+\\-])[A-Za-z0-9_.+\\-]+@[A-Za-z0-9_\\-]+(?:\\.[A-Za-z0-9_\\-]+)+`,
    `%(?:${D}+\\$)?[\\-+0#]*${D}*(?:\\.${D}+)?(?:l{0,2}[duifxs]|@)(?![A-Za-z])`,
    "\\{\\{?[A-Za-z0-9_.$]*\\}?\\}",
    "</?[A-Za-z][^<>]{0,80}>",
    "\\\\[nt]",
    `${BEFORE}(?=[a-z_]*[A-Z0-9])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+${BEHIND}`,
    `${BEFORE}(?<!${LATIN}\\.)(?=(?:[A-Za-z0-9]+\\.)*[A-Za-z0-9]*[a-z][A-Z])` +
      `[A-Za-z0-9]+(?:\\.[A-Za-z0-9]+)*${BEHIND}`,
    `(?<![A-Za-z0-9_.,])(?<!${D}:)${D}+(?:\\.${D}+)*[,:]${D}+(?:[.,:]${D}+)*(?=[A-Za-z])`,
    `(?<![A-Za-z0-9_.,])${D}+(?:[.,:/\\-]${D}+)+(?![A-Za-z0-9_])`,
    `(?<![A-Za-z0-9_])(?<!&#)(?<![A-Za-z0-9_][.,])${D}+(?![A-Za-z0-9_])`,
    `[${MARKS.join("")}]`,
  ].join("|"),
  "gu"
);
// English ordinals in digits: the number alone is kept.
const ORDINAL = new RegExp(`(?<![${WORD}.,])(${D}+)(?:st|nd|rd|th)(?![${WORD}])`, "gu");
// The end of a time of day such as 10:30am.
const CLOCK = new RegExp(`^:${D}${D}[AaPp][Mm](?!${LATIN})`, "u");

// The text with marks, a Map from mark to what it stands for, and whether there are too few marks.
export function mask(text) {
  text = text.replace(ORDINAL, "$1");
  let found = [...new Set(text.match(COPIED) ?? [])];
  const isCrowded = found.length > MARKS.length;
  // A mark of the text itself that stayed would be taken for one of ours.
  if (isCrowded) found.sort((a, b) => MARKS.includes(b) - MARKS.includes(a));
  found = found.slice(0, MARKS.length);
  const marks = new Map(found.map((value, i) => [value, MARKS[i]]));
  const values = new Map(found.map((value, i) => [MARKS[i], value]));
  return { text: text.replace(COPIED, (value) => marks.get(value) ?? value), values, isCrowded };
}

// A text as it was before `mask`, or a part of one.
export const unmask = (text, values) => [...text].map((sign) => values.get(sign) ?? sign).join("");

// Marks that a line should have and has not.
export const lostMarks = (line, values) => [...values.keys()].filter((mark) => !line.includes(mark));

// A mark that stands for nothing takes the place of the only one that is missing.
export function withOwnMarks(text, values) {
  const lost = lostMarks(text, values);
  const odd = MARKS.filter((mark) => text.includes(mark) && !values.has(mark));
  return lost.length === 1 && odd.length === 1 ? text.replaceAll(odd[0], lost[0]) : text;
}

const isLatin = (sign) => new RegExp(LATIN, "u").test(sign ?? "");
const isLetter = (sign) => /[\p{L}\p{N}]/u.test(sign ?? "");

export function restore(text, values) {
  let made = "";
  let wasValue = false;
  // In one pass: a value may itself be one of the marks.
  for (const part of withOwnMarks(text, values).split(new RegExp(`([${MARKS.join("")}])`, "u"))) {
    const isValue = values.has(part);
    const piece = values.get(part) ?? (MARKS.includes(part) ? "" : part);
    const last = [...made].at(-1);
    const [first] = piece;
    const sticks =
      (isValue && isLetter(first) && isLatin(last)) ||
      (wasValue && isLetter(last) && isLatin(first) && !CLOCK.test(made.slice(-3) + piece.slice(0, 3)));
    made += sticks ? ` ${piece}` : piece;
    if (piece) wasValue = isValue;
  }
  return made;
}

// A text without marks: what is left to translate.
export const withoutMarks = (text) => text.replace(new RegExp(`[${MARKS.join("")}]`, "gu"), "");

// Marks that a line of the model lacks, or invents.
export const nLost = (line, values) => MARKS.filter((mark) => line.includes(mark) !== values.has(mark)).length;
