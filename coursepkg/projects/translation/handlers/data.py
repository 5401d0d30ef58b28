"""What `coursepkg translation audit` and `describe` do.

The audit reads the raw lines of a corpus first, bad ones too, then the split.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from coursepkg.app.output import check_out_file, write_json_output
from coursepkg.data.audit import audit_parallel, rows_as_text, split_as_text
from coursepkg.data.audit_rows import PairLike, read_rows
from coursepkg.data.registry import data_folder
from coursepkg.projects.translation.corpora import (
    CORPORA,
    Parts,
    corpus_named,
    load_parts,
    random_split,
)
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.models import (
    Subwords,
    build_model,
    count_parameters,
)
from coursepkg.projects.translation.readers.open_corpus import (
    SCORED_DOMAINS,
    count_by_file,
    raw_open_rows,
)
from coursepkg.projects.translation.readers.own_data import own_rows
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.task import fitting
from coursepkg.text.languages import PAIRS, language_of

if TYPE_CHECKING:
    from coursepkg.projects.translation import commands

OF_THE_SPLIT = ("pairs", "leaks", "leaking_pairs", "shared", "near")
"""What an audit says of parts; all else it says of rows."""


def audit(options: "commands.Audit") -> int:
    """Print what is wrong with the raw lines, then what the parts share.

    Returns:
        1 where the parts leak into one another.

    Raises:
        ValueError: the corpus cannot be split as it is; that is told after the audit of
            its lines.
    """
    out, as_json = options.common.out, options.common.json
    check_out_file(out, "audit.json")
    languages = options.common.source, options.common.target
    corpus = corpus_named(options.common.data, *languages)
    raw = raw_rows(corpus, *languages)
    lines = None if raw is None else audit_parallel({"raw lines": raw}, *languages)
    if lines is not None:
        print(rows_as_text(lines))
    files = {}
    if raw is not None and corpus in SCORED_DOMAINS:
        files = count_by_file(raw, *languages)
        for file, counts in files.items():
            print(f"{file}: {counts}")
    try:
        parts = load_parts(corpus, *languages)
        parts = random_split(parts) if options.random_split else parts
    except ValueError as reason:
        if lines is not None:
            told = {"corpus": corpus, "leaks": None, "error": str(reason)}
            write_json_output(lines.as_json() | told, out=out, as_json=as_json)
        raise
    named = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    split = audit_parallel(named, *languages)
    for note in parts.notes:
        print(f"note: {note}")
    print(split.report() if lines is None else split_as_text(split))
    # Of the raw lines all that is about rows, of the split all about parts.
    rows, of_parts = lines or split, split.as_json()
    document = rows.as_json() | {name: of_parts[name] for name in OF_THE_SPLIT}
    more = {"raw_pairs": sum(rows.n_pairs.values()), "corpus": parts.corpus}
    more |= {"files": {file: one._asdict() for file, one in files.items()}}
    write_json_output(document | more, out=out, as_json=as_json)
    return int(split.leaks)


def raw_rows(corpus: str, source: str, target: str) -> Sequence[PairLike] | None:
    """All rows of a corpus's files, bad ones too; None where it has no files here."""
    if corpus in SCORED_DOMAINS and (data_folder() / "open").is_dir():
        return raw_open_rows(data_folder() / "open", source, target)
    if corpus not in CORPORA:
        return own_rows(Path(corpus), source, target)
    if corpus not in PAIRS:
        return None
    folder, names = data_folder() / corpus.replace("-", "_"), ["train"]
    if corpus == "en-vi" and not (_has(folder, "train") and _has(folder, "tst2013")):
        names = ["dev2010", "tst2010", "tst2011", "tst2012"]
    elif corpus == "en-vi":
        names += ["tst2012", "tst2013"]
    if not any(_has(folder, name) for name in names):
        return None
    return [
        row
        for name in names
        for row in read_rows(folder / f"{name}.{source}", folder / f"{name}.{target}")
    ]


def _has(folder: Path, name: str) -> bool:
    return any(folder.glob(f"{name}.*"))


def describe(options: "commands.Describe") -> int:
    """Print what there is to know before training."""
    common = options.common
    check_out_file(common.out, "describe.json")
    preset = common.preset or "tiny"
    recipe = PRESETS[preset]
    parts = load_parts(common.corpus(), common.source, common.target)
    with torch.device("meta"):
        model = build_model(recipe, recipe.vocab_size, recipe.vocab_size)
    document: dict[str, Any] = {
        "preset": preset,
        "corpus": parts.corpus,
        "from": parts.source,
        "to": parts.target,
        "pairs": {n: len(getattr(parts, n)) for n in ("train", "dev", "test")},
        "words": _lengths(parts),
        "parameters": count_parameters(model),
        "notes": list(parts.notes),
        "recipe": recipe.described(),
    } | _tokens(parts, recipe)
    for name, value in document.items():
        if name not in ("recipe", "notes"):
            print(f"{name}: {value if not isinstance(value, int) else f'{value:,}'}")
    for note in parts.notes:
        print(f"note: {note}")
    write_json_output(document, out=common.out, as_json=common.json)
    return 0


def _lengths(parts: Parts) -> dict[str, dict[str, int | float]]:
    """Words, or for Chinese characters, of the training sentences."""
    found = {}
    for language, lines in (
        (parts.source, [p.source for p in parts.train]),
        (parts.target, [p.target for p in parts.train]),
    ):
        is_han = language_of(language).is_han
        counts = [
            len(to_model(line, language) if is_han else line.split()) for line in lines
        ]
        found[language] = _summary(counts)
    return found


def _summary(counts: Sequence[int]) -> dict[str, int | float]:
    ordered = sorted(counts)
    return {
        "mean": round(statistics.mean(counts), 2),
        "median": statistics.median(counts),
        "95%": ordered[int(0.95 * (len(ordered) - 1))],
        "longest": ordered[-1],
    }


def _tokens(parts: Parts, recipe: Recipe) -> dict[str, Any]:
    """Lengths in subwords, before and after the filter of the recipe."""
    try:
        subwords = Subwords.train([((parts.source, parts.target), parts.train)], recipe)
    except ValueError as reason:
        return {"subwords": f"none: {reason}"}
    languages = parts.source, parts.target
    kept = fitting(
        parts.train, subwords, languages, recipe.max_len, both_ways=recipe.reads_both
    )

    def lengths(pairs: Sequence[SentencePair]) -> dict[str, dict[str, int | float]]:
        sources = subwords.encode_sources([p.source for p in pairs], *languages)
        targets = subwords.encode_targets([p.target for p in pairs], parts.target)
        return {
            parts.source: _summary([*map(len, sources)]),
            parts.target: _summary([*map(len, targets)]),
        }

    # Of no pairs there are no lengths.
    after = lengths(kept.pairs) if kept.pairs else {}
    return {
        "subwords": {"before the filter": lengths(parts.train), "after": after},
        "too long": len(kept.too_long),
    }
