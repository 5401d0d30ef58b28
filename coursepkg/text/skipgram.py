"""Word vectors by prediction: skip-gram with negative sampling (word2vec).

Each word has two vectors, v as a centre and u as a context. They learn to tell the
pairs that stand near one another in text from pairs whose context was drawn at random.

Source: Mikolov et al. 2013, "Efficient Estimation of Word Representations in Vector
Space" (arXiv 1301.3781) and "Distributed Representations of Words and Phrases and their
Compositionality" (arXiv 1310.4546).
"""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from coursepkg.text.vocabulary import Vocabulary
from coursepkg.text.word_vectors import WordVectors, flatten


@dataclass(frozen=True)
class SkipGramConfig:
    """How skip-gram vectors are trained."""

    dim: int = 64
    """Length of a vector, 1 or more."""
    window: int = 4
    """Most places between a word and its context; each word draws its own window from 1
    to this."""
    n_negatives: int = 5
    """Random contexts drawn for each true one."""
    noise_power: float = 0.75
    """Exponent on the word counts from which negatives are drawn, 0 (uniform) to 1 (as
    in the text)."""
    subsample: float = 1e-3
    """A word of frequency f is kept with probability min(1, sqrt(subsample / f)); 0
    keeps every word."""
    epochs: int = 3
    """Passes over the text, each with its own windows and subsampling."""
    batch_size: int = 1024
    """Pairs a step."""
    learning_rate: float = 0.01
    """Of Adam, falling to 0 in a straight line."""
    max_seconds: float = math.inf
    """Stop after so many seconds, one step at least; infinite for a result that is the
    same every time."""
    seed: int = 0
    """Of the first vectors and of all draws."""

    def __post_init__(self) -> None:
        for name in ("dim", "window", "n_negatives", "epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} must be at least 1, got {getattr(self, name)}"
                )
        for name in ("learning_rate", "max_seconds"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if not 0 <= self.noise_power <= 1:
            raise ValueError(f"noise_power must lie in 0..1, got {self.noise_power}")
        if not 0 <= self.subsample < math.inf:
            raise ValueError(
                f"subsample must be at least 0 and finite, got {self.subsample}"
            )


class SkipGram(nn.Module):
    """The two tables of vectors and their loss."""

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.centers = nn.Embedding(size, dim)
        self.contexts = nn.Embedding(size, dim)
        # As in word2vec's code: small centres, zero contexts, so that every first score
        # is 0.
        nn.init.uniform_(self.centers.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.contexts.weight)

    def forward(
        self,
        center: Int[Tensor, " N"],
        context: Int[Tensor, " N"],
        negatives: Int[Tensor, "N K"],
    ) -> Float[Tensor, ""]:
        """Mean of -log sigmoid(v . u) - sum over negatives log sigmoid(-v . u_n)."""
        v = self.centers(center)
        positive = (v * self.contexts(context)).sum(dim=-1)  # (N,)
        negative = torch.einsum("ne,nke->nk", v, self.contexts(negatives))
        return -(logsigmoid(positive) + logsigmoid(-negative).sum(dim=-1)).mean()


class SkipGramResult(NamedTuple):
    """What training gave."""

    vectors: WordVectors
    """The centre vectors, in float32."""
    losses: list[float]
    """The mean loss of each step."""


def train_skipgram(
    sentences: Iterable[Sequence[str]], vocabulary: Vocabulary, config: SkipGramConfig
) -> SkipGramResult:
    """Train skip-gram vectors on tokenised text.

    Raises:
        ValueError: the sentences hold no two words of the vocabulary that stand side by
            side.
    """
    ids, sentence = flatten(sentences, vocabulary)
    generator = torch.Generator().manual_seed(config.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = SkipGram(len(vocabulary), config.dim)
    counts = torch.bincount(ids, minlength=len(vocabulary)).double()
    noise = torch.where(counts > 0, counts**config.noise_power, 0)
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    losses: list[float] = []
    deadline = time.monotonic() + config.max_seconds
    for epoch in range(config.epochs):
        if losses and time.monotonic() > deadline:
            break
        center, context = _draw_pairs(ids, sentence, counts, config, generator)
        batches = list(_batches(center, context, config.batch_size, generator))
        for step, (centers, contexts) in enumerate(batches):
            if losses and time.monotonic() > deadline:
                break
            done = (epoch + step / len(batches)) / config.epochs
            optimizer.param_groups[0]["lr"] = config.learning_rate * (1 - done)
            shape = (len(centers), config.n_negatives)
            drawn = torch.multinomial(
                noise, shape[0] * shape[1], replacement=True, generator=generator
            )
            loss = model(centers, contexts, drawn.view(shape))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    if not losses:
        raise ValueError(
            "sentences must hold words of the vocabulary side by side, got none"
        )
    return SkipGramResult(
        WordVectors.from_vocabulary(vocabulary, model.centers.weight.detach()), losses
    )


def _draw_pairs(
    ids: Tensor,
    sentence: Tensor,
    counts: Tensor,
    config: SkipGramConfig,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """The (centre, context) pairs of one pass, after subsampling frequent words."""
    if config.subsample:
        keep = (config.subsample * counts.sum() / counts).sqrt()[ids]
        kept = torch.rand(len(ids), generator=generator) < keep
        ids, sentence = ids[kept], sentence[kept]
    window = torch.randint(1, config.window + 1, ids.shape, generator=generator)
    centers, contexts = [], []
    for distance in range(1, config.window + 1):
        together = sentence[:-distance] == sentence[distance:]
        left, right = slice(None, -distance), slice(distance, None)
        for center, context in ((left, right), (right, left)):
            near = together & (window[center] >= distance)
            centers.append(ids[center][near])
            contexts.append(ids[context][near])
    return torch.cat(centers), torch.cat(contexts)


def _batches(
    center: Tensor, context: Tensor, batch_size: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    order = torch.randperm(len(center), generator=generator)
    for rows in order.split(batch_size):
        if len(rows):
            yield center[rows], context[rows]
