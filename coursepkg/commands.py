"""Options of the subcommands that belong to no project: `bench` and `doctor`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from coursepkg.bench import SUITES, run_suite
from coursepkg.processor import check_threads


@dataclass(frozen=True)
class Bench:
    """Time the variants of a suite against each other after a check that they agree."""

    suite: Annotated[
        str,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="SUITE", help=f"One of {', '.join(SUITES)}."),
    ]
    """Suite to run, a key of `coursepkg.bench.SUITES`."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print one JSON document as the last line."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Also write the JSON document to this file."""
    threads: int = 1
    """CPU threads (at least 1). One thread is what the book quotes."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to run; auto takes the GPU where there is one."""

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ValueError(f"--threads must be at least 1, got {self.threads}")
        check_threads(self.threads)
        if self.out is not None and not self.out.absolute().parent.is_dir():
            raise ValueError(
                f"--out {self.out}: the folder {self.out.parent} does not exist; make"
                " it first"
            )
        if self.out is not None and self.out.is_dir():
            raise ValueError(
                f"--out {self.out} is a folder; name a file in it, such as"
                f" {self.out / 'result.json'}"
            )

    def run(self) -> int:
        """Run the suite and return its exit code."""
        return run_suite(
            self.suite,
            threads=self.threads,
            device=self.device,
            out=self.out,
            json=self.json,
        )


@dataclass(frozen=True)
class Doctor:
    """Check this machine and say what to do about each thing that is missing."""

    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print one JSON document as the last line."""

    def run(self) -> int:
        """Print every check; return 1 where something required is missing."""
        from coursepkg.doctor import examine, report

        return report(examine(), as_json=self.json)
