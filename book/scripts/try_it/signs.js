// From landmarks in pixels to numbers that two signers share: coursepkg.projects.sign_language.few_shot.features.
// A clip: `times` in seconds, and of each frame `bodies` (33 points, or null) and `hands` (left and right, 21 points
// each, or null); `nPeople`, the most that were seen at once.

const N_STEPS = 24;
const LEAST_FRAMES = 4;
const LONGEST_GAP = 0.5;
const SHOULDERS = [11, 12];
const WRISTS = [15, 16];
const ELBOWS = [13, 14];
const FACE = [0, 7, 8];
const [WRIST, INDEX_ROOT, MIDDLE_ROOT, LITTLE_ROOT] = [0, 5, 9, 17];
const RAISED = 0.35;
const TRIMS = [RAISED, 0.2, 0.5, 0.65];
const LEAST_REST = 0.25;
const LEAST_SIGN = 0.3;
const DOWN = -0.9;
const MOVES = 0.3;
const SLOW = 10;
const HIDDEN = 0.3;

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const shown = ({ bodies }) => bodies.flatMap((body, t) => (body ? [t] : []));

// The median width of the shoulders.
function shoulderWidth({ bodies }) {
  const [left, right] = SHOULDERS;
  const widths = bodies.filter(Boolean).map((b) => Math.hypot(b[left][0] - b[right][0], b[left][1] - b[right][1]));
  return Math.max(1e-3, median(widths));
}

// How high both wrists are above the shoulders, in widths of the shoulders, in the frames that show somebody.
function wristHeights(clip) {
  const width = shoulderWidth(clip);
  return clip.bodies.filter(Boolean).map((body) => {
    const middle = (body[SHOULDERS[0]][1] + body[SHOULDERS[1]][1]) / 2;
    return WRISTS.map((wrist) => (middle - body[wrist][1]) / width);
  });
}

// The lowest and the highest of each wrist.
const rangeOf = (heights) =>
  [Math.min, Math.max].map((end) => [0, 1].map((side) => heights.reduce((a, row) => end(a, row[side]), heights[0][side])));

// In which frames a hand is up.
function raisedFrames(heights, raised) {
  const [low, high] = rangeOf(heights);
  const range = [0, 1].map((side) => high[side] - low[side]);
  return heights.map((row) => [0, 1].some((s) => range[s] > MOVES && row[s] > low[s] + raised * range[s]));
}

// First and last frame of each stretch in which a hand is up; of several, all together are one more.
function activeParts(heights, times) {
  const frames = raisedFrames(heights, RAISED).flatMap((up, t) => (up ? [t] : []));
  if (frames.length < LEAST_FRAMES) return [[0, heights.length - 1]];
  const all = [[frames[0], frames[0]]];
  for (const t of frames.slice(1)) {
    if (times[t] - times[all.at(-1)[1]] > LEAST_REST) all.push([t, t]);
    else all.at(-1)[1] = t;
  }
  const parts = all.filter(
    ([begin, end]) => times[end] - times[begin] >= LEAST_SIGN && end - begin >= LEAST_FRAMES - 1
  );
  return parts.length === 1 ? parts : [...parts, [frames[0], frames.at(-1)]];
}

// A stretch cut wider or closer than at RAISED.
function trimmed([begin, end], heights, raised) {
  const up = raisedFrames(heights, raised);
  if (raised < RAISED) {
    while (begin > 0 && up[begin - 1]) begin--;
    while (end + 1 < up.length && up[end + 1]) end++;
    return [begin, end];
  }
  const inside = up.flatMap((is, t) => (is && t >= begin && t <= end ? [t] : []));
  return inside.length < LEAST_FRAMES ? [begin, end] : [inside[0], inside.at(-1)];
}

// Lists of numbers between frames, on straight lines; null does not count. Zeros where there is no frame.
function resample(rows, times, at, width) {
  const known = rows.flatMap((row, t) => (row ? [t] : []));
  if (!known.length) return at.map(() => new Array(width).fill(0));
  return at.map((moment) => {
    let after = known.findIndex((t) => times[t] >= moment);
    if (after < 0) after = known.length;
    after = Math.min(Math.max(after, 1), known.length - 1);
    const [first, second] = [known[Math.max(after - 1, 0)], known[after]];
    const gap = Math.max(times[second] - times[first], 1e-9);
    const share = Math.min(Math.max((moment - times[first]) / gap, 0), 1);
    return rows[first].map((value, i) => value + (rows[second][i] - value) * share);
  });
}

// Short gaps between two frames that show a hand count as if it were seen.
function bridged(seen, times) {
  const filled = [...seen];
  const known = seen.flatMap((is, t) => (is ? [t] : []));
  known.slice(1).forEach((after, i) => {
    if (times[after] - times[known[i]] <= LONGEST_GAP) filled.fill(true, known[i], after);
  });
  return filled;
}

function palmLength(hands) {
  if (!hands.length) return 1;
  const apart = (a, b) => Math.hypot(...a.map((value, i) => value - b[i]));
  const lengths = hands.map((hand) =>
    Math.max(apart(hand[MIDDLE_ROOT], hand[WRIST]), 1.5 * apart(hand[INDEX_ROOT], hand[LITTLE_ROOT]))
  );
  return Math.max(1e-3, median(lengths));
}

// One hand at N moments: how much it is seen, its joints from the wrist, and its wrist in the picture.
function handSteps(points, place, times, at) {
  const seen = bridged(points.map(Boolean), times);
  const shares = resample(seen.map((is) => [Number(is)]), times, at, 1).map(([share]) => share);
  const palm = palmLength(points.filter(Boolean));
  const shapes = points.map((hand) => hand?.flatMap((joint) => joint.map((v, i) => (v - hand[WRIST][i]) / palm)));
  const joints = resample(shapes, times, at, 63).map((row, n) => row.map((value) => value * shares[n]));
  const wrists = resample(points.map((hand, t) => hand && place(hand[WRIST], t)), times, at, 2);
  return { shares, joints, wrists };
}

// What a clip shows from one frame to another, in N steps; arms, elbows and face from the middle of the shoulders.
function stepsBetween(clip, begin, end) {
  const { times, bodies } = clip;
  const width = shoulderWidth(clip);
  const seconds = times[end] - times[begin];
  const at = Array.from({ length: N_STEPS }, (_, n) => times[begin] + (n * seconds) / (N_STEPS - 1));
  const place = ([x, y], t) => {
    const [left, right] = SHOULDERS.map((k) => bodies[t][k]);
    return [(x - (left[0] + right[0]) / 2) / width, (y - (left[1] + right[1]) / 2) / width];
  };
  const points = bodies.map((body, t) => body && [...WRISTS, ...ELBOWS, ...FACE].flatMap((k) => place(body[k], t)));
  const arms = resample(points, times, at, 14);
  const hands = [0, 1].map((side) =>
    handSteps(clip.hands.map((pair, t) => (bodies[t] ? pair[side] : null)), place, times, at)
  );
  const wrist = (n, side, i) => {
    const own = arms[n][2 * side + i];
    return hands[side].shares[n] > 0.25 ? hands[side].wrists[n][i] : own;
  };
  return {
    hands: at.map((_, n) => hands.map(({ joints }) => joints[n])),
    seen: at.map((_, n) => hands.map(({ shares }) => shares[n])),
    wrists: at.map((_, n) => [0, 1].flatMap((side) => [wrist(n, side, 0), wrist(n, side, 1)])),
    elbows: arms.map((row) => row.slice(4, 8)),
    face: arms.map((row) => row.slice(8)),
    seconds,
  };
}

// The same sign by a left-handed signer, or in a mirror.
export function mirrored(steps) {
  const points = (rows, order) => rows.map((row) => order.flatMap((k) => [-row[2 * k], row[2 * k + 1]]));
  const flip = (joints) => joints.map((value, i) => (i % 3 ? value : -value));
  return {
    hands: steps.hands.map(([left, right]) => [flip(right), flip(left)]),
    seen: steps.seen.map(([left, right]) => [right, left]),
    wrists: points(steps.wrists, [1, 0]),
    elbows: points(steps.elbows, [1, 0]),
    face: points(steps.face, [0, 2, 1]),
    seconds: steps.seconds,
  };
}

// What may be the sign of a clip: each active part, cut at each of TRIMS.
export function signsOf(clip) {
  const [heights, frames] = [wristHeights(clip), shown(clip)];
  const parts = activeParts(heights, frames.map((t) => clip.times[t]));
  return parts.map((part) =>
    TRIMS.map((raised) => {
      const [begin, end] = trimmed(part, heights, raised);
      return stepsBetween(clip, frames[begin], frames[end]);
    })
  );
}

// The steps of a sign as the embedding takes them, (N, F) flat.
export function stepFeatures(steps) {
  const length = Math.log(Math.max(steps.seconds, 0.2));
  return Float32Array.from(
    steps.hands.flatMap((hands, n) => [
      ...hands.flatMap((joints) => joints.slice(3)),
      ...[steps.seen, steps.wrists, steps.elbows, steps.face].flatMap((part) => part[n]),
      length,
    ])
  );
}

// Why a clip shows no sign, in one sentence; empty where it may show one.
export function refusal(clip) {
  const frames = shown(clip);
  if (!frames.length) return "No person is seen; film head, shoulders and hands from the front.";
  if (frames.length < LEAST_FRAMES) {
    return `Somebody is seen in ${frames.length} frames only, and a sign needs at least ${LEAST_FRAMES}; film it anew.`;
  }
  const hasHand = frames.some((t) => clip.hands[t].some(Boolean));
  return hasHand ? "" : "No hand is seen in any frame; film with both hands in the picture.";
}

// Whether both hands stay down and still.
export function isAtRest(clip) {
  const [low, high] = rangeOf(wristHeights(clip));
  return [0, 1].every((side) => high[side] - low[side] < MOVES && high[side] < DOWN);
}

// What makes a clip less sure, a sentence each.
export function flaws(clip) {
  const [heights, frames] = [wristHeights(clip), shown(clip)];
  const [low] = rangeOf(heights);
  const raised = frames.filter((_, i) => [0, 1].some((side) => heights[i][side] > low[side] + 0.5));
  const seen = raised.filter((t) => clip.hands[t].some(Boolean)).length / raised.length;
  const rate = (clip.times.length - 1) / (clip.times.at(-1) - clip.times[0]);
  const found = [];
  if (isAtRest(clip)) found.push("The hands stay down: sign while the recording runs.");
  if (clip.nPeople > 1) found.push(`${clip.nPeople} people are seen and one is followed; be alone in the picture.`);
  if (rate < SLOW) found.push(`The camera gave ${Math.round(rate)} frames a second, too few to follow fast hands.`);
  if (raised.length && seen < HIDDEN) {
    found.push(`Hands are out of sight in ${Math.round(100 * (1 - seen))}% of the frames in which an arm is raised.`);
  }
  return found;
}
