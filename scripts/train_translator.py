"""Makes the translator that ships with the package.

One model for en-vi, vi-en, zh-vi and vi-zh, from the open corpus and the phrasebook; a
second stage adds sentences of the Vietnamese Wikipedia and, for Chinese, of Tatoeba,
translated back by the first. A third is the second once more, with more sentences,
which the better model translated back. A fourth is short: it learns the sentences of
`translator_sentences`, everyday Chinese and general text, which the open corpus lacks,
beside the everyday ones and a third of the rest. It began with the third stage as it
shipped, in half precision (`--start default`), and had the first 3,178 of the general
sentences. A fifth is the fourth once more, with the first 8,600, and a sixth with all of
`general_1.tsv`. A seventh, at half the rate, learns `general_2.tsv` as well, and
the first 400 lines of the greetings in `short.tsv`. An eighth learns another third of
the rest and all of `short.tsv`. A ninth, from the eighth as it shipped, learns
`general_3.tsv`, whose sentences hold words that the files before hardly have, and little
else; the mean of the weights of the eighth and the ninth shipped. A tenth, from that
mean as it shipped, learns `general_4.tsv` and run-on sentences. What ships is the mean
of the weights of that mean and the tenth.

    python scripts/train_translator.py first --out runs/open --seconds 6000
    BACK="coursepkg translation back-translate --to vi"
    $BACK --model runs/open --mono wikipedia --from en --limit 16000 --beam-size 1 --out runs/wikipedia-en-1
    $BACK --model runs/open --mono wikipedia --from zh --limit 12000 --beam-size 1 --out runs/wikipedia-zh-1
    $BACK --model runs/open --mono tatoeba --from zh --beam-size 4 --out runs/tatoeba-zh-1
    python scripts/train_translator.py second --start runs/open --out runs/open-2 --seconds 6000 \
        --extra-en runs/wikipedia-en-1 --extra-zh runs/wikipedia-zh-1 runs/tatoeba-zh-1
    (the third stage: these four commands from runs/open-2 to runs/open-3, with 80000 and 40000)
    $BACK --model runs/open-3 --mono wikipedia --from en --limit 8000 --beam-size 1 --out runs/wikipedia-en-3
    $BACK --model runs/open-3 --mono wikipedia --from zh --limit 8000 --beam-size 1 --out runs/wikipedia-zh-3
    python scripts/train_translator.py fourth --start runs/open-3 --out runs/open-4 --threads 2 --seconds 6000 \
        --extra-en runs/wikipedia-en-3 --extra-zh runs/wikipedia-zh-3
    (the fifth stage: these three commands from runs/open-4 to runs/open-5, with 12000 and 12000; the sixth: from
    runs/open-5 to runs/open-6, with --skip 80000 --limit 12000 for English, --skip 92000 --limit 12000 for Chinese;
    the seventh: the stage `seventh`, from runs/open-6 to runs/open-7, with --skip 92000 --limit 8000 for English,
    --skip 104000 --limit 8000 for Chinese; the eighth: the stage `eighth`, from runs/open-7 to runs/open-8, with
    --skip 100000 and --skip 112000)
    python scripts/train_translator.py ninth --start default --out runs/open-9 --threads 2 --seconds 7000
    python scripts/train_translator.py average --stages runs/open-8 runs/open-9 --out runs/open-mean
    python scripts/train_translator.py tenth --start default --out runs/open-10 --threads 2 --seconds 3000
    python scripts/train_translator.py average --stages runs/open-mean runs/open-10 --out runs/open-mean-10
    coursepkg translation calibrate --model runs/open-mean-10
    python scripts/train_translator.py ship --out runs/open-mean-10
    python scripts/train_translator.py log --stages runs/open-2 ... runs/open-10

`log` stores the curves of these stages for the book.
The stages go on where their last call stopped. COURSEPKG_DATA names the data.
"""

import argparse
import dataclasses
import statistics
from pathlib import Path
from typing import Any

import torch

from coursepkg.app.model_folder import start_folder, write_attribution
from coursepkg.app.published_results import write_measurement
from coursepkg.data import attribution_of
from coursepkg.files import read_json, whole_folder
from coursepkg.metrics.scoring import signature
from coursepkg.projects.translation.back_translation.files import held_out_keys
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import (
    SentencePair,
    numbered_lines,
    pair_keys,
    read_parallel,
    run_ons,
    to_model,
    to_scorer,
)
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.projects.translation.models import FILES
from coursepkg.projects.translation.placeholders import mask_pair
from coursepkg.projects.translation.predict import DEFAULT, Translator
from coursepkg.projects.translation.published_results import RESULTS
from coursepkg.projects.translation.readers.open_corpus import (
    MACHINE_MADE,
    domain_of,
    read_embedded,
)
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.train import N_VALIDATED, train
from coursepkg.text.subword import SentencePiece
from coursepkg.training.log import read_log
from coursepkg.training.run_card import read_calls, seconds_of
from coursepkg.training.saved_model import save_model
from coursepkg.training.weights import mean_weights

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
SENTENCES = Path(__file__).with_name("translator_sentences")
"""Sentences that the open corpus lacks; `README.md` there says what they are."""
CHINESE = "tatoeba_chinese.tsv"
"""Of these the English and the Vietnamese side stand in the open corpus."""
MACHINE_MADE_SENTENCES = """\
Beside the corpus the model learnt sentences that a large language model made: the Chinese of everyday sentences of
  Tatoeba, translated, under Tatoeba's licence, and general sentences in English, Vietnamese and Chinese, under the
  licence of the package. Both stand in scripts/translator_sentences of its source.
"""
STEPS_A_POINT = 50
"""Steps whose mean loss is one point of the stored curve."""
SHARES = {"phrasebook": 6, MACHINE_MADE: 2}
"""Of the phrasebook every sixth sentence, of the text that a machine translated every
second."""


@dataclasses.dataclass(frozen=True)
class Stage:
    """What one stage of training learns, and how.

    Attributes:
        recipe: how.
        copies: how often a sentence of each file of `SENTENCES` stands in an epoch.
        every: out of Vietnamese only one of so many pairs is learnt, everyday ones
            apart.
        share: of all but the everyday pairs one of so many is learnt.
        first: the number of the first one.
        everyday: how often an everyday sentence of the corpus stands in an epoch; they
            are few.
        run_ons: how many run-on sentences are made of everyday ones and of those of
            `SENTENCES`, for each pair of languages.
    """

    recipe: Recipe
    copies: dict[str, int] = dataclasses.field(default_factory=dict)
    every: int = 2
    share: int = 1
    first: int = 0
    everyday: int = 3
    run_ons: int = 0


def one_epoch(learning_rate: float, **changed: Any) -> Recipe:
    """A later stage: one epoch, at whose end the rate is 0."""
    short = {"schedule": "cosine", "warmup": 100, "ema": 0.99, "max_epochs": 1}
    told = {"learning_rate": learning_rate, **short, **changed}
    return dataclasses.replace(RECIPE, **told)


LATER = one_epoch(1e-3, reverse_weight=0.4, split_sentences=True)
"""The weight of log p(source | translation) was the best of 0.1 to 1 on dev."""
STAGES = {
    "first": Stage(RECIPE, every=1),
    "second": Stage(one_epoch(2.5e-3)),
    "fourth": Stage(one_epoch(2e-3), {CHINESE: 5, "general_1.tsv": 5}, share=3),
    "seventh": Stage(
        LATER,
        {CHINESE: 1, "general_1.tsv": 1, "general_2.tsv": 2, "short.tsv": 6},
        share=3,
    ),
    "eighth": Stage(
        LATER,
        {CHINESE: 1, "general_1.tsv": 1, "general_2.tsv": 1, "short.tsv": 15},
        share=3,
        first=1,
    ),
    "ninth": Stage(
        dataclasses.replace(LATER, learning_rate=1.5e-3),
        {CHINESE: 1, "general_2.tsv": 1, "general_3.tsv": 2, "short.tsv": 5},
        share=9,
        first=2,
        everyday=1,
    ),
    "tenth": Stage(
        LATER,
        {CHINESE: 1, "general_3.tsv": 1, "general_4.tsv": 2, "short.tsv": 3},
        share=18,
        first=5,
        everyday=1,
        run_ons=4000,
    ),
}


def mixture(
    further: dict[str, list[SentencePair]],
    written: dict[str, list[SentencePair]],
    stage: Stage,
) -> list[Parts]:
    """Training parts of the four directions.

    Vietnamese that a machine made is read, never written. The sentences of the
    phrasebook are few patterns, so a part of them does. Run-on sentences are learnt
    like everyday ones.

    Args:
        further: by source language pairs whose source a machine made.
        written: by source language pairs that are learnt like everyday ones, both
            ways.
        stage: what of the corpus is learnt.
    """
    found = []
    for source in ("zh", "en"):
        parts = load_parts("open", source, "vi")
        by_kind: dict[str, list[SentencePair]] = {}
        for pair in parts.train:
            by_kind.setdefault(domain_of(pair), []).append(pair)
        for kind, own in by_kind.items():
            if kind == "everyday":
                new = written.get(source, [])
                learnt = own * stage.everyday + new
                by_kind[kind] = learnt + run_ons(learnt, stage.run_ons, source, "vi")
            else:
                steps = SHARES.get(kind, 1) * stage.share
                by_kind[kind] = own[stage.first :: steps]
        machine_made = by_kind.pop(MACHINE_MADE)
        human = [pair for own in by_kind.values() for pair in own]
        by_kind[MACHINE_MADE] = machine_made
        back = [
            pair.swapped()
            for kind, own in by_kind.items()
            for pair in own[:: 1 if kind == "everyday" else stage.every]
        ]
        human += further.get(source, [])
        found += [
            dataclasses.replace(parts, train=tuple(human)),
            dataclasses.replace(parts.swapped(), train=tuple(back)),
        ]
    return found


def read_written(copies: dict[str, int]) -> dict[str, list[SentencePair]]:
    """The pairs of `SENTENCES`, by source language.

    Those with a sentence of any dev or test part that is here are left out.

    Args:
        copies: how often a pair of each file is given.
    """
    vietnamese = {pair.line: pair.target for pair in read_embedded()["train"]}
    pairs: dict[str, list[SentencePair]] = {"zh": [], "en": []}
    for name, n in copies.items():
        for _, line in numbered_lines(SENTENCES / name):
            first, second, zh = line.split("\t")
            if name == CHINESE:
                pairs["zh"] += [SentencePair(zh, vietnamese[int(first)])] * n
            else:
                pairs["en"] += [SentencePair(first, second)] * n
                pairs["zh"] += [SentencePair(zh, second)] * n
    found = {}
    for source, own in pairs.items():
        held = held_out_keys(source, "vi")
        found[source] = [
            pair for pair in own if held.isdisjoint(pair_keys(pair, source, "vi"))
        ]
        left_out = len(own) - len(found[source])
        print(f"{left_out} of {len(own)} {source}-vi pairs left out")
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


def average(folders: list[Path], out: Path) -> None:
    """Write the mean of the weights of several stages; all else is that of the last."""
    read = [Translator.load(folder) for folder in folders]
    last = read[-1]
    last.model.load_state_dict(mean_weights([one.model.float() for one in read]))
    with whole_folder(out) as part:
        save_model(part / "model", last.model, **last.card, averaged=len(read))
        last.subwords.save(part)


def ship(out: Path) -> None:
    """Write the model in half precision into the package, licences beside it."""
    translator = Translator.load(out)
    if translator.calibration is None:
        raise SystemExit(
            f"{out} has no confidence.json; first: coursepkg translation calibrate"
            f" --model {out}"
        )
    told = f"{attribution_of('open')}\n{MACHINE_MADE_SENTENCES}"
    with whole_folder(DEFAULT) as part:
        save_model(part / "model", translator.model.half(), **translator.card)
        (part / "model" / "model.safetensors").chmod(0o644)
        translator.subwords.save(part)
        translator.calibration.save(part)
        write_attribution(part, told)


def store_curves(stages: list[Path]) -> None:
    """Write the logs of these stages, thinned to means, among the stored results.

    A stage of the stored document whose folder is not here stays as it is there.
    """
    folder = RESULTS.place_of_new_rows()
    if folder is None:
        raise SystemExit("no checkout of the book: nowhere to store the curves")
    document = RESULTS.document("learning_curve") or {"stages": []}
    stored = {one["name"]: one for one in document["stages"]}
    found = []
    for stage in stages:
        if not stage.exists() and stage.name in stored:
            found.append(stored[stage.name])
            continue
        rows = read_log(stage / "run" / "log.csv")
        card = read_json(stage / "model" / "model.json", needs={"meta": dict})["meta"]
        points = [
            {
                "step": part[-1]["step"],
                "loss": round(statistics.fmean(row["loss"] for row in part), 4),
                "learning_rate": part[-1]["learning_rate"],
            }
            for part in (
                rows[at : at + STEPS_A_POINT]
                for at in range(0, len(rows), STEPS_A_POINT)
            )
        ]
        calls = read_calls(stage)
        told = {"seconds": round(seconds_of(calls)[0]), "dev_bleu": card["dev_bleu"]}
        made = {name: calls[-1][name] for name in ("machine", "versions", "commit")}
        found.append(
            {"name": stage.name, "steps": card["steps"], **told, "rows": points, **made}
        )
    last = {name: found[-1][name] for name in ("machine", "versions", "commit")}
    told = {"schema": "coursepkg.translation.learning_curve/2"}
    told |= {"dev_bleu_signature": validation_signature()}
    write_measurement(
        folder / "learning_curve.json",
        told | {"steps_a_point": STEPS_A_POINT, "stages": found, **last},
    )


def validation_signature() -> str:
    """Of the BLEU by which training chooses: the first corpus, Chinese to Vietnamese."""
    dev = load_parts("open", "zh", "vi").dev
    chosen = [mask_pair(pair).target for pair in dev[:N_VALIDATED]]
    return signature(
        bleu_of("vi"),
        [to_scorer(text, "vi") for text in chosen],
        n_in_file=len(dev),
        protocol=f"open dev, the first {N_VALIDATED}, marks kept, greedy",
    )


def read_back_translations(prefixes: list[Path], source: str) -> list[SentencePair]:
    """Pairs that `back-translate` wrote."""
    return [
        pair
        for prefix in prefixes
        for pair in read_parallel(f"{prefix}.{source}", f"{prefix}.vi")
    ]


def main() -> None:
    """Train for some seconds, average, ship, or store the curves."""
    parser = argparse.ArgumentParser(description=__doc__)
    stages = (*STAGES, "average", "ship", "log")
    parser.add_argument("stage", choices=stages)
    parser.add_argument("--out", type=Path, default=Path("runs/open"))
    parser.add_argument("--start", type=Path, help="folder of a model, or `default`")
    parser.add_argument("--stages", type=Path, nargs="*", default=[])
    parser.add_argument("--extra-en", type=Path, nargs="*", default=[])
    parser.add_argument("--extra-zh", type=Path, nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.stage == "ship":
        return ship(options.out)
    if options.stage == "average":
        return average(options.stages, options.out)
    if options.stage == "log":
        if not options.stages:
            parser.error("log needs --stages, the folders of the stages")
        return store_curves(options.stages)
    torch.set_num_threads(options.threads)
    start = start_folder(options.start, DEFAULT)
    stage = STAGES[options.stage]
    corpora = mixture(
        {
            "en": read_back_translations(options.extra_en, "en"),
            "zh": read_back_translations(options.extra_zh, "zh"),
        },
        read_written(stage.copies),
        stage,
    )
    if start is None:
        learn_vocabulary(corpora, options.out)
    recipe = dataclasses.replace(stage.recipe, max_seconds=options.seconds)
    resume = (options.out / "recipe.json").exists()
    train(
        recipe,
        corpora,
        options.out,
        start=start,
        resume=resume,
        progress=False,
    )
    return None


if __name__ == "__main__":
    main()
