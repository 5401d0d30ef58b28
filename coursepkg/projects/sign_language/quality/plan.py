"""Clean a data set: what becomes of each clip, as a plan, as text and as a file.

The plan changes no file. It says of each clip which of its frames are used, and is
applied where clips are read. Clean the training part only: a clip that is scored stays,
however broken it is, or scores of two models are no longer of the same clips. Files are
named relative to the folder of the data, so a plan holds on another machine.

Source: the rules of the Olympiad tutorials, section VIII.1. One of them is mended:
whether a word is rare is told by its different clips, not by all of them, or a word of
22 clips with five copies would lose these and end up rare.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.files import read_json, write_json
from coursepkg.projects.sign_language.data.clip import Clip, ClipFile
from coursepkg.projects.sign_language.data.label_mapping import (
    BANDS,
    TAIL,
    ClassCounts,
    count_classes,
)
from coursepkg.projects.sign_language.quality.survey import ClipFacts, Survey
from coursepkg.projects.sign_language.recipe import CleaningRules

_SAME_TIME = 5e-4
"""Seconds by which the times of one frame may differ; two frames are at least a
millisecond apart."""


@dataclass(frozen=True)
class KeptClip:
    """A clip that stays, and which of its frames are used."""

    file: ClipFile
    start: float = 0.0
    """First moment that is used, in seconds from the start of the file."""
    stop: float = float("inf")
    """Last moment that is used."""
    left_out: tuple[float, ...] = ()
    """When the frames are shown that are left out, in seconds from the start of the
    file."""
    strong: bool = False
    """Whether it repeats another clip and is to be augmented more strongly."""
    undecodable: int = 0
    """Frames of the whole file that the decoder could not read; they change nothing
    about what is used."""

    def frames_of(self, times: np.ndarray) -> np.ndarray:
        """The numbers of the frames that are used, ascending, at least one.

        Args:
            times: of all frames of the file, in seconds from its start (N,), as
                `data.video` gives them.
        """
        used = (times >= self.start) & (times <= self.stop)
        for moment in self.left_out:
            used &= np.abs(times - moment) > _SAME_TIME
        # A file that has changed since may have nothing left; all of it then says more
        # than nothing.
        return np.flatnonzero(used) if used.any() else np.arange(len(times))

    def apply(self, clip: Clip) -> Clip:
        """The clip with the frames that are used; their times stay as they are."""
        used = self.frames_of(clip.times)
        return replace(clip, frames=clip.frames[used], times=clip.times[used])


@dataclass(frozen=True)
class RemovedClip:
    """A clip that goes."""

    file: ClipFile
    reason: str
    """Of `REASONS`."""
    detail: str
    """What was found, for one line of a report."""


UNOPENED = "cannot be opened"
"""No rule decides it, so no other rules help."""
REASONS = (UNOPENED, "broken frames", "too few frames", "contradiction", "copy")


@dataclass(frozen=True)
class CleaningPlan:
    """What becomes of each clip of a data set; every one is in one of the two."""

    rules: CleaningRules
    kept: tuple[KeptClip, ...]
    removed: tuple[RemovedClip, ...]

    @property
    def removed_by_reason(self) -> dict[str, int]:
        """How many clips go for which reason."""
        found = Counter(one.reason for one in self.removed)
        return {reason: found[reason] for reason in REASONS if found[reason]}

    @property
    def before(self) -> ClassCounts:
        """Clips of each word before cleaning."""
        files = [one.file for one in self.kept] + [one.file for one in self.removed]
        return count_classes(file.label for file in files)

    @property
    def after(self) -> ClassCounts:
        """Clips of each word that stay; a word that lost all of them counts 0."""
        return count_classes(
            (one.file.label for one in self.kept), list(self.before.counts)
        )

    @property
    def cut(self) -> tuple[KeptClip, ...]:
        """Clips of which only the middle is used."""
        return tuple(one for one in self.kept if one.stop < float("inf"))

    @property
    def shortened(self) -> tuple[KeptClip, ...]:
        """Return the clips of which broken frames are left out.

        Frames that could not be decoded are missing in any case.
        """
        return tuple(one for one in self.kept if one.left_out)

    @property
    def strong(self) -> tuple[KeptClip, ...]:
        """Copies that stay and are to be augmented more strongly."""
        return tuple(one for one in self.kept if one.strong)

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of what the plan uses of each file.

        A cache that was made with another plan does not fit.
        """
        lines = (
            f"{one.file.path.name} {one.file.label} {one.start} {one.stop}"
            f" {one.left_out} {one.strong}"
            for one in self.kept
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


SHOWN = 5
"""Clips of each kind that the text names; JSON names all."""


def plan_as_text(plan: CleaningPlan) -> str:
    """Return how many clips go, are cut and stay, with reasons and first file names."""
    total = len(plan.kept) + len(plan.removed)
    before, after = plan.before, plan.after
    lines = [
        f"cleaning: {len(plan.kept):,} of {total:,} clips stay,"
        f" {len(plan.removed):,} go"
    ]
    for reason in REASONS:
        gone = [one for one in plan.removed if one.reason == reason]
        lines += _block(f"gone, {reason}", [removal_as_text(one) for one in gone])
    lines += _block(
        "cut to their middle",
        [f"{one.file.path}: {one.start:.2f} to {one.stop:.2f} s" for one in plan.cut],
    )
    lines += _block(
        "stay without their broken frames",
        [
            f"{one.file.path}: {_without(one)}"
            for one in plan.kept
            if one.left_out or one.undecodable
        ],
    )
    lines += _block(
        "copies of rare words that stay, for stronger augmentation",
        [str(one.file.path) for one in plan.strong],
    )
    bands = (
        f"{band} {before.words_by_band[band]:,} to {after.words_by_band[band]:,}"
        for band in BANDS
    )
    lines.append(f"words: {', '.join(bands)}")
    lines += _block("WORDS THAT LOSE ALL THEIR CLIPS", list(after.missing))
    return "\n".join(lines)


def removal_as_text(one: RemovedClip) -> str:
    """Return why a clip goes, with the file's name once.

    The detail of a file that cannot be opened already starts with its name.
    """
    name = str(one.file.path)
    return one.detail if one.detail.startswith(name) else f"{name}: {one.detail}"


def _without(one: KeptClip) -> str:
    """Return how many frames of a clip show nothing and how many failed to decode."""
    lost = {"left out": len(one.left_out), "could not be decoded": one.undecodable}
    return ", ".join(f"{count} {how}" for how, count in lost.items() if count)


def _block(title: str, rows: Sequence[str]) -> list[str]:
    if not rows:
        return []
    more = [f"  ... and {len(rows) - SHOWN:,} more"] if len(rows) > SHOWN else []
    return [f"{title}: {len(rows):,}", *(f"  {row}" for row in rows[:SHOWN]), *more]


KIND = "cleaning plan"


def write_plan(path: str | Path, plan: CleaningPlan, folder: str | Path) -> None:
    """Write a plan.

    Args:
        path: of the file, which appears whole or not at all.
        plan: what becomes of each clip.
        folder: of the data set.

    Raises:
        OSError: it cannot be written.
    """
    content = {
        "kind": KIND,
        "rules": asdict(plan.rules),
        "fingerprint": plan.fingerprint,
        "kept": [
            {
                "path": _relative(one.file, folder),
                "start": one.start,
                "stop": None if one.stop == float("inf") else one.stop,
                "left_out": one.left_out,
                "strong": one.strong,
                "undecodable": one.undecodable,
            }
            for one in plan.kept
        ],
        "removed": [
            {"path": _relative(one.file, folder)}
            | {"reason": one.reason, "detail": one.detail}
            for one in plan.removed
        ],
    }
    write_json(Path(path), content)


def read_plan(
    path: str | Path, files: Sequence[ClipFile], folder: str | Path
) -> CleaningPlan:
    """Read a plan for the clips that it was made for.

    Args:
        path: of the file.
        files: all clips that the plan is about, in any order.
        folder: of the data set.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no plan, or about other clips; the first that differs is
            named.
    """
    path = Path(path)
    needs: dict[str, type] = {"kind": str, "rules": dict, "fingerprint": str}
    told = read_json(path, needs=needs | {"kept": list, "removed": list})
    if told["kind"] != KIND:
        raise ValueError(
            f"{path}: a {told['kind']}, not a {KIND}; make one of these clips first"
        )
    known = {_relative(file, folder): file for file in files}
    try:
        rules = CleaningRules(**told["rules"])
        named = [row["path"] for row in (*told["kept"], *told["removed"])]
        _check_names(path, named, known)
        plan = CleaningPlan(
            rules,
            tuple(_kept(row, known) for row in told["kept"]),
            tuple(
                RemovedClip(known[row["path"]], row["reason"], row["detail"])
                for row in told["removed"]
            ),
        )
    except (KeyError, TypeError) as reason:
        raise ValueError(
            f"{path}: not a {KIND} of this version ({reason}); make it again"
        ) from None
    if plan.fingerprint != told["fingerprint"]:
        raise ValueError(
            f"{path}: the plan was changed, or clips have other words now; make it"
            " again"
        )
    return plan


def _kept(row: dict[str, Any], known: dict[str, ClipFile]) -> KeptClip:
    stop = float("inf") if row["stop"] is None else float(row["stop"])
    left_out = tuple(float(moment) for moment in row["left_out"])
    file, start, strong = known[row["path"]], float(row["start"]), bool(row["strong"])
    return KeptClip(file, start, stop, left_out, strong, int(row.get("undecodable", 0)))


def _check_names(path: Path, named: Sequence[str], known: dict[str, ClipFile]) -> None:
    new, gone = sorted(set(known) - set(named)), sorted(set(named) - set(known))
    if new:
        raise ValueError(
            f"{path}: the plan does not know {new[0]}; make it again for these clips"
        )
    if gone:
        raise ValueError(
            f"{path}: the plan is about {gone[0]}, which is not among the clips; make"
            " it again"
        )


def _relative(file: ClipFile, folder: str | Path) -> str:
    return Path(os.path.relpath(file.path, folder)).as_posix()


def plan_cleaning(found: Survey, rules: CleaningRules | None = None) -> CleaningPlan:
    """Decide each clip's use first by damage, then by contradictions, then by copies.

    Args:
        found: what was found in the training part.
        rules: None for those of the Olympiad tutorials.
    """
    rules = rules or CleaningRules()
    kept = {i: _kept_of(clip, rules) for i, clip in enumerate(found.clips)}
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
    removed = [RemovedClip(one.file, UNOPENED, one.reason) for one in found.unopened]
    removed += [RemovedClip(found.clips[i].file, *gone[i]) for i in sorted(gone)]
    return CleaningPlan(
        rules, tuple(one for i, one in kept.items() if i not in gone), tuple(removed)
    )


Gone = dict[int, tuple[str, str]]
"""Clips that go, by their numbers: the reason and what was found."""


def _kept_of(clip: ClipFacts, rules: CleaningRules) -> KeptClip:
    """What is used of a clip if it stays."""
    start, stop = 0.0, float("inf")
    if clip.seconds > rules.most_seconds:
        middle, half = float(clip.times[-1]) / 2, rules.middle_seconds / 2
        start, stop = middle - half, middle + half
    left_out = (
        clip.times[list(clip.broken.numbers)] if rules.drop_frames else np.zeros(0)
    )
    inside = left_out[(left_out >= start) & (left_out <= stop)]
    broken = tuple(inside.tolist())
    lost = clip.broken.undecodable
    return KeptClip(clip.file, start, stop, broken, undecodable=lost)


def _broken(found: Survey, kept: dict[int, KeptClip], rules: CleaningRules) -> Gone:
    gone: Gone = {}
    for i, clip in enumerate(found.clips):
        good = np.delete(clip.times, list(clip.broken.numbers))
        left = int(((good >= kept[i].start) & (good <= kept[i].stop)).sum())
        if clip.broken.share >= rules.most_broken:
            kinds = ", ".join(
                f"{count} {kind}" for kind, count in clip.broken.kinds.items()
            )
            gone[i] = "broken frames", f"{clip.broken.share:.0%} of its frames: {kinds}"
        elif left < rules.least_frames:
            told = f"{left} good frames of {clip.n_frames}, fewer than"
            gone[i] = "too few frames", f"{told} {rules.least_frames}"
    return gone


def _contradicting(found: Survey, gone: Gone) -> Gone:
    more: Gone = {}
    for group in found.contradictions:
        left = [i for i in group if i not in gone]
        words = sorted({found.clips[i].file.label for i in left} - {""})
        if len(words) > 1:
            told = f"the same pictures stand under {' and '.join(words)}"
            more |= dict.fromkeys(left, ("contradiction", told))
    return more


def _repeats(found: Survey, gone: Collection[int]) -> dict[int, int]:
    """Map each copy to the clip of its word with the lowest share of broken frames."""
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
    counts = Counter(
        clip.file.label for i, clip in enumerate(found.clips) if i not in without
    )
    return {word for word in words if counts[word] < TAIL}


def check_plan(name: str, plan: CleaningPlan) -> None:
    """Raises a ValueError unless clips of at least two words stay.

    Args:
        name: of the data, as `--data` takes it.
        plan: for the training part.
    """
    reasons = plan.removed_by_reason
    if not plan.kept and list(reasons) == [UNOPENED]:
        raise ValueError(
            f"--data {name}: none of the {len(plan.removed):,} training clips can be"
            f" opened; the first: {removal_as_text(plan.removed[0])}"
        )
    if not plan.kept:
        why = ", ".join(f"{count:,} for {reason}" for reason, count in reasons.items())
        raise ValueError(
            f"--data {name}: the rules leave none of {len(plan.removed):,} training"
            f" clips ({why}); loosen them"
        )
    check_words(name, (kept.file.label for kept in plan.kept))


def check_words(name: str, labels: Iterable[str]) -> None:
    """Raises a ValueError unless there are two words to tell apart.

    Args:
        name: of the data, as `--data` takes it.
        labels: the word of each training clip, at least one.
    """
    words = sorted(set(labels))
    if len(words) < 2:
        raise ValueError(
            f"--data {name} has one word to learn, {words[0]!r}; a recogniser needs at"
            " least two"
        )
