"""What `coursepkg translation train`, `evaluate` and `export` do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursepkg.app.evaluation import limited, origin_of
from coursepkg.app.model_folder import (
    attribution_in,
    start_folder,
    write_attribution,
)
from coursepkg.app.options import set_training_threads
from coursepkg.app.output import check_out_folder, print_json, required_out
from coursepkg.app.training_run import Trained
from coursepkg.app.verbs import report_training
from coursepkg.bench.machine import circumstances
from coursepkg.blocks.transformer import Transformer
from coursepkg.metrics.scoring import comparison_as_json
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.competition_rules import check_contest_rules
from coursepkg.projects.translation.corpora import CORPORA, Parts, load_parts
from coursepkg.projects.translation.corpus import (
    SentencePair,
    numbered_lines,
    read_parallel,
    to_model,
)
from coursepkg.projects.translation.ensemble import (
    cards_of,
    load_system,
    load_translator,
    system_note,
    system_settings,
)
from coursepkg.projects.translation.errors.analysis import ErrorTable, analyse
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.postprocess import PostProcessor
from coursepkg.projects.translation.evaluate import (
    Evaluation,
    compare_systems,
    evaluate,
    search_note,
    seen_by,
    translate_pairs,
)
from coursepkg.projects.translation.fine_tuning import (
    check_start,
    mixed_in,
)
from coursepkg.projects.translation.predict import DEFAULT, Translation, Translator
from coursepkg.projects.translation.report import write_evaluation, write_hard
from coursepkg.projects.translation.train import train
from coursepkg.training.run_card import read_calls, read_card, stored_card
from coursepkg.validation import check_count

if TYPE_CHECKING:
    from coursepkg.projects.translation.commands import Evaluate, Export, Train


@dataclass(frozen=True)
class _Test:
    """What is scored, the same for both systems of a comparison."""

    options: "Evaluate"
    parts: Parts
    pairs: Sequence[SentencePair]
    """Those of the part, or the first ones."""
    dictionary: Dictionary | None

    @property
    def name(self) -> str:
        """For the signature."""
        part = self.options.part
        first = limited(self.options.limit, len(getattr(self.parts, part)))
        return f"{self.parts.corpus} {part}{first}"

    def repairs(self, underscores: bool) -> PostProcessor | None:
        """What repairs the lines of a system; None unless it is asked for."""
        if not self.options.repair:
            return None
        return PostProcessor(
            self.parts.source,
            self.parts.target,
            self.dictionary,
            underscores=underscores,
        )


def evaluate_command(options: "Evaluate") -> int:
    """Score, report and return the exit code."""
    common = options.common
    check_out_folder(common.out)
    check_count("--limit", options.limit, least=0)
    check_count("--hard", options.hard, least=0)
    if options.hard and common.out is None:
        raise ValueError("--hard needs --out FOLDER, where the hard examples go")
    if options.hard and options.part != "train":
        raise ValueError(
            f"--hard writes training pairs, and the {options.part} part must never be"
            " trained on; add --part train"
        )
    corpus = common.corpus_of(options.search.model)
    parts = load_parts(corpus, common.source, common.target)
    pairs = getattr(parts, options.part)[: options.limit or None]
    terms = options.dictionary
    dictionary = None if terms is None else Dictionary.load(terms)
    test = _Test(options, parts, pairs, dictionary)
    if not pairs:
        raise ValueError(
            f"the {options.part} part of {parts.corpus} has no sentence; choose another"
            " --part"
        )
    file, other = options.hypotheses, options.against
    system = load_system(common, options.search) if file is None else None
    # What cannot be compared is told before the long work.
    theirs = None if other is None else _other_system(test, other)
    if system is not None:
        found, result = _translated(test, system[0], parts.notes)
        origin = _origin(options, *system)
    elif file is not None:
        found, result = [], _from_file(test, file, parts.notes)
        # No more is known of a file.
        origin = {"model": f"file {file.name}"}
    print(result)
    scored_on = {"part": options.part, "corpus": parts.corpus}
    document = result.as_json() | scored_on | origin | circumstances()
    if other is not None and theirs is not None:
        document["against"] = _compare(other, theirs, result)
    table = _errors(test, found, result)
    print(table)
    document["errors"] = table.as_json(0, texts=False)
    if common.out is not None:
        write_evaluation(common.out, result, table, document)
        if options.hard:
            write_hard(common.out, pairs, table.hard_examples(options.hard), parts)
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
    """Score translations of a part, sources seen in training apart.

    Args:
        protocol: split and decoding in a few words.
        translator: what wrote the translations; None: a file of which no more is known.
        notes: what is known of them.
        repairs: what is done to them before they are scored.
    """
    if repairs is not None:
        lines, repaired = repairs.lines([p.source for p in pairs], lines)
        notes, protocol = [*notes, repaired], f"{protocol}, repaired"
    # Of what wrote the lines of a file nothing is known.
    cards = None if translator is None else cards_of(translator)
    seen, unclear = seen_by(cards, parts.source)
    return evaluate(
        lines,
        pairs,
        parts.source,
        parts.target,
        protocol=protocol,
        seen=seen,
        notes=[*notes, *unclear],
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
    search = options.search
    asked = search_note(
        translator,
        parts.source,
        parts.target,
        search.beam_size,
        search.reverse_weight,
        search.length_penalty,
    )
    return found, scored(
        [one.line for one in found],
        parts,
        test.pairs,
        f"{test.name}, {asked}{system_note(translator)}",
        translator=translator,
        notes=[*notes, *more],
        repairs=test.repairs(translator.recipe.underscores == "keep"),
    )


def _from_file(test: _Test, file: Path, notes: Sequence[str] = ()) -> Evaluation:
    """Score the translations that are in a file."""
    lines = [text for _, text in numbered_lines(file)]
    if len(lines) != len(test.pairs):
        raise ValueError(
            f"{file}: {len(lines)} lines, but the part has {len(test.pairs)} sentences"
        )
    repairs = test.repairs(any("_" in line for line in lines))
    return scored(
        lines, test.parts, test.pairs, test.name, notes=notes, repairs=repairs
    )


def _origin(
    options: "Evaluate", translator: Translator, folder: Path
) -> dict[str, Any]:
    """What wrote the translations: the model with its recipe, seed and search."""
    search = options.search.options()
    search |= {
        name: getattr(translator.recipe, name)
        for name in ("beam_size", "length_penalty")
        if search[name] is None
    }
    search["reverse_weight"] = translator.reverse_weight_of(
        options.common.source,
        options.common.target,
        search["reverse_weight"],
        search["beam_size"],
    )
    search |= {"repair": options.repair} | _members(options, translator, folder)
    origin = origin_of(translator.recipe, stored_card(folder), folder)
    return {"model": folder.name, **origin, "search": search}


def _members(
    options: "Evaluate", translator: Translator, folder: Path
) -> dict[str, Any]:
    """Ensemble and neighbours, each member with how long it trained."""
    told = system_settings(translator)
    for member, run in zip(
        told.get("ensemble", ()), (folder, *options.search.ensemble), strict=False
    ):
        member["calls"] = read_calls(run)
    return told


def _other_system(test: _Test, other: Path) -> Evaluation:
    """Score another model's translations, or those in a file."""
    if other.is_dir():
        return _translated(test, Translator.load(other))[1]
    return _from_file(test, other)


def _compare(other: Path, theirs: Evaluation, result: Evaluation) -> dict[str, Any]:
    """Compare with the other system, whose model or file is named."""
    comparison = compare_systems(theirs, result)
    for note in theirs.notes:
        print(f"note: {other}: {note}")
    print(f"against {other}: {comparison}")
    notes = {"comparison": str(comparison), "notes": list(theirs.notes)}
    return {"other": str(other)} | comparison_as_json(comparison) | notes


def _errors(
    test: _Test, found: Sequence[Translation], result: Evaluation
) -> ErrorTable:
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


def train_command(options: "Train") -> int:
    """Train, score the dev part, and return the exit code."""
    common = options.common
    check_out_folder(common.out)
    set_training_threads(options.threads, common.preset)
    options = replace(options, start=start_folder(options.start, DEFAULT))
    corpora = _training_corpora(options)
    if options.contest_rules:
        check_contest_rules(options, corpora)
    if options.start is not None:
        for note in check_start(options.start, common.source, common.target):
            print(f"note: {note}")
    out, parts = common.out or common.run_folder, corpora[0]
    trained = train(
        options.recipe,
        corpora,
        out,
        seed=options.seed,
        extra=_prefixed("--extra", options.extra, options),
        start=options.start,
        round_trips=_prefixed("--round-trips", options.round_trips, options),
        resume=options.resume,
        contest_rules=options.contest_rules,
    )
    translator = trained.translator
    found, notes = translate_pairs(translator, parts.dev, common.source, common.target)
    result = scored(
        [one.line for one in found],
        parts,
        parts.dev,
        f"{parts.corpus} dev, {search_note(translator, parts.source, parts.target)}",
        translator=translator,
        notes=notes,
    )
    return report_training(
        Trained(trained.model, trained.history, trained.card),
        result,
        out=out,
        then=f"translate with: coursepkg translation predict --model {out} --text ...",
        as_json=common.json,
    )


def _training_corpora(options: "Train") -> list[Parts]:
    """What a run learns: the corpus of --data, and those that --also asks for."""
    common = options.common
    corpus = common.corpus()
    first = load_parts(corpus, common.source, common.target)
    if corpus not in ("auto", *CORPORA):
        return [first, *mixed_in(first, options.also, options.start)]
    more = (load_parts(corpus, source, common.target) for source in options.also)
    return [first, *more]


def _prefixed(flag: str, prefix: Path | None, options: "Train") -> list[SentencePair]:
    """The pairs of PREFIX.zh and PREFIX.vi, if they were made for this direction."""
    if prefix is None:
        return []
    source, target = options.common.source, options.common.target
    card = Path(f"{prefix}.json")
    told = read_card(card) if card.is_file() else {}
    made = told.get("from"), told.get("to")
    if None in made:
        print(
            f"note: {card} does not say for which direction the pairs of {flag} were"
            " made"
        )
    elif made != (source, target):
        raise ValueError(
            f"{flag} {prefix} was made for {made[0]} to {made[1]}, and this run learns"
            f" {source} to {target}; make pairs with --from {source} --to {target}"
        )
    return read_parallel(f"{prefix}.{source}", f"{prefix}.{target}")


def export_command(options: "Export") -> int:
    """Export and return the exit code."""
    out = required_out(options.common.out)
    if options.format == "onnx" and options.quantization != "none":
        raise ValueError(
            "--quantization is CTranslate2's; leave it out, or the --format onnx"
        )
    translator, folder = load_translator(options.common, options.model)
    if not isinstance(translator.model, Transformer):
        raise ValueError(
            f"{folder} holds a {type(translator.model).__name__}; only a Transformer"
            " can be exported"
        )
    attribution = attribution_in(folder)
    if options.format == "onnx":
        told = _export_onnx(translator, out, attribution)
    else:
        _export_ctranslate2(translator, out, options.quantization, attribution)
        told = {"quantization": options.quantization}
    print(f"exported to {out}")
    if options.common.json:
        print_json({"out": str(out), **told})
    return 0


def _export_ctranslate2(
    translator: Translator, out: Path, quantization: str, attribution: str
) -> None:
    from coursepkg.projects.translation.export.convert import export_ctranslate2
    from coursepkg.projects.translation.export.runtime import write_card

    def also(part: Path) -> None:
        write_card(part, translator)
        write_attribution(part, attribution)

    subwords = translator.subwords
    export_ctranslate2(
        translator.model,
        subwords.target.pieces,
        out,
        quantization=quantization,
        source_pieces=None if subwords.joint else subwords.source.pieces,
        also=also,
    )


def _export_onnx(translator: Translator, out: Path, attribution: str) -> dict[str, Any]:
    """The card without the vocabulary, which is long."""
    from coursepkg.projects.translation.export.graphs import export_onnx

    card = export_onnx(translator, out, attribution)
    return {name: told for name, told in card.items() if "vocabulary" not in name}
