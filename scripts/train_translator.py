"""Makes the translator of real sentences that ships with the package.

One model for en-vi, vi-en, zh-vi and vi-zh, from the open corpus and the phrasebook; a
second stage adds sentences of the Vietnamese Wikipedia, translated back by the first.

    python scripts/train_open_translator.py first  --out runs/open --seconds 1800
    python scripts/train_open_translator.py first  --out runs/open --seconds 1800

Each call goes on where the last one stopped. COURSEPKG_DATA names the data folder.
"""

import argparse
import dataclasses
from pathlib import Path

from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.models import FILES
from coursepkg.projects.translation.open_corpus import MACHINE_MADE, domain_of
from coursepkg.projects.translation.placeholders import mask_pair
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.train import train
from coursepkg.text.subword import SentencePiece

RECIPE = Recipe(
    vocab_size=10_000,
    underscores="remove",
    placeholders="mask",
    max_len=128,
    d_model=256,
    n_encoder_layers=5,
    n_decoder_layers=3,
    d_ff=768,
    dropout=0.1,
    batch_tokens=6144,
    optimizer="muon",
    learning_rate=4e-3,
    warmup=500,
    ema=0.999,
    max_epochs=100,
    patience=100,
    beam_size=5,
)
EVERYDAY_COPIES = 3
"""Everyday sentences are few, so each one stands several times in an epoch."""
BOOK_SHARE = 3
"""Of the phrasebook every third sentence."""


def mixture() -> list[Parts]:
    """Training parts of the four directions.

    Vietnamese that a machine made is read, never written. The sentences of the
    phrasebook are few patterns, so a part of them does.
    """
    found = []
    for source in ("zh", "en"):
        parts = load_parts("open", source, "vi")
        by_kind: dict[str, list[SentencePair]] = {}
        for pair in parts.train:
            by_kind.setdefault(domain_of(pair), []).append(pair)
        machine_made = by_kind.pop(MACHINE_MADE)
        by_kind["phrasebook"] = by_kind["phrasebook"][::BOOK_SHARE]
        by_kind["everyday"] *= EVERYDAY_COPIES
        human = [pair for own in by_kind.values() for pair in own]
        back = [pair.swapped() for pair in (*human, *machine_made)]
        found += [
            dataclasses.replace(parts, train=tuple(human)),
            dataclasses.replace(parts.swapped(), train=tuple(back)),
        ]
    return found


def learn_vocabulary(corpora: list[Parts], out: Path) -> None:
    """One vocabulary for three languages; what it lacks is spelt in bytes."""
    if (out / FILES[1]).exists():
        return
    pairs = [
        (parts, mask_pair(pair))
        for parts in corpora
        if parts.target == "vi"
        for pair in parts.train
    ]
    lines = [
        to_model(text, language)
        for parts, pair in pairs
        for text, language in (
            (pair.source, parts.source),
            (pair.target, parts.target),
        )
    ]
    out.mkdir(parents=True, exist_ok=True)
    SentencePiece.train(
        lines,
        vocab_size=RECIPE.vocab_size,
        model_type="bpe",
        character_coverage=0.9995,
        byte_fallback=True,
    ).save(out / FILES[1])


def main() -> None:
    """Train for some seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("first",))
    parser.add_argument("--out", type=Path, default=Path("runs/open"))
    parser.add_argument("--seconds", type=float, default=1800.0)
    options = parser.parse_args()
    corpora = mixture()
    learn_vocabulary(corpora, options.out)
    recipe = dataclasses.replace(RECIPE, max_seconds=options.seconds)
    resume = (options.out / "recipe.json").exists()
    train(recipe, corpora, options.out, resume=resume, progress=False)


if __name__ == "__main__":
    main()
