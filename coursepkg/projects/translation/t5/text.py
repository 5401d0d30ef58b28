"""Every task as text in, text out: prefixes, labels that are words, numbers that are words, and the pre-training task.

    translate Chinese to Vietnamese: 你好。                         -> Xin chào.
    sst2 sentence: a charming film                                -> positive
    stsb sentence1: A man sings. sentence2: A man is singing.     -> 4.8

One model, one loss and one way of decoding serve them all; only the text says which task it is. So the prefix belongs
to training and to prediction alike, and an output that is none of the labels is simply wrong.
Source: Raffel et al. (arXiv 1910.10683), section 2.4; pre-training: section 3.1.4.
"""

import re
from collections.abc import Collection, Sequence

LANGUAGES = {"zh": "Chinese", "vi": "Vietnamese", "en": "English", "nom": "Nom"}
"""Languages and scripts by the names that `--from` and `--to` take; Nom is Vietnamese in its old characters."""

PREFIXES = {
    (source, target): f"translate {LANGUAGES[source]} to {LANGUAGES[target]}: "
    for source, target in [
        ("zh", "vi"),
        ("vi", "zh"),
        ("en", "vi"),
        ("vi", "en"),
        ("zh", "en"),
        ("en", "zh"),
        ("nom", "vi"),
        ("vi", "nom"),
    ]
}
"""For each direction the text in front of every source, in training and in prediction."""

STS_LABELS = tuple(f"{tenths / 10:.1f}" for tenths in range(10, 51, 2))
"""The 21 strings 1.0, 1.2, ... 5.0 that stand for similarities."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def prefix_of(source: str, target: str) -> str:
    """The prefix of a direction.

    Example:
        >>> prefix_of("zh", "vi")
        'translate Chinese to Vietnamese: '

    Raises:
        ValueError: there is no such direction.
    """
    if (source, target) not in PREFIXES:
        known = ", ".join(f"{a} to {b}" for a, b in PREFIXES)
        raise ValueError(f"there is no prefix for {source!r} to {target!r}; the directions are {known}")
    return PREFIXES[source, target]


def sts_to_text(similarity: int | float) -> str:
    """A similarity of STS-B as one of `STS_LABELS`: rounded to the nearest 0.2, halves upwards.

    Twenty-one strings make a regression a classification with 21 classes; the model writes the string.
    Source: Raffel et al. (arXiv 1910.10683), section 2.4, whose example is 2.57 -> "2.6".

    Args:
        similarity: 1 (unrelated) to 5 (same meaning).

    Raises:
        ValueError: it lies outside. The data set itself has scores from 0 on; clip them first.
    """
    if not 1 <= similarity <= 5:
        raise ValueError(f"similarity must lie in 1..5, got {similarity}")
    return f"{int(similarity * 5 + 0.5) / 5:.1f}"


def text_to_sts(text: str) -> float | None:
    """The similarity that a model wrote; None, counted as wrong, unless it is a number from 1 to 5."""
    if not _NUMBER.fullmatch(text.strip()):
        return None
    value = float(text)
    return value if 1 <= value <= 5 else None


def label_of(text: str, labels: Collection[str]) -> str | None:
    """The label that a model wrote; None, counted as wrong, unless it is exactly one of them.

    No nearest label is guessed, and `positive.` is not `positive`: the paper counts it so, too.

    Raises:
        ValueError: the labels are one string, or there is none.
    """
    if isinstance(labels, str) or not labels:
        raise ValueError(f"labels must be several words, got {labels!r}")
    return text.strip() if text.strip() in labels else None


def label_accuracy(
    outputs: Sequence[str], truths: Sequence[str], labels: Collection[str]
) -> tuple[float, int]:
    """Share of right outputs, and how many outputs were no label at all; the latter count as wrong.

    Raises:
        ValueError: the lengths differ, there is nothing to judge, or a truth is no label.
    """
    if len(outputs) != len(truths) or not outputs:
        raise ValueError(f"outputs and truths must be of one length, got {len(outputs)} and {len(truths)}")
    stray = [truth for truth in truths if truth not in labels]
    if stray:
        raise ValueError(f"truths must be among {', '.join(sorted(labels))}, got {stray[0]!r}")
    said = [label_of(output, labels) for output in outputs]
    n_right = sum(ours == truth for ours, truth in zip(said, truths, strict=True))
    return n_right / len(truths), said.count(None)


def corrupt_spans(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """T5's pre-training task on one text: spans are cut out of the source, and the target is what was cut.

    Example:
        >>> corrupt_spans("Thank you for inviting me to your party last week .".split(), [(2, 4), (8, 9)])
        ('Thank you <extra_id_0> me to your party <extra_id_1> week .',
         '<extra_id_0> for inviting <extra_id_1> last <extra_id_2>')

    Args:
        words: the text.
        spans: (first, last + 1) of each, in order, with at least one word between two.

    Raises:
        ValueError: a span is empty, lies outside, or touches the one before.
    """
    source: list[str] = []
    target: list[str] = []
    end = 0
    for i, (first, last) in enumerate(spans):
        if not (end + (i > 0) <= first < last <= len(words)):
            raise ValueError(
                f"spans[{i}] must lie behind the one before, with a word between, inside 0..{len(words)}, "
                f"got ({first}, {last})"
            )
        source += [*words[end:first], f"<extra_id_{i}>"]
        target += [f"<extra_id_{i}>", *words[first:last]]
        end = last
    return " ".join([*source, *words[end:]]), " ".join([*target, f"<extra_id_{len(spans)}>"])
