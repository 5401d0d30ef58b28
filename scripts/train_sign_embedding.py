"""Makes the embedding of signs that ships with the package: learnt from made-up signs in landmark space alone.

    .venv/bin/python scripts/train_sign_embedding.py [--steps 1000] [--out runs/sign-embedding]

Each step draws new words, and two people for each. Stopped at any time, and called again with the same options, it goes
on. At the end it fits how much each distance weighs and how far "none of these" stands, on further made-up words,
writes coursepkg/projects/sign_language/few_shot/checkpoint/, and prints which way of matching wins at 1, 2, 3 and 5
examples.
"""

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.bench.machine import circumstances
from coursepkg.projects.sign_language.few_shot.embedding import (
    CHECKPOINT,
    SignEmbedding,
    step_features,
)
from coursepkg.projects.sign_language.few_shot.features import TRIMS, signs_of, steps_of
from coursepkg.projects.sign_language.few_shot.generator import (
    DrawnLandmarks,
    draw_words,
    sign,
)
from coursepkg.projects.sign_language.few_shot.matching import (
    Example,
    Matcher,
    Weights,
)
from coursepkg.projects.sign_language.landmarks.augmentation import augmented
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from coursepkg.training.losses import info_nce
from coursepkg.training.saved_model import save_model
from coursepkg.training.schedules import cosine
from coursepkg.training.weights import in_half

WORDS_A_BATCH, BATCHES_AN_EPOCH = 256, 50


@dataclass
class Pairs:
    """Two people signing each of some words."""

    steps: Tensor
    """(2, B, N, F)."""

    def to(self, device: Any) -> "Pairs":
        """Move to a device."""
        return Pairs(self.steps.to(device))


class DrawnPairs(Sequence[Pairs]):
    """The batches of an epoch, drawn when they are asked for."""

    def __init__(self, seed: int, epoch: int) -> None:
        self.seed, self.number = seed, epoch

    def __len__(self) -> int:
        return BATCHES_AN_EPOCH

    def __getitem__(self, index: int) -> Pairs:  # type: ignore[override]
        if not 0 <= index < len(self):
            raise IndexError(index)
        rng = np.random.default_rng([self.seed, self.number, index])
        drawn = sign(rng, draw_words(rng, WORDS_A_BATCH).repeated(2))
        trims = rng.uniform(min(TRIMS), max(TRIMS), len(drawn))
        # Both people of a word are left-handed, or none: which side a sign is on stays a part of it.
        mirrored = np.repeat(rng.random(WORDS_A_BATCH) < 0.3, 2)
        rows = network_inputs(drawn, trims, mirrored)
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        rows = augmented(warped(rows, generator), generator)
        return Pairs(rows.unflatten(0, (WORDS_A_BATCH, 2)).transpose(0, 1))


@dataclass(frozen=True)
class Epochs:
    """New words without end."""

    seed: int = 0

    def epoch(self, number: int) -> Sequence[Pairs]:
        """The batches of an epoch."""
        return DrawnPairs(self.seed, number)


@dataclass(frozen=True)
class SameWord:
    """Each clip is to find the other clip of its word."""

    temperature: float = 0.05

    def count(self, batch: Pairs) -> int:
        """Words."""
        return int(batch.steps.shape[1])

    def loss(self, model: nn.Module, batch: Pairs) -> Tensor:
        """InfoNCE, summed over the words."""
        vectors = model(batch.steps.flatten(0, 1)).float()
        return info_nce(*vectors.chunk(2), self.temperature)


def network_inputs(
    drawn: DrawnLandmarks, trims: np.ndarray, mirrored: np.ndarray
) -> Tensor:
    """Drawn clips as the network takes them, (P, N, F)."""
    rows = []
    for i, trim in enumerate(trims.tolist()):
        steps = steps_of(
            drawn.times[i],
            drawn.full_body(i),
            drawn.hands[i],
            drawn.seen[i],
            raised=trim,
        )
        rows.append(step_features(steps.mirrored() if mirrored[i] else steps))
    return torch.from_numpy(np.stack(rows))


def warped(rows: Tensor, generator: torch.Generator) -> Tensor:
    """Steps (P, N, F) at moments that run unevenly, some without the first or last eighth."""

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    count, n_steps, _ = rows.shape
    n_parts = 5
    ends = torch.cumsum(0.4 + 1.2 * uniform(count, n_parts), dim=1)
    ends = torch.cat([torch.zeros(count, 1), ends / ends[:, -1:]], dim=1)
    even = torch.linspace(0, n_parts, n_steps)
    part = even.long().clamp(max=n_parts - 1)
    share = even - part
    moments = ends[:, part] * (1 - share) + ends[:, part + 1] * share
    cut = 0.12 * uniform(count, 2) * (uniform(count, 2) < 0.5)
    moments = cut[:, :1] + moments * (1 - cut.sum(dim=1, keepdim=True))
    place = moments * (n_steps - 1)
    before = place.long().clamp(max=n_steps - 2)
    share = (place - before)[..., None]
    numbers = before[..., None].expand(-1, -1, rows.shape[2])
    return rows.gather(1, numbers) * (1 - share) + rows.gather(1, numbers + 1) * share


@dataclass(frozen=True)
class Episode:
    """Words that are enrolled, and what is asked."""

    examples: list[Example]
    queries: list[tuple[str, Any]]
    """Word, empty for one that is not enrolled, and landmarks."""


def episodes(seed: int, count: int, n_words: int, n_examples: int) -> Iterator[Episode]:
    """Made-up words of which half as many again are asked that are not enrolled."""
    for number in range(count):
        rng = np.random.default_rng([7, seed, number])
        total, each = n_words + n_words // 2, n_examples + 1
        drawn = sign(rng, draw_words(rng, total).repeated(each), left_handed=0.1)
        examples, queries = [], []
        for word in range(total):
            first = word * each
            if word < n_words:
                examples += [
                    Example(str(word), str(i), "", drawn.clip(first + i))
                    for i in range(n_examples)
                ]
            query = drawn.clip(first + n_examples)
            if query.has_hands:
                queries.append((str(word) if word < n_words else "", query))
        yield Episode([one for one in examples if one.landmarks.has_hands], queries)


def fit_weights(embedding: SignEmbedding, method: str) -> Weights:
    """Maximise the likelihood of the right answers, "none of these" among them."""
    rows = []
    for n_examples in (1, 2, 3, 5):
        for episode in episodes(1, 6, 20, n_examples):
            matcher = Matcher(
                episode.examples, method=method, embedding=embedding, weights=Weights()
            )
            for word, landmarks in episode.queries:
                target = (
                    matcher.words.index(word)
                    if word in matcher.words
                    else len(matcher.words)
                )
                signs, dtw = signs_of(landmarks), np.zeros(len(matcher.words))
                embedded = np.zeros(len(matcher.words))
                if matcher.uses_dtw:
                    dtw = matcher.warping_by_word(signs)
                if matcher.uses_embedding:
                    embedded = matcher.prototype_distances(signs)
                rows.append((target, torch.tensor(dtw), torch.tensor(embedded)))
    logs = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64, requires_grad=True)
    uses = torch.tensor([float(matcher.uses_dtw), float(matcher.uses_embedding)])
    optimiser = torch.optim.LBFGS([logs], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        a, b = logs[:2].exp() * uses
        losses = []
        for target, dtw, embedded in rows:
            scores = torch.cat([-(a * dtw + b * embedded), -logs[2:]])
            losses.append(scores.logsumexp(0) - scores[target])
        loss = torch.stack(losses).mean()
        loss.backward()
        return loss

    optimiser.step(closure)
    a, b = (logs[:2].exp() * uses).tolist()
    return Weights(
        dtw=round(a, 4), embedding=round(b, 4), none=round(logs[2].item(), 4)
    )


def pooled(first: Weights, second: Weights) -> Weights:
    """The geometric mean of two answers that were fitted each by itself (logarithmic opinion pool).

    Fitted together on made-up signs, the embedding, which has learnt from such signs, would get all the weight.
    """
    pairs = (
        (getattr(first, name), getattr(second, name))
        for name in ("dtw", "embedding", "none")
    )
    return Weights(*(round((a + b) / 2, 4) for a, b in pairs))


def compare(embedding: SignEmbedding, weights: dict[str, Weights]) -> dict[str, Any]:
    """Accuracy of each method at 1, 2, 3 and 5 examples a word, of 20 new words, and of unknown words named so."""
    table: dict[str, Any] = {}
    for method in weights:
        for n_examples in (1, 2, 3, 5):
            right = known = refused = unknown = kept = 0
            for episode in episodes(2, 10, 20, n_examples):
                matcher = Matcher(
                    episode.examples,
                    method=method,
                    embedding=embedding,
                    weights=weights[method],
                )
                for word, landmarks in episode.queries:
                    p = matcher.probabilities(landmarks)
                    if word:
                        known += 1
                        right += matcher.words[int(p[:-1].argmax())] == word
                        kept += bool(p.argmax() < len(matcher.words))
                    else:
                        unknown += 1
                        refused += bool(p.argmax() == len(matcher.words))
            table[f"{method} {n_examples}"] = {
                "top1": right / known, "n": known, "known_kept": kept / known, "unknown_refused": refused / unknown,
            }  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("runs/sign-embedding"))
    options = parser.parse_args()
    model = SignEmbedding()
    config = TrainConfig(
        max_steps=options.steps,
        learning_rate=cosine(1.5e-3, warmup=100, total=options.steps),
        weight_decay=0.01,
        precision="bf16-mixed",
        checkpoint_every=BATCHES_AN_EPOCH,
        log_every=BATCHES_AN_EPOCH,
    )
    history = fit(
        model, SameWord(), Epochs(), config=config, out=options.out, resume=True
    )
    publish(model, steps=history.step)


def publish(model: SignEmbedding, *, steps: int) -> None:
    """Fit the weights, measure, and store all that ships."""
    model.eval()
    weights = {
        name: fit_weights(model, name) for name in ("dtw", "dtw-mean", "embedding")
    }
    weights["dtw+embedding"] = pooled(weights["dtw-mean"], weights["embedding"])
    table = compare(model, weights)
    for name, row in table.items():
        print(name, {key: round(value, 3) for key, value in row.items()})
    shutil.rmtree(CHECKPOINT, ignore_errors=True)
    facts = {
        "steps": steps,
        "words_a_batch": WORDS_A_BATCH,
        "weights_of_distances": {name: asdict(one) for name, one in weights.items()},
        "made_up_signs": table,
        "made": circumstances(),
    }
    save_model(CHECKPOINT, in_half(model), **facts)
    print(json.dumps(facts["weights_of_distances"]))


if __name__ == "__main__":
    main()
