"""From what was found in a data set to a plan that cleans it.

Source: the rules of source 002, section VIII.1. One of them is mended: whether a word is rare is told by its different
clips, not by all of them, or a word of 22 clips with five copies would lose these and end up rare.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from coursepkg.projects.sign_language.quality.classes import TAIL
from coursepkg.projects.sign_language.quality.plan import CleaningPlan, CleaningRules, KeptClip, RemovedClip
from coursepkg.projects.sign_language.quality.survey import ClipFacts, Survey


def plan_cleaning(found: Survey, rules: CleaningRules | None = None) -> CleaningPlan:
    """What becomes of each clip: first the broken go, then what contradicts itself, then copies.

    Args:
        found: what was found in the training part.
        rules: None for those of source 002.
    """
    rules = rules or CleaningRules()
    kept = {i: _kept(clip, rules) for i, clip in enumerate(found.clips)}
    gone = _broken(found, kept, rules)
    if rules.contradictions == "remove":
        gone |= _contradicting(found, gone)
    repeats = _repeats(found, gone)
    rare = _rare_words(found, {*gone, *repeats})
    for i, original in repeats.items():
        if rules.copies == "remove" or (
            rules.copies == "keep-tail" and found.clips[i].file.label not in rare
        ):
            gone[i] = "copy", f"of {found.clips[original].file.path.name}"
        else:
            kept[i] = replace(kept[i], strong=True)
    removed = [RemovedClip(one.file, "cannot be opened", one.reason) for one in found.unopened]
    removed += [RemovedClip(found.clips[i].file, *gone[i]) for i in sorted(gone)]
    return CleaningPlan(rules, tuple(one for i, one in kept.items() if i not in gone), tuple(removed))


Gone = dict[int, tuple[str, str]]
"""Clips that go, by their numbers: the reason and what was found."""


def _kept(clip: ClipFacts, rules: CleaningRules) -> KeptClip:
    """What is used of a clip if it stays."""
    start, stop = 0.0, float("inf")
    if clip.seconds > rules.most_seconds:
        middle = float(clip.times[-1]) / 2
        start, stop = middle - rules.middle_seconds / 2, middle + rules.middle_seconds / 2
    left_out = clip.times[list(clip.broken.numbers)] if rules.drop_frames else np.zeros(0)
    inside = left_out[(left_out >= start) & (left_out <= stop)]
    return KeptClip(clip.file, start, stop, tuple(inside.tolist()), undecodable=clip.broken.undecodable)


def _broken(found: Survey, kept: dict[int, KeptClip], rules: CleaningRules) -> Gone:
    gone: Gone = {}
    for i, clip in enumerate(found.clips):
        good = np.delete(clip.times, list(clip.broken.numbers))
        left = int(((good >= kept[i].start) & (good <= kept[i].stop)).sum())
        if clip.broken.share >= rules.most_broken:
            kinds = ", ".join(f"{count} {kind}" for kind, count in clip.broken.kinds.items())
            gone[i] = "broken frames", f"{clip.broken.share:.0%} of its frames: {kinds}"
        elif left < rules.least_frames:
            gone[i] = (
                "too few frames",
                f"{left} good frames of {clip.n_frames}, fewer than {rules.least_frames}",
            )
    return gone


def _contradicting(found: Survey, gone: Gone) -> Gone:
    more: Gone = {}
    for group in found.contradictions:
        left = [i for i in group if i not in gone]
        words = sorted({found.clips[i].file.label for i in left} - {""})
        if len(words) > 1:
            more |= {
                i: ("contradiction", f"the same pictures stand under {' and '.join(words)}") for i in left
            }
    return more


def _repeats(found: Survey, gone: Collection[int]) -> dict[int, int]:
    """Clips that repeat another of their word that stays, and which; the one with the fewest broken frames stays."""
    repeats: dict[int, int] = {}
    for group in found.groups:
        by_word: dict[str, list[int]] = {}
        for i in group:
            if i not in gone:
                by_word.setdefault(found.clips[i].file.label, []).append(i)
        for members in by_word.values():
            best = min(members, key=lambda i: (found.clips[i].broken.share, i))
            repeats |= {i: best for i in members if i != best}
    return repeats


def _rare_words(found: Survey, without: Collection[int]) -> set[str]:
    """Words with fewer different clips than the tail ends at."""
    words = {clip.file.label for clip in found.clips}
    counts = Counter(clip.file.label for i, clip in enumerate(found.clips) if i not in without)
    return {word for word in words if counts[word] < TAIL}
