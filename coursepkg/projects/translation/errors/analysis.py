"""Error analysis: which sentences went wrong, how, and which are worth a look.

Every sentence is scored, sorted by sentence BLEU, and labelled by rules that a reader
can check. Hard examples are for training sets only: never train on a test set.

| group | a sentence belongs to it if |
| --- | --- |
| terms | the reference translates a dictionary word as known, the output does not |
| word order | output and reference have nearly the same words in another order |
| omission | the output is clearly shorter, and words of the reference are missing |
| repetition | the output repeats words at once, or three words anywhere, more often |
| names and numbers | a number or a name is missing, or a number is new |
| off-target language | the output has clearly more letters of another language |
| unknown pieces | the output has pieces that the vocabulary does not know (⁇) |

Case, underscores, punctuation and the way of writing a number never count. The groups
point at sentences worth reading; one reference is not every good translation.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.ngrams import check_lengths, ngrams, tokenize
from coursepkg.metrics.scoring import sentence_scores
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.numerals import (
    find_numbers,
    is_number_word,
)
from coursepkg.projects.translation.errors.surface import (
    UNKNOWN,
    compare_order,
    contains,
    folded,
    pieces,
    runs,
    words,
)
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.text.languages import LANGUAGES, language_of
from coursepkg.text.spacing import is_han
from coursepkg.text.vietnamese import ACCENTED
from coursepkg.validation import check_choice, check_count, check_finite, check_share

SENTENCE_ENDS = frozenset(".?!;:…\"'“”‘’«»()。？！；：")


@dataclass(frozen=True)
class Rules:
    """Thresholds of the groups.

    Raises:
        ValueError: a threshold is out of range.
    """

    least_overlap: int | float = 0.75
    """Word order: least F1 of output and reference as bags of words, in [0, 1]."""
    least_inversions: int | float = 0.05
    """Word order: least share of inverted pairs of words, in [0, 1]."""
    longest_share: int | float = 0.8
    """Omission: largest length as a share of the reference's, in [0, 1]."""
    least_gap: int = 2
    """Omission: least number of words that the output is shorter by, at least 1."""
    foreign_share: int | float = 0.2
    """Off-target: least excess share of foreign letters or words, in [0, 1]."""
    least_coverage: int | float = 0.1
    """Omission: a source token with a smaller sum of weights is named, in [0, 1]."""

    def __post_init__(self) -> None:
        check_count("least_gap", self.least_gap)
        for one in fields(self):
            if one.name != "least_gap":
                check_share(one.name, getattr(self, one.name))


@dataclass(frozen=True)
class Case:
    """One sentence with all that a rule may ask for."""

    source: str
    hypothesis: str
    reference: str
    source_language: str
    target_language: str
    rules: Rules = Rules()
    dictionary: Dictionary | None = None
    names: frozenset[str] = frozenset()
    """Words of the references that are names, folded (`name_words`)."""
    alignment: Alignment | None = None
    """Of the source's and the output's tokens."""

    @cached_property
    def output(self) -> list[str]:
        """Folded words of the hypothesis, numbers as figures."""
        return _plain_words(self.hypothesis, self.target_language)

    @cached_property
    def wanted(self) -> list[str]:
        """Folded words of the reference, numbers as figures."""
        return _plain_words(self.reference, self.target_language)


def label(case: Case) -> dict[str, tuple[str, ...]]:
    """The groups that a sentence belongs to, each with what the rule saw."""
    found = {name: tuple(rule(case)) for name, rule in GROUPS.items()}
    return {name: evidence for name, evidence in found.items() if evidence}


def name_words(references: Sequence[str], language: str) -> frozenset[str]:
    """Folded words that mostly begin with a capital inside of sentences: names."""
    counts: Counter[tuple[str, bool]] = Counter()
    for line in references:
        before = "."
        for text, *_ in pieces(line):
            is_word = text[0].isalpha() and not is_han(text[0])
            if is_word and before not in SENTENCE_ENDS:
                counts[" ".join(folded(text)), text[0].isupper()] += 1
            before = text
    capital = {word for word, _ in counts if counts[word, True] > counts[word, False]}
    return frozenset(
        word
        for word in capital
        if word != "i"
        and not word.startswith(("i'", "i’"))
        and not is_number_word(word, language)
    )


def terms(case: Case) -> list[str]:
    """Source word → translation, of terms that only the reference translates."""
    if case.dictionary is None:
        return []
    evidence = []
    for word in case.dictionary.found_in(case.source):
        known = case.dictionary.translations(word)
        right = [target for target in known if contains(case.reference, target)]
        if right and not any(contains(case.hypothesis, target) for target in known):
            evidence.append(f"{word} → {right[0]}")
    return evidence


def word_order(case: Case) -> list[str]:
    """Words of the output that must move to have the reference's order."""
    shared = sum((Counter(case.output) & Counter(case.wanted)).values())
    overlap = 2 * shared / max(len(case.output) + len(case.wanted), 1)
    if overlap < case.rules.least_overlap:
        return []
    order = compare_order(case.output, case.wanted)
    return order.moved if order.inverted >= case.rules.least_inversions else []


def omission(case: Case) -> list[str]:
    """Words of the reference that a too short output lacks, and untranslated tokens."""
    gap = len(case.wanted) - len(case.output)
    missing = list((Counter(case.wanted) - Counter(case.output)).elements())
    is_short = len(case.output) <= case.rules.longest_share * len(case.wanted)
    if not missing or (case.output and (gap < case.rules.least_gap or not is_short)):
        return []
    if case.alignment is None:
        return missing
    tokens = zip(case.alignment.source, case.alignment.coverage.tolist(), strict=True)
    return missing + [
        f"{t} untranslated"
        for t, weight in tokens
        if weight < case.rules.least_coverage and words(t)
    ]


def repetition(case: Case) -> list[str]:
    """What is repeated more often than in the reference.

    One word twice is grammar in both languages: luôn luôn, 看看.
    """
    evidence = []
    for n in range(1, 5):
        ours, theirs = _at_once(case.output, n), _at_once(case.wanted, n)
        evidence += [" ".join(gram) for gram in ours if ours[gram] > theirs[gram]]
    if evidence:
        return evidence
    triples, others = ngrams(case.output, 3), ngrams(case.wanted, 3)
    return [
        " ".join(gram)
        for gram, times in triples.items()
        if times > max(others[gram], 1)
    ]


def names_and_numbers(case: Case) -> list[str]:
    """Missing numbers and names, and numbers that source and reference do not have."""
    given = _values(case.source, case.source_language)
    ours = _values(case.hypothesis, case.target_language)
    theirs = _values(case.reference, case.target_language)
    missing = [value for value in theirs if value in given and value not in ours]
    new = [value for value in ours if value not in given and value not in theirs]
    names = [w for w in case.wanted if w in case.names and w not in case.output]
    return [
        *(f"number {value} missing" for value in missing),
        *(f"number {value} new" for value in new),
        *(f"name {word} missing" for word in dict.fromkeys(names)),
    ]


def off_target(case: Case) -> list[str]:
    """How much more of the output than of the reference is of another language."""
    ours = _foreign(case.hypothesis, case.target_language)
    theirs = _foreign(case.reference, case.target_language)
    if ours > theirs and ours - theirs >= case.rules.foreign_share:
        return [f"{ours:.0%} of the output is not {case.target_language}"]
    lacks_marks = set(ACCENTED).isdisjoint("".join(case.output))
    has_marks = not set(ACCENTED).isdisjoint("".join(case.wanted))
    is_long = case.target_language == "vi" and len(case.output) >= 4
    if is_long and lacks_marks and has_marks:
        return ["no letter of the output has a Vietnamese mark"]
    return []


def unknown_pieces(case: Case) -> list[str]:
    """How many unknown pieces there are."""
    count = case.hypothesis.count(UNKNOWN) + case.hypothesis.count("<unk>")
    return [f"{count} unknown"] if count else []


GROUPS: dict[str, Callable[[Case], list[str]]] = {
    "terms": terms,
    "word order": word_order,
    "omission": omission,
    "repetition": repetition,
    "names and numbers": names_and_numbers,
    "off-target language": off_target,
    "unknown pieces": unknown_pieces,
}
"""The rule behind each group; it returns what it saw, nothing means no error."""


def _plain_words(text: str, language: str) -> list[str]:
    texts = folded(text)
    for number in reversed(find_numbers(texts, language)):
        texts[number.first : number.stop] = [str(number.value)]
    return [word for word in texts if word[0].isalnum()]


def _values(text: str, language: str) -> list[int | float]:
    """The numbers of a text, each once."""
    numbers = find_numbers(folded(text), language)
    return list(dict.fromkeys(number.value for number in numbers))


def _at_once(texts: list[str], n: int) -> Counter[tuple[str, ...]]:
    """Phrases of n words that follow themselves at once, and how often."""
    least = 3 if n == 1 else 2
    found = [(tuple(texts[i : i + n]), times) for i, times in runs(texts, n)]
    # A run of one word is also a run of that word doubled; only the shortest form
    # counts.
    return Counter(
        {
            gram: times
            for gram, times in found
            if times >= least and (n == 1 or len(set(gram)) > 1)
        }
    )


def _foreign(text: str, language: str) -> float:
    """Share of letters of another script.

    Where letters are known that the language does not have, the share of words with
    one of them.
    """
    written = language_of(language)
    if written.foreign:
        texts = words(text)
        foreign = [
            word
            for word in texts
            if any(is_han(sign) or sign in written.foreign for sign in word)
        ]
        return len(foreign) / max(len(texts), 1)
    letters = [sign for sign in text if sign.isalpha()]
    n_han = sum(map(is_han, letters))
    odd = len(letters) - n_han if written.is_han else n_han
    return odd / max(len(letters), 1)


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
        """Tokens of the output as a share of the reference's (at least one)."""
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
        for group, count in (*self.counts.items(), ("none of these", self.n_clean)):
            found = self.examples(group, 2) if group in GROUPS else []
            shown = [f"[{s.index}] {', '.join(s.groups[group][:3])}" for s in found]
            line = f"{group:<22}{count:>9}{count / len(self):>8.1%}  {'; '.join(shown)}"
            lines.append(line.rstrip())
        return "\n".join(
            [*lines, f"output / reference tokens: {self.length_ratio:.3f}"]
        )

    @property
    def counts(self) -> dict[str, int]:
        """Sentences of every group; a sentence may count in several."""
        return {g: sum(g in s.groups for s in self.sentences) for g in GROUPS}

    @property
    def n_clean(self) -> int:
        """Sentences without any group."""
        return sum(not s.groups for s in self.sentences)

    @property
    def length_ratio(self) -> float:
        """Tokens of all outputs as a share of those of all references."""
        n_wanted = sum(s.n_reference for s in self.sentences)
        return sum(s.n_hypothesis for s in self.sentences) / max(n_wanted, 1)

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
        """n sentences drawn without looking at their scores, in order."""
        check_count("n", n, least=0)
        chosen = random.Random(seed).sample(range(len(self)), min(n, len(self)))
        return [self.sentences[i] for i in sorted(chosen)]

    def hard_examples(
        self, n: int | None = None, *, threshold: int | float | None = None
    ) -> list[int]:
        """Places of the n worst sentences, or of all below a BLEU, worst first.

        A sentence of the training set that is still translated badly after training may
        also be a wrong pair: read some before training on them.

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
        """Counts and examples for a JSON file; `texts=False` leaves out all sentences.

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
                    "examples": [
                        _as_json(s, texts) for s in self.examples(group, n_examples)
                    ],
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
        hypotheses: what the system gave; `hypotheses[i]` belongs to `sources[i]`.
        references: one right translation each, in the same spelling convention as the
            hypotheses.
        target_language: a code of `LANGUAGES`.
        dictionary: of these languages; without it no sentence is in the group of terms.
        alignments: of source and hypothesis, None for a sentence that has none.

    Raises:
        ValueError: the lists are empty or of different lengths, or a language is
            unknown.
    """
    check_lengths(sources, hypotheses, ("sources", "hypotheses"))
    check_lengths(hypotheses, references)
    check_choice("source_language", source_language, tuple(LANGUAGES))
    check_choice("target_language", target_language, tuple(LANGUAGES))
    given = [None] * len(sources) if alignments is None else alignments
    check_lengths(sources, given, ("sources", "alignments"))
    bleu = sentence_scores(
        bleu_of(target_language, sentence=True), hypotheses, references
    ).tolist()
    chrf = sentence_scores(CHRF(), hypotheses, references).tolist()
    names = name_words(references, target_language)
    languages, limits = (source_language, target_language), rules or Rules()
    cut = language_of(target_language).bleu_tokenizer
    sentences = []
    for i, texts in enumerate(zip(sources, hypotheses, references, strict=True)):
        case = Case(*texts, *languages, limits, dictionary, names, given[i])
        n_hypothesis, n_reference = (len(tokenize(text, cut)) for text in texts[1:])
        scores = bleu[i], chrf[i], n_hypothesis, n_reference
        sentences.append(SentenceErrors(i, *texts, *scores, label(case), given[i]))
    return ErrorTable(tuple(sentences), source_language, target_language)


def _as_json(sentence: SentenceErrors, texts: bool) -> dict[str, Any]:
    names = ("index", "bleu", "chrf", "gap", "ratio")
    numbers = {name: getattr(sentence, name) for name in names}
    if not texts:
        return numbers | {"groups": list(sentence.groups)}
    return {
        **numbers,
        "source": sentence.source,
        "hypothesis": sentence.hypothesis,
        "reference": sentence.reference,
        "groups": {name: list(seen) for name, seen in sentence.groups.items()},
    }
