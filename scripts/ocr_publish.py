"""From a finished run to the folder that ships: matrices in float16, and a card."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.bench.machine import circumstances
from coursepkg.files import whole_folder
from coursepkg.projects.ocr.baselines import evaluate_reader
from coursepkg.projects.ocr.evaluation import Evaluation
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.model.recognizer import rebuild
from coursepkg.projects.ocr.predict import VOCABULARY, Recognizer
from coursepkg.text.vocabulary import Vocabulary
from coursepkg.training.saved_model import check_weight, load_model, save_model
from coursepkg.training.weights import in_half, mean_weights


def publish(
    run: Path,
    folder: Path,
    *,
    parts: dict[str, Sequence[TextLine]],
    facts: dict[str, Any] | None = None,
    before: Path | None = None,
    share: float = 1.0,
) -> dict[str, Evaluation]:
    """Store the finished model of a run for `Recognizer.load`, measured as stored.

    Args:
        run: folder that `train` wrote.
        folder: where to; what it holds is replaced when everything else is done.
        parts: lines to measure on, by name.
        facts: what else the card is to say, as JSON can hold it.
        before: folder of the model that the run began with.
        share: of the run's weights in those that are stored; the rest is that of
            `before`.

    Returns:
        scores by part, which the card has, too.

    Raises:
        FileNotFoundError: the run is not finished.
        ValueError: the folder would be too heavy to ship.
    """
    if not (run / "model").is_dir():
        raise FileNotFoundError(f"{run}: no finished model in it; go on training first")
    vocabulary = Vocabulary.load(run / VOCABULARY)
    model, meta = load_model(run / "model", rebuild, vocabulary=vocabulary.fingerprint)
    if before is not None and share < 1:
        other = Recognizer.load(before).model
        model.load_state_dict(mean_weights([other, model], (1 - share, share)))
    halved = in_half(model)
    with whole_folder(folder) as work:
        vocabulary.save(work / VOCABULARY)
        save_model(work / "model", halved, **meta)
        reader = Recognizer.load(work)
        scores = {
            name: evaluate_reader(reader, lines, reader.describe_reading())
            for name, lines in parts.items()
        }
        shutil.rmtree(work / "model")
        found = {name: score.as_json() for name, score in scores.items()}
        card = meta | {"scores": found, "made": circumstances()} | (facts or {})
        save_model(work / "model", halved, **card)
        check_weight(work, folder)
    return scores
