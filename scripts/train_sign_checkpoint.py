"""Makes the recogniser of signs that ships with the package: the preset small, learnt from generated signers alone.

    .venv/bin/python scripts/train_sign_checkpoint.py

Stopped at any time, and called again with the same options, it goes on: with the clips that are missing, then with the
training. At the end the model is in coursepkg/projects/sign_language/checkpoint/. The last line says what it scores.
"""

import argparse
import dataclasses
import os
from pathlib import Path

import torch

from coursepkg.projects.sign_language.corpora import load_corpus
from coursepkg.projects.sign_language.publish import publish
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.projects.sign_language.recognizer import DEFAULT
from coursepkg.projects.sign_language.train import train
from coursepkg.training.call_log import read_calls
from coursepkg.training.run_card import CARD


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=Path("runs/sign-language-checkpoint"), help="logs and checkpoints"
    )
    parser.add_argument("--checkpoint", type=Path, default=DEFAULT, help="where the finished model goes")
    parser.add_argument("--preset", choices=("tiny", "small"), default="small", help="size of the network")
    parser.add_argument(
        "--data", choices=("signers", "signers-tiny"), default="signers", help="the generated set"
    )
    parser.add_argument("--epochs", type=int, default=0, help="passes over the clips; 0 takes the preset's")
    parser.add_argument("--max-seconds", type=float, default=0.0, help="of training; 0 takes the preset's")
    parser.add_argument("--seed", type=int, default=0, help="of weights, order and chance")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="cores for training")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    torch.set_num_threads(chosen.threads)
    recipe = PRESETS[chosen.preset]
    recipe = dataclasses.replace(
        recipe,
        max_epochs=chosen.epochs or recipe.max_epochs,
        max_seconds=chosen.max_seconds or recipe.max_seconds,
    )
    corpus = load_corpus(chosen.data, recipe)
    print(*corpus.report(), sep="\n")
    begun = (chosen.out / CARD).is_file()
    train(recipe, corpus, chosen.out, seed=chosen.seed, resume=begun)
    parts = {name: corpus.part(name) for name in ("dev", "test")}
    facts = {"calls": read_calls(chosen.out)}
    scores = publish(chosen.out, chosen.checkpoint, parts=parts, facts=facts)
    print(scores["test"])
    print(f"{chosen.checkpoint}: generated signers whom it has not seen, as scored above")


if __name__ == "__main__":
    main()
