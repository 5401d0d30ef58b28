"""The hypotheses of a search in order: with all marks first, then by score.

A mark stands for a number, link or code of the source, see
`coursepkg.projects.translation.placeholders`. Where every hypothesis loses a mark, a
wider search tries again, and what that loses, too, is put in.

A model that also translates back can read the source x back from a hypothesis y. With
a weight w the score of the search becomes

    score(y) = log p(y | x) / penalty(|y|) + w * log p(x | y) / penalty(|x|)

This is noisy-channel reranking (Yee et al., arXiv 1908.05731): a hypothesis that leaves
something out does not give it back.
"""

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from coursepkg.blocks.transformer import Transformer
from coursepkg.decoding.step import Hypothesis
from coursepkg.projects.translation.placeholders import Masked, n_lost

if TYPE_CHECKING:
    from coursepkg.projects.translation.predict import Translator

WIDE_BEAM = 20
"""Beams of the second search."""


class Ranked(NamedTuple):
    """A hypothesis in its place."""

    hypothesis: Hypothesis
    line: str
    """What it says, in the form of the training data, with marks."""
    score: float
    """What ranks it among those that keep as many marks."""
    reverse: float | None = None
    """Mean log-probability of the source's tokens, read back; None where it was not."""


def rank(
    translator: "Translator",
    parts: Sequence[Masked],
    found: Sequence[Sequence[Hypothesis]],
    source: str,
    target: str,
    reverse_weight: float,
    length_penalty: float,
) -> list[list[Ranked]]:
    """Hypotheses of each source, best first.

    Args:
        parts: the sources, masked.
        reverse_weight: w of the formula above; 0 keeps the order of the search.
        length_penalty: exponent of the search's length penalty.
    """
    rows = [
        [Ranked(one, translator.line_of(one, part), one.score) for one in own]
        for part, own in zip(parts, found, strict=True)
    ]
    if reverse_weight:
        from coursepkg.projects.translation.confidence import read_back

        pairs = [
            (part.text, row.line)
            for part, own in zip(parts, rows, strict=True)
            for row in own
        ]
        known = iter(read_back(translator, pairs, source, target))
        rows = [
            [
                row._replace(
                    score=row.score
                    + reverse_weight * translator.penalised(*back, length_penalty),
                    reverse=back[0] / back[1],
                )
                for row, back in zip(own, islice(known, len(own)), strict=True)
            ]
            for own in rows
        ]
    is_masked = translator.recipe.placeholders == "mask"
    for part, own in zip(parts, rows, strict=True):
        if reverse_weight:
            own.sort(key=lambda row: (not row.hypothesis.finished, -row.score))
        if is_masked:
            # Sorting is stable: among those that keep as much the score decides.
            own.sort(key=lambda row: n_lost(row.line, part))
    return rows


def keep_marks(
    translator: "Translator",
    parts: Sequence[Masked],
    ids: Sequence[Sequence[int]],
    found: list[list[Hypothesis]],
    target: str,
    length_penalty: float,
    batch_size: int,
) -> dict[int, list[str]]:
    """Add hypotheses to those of a source where all of them lose a mark.

    Args:
        parts: the sources, masked.
        ids: of the sources, tags in front.
        found: hypotheses of each source, some of which get more.

    Returns:
        By place of a source the values that the search lost and that were put in.
    """
    losing = [
        i
        for i, (part, own) in enumerate(zip(parts, found, strict=True))
        if part.values
        and all(n_lost(translator.line_of(one, part), part) for one in own)
    ]
    searched = [i for i in losing if len(found[i]) < WIDE_BEAM]
    wider = translator.search(
        [ids[i] for i in searched],
        beam_size=WIDE_BEAM,
        length_penalty=length_penalty,
        n_best=WIDE_BEAM,
        batch_size=max(1, batch_size // 4),
    )
    for i, own in zip(searched, wider, strict=True):
        found[i] += own
    put_in = {}
    for i in losing:
        made = _with_marks(
            translator, parts[i], ids[i], found[i], target, length_penalty
        )
        if made is not None:
            found[i].append(made[0])
            put_in[i] = made[1]
    return put_in


def _with_marks(
    translator: "Translator",
    part: Masked,
    ids: Sequence[int],
    found: Sequence[Hypothesis],
    target: str,
    length_penalty: float,
) -> tuple[Hypothesis, list[str]] | None:
    """The hypothesis that loses fewest marks, with them, and what they stand for.

    Each is put where the model finds it most likely. None where none is lost, where
    there is no room, or where the model is no single Transformer.
    """
    best = min(found, key=lambda one: n_lost(translator.line_of(one, part), part))
    line = translator.line_of(best, part)
    lost = [mark for mark in part.values if mark not in line]
    added = translator.subwords.encode_targets(lost, target)
    is_full = len(best.ids) + sum(map(len, added)) >= translator.longest
    is_one = translator.exported is not None or isinstance(
        translator.model, Transformer
    )
    if not lost or not is_one or is_full:
        return None
    from coursepkg.projects.translation.confidence import log_probs

    written, log_prob = best.ids, 0.0
    for own in added:
        tried = [(*written[:i], *own, *written[i:]) for i in range(len(written) + 1)]
        scores = log_probs(translator, [ids] * len(tried), tried)
        log_prob, written = max(zip(scores, tried, strict=True))
    n = len(written) + 1
    score = translator.penalised(log_prob, n, length_penalty)
    made = Hypothesis(written, (log_prob / n,) * n, log_prob, score, True)
    return made, [part.values[mark] for mark in lost]
