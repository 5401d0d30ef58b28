"""Pairs that a model wrote as files: PREFIX.zh, PREFIX.vi, and PREFIX.json, the card that says where they come from."""

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from coursepkg.files import check_new, whole_file
from coursepkg.projects.translation.back_translation.generate import Synthetic
from coursepkg.projects.translation.back_translation.held_out import languages_in
from coursepkg.projects.translation.corpora import CORPORA, load_parts
from coursepkg.projects.translation.corpus import numbered_lines

UNKNOWN_ORIGIN = "unknown"
"""Stands among the corpora of a card where something is not known to come from a corpus."""


def mono_text(mono: str, source: str, target: str) -> tuple[list[str], str, tuple[str, ...]]:
    """Sentences in the target language.

    Args:
        mono: a corpus, of whose training part the side in `target` is taken, or a file of one sentence a line.
        source: language to make up.
        target: language of the sentences.

    Returns:
        the sentences, the name of where they come from, and notes on what was left out.

    Raises:
        FileNotFoundError: it is neither a corpus nor a file.
        ValueError: the corpus has no side in `target`, or a line is not UTF-8.
    """
    if mono not in CORPORA:
        if not Path(mono).is_file():
            raise FileNotFoundError(
                f"--mono {mono}: no such file; give a file, or one of the corpora {', '.join(CORPORA)}"
            )
        return [line for _, line in numbered_lines(mono)], f"file {Path(mono).name}", ()
    languages = languages_in(mono, source, target)
    if target not in languages:
        raise ValueError(f"--mono {mono} has no sentences in {target}; it has {' and '.join(languages)}")
    parts = load_parts(mono, next(one for one in languages if one != target), target)
    # The phrasebook fills up the training part of `en-vi`; it is a corpus of its own here.
    own = [p.target for p in parts.train if p.file != "phrasebook" or parts.corpus.startswith("phrasebook")]
    return own, parts.corpus, parts.notes


def origins(cards: Iterable[Mapping[str, Any]]) -> set[str]:
    """The corpora that the models of a system were trained on or look up, by their cards, see `ensemble.cards_of`.

    `UNKNOWN_ORIGIN` is among them where a model began with another one's weights or trained on further pairs, since
    its card does not say what these were made from; under the contest's rules they were checked to be of its corpus.
    """
    found: set[str] = set()
    for card in cards:
        found.update(card.get("corpora", [UNKNOWN_ORIGIN]))
        found.update([card["neighbours_of"]] if "neighbours_of" in card else [])
        if (card.get("n_extra") or card.get("start")) and not card.get("contest_rules"):
            found.add(UNKNOWN_ORIGIN)
    return found


def check_prefix(prefix: Path | None, languages: Iterable[str]) -> Path:
    """The prefix of the files to write.

    Raises:
        ValueError: there is none, its folder is missing, or a file is there already.
    """
    if prefix is None:
        raise ValueError(
            f"--out PREFIX must be given, to write {', '.join(f'PREFIX.{x}' for x in languages)}"
        )
    if not prefix.absolute().parent.is_dir():
        raise ValueError(f"--out {prefix}: the folder does not exist; make it first")
    for path in (Path(f"{prefix}.{ending}") for ending in (*languages, "json")):
        check_new(path)
    return prefix


def write_pairs(
    prefix: Path, made: Synthetic, source: str, target: str, card: dict[str, Any]
) -> dict[str, Any]:
    """Write the pairs and their card; until all is on the disk none of the files has its name.

    Returns:
        the card as it was written, directions and counts included.

    Raises:
        ValueError: no pair is left to write; the reasons are named.
        OSError: a file cannot be written.
    """
    if not made.pairs:
        raise ValueError(f"no pair is left to write ({made}); give other sentences or another model")
    card = card | {"from": source, "to": target, "n_pairs": len(made.pairs), "counts": made.counts}
    content = {
        f"{prefix}.{source}": _lines(pair.source for pair in made.pairs),
        f"{prefix}.{target}": _lines(pair.target for pair in made.pairs),
        f"{prefix}.json": json.dumps(card, ensure_ascii=False, indent=2) + "\n",
    }
    with ExitStack() as stack:
        for path, text in content.items():
            stack.enter_context(whole_file(path)).write(text.encode())
    return card


def _lines(texts: Iterable[str]) -> str:
    return "".join(" ".join(text.split()) + "\n" for text in texts)
