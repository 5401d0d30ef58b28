"""Every way to decode on the same sentences: what it costs, what it scores, how its translations differ.

It also counts how often a wider beam finds a translation that the model holds more probable and that is worse. Koehn
and Knowles (arXiv 1706.03872) show such wide beams that score lower; Stahlberg and Byrne (arXiv 1908.10090) that the
most probable translation of all is often the empty one.
"""

import time
from collections.abc import Callable, Sequence

import torch

from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.scoring import score, sentence_scores
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import to_scorer
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_methods import Decoder, Method
from coursepkg.projects.translation.studies.decoding_rows import BeamRow, DecodingStudy, MethodRow
from coursepkg.projects.translation.tokenizers import cut_sources

BEAMS = (2, 4, 5, 6, 8)
LENGTH_PENALTIES = (0.0, 0.6, 1.0, 1.4)


def study_methods(seeds: Sequence[int] = (0, 1, 2)) -> list[Method]:
    """Greedy, beams with several length penalties, repetition penalties, and ways to sample with each seed."""
    methods = [Method()]
    methods += [Method(beams, alpha) for beams in BEAMS for alpha in LENGTH_PENALTIES]
    methods += [Method(repetition_penalty=penalty) for penalty in (1.1, 1.2)]
    methods += [Method(5, repetition_penalty=1.2)]
    drawn = [Method(sample=True, temperature=t) for t in (1.0, 0.7, 0.3)]
    drawn += [Method(sample=True, top_k=k) for k in (5, 10)]
    drawn += [Method(sample=True, top_p=p) for p in (0.9, 0.5)]
    return methods + [method.seeded(seed) for method in drawn for seed in seeds]


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
        translator: the system.
        parts: the corpus; its dev part is decoded, its test part is not touched.
        methods: what to compare; None is `study_methods()`. Beams are set against greedy decoding if it is among them.
        limit: sentences of the dev part, the first ones; 0 takes all.
        batch_size: sentences at once.
        report: called with each row when it is there.

    Raises:
        ValueError: the model does not translate that way, or there is no method or no sentence.
    """
    translator.check_direction(parts.source, parts.target)
    methods = study_methods() if methods is None else methods
    pairs = parts.dev[:limit] if limit else parts.dev
    if not methods or not pairs:
        raise ValueError(f"a study needs methods and sentences, got {len(methods)} and {len(pairs)}")
    texts = [p.source for p in pairs]
    sources, n_cut = cut_sources(translator.subwords, texts, parts.source, parts.target, translator.longest)
    references = [to_scorer(p.target, parts.target) for p in pairs]
    bench = _Bench(Decoder(translator, batch_size), sources, references, parts.target)
    rows = []
    for method in methods:
        rows.append(bench.run(method))
        report(rows[-1])
    name = f"{parts.corpus} dev" + (f", first {limit}" if limit else "")
    return DecodingStudy(
        tuple(rows),
        tuple(bench.against_greedy()),
        len(pairs),
        n_cut,
        score(bleu_of(parts.target), references, references, protocol=name).signature,
        str(next(translator.model.parameters()).device.type),
        torch.get_num_threads(),
    )


class _Bench:
    """The sentences, and what each search made of them."""

    def __init__(
        self, decoder: Decoder, sources: Sequence[list[int]], references: Sequence[str], target: str
    ) -> None:
        self.decoder, self.sources, self.references, self.target = decoder, sources, references, target
        self.searched: dict[Method, tuple[list[str], list[float]]] = {}
        # The first call pays for memory and kernels; it is no method's fault.
        decoder.decode(sources[: decoder.batch_size], Method())

    def run(self, method: Method) -> MethodRow:
        """Decode, then score."""
        begin = time.perf_counter()
        found = self.decoder.decode(self.sources, method)
        seconds = time.perf_counter() - begin
        texts = [self._text(one) for one in found]
        log_probs = self.decoder.log_probs(self.sources, found)
        if not method.sample:
            self.searched[method] = (texts, log_probs)
        return MethodRow(
            str(method),
            method.seed if method.sample else None,
            float(score(bleu_of(self.target), texts, self.references).value),
            float(score(CHRF(), texts, self.references).value),
            _mean(
                [
                    self._length(a) / max(1, self._length(b))
                    for a, b in zip(texts, self.references, strict=True)
                ]
            ),
            len(set(texts)),
            sum(not one.finished for one in found),
            _mean(log_probs),
            seconds,
            len(found) / seconds,
        )

    def against_greedy(self) -> list[BeamRow]:
        """Every plain beam search that was run, against greedy decoding if that was run."""
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
            # Equal translations differ by rounding only: they are neither more nor less probable.
            gain = [
                0.0 if a == b else y - x for a, b, x, y in zip(texts, found, log_probs, theirs, strict=True)
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

    def _text(self, one: Hypothesis) -> str:
        return to_scorer(self.decoder.translator.subwords.target.decode(one.ids), self.target)

    def _length(self, text: str) -> int:
        return len(text.replace(" ", "")) if self.target == "zh" else len(text.split())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
