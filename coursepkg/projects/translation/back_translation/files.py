"""Pairs that a model wrote, as files with a card, and the commands that write them.

Nothing is made from sentences of the dev and test parts of any corpus.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursepkg.app.jobs import ResumableJsonl
from coursepkg.app.output import log_to_stderr, print_json
from coursepkg.data.registry import data_folder
from coursepkg.files import check_new, whole_file
from coursepkg.projects.translation.back_translation import generate
from coursepkg.projects.translation.back_translation.generate import (
    Synthetic,
    back_translate,
    round_trip,
)
from coursepkg.projects.translation.corpora import CORPORA, load_parts, scored_keys
from coursepkg.projects.translation.corpus import check_unmarked, numbered_lines
from coursepkg.projects.translation.ensemble import cards_of, load_system
from coursepkg.projects.translation.phrasebook.interlinear import (
    LANGUAGES as GENERATED,
)
from coursepkg.projects.translation.readers.open_corpus import (
    MACHINE_MADE,
    SCORED_DOMAINS,
    domain_of,
    wikipedia_sentences,
)
from coursepkg.projects.translation.task import fitting
from coursepkg.text.languages import PAIRS
from coursepkg.validation import check_count

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import BackTranslate, RoundTrip

LANGUAGES_OF = {pair: tuple(pair.split("-")) for pair in PAIRS} | {
    "tatoeba": ("en", "vi")
}
"""Of the corpora that have two languages only; the phrasebook has all."""


def held_out_keys(source: str, target: str) -> set[str]:
    """Keys of every sentence of dev and test in the corpora that have a language.

    A corpus that is missing has no sentences to hold out, its stand-in does.

    Args:
        source: a language.
        target: another one.
    """
    keys: set[str] = set()
    read = set()
    for corpus in CORPORA:
        if SCORED_DOMAINS.get(corpus):
            continue  # its sentences are among those of `open`
        ways = {languages_in(corpus, source, target)}
        if corpus == "open":
            ways.add(("en", "vi"))  # for the rows without Chinese
        for languages in sorted(ways):
            if {source, target}.isdisjoint(languages):
                continue
            parts = load_parts(corpus, *languages)
            if (parts.corpus, parts.source, parts.target) not in read:
                read.add((parts.corpus, parts.source, parts.target))
                keys |= scored_keys(parts)
    return keys


def languages_in(corpus: str, source: str, target: str) -> tuple[str, str]:
    """The languages to read a corpus in: its own two, or the two that are asked for.

    In place of a language that the phrasebook does not have stands one that it has.
    """
    asked = [one for one in (source, target, *GENERATED) if one in GENERATED]
    first, second = LANGUAGES_OF.get(corpus) or tuple(dict.fromkeys(asked))[:2]
    return first, second


UNKNOWN_ORIGIN = "unknown"
"""Stands among the corpora of a card where something is not known to come from a
corpus."""


def mono_text(
    mono: str, source: str, target: str
) -> tuple[list[str], str, tuple[str, ...]]:
    """Sentences in the target language.

    Args:
        mono: a corpus, of whose training part the side in `target` is taken, but not
            what a machine made; or wikipedia; or a file of one sentence a line.
        source: language to make up.

    Returns:
        the sentences, the name of where they come from, and notes on what was left out.

    Raises:
        FileNotFoundError: it is neither a corpus nor a file.
        ValueError: the corpus has no side in `target`, or a line is not UTF-8 or holds
            U+2581; file and line are named.
    """
    if mono == "wikipedia":
        if target != "vi":
            raise ValueError(f"--mono {mono} has no sentences in {target}; it has vi")
        return wikipedia_sentences(data_folder() / "open"), mono, ()
    if mono not in CORPORA:
        if not Path(mono).is_file():
            raise FileNotFoundError(
                f"--mono {mono}: no such file; give a file, wikipedia, or one of the"
                f" corpora {', '.join(CORPORA)}"
            )
        return _lines_of(mono), f"file {Path(mono).name}", ()
    languages = languages_in(mono, source, target)
    if target not in languages:
        raise ValueError(
            f"--mono {mono} has no sentences in {target}; it has"
            f" {' and '.join(languages)}"
        )
    parts = load_parts(mono, next(one for one in languages if one != target), target)
    # The phrasebook fills up the training part of `en-vi`; it is a corpus of its own
    # here.
    own = [
        p.target
        for p in parts.train
        if (p.file != "phrasebook" or parts.corpus.startswith("phrasebook"))
        and domain_of(p) != MACHINE_MADE
    ]
    return own, parts.corpus, parts.notes


def _lines_of(path: str) -> list[str]:
    """The lines of a file, without the mark of vocabularies."""
    lines = []
    for number, line in numbered_lines(path):
        check_unmarked(line, f"{path}, line {number}:")
        lines.append(line)
    return lines


def origins(cards: Iterable[Mapping[str, Any]]) -> set[str]:
    """The corpora that the models of a system learnt from or look up, by their cards.

    `UNKNOWN_ORIGIN` is among them where a model began with another one's weights or
    trained on further pairs, since its card does not say what these were made from;
    under the contest's rules they were checked to be of its corpus.
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
            "--out PREFIX must be given, to write"
            f" {', '.join(f'PREFIX.{x}' for x in languages)}"
        )
    if not prefix.absolute().parent.is_dir():
        raise ValueError(f"--out {prefix}: the folder does not exist; make it first")
    for path in (Path(f"{prefix}.{ending}") for ending in (*languages, "json")):
        check_new(path)
    return prefix


def write_pairs(
    prefix: Path, made: Synthetic, source: str, target: str, card: dict[str, Any]
) -> dict[str, Any]:
    """Write the pairs and their card, all files or none.

    Returns:
        the card as it was written, directions and counts included.

    Raises:
        ValueError: no pair is left to write; the reasons are named.
        OSError: a file cannot be written.
    """
    if not made.pairs:
        raise ValueError(
            f"no pair is left to write ({made}); give other sentences or another model"
        )
    card = card | {
        "from": source,
        "to": target,
        "n_pairs": len(made.pairs),
        "counts": made.counts,
    }
    content = {
        f"{prefix}.{source}": _lines(pair.source for pair in made.pairs),
        f"{prefix}.{target}": _lines(pair.target for pair in made.pairs),
        f"{prefix}.json": json.dumps(card, ensure_ascii=False, indent=2) + "\n",
    }
    with ExitStack() as stack:
        for path, text in content.items():
            file = stack.enter_context(whole_file(path))
            file.write(text.encode())
            file.flush()  # a full disk is noticed before any file has its name
    return card


def _lines(texts: Iterable[str]) -> str:
    return "".join(" ".join(text.split()) + "\n" for text in texts)


def back_translate_command(options: "BackTranslate") -> int:
    """Write PREFIX.zh, PREFIX.vi and PREFIX.json, --out being PREFIX."""
    data = options.common.data
    if data in CORPORA:
        raise ValueError(
            "--data names parallel text; say with --mono which sentences to translate"
        )
    check_count("--skip", options.skip, least=0)
    check_count("--limit", options.limit, least=0)
    job = _Job(options)
    job.translator.check_direction(*job.languages[::-1])
    lines, name, notes = mono_text(options.mono, *job.languages)
    for note in notes:
        print(f"note: {note}")
    if options.skip and options.skip >= len(lines):
        raise ValueError(
            f"--skip {options.skip}: {name} has {len(lines)} sentences; none is left"
        )
    lines = lines[options.skip :][: options.limit or None]
    held = held_out_keys(*job.languages)
    if data != "auto":
        held |= scored_keys(load_parts(data, *job.languages))
    job.open_part([lines, sorted(held)])
    made = back_translate(
        job.translator, lines, *job.languages, held_out=held, name=name, **job.decoding
    )
    return job.write(made, name, {"mono": name, "n_lines": len(lines)})


def round_trip_command(options: "RoundTrip") -> int:
    """Write PREFIX.zh, PREFIX.vi and PREFIX.json, --out being PREFIX."""
    job = _Job(options)
    for way in (job.languages, job.languages[::-1]):
        job.translator.check_direction(*way)
    translator, corpus = job.translator, options.common.parts_of(options.search.model)
    most = translator.recipe.max_len
    # Both ways, as the contrastive stage reads both sides.
    fits = fitting(
        corpus.train, translator.subwords, job.languages, most, both_ways=True
    )
    print(fits)
    job.open_part([pair[:2] for pair in fits.pairs])
    made = round_trip(translator, fits.pairs, *job.languages, **job.decoding)
    return job.write(made, corpus.corpus, {"pairs": corpus.corpus})


class _Job:
    """What both commands share: the model, how it decodes, and the files."""

    def __init__(self, options: "BackTranslate | RoundTrip") -> None:
        self.options, self.common = options, options.common
        check_count("--batch-size", options.search.batch_size)
        self.languages = (self.common.source, self.common.target)
        self.prefix = check_prefix(self.common.out, self.languages)
        self.translator, self.folder = load_system(self.common, options.search)
        self.method = options.draws.method(options.search, self.translator.recipe)
        self.method.check(self.translator)
        self.decoding: dict[str, Any] = {
            "method": self.method,
            "batch_size": options.search.batch_size,
            "report": lambda done, n: log_to_stderr(f"{done} of {n} sentences"),
        }

    def open_part(self, texts: Any) -> None:
        """Find what an earlier run of the same command translated, in PREFIX.part."""
        identity = {
            "command": type(self.options).__name__,
            "model": self.translator.fingerprint,
            "from": self.common.source,
            "to": self.common.target,
            "method": self.method.as_json(),
            "batch_size": self.options.search.batch_size,
            "chunk": generate.CHUNK,
            "input": hashlib.sha256(json.dumps(texts).encode()).hexdigest(),
        }
        self.part = self.decoding["kept"] = ResumableJsonl(self.prefix, identity)
        if self.part.n_lines:
            log_to_stderr(
                f"going on behind {self.part.n_lines} times {generate.CHUNK} sentences"
                " of an earlier run"
            )

    def write(self, made: Synthetic, corpus: str, more: dict[str, Any]) -> int:
        """Write the files with their card, remove the part, and name the files."""
        # A set: the model may have been trained on the corpus that it translates.
        card = {
            "corpora": sorted({corpus, *origins(cards_of(self.translator))}),
            "model": self.folder.name,
            **more,
            "method": self.method.as_json(),
        }
        if not made.pairs:
            self.part.discard()  # it would stand in the way of another model
        card = write_pairs(self.prefix, made, *self.languages, card)
        self.part.discard()
        print(made)
        print(
            "written: "
            + ", ".join(f"{self.prefix}.{x}" for x in (*self.languages, "json"))
        )
        if self.common.json:
            print_json(card)
        return 0
