"""Measurements of translation systems, stored as numbers with their conditions.

    RESULTS/CONDITIONS/ROW.seedN.json     a row of the ladder
    RESULTS/CONDITIONS/ROW.rates.json     how its learning rate was chosen
    RESULTS/evaluations/NAME.json         what `evaluate --out` wrote
    RESULTS/learning_curve.json           how the translator that ships was trained
    RESULTS/t5/NAME.json                  a run of T5
    RESULTS/t5_pretraining/NAME.json      what pretraining brought to it

RESULTS is `book/_data/translation`; an installed copy has it inside this package. The
conditions of a row are corpus, direction, preset, seconds of training with their clock,
and device with its threads, such as `zh-vi_zh2vi_small_480s-of-cpu_cpu-1`; or
`zh-vi_zh2vi_plain_converged_cpu` for rows that train until dev stops rising. Only rows
under the same ones are compared, in a claim of which the interval over several seeds
excludes 0. A file is never overwritten. Sentences stay in the folder of the runs,
because the data's licence forbids to hand them on.
"""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursepkg.app import ladder
from coursepkg.app.output import write_texts
from coursepkg.app.published_results import PublishedResults
from coursepkg.app.report import interval_text, markdown_table, mean_interval
from coursepkg.files import check_new, read_json, write_json
from coursepkg.metrics.scoring import comparison_as_json
from coursepkg.projects.translation.evaluate import Evaluation, compare_systems
from coursepkg.projects.translation.ladder.rows import ROWS
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.training.run_card import read_card, seconds_of
from coursepkg.viz.image import PALETTE, figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
"""The stored numbers of a row, or of an evaluation."""

RESULTS = PublishedResults("translation", "projects/translation")
"""The measurements that come with the package."""
HEADLINE = "BLEU"
"""The score that rows are ordered by."""
SENTENCES = "sentences.json"
"""Beside a run: what it wrote and against what it was scored."""
NEEDS: dict[str, type] = {
    "row": str,
    "seed": int,
    "conditions": str,
    "changes": dict,
    "recipe": dict,
    "scores": dict,
    "machine": dict,
}
"""Entries that a stored row must have, and their kinds."""


def stored_rows(*names: str, conditions: str = "zh-vi_zh2vi") -> list[dict[str, Any]]:
    """Stored rows of the ladder that have scores.

    Args:
        *names: of rows; none takes all.
        conditions: how the name of their conditions begins: corpus and direction.
    """
    folder = RESULTS.folder()
    rows = read_ladder(folder) if folder else []
    chosen = (row for row in rows if not names or row["row"] in names)
    return [
        row
        for row in chosen
        if row["scores"] and row["conditions"].startswith(conditions)
    ]


def stored_documents(kind: str, beginning: str = "") -> dict[str, dict[str, Any]]:
    """Stored documents by the names of their files.

    Args:
        kind: such as evaluations or t5.
        beginning: of the names.
    """
    folder = RESULTS.folder()
    files = sorted((folder / kind).glob(f"{beginning}*.json")) if folder else []
    return {file.stem: read_card(file) for file in files}


def headline(document: Row) -> float:
    """The BLEU of a stored run; below all others where there is none."""
    scores = document.get("scores")
    return float(scores[HEADLINE]["value"]) if scores else float("-inf")


def with_interval(document: Row) -> str:
    """BLEU and its interval as a table shows them."""
    score = document["scores"][HEADLINE]
    return f"{score['value']:.2f}{interval_text(score['interval'], '.2f')}"


def evaluation_table(documents: Mapping[str, Row]) -> str:
    """Stored evaluations as a Markdown table: what was scored, how, with what BLEU.

    Args:
        documents: of `stored_documents("evaluations")`.
    """
    rows = [
        [
            name,
            f"{one['corpus']} {one['part']}",
            str(one["n"]),
            _system(one),
            _minutes(one),
            with_interval(one),
            f"{one['scores']['chrF']['value']:.2f}",
        ]
        for name, one in documents.items()
    ]
    head = "evaluation|scored on|sentences|search|minutes of training|BLEU|chrF"
    return markdown_table(head.split("|"), rows, right=(2, 4))


def _system(document: Row) -> str:
    """Beams, ensemble and neighbours in a few words."""
    search = document["search"]
    parts = [f"beam {search['beam_size']}"]
    if search.get("reverse_weight"):
        parts.append(f"reverse {search['reverse_weight']:g}")
    if search.get("ensemble"):
        parts.append(f"ensemble of {len(search['ensemble'])}")
    if search.get("neighbours"):
        parts.append(f"neighbours {search['neighbours']['weight']:g}")
    return ", ".join(parts)


def _minutes(document: Row) -> str:
    """Minutes of training, of all members of an ensemble; empty where unknown."""
    members = document["search"].get("ensemble") or [document.get("training", {})]
    logs = [one.get("calls") for one in members]
    if not all(logs):
        return ""
    found = [seconds_of(log) for log in logs]
    whole = all(is_whole for _, is_whole in found)
    minutes = sum(seconds for seconds, _ in found) / 60
    return f"{'' if whole else 'over '}{minutes:.0f}"


def pretraining_table(document: Mapping[str, Any]) -> str:
    """What pretraining brought to a T5 that was fine-tuned on few pairs, as Markdown.

    Of each number of pairs the means over the seeds, and the mean change with its 95%
    interval by Student's t.

    Args:
        document: of `stored_documents("t5_pretraining")`.
    """
    by_pairs: dict[int, list[Mapping[str, Any]]] = {}
    for row in document["rows"]:
        by_pairs.setdefault(row["pairs"], []).append(row)
    lines = []
    for n_pairs, rows in sorted(by_pairs.items()):
        line = [f"{n_pairs:,}", str(len(rows))]
        for score_of in (_dev_loss, _chrf):
            before, after = (
                [score_of(row[way]) for row in rows]
                for way in ("from nothing", "pre-trained")
            )
            changes = [b - a for a, b in zip(before, after, strict=True)]
            line += [f"{statistics.fmean(values):.2f}" for values in (before, after)]
            line.append(_change_text(changes))
        lines.append(line)
    head = (
        *("pairs", "seeds", "dev loss: random", "pre-trained", "change"),
        *("chrF: random", "pre-trained", "change"),
    )
    return markdown_table(head, lines, right=(0, 1, 2, 3, 5, 6))


def _dev_loss(run: Mapping[str, Any]) -> float:
    return float(run["dev_loss"])


def _chrf(run: Mapping[str, Any]) -> float:
    return float(run["scores"]["chrF"]["value"])


def _change_text(changes: Sequence[float]) -> str:
    if len(changes) < 2:
        return f"{changes[0]:+.2f}, one seed"
    middle, half = mean_interval(changes)
    return f"{middle:+.2f}{interval_text((middle - half, middle + half), '+.2f')}"


def read_row(path: Path) -> dict[str, Any]:
    """A stored row.

    Raises:
        FileNotFoundError: there is none.
        ValueError: the file is damaged.
    """
    return read_json(path, needs=NEEDS)


def read_ladder(folder: str | Path) -> list[dict[str, Any]]:
    """All stored rows under a folder: by conditions, in the order of `ROWS`, by seed.

    Raises:
        ValueError: a file is damaged.
    """
    return ladder.stored_rows(folder, list(ROWS), NEEDS)


def store_row(path: Path, document: Mapping[str, Any]) -> None:
    """Write a new row.

    Raises:
        ValueError: there is one already.
    """
    check_new(path, "a stored row is not overwritten: choose another --results")
    write_json(path, document)


def check_same_recipe(path: Path, stored: Mapping[str, Any], recipe: Recipe) -> None:
    """Check that a stored row has the settings that are asked for.

    A setting that came into the recipe after the row was stored had its default then.

    Raises:
        ValueError: it has others; they are named.
    """
    usual = Recipe().described()
    ladder.check_same_settings(path, stored["recipe"], recipe.described(), usual)


def keep_sentences(run: Path, result: Evaluation) -> None:
    """Store what was scored in the folder of the run, for paired comparisons later."""
    content = {
        "source": result.source,
        "target": result.target,
        "hypotheses": result.hypotheses,
        "references": result.references,
    }
    write_texts(run, {SENTENCES: json.dumps(content, ensure_ascii=False) + "\n"})


def add_comparison(path: Path, below: str, run: Path, run_below: Path) -> None:
    """Add to a stored row the paired bootstrap against the row below.

    A row whose sentences are not there, or that is scored on others, such as those of
    another split, stays without.
    """
    stored = read_row(path)
    files = [folder / SENTENCES for folder in (run, run_below)]
    if "against" in stored or not all(file.is_file() for file in files):
        return
    ours, theirs = (_kept(file) for file in files)
    if ours.references != theirs.references:
        return
    found = compare_systems(theirs, ours)  # first the one below, then this one
    told = {"row": below, "seed": stored["seed"]}
    stored["against"] = told | comparison_as_json(found)
    del stored["format"]
    write_json(path, stored)


def _kept(file: Path) -> Evaluation:
    content = json.loads(file.read_text("utf-8"))
    source, target = content["source"], content["target"]
    ours, theirs = (tuple(content[name]) for name in ("hypotheses", "references"))
    return Evaluation(source, target, {}, None, (0, 0), 0, (0, 0), (), ours, theirs, ())


def ladder_table(rows: Sequence[Row]) -> str:
    """Stored rows as Markdown, one table for each kind of conditions.

    BLEU of several seeds is their mean with the lowest and the highest; of one seed it
    has its bootstrap interval. The difference is to the row that it builds on, over the
    seeds that both have: their mean with its interval over the seeds, or for one seed
    with interval and p-value of the paired bootstrap, where that was made.
    """
    head = "row|seeds|parameters|steps|seconds|dev BLEU|against|difference|p"
    parts = []
    for heading, here in ladder.by_conditions(rows).items():
        names = list(dict.fromkeys(row["row"] for row in here))
        lines = [_cells([r for r in here if r["row"] == name], here) for name in names]
        table = markdown_table(head.split("|"), lines, right=(1, 2, 3, 4))
        parts += [heading, "", table, ""]
    return "\n".join(parts)


def differences_to(row: Sequence[Row], below: Sequence[Row]) -> list[float]:
    """Differences in BLEU for each seed that two rows on the same sentences share."""
    theirs = {one["seed"]: one for one in below}
    both = [(one, theirs[one["seed"]]) for one in row if one["seed"] in theirs]
    return [headline(a) - headline(b) for a, b in both if data_of(a) == data_of(b)]


@dataclass(frozen=True)
class Change:
    """What a row changed against the row below, in BLEU."""

    value: float
    """The difference, the mean over the seeds that both rows have."""
    interval: tuple[float, float] | None
    """At 95%: over several seeds that of Student's t, of one seed that of the paired
    bootstrap over sentences, where it was made."""
    n_seeds: int
    """Seeds that both rows have."""
    against: str
    """Name of the row below."""
    is_unfinished: bool = False
    """Whether one of the two rows was cut off before it had converged."""

    @property
    def verdict(self) -> str:
        """Up, down or undecided, see `app.ladder.verdict`; or unfinished."""
        if self.is_unfinished:
            return "unfinished"
        return ladder.verdict(self.interval, self.n_seeds)

    def __str__(self) -> str:
        return f"{self.value:+.2f}{interval_text(self.interval, '+.2f')}"


def change_of(row: Sequence[Row], below: Sequence[Row]) -> Change | None:
    """The change of a row against the row below, of all their seeds.

    None where no seed of both is scored on the same sentences.
    """
    found = differences_to(row, below)
    if not found:
        return None
    seeds = {one["seed"] for one in below}
    there = (one for one in row if "against" in one and one["seed"] in seeds)
    interval = next(there, {}).get("against", {}).get("interval")
    if len(found) > 1:
        middle, half = mean_interval(found)
        interval = middle - half, middle + half
    return Change(
        statistics.fmean(found),
        None if interval is None else tuple(interval),
        len(found),
        row[0]["builds_on"],
        any(map(is_unfinished, (*row, *below))),
    )


def is_unfinished(row: Row) -> bool:
    """Whether a row ended before its dev BLEU had stopped rising, as it should."""
    return row.get("converged") is False


def name_of(row: Sequence[Row]) -> str:
    """The name of a row as tables and pictures show it."""
    said = " (unfinished)" if any(map(is_unfinished, row)) else ""
    return row[0]["row"] + said


def data_of(row: Row) -> str:
    """The hash of the references in the signature."""
    fields = row["scores"][HEADLINE]["signature"].split("|")
    return next(field for field in fields if field.startswith("data:"))


def _seconds(row: Sequence[Row]) -> str:
    """Seconds of training on the mean; more where a call was cut off and left none."""
    name = "cpu_seconds" if row[0].get("clock") == "cpu" else "seconds"
    mean = statistics.mean(float(one[name]) for one in row)
    timed = [one for one in row if "timed_steps" in one]
    whole = all(one["timed_steps"] == one["steps_taken"] for one in timed)
    return f"{'' if whole else 'over '}{mean:.0f}"


def _cells(row: Sequence[Row], everything: Sequence[Row]) -> list[str]:
    first = row[0]
    return [
        name_of(row),
        str(len(row)),
        f"{first['parameters']:,}",
        f"{statistics.mean(r['steps'] for r in row):,.0f}",
        _seconds(row),
        bleu_of(row),
        first["builds_on"],
        *_change(row, [r for r in everything if r["row"] == first["builds_on"]]),
    ]


def _change(row: Sequence[Row], below: Sequence[Row]) -> tuple[str, str]:
    """The difference to the row below with its interval, and the p-value."""
    found = change_of(row, below)
    if found is None:
        return without_change(row, below), ""
    seeds = {one["seed"] for one in below}
    there = (one for one in row if "against" in one and one["seed"] in seeds)
    paired = next(there, {}).get("against")
    if paired is None or found.n_seeds > 1:
        return str(found), ""
    return str(found), f"{paired['p_value']:.3f}"


def without_change(row: Sequence[Row], below: Sequence[Row]) -> str:
    """Why two rows are not compared; empty where there is nothing to compare."""
    differs = below and data_of(row[0]) != data_of(below[0])
    return "other sentences" if differs else ""


def bleu_of(row: Sequence[Row]) -> str:
    """BLEU of a row: of one seed with its interval, of several the mean and range."""
    if len(row) == 1:
        return with_interval(row[0])
    values = [headline(one) for one in row]
    mean, low, high = statistics.mean(values), min(values), max(values)
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"


KINDS = {
    "trained": ("trained from the beginning", PALETTE[0], "o"),
    "continued": ("trained on from another row", PALETTE[1], "s"),
    "decoded": ("another way to decode", PALETTE[2], "D"),
}
"""By kind of a row its name in the legend, its colour and its mark; the mark alone
tells them apart, too."""


def ladder_figure(rows: Sequence[Row], *, conditions: str = "") -> "Figure":
    """Draw stored rows of the ladder, from top to bottom in their order.

    A bar is the bootstrap interval of a row with one seed, and the range of the seeds
    of one with several, whose dot is their mean. Behind the value stands the difference
    to the row that it builds on, where its interval over several seeds excludes 0; else
    `undecided`. The figure is a white card, which reads on a light and on a dark page.

    Args:
        rows: as `read_ladder` returns them.
        conditions: which rows to draw, where there are several conditions.

    Raises:
        ValueError: there is no such row, or there are several conditions and none is
            chosen.
    """
    import matplotlib.pyplot as plt

    known = list(dict.fromkeys(row["conditions"] for row in rows))
    there = ", ".join(known)
    if not conditions and len(known) > 1:
        raise ValueError(
            f"conditions must be one of {there}; rows of several do not compare"
        )
    chosen = [row for row in rows if conditions in ("", row["conditions"])]
    if not chosen:
        raise ValueError(
            f"there is no stored row of conditions {conditions!r}; found"
            f" {there or 'none'}"
        )
    by_name: dict[str, list[Row]] = {}
    for row in chosen:
        by_name.setdefault(row["row"], []).append(row)
    names = list(by_name)
    with plt.rc_context(figure_style()):
        figure, axis = plt.subplots(figsize=(7.0, 1.2 + 0.27 * len(names)))
        for place, name in enumerate(names):
            _draw(axis, place, by_name[name], by_name)
        axis.set_yticks(range(len(names)), map(name_of, by_name.values()))
        budget = f"{chosen[0]['recipe']['max_seconds']:g} s of training a row"
        if "converged" in chosen[0]:
            budget = "each row trained until dev stops rising"
        axis.set(xlabel=f"BLEU on dev, {budget}", ylim=(len(names) - 0.4, -0.6))
        axis.margins(x=0.12)
        axis.grid(axis="y", visible=False)
        if len(axis.get_legend_handles_labels()[1]) > 1:
            figure.legend(
                loc="outside upper center", ncols=3, fontsize=8, frameon=False
            )
    return figure


def _draw(
    axis: "Axes", place: int, row: Sequence[Row], by_name: Mapping[str, Sequence[Row]]
) -> None:
    """One line of the picture."""
    values = [headline(one) for one in row]
    value = statistics.mean(values)
    interval = row[0]["scores"][HEADLINE]["interval"] or (value, value)
    low, high = (min(values), max(values)) if len(values) > 1 else interval
    label, colour, mark = KINDS[kind_of(row[0])]
    known = label in axis.get_legend_handles_labels()[1]
    axis.errorbar(
        [value],
        [place],
        # The middle of the resamples need not lie on the score: a bar never begins
        # beyond the dot.
        xerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
        fmt=mark,
        color=colour,
        markersize=5,
        linewidth=1.4,
        capsize=2,
        label=None if known else label,
    )
    text = f"{value:.1f}"
    if change := change_of(row, by_name.get(row[0]["builds_on"], ())):
        is_decided = change.verdict in ("up", "down")
        text += f" ({change.value:+.1f})" if is_decided else f" ({change.verdict})"
    if row[0]["preparation"] == "random-split":
        text += " on another dev part"
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
    axis.annotate(text, (max(value, high), place), (6, 0), va="center", **style)


def kind_of(row: Row) -> str:
    """Which of `KINDS` a stored row is."""
    return "decoded" if row["decoding"] else "continued" if row["start"] else "trained"
