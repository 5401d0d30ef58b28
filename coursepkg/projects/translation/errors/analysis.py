"""Error analysis: which sentences went wrong, how, and which are worth training on again.

    score every sentence -> sort -> label groups (`groups`) -> read examples -> change something -> measure again

Sentence BLEU is a poor judge of one translation, but a good one of where to look first. Hard examples are for
sentences of the training set: the sentences of a test set must never be trained on.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coursepkg.arguments import check_count, check_finite
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.corpus import check_choice, check_lengths
from coursepkg.metrics.scoring import sentence_scores
from coursepkg.metrics.tokenizers import tokenize
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.groups import GROUPS, Case, Rules, label, name_words
from coursepkg.projects.translation.errors.numerals import LANGUAGES
from coursepkg.projects.translation.evaluate import bleu_of


@dataclass(frozen=True)
class SentenceErrors:
    """One sentence with its scores and groups."""

    index: int
    """Its place in the lists, from 0."""
    source: str
    hypothesis: str
    reference: str
    bleu: float
    """Sentence BLEU over the n-gram orders that fit into the output, 0 to 100."""
    chrf: float
    """0 to 100."""
    n_hypothesis: int
    """Tokens of the output, as BLEU counts them."""
    n_reference: int
    """Tokens of the reference."""
    groups: dict[str, tuple[str, ...]]
    """Each group of the sentence with what its rule saw."""
    alignment: Alignment | None = None

    @property
    def gap(self) -> int:
        """Tokens of the output less those of the reference."""
        return self.n_hypothesis - self.n_reference

    @property
    def ratio(self) -> float:
        """Tokens of the output as a share of those of the reference; an empty reference counts as one token."""
        return self.n_hypothesis / max(self.n_reference, 1)


@dataclass(frozen=True)
class ErrorTable:
    """All sentences of a set; `str` gives a table of the groups."""

    sentences: tuple[SentenceErrors, ...]
    """In the order of the lists."""
    source_language: str
    target_language: str
    _ranked: tuple[SentenceErrors, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ranked = sorted(self.sentences, key=lambda s: (s.bleu, s.chrf, s.index))
        object.__setattr__(self, "_ranked", tuple(ranked))

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        lines = [f"{'group':<22}{'sentences':>9}{'share':>8}  for example"]
        for group, count in self.counts.items():
            shown = "; ".join(
                f"[{s.index}] {', '.join(s.groups[group][:3])}" for s in self.examples(group, 2)
            )
            lines.append(f"{group:<22}{count:>9}{count / len(self):>8.1%}  {shown}".rstrip())
        lines.append(f"{'none of these':<22}{self.n_clean:>9}{self.n_clean / len(self):>8.1%}")
        lines.append(f"output / reference tokens: {self.length_ratio:.3f}")
        return "\n".join(lines)

    @property
    def counts(self) -> dict[str, int]:
        """Sentences of every group, also of empty ones; a sentence may count in several."""
        return {group: sum(group in s.groups for s in self.sentences) for group in GROUPS}

    @property
    def n_clean(self) -> int:
        """Sentences without any group."""
        return sum(not s.groups for s in self.sentences)

    @property
    def length_ratio(self) -> float:
        """Tokens of all outputs as a share of those of all references."""
        return sum(s.n_hypothesis for s in self.sentences) / max(
            sum(s.n_reference for s in self.sentences), 1
        )

    def examples(self, group: str, n: int = 3) -> list[SentenceErrors]:
        """The n worst sentences of a group.

        Raises:
            ValueError: there is no such group, or n is negative.
        """
        check_choice("group", group, tuple(GROUPS))
        check_count("n", n, least=0)
        return [s for s in self._ranked if group in s.groups][:n]

    def worst(self, n: int) -> list[SentenceErrors]:
        """The n sentences of lowest sentence BLEU; ties go by chrF, then by place."""
        check_count("n", n, least=0)
        return list(self._ranked[:n])

    def best(self, n: int) -> list[SentenceErrors]:
        """The n sentences of highest sentence BLEU, the best first."""
        check_count("n", n, least=0)
        return list(self._ranked[::-1][:n])

    def sample(self, n: int, seed: int = 0) -> list[SentenceErrors]:
        """n sentences drawn without looking at their scores, in order; all if there are fewer."""
        check_count("n", n, least=0)
        chosen = random.Random(seed).sample(range(len(self)), min(n, len(self)))
        return [self.sentences[i] for i in sorted(chosen)]

    def hard_examples(self, n: int | None = None, *, threshold: int | float | None = None) -> list[int]:
        """Places of the n worst sentences, or of all with a sentence BLEU below a threshold, the worst first.

        A sentence of the training set that is still translated badly after training may also be a wrong pair: read
        some before training on them.

        Raises:
            ValueError: neither or both are given, or one is out of range.
        """
        if (n is None) == (threshold is None):
            raise ValueError("hard_examples needs either n or threshold, not both")
        if threshold is None:
            return [s.index for s in self.worst(n or 0)]
        check_finite("threshold", threshold)
        return [s.index for s in self._ranked if s.bleu < threshold]

    def as_json(self, n_examples: int = 3, *, texts: bool = True) -> dict[str, Any]:
        """Counts and examples for a JSON file; `texts=False` leaves out all sentences, as some data ask for.

        Raises:
            ValueError: n_examples is negative.
        """
        check_count("n_examples", n_examples, least=0)
        return {
            "source_language": self.source_language,
            "target_language": self.target_language,
            "sentences": len(self),
            "length_ratio": self.length_ratio,
            "without_group": self.n_clean,
            "groups": {
                group: {
                    "count": count,
                    "share": count / len(self),
                    "examples": [_as_json(s, texts) for s in self.examples(group, n_examples)],
                }
                for group, count in self.counts.items()
            },
            "worst": [_as_json(s, texts) for s in self.worst(n_examples)],
        }


def analyse(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    source_language: str,
    target_language: str,
    dictionary: Dictionary | None = None,
    alignments: Sequence[Alignment | None] | None = None,
    rules: Rules | None = None,
) -> ErrorTable:
    """Score and label every sentence.

    Args:
        sources: what was translated.
        hypotheses: what the system gave; `hypotheses[i]` belongs to `sources[i]`.
        references: one right translation each, in the same spelling convention as the hypotheses.
        source_language: zh, vi or en.
        target_language: zh, vi or en.
        dictionary: of these languages; without it no sentence is in the group of terms.
        alignments: of source and hypothesis, None for a sentence that has none.
        rules: thresholds of the groups.

    Raises:
        ValueError: the lists are empty or of different lengths, or a language is unknown.
    """
    check_lengths(sources, hypotheses, ("sources", "hypotheses"))
    check_lengths(hypotheses, references)
    check_choice("source_language", source_language, LANGUAGES)
    check_choice("target_language", target_language, LANGUAGES)
    given = [None] * len(sources) if alignments is None else alignments
    check_lengths(sources, given, ("sources", "alignments"))
    bleu = sentence_scores(bleu_of(target_language, sentence=True), hypotheses, references).tolist()
    chrf = sentence_scores(CHRF(), hypotheses, references).tolist()
    names, limits = name_words(references, target_language), Rules() if rules is None else rules
    rows = zip(sources, hypotheses, references, given, strict=True)
    cases = [
        Case(source, said, true, source_language, target_language, limits, dictionary, names, alignment)
        for source, said, true, alignment in rows
    ]
    sentences = [_labelled(i, case, bleu[i], chrf[i]) for i, case in enumerate(cases)]
    return ErrorTable(tuple(sentences), source_language, target_language)


def _labelled(index: int, case: Case, bleu: float, chrf: float) -> SentenceErrors:
    """A sentence with its scores, lengths and groups."""
    cut = "zh" if case.target_language == "zh" else "13a"
    return SentenceErrors(
        index,
        case.source,
        case.hypothesis,
        case.reference,
        bleu,
        chrf,
        len(tokenize(case.hypothesis, cut)),
        len(tokenize(case.reference, cut)),
        label(case),
        case.alignment,
    )


def _as_json(sentence: SentenceErrors, texts: bool) -> dict[str, Any]:
    numbers = {
        "index": sentence.index,
        "bleu": sentence.bleu,
        "chrf": sentence.chrf,
        "gap": sentence.gap,
        "ratio": sentence.ratio,
    }
    if not texts:
        return numbers | {"groups": list(sentence.groups)}
    written = {"source": sentence.source, "hypothesis": sentence.hypothesis, "reference": sentence.reference}
    return numbers | written | {"groups": {name: list(seen) for name, seen in sentence.groups.items()}}
