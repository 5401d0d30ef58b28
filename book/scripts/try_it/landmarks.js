// From pictures to the landmarks of a signer: the steps of coursepkg.projects.sign_language.landmarks, with the same
// networks. A hand or a body is a list of points [x, y, z] in pixels of the picture; null where none is seen.
import { Detector, sigmoid } from "./detection.js";
import { Region, turned, uprightAngle } from "./regions.js";

const LEAST_PRESENCE = 0.5;
const SAME_HAND = 0.5;
const MOST_HANDS = 2;
const PALM_POINTS = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18];
const N_BODY = 33;
const KERNEL = 9;
const BODY_FILTER = { minCutoff: 0.05, beta: 80 };
const SQUARE_FILTER = { minCutoff: 0.01, beta: 10 };
const SHOULDERS = [11, 12];
const WRISTS = [15, 16];
const FURTHEST = 1.5;
const NEAR = 0.6;
const PEOPLE_EVERY = 1;

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

// One network of the exported folder: a picture float32 (3, size, size) to arrays by name.
class Network {
  constructor(ort, session) {
    const [{ shape }] = session.inputMetadata;
    Object.assign(this, { ort, session, size: shape[2] });
  }

  async run(picture) {
    const tensor = new this.ort.Tensor("float32", picture, [1, 3, this.size, this.size]);
    const found = await this.session.run({ picture: tensor });
    return Object.fromEntries(Object.entries(found).map(([name, { data }]) => [name, data]));
  }
}

// The one-euro filter of a list of points.
class OneEuroFilter {
  constructor({ minCutoff, beta }) {
    Object.assign(this, { minCutoff, beta, raw: null });
  }

  apply(points, rate, unit) {
    const share = (cutoff) => 1 / (1 + rate / (2 * Math.PI * cutoff));
    if (this.raw === null) {
      this.smooth = points;
      this.speed = points.map((point) => point.map(() => 0));
    } else {
      const each = (make) => points.map((point, k) => point.map((value, i) => make(value, k, i)));
      const { raw, speed, smooth } = this;
      this.speed = each((v, k, i) => speed[k][i] + share(1) * (((v - raw[k][i]) * rate) / unit - speed[k][i]));
      const cutoff = (k, i) => this.minCutoff + this.beta * Math.abs(this.speed[k][i]);
      this.smooth = each((v, k, i) => smooth[k][i] + share(cutoff(k, i)) * (v - smooth[k][i]));
    }
    this.raw = points;
    return this.smooth;
  }
}

function regionOfCircle(middle, rim) {
  return new Region(middle[0], middle[1], 2.5 * distance(middle, rim), uprightAngle(middle, rim));
}

// Moves a point of the cut to the mean of its map around it; logits (side, side) from `offset` of `maps`.
function refined([x, y], maps, offset, side) {
  const [column, row] = [Math.trunc(x * side), Math.trunc(y * side)];
  if (column < 0 || row < 0 || column >= side || row >= side) return [x, y];
  const reach = KERNEL >> 1;
  let [total, most, across, down] = [0, 0, 0, 0];
  for (let r = Math.max(0, row - reach); r <= Math.min(side - 1, row + reach); r++) {
    for (let c = Math.max(0, column - reach); c <= Math.min(side - 1, column + reach); c++) {
      const weight = sigmoid(maps[offset + r * side + c]);
      total += weight;
      across += weight * c;
      down += weight * r;
      most = Math.max(most, weight);
    }
  }
  return most < 0.5 ? [x, y] : [across / side / total, down / side / total];
}

class PoseTracker {
  constructor(detector, network) {
    Object.assign(this, { detector: new Detector(detector, [8, 16, 32, 32, 32], -1), network });
    this.reset();
  }

  reset() {
    this.region = null;
    this.body = new OneEuroFilter(BODY_FILTER);
    this.square = new OneEuroFilter(SQUARE_FILTER);
  }

  // The squares of all people in a picture, the surest first.
  async detect(frame) {
    return (await this.detector.detect(frame)).map(({ keypoints }) => regionOfCircle(keypoints[0], keypoints[1]));
  }

  // people: what `detect` found in the picture, where it was asked already.
  async track(frame, rate, people) {
    const region = this.region ?? (people ?? (await this.detect(frame)))[0];
    const { size } = this.network;
    const found = region && (await this.network.run(region.crop(frame, size, { repeatEdge: true, low: 0 })));
    if (!found || found.score[0] < LEAST_PRESENCE) {
      this.reset();
      return null;
    }
    const points = [];
    const side = Math.sqrt(found.maps.length / (found.points.length / 5));
    for (let k = 0; k < N_BODY + 2; k++) {
      const [x, y, z] = found.points.subarray(5 * k, 5 * k + 3);
      const flat = refined([x / size, y / size], found.maps, k * side * side, side);
      points.push(region.toFrame([...flat, z / size]));
    }
    const unit = regionOfCircle(...points.slice(N_BODY)).side / 1.25;
    const body = this.body.apply(points.slice(0, N_BODY), rate, unit);
    this.region = regionOfCircle(...this.square.apply(points.slice(N_BODY), rate, unit));
    return body;
  }
}

function regionOfPalm({ box: [left, top, right, bottom], keypoints }) {
  const angle = uprightAngle(keypoints[0], keypoints[2]);
  const [across, down] = turned([0, -0.5 * (bottom - top)], angle);
  const side = 2.6 * Math.max(right - left, bottom - top);
  return new Region((left + right) / 2 + across, (top + bottom) / 2 + down, side, angle);
}

// The square around a hand's landmarks for the next frame.
function regionOfHand(points) {
  const mean = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const angle = uprightAngle(points[0], mean(mean(points[5], points[13]), points[9]));
  const ends = (flat) =>
    [Math.min, Math.max].map((end) => [0, 1].map((i) => end(...flat.map((point) => point[i]))));
  const palm = PALM_POINTS.map((k) => points[k]);
  const middle = mean(...ends(palm));
  const [low, high] = ends(palm.map((point) => turned([point[0] - middle[0], point[1] - middle[1]], -angle)));
  const centre = mean(low, high);
  const [across, down] = turned([centre[0], centre[1] - 0.1 * (high[1] - low[1])], angle);
  const side = 2 * Math.max(high[0] - low[0], high[1] - low[1]);
  return new Region(middle[0] + across, middle[1] + down, side, angle);
}

class HandTracker {
  constructor(detector, network) {
    Object.assign(this, { detector: new Detector(detector, [8, 16, 16, 16], 0), network });
    this.reset();
  }

  reset() {
    this.regions = [];
  }

  async track(frame) {
    let { regions } = this;
    if (regions.length < MOST_HANDS) {
      const palms = (await this.detector.detect(frame)).slice(0, MOST_HANDS);
      regions = [...palms.map(regionOfPalm), ...regions];
    }
    let kept = [];
    for (const region of regions) kept = [...kept.filter((one) => region.overlap(one) <= SAME_HAND), region];
    const hands = [];
    for (const region of kept) {
      const hand = await this.look(frame, region);
      if (hand.score >= LEAST_PRESENCE) hands.push(hand);
    }
    this.regions = hands.map(({ points }) => regionOfHand(points));
    return hands;
  }

  // What the hand network finds in a square; it may show no hand.
  async look(frame, region) {
    const { size } = this.network;
    const found = await this.network.run(region.crop(frame, size, { repeatEdge: true, low: 0 }));
    const points = Array.from({ length: found.points.length / 3 }, (_, k) => {
      const [x, y, z] = found.points.subarray(3 * k, 3 * k + 3);
      // 0.4: the network's own scale of depth.
      return region.toFrame([x / size, y / size, z / size / 0.4]);
    });
    return { points, score: found.score[0], right: found.right[0] };
  }
}

const shoulderWidth = (body) => Math.max(1, distance(body[SHOULDERS[0]], body[SHOULDERS[1]]));
const distanceToWrist = (hand, body, side) => distance(hand.points[0], body[WRISTS[side]]) / shoulderWidth(body);

// The square around the hand at the end of an arm.
function regionAtWrist(body, side) {
  const [wrist, index, little] = [15, 19, 17].map((k) => body[k + side]);
  const middle = [0, 1].map((i) => (2 * index[i] + little[i]) / 3);
  const length = 2 * distance(middle, wrist);
  const angle = uprightAngle(wrist, middle);
  const [across, down] = turned([0, -0.1 * length], angle);
  const wide = Math.max(2.7 * length, 0.5 * shoulderWidth(body));
  return new Region(middle[0] + across, middle[1] + down, wide, angle);
}

// Which of the found hands is the left one, and which the right one.
function assignSides(found, body) {
  const cost = (hand, side) =>
    (body ? distanceToWrist(hand, body, side) : 0) + 0.5 * (side ? 1 - hand.right : hand.right);
  const near = (hand) => !body || Math.min(...[0, 1].map((side) => distanceToWrist(hand, body, side))) <= FURTHEST;
  const [first, second] = [...found].sort((a, b) => b.score - a.score).filter(near);
  if (!first) return [null, null];
  if (!second) return cost(first, 0) <= cost(first, 1) ? [first, null] : [null, first];
  return cost(first, 0) + cost(second, 1) <= cost(second, 0) + cost(first, 1) ? [first, second] : [second, first];
}

// Follows one signer from picture to picture.
export class LandmarkTracker {
  // sessions: by file name, of the exported folder.
  constructor(ort, sessions) {
    const network = (name) => new Network(ort, sessions[`${name}.onnx`]);
    this.pose = new PoseTracker(network("pose_detection"), network("pose_landmark_full"));
    this.hands = new HandTracker(network("palm_detection_full"), network("hand_landmark_full"));
    this.reset();
  }

  // Forgets everything, as before another film.
  reset() {
    this.pose.reset();
    this.hands.reset();
    this.seconds = this.counted = -Infinity;
    this.nPeople = 0;
  }

  // Body, and left and right hand, of the next picture (ImageData).
  async track(frame, seconds) {
    const rate = 1 / Math.max(1e-3, Math.min(1, seconds - this.seconds));
    this.seconds = seconds;
    let people;
    if (seconds - this.counted >= PEOPLE_EVERY) {
      this.counted = seconds;
      people = await this.pose.detect(frame);
      this.nPeople = Math.max(this.nPeople, people.length);
    }
    const body = await this.pose.track(frame, rate, people);
    const sides = assignSides(await this.hands.track(frame), body);
    if (body) {
      for (const side of [0, 1]) sides[side] ??= await this.#atWrist(frame, body, side, sides[1 - side]);
      this.hands.regions = sides.filter(Boolean).map(({ points }) => regionOfHand(points));
    }
    return { body, hands: sides.map((hand) => hand && hand.points), nPeople: this.nPeople };
  }

  // A hand that the palm detector missed, at the end of its arm.
  async #atWrist(frame, body, side, other) {
    const [x, y] = body[WRISTS[side]];
    if (x < 0 || y < 0 || x >= frame.width || y >= frame.height) return null;
    const region = regionAtWrist(body, side);
    if (other && region.overlap(regionOfHand(other.points)) > SAME_HAND) return null;
    const found = await this.hands.look(frame, region);
    return found.score >= LEAST_PRESENCE && distanceToWrist(found, body, side) <= NEAR ? found : null;
  }
}
