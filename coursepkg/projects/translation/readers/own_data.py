"""Parallel text of the user's own: a folder, a `.tsv` file or a translation memory.

    FOLDER/train.en, FOLDER/train.vi    line i of one translating line i of the other
    FOLDER/train.tsv                    two columns, or a first line of language codes
    NAME.tsv                            the same
    NAME.tmx                            Translation Memory eXchange 1.4

A folder may hold `dev` and `test` besides `train`, each in one of its two forms.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from coursepkg.data.audit_rows import PairLike, Row, read_lines, read_rows
from coursepkg.files import check_regular
from coursepkg.projects.translation.corpus import (
    SentencePair,
    check_unmarked,
    numbered_lines,
    read_parallel,
)
from coursepkg.text.languages import LANGUAGES, language_of
from coursepkg.text.spacing import HAN

PARTS = ("train", "dev", "test")


class OwnText(NamedTuple):
    """What the files hold, before anything is split."""

    parts: dict[str, list[SentencePair]]
    """By the name of the part; `train` always, the others where they have files."""
    notes: list[str]
    """What was left out, one line each."""


def own_name(path: Path) -> str:
    """What cards and scores call such data; no corpus has a name like it."""
    whole = path.resolve()
    return f"{'folder' if path.is_dir() else 'file'} {whole.name}"


def read_own(path: Path, source: str, target: str) -> OwnText:
    """Read all parts of a folder, or the one file.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: it holds no such text in these languages, or a line is bad; file
            and line are named.
    """
    parts: dict[str, list[SentencePair]] = {}
    notes: list[str] = []
    for name, files in own_files(path, source, target).items():
        if len(files) == 2:
            pairs = read_parallel(*files)
        elif _is_table(files[0]):
            pairs = _read_table(files[0], source, target)
        else:
            pairs, left_out = _read_memory(files[0], source, target)
            notes += left_out
        if len(files) == 1:
            _check_sides(files[0], pairs, source, target)
        _check_languages(files[0], pairs, source, target)
        parts[name] = pairs
    return OwnText(parts, notes)


def own_rows(path: Path, source: str, target: str) -> list[PairLike]:
    """All rows of the files for an audit, bad ones too.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: two files differ in length, a file holds no text, or it cannot be
            read at all.
    """
    rows: list[PairLike] = []
    for files in own_files(path, source, target).values():
        if len(files) == 2:
            rows += read_rows(*files)
        elif not _is_table(files[0]):
            rows += _read_memory(files[0], source, target)[0]
        elif table := list(_table_rows(files[0], source, target)):
            rows += table
        else:
            raise _without_pairs(files[0])
    return rows


def _is_table(file: Path) -> bool:
    """Whether a file of both languages is a table; else it is a memory."""
    return file.suffix.lower() == ".tsv"


def own_files(path: Path, source: str, target: str) -> dict[str, tuple[Path, ...]]:
    """The files of each part: one for each language, or one for both.

    Raises:
        ValueError: there is no training part, one side of a part is missing, a part
            is there twice, or a file is no regular one or has nothing but blank
            lines.
    """
    found = _named_files(path, source, target)
    for file in (file for files in found.values() for file in files):
        check_regular(file)
        if file.suffix.lower() != ".tmx" and file.exists() and _is_blank(file):
            raise _without_pairs(file)
    return found


def _named_files(path: Path, source: str, target: str) -> dict[str, tuple[Path, ...]]:
    """The files of each part, by their names alone."""
    if path.is_dir():
        found = {name: _files_of(path, name, source, target) for name in PARTS}
        if not found["train"]:
            raise ValueError(
                f"--data {path} holds neither train.{source} and train.{target} nor"
                " train.tsv; put the text into one of them, or name a .tsv or .tmx file"
            )
        return {name: files for name, files in found.items() if files}
    if path.suffix.lower() not in (".tsv", ".tmx"):
        raise ValueError(
            f"--data {path}: a file of sentence pairs must be a .tsv or a .tmx file;"
            " name one, or a folder with such files"
        )
    return {"train": (path,)}


def _files_of(folder: Path, name: str, source: str, target: str) -> tuple[Path, ...]:
    """The files of one part; none where the folder does not have it."""
    table = folder / f"{name}.tsv"
    sides = folder / f"{name}.{source}", folder / f"{name}.{target}"
    there = [side for side in sides if side.exists()]
    if there and table.exists():
        raise ValueError(
            f"{folder} holds {there[0].name} and {table.name}; remove one of the two"
        )
    if len(there) == 1:
        (missing,) = {*sides} - {*there}
        codes = (path.suffix[1:] for path in sorted(folder.glob(f"{name}.??")))
        others = ", ".join(code for code in codes if code not in LANGUAGES)
        known = ", ".join(LANGUAGES)
        aside = f" ({others}: --from and --to take {known})" if others else ""
        raise ValueError(
            f"{missing} is missing beside {there[0].name}{aside}; line i of one must"
            " translate line i of the other"
        )
    return sides if there else (table,) if table.exists() else ()


def _is_blank(file: Path) -> bool:
    with file.open("rb") as lines:
        return not lines.readline().removeprefix(BOM_UTF8).strip() and not any(
            line.strip() for line in lines
        )


def _without_pairs(file: Path) -> ValueError:
    """What to raise of a file of text that holds none."""
    wanted, form = "sentence", "line i translating line i of the other file"
    if _is_table(file):
        wanted, form = "sentence pair", "a tab between its two sides"
    return ValueError(f"{file}: holds no {wanted}; write one a line, {form}")


def _language_code(text: str) -> str:
    """The language of a tag such as `en-US`, `EN_us` or `vi`."""
    return re.split("[-_]", text.strip().lower(), maxsplit=1)[0]


_CODE = re.compile(r"([a-z]{2,3}|[A-Z]{2,3})\d?([-_][A-Za-z]+)?")
"""What looks like the code of a language."""


def _columns(
    path: Path, cells: Sequence[str], source: str, target: str
) -> tuple[int, int] | None:
    """Places of both languages in a first line of codes; None where it is text."""
    codes = [_language_code(cell) for cell in cells]
    if LANGUAGES.keys().isdisjoint(codes):
        if len(cells) > 1 and all(_CODE.fullmatch(cell.strip()) for cell in cells):
            raise ValueError(
                f"{path}, line 1: {', '.join(cells)} look like codes of languages, and"
                f" only {', '.join(LANGUAGES)} are known; change them, or write a line"
                " with the two codes above if they are words"
            )
        return None
    for language in (source, target):
        if language not in codes:
            raise ValueError(
                f"{path}, line 1: the columns are {', '.join(cells)}, and there is no"
                f" {language}; choose other languages with --from and --to"
            )
    return codes.index(source), codes.index(target)


def _read_table(path: Path, source: str, target: str) -> list[SentencePair]:
    (first, second), n_columns = (0, 1), 2
    pairs = []
    for number, text in numbered_lines(path):
        cells = text.split("\t")
        named = _columns(path, cells, source, target) if number == 1 else None
        if named is not None:
            (first, second), n_columns = named, len(cells)
            continue
        if len(cells) != n_columns:
            raise ValueError(
                f"{path}, line {number}: columns between tabs are {len(cells)} and must"
                f" be {n_columns}; mend the line, or name the languages of the columns"
                " in the first line"
            )
        pairs.append(SentencePair(cells[first], cells[second], path.name, number))
    return pairs


def _table_rows(path: Path, source: str, target: str) -> Iterator[Row]:
    """The rows of a table; a missing cell is empty, cells too many stay in the last."""
    first, second, most = 0, 1, 1
    for number, text in enumerate(read_lines(path), start=1):
        cells = text.split("\t", most)
        named = number == 1 and _columns(path, text.split("\t"), source, target)
        if named:
            (first, second), most = named, -1
            continue
        cells += [""] * (max(first, second) + 1 - len(cells))
        yield Row(cells[first], cells[second], path.name, number)


def _check_sides(
    path: Path, pairs: Sequence[SentencePair], source: str, target: str
) -> None:
    """Refuse a file without pairs, an empty side, and the mark of vocabularies."""
    if not pairs:
        raise _without_pairs(path)
    for pair in pairs:
        for language, text in ((source, pair.source), (target, pair.target)):
            where = f"{path}, line {pair.line}: the {language_of(language).name} side"
            if not text.strip():
                raise ValueError(f"{where} is empty; fill it or remove the line")
            check_unmarked(text, where)


def _check_languages(
    path: Path, pairs: Sequence[SentencePair], source: str, target: str
) -> None:
    """Refuse sides that are exchanged, where their letters tell it."""
    first, second = language_of(source), language_of(target)
    if first.is_han != second.is_han:
        telling, in_source = f"[{HAN}]", first.is_han
    elif first.foreign or second.foreign:
        telling, in_source = f"[{first.foreign or second.foreign}]", not first.foreign
    else:
        return
    sides = [p.source for p in pairs], [p.target for p in pairs]
    counts = [sum(bool(re.search(telling, x.lower())) for x in side) for side in sides]
    right, wrong = counts if in_source else counts[::-1]
    if wrong > right:
        raise ValueError(
            f"{path}: the {first.name} and the {second.name} side look exchanged;"
            " exchange --from and --to, or the two sides"
        )


def _read_memory(
    path: Path, source: str, target: str
) -> tuple[list[SentencePair], list[str]]:
    """The pairs of a translation memory, and a note on the units that are left out.

    Raises:
        ValueError: it is no translation memory, its XML is broken, it declares
            entities, or it has no unit in both languages.
    """
    memory = _Memory(path, source, target)
    try:
        with path.open("rb") as file:
            memory.parser.ParseFile(file)
    except expat.ExpatError as reason:
        raise ValueError(
            f"{path}, line {reason.lineno}: broken XML"
            f" ({expat.errors.messages[reason.code]}); export the memory anew, in UTF-8"
        ) from None
    if not memory.pairs:
        codes = sorted(filter(None, memory.codes))
        raise ValueError(
            f"{path}: no unit has text in {source} and {target}; its languages are"
            f" {', '.join(codes) or 'none'}; --from and --to take two of"
            f" {', '.join(LANGUAGES)}"
        )
    if not memory.n_left_out:
        return memory.pairs, []
    names = " or ".join(language_of(one).name for one in (source, target))
    n_units = memory.n_left_out + len(memory.pairs)
    return memory.pairs, [
        f"{memory.n_left_out} of {n_units} units of {path.name} left out, which have no"
        f" {names} text"
    ]


ENCODINGS = ("utf-8", "utf-16", "us-ascii", "iso-8859-1")
"""Encodings of XML that every parser reads."""


class _Memory:
    """Collects the units of a translation memory while a parser reads it.

    No entity is ever expanded: a file that declares one is refused.

    Args:
        path: of the file, for messages.
        source: code of the language to read as sources.
        target: code of that of their translations.
    """

    def __init__(self, path: Path, source: str, target: str) -> None:
        self.path, self.languages = path, (source, target)
        self.pairs: list[SentencePair] = []
        self.n_left_out = 0
        self.codes: set[str] = set()
        """All languages of the file."""
        self.unit: dict[str, str] = {}
        self.line, self.code = 0, ""
        self.text: list[str] | None = None  # of the segment that is open
        self.n_hidden = 0  # elements of codes that are open in it
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.XmlDeclHandler = self._declaration
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def _where(self) -> str:
        return f"{self.path}, line {self.parser.CurrentLineNumber}"

    def _declaration(self, version: str, encoding: str | None, alone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            raise ValueError(
                f"{self._where()}: the encoding is {encoding}; save the file as UTF-8"
            )

    def _entity(self, name: str, *rest: object) -> None:
        raise ValueError(
            f"{self._where()}: uses an entity of its own ({name}), which is not read;"
            " write its text in its place"
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self.text is not None:
            self.n_hidden += self.n_hidden > 0 or name != "hi"
        elif name == "tu":
            self.unit, self.line = {}, self.parser.CurrentLineNumber
        elif name == "tuv":
            told = attributes.get("xml:lang") or attributes.get("lang") or ""
            self.code = _language_code(told)
            self.codes.add(self.code)
        elif name == "seg":
            self.text = []

    def _characters(self, text: str) -> None:
        if self.text is not None and not self.n_hidden:
            self.text.append(text)

    def _end(self, name: str) -> None:
        if self.n_hidden:
            self.n_hidden -= 1
        elif name == "seg" and self.text is not None:
            self.unit.setdefault(self.code, " ".join("".join(self.text).split()))
            self.text = None
        elif name == "tu":
            source, target = (self.unit.get(one, "") for one in self.languages)
            if source and target:
                place = self.path.name, self.line
                self.pairs.append(SentencePair(source, target, *place))
            self.n_left_out += not (source and target)
