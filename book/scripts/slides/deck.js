// Divides what a deck shows into slides that fit, and starts reveal.js.
const WIDTH = 1280, HEIGHT = 720, CODE_LINES = 15, SMALLEST = 0.7;

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
dark.addEventListener("change", paint);
paint();

const linesOf = (slide) => [...slide.children].reduce((sum, block) => sum + Number(block.dataset.lines ?? 0), 0);
const fits = (slide) => slide.scrollHeight <= HEIGHT && linesOf(slide) <= CODE_LINES;
const blocksOf = (slide) => [...slide.children].filter((child) => child.matches(".block"));

// A slide behind this one with the same heading.
const follow = (slide) => {
  const next = slide.cloneNode(false);
  next.append(slide.firstElementChild.cloneNode(true));
  next.classList.add("continued");
  slide.after(next);
  return next;
};

// The elements inside a block that may stand on different slides, and what is repeated above them.
const partsOf = (block) => {
  const shown = block.querySelector("tbody") ?? block.querySelector(":scope > :is(ul, ol)");
  return shown ? [...shown.children] : [];
};

// A block like this one with none of its parts and notes.
const emptyCopy = (block) => {
  const copy = block.cloneNode(true);
  copy.querySelectorAll("aside").forEach((note) => note.remove());
  partsOf(copy).forEach((part) => part.remove());
  return copy;
};

// Moves the last parts of a slide's only block to the next slide.
const divideBlock = (slide, block) => {
  const moved = [];
  let parts = partsOf(block);
  while (parts.length > 1 && !fits(slide)) {
    moved.unshift(parts.pop());
    moved[0].remove();
  }
  if (!moved.length) return shrink(slide, block);
  const copy = emptyCopy(block);
  const list = copy.querySelector("tbody") ?? copy.querySelector(":scope > :is(ul, ol)");
  if (list.matches("ol")) list.start = (block.querySelector("ol").start || 1) + parts.length;
  list.append(...moved);
  const next = follow(slide);
  next.append(copy);
  divide(next);
};

// The last resort: smaller letters.
const shrink = (slide, block) => {
  for (let percent = 95; percent >= 60 && !fits(slide); percent -= 5) block.style.zoom = percent / 100;
};

// Text of which only a line or two is too long: these lines are broken.
const hasFewLong = (text, room) => {
  const lines = text.textContent.split("\n"), longest = Math.max(...lines.map((line) => line.length));
  const columns = (longest * room) / text.scrollWidth;
  return lines.filter((line) => line.length > columns).length <= 2;
};

// Makes what is wider than a slide smaller, and breaks lines that would become too small to read.
const narrow = (block) => {
  for (const one of block.querySelectorAll("table, .katex-display > .katex, pre")) {
    const room = block.clientWidth, width = Math.max(one.scrollWidth, one.getBoundingClientRect().width);
    if (width <= room + 1) continue;
    const isLongHere = one.matches("pre") && hasFewLong(one, room);
    if (!isLongHere) one.style.zoom = Math.max(SMALLEST, room / width);
    if (isLongHere || room / width < SMALLEST) one.style.whiteSpace = "pre-wrap";
  }
};

const divide = (slide) => {
  const blocks = blocksOf(slide);
  blocks.forEach(narrow);
  if (fits(slide)) return;
  const moved = [];
  while (blocks.length > 1 && !fits(slide)) {
    moved.unshift(blocks.pop());
    moved[0].remove();
  }
  // A line that announces what follows does not stay behind alone.
  while (blocks.length > 1 && moved.length && blocks.at(-1).firstElementChild.matches("p:not(.picture)")) {
    moved.unshift(blocks.pop());
    moved[0].remove();
  }
  if (!moved.length) return divideBlock(slide, blocks[0]);
  const next = follow(slide);
  next.append(...moved);
  if (!fits(slide)) divideBlock(slide, blocks[0]);
  divide(next);
};

document.documentElement.classList.add("measuring");
document.fonts.ready.then(() => {
  document.querySelectorAll(".slides > section").forEach(divide);
  document.documentElement.classList.remove("measuring");
  return Reveal.initialize({
    width: WIDTH,
    height: HEIGHT,
    margin: 0,
    center: false,
    hash: true,
    slideNumber: "c/t",
    transition: "none",
    plugins: [RevealNotes],
  });
});
