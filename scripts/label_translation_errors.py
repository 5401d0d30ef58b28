"""Fills `translation_errors.tsv`, the translation errors that the chapter on improvements has sorted into kinds.

    .venv-dev/bin/python scripts/label_translation_errors.py --list     what the labeller reads
    .venv-dev/bin/python scripts/label_translation_errors.py            fills the file

`--list` prints, in the order of the test part, each Vietnamese sentence of Tatoeba once whose output is none of its
references. Rows are chosen by the rule in `coursepkg/projects/translation/errors/labelled.py`: their source, label and
reason are written into the file by hand. Without `--list` the script takes these three and writes output, reference
and attribution anew, in the order of the test part. The labels belong to outputs of the third stage of
training: with the model that ships now, label anew.
"""

import argparse
from pathlib import Path

from coursepkg.checks import error_lists
from coursepkg.files import whole_file
from coursepkg.projects.translation.corpora import load_parts
from coursepkg.projects.translation.errors import labelled
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.readers import open_corpus

FILE = Path(error_lists.__file__).with_name("translation_errors.tsv")


def references() -> dict[str, list[tuple[str, str]]]:
    """For each Vietnamese sentence of the test part its translations, each with its attribution."""
    lines = (
        Path(open_corpus.__file__)
        .with_name(open_corpus.EMBEDDED)
        .read_text(encoding="utf-8")
        .splitlines()
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for pair in load_parts("tatoeba", "vi", "en").test:
        found.setdefault(pair.source, []).append(
            (pair.target, lines[pair.line - 1].split("\t")[3])
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="print the outputs that are none of their references",
    )
    listing = parser.parse_args().list
    right = references()
    rows = {one.source: one for one in labelled.labelled_errors()}
    sources = [source for source in right if listing or source in rows]
    found = Translator.load_default().translate(sources, source="vi", target="en")
    if listing:
        for one in found:
            if one.text not in (known := [target for target, _ in right[one.source]]):
                print(one.source, one.text, " / ".join(known), sep="\t")
        return
    lines = ["\t".join(labelled.LabelledError._fields)]
    for one in found:
        reference, attribution = right[one.source][0]
        row = rows[one.source]
        lines.append(
            "\t".join(
                (one.source, one.text, reference, attribution, row.label, row.reason)
            )
        )
    with whole_file(FILE) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    print(
        f"{FILE}: {len(found)} rows, {len(rows) - len(found)} without a sentence of the test part"
    )


if __name__ == "__main__":
    main()
