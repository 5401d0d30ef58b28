"""Where readings go: a file of JSON lines, plain text, pictures of overlays, or the screen.

A file grows in `OUT.part`, a page a line; a run that was stopped goes on behind the last whole one.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursepkg.files import check_new, part_of, whole_file
from coursepkg.part_file import PartFile
from coursepkg.projects.ocr.page.overlay import write_overlay
from coursepkg.projects.ocr.page.page import Page
from coursepkg.projects.ocr.page.record import page_record
from coursepkg.projects.ocr.page.sources import PagePicture, page_title
from coursepkg.wording import counted

DRAWN = (".png", ".jpg", ".jpeg")
"""Names of overlays end in one of these."""


@dataclass(frozen=True)
class Places:
    """What a run writes; a place of None is not written, and without `out` and `text` readings are printed."""

    out: Path | None = None
    """JSON, a page a line: see `record`."""
    text: Path | None = None
    """Plain text of all pages."""
    overlay: Path | None = None
    """A picture where `one_page`, and else a folder of pictures."""
    one_page: bool = True
    """Whether one picture of one page is read, whose text needs no heading."""
    single_lines: bool = False
    """Whether pictures show one line each; their text is then a row of a table: name, tab, text."""

    def check(self) -> None:
        """Raises a ValueError unless all of it can be written."""
        named = {"--out": self.out, "--text": self.text, "--overlay": self.overlay}
        seen: dict[Path, str] = {}
        for flag, path in named.items():
            if path is None:
                continue
            if not path.absolute().parent.is_dir():
                raise ValueError(f"{flag} {path}: the folder does not exist; make it first")
            if path.absolute() in seen:
                raise ValueError(
                    f"{seen[path.absolute()]} and {flag} are both {path}; give each a file of its own"
                )
            seen[path.absolute()] = flag
        if self.overlay is not None:
            self._check_overlay(self.overlay)
        for flag, path in named.items():
            if path is not None and path.exists() and not (flag == "--overlay" and self._goes_on_over_it):
                if path.is_dir():
                    raise ValueError(f"{flag} {path} is a folder; name a file")
                check_new(path, f"remove it or choose another {flag}")

    @property
    def kept(self) -> Path | None:
        """The file that grows page by page, from which a run that was stopped goes on; None where nothing is kept."""
        if self.out is not None:
            return self.out
        # The text itself is written at the end, from these records.
        return None if self.text is None else self.text.with_name(self.text.name + ".jsonl")

    @property
    def _goes_on_over_it(self) -> bool:
        # A run that was stopped has drawn the one picture before it wrote the record of the page.
        return not self.one_page or (self.kept is not None and part_of(self.kept).exists())

    def _check_overlay(self, path: Path) -> None:
        ending = path.suffix.lower()
        if self.one_page and ending not in DRAWN:
            raise ValueError(f"--overlay {path} must end in {', '.join(DRAWN)}, since one picture is read")
        if not self.one_page and not path.is_dir() and (ending in DRAWN or path.exists()):
            raise ValueError(
                f"--overlay {path} is one picture, and there may be several pages; name a folder"
            )

    def written(self) -> list[Path]:
        """Files and folders that hold a run's own results, which no run reads."""
        named = [path.absolute() for path in (self.out, self.text, self.overlay) if path is not None]
        return [*named, *map(part_of, named)]


@dataclass
class Tally:
    """What was done, in an earlier run of the same command or in this one."""

    pages: int = 0
    """That were read, empty ones included."""
    lines: int = 0
    """Of text."""
    empty: int = 0
    """Pages without any text."""
    unread: int = 0
    """Boxes in which nothing was read, on pages with text: frames, drawings, or print that is beyond the recogniser."""
    failed: list[str] = field(default_factory=list)
    """Files with pages that could not be read, each once."""
    texts: list[str] | None = None
    """Of all pages, where they are to be kept, as for a score."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a page."""
        if record["error"] is not None:
            if record["file"] not in self.failed:
                self.failed.append(record["file"])
            return
        self.pages += 1
        self.lines += len(record["lines"])
        self.empty += not record["lines"]
        self.unread += record["left_out"].get("empty", 0) if record["lines"] else 0
        if self.texts is not None:
            self.texts.append(record["text"])

    @property
    def so_far(self) -> str:
        """How far a run is, without names."""
        said = f"{counted(self.pages, 'page')}, {counted(self.lines, 'line')} so far"
        return said + (f", {counted(len(self.failed), 'file')} not read" if self.failed else "")

    def __str__(self) -> str:
        said = f"{counted(self.pages, 'page')} read, {counted(self.lines, 'line')}"
        if self.empty:
            said += f"; without text: {counted(self.empty, 'page')}"
        if self.unread:
            said += f"; boxes in which nothing was read: {self.unread:,}"
        if self.failed:
            shown = ", ".join(self.failed[:5]) + (" and more" if len(self.failed) > 5 else "")
            said += f"; could not be read: {counted(len(self.failed), 'file')} ({shown})"
        return said


class Output:
    """What was read so far, and what is added to it.

    Args:
        places: where to.
        identity: all that decides the result; a part of another identity is refused.
        keep_texts: whether the tally keeps what was read.

    Raises:
        ValueError: there is a part of another run.
    """

    def __init__(self, places: Places, identity: Mapping[str, Any], *, keep_texts: bool = False) -> None:
        self.places = places
        self.tally = Tally(texts=[] if keep_texts else None)
        self.last: dict[str, Any] | None = None
        """The record of the last page."""
        self.done: Counter[str] = Counter()
        """Pages of each file that an earlier run wrote."""
        self.part = _part(places, identity)
        for record in self._records():
            self.done[record["file"]] += 1
            self.tally.add(record)

    def write(self, picture: PagePicture, page: Page | str) -> None:
        """Add a page, or why there is none."""
        record = page_record(picture, page)
        if self.places.overlay is not None and isinstance(page, Page) and picture.image is not None:
            # Before the record, so that a run that goes on has drawn what it does not read again.
            self._draw(self.places.overlay, picture, page)
        if self.part is not None:
            self.part.write(json.dumps(record, ensure_ascii=False) + "\n")
        elif record["error"] is None:
            print(plain_text(record, self.places), end="", flush=True)
        self.tally.add(record)
        self.last = record

    def finish(self) -> None:
        """Give the outputs their names."""
        if self.part is None:
            return
        if self.places.text is not None:
            with whole_file(self.places.text) as file:
                for record in self._records():
                    file.write(plain_text(record, self.places).encode())
        if self.places.out is not None:
            self.part.finish()
        else:
            self.part.discard()

    def discard(self) -> None:
        """Leave nothing behind where nothing could be read."""
        if self.part is not None:
            self.part.discard()

    def _records(self) -> Iterator[dict[str, Any]]:
        if self.part is not None:
            for line in self.part.lines():
                yield json.loads(line)

    def _draw(self, path: Path, picture: PagePicture, page: Page) -> None:
        assert picture.image is not None
        if not self.places.one_page:
            ending = f"-{picture.number:04}.png" if picture.n_pages != 1 else ".png"
            path = path / (picture.source.name + ending)
            path.parent.mkdir(parents=True, exist_ok=True)
        write_overlay(path, picture.image, page)


def plain_text(record: Mapping[str, Any], places: Places) -> str:
    """A page as plain text, with a heading where there may be others; nothing of one that could not be read."""
    if record["error"] is not None:
        return ""
    text = record["text"] + "\n" if record["text"] else ""
    if places.one_page:
        return text
    title = page_title(record["file"], record["page"], record["pages"])
    return f"{title}\t{record['text']}\n" if places.single_lines else f"== {title}\n{text}\n"


def _part(places: Places, identity: Mapping[str, Any]) -> PartFile | None:
    return None if places.kept is None else PartFile(places.kept, identity)
