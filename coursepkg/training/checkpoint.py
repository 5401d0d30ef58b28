"""The checkpoints of a run: folders that appear whole, and two pointers.

    OUT/step-120/    {model,optimizer,rng}.safetensors, state.json
    OUT/last.json    names the folder to resume from
    OUT/best.json    names the folder of the best validation

A folder grows as `step-120.part` and gets its name when everything in it is on the
disk; then the pointers are replaced; then folders that are no longer needed go. Killed
at any moment, this leaves the checkpoint before, or the new one. There is no pickle.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from coursepkg.files import (
    Fingerprint,
    part_of,
    read_json,
    read_tensors,
    write_json,
    write_tensors,
)

LAST, BEST, STATE = "last.json", "best.json", "state.json"


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint folder holds."""

    folder: Path
    state: dict[str, Any]
    """Everything that is no tensor."""
    files: dict[str, Fingerprint]
    """Fingerprints of its safetensors files."""

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """All its tensors: by file, then by name.

        Raises:
            OSError: a file is missing.
            ValueError: a file is cut short or was changed.
        """
        return {
            Path(name).stem: read_tensors(self.folder / name, seal)
            for name, seal in self.files.items()
        }


def write_checkpoint(
    out: Path,
    step: int,
    tensors: dict[str, dict[str, Tensor]],
    state: dict[str, Any],
    *,
    best_step: int | None,
    keep: int,
) -> None:
    """Store a checkpoint, point to it, and remove what is no longer pointed to.

    Raises:
        OSError: it cannot be written; nothing half-written stays, and the checkpoint
            before is as it was.
    """
    folder, part = out / f"step-{step}", out / f"step-{step}.part"
    try:
        part.mkdir()
        files = {f"{name}.safetensors": content for name, content in tensors.items()}
        seals = {
            name: write_tensors(part / name, content) for name, content in files.items()
        }
        seal = write_json(part / STATE, {"state": state, "files": seals})
        os.rename(part, folder)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        raise
    write_json(out / LAST, {"folder": folder.name, "state": seal})
    if best_step == step:
        point_to_best(out, step)
    for old in _folders(out)[:-keep]:
        if _step(old) != best_step:
            _remove(old)


def point_to_best(out: Path, best_step: int | None) -> None:
    """Let best.json name last.json's checkpoint if it is best, after a kill between."""
    last = read_json(out / LAST)
    if best_step is not None and last["folder"] == f"step-{best_step}":
        write_json(out / BEST, {"folder": last["folder"], "state": last["state"]})


def read_checkpoint(out: str | Path, which: str = "last") -> Checkpoint:
    """The last or the best checkpoint of a run.

    Raises:
        FileNotFoundError: there is none, or a file of it is missing.
        ValueError: a file is damaged or of a newer format.
    """
    if which not in ("last", "best"):
        raise ValueError(f"which must be last or best, got {which!r}")
    if (
        which == "best"
        and not (Path(out) / BEST).exists()
        and (Path(out) / LAST).exists()
    ):
        raise FileNotFoundError(
            f"{Path(out) / BEST}: this run was never validated; take its last"
            " checkpoint instead"
        )
    pointer = read_json(
        Path(out) / f"{which}.json", needs={"folder": str, "state": dict}
    )
    folder = Path(out) / pointer["folder"]
    content = read_json(
        folder / STATE, pointer["state"], needs={"state": dict, "files": dict}
    )
    return Checkpoint(folder, content["state"], content["files"])


def weight_files(out: str | Path) -> list[Path]:
    """The weights of a run's kept checkpoints, oldest first."""
    return [folder / "model.safetensors" for folder in _folders(Path(out))]


def tidy(out: Path, step: int) -> None:
    """Remove what a kill left: half-written checkpoints and those after `step`."""
    for part in sorted(
        [*out.glob("step-*.part"), *out.glob("*.json.part"), *out.glob("*.csv.part")]
    ):
        print(
            f"{part} was left half-written by a run that was stopped; removed it",
            file=sys.stderr,
        )
        shutil.rmtree(part) if part.is_dir() else part.unlink()
    for folder in _folders(out):
        if _step(folder) > step:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a checkpoint; a kill on the way leaves nothing that looks like one."""
    part = part_of(folder)
    os.rename(folder, part)
    shutil.rmtree(part)


def _folders(out: Path) -> list[Path]:
    found = (f for f in out.glob("step-*") if f.name.removeprefix("step-").isdecimal())
    return sorted(found, key=_step)


def _step(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))
