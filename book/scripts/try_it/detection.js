// Finds palms and people in a whole picture: coursepkg.projects.sign_language.landmarks.detection.
import { Region } from "./regions.js";

const LEAST_SCORE = 0.5;
const MOST_OVERLAP = 0.3;

export const sigmoid = (logit) => 1 / (1 + Math.exp(-Math.min(Math.max(logit, -80), 80)));

// The middles of all anchors, as shares of the picture.
function gridAnchors(size, strides) {
  const anchors = [];
  for (const stride of new Set(strides)) {
    const cells = Math.ceil(size / stride);
    const each = 2 * strides.filter((one) => one === stride).length;
    for (let row = 0; row < cells; row++) {
      for (let column = 0; column < cells; column++) {
        for (let k = 0; k < each; k++) anchors.push([(column + 0.5) / cells, (row + 0.5) / cells]);
      }
    }
  }
  return anchors;
}

function overlap([low, high], [otherLow, otherHigh]) {
  const area = (from, to) => (to[0] - from[0]) * (to[1] - from[1]);
  const from = [0, 1].map((i) => Math.max(low[i], otherLow[i]));
  const shared = area(from, [0, 1].map((i) => Math.max(from[i], Math.min(high[i], otherHigh[i]))));
  return shared / Math.max(area(low, high) + area(otherLow, otherHigh) - shared, 1e-12);
}

// Weighted non-maximum suppression; of each group its score and its mean points, the best first.
function suppressed(found) {
  let left = [...found].sort((a, b) => b.score - a.score);
  const groups = [];
  while (left.length) {
    const [best] = left;
    const same = left.filter((one) => one === best || overlap(one.points, best.points) > MOST_OVERLAP);
    const total = same.reduce((sum, one) => sum + one.score, 0);
    const points = best.points.map((_, k) =>
      [0, 1].map((i) => same.reduce((sum, one) => sum + (one.score / total) * one.points[k][i], 0))
    );
    groups.push({ score: best.score, points });
    left = left.filter((one) => !same.includes(one));
  }
  return groups;
}

export class Detector {
  // network: see Network in landmarks.js. low: value of a black pixel.
  constructor(network, strides, low) {
    Object.assign(this, { network, low, anchors: gridAnchors(network.size, strides) });
  }

  // What is found, the surest first: `box` (left, top, right, bottom) and `keypoints` in pixels.
  async detect(frame) {
    const { size } = this.network;
    const region = Region.whole(frame);
    const found = await this.network.run(region.crop(frame, size, { repeatEdge: false, low: this.low }));
    const numbers = found.offsets.length / this.anchors.length;
    const boxes = [];
    this.anchors.forEach((anchor, a) => {
      const score = sigmoid(found.logits[a]);
      if (score < LEAST_SCORE) return;
      const at = (pair, i) => found.offsets[a * numbers + 2 * pair + i] / size;
      const corners = [-0.5, 0.5].map((half) => [0, 1].map((i) => at(0, i) + anchor[i] + half * at(1, i)));
      const keypoints = Array.from({ length: numbers / 2 - 2 }, (_, k) => [0, 1].map((i) => at(k + 2, i) + anchor[i]));
      boxes.push({ score, points: [...corners, ...keypoints] });
    });
    return suppressed(boxes).map(({ score, points }) => {
      const [low, high, ...keypoints] = points.map((point) => region.toFrame(point));
      return { score, box: [...low, ...high], keypoints };
    });
  }
}
