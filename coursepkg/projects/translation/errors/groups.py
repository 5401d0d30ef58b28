"""Groups of translation errors, found by rules that a reader can check.

| group | a sentence belongs to it if |
| --- | --- |
| terms | the source has a word of the dictionary, the reference a known translation of it, the output has none |
| word order | output and reference have nearly the same words, but some of them in another order |
| omission | the output is clearly shorter, and words of the reference are missing |
| repetition | the output repeats words at once, or three words anywhere, more often than the reference |
| names and numbers | a number of source and reference, or a name of the reference, is missing; or a number is new |
| off-target language | the output has clearly more letters of another language than the reference |
| unknown pieces | the output has pieces that the vocabulary does not know (⁇) |

Rules compare folded words, numbers as figures: case, underscores, punctuation and the way of writing a number never
count. They point at sentences worth reading; they are no judgement, and one reference is not every good translation.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from coursepkg.arguments import check_count, check_finite
from coursepkg.metrics.ngrams import ngrams
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.numerals import find_numbers, is_number_word
from coursepkg.projects.translation.errors.surface import UNKNOWN, contains, folded, pieces, runs, words
from coursepkg.projects.translation.errors.word_order import compare_order
from coursepkg.text.chinese import is_han
from coursepkg.text.vietnamese import ACCENTED

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
    """Word order: least share of pairs of words, each once in both texts, whose order differs, in [0, 1]."""
    longest_share: int | float = 0.8
    """Omission: largest length of the output as a share of the reference's, in words, in [0, 1]."""
    least_gap: int = 2
    """Omission: least number of words that the output is shorter by, at least 1."""
    foreign_share: int | float = 0.2
    """Off-target: by how much the share of letters (zh, vi) or words (en) of another language is at least larger than
    in the reference, in [0, 1]."""
    least_coverage: int | float = 0.1
    """Omission, with an alignment: a source token whose weights sum to less is named as untranslated, in [0, 1]."""

    def __post_init__(self) -> None:
        check_count("least_gap", self.least_gap)
        names = ("least_overlap", "least_inversions", "longest_share", "foreign_share", "least_coverage")
        for name in names:
            check_finite(name, getattr(self, name))
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {getattr(self, name)}")


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
    """Folded words that begin with a capital letter more often than not inside of sentences; numbers are none."""
    counts: Counter[tuple[str, bool]] = Counter()
    for line in references:
        before = "."
        for piece in pieces(line):
            if before not in SENTENCE_ENDS and piece.text[0].isalpha() and not is_han(piece.text[0]):
                counts[" ".join(folded(piece.text)), piece.text[0].isupper()] += 1
            before = piece.text
    return frozenset(
        word
        for word, is_capital in counts
        if is_capital and counts[word, True] > counts[word, False]
        if word != "i" and not word.startswith(("i'", "i’")) and not is_number_word(word, language)
    )


def terms(case: Case) -> list[str]:
    """Source word → translation, for terms that the reference translates as known and the output does not."""
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
    """Words of the output that must move: those outside a longest run in the reference's order."""
    shared = sum((Counter(case.output) & Counter(case.wanted)).values())
    overlap = 2 * shared / max(len(case.output) + len(case.wanted), 1)
    if overlap < case.rules.least_overlap:
        return []
    order = compare_order(case.output, case.wanted)
    return order.moved if order.inverted >= case.rules.least_inversions else []


def omission(case: Case) -> list[str]:
    """Words of the reference that a too short output lacks, and source tokens that an alignment hardly touches."""
    gap = len(case.wanted) - len(case.output)
    missing = list((Counter(case.wanted) - Counter(case.output)).elements())
    is_short = len(case.output) <= case.rules.longest_share * len(case.wanted)
    if not missing or (case.output and (gap < case.rules.least_gap or not is_short)):
        return []
    if case.alignment is None:
        return missing
    tokens = zip(case.alignment.source, case.alignment.coverage.tolist(), strict=True)
    return missing + [
        f"{t} untranslated" for t, weight in tokens if weight < case.rules.least_coverage and words(t)
    ]


def repetition(case: Case) -> list[str]:
    """What is repeated more often than in the reference: at once (one word: three times), or three words anywhere.

    One word twice is grammar in both languages: luôn luôn, 看看.
    """
    evidence = []
    for n in range(1, 5):
        ours, theirs = _at_once(case.output, n), _at_once(case.wanted, n)
        evidence += [" ".join(gram) for gram in ours if ours[gram] > theirs[gram]]
    if evidence:
        return evidence
    triples, others = ngrams(case.output, 3), ngrams(case.wanted, 3)
    return [" ".join(gram) for gram, times in triples.items() if times > max(others[gram], 1)]


def names_and_numbers(case: Case) -> list[str]:
    """Numbers and names that are missing, and numbers that neither source nor reference has."""
    given = _values(case.source, case.source_language)
    ours, theirs = (_values(text, case.target_language) for text in (case.hypothesis, case.reference))
    evidence = [f"number {value} missing" for value in theirs if value in given and value not in ours]
    evidence += [f"number {value} new" for value in ours if value not in given and value not in theirs]
    missing = [word for word in case.wanted if word in case.names and word not in case.output]
    return evidence + [f"name {word} missing" for word in dict.fromkeys(missing)]


def off_target(case: Case) -> list[str]:
    """How much of the output is not of the target language, where the reference has less of it."""
    ours, theirs = (_foreign(text, case.target_language) for text in (case.hypothesis, case.reference))
    if ours > theirs and ours - theirs >= case.rules.foreign_share:
        return [f"{ours:.0%} of the output is not {case.target_language}"]
    marked = [not set(ACCENTED).isdisjoint("".join(texts)) for texts in (case.output, case.wanted)]
    if case.target_language == "vi" and len(case.output) >= 4 and marked == [False, True]:
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
"""The rule behind each group; what it returns is what it saw, and nothing means no such error."""


def _plain_words(text: str, language: str) -> list[str]:
    texts = folded(text)
    for number in reversed(find_numbers(texts, language)):
        texts[number.first : number.stop] = [str(number.value)]
    return [word for word in texts if word[0].isalnum()]


def _values(text: str, language: str) -> list[int | float]:
    return list(dict.fromkeys(number.value for number in find_numbers(folded(text), language)))


def _at_once(texts: list[str], n: int) -> Counter[tuple[str, ...]]:
    least = 3 if n == 1 else 2
    # A run of one word is also a run of that word doubled; only the shortest form counts.
    found = [(tuple(texts[first : first + n]), times) for first, times in runs(texts, n) if times >= least]
    return Counter({gram: times for gram, times in found if n == 1 or len(set(gram)) > 1})


def _foreign(text: str, language: str) -> float:
    """Share of letters (zh: not Han; vi: Han) or words (en: Han, or with Vietnamese letters) of another language."""
    if language == "en":
        texts = words(text)
        odd = sum(any(is_han(sign) or sign in ACCENTED for sign in word) for word in texts)
        return odd / max(len(texts), 1)
    letters = [sign for sign in text if sign.isalpha()]
    n_han = sum(map(is_han, letters))
    return (n_han if language == "vi" else len(letters) - n_han) / max(len(letters), 1)
