"""What `coursepkg translation train` and `export` do."""

import json
from pathlib import Path

import torch

from coursepkg.documents import print_json
from coursepkg.projects.translation.commands import Export, Train
from coursepkg.projects.translation.contest import check_contest_rules
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, read_parallel
from coursepkg.projects.translation.evaluate import translate_pairs
from coursepkg.projects.translation.evaluate_command import scored
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.predict_command import load_translator
from coursepkg.projects.translation.train import Trained, train
from coursepkg.training.run_card import read_card


def train_command(options: Train) -> int:
    """Train, score the dev part, and return the exit code."""
    is_tiny = options.common.preset in (None, "tiny")
    if options.threads or is_tiny:
        torch.set_num_threads(options.threads or 1)
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
        extra=_prefixed("--extra", options.extra, options),
        start=options.start,
        round_trips=_prefixed("--round-trips", options.round_trips, options),
        resume=options.resume,
        contest_rules=options.contest_rules,
    )
    return _report(options, trained, parts)


def _prefixed(flag: str, prefix: Path | None, options: Train) -> list[SentencePair]:
    """The pairs of PREFIX.zh and PREFIX.vi, in the direction of training."""
    if prefix is None:
        return []
    _check_direction(flag, prefix, options)
    return read_parallel(
        *(Path(f"{prefix}.{language}") for language in (options.common.source, options.common.target))
    )


def _check_direction(flag: str, prefix: Path, options: Train) -> None:
    """Raises a ValueError if the card of the pairs says that they were made for another direction."""
    card, wanted = Path(f"{prefix}.json"), (options.common.source, options.common.target)
    told = read_card(card) if card.is_file() else {}
    made = told.get("from"), told.get("to")
    if None in made:
        print(f"note: {card} does not say for which direction the pairs of {flag} were made")
    elif made != wanted:
        raise ValueError(
            f"{flag} {prefix} was made for {made[0]} to {made[1]}, and this run learns {wanted[0]} to {wanted[1]}; "
            f"make pairs with --from {wanted[0]} --to {wanted[1]}"
        )


def _report(options: Train, trained: Trained, parts: Parts) -> int:
    out = options.common.out or options.common.run_folder
    card = trained.card
    translator = Translator(trained.model, trained.subwords, options.recipe, card["directions"], card)
    found, notes = translate_pairs(translator, parts.dev, options.common.source, options.common.target)
    protocol = f"{parts.corpus} dev, beam {translator.recipe.beam_size}"
    lines = [one.line for one in found]
    result = scored(lines, parts, parts.dev, protocol, translator=translator, notes=notes)
    print(result)
    print(f"model in {out}; translate with: coursepkg translation predict --model {out} --text ...")
    if options.common.json:
        card |= {"seconds": trained.history.seconds, "stopped": trained.history.stopped}
        print_json({"out": str(out), "card": card, "dev": result.as_json()})
    return 0


def export_command(options: Export) -> int:
    """Export and return the exit code."""
    from coursepkg.blocks.transformer import Transformer
    from coursepkg.projects.translation.export.convert import export_ctranslate2

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
