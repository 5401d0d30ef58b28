"""The evaluation as one HTML file: scores, lengths, error groups, sentences.

The file stands alone. It asks for nothing from outside, runs no script, follows light
and dark mode and reads on a phone. It shows sentences of the test set: keep it where
the data may be.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursepkg.app.output import write_texts
from coursepkg.files import whole_file
from coursepkg.metrics.edit import align
from coursepkg.metrics.scoring import Score, format_values
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.errors.analysis import (
    GROUPS,
    ErrorTable,
    SentenceErrors,
)
from coursepkg.projects.translation.errors.surface import Piece, pieces
from coursepkg.projects.translation.evaluate import Evaluation
from coursepkg.validation import check_count
from coursepkg.viz.image import page_head, safe

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1f; --soft: #5a5d66;
  --line: #d5d8de; --panel: #f5f6f8;
  --bar: #2f6fb2; --extra: #ffe3d3; --lack: #d8ecff; }
@media (prefers-color-scheme: dark) { :root { --back: #17181b; --text: #e9eaee;
  --soft: #a6abb6; --line: #3b3e46;
  --panel: #202227; --bar: #7db4ee; --extra: #5a2f16; --lack: #173f63; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--back);
  color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
  caption { text-align: left; color: var(--soft); }
th, td { border-top: 1px solid var(--line); padding: .4rem .6rem .4rem 0;
  text-align: left; vertical-align: top; }
th { overflow-wrap: normal; } .facts { width: auto; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, small { color: var(--soft); font-size: .8rem; }
.text { unicode-bidi: isolate; } dl { margin: 0; } dd { margin: 0 0 .3rem; }
dt { color: var(--soft); font-size: .8rem; }
ins { background: var(--extra); text-decoration: underline; }
del { background: var(--lack); text-decoration: underline dashed; }
.figure { overflow-x: auto; margin: .5rem 0; } svg { display: block; }
.chart svg { max-width: 100%; height: auto; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
  .bar, .cell { fill: var(--bar); }
.grid { fill: var(--panel); stroke: var(--line); }
details { background: var(--panel); padding: .3rem .6rem; margin: .3rem 0; }
  summary { cursor: pointer; }
@media (max-width: 40rem) { .sentences thead { display: none; }
  .sentences tr, .sentences td { display: block; }
  .sentences tr { border-top: 1px solid var(--line); padding: .5rem 0; }
  .sentences td { border: 0; padding: 0; }
  .sentences .number { display: inline-block; margin-right: .8rem; text-align: left; }
  .sentences .number::before { content: attr(data-label) " "; color: var(--soft); } }
"""
"""The style sheet of a report: light and dark, wide and narrow."""

_CELL = 22
_LARGEST_TABLE = 4_000_000
_LARGEST_MAP = 10_000
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f"
    "\uff00-\uff60\U00020000-\U0003fffd]"
)


def differences(hypothesis: str, reference: str) -> tuple[str, str]:
    """Both texts as HTML, `<ins>` only in the hypothesis, `<del>` in the reference.

    Words are compared by a shortest list of edits (`metrics.align`); spaces and case
    stay as they are. Very long texts stay unmarked: the comparison takes a table of
    their lengths multiplied.
    """
    ours, theirs = pieces(hypothesis), pieces(reference)
    if len(ours) * len(theirs) > _LARGEST_TABLE:
        return safe(hypothesis), safe(reference)
    edits = align([piece.text for piece in ours], [piece.text for piece in theirs])
    extra = [edit.kind != "equal" for edit in edits if edit.hypothesis is not None]
    lacking = [edit.kind != "equal" for edit in edits if edit.reference is not None]
    return _marked(hypothesis, ours, extra, "ins"), _marked(
        reference, theirs, lacking, "del"
    )


def bars(title: str, labels: Sequence[str], counts: Sequence[int]) -> str:
    """A bar chart with its numbers written over the bars."""
    width, height, most, drawn = 46, 110, max([*counts, 1]), []
    labelled = list(zip(labels, counts, strict=True))
    for i, (label, count) in enumerate(labelled):
        tall = height * count / most
        middle = width * i + width / 2
        drawn.append(
            f'<rect class="bar" x="{width * i + 4}" y="{20 + height - tall:.1f}"'
            f' width="{width - 8}" height="{tall:.1f}"/><text x="{middle}"'
            f' y="{15 + height - tall:.1f}" text-anchor="middle">{count}</text><text'
            f' x="{middle}" y="{height + 36}" text-anchor="middle">{safe(label)}</text>'
        )
    told = "; ".join(f"{label}: {count}" for label, count in labelled)
    size = (width * len(labels), height + 44)
    return _figure("chart", size, f"{title}. {told}", "".join(drawn))


def heat_map(alignment: Alignment) -> str:
    """An alignment as a grid: rows target tokens, columns source tokens."""
    sources, targets = alignment.source, alignment.target
    if alignment.weights.size > _LARGEST_MAP:
        return f"<p>{len(targets)} × {len(sources)} tokens are too many to draw.</p>"
    left = 10 + max([_width(token) for token in targets], default=0)
    top = 10 + max([_width(token) for token in sources], default=0)
    drawn = [
        f'<rect class="grid" x="{left}" y="{top}" width="{_CELL * len(sources)}"'
        f' height="{_CELL * len(targets)}"/>'
    ]
    for i, token in enumerate(sources):
        x, y = left + _CELL * i + _CELL // 2 + 4, top - 5
        drawn.append(
            f'<text x="{x}" y="{y}" transform="rotate(-90 {x}'
            f' {y})">{safe(token)}</text>'
        )
    for j, token in enumerate(targets):
        y = top + _CELL * j + _CELL // 2 + 4
        drawn.append(
            f'<text x="{left - 5}" y="{y}" text-anchor="end">{safe(token)}</text>'
        )
        for i, weight in enumerate(alignment.weights[j].tolist()):
            # A pale cell of less than a hundredth cannot be told from an empty one.
            if weight >= 0.005:
                drawn.append(
                    f'<rect class="cell" x="{left + _CELL * i}" y="{top + _CELL * j}"'
                    f' width="{_CELL}" height="{_CELL}"'
                    f' fill-opacity="{min(weight, 1):.2f}"><title>{safe(sources[i])} →'
                    f" {safe(token)}: {weight:.2f}</title></rect>"
                )
    size = (left + _CELL * len(sources) + 10, top + _CELL * len(targets) + 10)
    return _figure("map", size, _label_of(alignment), "".join(drawn))


def _label_of(alignment: Alignment) -> str:
    """The heat map for those who do not see it: where each target token looks most."""
    pairs = [
        f"{token} ← {alignment.source[row.argmax()]} {row.max():.2f}"
        for token, row in zip(alignment.target, alignment.weights, strict=True)
        if row.size and row.max() > 0
    ]
    return (
        "Alignment of target and source tokens. Largest weight of each target token: "
        + "; ".join(pairs)
    )


def _figure(kind: str, size: tuple[int, int], label: str, drawn: str) -> str:
    width, height = size
    # A wide map scrolls inside its frame, by keyboard too.
    focus = ' tabindex="0"' if kind == "map" else ""
    return (
        f'<div class="figure {kind}"{focus}><svg role="img" aria-label="{safe(label)}"'
        f' width="{width}" height="{height}" viewBox="0 0 {width}'
        f' {height}">{drawn}</svg></div>'
    )


def _marked(
    text: str, places: Sequence[Piece], is_marked: Sequence[bool], tag: str
) -> str:
    """The text with some of its pieces in a tag; what lies between pieces is kept."""
    parts = []
    at = 0
    for piece, marked in zip(places, is_marked, strict=True):
        parts.append(safe(text[at : piece.start]))
        shown = safe(piece.text)
        parts.append(f"<{tag}>{shown}</{tag}>" if marked else shown)
        at = piece.stop
    return "".join(parts) + safe(text[at:])


def _width(token: str) -> int:
    """About how many units a token takes at 12 units a Han character."""
    return sum(13 if _WIDE.match(sign) else 8 for sign in token)


_FARTHEST = 5


@dataclass(frozen=True)
class Report:
    """What a report shows.

    Raises:
        ValueError: a number is out of range.
    """

    title: str
    """One line, such as `Chinese to Vietnamese, small`."""
    errors: ErrorTable
    """From `errors.analyse`, with alignments where they are to be drawn."""
    scores: Mapping[str, Score] = field(default_factory=dict)
    """From `metrics.score`, each with its signature and, where asked for, its interval:
    label -> score, such as `BLEU, underscores removed`."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What was evaluated: name -> value, such as data, checkpoint, beam."""
    notes: Sequence[str] = ()
    """Lines under the scores, such as a comparison of two systems."""
    n_worst: int = 20
    """Sentences of lowest sentence BLEU to show."""
    n_best: int = 10
    """Sentences of highest sentence BLEU to show."""
    n_random: int = 10
    """Sentences to show that are drawn without looking at scores."""
    n_examples: int = 3
    """Sentences to show for each error group."""
    seed: int = 0
    """Of the drawn sentences."""

    def __post_init__(self) -> None:
        for name in ("n_worst", "n_best", "n_random", "n_examples"):
            check_count(name, getattr(self, name), least=0)


def write_report(path: str | Path, report: Report) -> None:
    """Write a report as one HTML file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    with whole_file(path) as file:
        file.write(render(report).encode())


def render(report: Report) -> str:
    """A report as HTML."""
    table = report.errors
    sections = [
        _scores(report),
        _lengths(table),
        _groups(report),
        _sentences("Worst sentences", table.worst(report.n_worst), table),
        _sentences("Best sentences", table.best(report.n_best), table),
        _sentences(
            "Random sentences", table.sample(report.n_random, report.seed), table
        ),
    ]
    return (
        page_head(report.title, STYLE)
        + f"<main>\n<h1>{safe(report.title)}</h1>\n{_facts(report)}\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def _facts(report: Report) -> str:
    table = report.errors
    direction = f"{table.source_language} → {table.target_language}"
    facts = {"direction": direction, "sentences": str(len(table)), **report.facts}
    rows = "".join(
        f'<tr><th scope="row">{safe(k)}</th><td>{safe(v)}</td></tr>'
        for k, v in facts.items()
    )
    return (
        '<table class="facts"><caption>What was'
        f" evaluated</caption><tbody>{rows}</tbody></table>"
    )


def _scores(report: Report) -> str:
    rows = "".join(
        f'<tr><th scope="row">{safe(label)}</th><td'
        f' class="number">{format_values(s.value)[0]}</td>'
        f"<td>{safe(s.interval) if s.interval else 'not computed'}<br>"
        f"<code>{safe(s.signature)}</code></td></tr>"
        for label, s in report.scores.items()
    )
    notes = "".join(f"<p>{safe(note)}</p>" for note in report.notes)
    return (
        '<h2>Scores</h2>\n<table class="scores"><caption>Scores of the whole set;'
        " compare only with scores of the same signature</caption><thead><tr><th"
        ' scope="col">Metric</th><th scope="col" class="number">Score</th><th'
        ' scope="col">Interval and'
        f" signature</th></tr></thead><tbody>{rows}</tbody></table>{notes}"
    )


def _lengths(table: ErrorTable) -> str:
    tens = [0] * 10
    gaps = [0] * (2 * _FARTHEST + 1)
    for sentence in table.sentences:
        # Rounding may put a perfect score a hair above 100.
        tens[min(int(sentence.bleu // 10), 9)] += 1
        gaps[min(max(sentence.gap, -_FARTHEST), _FARTHEST) + _FARTHEST] += 1
    far = str(_FARTHEST)
    inner = [f"{gap:+d}" if gap else "0" for gap in range(1 - _FARTHEST, _FARTHEST)]
    return (
        "<h2>Sentence BLEU and length</h2>\n<p>How many sentences have which sentence"
        " BLEU, in steps of ten.</p>"
        + bars(
            "Sentences by sentence BLEU",
            [f"{low}-{low + 10}" for low in range(0, 100, 10)],
            tens,
        )
        + "<p>Tokens of the output less those of the reference. All outputs together"
        f" have {table.length_ratio:.3f} of the references' tokens.</p>"
        + bars(
            "Sentences by length gap in tokens",
            [f"≤ -{far}", *inner, f"≥ +{far}"],
            gaps,
        )
    )


def _groups(report: Report) -> str:
    table = report.errors
    rows = []
    for group, count in table.counts.items():
        label = (GROUPS[group].__doc__ or "").split("\n")[0].replace("`", "")
        shown = "".join(
            _texts(s, table) for s in table.examples(group, report.n_examples)
        )
        more = (
            f"<details><summary>Examples of {safe(group)}</summary>{shown}</details>"
            if shown
            else ""
        )
        rows.append(
            f'<tr data-group="{safe(group)}"><th scope="row">{safe(group)}</th><td'
            f' class="number">{count}</td>'
            f'<td class="number">{count / len(table):.1%}</td>'
            f"<td><small>{safe(label)}</small>{more}</td></tr>"
        )
    return (
        '<h2>Error groups</h2>\n<table class="groups"><caption>Found by rules; a'
        f" sentence may be in several groups, and {table.n_clean} of {len(table)} are"
        ' in none</caption><thead><tr><th scope="col">Group</th><th scope="col"'
        ' class="number">Sentences</th><th scope="col" class="number">Share</th><th'
        ' scope="col">What the rule'
        f" shows</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _sentences(
    title: str, sentences: Sequence[SentenceErrors], table: ErrorTable
) -> str:
    heads = "".join(
        f'<th scope="col" class="number">{name}</th>'
        for name in ("No.", "BLEU", "chrF", "Gap")
    )
    rows = "".join(_row(sentence, table) for sentence in sentences)
    return (
        f'<h2>{title}</h2>\n<table class="sentences"><caption>{len(sentences)} of'
        f" {len(table)} sentences. <ins>Underlined</ins>: not in the reference;"
        " <del>dashed</del>: missing from the output. Numbers count from"
        f" 0.</caption><thead><tr>{heads}<th"
        f' scope="col">Texts</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _row(sentence: SentenceErrors, table: ErrorTable) -> str:
    cells = {
        "No.": f"{sentence.index}",
        "BLEU": f"{sentence.bleu:.1f}",
        "chrF": f"{sentence.chrf:.1f}",
        "Gap": f"{sentence.gap:+d}" if sentence.gap else "0",
    }
    numbers = "".join(
        f'<td class="number" data-label="{name}">{value}</td>'
        for name, value in cells.items()
    )
    picture = ""
    if sentence.alignment is not None:
        drawn = heat_map(sentence.alignment)
        picture = f"<details><summary>Alignment</summary>{drawn}</details>"
    texts = f"<td>{_texts(sentence, table)}{picture}</td>"
    return f'<tr data-index="{sentence.index}">{numbers}{texts}</tr>'


def _texts(sentence: SentenceErrors, table: ErrorTable) -> str:
    ours, theirs = differences(sentence.hypothesis, sentence.reference)
    source, target = safe(table.source_language), safe(table.target_language)
    groups = "; ".join(
        f"{name} ({', '.join(seen)})" for name, seen in sentence.groups.items()
    )
    return (
        '<dl><dt>Source</dt><dd class="text"'
        f' lang="{source}">{safe(sentence.source)}</dd><dt>Output</dt><dd class="text"'
        f' lang="{target}">{ours}</dd><dt>Reference</dt><dd class="text"'
        f' lang="{target}">{theirs}</dd></dl>'
        + (f"<small>{safe(groups)}</small>" if groups else "")
    )


def write_evaluation(
    out: Path, result: Evaluation, table: ErrorTable, document: dict[str, Any]
) -> None:
    """Write translations, references, scores and the report.

    Args:
        out: the folder; it is made where it is missing.
        document: what `evaluation.json` is to hold.
    """
    files = {
        "hypotheses.txt": "\n".join(result.hypotheses) + "\n",
        "references.txt": "\n".join(result.references) + "\n",
        "sources.txt": "\n".join(result.sources) + "\n",
        "evaluation.json": json.dumps(document, ensure_ascii=False, indent=2) + "\n",
    }
    write_texts(out, files)
    facts = {
        "data": f"{document['corpus']}, {document['part']}",
        "model": document["model"],
    }
    notes = [*result.notes]
    if against := document.get("against"):
        notes.append(f"against {against['other']}: {against['comparison']}")
    title = f"{result.source} to {result.target}: {facts['data']}"
    write_report(out / "report.html", Report(title, table, result.scores, facts, notes))
    print(f"report in {out / 'report.html'}")


def write_hard(
    out: Path, pairs: Sequence[SentencePair], chosen: Sequence[int], parts: Parts
) -> None:
    """Write hard examples as further training pairs, with a card.

    Args:
        pairs: of the training part.
        chosen: places of the hard ones.
    """
    card = {
        "from": parts.source,
        "to": parts.target,
        "corpora": [parts.corpus],
        "part": "train",
        "n": len(chosen),
    }
    files = {
        f"hard.{language}": "".join(
            f"{getattr(pairs[i], side).strip()}\n" for i in chosen
        )
        for language, side in ((parts.source, "source"), (parts.target, "target"))
    }
    write_texts(out, files | {"hard.json": json.dumps(card) + "\n"})
