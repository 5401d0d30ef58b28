// Names a sign by the enrolled examples that it is nearest to, by warping and embedding together, or says that it is
// none: Matcher with its method "auto" in coursepkg.projects.sign_language.few_shot.matching.
import { isAtRest, mirrored, signsOf, stepFeatures } from "./signs.js";

const N_NEAREST = 3;
const ARM_WEIGHTS = [0.7, 0.35];
const WINDOW = 6;

// The steps of a sign as warping compares them.
function warpingFeatures(steps) {
  const scale = 1.5 / Math.sqrt(20);
  return steps.hands.map((hands, n) => [
    ...steps.wrists[n].map((value) => ARM_WEIGHTS[0] * value),
    ...steps.elbows[n].map((value) => ARM_WEIGHTS[1] * value),
    ...hands.flatMap((joints) => joints.flatMap((value, i) => (i < 3 || i % 3 === 2 ? [] : [value * scale]))),
  ]);
}

// How far two signals of N steps are apart when time may stretch, per step.
function warpingDistance(signal, other) {
  const apart = (a, b) => Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0));
  let before = [0, ...new Array(other.length).fill(Infinity)];
  signal.forEach((step, i) => {
    const costs = new Array(other.length + 1).fill(Infinity);
    for (let j = Math.max(0, i - WINDOW); j <= Math.min(other.length - 1, i + WINDOW); j++) {
      costs[j + 1] = apart(step, other[j]) + Math.min(before[j + 1], costs[j], before[j]);
    }
    before = costs;
  });
  return before.at(-1) / signal.length;
}

function unit(vector) {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const sum = (vectors) => vectors[0].map((_, i) => vectors.reduce((total, vector) => total + vector[i], 0));
const dot = (a, b) => a.reduce((total, value, i) => total + value * b[i], 0);
const most = (values) => values.reduce((a, b) => Math.max(a, b));
const least = (values) => values.reduce((a, b) => Math.min(a, b));

// The mean vectors of a word's examples, each the vectors of its parts. Of an example with several parts the one
// counts that the other examples resemble most; one example alone has a prototype for each part.
function prototypes(examples) {
  if (examples.length === 1) return examples[0];
  const chosen = examples.map((own) => {
    const alike = own.map((vector) =>
      examples.reduce((total, other) => (other === own ? total : total + most(other.map((o) => dot(vector, o)))), 0)
    );
    return own[alike.indexOf(most(alike))];
  });
  return [unit(sum(chosen))];
}

export class Matcher {
  #examples = new Map();

  // embed: features of signs, a Float32Array each, to their vectors. weights: of the distances, from the card.
  constructor(embed, weights) {
    Object.assign(this, { embed, weights });
  }

  // The words, each with its number of examples.
  get words() {
    return [...this.#examples].map(([word, examples]) => [word, examples.length]);
  }

  async enrol(word, clip) {
    const signs = signsOf(clip);
    const example = { steps: signs.map((cuts) => warpingFeatures(cuts[0])), vectors: await this.#vectors(signs) };
    this.#examples.set(word, [...(this.#examples.get(word) ?? []), example]);
  }

  remove(word) {
    this.#examples.delete(word);
  }

  // The distance of a clip from each word and its probability, and the probability of none of them.
  async name(clip) {
    const signs = signsOf(clip);
    const both = [...signs, ...signs.map((cuts) => cuts.map(mirrored))];
    const vectors = await this.#vectors(both);
    const steps = both.map((cuts) => warpingFeatures(cuts[0]));
    const words = [...this.#examples].map(([word, examples]) => {
      const warped = examples.map((one) => least(one.steps.flatMap((a) => steps.map((b) => warpingDistance(b, a)))));
      const nearest = warped.sort((a, b) => a - b).slice(0, N_NEAREST);
      const means = prototypes(examples.map((one) => one.vectors));
      const apart = 1 - most(means.flatMap((mean) => vectors.map((vector) => dot(vector, mean))));
      const warping = nearest.reduce((a, b) => a + b) / nearest.length;
      return { word, distance: this.weights.dtw * warping + this.weights.embedding * apart };
    });
    const scores = [...words.map(({ distance }) => -distance), -this.weights.none];
    if (isAtRest(clip)) scores[words.length] = most(scores) + 5;
    const powers = scores.map((score) => Math.exp(score - most(scores)));
    const total = powers.reduce((a, b) => a + b);
    const answers = words.map((one, i) => ({ ...one, probability: powers[i] / total }));
    return { words: answers, none: powers[words.length] / total };
  }

  // The mean vector of each sign over its cuts, of length 1.
  async #vectors(signs) {
    const found = await this.embed(signs.flat().map(stepFeatures));
    let at = 0;
    return signs.map((cuts) => unit(sum(found.slice(at, (at += cuts.length)))));
  }
}
