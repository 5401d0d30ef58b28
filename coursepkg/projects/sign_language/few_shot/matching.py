"""Name a sign by the enrolled examples that it is nearest to, or say that it is none.

    distance    of the sign to each example, by warping, by embedding, or by both; the
                mirror image of the sign is tried too, for left-handed signers
    word        its nearest example, the mean of its nearest ones, or its prototype: the
                mean vector of its examples
    answer      softmax over the words of -weight * distance, with one answer more that
                stands at a fixed distance: "none of these"

The weights, and the distance of the last answer, are fitted on made-up signs: episodes
of some words with some examples each, and queries that are words of the episode or
others. Warping and embedding are fitted each by itself; together they have half of
their weights each, the geometric mean of the two answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np

from coursepkg.files import read_json
from coursepkg.projects.sign_language.few_shot.dtw import dtw_distances
from coursepkg.projects.sign_language.few_shot.embedding import (
    CHECKPOINT,
    SignEmbedding,
    default_embedding,
    embed,
)
from coursepkg.projects.sign_language.few_shot.features import (
    SignSteps,
    is_at_rest,
    signs_of,
)
from coursepkg.projects.sign_language.landmarks.extract import Landmarks
from coursepkg.training.saved_model import CARD
from coursepkg.validation import check_choice

Method = Literal["auto", "dtw", "dtw-mean", "embedding", "dtw+embedding"]
METHODS = get_args(Method)
Signs = Sequence[Sequence[SignSteps]]
"""What may be the sign of a clip, as `signs_of` gives it."""
N_NEAREST = 3
"""Examples of a word whose mean distance counts, where there are so many."""
ARM_WEIGHTS = (0.7, 0.35)
"""Of wrists and elbows in warping, beside 1 for the mean joint of both hands."""


@dataclass(frozen=True, eq=False)
class Example:
    """One enrolled clip."""

    word: str
    signer: str
    """Empty where it is not known."""
    name: str
    """Of its file."""
    landmarks: Landmarks


@dataclass(frozen=True)
class Weights:
    """What distances are multiplied by before the softmax."""

    dtw: float = 0.0
    embedding: float = 0.0
    none: float = 0.0
    """The weighted distance of "none of these"."""


def warping_features(steps: SignSteps) -> np.ndarray:
    """The steps of a sign as warping compares them, float32 (N, F)."""
    n = len(steps.seen)
    wrists, elbows = ARM_WEIGHTS
    hands = steps.hands[:, :, 1:, :2].reshape(n, -1) * (1.5 / np.sqrt(20))
    arms = [wrists * steps.wrists.reshape(n, -1), elbows * steps.elbows.reshape(n, -1)]
    return np.concatenate([*arms, hands], axis=1).astype(np.float32)


class Matcher:
    """Names signs by examples.

    Args:
        examples: at least one; the words keep the order in which they come.
        method: `dtw` nearest example by warping, `dtw-mean` mean of the nearest,
            `embedding` nearest prototype, `dtw+embedding` both together; `auto` is the
            last.
        embedding: network; None takes the one that ships with the package.
        weights: of the distances; None takes those that were fitted for the method with
            the embedding that ships.

    Raises:
        ValueError: there is no example, or one of them shows nobody.
        FileNotFoundError: this installation has no embedding.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        *,
        method: Method = "auto",
        embedding: SignEmbedding | None = None,
        weights: Weights | None = None,
    ) -> None:
        check_choice("method", method, METHODS)
        if not examples:
            raise ValueError("examples must hold at least one clip, got none")
        self.method = "dtw+embedding" if method == "auto" else method
        self.uses_dtw = self.method != "embedding"
        self.uses_embedding = not self.method.startswith("dtw") or "+" in self.method
        self.words = tuple(dict.fromkeys(one.word for one in examples))
        numbers = {word: number for number, word in enumerate(self.words)}
        self._word = np.array([numbers[one.word] for one in examples])
        self.weights = weights or default_weights()[self.method]
        signs = [signs_of(one.landmarks) for one in examples]
        # A film may have several active parts: which example each part is of.
        self._owner = np.repeat(np.arange(len(signs)), [len(one) for one in signs])
        parts = [cuts for one in signs for cuts in one]
        if self.uses_dtw:
            self._steps = np.stack([warping_features(cuts[0]) for cuts in parts])
        if self.uses_embedding:
            self._network = embedding or default_embedding()
            vectors = sign_vectors(self._network, parts)
            self.prototypes, self.prototype_word = prototypes(
                vectors, self._owner, self._word
            )

    def probabilities(self, landmarks: Landmarks) -> np.ndarray:
        """The probability of each word and, last, of none of them, float64 (V + 1,).

        Raises:
            ValueError: nobody, or no hand, is seen; the clip is named.
        """
        scores = np.append(-self.word_distances(landmarks), -self.weights.none)
        if is_at_rest(landmarks):
            scores[-1] = scores.max() + 5.0
        powers = np.exp(scores - scores.max())
        return np.asarray(powers / powers.sum())

    def word_distances(self, landmarks: Landmarks) -> np.ndarray:
        """The weighted distance of a sign from each word, float64 (V,)."""
        signs, total = signs_of(landmarks), np.zeros(len(self.words))
        if self.uses_dtw:
            total += self.weights.dtw * self.warping_by_word(signs)
        if self.uses_embedding:
            total += self.weights.embedding * self.prototype_distances(signs)
        return total

    def warping_distances(self, signs: Signs) -> np.ndarray:
        """From a sign or its mirror image to each example by warping, float64 (n,)."""
        nearest = np.full(len(self._word), np.inf)
        for steps in with_mirrored([cuts[0] for cuts in signs]):
            distances = dtw_distances(warping_features(steps), self._steps)
            np.minimum.at(nearest, self._owner, distances)
        return nearest

    def warping_by_word(self, signs: Signs) -> np.ndarray:
        """The mean of each word's nearest examples by warping, float64 (V,)."""
        most = 1 if self.method == "dtw" else N_NEAREST
        distances, found = self.warping_distances(signs), []
        for word in range(len(self.words)):
            found.append(np.sort(distances[self._word == word])[:most].mean())
        return np.array(found)

    def prototype_distances(self, signs: Signs) -> np.ndarray:
        """1 - cosine of a sign or its mirror image and each word's prototype, (V,)."""
        mirrored = [[one.mirrored() for one in cuts] for cuts in signs]
        vectors = sign_vectors(self._network, [*signs, *mirrored])
        apart = 1 - (vectors @ self.prototypes.T).max(axis=0)
        nearest = np.full(len(self.words), np.inf)
        np.minimum.at(nearest, self.prototype_word, apart)
        return nearest


def with_mirrored(signs: Sequence[SignSteps]) -> list[SignSteps]:
    """Signs, and their mirror images."""
    return [*signs, *(one.mirrored() for one in signs)]


def sign_vectors(
    network: SignEmbedding, signs: Sequence[Sequence[SignSteps]]
) -> np.ndarray:
    """The mean vector of each sign over its cuts, of length 1, float32 (n, E)."""
    flat = embed(network, [one for cuts in signs for one in cuts])
    owner = np.repeat(np.arange(len(signs)), [len(cuts) for cuts in signs])
    sums = np.zeros((len(signs), flat.shape[1]), np.float32)
    np.add.at(sums, owner, flat)
    return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True))


def prototypes(
    vectors: np.ndarray, owner: np.ndarray, word: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mean vector of each word's examples, made of length 1.

    Of an example with several active parts the one counts that the word's other
    examples resemble most. A word with one example has a prototype for each part.

    Args:
        vectors: of all active parts, (m, E).
        owner: number of the example that each part is of, (m,).
        word: number of each example's word, (n,).

    Returns:
        prototypes, float32 (p, E), and the number of each one's word, (p,).
    """
    found: list[np.ndarray] = []
    words: list[int] = []
    for number in range(int(word.max()) + 1):
        examples = [vectors[owner == i] for i in np.flatnonzero(word == number)]
        if len(examples) == 1:
            found += list(examples[0])
            words += [number] * len(examples[0])
            continue
        chosen = []
        for i, own in enumerate(examples):
            others = examples[:i] + examples[i + 1 :]
            alike = sum((own @ other.T).max(axis=1) for other in others)
            chosen.append(own[int(np.argmax(alike))])
        mean = np.sum(chosen, axis=0)
        found.append(mean / np.linalg.norm(mean))
        words.append(number)
    return np.stack(found).astype(np.float32), np.array(words)


@cache
def default_weights() -> dict[str, Weights]:
    """The weights of each method that were fitted with the embedding that ships.

    Raises:
        FileNotFoundError: this installation has none.
        ValueError: the file is damaged.
    """
    path = CHECKPOINT / CARD
    fitted = read_json(path, needs={"meta": dict})["meta"].get("weights_of_distances")
    try:
        return {name: Weights(**fitted[name]) for name in METHODS if name != "auto"}
    except (KeyError, TypeError) as reason:
        raise ValueError(
            f"{path} is damaged: it lacks the weights of a method; install the package"
            " again"
        ) from reason
