r"""The ablation ladder: its rows, what makes one of them, its command, its table.

    lstm-last -> lstm-mean -> lstm-attention -> transformer -> improved      from the
        baseline to the preset
    lstm-last -> landmarks-lstm -> landmarks-transformer     landmarks for pictures
    improved -> bag-of-frames                what order is worth
    improved -> one change at a time         pictures, time, mixing, smoothing, rate
    improved -> plain-sampler -> the losses and adjustments of the long tail
    improved -> sampler-and-weights, sampler-and-post-hoc        controls: correct twice
    improved -> second-seed -> ensemble       what chance alone does, and its mean

The backbone is that of the preset in every row, save those of landmarks. All rows make
equally many passes over the clips, unless --seconds ends one sooner; some train
nothing. Beside the run of a row lie its answers, `dev.json`.

    coursepkg sign-language ladder --preset small --rows lstm-last improved

On `signers-hard`, where half of the words differ in order alone, each row trains for 20
passes or ten minutes of one core, whatever comes first, and its score within those
pairs is stored beside the others.
What is stored is not made again, so the same command goes on:

    for seed in 0 1 2; do
      coursepkg sign-language ladder --preset small --data signers-hard --seed $seed \
        --rows bag-of-frames lstm-last transformer improved landmarks-lstm \
        landmarks-transformer --epochs 20 \
        --clock cpu --seconds 600 --threads 1 \
        --results book/_data/sign_language/ladder-hard
    done

Source: the Olympiad tutorials, second tutorial, sections IV to VIII.
"""

import dataclasses
import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import tyro

from coursepkg.app.ladder import (
    AS_PRESET,
    Ladder,
    LadderRow,
    LadderRun,
    by_conditions,
    conditions_of,
    ladder_row,
    results_folder,
    seed_lines,
    stored_rows,
)
from coursepkg.app.options import RUNS, Flag
from coursepkg.app.output import print_json, silent
from coursepkg.app.published_results import PublishedResults, write_measurement
from coursepkg.app.report import aligned, interval_text
from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json, write_json
from coursepkg.processor import check_threads
from coursepkg.projects.sign_language.augmentation import (
    DrawResampling,
    ResamplingConfig,
)
from coursepkg.projects.sign_language.corpora import load_corpus, order_pairs
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.options import Common, CommonOptions
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.recognizer import read_model
from coursepkg.projects.sign_language.scores import (
    DrawBy,
    SignScores,
    draw_groups,
    from_rows,
)
from coursepkg.projects.sign_language.scoring import (
    compare,
    evaluate,
    score_answers,
    score_pairs,
)
from coursepkg.projects.sign_language.training import train
from coursepkg.training.run_card import read_calls
from coursepkg.training.weights import parameter_counts
from coursepkg.validation import check_count, check_finite

RESULTS = PublishedResults("sign_language", "projects/sign_language")
SCHEMA = "sign-language ladder row 1"
NEEDS: dict[str, type] = {
    "schema": str,
    "row": str,
    "seed": int,
    "conditions": str,
    "recipe": dict,
    "scores": dict,
    "machine": dict,
}
"""Entries that a stored row must have, and their kinds."""
HEAD = (
    *("row", "seed", "parameters", "clips", "CPU s", "macro-F1", "head", "tail"),
    *("against", "difference", "p"),
)
"""Columns of the table; the accuracy within pairs stands before `against` where a row
has it. The difference is to the row that is named before it; intervals
draw signers."""
PAIRS_AT = HEAD.index("against")


def _row(
    name: str, about: str, builds_on: str = "improved", **fields: Any
) -> LadderRow:
    return ladder_row(name, about, builds_on, **fields)


def _asks(*names: str) -> dict[str, Any]:
    """A row that asks networks of other rows instead of training one."""
    return {"needs": names, "trains": False}


LADDER = Ladder(
    [
        _row(
            "lstm-last",
            "an LSTM of one layer and its last state, on the backbone, sampler and"
            " augmentation of the preset",
            "",
            temporal="lstm",
            n_layers=1,
            n_convolutions=0,
            pooling="last",
        ),
        _row("lstm-mean", "the mean of its states", "lstm-last", pooling="mean"),
        _row(
            "lstm-attention",
            "attention pooling over its states",
            "lstm-mean",
            pooling="attention",
        ),
        _row(
            "transformer",
            "a Transformer instead of the LSTM",
            "lstm-attention",
            temporal=AS_PRESET,
            n_layers=AS_PRESET,
            pooling=AS_PRESET,
        ),
        _row(
            "improved",
            "1D convolutions before it: the preset",
            "transformer",
            n_convolutions=AS_PRESET,
        ),
        _row(
            "landmarks-lstm",
            "landmarks of body and hands instead of pictures; finding them is not in"
            " its seconds",
            "lstm-last",
            backbone="landmarks",
        ),
        _row(
            "landmarks-transformer",
            "the Transformer and attention pooling on the same landmarks",
            "landmarks-lstm",
            temporal=AS_PRESET,
            n_layers=AS_PRESET,
            pooling=AS_PRESET,
        ),
        _row(
            "bag-of-frames",
            "the mean over frames that know nothing of one another",
            motion="centred",
            temporal="none",
            n_convolutions=0,
            pooling="mean",
        ),
        _row(
            "motion-beside",
            "frames, and beside them what changed since the frame before",
            motion="beside",
        ),
        _row("no-motion", "frames alone", "motion-beside", motion="none"),
        _row(
            "places-mean",
            "the mean of the last map instead of its places",
            places="mean",
        ),
        _row("no-warp", "time as it is", warp=0.0),
        _row(
            "resampling",
            "clips played faster or slower as a whole, as much as the warp was strong;"
            " even sampling undoes it",
            "no-warp",
            settings={"speed": 0.3},
        ),
        _row(
            "no-pictures",
            "no crop, colour and rotation",
            crop=1.0,
            colour=0.0,
            rotation=0.0,
        ),
        _row("no-augmentation", "and time as it is", "no-pictures", warp=0.0),
        _row("flip", "half of the clips mirrored", flip=0.5),
        _row("mixup", "pairs of clips blended", mix="mixup"),
        _row("mixup-time", "one clip blended into another over time", mix="mixup-time"),
        _row("cutmix-space", "a box of one clip in another", mix="cutmix-space"),
        _row(
            "cutmix-time", "a run of frames of one clip in another", mix="cutmix-time"
        ),
        _row("no-smoothing", "label smoothing off", label_smoothing=0.0),
        _row(
            "plateau",
            "the rate halved where the dev part stops improving",
            schedule="plateau",
        ),
        _row("adam", "no decay of the weights: AdamW is Adam then", weight_decay=0.0),
        _row(
            "plain-sampler",
            "every clip once an epoch, plain cross-entropy",
            balanced=False,
        ),
        _row(
            "plain-unsmoothed",
            "and label smoothing off",
            "plain-sampler",
            label_smoothing=0.0,
        ),
        _row(
            "weighted",
            "cross-entropy weighted by 1 / count",
            "plain-sampler",
            loss="weighted",
        ),
        _row(
            "weighted-unsmoothed",
            "and label smoothing off",
            "weighted",
            label_smoothing=0.0,
        ),
        _row("focal", "focal loss", "plain-sampler", loss="focal"),
        _row(
            "weighted-focal",
            "focal loss weighted by 1 / count",
            "plain-sampler",
            loss="weighted-focal",
        ),
        _row(
            "logit-adjusted",
            "logits adjusted in the loss",
            "plain-sampler",
            loss="logit-adjusted",
        ),
        _row(
            "post-hoc",
            "logits of the trained network adjusted",
            "plain-sampler",
            adjust=1.0,
            **_asks("plain-sampler"),
        ),
        _row(
            "sampler-and-weights",
            "balanced sampler and weights: corrects twice",
            loss="weighted",
        ),
        _row(
            "sampler-and-post-hoc",
            "balanced sampler and adjusted logits: corrects twice",
            adjust=1.0,
            **_asks("improved"),
        ),
        _row(
            "test-time", "four views of a clip averaged", views=4, **_asks("improved")
        ),
        _row(
            "second-seed",
            "nothing but another seed: what chance does",
            settings={"seed_shift": 1000},
        ),
        _row("ensemble", "both seeds together", **_asks("improved", "second-seed")),
    ]
)
ROWS = LADDER.rows
"""By name, in the order of the table; every row stands behind those that it needs."""


@dataclass(frozen=True)
class LadderOptions:
    """Train the rows of the ablation ladder by equally many passes each, and say what
    each change gave.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    rows: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME...")] = ()
    """Rows to make, see --list; all of them if none is given. A row whose network
    another one asks comes with it."""
    seed: int = 0
    """Of weights, order and chance, in every row."""
    epochs: int = 0
    """Passes of each row over the training part; 0 takes those of the preset."""
    seconds: float = 0.0
    """Where above 0, each row trains at most so many seconds by the clock. A rate that
    falls by the step then ends wherever the time does: give so many --epochs as fit
    in."""
    clock: Literal["wall", "cpu"] = "wall"
    """What the seconds count: time on the wall, or CPU time, which other programs do
    not use up; with --threads 1."""
    part: Literal["dev", "test"] = "dev"
    """What is scored. Nothing may be chosen by scores of the test part."""
    results: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where the numbers are stored, one file a row; in a checkout its own
    book/_data/sign_language/ladder. What is there is never overwritten."""
    list: Flag = False
    """Only print the rows and what each tries, and the table of what is stored."""
    threads: int = 0
    """CPU threads; 0 is one for each core that is free to use."""

    def __post_init__(self) -> None:
        for name in ("seed", "epochs"):
            check_count(f"--{name}", getattr(self, name), least=0)
        check_finite("--seconds", self.seconds)
        check_threads(self.threads)
        if self.seconds < 0:
            raise ValueError(f"--seconds must be at least 0, got {self.seconds:g}")
        if self.clock == "cpu" and (self.threads != 1 or not self.seconds):
            raise ValueError(
                "--clock cpu counts the time of all threads together: give --seconds"
                " and --threads 1"
            )
        for name in self.rows:
            LADDER.row(name)


@dataclass(frozen=True)
class RowMaker:
    """What makes the rows of a call, beside what all ladders have."""

    run: LadderRun
    load: Callable[[Recipe], SignCorpus]
    """The corpus as a row reads it: its clips as pictures, or as landmarks."""
    clock: str = "wall"
    """What a budget of seconds counts, see `TrainConfig`."""
    timed: bool = False
    """Whether seconds end the training of a row; else passes over the data do."""

    def answers(self, row: str, seed: int) -> Path:
        """Where the answers of a row are stored."""
        return self.run.folder(row, seed) / f"{self.run.part}.json"

    def __call__(self, row: LadderRow, seed: int) -> dict[str, Any]:
        """Make a row, and store its numbers unless they are stored.

        Raises:
            ValueError: the row cannot be made, or its run has other settings.
            FileNotFoundError: a run whose network it asks is not there.
        """
        run, recipe = self.run, LADDER.recipe(row, self.run.base)
        corpus, path = self.load(recipe), run.file(row.name, seed)
        numbers = self._train(row, recipe, corpus, seed) if row.trains else {}
        asked = (row.name,) if row.trains else row.needs
        networks = [read_model(run.folder(name, seed)).model for name in asked]
        clips = corpus.part(run.part)
        found = predict_clips(
            networks[0], clips, recipe, models=networks[1:], counts=corpus.counts
        )
        protocol = f"{corpus.name} {run.part}, split {corpus.protocol}"
        protocol += f", {row.name}, seed {seed}"
        words = corpus.labels, corpus.counts
        scores = evaluate(found, clips, *words, protocol=protocol)
        pairs = score_pairs(
            *(found, clips, corpus.labels, order_pairs(corpus.name)), protocol=protocol
        )
        write_json(self.answers(row.name, seed), scores.as_json())
        document = known_row(row) | {
            "row": row.name,
            "seed": seed,
            "conditions": run.scored,
            "changes": LADDER.changes(row, run.base),
            "recipe": recipe.described(),
            "data": corpus.described(),
            "part": run.part,
            "clock": self.clock,
            "parameters": sum(parameter_counts(one)["total"] for one in networks),
            **numbers,
            "scores": scores.numbers_as_json(),
            "against": self._against(row, seed, scores),
        }
        if pairs is not None:
            document["order_pairs"] = pairs.as_json()
        document.pop("name")
        if not path.exists():
            whole = {"schema": SCHEMA, **document, **circumstances()}
            write_measurement(path, whole)
        return read_json(path, needs=NEEDS)

    def _train(
        self, row: LadderRow, recipe: Recipe, corpus: SignCorpus, seed: int
    ) -> dict[str, Any]:
        """Train the network of a row; what its logs say."""
        folder = self.run.folder(row.name, seed)
        if self.timed and not (folder / "model").is_dir():
            # It was cut off half-way: going on would give it more than the others.
            shutil.rmtree(folder, ignore_errors=True)
        speed = row.settings.get("speed")
        trained = train(
            recipe,
            corpus,
            folder,
            seed=seed + row.settings.get("seed_shift", 0),
            resume=True,
            clock=self.clock,
            draw_places=DrawResampling(ResamplingConfig(speed)) if speed else None,
            log=silent,
            progress=False,
        )
        calls, history = read_calls(folder), trained.history
        losses = [one["loss"] for one in history.steps]
        dev = ("macro_f1", "loss", "accuracy")
        return {
            "steps": trained.card["steps"],
            "steps_taken": history.step,
            "clips": int(sum(one["units"] for one in history.steps)),
            "epochs": len(history.validations),
            "stopped": history.stopped,
            "first_loss": statistics.fmean(losses[:20]),
            "last_loss": statistics.fmean(losses[-20:]),
            "seconds": round(sum(one["seconds"] for one in calls), 1),
            "cpu_seconds": round(sum(one["cpu_seconds"] for one in calls), 1),
            "peak_memory": max((one["peak_memory"] for one in calls), default=None),
            "dev": {name: trained.card.get(f"dev_{name}") for name in dev},
        }

    def _against(self, row: LadderRow, seed: int, scores: SignScores) -> dict[str, Any]:
        """Return paired differences to the row below and the first row, if stored."""
        by: DrawBy = (
            "clip" if draw_groups(scores.answers, "signer") is None else "signer"
        )
        found = {}
        for name in dict.fromkeys((row.builds_on, LADDER.first)):
            path = self.answers(name, seed)
            if not name or name == row.name or not path.is_file():
                continue
            answers = from_rows(read_json(path), str(path))
            words = scores.labels, scores.counts
            one = compare(score_answers(answers, *words, n_resamples=0), scores, by=by)
            found[name] = {
                "difference": one.system - one.baseline,
                "interval": [one.difference.lower, one.difference.upper],
                "p_value": one.p_value,
                "signature": one.signature,
            }
        return found


def ladder_command(options: LadderOptions) -> int:
    """Make what is not stored, print the table; 1 where a row could not be made."""
    if options.list:
        return _list(options)
    if options.threads:
        torch.set_num_threads(options.threads)
    maker = maker_of(options)
    run = maker.run
    run.check_comparable(options.rows, [options.seed])
    failed = run.make(options.rows, options.seed, maker, headline)
    rows = run.read()
    print("\n".join(ladder_lines(rows)))
    if options.common.json:
        print_json({"results": str(run.results), "rows": rows, "failed": failed})
    return int(bool(failed))


def maker_of(options: LadderOptions) -> RowMaker:
    """What makes the rows that the options ask for.

    Raises:
        ValueError: the numbers have no place to go, or the data cannot be read.
    """
    results, base = results_of(options), base_of(options)
    common = options.common
    load = partial(load_corpus, common.corpus_name, split=common.protocol)
    corpus = load(base)
    budget = f"{base.max_epochs}epochs"
    if options.seconds:
        budget += f"_{options.seconds:g}s-of-{options.clock}"
    name, preset = Path(corpus.name).name, common.preset or "tiny"
    conditions = conditions_of(name, corpus.protocol, preset, budget)
    runs = common.out or RUNS / "sign-language-ladder"
    run = LadderRun(LADDER, base, conditions, runs, results, NEEDS, options.part)
    return RowMaker(run, load, options.clock, timed=bool(options.seconds))


def base_of(options: LadderOptions) -> Recipe:
    """The preset with the budget of a row: no row stops before the others."""
    preset = PRESETS[options.common.preset or "tiny"]
    epochs = options.epochs or preset.max_epochs
    seconds = options.seconds or Recipe().max_seconds
    return dataclasses.replace(
        preset, max_epochs=epochs, patience=epochs, max_seconds=seconds
    )


def results_of(options: LadderOptions) -> Path:
    """The folder of stored rows, see `app.ladder.results_folder`."""
    return results_folder(options.results, RESULTS, "ladder", only_reads=options.list)


def headline(document: Mapping[str, Any]) -> str:
    """What is said of a row that was made."""
    return f"macro-F1 {document['scores']['macro_f1']['value']:.4f}"


def known_row(row: LadderRow) -> dict[str, Any]:
    """A row as JSON holds it."""
    return {
        "name": row.name,
        "about": row.about,
        "builds_on": row.builds_on,
        "changes": dict(row.changes),
        "models": [] if row.trains else list(row.needs),
        "seed_shift": row.settings.get("seed_shift", 0),
        "speed": row.settings.get("speed", 0.0),
    }


def read_rows(results: str | Path) -> list[dict[str, Any]]:
    """All stored rows under a folder: by conditions, in the ladder's order, by seed.

    Raises:
        ValueError: a file is damaged.
    """
    return stored_rows(results, list(ROWS), NEEDS)


def ladder_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Stored rows as aligned lines, under a heading for each kind of conditions."""
    lines: list[str] = []
    for heading, here in by_conditions(rows).items():
        table = [HEAD, *map(_cells, here)]
        if any("order_pairs" in row for row in here):
            within = ["pairs", *map(_pairs_cell, here)]
            table = [
                (*cells[:PAIRS_AT], cell, *cells[PAIRS_AT:])
                for cells, cell in zip(table, within, strict=True)
            ]
        lines += [heading, *aligned(table), *seed_lines(here, LADDER.first), ""]
    return lines


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    scores, against = row["scores"], row["against"]
    # The row below, or else the first one, where it was made.
    name = row["builds_on"] if row["builds_on"] in against else next(iter(against), "")
    below, f1 = against.get(name), scores["macro_f1"]
    bands = [scores["bands"].get(band) for band in ("head", "tail")]
    difference = p = ""
    if below is not None:
        difference = f"{below['difference']:+.4f}"
        difference += interval_text(below["interval"], "+.3f")
        p = f"{below['p_value']:.3f}"
    return (
        row["row"],
        str(row["seed"]),
        f"{row['parameters']:,}",
        f"{row['clips']:,}" if "clips" in row else "",
        f"{row['cpu_seconds']:.0f}" if "cpu_seconds" in row else "",
        f"{f1['value']:.4f}{interval_text(f1['interval'], '.3f')}",
        *("" if band is None else f"{band['value']:.3f}" for band in bands),
        name,
        difference,
        p,
    )


def _pairs_cell(row: Mapping[str, Any]) -> str:
    """Accuracy within pairs that differ in order, with its interval."""
    if "order_pairs" not in row:
        return ""
    one = row["order_pairs"]["accuracy"]
    return f"{one['value']:.3f}{interval_text(one['interval'], '.3f')}"


def _list(options: LadderOptions) -> int:
    """Print every row, and what is stored."""
    for row in ROWS.values():
        against = f" (against {row.builds_on})" if row.builds_on else ""
        print(f"{row.name}: {row.about}{against}")
    rows = read_rows(results_of(options))
    print("\n".join(["", *ladder_lines(rows)]))
    if options.common.json:
        print_json({"known": [*map(known_row, ROWS.values())], "rows": rows})
    return 0
