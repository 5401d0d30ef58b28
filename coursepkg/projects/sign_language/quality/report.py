"""What was found in a data set, beside the contest's figures, as text and as JSON.

The contest's figures are those of the second Olympiad tutorial (sections III and
VIII.1) and its slides. Its plots are lost, so a figure that only they showed is given
as the text words it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from coursepkg.app.report import aligned, examples, spread, summary
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.label_mapping import (
    BANDS,
    ClassCounts,
    count_classes,
)
from coursepkg.projects.sign_language.quality.survey import ClipFacts, Survey
from coursepkg.validation import counted


@dataclass(frozen=True)
class ContestFigures:
    """The training part of the sign-language task of the 2025 AI Olympiad."""

    n_clips: int = 3875
    """Labelled clips; 1,630 of the public and 2,859 of the private test have no labels.
    """
    n_words: int = 100
    resolution: str = "224 x 224, all clips"
    frames: str = "30 in nearly all clips, 16 to 29 in a few"
    seconds: str = "2 to 3, 2.5 on average; a few above 30"
    """The slides call 30 frames about one second. Both cannot be; 30 frames in 2.5
    seconds are 12 a second."""
    head_words: float = 0.42
    """Share of the words with 50 clips and more."""
    body_words: float = 0.27
    """Share of the words with 20 to 49 clips."""
    tail_words: float = 0.31
    """Share of the words with fewer than 20 clips."""
    most_clips: str = "nearly 100"
    """Clips of the most frequent words."""
    least_clips: str = "4 to 8"
    """Clips of the rarest words."""
    clean_clips: str = "about 80%"
    broken_clips: str = "nearly 20%, most with a run in one colour"
    broken_share: str = "most between 30% and 40% or near 60%"
    """Share of broken frames in a clip that has any."""
    copies: str = "nearly a third of the clips in the worst words"


CONTEST = ContestFigures()


DEGREES = (0.0, 0.2, 0.4, 0.6, 1.0)
"""Borders between degrees of damage, as shares of a clip's frames."""
LARGE = (1920, 1080)
"""Longer and shorter side, in pixels, above which a clip is named as large."""

Parts = Mapping[str, Sequence[ClipFile]]
"""The files of each part; of them `train` has the words that count."""


def class_counts(
    found: Survey, label_list: Mapping[str, int] | Sequence[str] = ()
) -> ClassCounts:
    """Clips of each word; files that cannot be opened are in the data, too."""
    files = [clip.file for clip in found.clips] + [one.file for one in found.unopened]
    return count_classes([file.label for file in files], label_list)


def as_json(
    found: Survey,
    label_list: Mapping[str, int] | Sequence[str] = (),
    parts: Parts | None = None,
) -> dict[str, Any]:
    """Everything that was found, every file by its path.

    Args:
        found: by `survey`.
        label_list: all words that there are; without it those that occur.
        parts: where the clips are parted already: words, bands and shares of copies are
            then of the training part, whose long tail would not show in a count of all
            parts together.
    """
    training = found if parts is None else found.part(parts["train"])
    counts = class_counts(training, label_list)
    damaged = [clip for clip in found.clips if clip.broken.n_broken]
    return {
        "clips": len(found.clips) + len(found.unopened),
        "clips_by_part": {part: len(files) for part, files in (parts or {}).items()},
        "words_counted_in": "all clips" if parts is None else "training part",
        "unopened": [
            {"path": str(one.file.path), "reason": one.reason} for one in found.unopened
        ],
        "words": len(counts.counts),
        "words_by_band": counts.words_by_band,
        "clips_by_band": counts.clips_by_band,
        "words_without_clips": list(counts.missing),
        "class_counts": counts.counts,
        "signers": len({clip.file.signer for clip in found.clips} - {""}),
        "resolutions": _numbers(
            f"{clip.width} x {clip.height}" for clip in found.clips
        ),
        "frames": summary([clip.n_frames for clip in found.clips]),
        "seconds": summary([clip.seconds for clip in found.clips]),
        "fps": summary([clip.fps for clip in found.clips]),
        "variable_rate": [
            str(clip.file.path) for clip in found.clips if clip.has_variable_rate
        ],
        "large": [
            str(clip.file.path)
            for clip in found.clips
            if is_large(clip.width, clip.height)
        ],
        "damaged": [
            {
                "path": str(clip.file.path),
                "share": round(clip.broken.share, 4),
                "frames": clip.broken.kinds,
            }
            for clip in damaged
        ],
        "damage_degrees": damage_degrees(found.clips),
        "damaged_by_kind": _numbers(
            kind for clip in damaged for kind in clip.broken.kinds
        ),
        "copies": [
            [str(found.clips[i].file.path) for i in group] for group in found.groups
        ],
        "repeats": training.n_repeats,
        "copies_by_word": copies_by_word(training),
        "contradictions": [
            [str(found.clips[i].file.path) for i in group]
            for group in found.contradictions
        ],
        "contest": asdict(CONTEST),
    }


def as_text(
    found: Survey,
    label_list: Mapping[str, int] | Sequence[str] = (),
    parts: Parts | None = None,
) -> str:
    """Return each figure beside the contest's, then the first examples of each finding.

    Args:
        found: by `survey`.
        label_list: see `as_json`.
        parts: see `as_json`.
    """
    told = as_json(found, label_list, parts)
    where = "" if parts is None else ", training part"
    lines = [
        ("", "these clips", "contest"),
        *_size_rows(told),
        *_class_rows(told, where),
    ]
    lines += _damage_rows(found, told, where)
    return "\n".join([*aligned(lines), *_examples(found, told)])


def sizes(resolutions: Mapping[str, int]) -> str:
    """The most frequent size, how many others there are, and the greatest.

    Example:
        >>> sizes({"224 x 224": 5, "96 x 64": 2, "3840 x 2160": 1})
        '224 x 224 and 2 other sizes, the greatest 3840 x 2160'
    """
    if not resolutions:
        return "none"
    first, *others = resolutions
    if not others:
        return f"{first}, all clips"
    greatest = max(resolutions, key=lambda size: math.prod(map(int, size.split(" x "))))
    most = "none greater" if greatest == first else f"the greatest {greatest}"
    return f"{first} and {counted(len(others), 'other size')}, {most}"


def is_large(width: int, height: int) -> bool:
    """Whether a clip has more than Full HD on either side, lying or upright."""
    return max(width, height) > LARGE[0] or min(width, height) > LARGE[1]


def damage_degrees(clips: Sequence[ClipFacts]) -> dict[str, int]:
    """Count the clips in each range of the share of broken frames.

    A share at a border counts in the range above it; the last range includes its
    upper border.
    """
    degrees = {"none": sum(not clip.broken.n_broken for clip in clips)}
    shares = [clip.broken.share for clip in clips if clip.broken.n_broken]
    for low, high in pairwise(DEGREES):
        last = high == DEGREES[-1]
        name = f"{low:.0%} to {high:.0%}" if last else f"{low:.0%} to under {high:.0%}"
        degrees[name] = sum(low <= share and (share < high or last) for share in shares)
    return degrees


def copies_by_word(found: Survey) -> dict[str, float]:
    """Return each word's share of repeated clips, greatest first, if above 0."""
    clips = Counter(clip.file.label for clip in found.clips)
    repeats: Counter[str] = Counter()
    for group in found.groups:
        for word, count in Counter(found.clips[i].file.label for i in group).items():
            repeats[word] += count - 1
    shares = {word: count / clips[word] for word, count in repeats.items() if count}
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def _size_rows(told: dict[str, Any]) -> list[tuple[str, str, str]]:
    parts = ", ".join(f"{part} {n:,}" for part, n in told["clips_by_part"].items())
    return [
        ("clips", f"{told['clips']:,}", f"{CONTEST.n_clips:,}"),
        *(
            [("clips of each part", parts, f"train {CONTEST.n_clips:,}")]
            if parts
            else []
        ),
        ("words", f"{told['words']:,}", f"{CONTEST.n_words:,}"),
        (
            "signers",
            f"{told['signers']:,}" if told["signers"] else "not stated",
            "not stated",
        ),
        ("resolution", sizes(told["resolutions"]), CONTEST.resolution),
        ("frames", spread(told["frames"]), CONTEST.frames),
        ("seconds", spread(told["seconds"]), CONTEST.seconds),
        ("clips of variable rate", f"{len(told['variable_rate']):,}", "not stated"),
    ]


def _class_rows(told: dict[str, Any], where: str) -> list[tuple[str, str, str]]:
    theirs = (CONTEST.head_words, CONTEST.body_words, CONTEST.tail_words)
    ends = list(told["class_counts"].values()) or [0]
    rows = [
        (f"most clips of a word{where}", f"{ends[0]:,}", CONTEST.most_clips),
        (f"fewest clips of a word{where}", f"{ends[-1]:,}", CONTEST.least_clips),
    ]
    for band, share in zip(BANDS, theirs, strict=True):
        words, clips = told["words_by_band"][band], told["clips_by_band"][band]
        ours = (
            f"{counted(words, 'word')} ({words / max(1, told['words']):.0%}),"
            f" {counted(clips, 'clip')}"
        )
        rows.append((f"{band}{where}", ours, f"{share:.0%} of the words"))
    return rows


def _damage_rows(
    found: Survey, told: dict[str, Any], where: str
) -> list[tuple[str, str, str]]:
    total = max(1, len(found.clips))
    clean, *rest = told["damage_degrees"].items()
    degrees = ", ".join(f"{name} {count:,}" for name, count in rest if count)
    kinds = ", ".join(
        f"{kind} {count:,}" for kind, count in told["damaged_by_kind"].items()
    )
    n_damaged = len(told["damaged"])
    worst = next(iter(told["copies_by_word"].items()), None)
    ours = f"{told['repeats']:,} repeat another one" + (
        f"; of {worst[0]} {worst[1]:.0%}" if worst else ""
    )
    return [
        (
            "clips without broken frames",
            f"{clean[1]:,} ({clean[1] / total:.0%})",
            CONTEST.clean_clips,
        ),
        (
            "clips with broken frames",
            f"{n_damaged:,} ({kinds})" if kinds else "0",
            CONTEST.broken_clips,
        ),
        ("share of broken frames in them", degrees or "none", CONTEST.broken_share),
        (f"copies{where}", ours, CONTEST.copies),
        ("files that cannot be opened", f"{len(found.unopened):,}", "not stated"),
    ]


def _examples(found: Survey, told: dict[str, Any]) -> list[str]:
    lines = []
    for title, rows in (
        ("cannot be opened", [one.reason for one in found.unopened]),
        ("broken frames", [_damage(one) for one in told["damaged"]]),
        ("variable frame rate", told["variable_rate"]),
        (f"larger than {LARGE[0]} x {LARGE[1]}, scaled while decoding", told["large"]),
        (
            "the same pictures under several words",
            [", ".join(group) for group in told["contradictions"]],
        ),
        ("copies", [", ".join(group) for group in told["copies"]]),
        ("words without a clip", told["words_without_clips"]),
    ):
        lines += examples(title, rows)
    return lines


def _damage(one: dict[str, Any]) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in one["frames"].items())
    return f"{one['path']}: {one['share']:.0%}, {kinds}"


def _numbers(names: Any) -> dict[str, int]:
    return dict(Counter(names).most_common())
