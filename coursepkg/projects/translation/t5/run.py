"""A T5 run from data to scores, as `t5-train` does it, and the baseline of Nom."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.app.output import check_out_folder
from coursepkg.bench.machine import circumstances
from coursepkg.files import write_json
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.edit import CER
from coursepkg.metrics.scoring import Score, score
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.evaluate import evaluate
from coursepkg.projects.translation.t5.data import Direction, directions_of, natural
from coursepkg.projects.translation.t5.model import (
    T5,
    Coverage,
    coverage,
    load_t5,
    save_t5,
    tiny_t5,
)
from coursepkg.projects.translation.t5.nom import ReadingTable, plain, table_pairs
from coursepkg.projects.translation.t5.train import (
    FineTuning,
    T5Output,
    fine_tune,
    write_texts,
)
from coursepkg.validation import check_count, check_positive


def score_direction(
    t5: T5,
    direction: Direction,
    *,
    beam_size: int,
    max_tokens: int,
    batch_size: int = 32,
) -> tuple[dict[str, Score], list[T5Output]]:
    """Scores on the test part by name, and the outputs.

    Nom is scored by its characters; for zh, vi and en the scores are those of every
    other translation model here.
    """
    parts, test = direction.parts, direction.parts.test
    outputs = write_texts(
        t5,
        [p.source for p in direction.natural(test)],
        direction.prefix,
        beam_size=beam_size,
        max_tokens=max_tokens,
        batch_size=batch_size,
    )
    predictions = [one.text for one in outputs]
    protocol = f"{parts.corpus} test {direction.name}, beam {beam_size}"
    if "nom" in (parts.source, parts.target):
        return nom_scores(predictions, test, parts.target, protocol), outputs
    spaced = [to_model(text, parts.target) for text in predictions]
    found = evaluate(spaced, test, parts.source, parts.target, protocol=protocol)
    return found.scores, outputs


def nom_scores(
    predictions: Sequence[str],
    pairs: Sequence[SentencePair],
    target: str,
    protocol: str,
) -> dict[str, Score]:
    """CER as written and, of quoc ngu, without case and punctuation; BLEU and chrF."""
    true = [natural(p.target, target) for p in pairs]
    scores = {"CER": score(CER(), predictions, true, protocol=protocol)}
    if target == "vi":
        folded = [plain(text) for text in predictions], [plain(text) for text in true]
        scores["CER, plain"] = score(CER(), *folded, protocol=f"{protocol}, plain")
    bleu = BLEU(tokenize="char" if target == "nom" else "13a")
    scores["BLEU"] = score(bleu, predictions, true, protocol=protocol)
    return scores | {"chrF": score(CHRF(), predictions, true, protocol=protocol)}


def table_scores(direction: Direction) -> dict[str, Score]:
    """Scores of looking up the most frequent partner: the baseline of Nom."""
    parts = direction.parts
    table = ReadingTable(table_pairs(parts.train, parts.source))
    predictions = [
        table.read(p.source) if parts.source == "nom" else table.write(p.source)
        for p in parts.test
    ]
    return nom_scores(
        predictions,
        parts.test,
        parts.target,
        f"{parts.corpus} test {direction.name}, look-up",
    )


def scores_as_json(scores: dict[str, Score]) -> dict[str, Any]:
    """Scores by name, each with its signature, as JSON can hold them."""
    return {
        name: {"value": one.value, "signature": f"{one.name}|{one.signature}"}
        for name, one in scores.items()
    }


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
        model: `tiny`, a folder or a name on the Hub.
        n_train: training pairs to take, the first ones; 0 takes all.
        folder: of the data sets; None is `data_folder()`.

    Returns:
        what `out/result.json` holds.

    Raises:
        ValueError: data or settings cannot be trained with, or `out` holds another run.
        OSError: the model cannot be loaded, or `out` not be written.
    """
    check_count("--n-train", n_train, least=0)
    check_count("--beam-size", beam_size)
    if max_seconds is not None:
        check_positive("--max-seconds", max_seconds)
    check_unused(out, resume)
    directions = directions_of(source, target, corpus=corpus, both=both, folder=folder)
    directions = [_shortened(direction, n_train) for direction in directions]
    for note in directions[0].parts.notes:
        print(f"note: {note}")
    t5 = _start(model, directions, out, vocab_size, settings.seed)
    covered = report_coverage(t5, directions[0])
    history, notes = fine_tune(
        t5,
        directions,
        settings,
        out=out / "run",
        resume=resume,
        max_seconds=max_seconds,
        progress=True,
    )
    for note in notes:
        print(f"note: {note}")
    prefixes = {direction.name: direction.prefix for direction in directions}
    save_t5(
        t5,
        out / "model",
        prefixes=prefixes,
        began_with=model,
        corpus=directions[0].parts.corpus,
    )
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


def check_unused(out: Path, resume: bool) -> None:
    """Raises a ValueError if a folder holds a run that is not to be resumed.

    So does a file.
    """
    check_out_folder(out)
    if not resume and out.exists() and any(out.iterdir()):
        raise ValueError(
            f"{out} already holds a run; add --resume or choose another --out"
        )


def report_coverage(t5: T5, direction: Direction) -> dict[str, Coverage]:
    """Print what the vocabulary loses of either side; warn where it is much."""
    found = {}
    for part in ("train", "test"):
        pairs = direction.natural(getattr(direction.parts, part))
        for side in ("source", "target"):
            language = getattr(direction.parts, side)
            one = coverage(t5.tokenizer, [getattr(pair, side) for pair in pairs])
            found[f"{language} {part}"] = one
            print(f"coverage of {language}, {part}: {one}")
            if one.warning:
                print(one.warning)
    return found


def _start(
    model: str, directions: Sequence[Direction], out: Path, vocab_size: int, seed: int
) -> T5:
    """The model to begin with; a tiny one is stored, so that a resumed run finds it."""
    if model != "tiny":
        return load_t5(model)
    folder = out / "start"
    if not folder.is_dir():
        pairs = [pair for d in directions for pair in d.natural(d.parts.train)]
        texts = dict.fromkeys(text for pair in pairs for text in pair[:2])
        tiny = tiny_t5(texts, vocab_size=vocab_size, seed=seed)
        save_t5(tiny, folder, vocab_size=vocab_size)
    return load_start(folder, vocab_size)


def load_start(folder: Path, vocab_size: int) -> T5:
    """The model that a run was begun with.

    Raises:
        ValueError: its vocabulary was learnt with another `--vocab-size`.
    """
    t5 = load_t5(folder)
    most = t5.card.get("vocab_size", vocab_size)
    if most != vocab_size:
        raise ValueError(
            f"{folder} holds a model that was begun with --vocab-size {most}, got"
            f" {vocab_size}; give that of the run or choose another --out"
        )
    return t5


def _shortened(direction: Direction, n_train: int) -> Direction:
    parts = direction.parts
    train = parts.train[: n_train or None]
    return dataclasses.replace(direction, parts=dataclasses.replace(parts, train=train))


def _scored(
    t5: T5, direction: Direction, beam_size: int, settings: FineTuning
) -> dict[str, Any]:
    """Scores of a direction, printed and as JSON; for Nom with the baseline's."""
    found, outputs = score_direction(
        t5,
        direction,
        beam_size=beam_size,
        max_tokens=settings.max_tokens,
        batch_size=settings.batch_size,
    )
    tables = {"T5": found}
    if "nom" in (direction.parts.source, direction.parts.target):
        tables["look-up"] = table_scores(direction)
    for system, scores in tables.items():
        for name, value in scores.items():
            print(f"{system}, {direction.name}, {name}: {value}")
    mean = math.fsum(one.confidence for one in outputs) / len(outputs)
    document = {name: scores_as_json(scores) for name, scores in tables.items()}
    return {**document, "mean_confidence": mean}
