"""The contest's clips without labels, and the file of answers that it asks for.

Source 002 says where these clips lie: beside each other in `public_test` and `private_test` (second tutorial, section
III.1). Of the answers it says that they are the words, one a clip (section II), "in the required form" (section VII);
it neither shows such a file nor names its columns. So the columns are settings here, to be compared with the contest's
own page. The encoding is that of the contest's other task, whose file the source does show (first tutorial, the
baseline's last step): CSV in UTF-8 that begins with a byte order mark, which spreadsheets need for Vietnamese.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from coursepkg.arguments import check_choices
from coursepkg.files import whole_file
from coursepkg.projects.sign_language.clip_sources import ClipSources, find_clips
from coursepkg.projects.sign_language.data.scan import TEST_PARTS


@dataclass(frozen=True)
class ContestForm:
    """How the file of answers is written.

    Raises:
        ValueError: a field is out of range.
    """

    columns: tuple[str, str] = ("video_name", "label")
    """Head of the column of clips and of that of answers."""
    answer: Literal["word", "number"] = "word"
    """The word itself, or its class number in the label mapping."""
    endings: bool = True
    """Whether clips are named with their ending, as `12.mp4`."""

    def __post_init__(self) -> None:
        check_choices(self)
        if not all(name.strip() for name in self.columns):
            raise ValueError(f"columns must be two names, got {self.columns}")


FORM = ContestForm()
"""The usual form."""


def contest_clips(inputs: Sequence[str | Path], *, leave: Iterable[Path] = ()) -> ClipSources:
    """The clips of a part without labels, every video of the folder, those that turn out unreadable included.

    Args:
        inputs: the folder of the part, alone.
        leave: files that are not read.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: it is no folder, more than one, or holds no clip directly.
    """
    parts = " or ".join(TEST_PARTS)
    if len(inputs) != 1 or Path(inputs[0]).is_file():
        raise ValueError(f"--contest answers one folder of clips, {parts}; name that folder alone")
    folder = Path(inputs[0])
    inside = [folder / name for name in TEST_PARTS if (folder / name).is_dir()]
    if inside:
        raise ValueError(f"{folder} holds several parts; name one of them, such as {inside[0]}")
    return find_clips([folder], leave=leave)


def write_answers(
    path: Path, answers: Iterable[tuple[str, str]], labels: Sequence[str], form: ContestForm = FORM
) -> int:
    """Write the file of answers; it appears whole or not at all, and memory does not grow with it.

    Args:
        path: where to.
        answers: name and word of each clip; a clip that could not be read has an empty word and an empty answer, for
            the contest counts rows.
        labels: the words in the order of their class numbers.
        form: how it is written.

    Returns:
        its rows below the head.

    Raises:
        ValueError: a clip is named twice, or a word is not in the list.
        OSError: it cannot be written.
    """
    numbers = {word: str(number) for number, word in enumerate(labels)}
    seen: set[str] = set()
    with whole_file(path) as file:
        file.write(("\ufeff" + _row(form.columns)).encode())
        for name, word in answers:
            told = name if form.endings else str(Path(name).with_suffix(""))
            if told in seen:
                raise ValueError(f"{told} stands twice among the clips; the contest wants one answer a clip")
            if word and word not in numbers:
                raise ValueError(f"{word!r} is none of the {len(numbers)} words that the contest knows")
            seen.add(told)
            given = numbers[word] if word and form.answer == "number" else word
            file.write(_row((told, given)).encode())
    return len(seen)


def _row(cells: tuple[str, str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
