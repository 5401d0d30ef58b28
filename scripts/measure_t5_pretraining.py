"""Measures what pre-training brings to a small T5 that is then fine-tuned on few sentence pairs.

    .venv/bin/python scripts/measure_t5_pretraining.py --run runs/t5-wikipedia --seconds 2400

A T5 is pre-trained once, by span corruption on the Vietnamese Wikipedia; its vocabulary knows the corpus of the pairs,
too. Then it is fine-tuned, and so is a model of the same vocabulary and sizes with random weights: on the same pairs in
the same order, with the same number of steps. Scored are the first sentences of a part of that corpus, with intervals
by the bootstrap, and the two models are compared sentence by sentence. What `--run` and `--out` hold already is not
made again. COURSEPKG_DATA names the data folder.
"""

import argparse
import dataclasses
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import torch

from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json, write_json
from coursepkg.metrics.scoring import comparison_as_json, score_as_json
from coursepkg.projects.translation.corpus import to_model
from coursepkg.projects.translation.evaluate import (
    Evaluation,
    compare_systems,
    evaluate,
)
from coursepkg.projects.translation.t5.data import Direction, directions_of
from coursepkg.projects.translation.t5.model import T5, load_t5
from coursepkg.projects.translation.t5.pretrain import PreTraining, run_pretraining
from coursepkg.projects.translation.t5.train import (
    PRESETS,
    FineTuning,
    fine_tune,
    write_texts,
)
from coursepkg.training.seed import set_seed

SCHEMA = "coursepkg.translation.t5_pretraining/1"
WAYS = ("from nothing", "pre-trained")


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    place = Path("book/_data/translation/t5/pretraining.json")
    parser.add_argument("--out", type=Path, default=place, help="file")
    parser.add_argument(
        "--run", type=Path, required=True, help="folder, of t5-pretrain"
    )
    parser.add_argument("--mono", default="wikipedia", help="sentences to pre-train on")
    parser.add_argument("--limit", type=int, default=0, help="of them; 0 takes all")
    parser.add_argument("--seconds", type=float, default=2400.0, help="of pre-training")
    parser.add_argument("--precision", default="32-true", help="of pre-training")
    parser.add_argument("--learning-rate", type=float, default=4e-3, help="likewise")
    parser.add_argument("--vocab-size", type=int, default=8000, help="most pieces")
    parser.add_argument("--d-model", type=int, default=128, help="width")
    parser.add_argument("--d-ff", type=int, default=256, help="inner width")
    parser.add_argument("--n-heads", type=int, default=4, help="heads")
    parser.add_argument("--n-layers", type=int, default=2, help="layers of each stack")
    parser.add_argument("--corpus", default="open", help="of the sentence pairs")
    parser.add_argument("--source", default="en", help="language to translate from")
    parser.add_argument("--target", default="vi", help="language to translate into")
    pairs, seeds = (1000, 4000), (0, 1, 2)
    parser.add_argument("--pairs", type=int, nargs="+", default=pairs, help="to learn")
    parser.add_argument("--epochs", type=int, default=10, help="over the pairs")
    parser.add_argument("--seeds", type=int, nargs="+", default=seeds, help="of runs")
    parser.add_argument("--part", default="test", choices=("dev", "test"))
    parser.add_argument("--scored", type=int, default=500, help="sentences of the part")
    return parser.parse_args()


def pretrained(chosen: argparse.Namespace) -> dict[str, Any]:
    """What the pre-training did; it is run, or gone on with, where it is not done."""
    result = chosen.run / "result.json"
    if not result.is_file():
        run_pretraining(
            PreTraining(learning_rate=chosen.learning_rate, precision=chosen.precision),
            mono=chosen.mono,
            out=chosen.run,
            sizes={
                "d_model": chosen.d_model,
                "d_ff": chosen.d_ff,
                "d_kv": chosen.d_model // chosen.n_heads,
                "num_heads": chosen.n_heads,
                "num_layers": chosen.n_layers,
            },
            also=chosen.corpus,
            source=chosen.source,
            target=chosen.target,
            vocab_size=chosen.vocab_size,
            limit=chosen.limit,
            max_seconds=chosen.seconds,
            resume=chosen.run.exists(),
        )
    return dict(read_json(result))


def begun(way: str, run: Path, seed: int) -> T5:
    """The pre-trained model, or one like it with random weights of this seed."""
    t5 = load_t5(run / "model")
    if way == "pre-trained":
        return t5
    set_seed(seed)
    network = type(t5.network)(t5.network.config).eval()
    return dataclasses.replace(t5, network=network)


def learnt(
    t5: T5, direction: Direction, settings: FineTuning, part: str, n_scored: int
) -> tuple[Evaluation, dict[str, Any]]:
    """Scores after fine-tuning, and what is told of it."""
    parts = direction.parts
    with tempfile.TemporaryDirectory() as folder:
        history, notes = fine_tune(t5, [direction], settings, out=Path(folder) / "run")
    pairs = getattr(parts, part)[:n_scored]
    outputs = write_texts(
        t5,
        [pair.source for pair in direction.natural(pairs)],
        direction.prefix,
        max_tokens=settings.max_tokens,
    )
    found = evaluate(
        [to_model(one.text, parts.target) for one in outputs],
        pairs,
        parts.source,
        parts.target,
        protocol=f"{parts.corpus} {part} {direction.name}, greedy",
    )
    scores = {name: score_as_json(found.scores[name]) for name in ("BLEU", "chrF")}
    told = {"steps": history.step, "dev_loss": history.best_score, "notes": notes}
    return found, {**told, "seconds": round(history.seconds, 1), "scores": scores}


def main() -> None:
    """Measure what is missing, row by row."""
    chosen = options()
    torch.set_num_threads(1)
    (direction,) = directions_of(chosen.source, chosen.target, corpus=chosen.corpus)
    if direction.parts.corpus != chosen.corpus:
        raise SystemExit(f"error: {chosen.corpus} is not here; set COURSEPKG_DATA")
    start = pretrained(chosen)
    tuning = dataclasses.replace(PRESETS["tiny"], epochs=chosen.epochs)
    names = ("corpus", "source", "target", "part", "scored")
    settings = {name: getattr(chosen, name) for name in names}
    settings |= {"fine_tuning": dataclasses.asdict(tuning)}
    rows: list[dict[str, Any]] = []
    if chosen.out.is_file():
        before = read_json(chosen.out)
        if (before["settings"], before["pretraining"]) != (settings, start):
            raise SystemExit(f"error: {chosen.out} holds other settings; remove it")
        rows = before["rows"]
    done = {(row["pairs"], row["seed"]) for row in rows}
    for n, seed in product(chosen.pairs, chosen.seeds):
        if (n, seed) in done:
            continue
        train, dev = direction.parts.train[:n], direction.parts.dev[: chosen.scored]
        parts = dataclasses.replace(direction.parts, train=train, dev=dev)
        own = dataclasses.replace(direction, parts=parts)
        seeded = dataclasses.replace(tuning, seed=seed)
        row: dict[str, Any] = {"pairs": len(train), "seed": seed}
        found = {}
        for way in WAYS:
            t5 = begun(way, chosen.run, seed)
            found[way], row[way] = learnt(t5, own, seeded, chosen.part, chosen.scored)
            print(n, seed, way, row[way], flush=True)
        row["comparison"] = comparison_as_json(compare_systems(*found.values()))
        rows.append(row)
        document = {"schema": SCHEMA, "settings": settings, "pretraining": start}
        write_json(chosen.out, document | {"rows": rows} | circumstances())


if __name__ == "__main__":
    main()
