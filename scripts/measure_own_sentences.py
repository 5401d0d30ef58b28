"""Measures how much a few sentence pairs of one's own bring, and what a model forgets when it learns them.

    .venv/bin/python scripts/measure_own_sentences.py --seconds 1500 --seeds 0 --ways start mixed small \
        --out book/_data/translation/own_sentences.json

So many pairs of one domain are drawn, written into a folder, and learnt from it: from nothing by the presets `tiny` and
`small`; from a model by `--start`; and from it with as many pairs of its own corpus beside them, as `--also` mixes them
in. Every training has the same CPU seconds on one thread. Scored are BLEU and chrF on test sentences of that domain and
of another one. Without pairs the row is the model itself. What `--out` holds already is not measured again.
COURSEPKG_DATA names the data folder.
"""

import argparse
import dataclasses
import random
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch

from coursepkg.app.evaluation import origin_of
from coursepkg.app.model_folder import SHIPPED, start_folder
from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json, write_json
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.evaluate import evaluate, translate_pairs
from coursepkg.projects.translation.fine_tuning import (
    mixed_in,
    recipe_to_start,
)
from coursepkg.projects.translation.predict import DEFAULT, Translator
from coursepkg.projects.translation.readers.open_corpus import domain_of
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.train import train
from coursepkg.training.run_card import stored_card

SCHEMA = "coursepkg.translation.own_sentences/1"
BEGUN = ("start", "mixed")
"""Ways that begin with a model; the others are presets."""


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    place = Path("book/_data/translation/own_sentences.json")
    parser.add_argument("--out", type=Path, default=place, help="file")
    parser.add_argument("--start", type=Path, default=SHIPPED, help="folder of a model")
    parser.add_argument("--source", default="en", help="language to translate from")
    parser.add_argument("--target", default="vi", help="language to translate into")
    domain = "CORPUS or CORPUS:DOMAIN, such as open:everyday"
    parser.add_argument(
        "--own", default="en-vi:en-vi", help=f"what is learnt, {domain}"
    )
    parser.add_argument("--other", default="open:everyday", help=f"the other, {domain}")
    sizes, seeds = (0, 100, 300, 1000, 3000), (0, 1, 2)
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, help="pairs")
    parser.add_argument("--seeds", type=int, nargs="+", default=seeds, help="of draws")
    ways = ("tiny", "small", *BEGUN)
    parser.add_argument("--ways", nargs="+", default=ways, choices=ways)
    parser.add_argument("--seconds", type=float, default=300.0, help="of each training")
    parser.add_argument("--scored", type=int, default=500, help="sentences of a test")
    return parser.parse_args()


def domain_parts(told: str, source: str, target: str) -> Parts:
    """The pairs of one domain of a corpus, in its split."""
    corpus, _, domain = told.partition(":")
    parts = load_parts(corpus, source, target)
    if parts.corpus != corpus:
        raise SystemExit(f"error: {corpus} is not here; set COURSEPKG_DATA")

    def chosen(pairs: Sequence[SentencePair]) -> tuple[SentencePair, ...]:
        return tuple(p for p in pairs if domain in ("", kind_of(corpus, p)))

    train_, dev, test = map(chosen, (parts.train, parts.dev, parts.test))
    return dataclasses.replace(parts, train=train_, dev=dev, test=test)


def kind_of(corpus: str, pair: SentencePair) -> str:
    """The domain of a pair; corpora without domains may have the phrasebook in them."""
    if corpus == "open":
        return domain_of(pair)
    return "phrasebook" if pair.file == "phrasebook" else corpus


def write_own(folder: Path, own: Parts, n: int, seed: int, n_scored: int) -> Parts:
    """Training pairs of the domain and its test sentences, as a user's folder."""
    folder.mkdir()
    drawn = random.Random(seed).sample(own.train, n)
    for name, pairs in (("train", drawn), ("test", own.test[:n_scored])):
        for language, place in ((own.source, 0), (own.target, 1)):
            lines = (" ".join(pair[place].split()) + "\n" for pair in pairs)
            (folder / f"{name}.{language}").write_text("".join(lines), "utf-8")
    return load_parts(str(folder), own.source, own.target)


def recipe_of(way: str, n: int, chosen: argparse.Namespace) -> Recipe:
    """The settings that a command takes by default, with the same seconds for all."""
    if way in BEGUN:
        flags = (
            "--start",
            chosen.start,
            "--from",
            chosen.source,
            "--to",
            chosen.target,
        )
        recipe = recipe_to_start([*map(str, flags)])
        assert recipe is not None
    else:
        preset = PRESETS[way]
        # Few sentences hold few subwords.
        size = min(preset.vocab_size, 200 + 2 * n)
        recipe = dataclasses.replace(preset, vocab_size=size)
    return dataclasses.replace(recipe, max_seconds=chosen.seconds)


def learnt(
    way: str, n: int, seed: int, own: Parts, chosen: argparse.Namespace, folder: Path
) -> tuple[Translator, dict[str, Any]]:
    """A model that has learnt so many pairs, and what is told of its training."""
    start = start_folder(chosen.start, DEFAULT) if way in BEGUN else None
    parts = write_own(folder / "own", own, n, seed, chosen.scored)
    more = mixed_in(parts, [own.source], start) if way == "mixed" else []
    found = train(
        recipe_of(way, n, chosen),
        [parts, *more],
        folder / "run",
        seed=seed,
        start=start,
        clock="cpu",
        log=lambda line: None,
        progress=False,
    )
    told = {"n_train": len(parts.train), "n_dev": len(parts.dev)}
    told |= {"steps": found.card["steps"], "stopped": found.history.stopped}
    return found.translator, told


def scores(translator: Translator, parts: Parts, n: int) -> dict[str, float]:
    """BLEU and chrF on the first test sentences."""
    pairs, way = parts.test[:n], (parts.source, parts.target)
    found, _ = translate_pairs(translator, pairs, *way)
    result = evaluate([one.line for one in found], pairs, *way, n_resamples=0)
    return {name: float(result.scores[name].value) for name in ("BLEU", "chrF")}


def signatures(parts: Parts, n: int) -> dict[str, str]:
    """How these scores are made, and of which sentences."""
    pairs = parts.test[:n]
    references = [pair.target for pair in pairs]
    result = evaluate(references, pairs, parts.source, parts.target, n_resamples=0)
    return {name: result.scores[name].signature for name in ("BLEU", "chrF")}


def main() -> None:
    """Measure what is missing, row by row."""
    chosen = options()
    torch.set_num_threads(1)
    start, way = start_folder(chosen.start, DEFAULT), (chosen.source, chosen.target)
    assert start is not None
    own, other = (domain_parts(told, *way) for told in (chosen.own, chosen.other))
    settings = {
        name: getattr(chosen, name)
        for name in ("source", "target", "own", "other", "seconds", "scored")
    }
    begun = Translator.load(start)
    settings |= {"start": chosen.start.name, "fingerprint": begun.fingerprint}
    settings |= {"own_test": len(own.test[: chosen.scored])}
    settings |= {"other_test": len(other.test[: chosen.scored])}
    signed = {
        name: signatures(parts, chosen.scored)
        for name, parts in (("own", own), ("other", other))
    }
    rows: list[dict[str, Any]] = []
    if chosen.out.is_file():
        before = read_json(chosen.out)
        if before["settings"] != settings:
            raise SystemExit(f"error: {chosen.out} holds other settings; remove it")
        rows = before["rows"]
    done = {(row["way"], row["n"], row["seed"]) for row in rows}
    for n, name, seed in product(chosen.sizes, chosen.ways, chosen.seeds):
        # Without pairs there is one model and nothing to draw.
        if (name, n, seed) in done or (not n and (name, seed) != ("start", 0)):
            continue
        translator, told = begun, {"n_train": 0}
        if n:
            with tempfile.TemporaryDirectory() as folder:
                translator, told = learnt(name, n, seed, own, chosen, Path(folder))
        row = {"way": name, "n": n, "seed": seed, **told}
        row["own"] = scores(translator, own, chosen.scored)
        row["other"] = scores(translator, other, chosen.scored)
        rows.append(row)
        print(row, flush=True)
        origin = origin_of(begun.recipe, stored_card(start), start)
        document = {"schema": SCHEMA, "settings": settings, "signatures": signed}
        document |= {"start": origin}
        write_json(chosen.out, document | {"rows": rows} | circumstances())


if __name__ == "__main__":
    main()
