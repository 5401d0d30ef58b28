"""The sets of lines by the name that `--data` takes, and a user's own folder.

synthetic        drawn lines; the test part has font families and texts that training does not see
synthetic-tiny   few, short and clean ones: what `synthetic` means to the preset `tiny`
receipts         generated photographs of receipts, cut into lines as their table says
mc-ocr           the real table of MC-OCR 2021, with its photographs, or drawn where these are not to be had
vi-lines         real lines of documents: all of them for testing, unless another split is asked for
FOLDER           packed lines, an MC-OCR table with photographs, or pictures with a `labels.tsv`
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from coursepkg.arguments import check_count
from coursepkg.data.location import data_folder
from coursepkg.projects.ocr.corpora_generated import EASY, FULL, generated_receipts, synthetic_lines
from coursepkg.projects.ocr.corpora_labelled import labelled_corpus, table_corpus
from coursepkg.projects.ocr.corpus import Corpus
from coursepkg.projects.ocr.data.mc_ocr import TABLE
from coursepkg.projects.ocr.data.vi_lines import LABELS
from coursepkg.projects.ocr.packed_corpus import CARD, open_packed

SPLITS = ("auto", "line", "receipt", "seller", "test")
"""What `--split` takes; auto is test for `vi-lines` and receipt for all others."""


class Wanted(NamedTuple):
    """What was asked for besides a name."""

    split: str
    """One of `SPLITS`."""
    generate: int
    """Lines or receipts to generate; 0 takes the usual number."""
    folder: Path
    """Of the real data sets."""
    texts: Path | None = None
    """A user's own texts, for drawn lines to say."""


def load_corpus(
    name: str,
    *,
    split: str = "auto",
    generate: int = 0,
    folder: Path | None = None,
    texts: Path | None = None,
) -> Corpus:
    """Read a set of lines; where its files are missing, a generated one stands in and a note says so.

    Args:
        name: one of `CORPORA`, or the path of a folder.
        split: one of `SPLITS`: what must not be cut apart. Drawn and packed lines are parted already.
        generate: lines of `synthetic`, or receipts of `receipts`, to make; 0 takes the usual number.
        folder: of the real data sets; None is `data_folder()`.
        texts: a file with a user's own texts, one a line, which about half of the lines of `synthetic` then say.

    Raises:
        ValueError: there is no such set or folder, it cannot be parted so, or it has no use for `texts`.
    """
    check_count("--generate", generate, least=0)
    if split not in SPLITS:
        raise ValueError(f"--split must be one of {', '.join(SPLITS)}, got {split}")
    if texts is not None and name not in DRAWN:
        raise ValueError(f"--texts goes with --data {' or '.join(DRAWN)}, got --data {name}")
    if texts is not None and not texts.is_file():
        raise ValueError(f"--texts {texts}: there is no such file")
    wanted = Wanted(split, generate, data_folder() if folder is None else folder, texts)
    if name in CORPORA:
        return CORPORA[name](wanted)
    return own_folder(Path(name), split)


def own_folder(folder: Path, split: str = "auto") -> Corpus:
    """A folder of a user: packed lines, a table in the form of MC-OCR, or a `labels.tsv`.

    Raises:
        ValueError: it is none of these.
    """
    if not folder.is_dir():
        raise ValueError(f"--data must be one of {', '.join(CORPORA)} or a folder, got {folder}")
    if (folder / CARD).is_file():
        return _parted_already(open_packed(folder), split)
    if (folder / TABLE).is_file():
        return table_corpus(folder, folder.name, _split(split, "receipt"))
    if (folder / LABELS).is_file():
        return labelled_corpus(folder, folder.name, _split(split, "receipt"))
    raise ValueError(
        f"--data {folder}: no {TABLE}, no {LABELS} and no {CARD} of `coursepkg ocr pack` in it; add one of them"
    )


def _split(asked: str, usual: str) -> str:
    return usual if asked == "auto" else asked


def _parted_already(corpus: Corpus, asked: str) -> Corpus:
    """With a note where a split was asked for that is not the one that the lines have."""
    if asked in ("auto", corpus.protocol):
        return corpus
    note = f"--split {asked} changes nothing: these lines are parted already, {corpus.protocol}"
    return replace(corpus, notes=(note, *corpus.notes))


def _synthetic(wanted: Wanted) -> Corpus:
    return _parted_already(synthetic_lines(FULL, wanted.generate, wanted.texts), wanted.split)


def _synthetic_tiny(wanted: Wanted) -> Corpus:
    return _parted_already(synthetic_lines(EASY, wanted.generate, wanted.texts), wanted.split)


def _receipts(wanted: Wanted) -> Corpus:
    return generated_receipts(_split(wanted.split, "receipt"), wanted.generate)


def _mc_ocr(wanted: Wanted) -> Corpus:
    folder = wanted.folder / "mc_ocr"
    if not (folder / TABLE).is_file():
        return _stand_in("mc-ocr", folder / TABLE, _receipts(wanted))
    return table_corpus(folder, "mc-ocr", _split(wanted.split, "receipt"), may_render=True)


def _vi_lines(wanted: Wanted) -> Corpus:
    folder = wanted.folder / "vi_lines"
    if not (folder / LABELS).is_file():
        return _stand_in("vi-lines", folder / LABELS, _synthetic_tiny(wanted))
    return labelled_corpus(folder, "vi-lines", _split(wanted.split, "test"))


def _stand_in(wanted: str, missing: Path, corpus: Corpus) -> Corpus:
    note = (
        f"{missing} is missing, so the generated set {corpus.name} stands in for {wanted}; "
        "coursepkg data list says how to get it"
    )
    return replace(corpus, notes=(note, *corpus.notes))


DRAWN = ("synthetic", "synthetic-tiny")
"""Those whose lines may say a user's own texts."""
CORPORA: dict[str, Callable[[Wanted], Corpus]] = {
    "synthetic": _synthetic,
    "synthetic-tiny": _synthetic_tiny,
    "receipts": _receipts,
    "mc-ocr": _mc_ocr,
    "vi-lines": _vi_lines,
}
"""By the name that `--data` takes."""
