"""A T5 run from data to scores: what the command `t5-train` does."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.bench.machine import circumstances
from coursepkg.projects.translation.t5.corpora import Direction, directions_of
from coursepkg.projects.translation.t5.evaluate import score_direction, scores_as_json, table_scores
from coursepkg.projects.translation.t5.model import T5, load_t5, save_t5, tiny_t5
from coursepkg.projects.translation.t5.tokenizer import Coverage, coverage
from coursepkg.projects.translation.t5.train import FineTuning, fine_tune
from coursepkg.training.files import write_json


def run_training(
    settings: FineTuning,
    *,
    model: str,
    source: str,
    target: str,
    out: Path,
    both: bool = False,
    corpus: str = "auto",
    beam_size: int = 4,
    vocab_size: int = 4000,
    n_train: int = 0,
    max_seconds: int | float | None = None,
    resume: bool = False,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Report coverage, fine-tune, score, save.

    Args:
        settings: how to train.
        model: `tiny`, a folder or a name on the Hub.
        source: language to translate from.
        target: language to translate into.
        out: folder of the run.
        both: learn the other direction, too.
        corpus: name of the data, see `directions_of`.
        beam_size: beams of the search on the test part.
        vocab_size: most pieces of the tiny model.
        n_train: training pairs to take, the first ones; 0 takes all.
        max_seconds: limit of training.
        resume: go on with the run in `out`.
        folder: of the data sets; None is `data_folder()`.

    Returns:
        what `out/result.json` holds.

    Raises:
        ValueError: data or settings cannot be trained with, or `out` holds another run.
        OSError: the model cannot be loaded, or `out` not be written.
    """
    check_count("--n-train", n_train, least=0)
    check_count("--beam-size", beam_size)
    if not resume and out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} already holds a run; add --resume or choose another --out")
    directions = directions_of(source, target, corpus=corpus, both=both, folder=folder)
    directions = [_shortened(direction, n_train) for direction in directions]
    for note in directions[0].parts.notes:
        print(f"note: {note}")
    t5 = _start(model, directions, out, vocab_size, settings.seed)
    covered = report_coverage(t5, directions[0])
    history, notes = fine_tune(
        t5, directions, settings, out=out / "run", resume=resume, max_seconds=max_seconds, progress=True
    )
    for note in notes:
        print(f"note: {note}")
    prefixes = {direction.name: direction.prefix for direction in directions}
    save_t5(t5, out / "model", prefixes=prefixes, began_with=model, corpus=directions[0].parts.corpus)
    result = {
        "model": model,
        "parameters": sum(p.numel() for p in t5.network.parameters()),
        "corpus": directions[0].parts.corpus,
        "settings": dataclasses.asdict(settings),
        "steps": history.step,
        "stopped": history.stopped,
        "best_dev_loss": history.best_score,
        "coverage": {name: one.lost_share for name, one in covered.items()},
        "seconds": round(history.seconds, 1),
        "notes": [*directions[0].parts.notes, *notes],
        "scores": {d.name: _scored(t5, d, beam_size, settings) for d in directions},
        **circumstances(),
    }
    write_json(out / "result.json", result)
    return result


def report_coverage(t5: T5, direction: Direction) -> dict[str, Coverage]:
    """Print what the vocabulary loses of either side, in training and test part, with a warning where it is much."""
    found = {}
    for part in ("train", "test"):
        pairs = direction.natural(getattr(direction.parts, part))
        for language, texts in (
            (direction.parts.source, [p.source for p in pairs]),
            (direction.parts.target, [p.target for p in pairs]),
        ):
            one = coverage(t5.tokenizer, texts)
            found[f"{language} {part}"] = one
            print(f"coverage of {language}, {part}: {one}")
            if one.warning:
                print(one.warning)
    return found


def _start(model: str, directions: Sequence[Direction], out: Path, vocab_size: int, seed: int) -> T5:
    """The model to begin with; a tiny one is stored first, so that a resumed run begins with the same one."""
    if model != "tiny":
        return load_t5(model)
    folder = out / "start"
    if not folder.is_dir():
        pairs = [pair for d in directions for pair in d.natural(d.parts.train)]
        texts = dict.fromkeys(text for pair in pairs for text in (pair.source, pair.target))
        save_t5(tiny_t5(texts, vocab_size=vocab_size, seed=seed), folder)
    return load_t5(folder)


def _shortened(direction: Direction, n_train: int) -> Direction:
    parts = direction.parts
    train = parts.train[: n_train or None]
    return dataclasses.replace(direction, parts=dataclasses.replace(parts, train=train))


def _scored(t5: T5, direction: Direction, beam_size: int, settings: FineTuning) -> dict[str, Any]:
    """Scores of a direction, printed and as JSON; for Nom those of looking up as well."""
    found, outputs = score_direction(
        t5, direction, beam_size=beam_size, max_tokens=settings.max_tokens, batch_size=settings.batch_size
    )
    tables = {"T5": found}
    if "nom" in (direction.parts.source, direction.parts.target):
        tables["look-up"] = table_scores(direction)
    for system, scores in tables.items():
        for name, score in scores.items():
            print(f"{system}, {direction.name}, {name}: {score}")
    mean = math.fsum(one.confidence for one in outputs) / len(outputs)
    return {name: scores_as_json(scores) for name, scores in tables.items()} | {"mean_confidence": mean}
