"""What was found in a data set, as figures beside the contest's own: text for readers, JSON for programs."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from coursepkg.projects.sign_language.quality.classes import BANDS, ClassCounts, count_classes
from coursepkg.projects.sign_language.quality.contest import CONTEST
from coursepkg.projects.sign_language.quality.survey import ClipFacts, Survey

SHOWN = 5
"""Examples of each finding in the text; JSON has all."""
DEGREES = (0.0, 0.2, 0.4, 0.6, 1.0)
"""Borders between degrees of damage, as shares of a clip's frames."""


def class_counts(found: Survey, label_list: Mapping[str, int] | Sequence[str] = ()) -> ClassCounts:
    """Clips of each word, files that cannot be opened included: they are in the data."""
    files = [clip.file for clip in found.clips] + [one.file for one in found.unopened]
    return count_classes([file.label for file in files], label_list)


def as_json(found: Survey, label_list: Mapping[str, int] | Sequence[str] = ()) -> dict[str, Any]:
    """Everything that was found, every file by its path.

    Args:
        found: by `survey`.
        label_list: all words that there are; without it those that occur.
    """
    counts = class_counts(found, label_list)
    damaged = [clip for clip in found.clips if clip.broken.n_broken]
    return {
        "clips": len(found.clips) + len(found.unopened),
        "unopened": [{"path": str(one.file.path), "reason": one.reason} for one in found.unopened],
        "words": len(counts.counts),
        "words_by_band": counts.words_by_band,
        "clips_by_band": counts.clips_by_band,
        "words_without_clips": list(counts.missing),
        "class_counts": counts.counts,
        "signers": len({clip.file.signer for clip in found.clips} - {""}),
        "resolutions": _counted(f"{clip.width} x {clip.height}" for clip in found.clips),
        "frames": summary([clip.n_frames for clip in found.clips]),
        "seconds": summary([clip.seconds for clip in found.clips]),
        "fps": summary([clip.fps for clip in found.clips]),
        "variable_rate": sum(clip.has_variable_rate for clip in found.clips),
        "damaged": [
            {"path": str(clip.file.path), "share": round(clip.broken.share, 4), "frames": clip.broken.kinds}
            for clip in damaged
        ],
        "damage_degrees": damage_degrees(found.clips),
        "damaged_by_kind": _counted(kind for clip in damaged for kind in clip.broken.kinds),
        "copies": [[str(found.clips[i].file.path) for i in group] for group in found.groups],
        "copies_by_word": copies_by_word(found),
        "contradictions": [[str(found.clips[i].file.path) for i in group] for group in found.contradictions],
        "contest": asdict(CONTEST),
    }


def as_text(found: Survey, label_list: Mapping[str, int] | Sequence[str] = ()) -> str:
    """One block a question, this data's figures beside the contest's, then the first examples of each finding."""
    told = as_json(found, label_list)
    counts = class_counts(found, label_list)
    lines = [("", "these clips", "contest (source 002)"), *_size_rows(told), *_class_rows(counts)]
    lines += _damage_rows(found, told)
    wide, middle = (max(len(row[i]) for row in lines) for i in (0, 1))
    table = [f"{name:<{wide}}  {ours:<{middle}}  {theirs}".rstrip() for name, ours, theirs in lines]
    return "\n".join([*table, *_examples(found, told)])


def summary(values: Sequence[int | float]) -> dict[str, float]:
    """Least, median, mean and greatest of some numbers; empty for none."""
    if not values:
        return {}
    return {
        "least": round(float(min(values)), 3),
        "median": round(float(statistics.median(values)), 3),
        "mean": round(float(statistics.mean(values)), 3),
        "greatest": round(float(max(values)), 3),
    }


def damage_degrees(clips: Sequence[ClipFacts]) -> dict[str, int]:
    """How many clips have how large a share of broken frames; a share at a border counts upwards."""
    degrees = {"none": sum(not clip.broken.n_broken for clip in clips)}
    shares = [clip.broken.share for clip in clips if clip.broken.n_broken]
    for low, high in pairwise(DEGREES):
        last = high == DEGREES[-1]
        name = f"{low:.0%} to {high:.0%}" if last else f"{low:.0%} to under {high:.0%}"
        degrees[name] = sum(low <= share and (share < high or last) for share in shares)
    return degrees


def copies_by_word(found: Survey) -> dict[str, float]:
    """Share of each word's clips that repeat another of it, greatest first; words without any are left out."""
    clips = Counter(clip.file.label for clip in found.clips)
    repeats: Counter[str] = Counter()
    for group in found.groups:
        for word, count in Counter(found.clips[i].file.label for i in group).items():
            repeats[word] += count - 1
    shares = {word: count / clips[word] for word, count in repeats.items() if count}
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def _size_rows(told: dict[str, Any]) -> list[tuple[str, str, str]]:
    sizes = list(told["resolutions"].items())
    others = f" and {len(sizes) - 1} other size" + "s" * (len(sizes) > 2)
    more = others if len(sizes) > 1 else ", all clips"
    return [
        ("clips", f"{told['clips']:,}", f"{CONTEST.n_clips:,}"),
        ("words", f"{told['words']:,}", f"{CONTEST.n_words:,}"),
        ("signers", f"{told['signers']:,}" if told["signers"] else "not stated", "not stated"),
        ("resolution", f"{sizes[0][0]}{more}" if sizes else "none", CONTEST.resolution),
        ("frames", _spread(told["frames"]), CONTEST.frames),
        ("seconds", _spread(told["seconds"]), CONTEST.seconds),
    ]


def _class_rows(counts: ClassCounts) -> list[tuple[str, str, str]]:
    theirs = (CONTEST.head_words, CONTEST.body_words, CONTEST.tail_words)
    ends = list(counts.counts.values()) or [0]
    rows = [
        ("most clips of a word", f"{ends[0]:,}", CONTEST.most_clips),
        ("fewest clips of a word", f"{ends[-1]:,}", CONTEST.least_clips),
    ]
    for band, share in zip(BANDS, theirs, strict=True):
        words, clips = counts.words_by_band[band], counts.clips_by_band[band]
        ours = f"{words:,} words ({words / max(1, len(counts.counts)):.0%}), {clips:,} clips"
        rows.append((band, ours, f"{share:.0%} of the words"))
    return rows


def _damage_rows(found: Survey, told: dict[str, Any]) -> list[tuple[str, str, str]]:
    total = max(1, len(found.clips))
    clean, *rest = told["damage_degrees"].items()
    degrees = ", ".join(f"{name} {count:,}" for name, count in rest if count)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in told["damaged_by_kind"].items())
    n_damaged = len(told["damaged"])
    worst = next(iter(told["copies_by_word"].items()), None)
    n_repeats = sum(len(group) - 1 for group in found.groups)
    ours = f"{n_repeats:,} repeat another one" + (f"; of {worst[0]} {worst[1]:.0%}" if worst else "")
    return [
        ("clips without broken frames", f"{clean[1]:,} ({clean[1] / total:.0%})", CONTEST.clean_clips),
        ("clips with broken frames", f"{n_damaged:,} ({kinds})" if kinds else "0", CONTEST.broken_clips),
        ("share of broken frames in them", degrees or "none", CONTEST.broken_share),
        ("copies", ours, CONTEST.copies),
        ("files that cannot be opened", f"{len(found.unopened):,}", "not stated"),
    ]


def _examples(found: Survey, told: dict[str, Any]) -> list[str]:
    lines = []
    for title, rows in (
        ("cannot be opened", [one.reason for one in found.unopened]),
        ("broken frames", [f"{one['path']}: {one['share']:.0%}, {one['frames']}" for one in told["damaged"]]),
        ("the same pictures under several words", [", ".join(group) for group in told["contradictions"]]),
        ("copies", [", ".join(group) for group in told["copies"]]),
        ("words without a clip", told["words_without_clips"]),
    ):
        if rows:
            lines += [f"{title}: {len(rows):,}", *(f"  {row}" for row in rows[:SHOWN])]
            lines += [f"  ... and {len(rows) - SHOWN:,} more"] if len(rows) > SHOWN else []
    return lines


def _spread(told: dict[str, float]) -> str:
    if not told:
        return "none"
    return f"{told['least']:g} to {told['greatest']:g}, median {told['median']:g}, mean {told['mean']:.4g}"


def _counted(names: Any) -> dict[str, int]:
    return dict(Counter(names).most_common())
