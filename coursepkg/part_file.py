"""A file that grows in `OUT.part` until it is whole, so that a run that was stopped can go on.

`OUT.part.json` says what the part is the beginning of. A part of something else is refused; a half-written last line
is cut off.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coursepkg.files import part_of, whole_file
from coursepkg.training.run_card import read_card


class PartFile:
    """The part of a file that is there, and what is added to it.

    Args:
        out: the file to be.
        identity: all that decides its content, as JSON can hold it or as text.

    Raises:
        ValueError: there is a part of another identity.
    """

    def __init__(self, out: Path, identity: Mapping[str, Any]) -> None:
        self.out = out
        self.path, self.card = part_of(out), out.with_name(out.name + ".part.json")
        wanted = dict(json.loads(json.dumps(identity, default=str)))
        self.n_lines = 0
        """Whole lines that an earlier run wrote."""
        if self.path.exists():
            self._check(wanted)
            self.n_lines = self._cut_off()
        else:
            with whole_file(self.card) as file:
                file.write(json.dumps(wanted).encode())
            self.path.touch()

    def lines(self) -> Iterator[str]:
        """The lines that are there, one at a time."""
        with self.path.open("rb") as file:
            for line in file:
                yield line.decode()

    def write(self, text: str) -> None:
        """Add whole lines, and wait for the disk."""
        with self.path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Give the part its name: all is there."""
        os.replace(self.path, self.out)
        self.card.unlink()

    def discard(self) -> None:
        """Remove the part, which has served its turn."""
        self.path.unlink()
        self.card.unlink()

    def _check(self, wanted: dict[str, Any]) -> None:
        stored = read_card(self.card) if self.card.exists() else {}
        names = wanted.keys() | stored.keys()
        differ = sorted(name for name in names if wanted.get(name) != stored.get(name))
        if differ:
            raise ValueError(
                f"{self.path} belongs to another command (it differs in {', '.join(differ)}); remove it or choose "
                "another --out"
            )

    def _cut_off(self) -> int:
        whole = count = 0
        with self.path.open("rb+") as file:
            for line in file:
                if line.endswith(b"\n"):
                    whole, count = whole + len(line), count + 1
            file.truncate(whole)
        return count


class Kept:
    """Results that are made one after the other, and kept in a `PartFile` until all is done.

    Args:
        part: one JSON document a line, for each result that is there.
    """

    def __init__(self, part: PartFile) -> None:
        self.part = part
        self._there = part.lines() if part.n_lines else iter(())

    def result(self, make: Callable[[], list[str]]) -> list[str]:
        """The next result: the one that is kept, or else one that is made now and kept."""
        line = next(self._there, None)
        if line is not None:
            return list(json.loads(line))
        made = make()
        self.part.write(json.dumps(made, ensure_ascii=False) + "\n")
        return made
