// Text as the translator reads and writes it: the same rules as coursepkg.text.spacing, .vietnamese and .cleaning, and
// coursepkg.projects.translation.corpus. Python's \s, \w and \d know all of Unicode, JavaScript's do not, so they are
// spelt out.

export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
export const WORD = "\\p{L}\\p{N}_";
const DIGIT = "\\p{Nd}";

const pattern = (source, flags = "gu") => new RegExp(source, flags);

const SPACES = pattern(`[${SPACE}]+`);
// The words of a text, as str.split() gives them.
export const words = (text) => text.split(SPACES).filter(Boolean);
const single = (text) => words(text).join(" ");

const ENDS = "。！？!?…";
const CLOSING = "”’」』）)\\]»";
const ABBREVIATIONS = [
  ...["[A-Za-z]", "Mr", "Mrs", "Ms", "Dr", "Prof", "Jr", "St", "vs", "etc", "Fig"],
  ...["Inc", "Ltd", "Co", "TP", "TS", "GS", "PGS", "BS", `No(?=\\.[${SPACE}][\\p{Nd}①-⑨])`],
];
const NO_ABBREVIATION = ABBREVIATIONS.map((one) => `(?<!(?<![${WORD}])${one}\\.)`).join("");
const SENTENCE_ENDS = pattern(
  [
    // In `!important` or a link the mark ends no sentence.
    `(?<=[${ENDS}])(?<![!?](?=[=A-Za-z0-9_①-⑨]))(?![${SPACE}]*[${ENDS}${CLOSING}]|["'](?:[${SPACE}]|$))`,
    `(?<=[${ENDS}][${CLOSING}])(?![${ENDS}${CLOSING}，、；：,.;:])`,
    `(?<=[.;])${NO_ABBREVIATION}(?=[${SPACE}])(?![${SPACE}]*[${CLOSING}])`,
    `(?<=[${ENDS}.;][${CLOSING}"'])(?=[${SPACE}])`,
  ].join("|")
);

export const hasWords = (text) => /[\p{L}\p{N}]/u.test(text);

const VOWEL_MARKS = { a: "\u0302\u0306", e: "\u0302", i: "", o: "\u0302\u031b", u: "\u031b", y: "" };

const TONES = "\u0300\u0309\u0303\u0301\u0323";

// NFC, with the marks of a Vietnamese vowel in any order.
export function compose(text) {
  const composed = text.normalize("NFC");
  if (!/[\u0300-\u036f]/.test(composed)) return composed;
  const ordered = composed.normalize("NFD").replace(/([aeiouyAEIOUY])([\u0300-\u036f]{2,})/g, (found, vowel, marks) => {
    const own = [...marks].filter((mark) => VOWEL_MARKS[vowel.toLowerCase()].includes(mark));
    const tones = [...marks].filter((mark) => TONES.includes(mark));
    const isBoth = marks.length === 2 && own.length === 1 && tones.length === 1;
    return isBoth ? vowel + own[0] + tones[0] : found;
  });
  return ordered.normalize("NFC");
}

const ENTITY =
  /&(#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);|& ?(amp|quot|apos|lt|gt|#124|#91|#93) ?;/g;

function character(name) {
  if (!name.startsWith("#")) {
    // The browser knows the names of HTML; a name that it does not know stays as it is.
    const box = document.createElement("textarea");
    box.innerHTML = `&${name};`;
    return box.value === `&${name};` ? null : box.value;
  }
  const number = /[xX]/.test(name[1]) ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
  if ([0x9, 0xa, 0xd].includes(number)) return " ";
  const isControl = number < 0x20 || (number >= 0x7f && number <= 0x9f);
  const isCharacter = !isControl && number <= 0x10ffff && !(number >= 0xd800 && number <= 0xdfff);
  return isCharacter ? String.fromCodePoint(number) : null;
}

function unescape(text) {
  for (let before = null; before !== text; ) {
    before = text;
    text = text.replace(ENTITY, (found, whole, pieces) => character(whole ?? pieces) ?? found);
  }
  return text;
}

// The sentences of a text, entities replaced.
export function splitSentences(text) {
  const parts = (text.includes("&") ? unescape(text) : text).split(SENTENCE_ENDS);
  return parts.map((one) => one.trim()).filter(Boolean);
}

const HAN =
  "\\u3005-\\u3007\\u3021-\\u3029\\u3038-\\u303b\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3fffd}";
const PRIVATE = "\\ue000-\\uf8ff\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}";
const WIDE =
  `${HAN}${PRIVATE}\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}` + "\\u3001-\\u3004\\u3008-\\u3020\\u3030\\uff01-\\uff60";
const NO_SPACE = pattern(`(?<=[${WIDE}“‘(\\[])[${SPACE}]+|[${SPACE}]+(?=[${WIDE}”’)\\]…,.?!:;%])`);

// Chinese without the spaces beside its characters.
const removeSpaces = (line) => single(single(line).replace(NO_SPACE, ""));

const JOINT = pattern(`(?<=[^${SPACE}_])_(?=[^${SPACE}_])`);
const unjoin = (text) => text.replace(JOINT, " ").replaceAll("＿", "_");

const MARK = pattern(`\\.{2,}|[,:](?!(?<=${DIGIT}.)${DIGIT})|\\.(?![${WORD}])|["?!;…%()\\[\\]{}“”«»]`);
const spacePunctuation = (text) => single(text.replace(MARK, (found) => ` ${found} `));

function attachQuotes(line) {
  const parts = line.split('"');
  const beganBefore = parts.length % 2 === 0 && !pattern(`[${WORD}]`).test(parts.at(-1));
  for (let i = beganBefore ? 0 : 1; i < parts.length; i += 2) parts[i] = single(parts[i]);
  return parts.join('"');
}

const INSIDE_TIME = pattern(`(?<=${DIGIT}) ?: ?(?=${DIGIT})`);
const BEFORE_CLITIC = pattern(`(?<=\\p{L}|\\p{Nl}|\\p{No}) (?=['’](?:s|t|m|d|re|ve|ll)(?![${WORD}]))`, "giu");

function detokenize(line) {
  line = attachQuotes(single(line)).replace(INSIDE_TIME, ":").replace(BEFORE_CLITIC, "");
  return line.replace(/ +(?=[.,?!:;…%)\]}”’»])/g, "").replace(/(?<=[([{“‘«]) +/g, "");
}

// A sentence in the form that the model was trained on.
export function toModel(text, language) {
  text = compose(text.includes("&") ? unescape(text) : text);
  if (language === "zh") return removeSpaces(text);
  return spacePunctuation(language === "vi" ? unjoin(text) : text);
}

// What the model wrote as it is read.
export const toReader = (line, language) => (language === "zh" ? removeSpaces(line) : detokenize(unjoin(line)));
