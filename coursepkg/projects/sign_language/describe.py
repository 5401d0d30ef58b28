"""Figures of a data set that need no frame beyond the first of each video: what `describe` prints."""

from collections import Counter
from contextlib import suppress
from typing import Any

from coursepkg.projects.sign_language.data.facts import probe
from coursepkg.projects.sign_language.quality import report
from coursepkg.projects.sign_language.quality.classes import count_classes
from coursepkg.projects.sign_language.videos import Videos


def statistics(videos: Videos) -> dict[str, Any]:
    """Classes, sizes and lengths of the videos that open, and how many do not.

    Where the clips are parted already, words and bands are of the training part: its long tail would not show in a
    count of all parts together.
    """
    opened = []
    for file in videos.files:
        with suppress(ValueError, OSError):  # counted below; `audit` names each
            opened.append(probe(file.path))
    parts = videos.given_files
    trained = videos.files if parts is None else parts["train"]
    counts = count_classes([file.label for file in trained], videos.labels)
    return {
        "clips by part": {part: len(files) for part, files in (parts or {}).items()},
        "words counted in": "all clips" if parts is None else "training part",
        "words by band": counts.words_by_band,
        "clips by band": counts.clips_by_band,
        "most clips of a word": max(counts.counts.values()),
        "fewest clips of a word": min(counts.counts.values()),
        "resolutions": dict(Counter(f"{one.width} x {one.height}" for one in opened).most_common()),
        "frames": report.summary([len(one.times) for one in opened]),
        "seconds": report.summary([one.seconds for one in opened]),
        "frames a second": report.summary([one.fps for one in opened]),
        "variable rate": sum(one.has_variable_rate for one in opened),
        "unreadable": len(videos.files) - len(opened),
    }


def statistics_as_text(told: dict[str, Any]) -> str:
    """What `statistics` found, for readers."""
    parts = told["clips by part"]
    where = ", training part" if parts else ""
    rows = [("clips of each part", _numbers(parts))] if parts else []
    rows += [(f"{name}{where}", _numbers(told[name])) for name in ("words by band", "clips by band")]
    rows += [
        (f"{name}{where}", f"{told[name]:,}") for name in ("most clips of a word", "fewest clips of a word")
    ]
    rows.append(("resolution", report.sizes(told["resolutions"])))
    rows += [(name, report.spread(told[name])) for name in ("frames", "seconds", "frames a second")]
    rows.append(("clips of variable rate", f"{told['variable rate']:,}"))
    rows.append(("files that cannot be opened", f"{told['unreadable']:,}"))
    return "\n".join(f"{name}: {value}" for name, value in rows)


def _numbers(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
