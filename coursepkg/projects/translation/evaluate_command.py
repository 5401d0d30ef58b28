"""What `coursepkg translation evaluate` does: translate, score, compare, analyse, write it all down."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.files import whole_file
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.commands import Evaluate
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, numbered_lines, to_model
from coursepkg.projects.translation.errors.analysis import ErrorTable, analyse
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.postprocess import PostProcessor
from coursepkg.projects.translation.evaluate import Evaluation, compare_systems, evaluate, translate_pairs
from coursepkg.projects.translation.predict import Translation, Translator
from coursepkg.projects.translation.predict_command import load_translator
from coursepkg.projects.translation.report import Report, write_report
from coursepkg.projects.translation.run_folder import stored_card
from coursepkg.projects.translation.studies.measured_run import circumstances


def evaluate_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    common = options.common
    check_count("--limit", options.limit, least=0)
    check_count("--hard", options.hard, least=0)
    if options.hard and common.out is None:
        raise ValueError("--hard needs --out FOLDER, where the hard examples go")
    parts = load_parts(common.corpus(options.search.model), common.source, common.target)
    pairs = getattr(parts, options.part)
    pairs = pairs[: options.limit] if options.limit else pairs
    translator, folder = load_translator(common, options.search.model)
    dictionary = None if options.dictionary is None else Dictionary.load(options.dictionary)
    for note in parts.notes:
        print(f"note: {note}")
    found, result = _system(options, options.hypotheses, translator, parts, pairs, dictionary)
    print(result)
    document = result.as_json() | {"part": options.part, "corpus": parts.corpus}
    document |= _origin(options, translator, folder) | circumstances()
    if options.against is not None:
        document["against"] = _compare(options, translator, parts, pairs, result, dictionary)
    table = analyse(
        [to_model(text, parts.source) for text in result.sources],
        result.hypotheses,
        result.references,
        source_language=parts.source,
        target_language=parts.target,
        dictionary=dictionary,
        alignments=[_alignment(one) for one in found] if found else None,
    )
    print(table)
    document["errors"] = table.as_json(0, texts=False)
    if common.out is not None:
        facts = {"data": f"{parts.corpus}, {options.part}", "model": document["model"]}
        _write(common.out, result, table, document, facts)
        if options.hard:
            _write_hard(common.out, pairs, table.hard_examples(options.hard), parts)
    if common.json:
        print(json.dumps(document, ensure_ascii=False))
    return 0


def scored(
    found: Sequence[Translation],
    parts: Parts,
    pairs: Sequence[SentencePair],
    name: str,
    translator: Translator,
    notes: Sequence[str],
    beam_size: int | None = None,
    repairs: PostProcessor | None = None,
) -> Evaluation:
    """Score translations of a part; notes about them are printed."""
    lines = [one.n_best[0].line for one in found]
    if repairs is not None:
        repaired = [
            repairs(to_model(p.source, parts.source), line) for p, line in zip(pairs, lines, strict=True)
        ]
        lines = [one.text for one in repaired]
        changes = [change for one in repaired for change in one.changes]
        notes = [*notes, f"{len(changes)} repairs in {sum(bool(one.changes) for one in repaired)} sentences"]
    beams = beam_size or translator.recipe.beam_size
    for note in notes:
        print(f"note: {note}")
    return evaluate(
        lines,
        pairs,
        parts.source,
        parts.target,
        protocol=f"{parts.corpus} {name}, beam {beams}{', repaired' if repairs else ''}",
        seen=parts.train,
    )


def _system(
    options: Evaluate,
    file: Path | None,
    translator: Translator,
    parts: Parts,
    pairs: Sequence[SentencePair],
    dictionary: Dictionary | None,
) -> tuple[list[Translation], Evaluation]:
    """Translate the pairs, or take translations from a file, and score them."""
    name = f"{options.part}, first {options.limit}" if options.limit else options.part
    if file is not None:
        lines = [text for _, text in numbered_lines(file)]
        if len(lines) != len(pairs):
            raise ValueError(f"{file}: {len(lines)} lines, but the part has {len(pairs)} sentences")
        protocol = f"{parts.corpus} {name}"
        return [], evaluate(lines, pairs, parts.source, parts.target, protocol=protocol, seen=parts.train)
    found, notes = translate_pairs(
        translator,
        pairs,
        parts.source,
        parts.target,
        alignments=options.common.out is not None,
        **options.search.options(),
    )
    underscores = translator.recipe.underscores == "keep"
    repairs = (
        PostProcessor(parts.source, parts.target, dictionary, underscores=underscores)
        if options.repair
        else None
    )
    return found, scored(found, parts, pairs, name, translator, notes, options.search.beam_size, repairs)


def _origin(options: Evaluate, translator: Translator, folder: Path) -> dict[str, Any]:
    """What wrote the translations: the model with its recipe, seed and search, or a file of which no more is known."""
    if options.hypotheses is not None:
        return {"model": f"file {options.hypotheses.name}"}
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
        "training": {name: value for name, value in card.items() if name not in ("recipe", "seed")},
        "search": search | {"repair": options.repair},
    }


def _compare(
    options: Evaluate,
    translator: Translator,
    parts: Parts,
    pairs: Sequence[SentencePair],
    result: Evaluation,
    dictionary: Dictionary | None,
) -> dict[str, Any]:
    other = options.against
    assert other is not None
    theirs, file = (Translator.load(other), None) if other.is_dir() else (translator, other)
    comparison = compare_systems(_system(options, file, theirs, parts, pairs, dictionary)[1], result)
    print(f"against {other}: {comparison}")
    return {"system": str(other), "comparison": str(comparison)}


def _alignment(one: Translation) -> Alignment | None:
    """Cross-attention over the pieces of the text, without tag and EOS."""
    if one.alignment is None:
        return None
    first = int(one.source_tokens[0].startswith("<2"))
    weights = one.alignment[:, first : len(one.source_tokens)].double().numpy()
    return Alignment(one.source_tokens[first:], one.n_best[0].tokens, weights)


def _write(
    out: Path, result: Evaluation, table: ErrorTable, document: dict[str, Any], facts: dict[str, str]
) -> None:
    """Translations, references, scores and the report, each file whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    files = {
        "hypotheses.txt": "\n".join(result.hypotheses) + "\n",
        "references.txt": "\n".join(result.references) + "\n",
        "sources.txt": "\n".join(result.sources) + "\n",
        "evaluation.json": json.dumps(document, ensure_ascii=False, indent=2) + "\n",
    }
    for name, content in files.items():
        with whole_file(out / name) as file:
            file.write(content.encode())
    title = f"{result.source} to {result.target}: {facts['data']}"
    write_report(out / "report.html", Report(title, table, result.scores, facts, result.notes))
    print(f"report in {out / 'report.html'}")


def _write_hard(out: Path, pairs: Sequence[SentencePair], chosen: Sequence[int], parts: Parts) -> None:
    """The hard examples as further training pairs, with a card that says where they are from."""
    for language, side in ((parts.source, "source"), (parts.target, "target")):
        with whole_file(out / f"hard.{language}") as file:
            file.write("".join(getattr(pairs[i], side).strip() + "\n" for i in chosen).encode())
    with whole_file(out / "hard.json") as file:
        file.write((json.dumps({"corpora": [parts.corpus], "n": len(chosen)}) + "\n").encode())
