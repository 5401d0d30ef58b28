"""What a cleaning plan does, said clip by clip: text for readers, JSON for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from coursepkg.projects.sign_language.quality.classes import BANDS
from coursepkg.projects.sign_language.quality.plan import REASONS, CleaningPlan, KeptClip, RemovedClip

SHOWN = 5
"""Clips of each kind that the text names; JSON names all."""


def plan_as_text(plan: CleaningPlan) -> str:
    """How many clips go, are cut and stay, for which reasons, with the first of each by name."""
    total = len(plan.kept) + len(plan.removed)
    before, after = plan.before, plan.after
    lines = [f"cleaning: {len(plan.kept):,} of {total:,} clips stay, {len(plan.removed):,} go"]
    for reason in REASONS:
        gone = [one for one in plan.removed if one.reason == reason]
        lines += _block(f"gone, {reason}", [removal_as_text(one) for one in gone])
    lines += _block(
        "cut to their middle", [f"{one.file.path}: {one.start:.2f} to {one.stop:.2f} s" for one in plan.cut]
    )
    lines += _block(
        "stay without their broken frames",
        [f"{one.file.path}: {_without(one)}" for one in plan.kept if one.left_out or one.undecodable],
    )
    lines += _block(
        "copies of rare words that stay, for stronger augmentation",
        [str(one.file.path) for one in plan.strong],
    )
    bands = (f"{band} {before.words_by_band[band]:,} to {after.words_by_band[band]:,}" for band in BANDS)
    lines.append(f"words: {', '.join(bands)}")
    lines += _block("WORDS THAT LOSE ALL THEIR CLIPS", list(after.missing))
    return "\n".join(lines)


def plan_as_json(plan: CleaningPlan) -> dict[str, Any]:
    """Everything the plan does, every clip by its path."""
    return {
        "rules": asdict(plan.rules),
        "fingerprint": plan.fingerprint,
        "kept": len(plan.kept),
        "removed": [
            {"path": str(one.file.path), "label": one.file.label, "reason": one.reason, "detail": one.detail}
            for one in plan.removed
        ],
        "removed_by_reason": plan.removed_by_reason,
        "cut": [{"path": str(one.file.path), "start": one.start, "stop": one.stop} for one in plan.cut],
        "frames_left_out": {str(one.file.path): len(one.left_out) for one in plan.shortened},
        "strong": [str(one.file.path) for one in plan.strong],
        "class_counts_before": plan.before.counts,
        "class_counts_after": plan.after.counts,
        "words_that_lose_all": list(plan.after.missing),
    }


def removal_as_text(one: RemovedClip) -> str:
    """Why a clip goes, with the file's name once: what cannot be opened names it already."""
    name = str(one.file.path)
    return one.detail if one.detail.startswith(name) else f"{name}: {one.detail}"


def _without(one: KeptClip) -> str:
    """The frames that a clip loses: those that show nothing, and those that the decoder could not read."""
    lost = {"left out": len(one.left_out), "could not be decoded": one.undecodable}
    return ", ".join(f"{count} {how}" for how, count in lost.items() if count)


def _block(title: str, rows: Sequence[str]) -> list[str]:
    if not rows:
        return []
    more = [f"  ... and {len(rows) - SHOWN:,} more"] if len(rows) > SHOWN else []
    return [f"{title}: {len(rows):,}", *(f"  {row}" for row in rows[:SHOWN]), *more]
