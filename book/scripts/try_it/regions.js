// Turned squares of a picture, as coursepkg.projects.sign_language.landmarks.regions has them.

// A point about the origin, by an angle in radians, clockwise.
export function turned([x, y], angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [cos * x - sin * y, sin * x + cos * y];
}

// The angle by which a square is turned so that begin -> end points up in its cut.
export function uprightAngle(begin, end) {
  const angle = Math.PI / 2 - Math.atan2(begin[1] - end[1], end[0] - begin[0]);
  return angle - 2 * Math.PI * Math.floor((angle + Math.PI) / (2 * Math.PI));
}

export class Region {
  // Middle and side in pixels of the picture.
  constructor(x, y, side, angle = 0) {
    Object.assign(this, { x, y, side, angle });
  }

  static whole({ width, height }) {
    return new Region(width / 2, height / 2, Math.max(width, height));
  }

  // The square, cut out of a picture (ImageData) and scaled: float32 (3, size, size), black `low` and white 1.
  // Beyond the edge the last pixels are repeated, or it is black. Places are multiples of 1/32 pixel, and colours whole
  // numbers, as OpenCV's warpAffine has them: to it the package leaves the cutting.
  crop({ data, width, height }, size, { repeatEdge, low }) {
    const step = this.side / size;
    const cos = step * Math.cos(this.angle);
    const sin = step * Math.sin(this.angle);
    const left = this.x - ((cos - sin) * size) / 2;
    const top = this.y - ((sin + cos) * size) / 2;
    const cut = new Float32Array(3 * size * size);
    const scale = (1 - low) / 255;
    const place = (x, y) => {
      if (repeatEdge) return 4 * (Math.min(Math.max(y, 0), height - 1) * width + Math.min(Math.max(x, 0), width - 1));
      // No pixel lies behind the last one: it reads as undefined.
      return x >= 0 && y >= 0 && x < width && y < height ? 4 * (y * width + x) : data.length;
    };
    const fixed = (value) => Math.round(1024 * value);
    for (let row = 0, i = 0; row < size; row++) {
      const beginX = fixed(left - sin * row) + 16;
      const beginY = fixed(top + cos * row) + 16;
      for (let column = 0; column < size; column++, i++) {
        const x = (beginX + fixed(cos * column)) >> 5;
        const y = (beginY + fixed(sin * column)) >> 5;
        const [x0, y0] = [x >> 5, y >> 5];
        const [right, below] = [(x & 31) / 32, (y & 31) / 32];
        const [a, b, c, d] = [place(x0, y0), place(x0 + 1, y0), place(x0, y0 + 1), place(x0 + 1, y0 + 1)];
        for (let k = 0; k < 3; k++) {
          const above = (1 - right) * (data[a + k] ?? 0) + right * (data[b + k] ?? 0);
          const under = (1 - right) * (data[c + k] ?? 0) + right * (data[d + k] ?? 0);
          cut[k * size * size + i] = Math.round(above + below * (under - above)) * scale + low;
        }
      }
    }
    return cut;
  }

  // A point of the cut, from 0 to 1 along both sides, in pixels of the picture; a depth comes in sides of the cut.
  toFrame([x, y, ...depth]) {
    const [across, down] = turned([x - 0.5, y - 0.5], this.angle);
    return [across * this.side + this.x, down * this.side + this.y, ...depth.map((z) => z * this.side)];
  }

  // Intersection over union of two squares taken as upright.
  overlap(other) {
    const reach = (this.side + other.side) / 2;
    const least = Math.min(this.side, other.side);
    const wide = Math.min(least, reach - Math.abs(this.x - other.x));
    const high = Math.min(least, reach - Math.abs(this.y - other.y));
    const shared = Math.max(0, wide) * Math.max(0, high);
    const union = this.side ** 2 + other.side ** 2 - shared;
    return union > 0 ? shared / union : 0;
  }
}
