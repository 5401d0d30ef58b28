"""The evaluation as one HTML file: scores, lengths, error groups, and sentences with differences and alignments.

The file stands alone. It asks for nothing from outside, runs no script, follows light and dark mode and reads on a
phone. It shows sentences of the test set: keep it where the data may be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coursepkg.arguments import check_count
from coursepkg.files import whole_file
from coursepkg.metrics.signature import Score, format_values
from coursepkg.projects.translation.errors.analysis import ErrorTable, SentenceErrors
from coursepkg.projects.translation.errors.groups import GROUPS
from coursepkg.projects.translation.report_parts import STYLE, bars, differences, heat_map
from coursepkg.viz.page import page_head, safe

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
    """From `metrics.score`, each with its signature and, where asked for, its interval: label -> score, such as
    `BLEU, underscores removed`."""
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
        _sentences("Random sentences", table.sample(report.n_random, report.seed), table),
    ]
    return (
        page_head(report.title, STYLE) + "<main>\n"
        f"<h1>{safe(report.title)}</h1>\n{_facts(report)}\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def _facts(report: Report) -> str:
    facts = {
        "direction": f"{report.errors.source_language} → {report.errors.target_language}",
        "sentences": str(len(report.errors)),
        **report.facts,
    }
    rows = "".join(f'<tr><th scope="row">{safe(k)}</th><td>{safe(v)}</td></tr>' for k, v in facts.items())
    return f'<table class="facts"><caption>What was evaluated</caption><tbody>{rows}</tbody></table>'


def _scores(report: Report) -> str:
    rows = "".join(
        f'<tr><th scope="row">{safe(label)}</th><td class="number">{format_values(s.value)[0]}</td>'
        f"<td>{safe(s.interval) if s.interval else 'not computed'}<br><code>{safe(s.signature)}</code></td></tr>"
        for label, s in report.scores.items()
    )
    notes = "".join(f"<p>{safe(note)}</p>" for note in report.notes)
    return (
        '<h2>Scores</h2>\n<table class="scores"><caption>Scores of the whole set; compare only with scores of the same'
        ' signature</caption><thead><tr><th scope="col">Metric</th><th scope="col" class="number">Score</th>'
        f'<th scope="col">Interval and signature</th></tr></thead><tbody>{rows}</tbody></table>{notes}'
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
        "<h2>Sentence BLEU and length</h2>\n<p>How many sentences have which sentence BLEU, in steps of ten.</p>"
        + bars("Sentences by sentence BLEU", [f"{low}-{low + 10}" for low in range(0, 100, 10)], tens)
        + f"<p>Tokens of the output less those of the reference. All outputs together have {table.length_ratio:.3f} of"
        " the references' tokens.</p>"
        + bars("Sentences by length gap in tokens", [f"≤ -{far}", *inner, f"≥ +{far}"], gaps)
    )


def _groups(report: Report) -> str:
    table = report.errors
    rows = []
    for group, count in table.counts.items():
        said = (GROUPS[group].__doc__ or "").split("\n")[0].replace("`", "")
        shown = "".join(_texts(s, table) for s in table.examples(group, report.n_examples))
        more = f"<details><summary>Examples of {safe(group)}</summary>{shown}</details>" if shown else ""
        rows.append(
            f'<tr data-group="{safe(group)}"><th scope="row">{safe(group)}</th><td class="number">{count}</td>'
            f'<td class="number">{count / len(table):.1%}</td><td><small>{safe(said)}</small>{more}</td></tr>'
        )
    return (
        '<h2>Error groups</h2>\n<table class="groups"><caption>Found by rules; a sentence may be in several groups, and'
        f" {table.n_clean} of {len(table)} are in none</caption><thead><tr>"
        '<th scope="col">Group</th><th scope="col" class="number">Sentences</th>'
        '<th scope="col" class="number">Share</th>'
        f'<th scope="col">What the rule shows</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _sentences(title: str, sentences: Sequence[SentenceErrors], table: ErrorTable) -> str:
    heads = "".join(f'<th scope="col" class="number">{name}</th>' for name in ("No.", "BLEU", "chrF", "Gap"))
    rows = "".join(_row(sentence, table) for sentence in sentences)
    return (
        f'<h2>{title}</h2>\n<table class="sentences"><caption>{len(sentences)} of {len(table)} sentences.'
        " <ins>Underlined</ins>: not in the reference; <del>dashed</del>: missing from the output."
        " Numbers count from 0."
        f'</caption><thead><tr>{heads}<th scope="col">Texts</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _row(sentence: SentenceErrors, table: ErrorTable) -> str:
    cells = {
        "No.": f"{sentence.index}",
        "BLEU": f"{sentence.bleu:.1f}",
        "chrF": f"{sentence.chrf:.1f}",
        "Gap": f"{sentence.gap:+d}" if sentence.gap else "0",
    }
    numbers = "".join(f'<td class="number" data-label="{name}">{value}</td>' for name, value in cells.items())
    picture = ""
    if sentence.alignment is not None:
        picture = f"<details><summary>Alignment</summary>{heat_map(sentence.alignment)}</details>"
    return f'<tr data-index="{sentence.index}">{numbers}<td>{_texts(sentence, table)}{picture}</td></tr>'


def _texts(sentence: SentenceErrors, table: ErrorTable) -> str:
    ours, theirs = differences(sentence.hypothesis, sentence.reference)
    source, target = safe(table.source_language), safe(table.target_language)
    groups = "; ".join(f"{name} ({', '.join(seen)})" for name, seen in sentence.groups.items())
    return (
        f'<dl><dt>Source</dt><dd class="text" lang="{source}">{safe(sentence.source)}</dd>'
        f'<dt>Output</dt><dd class="text" lang="{target}">{ours}</dd>'
        f'<dt>Reference</dt><dd class="text" lang="{target}">{theirs}</dd></dl>'
        + (f"<small>{safe(groups)}</small>" if groups else "")
    )
