"""What `coursepkg translation audit` does: the raw lines of a corpus first, bad ones too, then the split."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.data.audit import Audit, audit_parallel
from coursepkg.data.audit_report import rows_as_text, split_as_text
from coursepkg.data.audit_rows import PairLike, read_rows
from coursepkg.data.location import data_folder
from coursepkg.documents import check_out_file, hand_over
from coursepkg.projects.translation import commands
from coursepkg.projects.translation.corpora import Parts, corpus_named, load_parts, random_split

OF_THE_SPLIT = ("pairs", "leaks", "leaking_pairs", "shared", "near")
"""What an audit says of parts; all else it says of rows."""


def audit(options: commands.Audit) -> int:
    """Print what is wrong with the raw lines, then what the parts share; 1 where they leak into one another.

    Raises:
        ValueError: the corpus cannot be split as it is; that is told after the audit of its lines.
    """
    out, as_json = options.common.out, options.common.json
    check_out_file(out, "audit.json")
    languages = options.common.source, options.common.target
    corpus = corpus_named(options.common.data, *languages)
    raw = raw_rows(corpus, *languages)
    lines = None if raw is None else audit_parallel({"raw lines": raw}, *languages)
    if lines is not None:
        print(rows_as_text(lines))
    try:
        parts = load_parts(corpus, *languages)
        parts = random_split(parts) if options.random_split else parts
    except ValueError as reason:
        if lines is not None:
            found = lines.as_json() | {"corpus": corpus, "leaks": None, "error": str(reason)}
            hand_over(found, out=out, as_json=as_json)
        raise
    split = _audit_of(parts)
    for note in parts.notes:
        print(f"note: {note}")
    print(split.report() if lines is None else split_as_text(split))
    hand_over(_document(lines or split, split) | {"corpus": parts.corpus}, out=out, as_json=as_json)
    return int(split.leaks)


def raw_rows(corpus: str, source: str, target: str) -> Sequence[PairLike] | None:
    """All rows of the files of a corpus as they stand, bad ones too; None for one that has no files, or none here."""
    if corpus == "zh-vi":
        folder, names = data_folder() / "zh_vi", ["train"]
    elif corpus == "en-vi":
        folder = data_folder() / "en_vi"
        names = ["dev2010", "tst2010", "tst2011", "tst2012"]
        if _has(folder, "train") and _has(folder, "tst2013"):
            names = ["train", "tst2012", "tst2013"]
    else:
        return None
    if not any(_has(folder, name) for name in names):
        return None
    return [
        row for name in names for row in read_rows(folder / f"{name}.{source}", folder / f"{name}.{target}")
    ]


def _has(folder: Path, name: str) -> bool:
    return any(folder.glob(f"{name}.*"))


def _audit_of(parts: Parts) -> Audit:
    named = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    return audit_parallel(named, parts.source, parts.target)


def _document(lines: Audit, split: Audit) -> dict[str, Any]:
    """Findings of both: of the raw lines all that is about rows, of the split what is about parts."""
    of_parts = split.as_json()
    found = lines.as_json() | {name: of_parts[name] for name in OF_THE_SPLIT}
    return found | {"raw_pairs": sum(lines.n_pairs.values())}
