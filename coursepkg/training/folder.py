"""The folder of a run: started, resumed and written by the first process alone."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from coursepkg.training.checkpoint import (
    LAST,
    point_to_best,
    read_checkpoint,
    tidy,
    write_checkpoint,
)
from coursepkg.training.config import ADDED_SETTINGS, CHANGEABLE
from coursepkg.training.log import CsvLog
from coursepkg.training.state import Run
from coursepkg.validation import differences, python_number

STEPS, VALIDATIONS = "log.csv", "validation.csv"


class RunFolder:
    """Where a run leaves what outlives it."""

    def __init__(self, path: Path | None, run: Run, learnt: dict[str, Any]) -> None:
        self.path, self.run, self.learnt = path, run, learnt
        writes = path if run.fabric.is_global_zero else None
        self.steps = CsvLog(writes and writes / STEPS)
        self.validations = CsvLog(writes and writes / VALIDATIONS)
        self.saved_step = 0

    def open(self, *, resume: bool) -> None:
        """Make the folder, or go on from the last checkpoint in it.

        Raises:
            ValueError: there is a run already and `resume` is False, or it was trained
                with other settings, or its checkpoint is damaged.
            OSError: a file of it is missing, or the folder cannot be made.
        """
        if self.path is None:
            return
        if not resume and _holds_run(self.path):
            raise ValueError(
                f"{self.path} already holds a run; resume it (resume=True, --resume) or"
                " choose another folder"
            )
        self.run.fabric.barrier()
        if self.run.fabric.is_global_zero:
            self.path.mkdir(parents=True, exist_ok=True)
        if (self.path / LAST).exists():
            self._go_on(self.path)
        if self.run.fabric.is_global_zero:
            tidy(self.path, self.run.progress.step)
            self.steps.cut_back(self.run.progress.step)
            self.validations.cut_back(self.run.progress.step)
        self.run.fabric.barrier()

    def save(self) -> None:
        """Write a checkpoint of this step, if there is none; every process calls it."""
        progress = self.run.progress
        if self.path is None or self.saved_step == progress.step:
            return
        tensors = self.run.tensors()
        if self.run.fabric.is_global_zero:
            self.steps.sync()
            self.validations.sync()
            write_checkpoint(
                self.path,
                progress.step,
                tensors,
                self.run.state() | {"identity": self._identity()},
                best_step=progress.best_step,
                keep=self.run.config.keep_last,
            )
        self.run.fabric.barrier()
        self.saved_step = progress.step

    def _go_on(self, path: Path) -> None:
        checkpoint = read_checkpoint(path)
        _check_identity(path, checkpoint.state["identity"], self._identity())
        self.run.load(checkpoint.tensors(), checkpoint.state)
        self.saved_step = self.run.progress.step
        if self.run.fabric.is_global_zero:
            point_to_best(path, self.run.progress.best_step)

    def _identity(self) -> dict[str, Any]:
        """What must be the same when a run is resumed, as JSON gives it back."""
        config = getattr(self.run.module, "config", None)
        fields = self.run.config.described()
        identity = {
            "processes": self.run.fabric.world_size,
            **self.learnt,
            **{name: value for name, value in fields.items() if name not in CHANGEABLE},
        }
        if dataclasses.is_dataclass(config) and not isinstance(config, type):
            identity |= {
                f"model.{name}": value
                for name, value in dataclasses.asdict(config).items()
            }
        return json.loads(json.dumps(identity, default=python_number))


def _holds_run(path: Path) -> bool:
    return any((path / name).exists() for name in (LAST, STEPS, VALIDATIONS))


def _check_identity(
    path: Path, stored: dict[str, Any], present: dict[str, Any]
) -> None:
    differ = differences(ADDED_SETTINGS | stored, present, "{name} was {old}, is {new}")
    if differ:
        raise ValueError(
            f"{path} cannot be resumed with other settings: {differ};"
            " restore them or choose another folder"
        )
