"""Cleaning plans as files, so that a data set is looked at once and trained on many times.

Files are named relative to the folder of the data, so a plan made on one machine holds on another.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.quality.plan import CleaningPlan, CleaningRules, KeptClip, RemovedClip
from coursepkg.training.files import read_json, write_json

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
            {"path": _relative(one.file, folder), "reason": one.reason, "detail": one.detail}
            for one in plan.removed
        ],
    }
    write_json(Path(path), content)


def read_plan(path: str | Path, files: Sequence[ClipFile], folder: str | Path) -> CleaningPlan:
    """Read a plan for the clips that it was made for.

    Args:
        path: of the file.
        files: all clips that the plan is about, in any order.
        folder: of the data set.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no plan, or about other clips; the first that differs is named.
    """
    path = Path(path)
    told = read_json(
        path, needs={"kind": str, "rules": dict, "kept": list, "removed": list, "fingerprint": str}
    )
    if told["kind"] != KIND:
        raise ValueError(f"{path}: a {told['kind']}, not a {KIND}; make one of these clips first")
    known = {_relative(file, folder): file for file in files}
    try:
        rules = CleaningRules(**told["rules"])
        named = [row["path"] for row in (*told["kept"], *told["removed"])]
        _check_names(path, named, known)
        plan = CleaningPlan(
            rules,
            tuple(_kept(row, known) for row in told["kept"]),
            tuple(RemovedClip(known[row["path"]], row["reason"], row["detail"]) for row in told["removed"]),
        )
    except (KeyError, TypeError) as reason:
        raise ValueError(f"{path}: not a {KIND} of this version ({reason}); make it again") from None
    if plan.fingerprint != told["fingerprint"]:
        raise ValueError(f"{path}: the plan was changed, or clips have other words now; make it again")
    return plan


def _kept(row: dict[str, Any], known: dict[str, ClipFile]) -> KeptClip:
    stop = float("inf") if row["stop"] is None else float(row["stop"])
    left_out = tuple(float(moment) for moment in row["left_out"])
    file, start, strong = known[row["path"]], float(row["start"]), bool(row["strong"])
    return KeptClip(file, start, stop, left_out, strong, int(row.get("undecodable", 0)))


def _check_names(path: Path, named: Sequence[str], known: dict[str, ClipFile]) -> None:
    new, gone = sorted(set(known) - set(named)), sorted(set(named) - set(known))
    if new:
        raise ValueError(f"{path}: the plan does not know {new[0]}; make it again for these clips")
    if gone:
        raise ValueError(f"{path}: the plan is about {gone[0]}, which is not among the clips; make it again")


def _relative(file: ClipFile, folder: str | Path) -> str:
    return Path(os.path.relpath(file.path, folder)).as_posix()
