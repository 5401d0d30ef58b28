"""Answers to many clips, in memory that does not grow, into files that a run which was stopped goes on with.

Answers grow in `OUT.part`, a JSON document a line, a batch of clips at a time; `OUT.part.json` says what they are
answers to. The same command goes on behind the last whole line. At the end the part gets its name, or becomes the
contest's file.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from coursepkg.files import check_new
from coursepkg.part_file import PartFile
from coursepkg.projects.sign_language.clip_sources import ClipSource, ClipSources
from coursepkg.projects.sign_language.contest import write_answers
from coursepkg.projects.sign_language.recognizer import Recognition, SignRecognizer

T = TypeVar("T")
Say = Callable[[str], None]


@dataclass
class Tally:
    """What was done, in an earlier run of the same command or in this one."""

    clips: int = 0
    """Videos that were looked at, those that cannot be read included."""
    failed: int = 0
    """Videos that cannot be read."""
    resumed: int = 0
    """Answers that an earlier run had written."""

    @property
    def exit_code(self) -> int:
        """0 where all could be read, 1 where some, 2 where none could."""
        return 0 if not self.failed else 1 if self.failed < self.clips else 2

    def __str__(self) -> str:
        said = f"{self.clips - self.failed:,} of {self.clips:,} videos read"
        return said + (f"; {self.resumed:,} answers were there from an earlier run" if self.resumed else "")


@dataclass(frozen=True)
class Places:
    """What a run writes; a place of None is not written, and without any answers are printed."""

    out: Path | None = None
    """JSON, a document a line."""
    contest: Path | None = None
    """The contest's file of answers."""

    def check(self) -> None:
        """Raises a ValueError unless all of it can be written."""
        named = {"--out": self.out, "--contest": self.contest}
        for flag, path in named.items():
            if path is None:
                continue
            if not path.absolute().parent.is_dir():
                raise ValueError(f"{flag} {path}: the folder does not exist; make it first")
            check_new(path, f"remove it or choose another {flag}")
        if (
            self.out is not None
            and self.contest is not None
            and self.out.absolute() == self.contest.absolute()
        ):
            raise ValueError(f"--out and --contest are both {self.out}; give each a file of its own")

    @property
    def journal(self) -> Path | None:
        """The file whose part holds what was done so far."""
        return self.out or self.contest

    @property
    def written(self) -> list[Path]:
        """Files of the run itself, which no run reads."""
        named = [path for path in (self.out, self.contest) if path is not None]
        endings = ("", ".part", ".part.json", ".whole")
        return [path.with_name(path.name + ending) for path in named for ending in endings]


def answer_clips(
    recognizer: SignRecognizer,
    sources: ClipSources,
    places: Places,
    *,
    n_best: int = 1,
    batch_size: int = 32,
    show: Callable[[dict[str, Any]], None] = lambda record: None,
    say: Say = lambda line: None,
) -> Tally:
    """Name the word of every clip, in order.

    Args:
        recognizer: the model.
        sources: the clips.
        places: what is written.
        n_best: words of each clip.
        batch_size: clips at once, and answers that are written at once.
        show: receives each answer that this run gives.
        say: receives one line for each clip that cannot be read or is flawed, and some about how far the run is.

    Raises:
        ValueError: the part beside an output belongs to another command, or an output cannot be written.
        ImportError: av is not installed.
    """
    tally = Tally()
    part: PartFile | None = None
    if places.journal is not None:
        decides = {"inputs": sources.fingerprint, "model": recognizer.fingerprint, "n_best": n_best}
        part = PartFile(places.journal, decides)
        for record in _records(part):
            _count(tally, record)
        tally.resumed = tally.clips
    for chunk in chunks(iter(sources.files[tally.resumed :]), batch_size):
        found = recognizer.recognize_each(
            [one.path for one in chunk], n_best=n_best, batch_size=batch_size, keep_going=True
        )
        records = [clip_record(source, one) for source, one in zip(chunk, found, strict=True)]
        if part is not None:
            part.write("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records))
        for record in records:
            _count(tally, record)
            show(record)
            if record["error"] or record["flaw"]:
                say(f"error: {record['error']}" if record["error"] else f"note: {record['flaw']}")
        if part is not None and tally.clips < len(sources.files):
            say(f"{tally.clips:,} of {len(sources.files):,} clips")
    if part is not None:
        _finish(part, places, recognizer.labels, tally)
    return tally


def clip_record(source: ClipSource, found: Recognition) -> dict[str, Any]:
    """An answer as JSON has it; probabilities and weights with four digits, times in milliseconds' precision."""
    return {
        "clip": readable(source.name),
        "label": found.label,
        "confidence": round(found.confidence, 4),
        "candidates": [[word, round(p, 4)] for word, p in found.candidates],
        "seconds": [round(t, 3) for t in found.times.tolist()],
        "weights": None if found.weights is None else [round(w, 4) for w in found.weights.tolist()],
        "flaw": readable(found.flaw),
        "error": readable(found.error),
    }


def readable(name: str) -> str:
    """A name that can be written as UTF-8: bytes of a file name that are none become question marks."""
    return name.encode("utf-8", "replace").decode()


def chunks(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """The items, so many at a time."""
    while chunk := list(islice(items, size)):
        yield chunk


def _records(part: PartFile) -> Iterator[dict[str, Any]]:
    for line in part.lines():
        yield json.loads(line)


def _count(tally: Tally, record: dict[str, Any]) -> None:
    tally.clips += 1
    tally.failed += bool(record["error"])


def _finish(part: PartFile, places: Places, labels: Sequence[str], tally: Tally) -> None:
    """Give the outputs their names; where no clip could be read there is nothing to keep."""
    if tally.exit_code == 2:
        part.discard()
        return
    if places.contest is not None:
        # Beside its own part, which holds the answers.
        whole = places.contest.with_name(f"{places.contest.name}.whole")
        write_answers(whole, ((one["clip"], one["label"]) for one in _records(part)), labels)
        os.replace(whole, places.contest)
    if places.out is not None:
        part.finish()
    else:
        part.discard()
