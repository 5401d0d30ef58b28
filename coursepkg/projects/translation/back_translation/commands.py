"""The options of `coursepkg translation back-translate` and `round-trip`, and what they do."""

import hashlib
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from coursepkg.documents import print_json
from coursepkg.projects.options import Flag
from coursepkg.projects.translation.commands import Common, CommonOptions, Search, SearchOptions

if TYPE_CHECKING:
    from coursepkg.part_file import Kept
    from coursepkg.projects.translation.back_translation.generate import Synthetic
    from coursepkg.projects.translation.predict import Translator
    from coursepkg.projects.translation.recipe import Recipe
    from coursepkg.projects.translation.studies.decoding_methods import Method


@dataclass(frozen=True)
class Draws:
    """Whether the model searches for its sentences or draws them."""

    sample: Flag = False
    """Draw the tokens at random instead of searching."""
    temperature: float = 1.0
    """Of the draws."""
    top_k: int = 0
    """Draw among so many tokens; 0 draws among all."""
    seed: int = 0
    """Of the draws."""

    def method(self, search: Search, recipe: "Recipe") -> "Method":
        """How to decode by these options, those of the search, and the recipe where neither says."""
        from coursepkg.projects.translation.studies.decoding_methods import Method

        penalty = recipe.length_penalty if search.length_penalty is None else search.length_penalty
        if not self.sample:
            beams = recipe.beam_size if search.beam_size is None else search.beam_size
            return Method(
                beams, penalty, temperature=self.temperature, top_k=self.top_k or None, seed=self.seed
            )
        if search.beam_size not in (None, 1):
            raise ValueError("--sample takes no --beam-size: a draw has no beams; leave one of the two out")
        return Method(sample=True, temperature=self.temperature, top_k=self.top_k or None, seed=self.seed)


DrawOptions = tyro.conf.OmitArgPrefixes[Draws]


@dataclass(frozen=True)
class BackTranslate:
    """Make training pairs for --from and --to out of text in the language --to alone.

    The model must translate the other way: a run trained with --reverse, or with --from and --to exchanged. A command
    that was stopped and is given again goes on where it was.
    """

    common: CommonOptions = field(default_factory=Common)
    search: SearchOptions = field(default_factory=Search)
    draws: DrawOptions = field(default_factory=Draws)
    mono: Annotated[str, tyro.conf.arg(metavar="FILE|CORPUS")] = "en-vi"
    """Text in the language --to: a file of one sentence a line, or the training part of zh-vi, en-vi or phrasebook."""
    limit: int = 0
    """Take only so many sentences, the first ones; 0 takes all."""

    def run(self) -> int:
        """Write PREFIX.zh, PREFIX.vi and PREFIX.json (for Chinese and Vietnamese), --out being PREFIX."""
        from coursepkg.arguments import check_count
        from coursepkg.projects.translation.back_translation.files import check_prefix, mono_text
        from coursepkg.projects.translation.back_translation.generate import back_translate
        from coursepkg.projects.translation.back_translation.held_out import held_out_keys
        from coursepkg.projects.translation.predict_command import load_system

        languages = (self.common.source, self.common.target)
        if self.common.data != "auto":
            raise ValueError("--data names parallel text; say with --mono which sentences to translate")
        check_count("--limit", self.limit, least=0)
        prefix = check_prefix(self.common.out, languages)
        translator, folder = load_system(self.common, self.search)
        translator.check_direction(*languages[::-1])
        method = self.draws.method(self.search, translator.recipe)
        lines, name, notes = mono_text(self.mono, *languages)
        for note in notes:
            print(f"note: {note}")
        lines = lines[: self.limit] if self.limit else lines
        held = held_out_keys(*languages)
        kept = _kept(self, prefix, translator, method, [lines, sorted(held)])
        made = back_translate(
            translator,
            lines,
            *languages,
            method=method,
            held_out=held,
            name=name,
            batch_size=self.search.batch_size,
            report=_say,
            kept=kept,
        )
        card = {"mono": name, "n_lines": len(lines), "method": method.as_json()}
        return _write(self.common, prefix, made, translator, folder, name, card, kept)


@dataclass(frozen=True)
class RoundTrip:
    """Translate both sides of the training pairs into the other language and back, for `train --round-trips`.

    One pair comes out for each training pair that fits the model. The run that takes them must have this model's
    vocabulary and longest sentence: the same data and settings of the text, or --start with this model. A command
    that was stopped and is given again goes on where it was.
    """

    common: CommonOptions = field(default_factory=Common)
    search: SearchOptions = field(default_factory=Search)
    draws: DrawOptions = field(default_factory=Draws)

    def run(self) -> int:
        """Write PREFIX.zh, PREFIX.vi and PREFIX.json (for Chinese and Vietnamese), --out being PREFIX."""
        from coursepkg.projects.translation.back_translation.files import check_prefix
        from coursepkg.projects.translation.back_translation.generate import round_trip
        from coursepkg.projects.translation.examples import fitting
        from coursepkg.projects.translation.predict_command import load_system

        languages = (self.common.source, self.common.target)
        prefix = check_prefix(self.common.out, languages)
        translator, folder = load_system(self.common, self.search)
        method = self.draws.method(self.search, translator.recipe)
        parts = self.common.parts(self.search.model)
        most = translator.recipe.max_len
        # Both ways, as the contrastive stage reads both sides.
        fits = fitting(parts.train, translator.subwords, languages, most, both_ways=True)
        print(fits)
        kept = _kept(self, prefix, translator, method, [pair[:2] for pair in fits.pairs])
        made = round_trip(
            translator,
            fits.pairs,
            *languages,
            method=method,
            batch_size=self.search.batch_size,
            report=_say,
            kept=kept,
        )
        card = {"pairs": parts.corpus, "method": method.as_json()}
        return _write(self.common, prefix, made, translator, folder, parts.corpus, card, kept)


def _kept(
    options: BackTranslate | RoundTrip, prefix: Path, translator: "Translator", method: "Method", texts: Any
) -> "Kept":
    """What an earlier run of the same command translated until it was stopped, in PREFIX.part."""
    from coursepkg.part_file import Kept, PartFile
    from coursepkg.projects.translation.back_translation.generate import CHUNK

    identity = {
        "command": type(options).__name__,
        "model": translator.fingerprint,
        "from": options.common.source,
        "to": options.common.target,
        "method": method.as_json(),
        "batch_size": options.search.batch_size,
        "chunk": CHUNK,
        "input": hashlib.sha256(json.dumps(texts).encode()).hexdigest(),
    }
    part = PartFile(prefix, identity)
    if part.n_lines:
        print(f"going on behind {part.n_lines} times {CHUNK} sentences of an earlier run", file=sys.stderr)
    return Kept(part)


def _write(
    common: Common,
    prefix: Path,
    made: "Synthetic",
    translator: "Translator",
    folder: Path,
    corpus: str,
    more: dict[str, Any],
    kept: "Kept",
) -> int:
    """Write the files with their card, remove the part, and say what is in them."""
    from coursepkg.projects.translation.back_translation.files import origins, write_pairs
    from coursepkg.projects.translation.ensemble import cards_of

    # A set: the model may have been trained on the corpus that it translates.
    card = {"corpora": sorted({corpus, *origins(cards_of(translator))}), "model": folder.name, **more}
    card = write_pairs(prefix, made, common.source, common.target, card)
    kept.part.discard()
    print(made)
    print(f"written: {prefix}.{common.source}, {prefix}.{common.target}, {prefix}.json")
    if common.json:
        print_json(card)
    return 0


def _say(done: int, total: int) -> None:
    print(f"{done} of {total} sentences", file=sys.stderr)
