"""What `coursepkg translation evaluate` does: translate, score, compare, analyse, write it all down."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.bench.machine import circumstances
from coursepkg.documents import print_json
from coursepkg.metrics.bootstrap import comparison_as_json
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.commands import Evaluate
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, numbered_lines, to_model
from coursepkg.projects.translation.ensemble import cards_of, system_note, system_settings
from coursepkg.projects.translation.errors.analysis import ErrorTable, analyse
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.postprocess import PostProcessor
from coursepkg.projects.translation.evaluate import (
    Evaluation,
    compare_systems,
    evaluate,
    translate_pairs,
)
from coursepkg.projects.translation.evaluation_folder import write_evaluation, write_hard
from coursepkg.projects.translation.learnt import seen_by
from coursepkg.projects.translation.predict import Translation, Translator
from coursepkg.projects.translation.predict_command import load_system
from coursepkg.training.call_log import read_calls
from coursepkg.training.run_card import stored_card


@dataclass(frozen=True)
class _Test:
    """What is scored, the same for both systems of a comparison."""

    options: Evaluate
    parts: Parts
    pairs: Sequence[SentencePair]
    """Those of the part, or the first ones."""
    dictionary: Dictionary | None

    @property
    def name(self) -> str:
        """For the signature."""
        limited = f", first {self.options.limit}" if self.options.limit else ""
        return f"{self.parts.corpus} {self.options.part}{limited}"

    def repairs(self, underscores: bool) -> PostProcessor | None:
        """What repairs the lines of a system that writes underscores, or does not; None unless it is asked for."""
        if not self.options.repair:
            return None
        return PostProcessor(self.parts.source, self.parts.target, self.dictionary, underscores=underscores)


def evaluate_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    common = options.common
    check_count("--limit", options.limit, least=0)
    check_count("--hard", options.hard, least=0)
    if options.hard and common.out is None:
        raise ValueError("--hard needs --out FOLDER, where the hard examples go")
    if options.hard and options.part != "train":
        raise ValueError(
            f"--hard writes training pairs, and the {options.part} part must never be trained on; add --part train"
        )
    parts = load_parts(common.corpus(options.search.model), common.source, common.target)
    pairs = getattr(parts, options.part)
    dictionary = None if options.dictionary is None else Dictionary.load(options.dictionary)
    test = _Test(options, parts, pairs[: options.limit] if options.limit else pairs, dictionary)
    if not test.pairs:
        raise ValueError(f"the {options.part} part of {parts.corpus} has no sentence; choose another --part")
    if options.hypotheses is None:
        translator, folder = load_system(common, options.search)
        found, result = _translated(test, translator, parts.notes)
        origin = _origin(options, translator, folder)
    else:
        found, result = [], _from_file(test, options.hypotheses, parts.notes)
        origin = {"model": f"file {options.hypotheses.name}"}  # of which no more is known
    print(result)
    document = result.as_json() | {"part": options.part, "corpus": parts.corpus} | origin | circumstances()
    if options.against is not None:
        document["against"] = _compare(test, options.against, result)
    table = _errors(test, found, result)
    print(table)
    document["errors"] = table.as_json(0, texts=False)
    if common.out is not None:
        write_evaluation(common.out, result, table, document)
        if options.hard:
            write_hard(common.out, test.pairs, table.hard_examples(options.hard), parts)
    if common.json:
        print_json(document)
    return 0


def scored(
    lines: Sequence[str],
    parts: Parts,
    pairs: Sequence[SentencePair],
    protocol: str,
    *,
    translator: Translator | None = None,
    notes: Sequence[str] = (),
    repairs: PostProcessor | None = None,
) -> Evaluation:
    """Score translations of a part, and say of each source whether their model has learnt from it.

    Args:
        lines: the translations.
        parts: the corpus.
        pairs: of it, one for each translation.
        protocol: split and decoding in a few words.
        translator: what wrote the translations; None: a file of which no more is known.
        notes: what is known of them.
        repairs: what is done to them before they are scored.
    """
    if repairs is not None:
        lines, repaired = repairs.lines([p.source for p in pairs], lines)
        notes, protocol = [*notes, repaired], f"{protocol}, repaired"
    if translator is None:
        seen, unclear = (
            None,
            ["seen and unseen sources are not told apart: nothing says what the file's model learnt"],
        )
    else:
        seen, unclear = seen_by(cards_of(translator), parts.source)
    return evaluate(
        lines, pairs, parts.source, parts.target, protocol=protocol, seen=seen, notes=[*notes, *unclear]
    )


def _translated(
    test: _Test, translator: Translator, notes: Sequence[str] = ()
) -> tuple[list[Translation], Evaluation]:
    """Translate the pairs and score that."""
    options, parts = test.options, test.parts
    found, more = translate_pairs(
        translator,
        test.pairs,
        parts.source,
        parts.target,
        alignments=options.common.out is not None,
        **options.search.options(),
    )
    beams = options.search.beam_size or translator.recipe.beam_size
    return found, scored(
        [one.line for one in found],
        parts,
        test.pairs,
        f"{test.name}, beam {beams}{system_note(translator)}",
        translator=translator,
        notes=[*notes, *more],
        repairs=test.repairs(translator.recipe.underscores == "keep"),
    )


def _from_file(test: _Test, file: Path, notes: Sequence[str] = ()) -> Evaluation:
    """Score the translations that are in a file."""
    lines = [text for _, text in numbered_lines(file)]
    if len(lines) != len(test.pairs):
        raise ValueError(f"{file}: {len(lines)} lines, but the part has {len(test.pairs)} sentences")
    repairs = test.repairs(any("_" in line for line in lines))
    return scored(lines, test.parts, test.pairs, test.name, notes=notes, repairs=repairs)


def _origin(options: Evaluate, translator: Translator, folder: Path) -> dict[str, Any]:
    """What wrote the translations: the model with its recipe, seed and search."""
    card, search = stored_card(folder), options.search.options()
    search |= {
        name: getattr(translator.recipe, name)
        for name in ("beam_size", "length_penalty")
        if search[name] is None
    }
    return {
        "model": folder.name,
        "recipe": translator.recipe.described(),
        "seed": card.get("seed"),
        "training": {name: value for name, value in card.items() if name not in ("recipe", "seed")}
        | {"calls": read_calls(folder)},
        "search": search | {"repair": options.repair} | _members(options, translator, folder),
    }


def _members(options: Evaluate, translator: Translator, folder: Path) -> dict[str, Any]:
    """Ensemble and neighbours, each member with how long it trained."""
    told = system_settings(translator)
    for member, run in zip(told.get("ensemble", ()), (folder, *options.search.ensemble), strict=False):
        member["calls"] = read_calls(run)
    return told


def _compare(test: _Test, other: Path, result: Evaluation) -> dict[str, Any]:
    """Another model's translations, or those in a file, against those that were scored."""
    if other.is_dir():
        theirs = _translated(test, Translator.load(other))[1]
    else:
        theirs = _from_file(test, other)
    comparison = compare_systems(theirs, result)
    for note in theirs.notes:
        print(f"note: {other}: {note}")
    print(f"against {other}: {comparison}")
    notes = {"comparison": str(comparison), "notes": list(theirs.notes)}
    return {"other": str(other)} | comparison_as_json(comparison) | notes


def _errors(test: _Test, found: Sequence[Translation], result: Evaluation) -> ErrorTable:
    return analyse(
        [to_model(text, result.source) for text in result.sources],
        result.hypotheses,
        result.references,
        source_language=result.source,
        target_language=result.target,
        dictionary=test.dictionary,
        alignments=[_alignment(one) for one in found] if found else None,
    )


def _alignment(one: Translation) -> Alignment | None:
    """Cross-attention over the pieces of the text, without tag and EOS."""
    if one.alignment is None:
        return None
    first = int(one.source_tokens[0].startswith("<2"))
    weights = one.alignment[:, first : len(one.source_tokens)].double().numpy()
    return Alignment(one.source_tokens[first:], one.n_best[0].tokens, weights)
