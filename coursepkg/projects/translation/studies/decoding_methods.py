"""Ways to decode under one roof: greedy, beam search and sampling, each described by one small object."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.arguments import check_count, check_finite
from coursepkg.decoding.arguments import source_limits
from coursepkg.decoding.filters import Forbid, RepetitionPenalty
from coursepkg.decoding.generate import sample
from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.decoding.scoring import token_log_probs
from coursepkg.projects.translation.decode import EXTRA_LENGTH, search
from coursepkg.projects.translation.predict import Translator
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK, pad_batch


@dataclass(frozen=True)
class Method:
    """How to decode; the defaults are greedy."""

    beam_size: int = 1
    """Beams of the search; 1 is greedy, and must be 1 where `sample` is on."""
    length_penalty: float = 1.0
    """Exponent of the length penalty; it matters to more than one beam only."""
    sample: bool = False
    """Draw every token at random instead of searching."""
    temperature: float = 1.0
    """Of the draws, above 0."""
    top_k: int | None = None
    """Draw among so many tokens; None: among all."""
    top_p: float | None = None
    """Draw among the smallest set of this probability, in (0, 1]; None: among all."""
    repetition_penalty: float = 1.0
    """Makes tokens that are there already less likely, above 0; 1 changes nothing."""
    seed: int = 0
    """Of the draws, at least 0."""

    def __post_init__(self) -> None:
        check_count("beam_size", self.beam_size)
        check_finite("length_penalty", self.length_penalty)
        check_count("seed", self.seed, least=0)
        if self.sample and self.beam_size > 1:
            raise ValueError(f"beam_size must be 1 where sentences are sampled, got {self.beam_size}")
        drawn = ("temperature", "top_k", "top_p", "seed")
        changed = [name for name in drawn if getattr(self, name) != getattr(Method, name)]
        if changed and not self.sample:
            raise ValueError(f"{changed[0]} needs sampling, as a search draws nothing; switch it on")

    def __str__(self) -> str:
        if self.sample:
            parts = [f"sample, temperature {self.temperature:g}"]
            parts += [] if self.top_k is None else [f"top-k {self.top_k}"]
            parts += [] if self.top_p is None else [f"top-p {self.top_p:g}"]
        elif self.beam_size == 1:
            parts = ["greedy"]
        else:
            parts = [f"beam {self.beam_size}", f"length penalty {self.length_penalty:g}"]
        if self.repetition_penalty != 1:
            parts.append(f"repetition penalty {self.repetition_penalty:g}")
        return ", ".join(parts)

    def seeded(self, seed: int) -> "Method":
        """The same method with other draws."""
        return replace(self, seed=seed)

    def as_json(self) -> dict[str, Any]:
        """All settings, as JSON can hold them."""
        return asdict(self)


class Decoder:
    """A translator's network, made ready once, that decodes ids by any method.

    Args:
        translator: the system; its network decodes in eval mode.
        batch_size: sentences at once; it changes the time, never a draw.
    """

    def __init__(self, translator: Translator, batch_size: int = 64) -> None:
        check_count("batch_size", batch_size)
        self.translator, self.batch_size = translator, batch_size
        self.model: Any = translator.fast
        n_tags = len(translator.subwords.target.tags)
        self._never = Forbid((PAD, BOS, UNK, *range(UNK + 1, UNK + 1 + n_tags)))

    def decode(self, sources: Sequence[Sequence[int]], method: Method, *, first: int = 0) -> list[Hypothesis]:
        """One hypothesis for each source.

        A draw depends on the seed and the sentence's number alone. Tokens that stand for no text (PAD, BOS, UNK and
        the tags), to which label smoothing leaves some probability, are never drawn.

        Args:
            sources: ids of each source, its tag in front, EOS not yet behind.
            method: how.
            first: number of the first sentence, where a corpus is decoded in several calls.
        """
        if method.sample:
            return self._sample(sources, method, first)
        return [found[0] for found in self.n_best(sources, method, 1)]

    def n_best(self, sources: Sequence[Sequence[int]], method: Method, n_best: int) -> list[list[Hypothesis]]:
        """The best `n_best` hypotheses of each source by beam search, at most `beam_size`."""
        penalty = method.repetition_penalty
        return search(
            self.model,
            sources,
            max_len=self.translator.recipe.max_len,
            beam_size=method.beam_size,
            length_penalty=method.length_penalty,
            n_best=n_best,
            batch_size=self.batch_size,
            filters=() if penalty == 1 else (RepetitionPenalty(penalty),),
        )

    @torch.inference_mode()
    def _sample(self, sources: Sequence[Sequence[int]], method: Method, first: int) -> list[Hypothesis]:
        found: dict[int, Hypothesis] = {}
        for chosen, src in self._batches(sources):
            limits = source_limits(src, EXTRA_LENGTH, most=self.translator.recipe.max_len - 1)
            drawn = sample(
                self.model.start(src, max_len=int(limits.max()) + 1),
                max_len=limits,
                seed=method.seed,
                temperature=method.temperature,
                top_k=method.top_k,
                top_p=method.top_p,
                repetition_penalty=method.repetition_penalty,
                filters=(self._never,),
                sentence_numbers=[first + i for i in chosen],
            )
            found |= {i: one for i, (one,) in zip(chosen, drawn, strict=True)}
        return [found[i] for i in range(len(sources))]

    @torch.inference_mode()
    def log_probs(self, sources: Sequence[Sequence[int]], hypotheses: Sequence[Hypothesis]) -> list[float]:
        """log p(y | x) of given hypotheses under the model itself, natural logarithms.

        What a search or a draw reports is after its filters, so that two methods could not be compared by it.
        """
        found: dict[int, float] = {}
        for chosen, src in self._batches(sources):
            targets = [_target(hypotheses[i]) for i in chosen]
            scores = self._teacher_forced(src, targets).double().sum(dim=1)
            found |= dict(zip(chosen, scores.tolist(), strict=True))
        return [found[i] for i in range(len(sources))]

    def _teacher_forced(self, src: Tensor, targets: Sequence[Sequence[int]]) -> Tensor:
        """(B, T) log-probabilities of the tokens of given targets."""
        model = self.translator.model.eval()
        return token_log_probs(lambda tgt_in: model(src, tgt_in), targets, eos=None, device=src.device)

    def _batches(self, sources: Sequence[Sequence[int]]) -> list[tuple[list[int], Tensor]]:
        """Numbers and ids (B, S) of sentences of about equal length."""
        order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        groups = [order[at : at + self.batch_size] for at in range(0, len(order), self.batch_size)]
        device = _device(self.translator.model)
        return [(group, pad_batch([[*sources[i], EOS] for i in group])[0].to(device)) for group in groups]


def _target(one: Hypothesis) -> list[int]:
    """Its tokens as the model said them: EOS behind, unless the limit cut it off."""
    return [*one.ids, EOS] if one.finished else list(one.ids)


def _device(model: nn.Module) -> torch.device:
    return next(model.parameters()).device
