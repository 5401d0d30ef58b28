// Searches the text of all pages. Marks of Vietnamese letters and case are ignored; any part of a Chinese phrase or of
// a name in code is found.

// One character for one, so that a place in the folded text is the place in the text.
const fold = (text) =>
  [...text.normalize("NFC")]
    .map((c) => {
      const plain = c.normalize("NFD")[0].toLowerCase();
      return plain === "đ" ? "d" : plain.length === c.length ? plain : c;
    })
    .join("");

const pages = window.courseIndex.map(([address, title, aliases, sections]) => ({
  address,
  title,
  foldedTitle: fold(title),
  aliases: aliases.map(fold),
  sections: sections.map(([anchor, heading, text, code]) => ({
    anchor,
    heading,
    text: text.normalize("NFC"),
    folded: fold(text),
    foldedHeading: fold(heading),
    code: fold(code),
  })),
}));

const isWordPart = (c) => c !== undefined && /[\p{L}\p{N}_]/u.test(c);
const isHan = (c) => /\p{Script=Han}/u.test(c);

const startsWord = (text, at) => isHan(text[at]) || !isWordPart(text[at - 1]);

// How well a text holds a term: 1 as a word of its own or in its plural, 0.5 at the start of a word, 0.2 inside one.
const hold = (text, term) => {
  let best = 0;
  for (let at = text.indexOf(term); at >= 0 && best < 1; at = text.indexOf(term, at + 1)) {
    const end = at + term.length;
    const starts = startsWord(text, at);
    const ends = isHan(term.at(-1)) || !isWordPart(text[end]) || (text[end] === "s" && !isWordPart(text[end + 1]));
    best = Math.max(best, starts && ends ? 1 : starts ? 0.5 : 0.2);
  }
  return best;
};
const count = (text, term) => text.split(term).length - 1;

const scoreOf = (section, terms) =>
  terms.reduce(
    (sum, term) =>
      sum +
      12 * hold(section.foldedHeading, term) +
      4 * hold(section.folded, term) * Math.log2(1 + Math.min(count(section.folded, term), 15)) +
      3 * hold(section.code, term),
    0
  );

// Pages that hold every term, the best first, each with its best sections.
const find = (query) => {
  const phrase = fold(query).trim().replace(/\s+/g, " ");
  const terms = [...new Set(phrase.split(" ").filter(Boolean))];
  if (!terms.length) return [];
  const found = [];
  for (const page of pages) {
    const named = [page.foldedTitle, ...page.aliases];
    const everything = (term) =>
      named.some((name) => hold(name, term)) ||
      page.sections.some((s) => hold(s.folded, term) || hold(s.foldedHeading, term) || hold(s.code, term));
    if (!terms.every(everything)) continue;
    const sections = page.sections
      .map((section) => ({ section, score: scoreOf(section, terms) + (section.folded.includes(phrase) ? 25 : 0) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score);
    const title = terms.reduce((sum, term) => sum + 40 * hold(page.foldedTitle, term), 0);
    const isNamed = named.includes(phrase) ? 200 : 0;
    const text = sections.slice(0, 4).reduce((sum, { score }) => sum + score, 0);
    found.push({ page, phrase, terms, score: isNamed + title + text, sections: sections.slice(0, 3) });
  }
  return found.sort((a, b) => b.score - a.score);
};

// The first place of a term at or after another, at the start of a word where it has one.
const placeOf = (text, term, from) => {
  let at = text.indexOf(term, from);
  const first = at;
  while (at >= 0 && !startsWord(text, at)) at = text.indexOf(term, at + 1);
  return at < 0 ? first : at;
};

// Some 180 characters around the phrase, or the first of its terms, the terms marked.
const excerpt = (section, phrase, terms) => {
  const line = document.createElement("p");
  const whole = placeOf(section.folded, phrase, 0);
  const places = whole >= 0 ? [whole] : terms.map((term) => placeOf(section.folded, term, 0)).filter((at) => at >= 0);
  if (!places.length) return line;
  let from = Math.max(0, Math.min(...places) - 60);
  from = from && section.text.indexOf(" ", from) + 1;
  const to = Math.min(section.text.length, from + 180);
  line.append(from ? "… " : "");
  for (let at = from; at < to; ) {
    const next = (whole >= 0 ? [phrase] : terms)
      .map((term) => [placeOf(section.folded, term, at), term.length])
      .filter(([place]) => place >= at && place < to)
      .sort(([a], [b]) => a - b)[0];
    line.append(section.text.slice(at, next ? next[0] : to));
    if (!next) break;
    const mark = document.createElement("mark");
    mark.textContent = section.text.slice(next[0], next[0] + next[1]);
    line.append(mark);
    at = next[0] + next[1];
  }
  line.append(to < section.text.length ? " …" : "");
  return line;
};

const linked = (text, address) => {
  const link = document.createElement("a");
  link.href = document.documentElement.dataset.content_root + address;
  link.textContent = text;
  return link;
};

const SAYINGS = {
  en: {
    empty: "Type a word, in English, Vietnamese or Chinese, or a name of the code.",
    found: (n, query) => `${n} ${n === 1 ? "page" : "pages"} with “${query}”.`,
    none: (query) => `No page has “${query}”. Try a single word, or its beginning.`,
  },
  vi: {
    empty: "Hãy gõ một từ tiếng Việt, tiếng Anh hoặc tiếng Trung, hay một tên trong mã nguồn.",
    found: (n, query) => `${n} trang có “${query}”.`,
    none: (query) => `Không trang nào có “${query}”. Hãy thử một từ, hoặc phần đầu của nó.`,
  },
};
const say = SAYINGS[document.documentElement.lang] ?? SAYINGS.en;

const show = (query) => {
  const place = document.querySelector("#search-results");
  const found = find(query);
  const summary = document.createElement("p");
  summary.className = "search-summary";
  summary.setAttribute("role", "status");
  summary.textContent = !query.trim() ? say.empty : found.length ? say.found(found.length, query) : say.none(query);
  const list = document.createElement("ul");
  list.className = "search";
  for (const { page, phrase, terms, sections } of found.slice(0, 30)) {
    const item = document.createElement("li");
    item.append(linked(page.title, page.address));
    for (const { section } of sections) {
      const part = document.createElement("div");
      part.className = "search-section";
      const heading = section.heading.replace(/^[\d.]+ /, "");
      if (heading !== page.title) part.append(linked(heading, `${page.address}#${section.anchor}`));
      part.append(excerpt(section, phrase, terms));
      item.append(part);
    }
    list.append(item);
  }
  place.replaceChildren(summary, list);
};

const query = new URLSearchParams(location.search).get("q") ?? "";
document.querySelectorAll("input[name=q]").forEach((field) => (field.value = query));
show(query);
