// Pictures in shades of grey, { pixels: Uint8Array, width, height }: made, scaled, and cut into lines of print.

const MOST_PIXELS = 64_000_000;

// An ImageBitmap on white paper. Weights of the colours as in Pillow's convert("L").
export function toGray(bitmap) {
  const { width, height } = bitmap;
  if (width * height > MOST_PIXELS) throw new Error("The picture has over 64 million pixels; scale it down.");
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.fillStyle = "white";
  context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const pixels = new Uint8Array(width * height);
  for (let i = 0; i < pixels.length; i++) {
    pixels[i] = (data[4 * i] * 19595 + data[4 * i + 1] * 38470 + data[4 * i + 2] * 7471 + 0x8000) >> 16;
  }
  return { pixels, width, height };
}

// Half to even, as Python's round().
function roundHalfEven(value) {
  const below = Math.floor(value);
  const rest = value - below;
  return rest === 0.5 ? below + (below % 2) : Math.round(value);
}

// As fit_image in coursepkg.projects.ocr.data.images.
export function fitted(gray, { height, box_width: boxWidth, widths: [, most] }) {
  const wanted = boxWidth || Math.max(1, roundHalfEven((gray.width * height) / gray.height));
  return resized(gray, Math.min(wanted, boxWidth || most), height);
}

// Pillow's BILINEAR to the bit: a triangle that widens when a picture shrinks, in whole numbers of 22 bits.
const BITS = 22;

function weights(from, to) {
  const scale = from / to;
  const reach = Math.max(scale, 1);
  return Array.from({ length: to }, (_, i) => {
    const centre = (i + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - reach + 0.5));
    const last = Math.min(from, Math.trunc(centre + reach + 0.5));
    const raw = [];
    for (let x = first; x < last; x++) raw.push(Math.max(0, 1 - Math.abs((x - centre + 0.5) / reach)));
    const total = raw.reduce((a, b) => a + b, 0);
    return { first, taken: raw.map((one) => Math.trunc(0.5 + (one / total) * 2 ** BITS)) };
  });
}

function resized({ pixels, width, height }, toWidth, toHeight) {
  let [rows, across] = [pixels, width];
  if (toWidth !== width) {
    rows = scaledRows(pixels, width, height, weights(width, toWidth));
    across = toWidth;
  }
  if (toHeight === height) return { pixels: rows, width: across, height };
  const found = new Uint8Array(across * toHeight);
  weights(height, toHeight).forEach(({ first, taken }, y) => {
    for (let x = 0; x < across; x++) {
      let sum = 2 ** (BITS - 1);
      for (let i = 0; i < taken.length; i++) sum += rows[(first + i) * across + x] * taken[i];
      found[y * across + x] = Math.min(255, sum >> BITS);
    }
  });
  return { pixels: found, width: across, height: toHeight };
}

function scaledRows(pixels, width, height, columns) {
  const found = new Uint8Array(columns.length * height);
  for (let y = 0; y < height; y++) {
    columns.forEach(({ first, taken }, x) => {
      let sum = 2 ** (BITS - 1);
      for (let i = 0; i < taken.length; i++) sum += pixels[y * width + first + i] * taken[i];
      found[y * columns.length + x] = Math.min(255, sum >> BITS);
    });
  }
  return found;
}

// What is darker than 0.85 of the mean around it (Bradley and Roth, 2007): 1 is ink.
function inkOf({ pixels, width, height }) {
  const sums = new Float64Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y++) {
    let row = 0;
    for (let x = 0; x < width; x++) {
      row += pixels[y * width + x];
      sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row;
    }
  }
  const half = Math.max(8, Math.round(width / 16));
  const ink = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [Math.max(0, y - half), Math.min(height, y + half + 1)];
    for (let x = 0; x < width; x++) {
      const [left, right] = [Math.max(0, x - half), Math.min(width, x + half + 1)];
      const at = (b, a) => sums[b * (width + 1) + a];
      const sum = at(bottom, right) - at(top, right) - at(bottom, left) + at(top, left);
      const mean = sum / ((bottom - top) * (right - left));
      ink[y * width + x] = pixels[y * width + x] < 0.85 * mean ? 1 : 0;
    }
  }
  return ink;
}

// Stretches [from, to) in which `counts` reaches `least`, joined where the gap between two is at most `gap`.
function runs(counts, least, gap) {
  const found = [];
  counts.forEach((count, i) => {
    if (count < least) return;
    const last = found.at(-1);
    if (last && i - last[1] <= gap) last[1] = i + 1;
    else found.push([i, i + 1]);
  });
  return found;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

// The rows of print: marks above and dots below belong to the nearest row that is as high as a letter.
function rowsOf(counts, width) {
  const found = runs(counts, Math.max(1, width / 500), 1);
  const heights = found.map(([from, to]) => to - from);
  const tall = found.filter((_, i) => heights[i] >= 0.5 * median(heights.filter((height) => height > 3)));
  for (const [from, to] of found) {
    const gap = (row) => Math.max(row[0] - to, from - row[1]);
    const [nearest] = [...tall].sort((a, b) => gap(a) - gap(b));
    if (!nearest || gap(nearest) > 0.4 * (nearest[1] - nearest[0])) continue;
    nearest[0] = Math.min(nearest[0], from);
    nearest[1] = Math.max(nearest[1], to);
  }
  return tall.filter(([from, to], i) => to - from > 5 && !(i && from < tall[i - 1][1]));
}

function cut({ pixels, width, height }, [left, top, right, bottom]) {
  const rim = Math.round(0.15 * (bottom - top));
  const [x0, y0] = [Math.max(0, left - rim), Math.max(0, top - rim)];
  const [x1, y1] = [Math.min(width, right + rim), Math.min(height, bottom + rim)];
  const found = new Uint8Array((x1 - x0) * (y1 - y0));
  for (let y = y0; y < y1; y++) found.set(pixels.subarray(y * width + x0, y * width + x1), (y - y0) * (x1 - x0));
  return { pixels: found, width: x1 - x0, height: y1 - y0 };
}

// Pictures of the lines of print, from top to bottom. They must run level. A gap of three times their height parts
// two lines of one row, such as the name of the goods and its price.
export function linesOf(gray) {
  const { width, height } = gray;
  const ink = inkOf(gray);
  const counts = new Uint32Array(height);
  for (let i = 0; i < ink.length; i++) counts[(i / width) | 0] += ink[i];
  return rowsOf(counts, width).flatMap(([top, bottom]) => {
    const columns = new Uint32Array(width);
    for (let y = top; y < bottom; y++) for (let x = 0; x < width; x++) columns[x] += ink[y * width + x];
    return runs(columns, 1, 3 * (bottom - top))
      .filter(([left, right]) => right - left > 0.3 * (bottom - top))
      .map(([left, right]) => cut(gray, [left, top, right, bottom]));
  });
}

// As a picture that a page can show.
export function shown({ pixels, width, height }) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  pixels.forEach((value, i) => image.data.set([value, value, value, 255], 4 * i));
  context.putImageData(image, 0, 0);
  return canvas;
}
