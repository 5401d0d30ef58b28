"""What `coursepkg translation train`, `evaluate` and `export` do."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from coursepkg.files import whole_file
from coursepkg.projects.translation.commands import Evaluate, Export, Train
from coursepkg.projects.translation.contest import check_contest_rules
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, numbered_lines, read_parallel
from coursepkg.projects.translation.evaluate import (
    Evaluation,
    compare_systems,
    evaluate,
    translate_pairs,
)
from coursepkg.projects.translation.predict import Translation, Translator
from coursepkg.projects.translation.predict_command import load_translator
from coursepkg.projects.translation.train import Trained, train


def train_command(options: Train) -> int:
    """Train, score the dev part, and return the exit code."""
    if options.threads:
        torch.set_num_threads(options.threads)
    sources = (options.common.source, *options.also)
    corpora = [load_parts(options.common.corpus(), source, options.common.target) for source in sources]
    parts = corpora[0]
    if options.contest_rules:
        check_contest_rules(options, corpora)
    trained = train(
        options.recipe,
        corpora,
        options.common.out or options.common.run_folder,
        seed=options.seed,
        extra=_prefixed(options.extra, options),
        start=options.start,
        round_trips=_prefixed(options.round_trips, options),
        resume=options.resume,
    )
    return _report(options, trained, parts)


def _prefixed(prefix: Path | None, options: Train) -> list[SentencePair]:
    """The pairs of PREFIX.zh and PREFIX.vi, in the direction of training."""
    if prefix is None:
        return []
    return read_parallel(
        *(Path(f"{prefix}.{language}") for language in (options.common.source, options.common.target))
    )


def _report(options: Train, trained: Trained, parts: Parts) -> int:
    out = options.common.out or options.common.run_folder
    translator = Translator(trained.model, trained.subwords, options.recipe, trained.card["directions"])
    found, notes = translate_pairs(translator, parts.dev, options.common.source, options.common.target)
    result = _scored(found, parts, parts.dev, "dev", translator, notes)
    print(result)
    print(f"model in {out}; translate with: coursepkg translation predict --model {out} --text ...")
    if options.common.json:
        card = trained.card | {"seconds": trained.history.seconds, "stopped": trained.history.stopped}
        print(json.dumps({"out": str(out), "card": card, "dev": result.as_json()}, ensure_ascii=False))
    return 0


def evaluate_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    parts = load_parts(
        options.common.corpus(options.search.model), options.common.source, options.common.target
    )
    pairs = getattr(parts, options.part)
    pairs = pairs[: options.limit] if options.limit else pairs
    translator, _ = load_translator(options.common, options.search.model)
    found, result = _system(options, options.hypotheses, translator, parts, pairs)
    for note in parts.notes:
        print(f"note: {note}")
    print(result)
    document = result.as_json() | {"part": options.part, "corpus": parts.corpus}
    if options.against is not None:
        if options.against.is_dir():
            other = _system(options, None, Translator.load(options.against), parts, pairs)[1]
        else:
            other = _system(options, options.against, translator, parts, pairs)[1]
        comparison = compare_systems(result, other)
        print(f"against {options.against}: {comparison}")
        document["against"] = {"system": str(options.against), "comparison": str(comparison)}
    if options.common.out is not None:
        _write(options.common.out, result, found, document)
    if options.common.json:
        print(json.dumps(document, ensure_ascii=False))
    return 0


def export_command(options: Export) -> int:
    """Export and return the exit code."""
    from coursepkg.blocks.transformer import Transformer
    from coursepkg.projects.translation.export import export_ctranslate2

    if options.common.out is None:
        raise ValueError("--out FOLDER must be given, the folder to write")
    translator, folder = load_translator(options.common, options.model)
    if not isinstance(translator.model, Transformer):
        raise ValueError(
            f"{folder} holds a {type(translator.model).__name__}; only a Transformer can be exported"
        )
    subwords = translator.subwords
    export_ctranslate2(
        translator.model,
        subwords.target.pieces,
        options.common.out,
        quantization=options.quantization,
        source_pieces=None if subwords.joint else subwords.source.pieces,
        also=subwords.save,
    )
    print(f"exported to {options.common.out}")
    if options.common.json:
        print(json.dumps({"out": str(options.common.out), "quantization": options.quantization}))
    return 0


def _system(
    options: Evaluate, file: Path | None, translator: Translator, parts: Parts, pairs: Sequence[SentencePair]
) -> tuple[list[Translation], Evaluation]:
    """Translate the pairs, or take translations from a file, and score them."""
    name = f"{options.part}, first {options.limit}" if options.limit else options.part
    if file is not None:
        lines = [text for _, text in numbered_lines(file)]
        if len(lines) != len(pairs):
            raise ValueError(f"{file}: {len(lines)} lines, but the part has {len(pairs)} sentences")
        return [], evaluate(
            lines, pairs, parts.source, parts.target, protocol=f"{parts.corpus} {name}", seen=parts.train
        )
    found, notes = translate_pairs(
        translator,
        pairs,
        options.common.source,
        options.common.target,
        **options.search.options(),
    )
    return found, _scored(found, parts, pairs, name, translator, notes, options.search.beam_size)


def _scored(
    found: Sequence[Translation],
    parts: Parts,
    pairs: Sequence[SentencePair],
    name: str,
    translator: Translator,
    notes: Sequence[str],
    beam_size: int | None = None,
) -> Evaluation:
    beams = beam_size or translator.recipe.beam_size
    result = evaluate(
        [one.n_best[0].line for one in found],
        pairs,
        parts.source,
        parts.target,
        protocol=f"{parts.corpus} {name}, beam {beams}",
        seen=parts.train,
    )
    for note in notes:
        print(f"note: {note}")
    return result


def _write(out: Path, result: Evaluation, found: Sequence[Translation], document: dict[str, Any]) -> None:
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
