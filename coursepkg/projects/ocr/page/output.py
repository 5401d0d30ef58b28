"""Where readings go: JSON lines, plain text, pictures of overlays, or the screen.

A file grows in `OUT.part`, a page a line; a run that was stopped goes on behind it. The
JSON of a page:

schema      "coursepkg.ocr.page/1"; the number grows when a field changes its meaning
file        the picture or PDF, as it was given or found
page        number in the file, from 1
pages       of the file; 1 where it cannot be opened
dpi         pixels to the inch at which a PDF's page was drawn; 0 for pictures
width       of the upright picture, in pixels; 0 where it could not be read
height      of the upright picture, in pixels; 0 where it could not be read
text        the whole page: rows joined by line feeds, what stands in one row by spaces
lines       in reading order, each an object:
    row         number of its row, from 0
    text        Unicode form NFC
    confidence  in [0, 1]: geometric mean over its characters and the end behind them
    score       of the detector, in [0, 1]; 1 where no detector was used
    corners     four points [x, y] in pixels of the upright picture, clockwise from the
                upper left corner of the text as it is read
fields      what a receipt says: seller, address, timestamp and total, each an object
            {value, text, confidence, lines}, and a reason where value is null
    value       seller, address: text; timestamp: ISO 8601 to the minute, or the date
                alone; total: integer dong; null where it cannot be said for certain
    text        the lines that say it, as they were read, joined by spaces
    confidence  in [0, 1]: the least of its lines, less where its place alone tells it,
                at most 0.8 where arithmetic corrects or contradicts the total; 0
                without a value
    lines       numbers of these lines in `lines`, from 0
    reason      why there is no value, and where the picture cuts the text
    items       goods, each {name, quantity, price, amount, lines}; quantity and price
                are null where they are not printed; price and amount in dong
    notes       what was corrected, assumed, or does not add up, one line each
left_out    boxes that gave no line, by reason: score, confidence, empty, crop
error       null, or in one line why the page could not be read; it then has no lines
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursepkg.app import jobs
from coursepkg.files import part_of, whole_file
from coursepkg.projects.ocr.detector.lines import Detector, TextBox
from coursepkg.projects.ocr.line import LineRecognizer
from coursepkg.projects.ocr.options import ReadOptions
from coursepkg.projects.ocr.page.read import (
    LEFT_OUT,
    Page,
    PageLine,
    read_page,
    read_single_lines,
)
from coursepkg.projects.ocr.page.sources import PagePicture, open_pages, page_title
from coursepkg.validation import counted

if TYPE_CHECKING:
    from coursepkg.projects.ocr.fields.line_tagger import LineTagger

SCHEMA = "coursepkg.ocr.page/1"


def page_record(
    picture: PagePicture,
    page: Page | str,
    *,
    with_fields: bool = True,
    tagger: "LineTagger | None" = None,
) -> dict[str, Any]:
    """The object of a page, or of one that could not be read, with the reason.

    Args:
        picture: where it is from.
        page: what was read, or why nothing was.
        with_fields: look for the fields of a receipt; plain text needs none.
        tagger: finds the fields in place of the rules.
    """
    error, read = (page, None) if isinstance(page, str) else (None, page)
    read = read or Page(0, 0, (), dict.fromkeys(LEFT_OUT, 0))
    told: dict[str, Any] = {}
    if with_fields:
        from coursepkg.projects.ocr.fields.rules import extract_fields, no_fields

        extract = extract_fields if tagger is None else tagger.extract_fields
        unread = "the page could not be read"
        size = read.width, read.height
        found = no_fields(unread) if error else extract(read.lines, size)
        told["fields"] = found.as_json()
    return {
        "schema": SCHEMA,
        "file": str(picture.source.path),
        "page": picture.number,
        "pages": picture.n_pages,
        "dpi": picture.dpi,
        "width": read.width,
        "height": read.height,
        "text": read.text,
        "lines": [_line_record(line) for line in read.lines],
        **told,
        "left_out": dict(read.left_out),
        "error": error,
    }


def record_page(record: dict[str, Any]) -> Page:
    """The page of an object that `page_record` made, to a tenth of a pixel.

    Raises:
        ValueError: it is of another schema, damaged, or of a page that could not be
            read.
    """
    if record.get("schema") != SCHEMA:
        raise ValueError(
            f"a page must have the schema {SCHEMA!r}, got {record.get('schema')!r}"
        )
    if record.get("error") is not None:
        raise ValueError(f"the page could not be read: {record['error']}")
    try:
        lines = tuple(
            PageLine(
                TextBox(np.array(one["corners"], dtype=np.float64), one["score"]),
                one["row"],
                one["text"],
                one["confidence"],
            )
            for one in record["lines"]
        )
        return Page(record["width"], record["height"], lines, dict(record["left_out"]))
    except (KeyError, TypeError) as reason:
        raise ValueError(f"the object of a page is damaged: {reason}") from reason


def _line_record(line: PageLine) -> dict[str, Any]:
    return {
        "row": line.row,
        "text": line.text,
        "confidence": round(line.confidence, 4),
        "score": round(line.box.score, 4),
        "corners": [
            [round(value, 1) for value in corner]
            for corner in line.box.corners.tolist()
        ],
    }


DRAWN = (".png", ".jpg", ".jpeg")
"""Names of overlays end in one of these."""


@dataclass(frozen=True)
class OutputPaths:
    """What a run writes; without `out` and `text` readings are printed."""

    out: Path | None = None
    """JSON, a page a line, see `page_record`."""
    text: Path | None = None
    """Plain text of all pages."""
    overlay: Path | None = None
    """A picture where `one_page`, and else a folder of pictures."""
    one_page: bool = True
    """Whether one picture of one page is read, whose text needs no heading."""
    single_lines: bool = False
    """Whether pictures show one line each; their text is then a row of a table: name,
    tab, text."""

    def check(self) -> None:
        """Raises a ValueError unless all of it can be written."""
        if self.overlay is not None:
            self._check_overlay(self.overlay)
        # A run that was stopped has drawn the one picture before it wrote the record
        # of the page.
        kept = self.kept
        is_begun = kept is not None and part_of(kept.absolute()).exists()
        goes_on = not self.one_page or is_begun
        self._named.check(may_exist=["--overlay"] if goes_on else [])

    @property
    def _named(self) -> jobs.OutputPaths:
        named = {"--out": self.out, "--text": self.text, "--overlay": self.overlay}
        return jobs.OutputPaths(named)

    @property
    def kept(self) -> Path | None:
        """The file that grows page by page and is resumed; None without one."""
        if self.out is not None or self.text is None:
            return self.out
        # The text itself is written at the end, from these records.
        return self.text.parent / f"{self.text.name}.jsonl"

    def _check_overlay(self, path: Path) -> None:
        ending = path.suffix.lower()
        if self.one_page and ending not in DRAWN:
            raise ValueError(
                f"--overlay {path} must end in {', '.join(DRAWN)}, since one picture is"
                " read"
            )
        is_file = not path.is_dir() and (ending in DRAWN or path.exists())
        if not self.one_page and is_file:
            raise ValueError(
                f"--overlay {path} is one picture, and there may be several pages; name"
                " a folder"
            )

    def written(self) -> list[Path]:
        """Files and folders that hold a run's own results, which no run reads."""
        named = [path.absolute() for path in self._named.given.values()]
        return [*named, *map(part_of, named)]


@dataclass
class RunStats:
    """What was done, in an earlier run of the same command or in this one."""

    pages: int = 0
    """That were read, empty ones included."""
    lines: int = 0
    """Of text."""
    empty: int = 0
    """Pages without any text."""
    unread: int = 0
    """Boxes in which nothing was read, on pages with text: frames, drawings, or print
    that is beyond the recogniser."""
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
        message = f"{counted(self.pages, 'page')}, {counted(self.lines, 'line')} so far"
        n_failed = len(self.failed)
        return message + (f", {counted(n_failed, 'file')} not read" if n_failed else "")

    def __str__(self) -> str:
        message = f"{counted(self.pages, 'page')} read, {counted(self.lines, 'line')}"
        if self.empty:
            message += f"; without text: {counted(self.empty, 'page')}"
        if self.unread:
            message += f"; boxes in which nothing was read: {self.unread:,}"
        if self.failed:
            n_failed, shown = len(self.failed), ", ".join(self.failed[:5])
            shown += " and more" if n_failed > 5 else ""
            message += f"; could not be read: {counted(n_failed, 'file')} ({shown})"
        return message


class Output:
    """What was read so far, and what is added to it.

    Args:
        paths: where to.
        identity: all that decides the result; a part of another identity is refused.
        keep_texts: whether the statistics keep what was read.
        with_fields: whether the records have the fields of a receipt.
        tagger: finds the fields in place of the rules.

    Raises:
        ValueError: there is a part of another run.
    """

    def __init__(
        self,
        paths: OutputPaths,
        identity: Mapping[str, Any],
        *,
        keep_texts: bool = False,
        with_fields: bool = True,
        tagger: "LineTagger | None" = None,
    ) -> None:
        self.paths, self.with_fields, self.tagger = paths, with_fields, tagger
        self.stats = RunStats(texts=[] if keep_texts else None)
        self.last: dict[str, Any] | None = None
        """The record of the last page."""
        self.done: Counter[str] = Counter()
        """Pages of each file that an earlier run wrote."""
        kept = paths.kept
        self.part = None if kept is None else jobs.ResumableJsonl(kept, identity)
        for record in self.part.records() if self.part else ():
            self.done[record["file"]] += 1
            self.stats.add(record)

    def write(self, picture: PagePicture, page: Page | str) -> None:
        """Add a page, or why there is none."""
        record = page_record(
            picture, page, with_fields=self.with_fields, tagger=self.tagger
        )
        if self.paths.overlay is not None and isinstance(page, Page):
            # Before the record, so that a run that goes on has drawn what it does not
            # read again.
            self._draw(self.paths.overlay, picture, page)
        if self.part is not None:
            self.part.add([record])
        elif record["error"] is None:
            print(plain_text(record, self.paths), end="", flush=True)
        self.stats.add(record)
        self.last = record

    def finish(self) -> None:
        """Give the outputs their names."""
        if self.part is None:
            return
        if self.paths.text is not None:
            with whole_file(self.paths.text) as file:
                for record in self.part.records():
                    file.write(plain_text(record, self.paths).encode())
        if self.paths.out is not None:
            self.part.finish()
        else:
            self.part.discard()

    def discard(self) -> None:
        """Leave nothing behind where nothing could be read."""
        if self.part is not None:
            self.part.discard()

    def _draw(self, path: Path, picture: PagePicture, page: Page) -> None:
        from coursepkg.projects.ocr.page.overlay import write_overlay

        assert picture.image is not None
        if not self.paths.one_page:
            ending = f"-{picture.number:04}.png" if picture.n_pages != 1 else ".png"
            path = path / (picture.source.name + ending)
        write_overlay(path, picture.image, page)


def plain_text(record: Mapping[str, Any], paths: OutputPaths) -> str:
    """A page as plain text, with a heading where there may be others."""
    if record["error"] is not None:
        return ""
    text = record["text"] + "\n" if record["text"] else ""
    if paths.one_page:
        return text
    title = page_title(record["file"], record["page"], record["pages"])
    if paths.single_lines:
        return f"{title}\t{record['text']}\n"
    return f"== {title}\n{text}\n"


Log = Callable[[str], None]
Read = Callable[[Sequence[PagePicture]], list[Page | str]]
"""Pictures that are there to their pages, or why there is none."""

MOST_PIXELS = 8_000_000
"""Pictures of single lines are read together until they have so many pixels."""


def page_reader(
    detector: Detector, recognizer: LineRecognizer, options: ReadOptions
) -> Read:
    """What reads whole pages."""

    def page_of(picture: PagePicture) -> Page | str:
        assert picture.image is not None
        name = picture.title
        try:
            return read_page(picture.image, detector, recognizer, options, name=name)
        except (ValueError, OSError) as reason:
            is_named = str(picture.source.path) in str(reason)
            return str(reason) if is_named else f"{name}: {reason}"

    return lambda pictures: [page_of(one) for one in pictures]


def line_reader(recognizer: LineRecognizer, options: ReadOptions) -> Read:
    """What reads pictures of single lines, without a detector."""

    def read(pictures: Sequence[PagePicture]) -> list[Page | str]:
        named = [(one.title, one.image) for one in pictures if one.image is not None]
        names, images = [title for title, _ in named], [image for _, image in named]
        return read_single_lines(images, recognizer, options, names=names)

    return read


def read_sources(
    sources: jobs.FoundInputs,
    read: Read,
    output: Output,
    *,
    dpi: int = 200,
    together: int = 1,
    log: Log = print,
) -> None:
    """Read all pages of all files into the output, in order.

    Args:
        sources: the files.
        read: reads pages.
        output: where they go; what an earlier run wrote there is not read again.
        dpi: of the pages of PDFs.
        together: pictures that are read at once, at most.
        log: takes one line for each page that cannot be read, and one about how far the
            run is.

    Raises:
        ValueError: nothing at all could be read; nothing is left behind then.
    """
    errors = _Errors(log)
    pictures = (
        picture
        for source in sources.files
        for picture in open_pages(source, dpi=dpi, skip=output.done[str(source.path)])
    )
    for group in _groups(pictures, together):
        pages = iter(read([one for one in group if one.image is not None]))
        for one in group:
            page = one.error if one.image is None else next(pages)
            output.write(one, page)
            if isinstance(page, str):
                errors.add(page)
        if output.stats.pages:
            errors.release()
            if output.part is not None and not output.paths.one_page:
                log(f"{group[-1].title}: {output.stats.so_far}")
    if not output.stats.pages:
        output.discard()
        raise ValueError(errors.alone or f"nothing could be read ({output.stats})")
    output.finish()


class _Errors:
    """Prints errors as they come, but for the first: it may be the only result."""

    def __init__(self, log: Log) -> None:
        self.log, self.alone, self._free = log, "", False

    def add(self, line: str) -> None:
        if self._free:
            self.log(f"error: {line}")
        elif self.alone:
            self.release()
            self.log(f"error: {line}")
        else:
            self.alone = line

    def release(self) -> None:
        if self.alone:
            self.log(f"error: {self.alone}")
        self.alone, self._free = "", True


def _groups(pictures: Iterator[PagePicture], most: int) -> Iterator[list[PagePicture]]:
    group: list[PagePicture] = []
    n_pixels = 0
    for one in pictures:
        group.append(one)
        n_pixels += 0 if one.image is None else one.image.shape[0] * one.image.shape[1]
        if len(group) >= most or n_pixels >= MOST_PIXELS:
            yield group
            group, n_pixels = [], 0
    if group:
        yield group
