"""Makes the recogniser that ships with the package: the preset small, learnt from generated lines and open fonts alone.

    scripts/install_fonts.sh fonts
    COURSEPKG_FONTS=fonts .venv/bin/python scripts/train_ocr_checkpoint.py --max-seconds 3000

A finished model learns from more lines, whole:

    ... scripts/train_ocr_checkpoint.py --start coursepkg/projects/ocr/checkpoint --seed 3000 --lines 200000 \
        --receipts 0.2 --varied 0.5 --printers 0.15 \
        --short-epochs 0 --epochs 0 --decoder-epochs 0 --together-epochs 1

Stopped at any time, and called again with the same options, it goes on: with the shards of lines that are missing, then
with the training. At the end the model is in coursepkg/projects/ocr/checkpoint/. The last line says what is left to do.
"""

import argparse
import dataclasses
import os
import time
from pathlib import Path

import torch
from ocr_curriculum import calls_of, run_stages, usual_stages
from ocr_fonts import font_facts
from ocr_publish import publish
from ocr_shards import ShardPlan, described, plan_sha256, write_shards

from coursepkg.projects.ocr.corpus import FULL, line_faces, synthetic_lines
from coursepkg.projects.ocr.data.batches import character_vocabulary
from coursepkg.projects.ocr.predict import DEFAULT, VOCABULARY
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from coursepkg.projects.ocr.synthetic.fonts import Face, split_faces
from coursepkg.projects.ocr.synthetic.render import LineConfig
from coursepkg.projects.ocr.synthetic.texts import TextConfig
from coursepkg.text.vocabulary import Vocabulary
from coursepkg.training.run_card import stored_card

FAMILIES = 40
"""Font families that a recogniser for all prints has to have seen."""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("runs/ocr-checkpoint"),
        help="lines, logs and checkpoints",
    )
    parser.add_argument(
        "--checkpoint", type=Path, default=DEFAULT, help="where the finished model goes"
    )
    parser.add_argument(
        "--start", type=Path, help="folder of a finished model to begin with"
    )
    parser.add_argument(
        "--share",
        type=float,
        default=1.0,
        help="of the trained weights in what ships; the rest is that of --start",
    )
    parser.add_argument(
        "--lines", type=int, default=240_000, help="lines to generate, 20 kB each"
    )
    for name in ("receipts", "varied", "printers", "unmarked"):
        share = getattr(ShardPlan, name)
        parser.add_argument(
            f"--{name}", type=float, default=share, help=f"see ShardPlan.{name}"
        )
    for name in ("currencies", "signs"):
        weight = getattr(TextConfig, name)
        parser.add_argument(
            f"--{name}", type=float, default=weight, help=f"see TextConfig.{name}"
        )
    parser.add_argument(
        "--short-epochs",
        type=int,
        default=1,
        help="passes over narrow lines first, without decoder",
    )
    parser.add_argument(
        "--epochs", type=int, default=3, help="passes over all lines, without decoder"
    )
    parser.add_argument(
        "--decoder-epochs",
        type=int,
        default=1,
        help="passes of the decoder; 0 ships CTC alone",
    )
    parser.add_argument(
        "--together-epochs",
        type=int,
        default=0,
        help="passes of the whole network at the end",
    )
    parser.add_argument(
        "--learning-rate", type=float, default=PRESETS["small"].learning_rate
    )
    parser.add_argument(
        "--batch-columns",
        type=int,
        default=PRESETS["small"].batch_columns,
        help="columns of pixels of a batch; a GPU wants more",
    )
    parser.add_argument(
        "--seed", type=int, default=1000, help="of the lines; shard n has seed + n"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=os.cpu_count() or 1,
        help="cores for lines and for training",
    )
    parser.add_argument(
        "--max-seconds", type=float, default=float("inf"), help="of this call"
    )
    parser.add_argument(
        "--few-fonts",
        action="store_true",
        help="train with the fonts there are, for a trial",
    )
    return parser.parse_args()


def training_faces(chosen: argparse.Namespace) -> tuple[Face, ...]:
    """The faces to draw with; too few families end the program."""
    faces = split_faces(line_faces(FULL))[0]
    families = {face.family for face in faces}
    if len(families) < FAMILIES and not chosen.few_fonts:
        raise SystemExit(
            f"error: {len(families)} font families; run scripts/install_fonts.sh FOLDER and set COURSEPKG_FONTS=FOLDER"
        )
    return faces


def lineage(start: Path) -> dict[str, object]:
    """What the card of a model tells of how it was made."""
    card = stored_card(start)
    names = ("lines", "data", "fonts", "calls", "scores", "before")
    return {name: card[name] for name in names if name in card}


def small(chosen: argparse.Namespace) -> Recipe:
    """The preset, validated by steps; epochs end it, and `--max-seconds` a call, so a stage may take a day."""
    return dataclasses.replace(
        PRESETS["small"],
        learning_rate=chosen.learning_rate,
        batch_columns=chosen.batch_columns,
        validate_every=1000,
        patience=1000,
        max_seconds=86400.0,
    )


def main() -> None:
    chosen = options()
    begun = time.monotonic()
    torch.set_num_threads(chosen.threads)
    faces = training_faces(chosen)
    recipe = small(chosen)
    plan = ShardPlan(
        seed=chosen.seed,
        n_lines=chosen.lines,
        receipts=chosen.receipts,
        varied=chosen.varied,
        printers=chosen.printers,
        unmarked=chosen.unmarked,
        height=recipe.height,
        config=LineConfig(
            texts=TextConfig(currencies=chosen.currencies, signs=chosen.signs)
        ),
    )
    measured = synthetic_lines(FULL)
    avoid = {label.text for part in ("dev", "test") for label in measured.labels[part]}
    lines = write_shards(
        plan,
        chosen.out / "lines",
        faces,
        avoid=avoid,
        workers=chosen.threads,
        max_seconds=chosen.max_seconds,
    )
    if lines is None:
        print("not all lines are written: call again")
        return
    dev, test = (measured.part(part).lines for part in ("dev", "test"))
    stages = usual_stages(
        recipe,
        short_epochs=chosen.short_epochs,
        epochs=chosen.epochs,
        decoder_epochs=chosen.decoder_epochs,
        together_epochs=chosen.together_epochs,
    )
    data = {
        "sha256": lines.fingerprint,
        "generator": plan_sha256(dataclasses.asdict(plan), faces, avoid),
        "n_lines": len(lines),
    }
    left = chosen.max_seconds - (time.monotonic() - begun)
    vocabulary = (
        Vocabulary.load(chosen.start / VOCABULARY)
        if chosen.start
        else character_vocabulary(lines.texts)
    )
    done = run_stages(
        stages,
        lines,
        dev,
        chosen.out,
        vocabulary=vocabulary,
        data=data,
        start=chosen.start,
        max_seconds=left,
    )
    if done is None:
        print("not trained to the end: call again")
        return
    facts = {
        "lines": described(plan, lines),
        "fonts": font_facts(faces),
        "calls": calls_of(chosen.out, stages),
    }
    if chosen.start:
        facts["before"] = lineage(chosen.start)
        facts["share"] = chosen.share
    scores = publish(
        chosen.out / stages[-1].name,
        chosen.checkpoint,
        parts={"test": test},
        facts=facts,
        before=chosen.start,
        share=chosen.share,
    )
    print(f"{chosen.checkpoint}: unseen texts in unseen fonts, {scores['test'].cer}")


if __name__ == "__main__":
    main()
