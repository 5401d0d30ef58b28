"""Every way to decode the same sentences: cost, score, variety.

It also counts how often a wider beam finds a translation that the model holds more
probable and that is worse. Koehn and Knowles (arXiv 1706.03872) show such wide beams
that score lower; Stahlberg and Byrne (arXiv 1908.10090) that the most probable
translation of all is often the empty one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursepkg.app.jobs import chunks
from coursepkg.app.output import check_out_file
from coursepkg.app.report import aligned
from coursepkg.decoding.filters import (
    Forbid,
    RepetitionPenalty,
    Temperature,
    TopK,
    TopP,
)
from coursepkg.decoding.generate import sample
from coursepkg.decoding.rerank import token_log_probs
from coursepkg.decoding.step import Hypothesis, source_limits
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.scoring import score, sentence_scores
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import to_scorer
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.projects.translation.models import (
    EXTRA_LENGTH,
    cut_sources,
    predict,
    search,
)
from coursepkg.projects.translation.placeholders import Masked, restore
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.measured_run import (
    open_system,
    report_study,
)
from coursepkg.text.languages import language_of
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK, pad_batch
from coursepkg.validation import check_count, check_finite

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import DecodeStudy

COLUMNS = {
    "BLEU": ("bleu", ".2f"),
    "chrF": ("chrf", ".2f"),
    "length": ("length_ratio", ".3f"),
    "distinct": ("n_distinct", "d"),
    "cut": ("n_cut", "d"),
    "log p": ("log_prob", ".2f"),
    "seconds": ("seconds", ".2f"),
    "per s": ("sentences_per_second", ".1f"),
}
"""Of the table: heading, field and format."""


@dataclass(frozen=True)
class MethodRow:
    """One method on the dev part."""

    method: str
    """In words."""
    seed: int | None
    """Of the draws; None for a search."""
    bleu: float
    """Of the corpus, 0 to 100."""
    chrf: float
    """Of the corpus, 0 to 100."""
    length_ratio: float
    """Mean over the sentences of words of the translation / words of the reference;
    characters for Chinese."""
    n_distinct: int
    """Different translations among all."""
    n_cut: int
    """Translations that the limit of tokens cut off."""
    log_prob: float
    """Mean of log p(y | x) under the model itself, before any filter, natural
    logarithm."""
    seconds: float
    """Wall-clock time of decoding, scores not counted."""
    sentences_per_second: float
    """Of the same."""


@dataclass(frozen=True)
class BeamRow:
    """A beam search against greedy decoding, sentence by sentence."""

    method: str
    """The search."""
    n: int
    """Sentences."""
    n_more_probable: int
    """Of them those for which the search found a translation of higher log p(y | x)."""
    n_better: int
    """Of these those whose sentence BLEU is higher, too."""
    n_worse: int
    """Of these those whose sentence BLEU is lower."""
    n_less_probable: int
    """Sentences for which it returned one of lower log p(y | x): the length penalty
    wants that, or the beam lost it."""


@dataclass(frozen=True)
class DecodingStudy:
    """All rows, in the order of the methods."""

    rows: tuple[MethodRow, ...]
    beams: tuple[BeamRow, ...]
    n: int
    """Sentences."""
    n_source_cut: int
    """Sources that were longer than the model takes, and were cut."""
    signature: str
    """Of the BLEU scores, up to the method."""
    device: str
    """Where it ran."""
    threads: int
    """Threads of PyTorch on the CPU."""

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return asdict(self)

    def __str__(self) -> str:
        table = [["method", *COLUMNS]]
        for row in self.rows:
            name = row.method + ("" if row.seed is None else f", seed {row.seed}")
            cells = [
                format(getattr(row, field), form) for field, form in COLUMNS.values()
            ]
            table.append([name, *cells])
        lines = [
            *aligned(table, right=range(1, len(COLUMNS) + 1)),
            "",
            (
                f"{self.n} sentences, {self.device}, {self.threads} threads;"
                f" {self.signature}"
            ),
        ]
        if self.n_source_cut:
            lines.append(
                f"{self.n_source_cut} sources were cut, being longer than the model"
                " takes"
            )
        lines += [
            f"{one.method}: more probable than greedy for {one.n_more_probable} of"
            f" {one.n} sentences, of which BLEU is higher for {one.n_better} and lower"
            f" for {one.n_worse}; less probable for {one.n_less_probable}"
            for one in self.beams
        ]
        return "\n".join(lines)


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
            raise ValueError(
                f"beam_size must be 1 where sentences are sampled, got {self.beam_size}"
            )
        drawn = ("temperature", "top_k", "top_p", "seed")
        changed = [
            name for name in drawn if getattr(self, name) != getattr(Method, name)
        ]
        if changed and not self.sample:
            raise ValueError(
                f"{changed[0]} needs sampling, as a search draws nothing; switch it on"
            )
        # What is out of range is refused here, before any work.
        Temperature(self.temperature)
        RepetitionPenalty(self.repetition_penalty)
        if self.top_k is not None:
            TopK(self.top_k)
        if self.top_p is not None:
            TopP(self.top_p)

    def __str__(self) -> str:
        if self.sample:
            parts = [f"sample, temperature {self.temperature:g}"]
            parts += [] if self.top_k is None else [f"top-k {self.top_k}"]
            parts += [] if self.top_p is None else [f"top-p {self.top_p:g}"]
        elif self.beam_size == 1:
            parts = ["greedy"]
        else:
            parts = [
                f"beam {self.beam_size}",
                f"length penalty {self.length_penalty:g}",
            ]
        if self.repetition_penalty != 1:
            parts.append(f"repetition penalty {self.repetition_penalty:g}")
        return ", ".join(parts)

    def check(self, translator: Translator) -> None:
        """Raises a ValueError unless the translator can decode so."""
        if translator.exported is None:
            return
        for is_asked, what in (
            (self.sample, "draw"),
            (self.repetition_penalty != 1, "penalise repetitions"),
        ):
            if is_asked:
                raise ValueError(
                    f"an exported model cannot {what}; give the folder that `train`"
                    " wrote"
                )

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

    def encoded(
        self, texts: Sequence[str], source: str, target: str
    ) -> tuple[list[Masked], list[list[int]], int]:
        """Texts as the model reads them, their ids, and how many had to be cut."""
        masked = [self.translator.masked(text) for text in texts]
        read, most = [one.text for one in masked], self.translator.longest
        subwords = self.translator.subwords
        return masked, *cut_sources(subwords, read, source, target, most)

    def line(self, one: Hypothesis, part: Masked) -> str:
        """What a hypothesis says, in the form of the training data, marks replaced."""
        return restore(self.translator.line_of(one, part), part.values)

    def decode(
        self, sources: Sequence[Sequence[int]], method: Method, *, first: int = 0
    ) -> list[Hypothesis]:
        """One hypothesis for each source.

        A draw depends on the seed and the sentence's number alone. Tokens that stand
        for no text (PAD, BOS, UNK and the tags), to which label smoothing leaves some
        probability, are never drawn.

        Args:
            sources: ids of each source, its tag in front, EOS not yet behind.
            first: number of the first sentence, where a corpus is decoded in several
                calls.
        """
        method.check(self.translator)
        if method.sample:
            return self._sample(sources, method, first)
        return [found[0] for found in self.n_best(sources, method, 1)]

    def n_best(
        self, sources: Sequence[Sequence[int]], method: Method, n_best: int
    ) -> list[list[Hypothesis]]:
        """The best hypotheses of each source by beam search."""
        method.check(self.translator)
        options: dict[str, Any] = {
            "beam_size": method.beam_size,
            "length_penalty": method.length_penalty,
            "n_best": n_best,
            "batch_size": self.batch_size,
        }
        if method.repetition_penalty == 1:
            return self.translator.search(sources, **options)
        return search(
            self.model,
            sources,
            max_len=self.translator.recipe.max_len,
            filters=(RepetitionPenalty(method.repetition_penalty),),
            **options,
        )

    @torch.inference_mode()
    def _sample(
        self, sources: Sequence[Sequence[int]], method: Method, first: int
    ) -> list[Hypothesis]:
        found: dict[int, Hypothesis] = {}
        for chosen, src in self._batches(sources):
            limits = source_limits(
                src, EXTRA_LENGTH, most=self.translator.recipe.max_len - 1
            )
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
    def log_probs(
        self, sources: Sequence[Sequence[int]], hypotheses: Sequence[Hypothesis]
    ) -> list[float]:
        """Log p(y | x) of given hypotheses under the model itself, natural logarithms.

        What a search or a draw reports is after its filters, so that two methods could
        not be compared by it.
        """
        model = self.translator.model.eval()
        found: dict[int, float] = {}
        for chosen, src in self._batches(sources):
            # As the model wrote them: EOS behind, unless the limit cut one off.
            targets = [
                [*one.ids, EOS] if one.finished else list(one.ids)
                for one in (hypotheses[i] for i in chosen)
            ]
            scores = token_log_probs(
                partial(predict, model, src), targets, eos=None, device=src.device
            )
            totals = scores.double().sum(dim=1).tolist()
            found |= dict(zip(chosen, totals, strict=True))
        return [found[i] for i in range(len(sources))]

    def _batches(
        self, sources: Sequence[Sequence[int]]
    ) -> list[tuple[list[int], Tensor]]:
        """Numbers and ids (B, S) of sentences of about equal length."""
        order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        device = next(self.translator.model.parameters()).device
        return [
            (group, pad_batch([[*sources[i], EOS] for i in group])[0].to(device))
            for group in chunks(order, self.batch_size)
        ]


BEAMS = (2, 4, 5, 6, 8)
LENGTH_PENALTIES = (0.0, 0.6, 1.0, 1.4)


def study_methods(seeds: Sequence[int] = (0, 1, 2)) -> list[Method]:
    """Greedy, beams with length penalties, repetition penalties, sampling."""
    methods = [Method()]
    methods += [Method(beams, alpha) for beams in BEAMS for alpha in LENGTH_PENALTIES]
    methods += [Method(repetition_penalty=penalty) for penalty in (1.1, 1.2)]
    methods += [Method(5, repetition_penalty=1.2)]
    drawn = [Method(sample=True, temperature=t) for t in (1.0, 0.7, 0.3)]
    drawn += [Method(sample=True, top_k=k) for k in (5, 10)]
    drawn += [Method(sample=True, top_p=p) for p in (0.9, 0.5)]
    return methods + [replace(one, seed=seed) for one in drawn for seed in seeds]


def study_decoding(
    translator: Translator,
    parts: Parts,
    *,
    methods: Sequence[Method] | None = None,
    limit: int = 0,
    batch_size: int = 64,
    report: Callable[[MethodRow], None] = lambda row: None,
) -> DecodingStudy:
    """Decode the dev part by each method.

    Args:
        parts: the corpus; its dev part is decoded, its test part is not touched.
        methods: what to compare; None is `study_methods()`. Beams are set against
            greedy decoding if it is among them.
        report: called with each row when it is there.

    Raises:
        ValueError: the model does not translate that way or is an export, or there is
            no method or no sentence.
    """
    translator.check_direction(parts.source, parts.target)
    if translator.exported is not None:
        raise ValueError(
            "an exported model cannot be studied; give the folder that `train` wrote"
        )
    methods = study_methods() if methods is None else methods
    pairs = parts.dev[:limit] if limit else parts.dev
    if not methods or not pairs:
        raise ValueError(
            f"a study needs methods and sentences, got {len(methods)} and {len(pairs)}"
        )
    texts = [p.source for p in pairs]
    decoder = Decoder(translator, batch_size)
    masked, sources, n_cut = decoder.encoded(texts, parts.source, parts.target)
    references = [to_scorer(p.target, parts.target) for p in pairs]
    comparison = _MethodComparison(decoder, masked, sources, references, parts.target)
    rows = []
    for method in methods:
        rows.append(comparison.run(method))
        report(rows[-1])
    name = f"{parts.corpus} dev" + (f", first {limit}" if limit else "")
    return DecodingStudy(
        tuple(rows),
        tuple(comparison.against_greedy()),
        len(pairs),
        n_cut,
        score(bleu_of(parts.target), references, references, protocol=name).signature,
        str(next(translator.model.parameters()).device.type),
        torch.get_num_threads(),
    )


class _MethodComparison:
    """The sentences, and what each search made of them."""

    def __init__(
        self,
        decoder: Decoder,
        masked: Sequence[Masked],
        sources: Sequence[list[int]],
        references: Sequence[str],
        target: str,
    ) -> None:
        self.decoder, self.masked, self.sources = decoder, masked, sources
        self.references, self.target = references, target
        self.searched: dict[Method, tuple[list[str], list[float]]] = {}
        # The first call pays for memory and kernels; it is no method's fault.
        decoder.decode(sources[: decoder.batch_size], Method())

    def run(self, method: Method) -> MethodRow:
        """Decode, then score."""
        begin = time.perf_counter()
        found = self.decoder.decode(self.sources, method)
        seconds = time.perf_counter() - begin
        lines = map(self.decoder.line, found, self.masked)
        texts = [to_scorer(line, self.target) for line in lines]
        log_probs = self.decoder.log_probs(self.sources, found)
        if not method.sample:
            self.searched[method] = (texts, log_probs)
        ratios = [
            self._length(a) / max(1, self._length(b))
            for a, b in zip(texts, self.references, strict=True)
        ]
        return MethodRow(
            str(method),
            method.seed if method.sample else None,
            float(score(bleu_of(self.target), texts, self.references).value),
            float(score(CHRF(), texts, self.references).value),
            sum(ratios) / len(ratios),
            len(set(texts)),
            sum(not one.finished for one in found),
            sum(log_probs) / len(log_probs),
            seconds,
            len(found) / seconds,
        )

    def against_greedy(self) -> list[BeamRow]:
        """Plain beam searches against greedy decoding, if that was run."""
        if Method() not in self.searched:
            return []
        texts, log_probs = self.searched[Method()]
        metric = bleu_of(self.target, sentence=True)
        before = sentence_scores(metric, texts, self.references)
        rows = []
        for method, (found, theirs) in self.searched.items():
            if method.beam_size == 1 or method.repetition_penalty != 1:
                continue
            after = sentence_scores(metric, found, self.references)
            # Equal translations differ by rounding only: they are neither more nor less
            # probable.
            gain = [
                0.0 if a == b else y - x
                for a, b, x, y in zip(texts, found, log_probs, theirs, strict=True)
            ]
            more = [i for i, value in enumerate(gain) if value > 0]
            rows.append(
                BeamRow(
                    str(method),
                    len(texts),
                    len(more),
                    sum(bool(after[i] > before[i]) for i in more),
                    sum(bool(after[i] < before[i]) for i in more),
                    sum(value < 0 for value in gain),
                )
            )
        return rows

    def _length(self, text: str) -> int:
        is_han = language_of(self.target).is_han
        return len(text.replace(" ", "")) if is_han else len(text.split())


def decode_study(options: "DecodeStudy") -> int:
    """Print the table; --out also writes it as a JSON file, and beside it as text."""
    check_count("--seeds", options.seeds)
    check_count("--limit", options.limit, least=0)
    check_out_file(options.common.out, "study.json")
    translator, name, parts = open_system(options.common, options.model)
    study = study_decoding(
        translator,
        parts,
        methods=study_methods(range(options.seeds)),
        limit=options.limit,
        batch_size=options.batch_size,
        report=lambda row: print(
            f"{row.method}: BLEU {row.bleu:.2f} in {row.seconds:.1f} s", flush=True
        ),
    )
    document = {"model": name, **study.as_json()}
    return report_study(options.common, parts, str(study), document)
