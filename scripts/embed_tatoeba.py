"""Writes the everyday sentences that ship with the package: `tatoeba.tsv` of the translation project.

    COURSEPKG_DATA=DATA .venv-dev/bin/python scripts/embed_tatoeba.py

They are the English-Vietnamese pairs of `open/tatoeba.tsv`, each in the part that it has when the whole open corpus is
split, and in the order that it has there. The attribution is cut to what differs between lines: numbers and owners of
the two sentences. Chinese is left out, because nobody recorded its authors. `tatoeba.LICENCE` is written by hand.
"""

import re
from pathlib import Path

from coursepkg.data.registry import folder_of
from coursepkg.files import whole_file
from coursepkg.projects.translation.readers import open_corpus
from coursepkg.projects.translation.readers.open_corpus import (
    EMBEDDED,
    EMBEDDED_HEAD,
    read_open,
    split_open,
)

FULL = re.compile(
    r"CC-BY 2\.0 \(France\) Attribution: tatoeba\.org (#\d+ \(.+\) & #\d+ \(.+\))"
)
"""The attribution of a line as Tatoeba's export has it."""
OUT = Path(open_corpus.__file__).with_name(EMBEDDED)


def lines() -> list[str]:
    """The lines of the file, its head first.

    Raises:
        ValueError: a line has another attribution than Tatoeba's.
    """
    found = ["\t".join(EMBEDDED_HEAD)]
    for part, rows in split_open(read_open(folder_of("open"))).items():
        for row in rows:
            if row.file != Path(EMBEDDED).stem:
                continue
            owners = FULL.fullmatch(row.attribution)
            if owners is None:
                raise ValueError(
                    f"{row.file}.tsv, line {row.line}: no attribution of Tatoeba: {row.attribution}"
                )
            found.append("\t".join((row.en, row.vi, part, owners[1])))
    return found


def main() -> None:
    content = "".join(f"{line}\n" for line in lines())
    with whole_file(OUT) as file:
        file.write(content.encode())
    print(f"{OUT}: {content.count(chr(10)) - 1} pairs, {len(content.encode())} bytes")


if __name__ == "__main__":
    main()
