"""Read everything that was named, one page in memory at a time, and say what could not be read."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from coursepkg.projects.ocr.detector.box import Detector
from coursepkg.projects.ocr.page.options import ReadOptions
from coursepkg.projects.ocr.page.output import Output
from coursepkg.projects.ocr.page.page import Page
from coursepkg.projects.ocr.page.read import read_page, read_single_lines
from coursepkg.projects.ocr.page.sources import PagePicture, Sources, open_pages
from coursepkg.projects.ocr.predict import Recognizer

Say = Callable[[str], None]
Read = Callable[[Sequence[PagePicture]], list[Page | str]]
"""Pictures that are there to their pages, or why there is none."""

MOST_PIXELS = 8_000_000
"""Pictures of single lines are read together until they have so many pixels."""


def page_reader(detector: Detector, recognizer: Recognizer, options: ReadOptions) -> Read:
    """What reads whole pages."""

    def read(pictures: Sequence[PagePicture]) -> list[Page | str]:
        return [_page(one, detector, recognizer, options) for one in pictures]

    return read


def line_reader(recognizer: Recognizer, options: ReadOptions) -> Read:
    """What reads pictures of single lines, without a detector."""

    def read(pictures: Sequence[PagePicture]) -> list[Page | str]:
        named = [(one.title, one.image) for one in pictures if one.image is not None]
        names, images = [title for title, _ in named], [image for _, image in named]
        return read_single_lines(images, recognizer, options, names=names)

    return read


def read_sources(
    sources: Sources, read: Read, output: Output, *, dpi: int = 200, together: int = 1, say: Say = print
) -> None:
    """Read all pages of all files into the output, in order.

    Args:
        sources: the files.
        read: reads pages.
        output: where they go; what an earlier run wrote there is not read again.
        dpi: of the pages of PDFs.
        together: pictures that are read at once, at most.
        say: takes one line for each page that cannot be read, and one about how far the run is.

    Raises:
        ValueError: nothing at all could be read; nothing is left behind then.
    """
    errors = _Errors(say)
    for group in _groups(_pictures(sources, dpi, output.done), together):
        pages = iter(read([one for one in group if one.image is not None]))
        for one in group:
            page = one.error if one.image is None else next(pages)
            output.write(one, page)
            if isinstance(page, str):
                errors.add(page)
        if output.tally.pages:
            errors.release()
            if output.part is not None and not output.places.one_page:
                say(f"{group[-1].title}: {output.tally.so_far}")
    if not output.tally.pages:
        output.discard()
        raise ValueError(errors.alone or f"nothing could be read ({output.tally})")
    output.finish()


class _Errors:
    """Errors are said as they come, but for one that may be the only thing there is: then it is the command's own."""

    def __init__(self, say: Say) -> None:
        self.say, self.alone, self._free = say, "", False

    def add(self, line: str) -> None:
        if self._free:
            self.say(f"error: {line}")
        elif self.alone:
            self.release()
            self.say(f"error: {line}")
        else:
            self.alone = line

    def release(self) -> None:
        if self.alone:
            self.say(f"error: {self.alone}")
        self.alone, self._free = "", True


def _page(
    picture: PagePicture, detector: Detector, recognizer: Recognizer, options: ReadOptions
) -> Page | str:
    assert picture.image is not None
    try:
        return read_page(picture.image, detector, recognizer, options, name=picture.title)
    except (ValueError, OSError) as reason:
        return _named(picture, str(reason))


def _named(picture: PagePicture, reason: str) -> str:
    return reason if str(picture.source.path) in reason else f"{picture.title}: {reason}"


def _pictures(sources: Sources, dpi: int, done: Mapping[str, int]) -> Iterator[PagePicture]:
    for source in sources.files:
        yield from open_pages(source, dpi=dpi, skip=done.get(str(source.path), 0))


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
