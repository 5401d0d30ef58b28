"""Pieces of the HTML report: marked differences, bars and heat maps as inline SVG, the style sheet.

Nothing here asks for a file or an address. Colours are variables of the style sheet, so that figures follow the
reader's light or dark mode; what colour says is also said by a line or a label.
"""

import re
from collections.abc import Sequence

from coursepkg.metrics.alignment import align
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.surface import Piece, pieces
from coursepkg.viz.page import safe

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1f; --soft: #5a5d66; --line: #d5d8de; --panel: #f5f6f8;
  --bar: #2f6fb2; --extra: #ffe3d3; --lack: #d8ecff; }
@media (prefers-color-scheme: dark) { :root { --back: #17181b; --text: #e9eaee; --soft: #a6abb6; --line: #3b3e46;
  --panel: #202227; --bar: #7db4ee; --extra: #5a2f16; --lack: #173f63; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; } caption { text-align: left; color: var(--soft); }
th, td { border-top: 1px solid var(--line); padding: .4rem .6rem .4rem 0; text-align: left; vertical-align: top; }
th { overflow-wrap: normal; } .facts { width: auto; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, small { color: var(--soft); font-size: .8rem; }
.text { unicode-bidi: isolate; } dl { margin: 0; } dd { margin: 0 0 .3rem; }
dt { color: var(--soft); font-size: .8rem; }
ins { background: var(--extra); text-decoration: underline; }
del { background: var(--lack); text-decoration: underline dashed; }
.figure { overflow-x: auto; margin: .5rem 0; } svg { display: block; }
.chart svg { max-width: 100%; height: auto; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; } .bar, .cell { fill: var(--bar); }
.grid { fill: var(--panel); stroke: var(--line); }
details { background: var(--panel); padding: .3rem .6rem; margin: .3rem 0; } summary { cursor: pointer; }
@media (max-width: 40rem) { .sentences thead { display: none; } .sentences tr, .sentences td { display: block; }
  .sentences tr { border-top: 1px solid var(--line); padding: .5rem 0; } .sentences td { border: 0; padding: 0; }
  .sentences .number { display: inline-block; margin-right: .8rem; text-align: left; }
  .sentences .number::before { content: attr(data-label) " "; color: var(--soft); } }
"""
"""The style sheet of a report: light and dark, wide and narrow."""

_CELL = 22
_LARGEST_TABLE = 4_000_000
_LARGEST_MAP = 10_000
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\U00020000-\U0003fffd]"
)


def differences(hypothesis: str, reference: str) -> tuple[str, str]:
    """Both texts as HTML: `<ins>` is what the hypothesis has and the reference has not, `<del>` the other way round.

    Words are compared by a shortest list of edits (`metrics.align`); spaces and case stay as they are. Very long texts
    stay unmarked: the comparison takes a table of their lengths multiplied.
    """
    ours, theirs = pieces(hypothesis), pieces(reference)
    if len(ours) * len(theirs) > _LARGEST_TABLE:
        return safe(hypothesis), safe(reference)
    edits = align([piece.text for piece in ours], [piece.text for piece in theirs])
    extra = [edit.kind != "equal" for edit in edits if edit.hypothesis is not None]
    lacking = [edit.kind != "equal" for edit in edits if edit.reference is not None]
    return _marked(hypothesis, ours, extra, "ins"), _marked(reference, theirs, lacking, "del")


def bars(title: str, labels: Sequence[str], counts: Sequence[int]) -> str:
    """A bar chart with its numbers written over the bars."""
    width, height = 46, 110
    most = max([*counts, 1])
    drawn = []
    for i, (label, count) in enumerate(zip(labels, counts, strict=True)):
        tall = height * count / most
        middle = width * i + width / 2
        drawn.append(
            f'<rect class="bar" x="{width * i + 4}" y="{20 + height - tall:.1f}" width="{width - 8}"'
            f' height="{tall:.1f}"/>'
            f'<text x="{middle}" y="{15 + height - tall:.1f}" text-anchor="middle">{count}</text>'
            f'<text x="{middle}" y="{height + 36}" text-anchor="middle">{safe(label)}</text>'
        )
    said = "; ".join(f"{label}: {count}" for label, count in zip(labels, counts, strict=True))
    return _figure("chart", (width * len(labels), height + 44), f"{title}. {said}", "".join(drawn))


def heat_map(alignment: Alignment) -> str:
    """An alignment as a grid: a row a target token, a column a source token, darker where the weight is larger."""
    sources, targets = alignment.source, alignment.target
    if alignment.weights.size > _LARGEST_MAP:
        return f"<p>{len(targets)} × {len(sources)} tokens are too many to draw.</p>"
    left = 10 + max([_width(token) for token in targets], default=0)
    top = 10 + max([_width(token) for token in sources], default=0)
    drawn = [
        f'<rect class="grid" x="{left}" y="{top}" width="{_CELL * len(sources)}" height="{_CELL * len(targets)}"/>'
    ]
    for i, token in enumerate(sources):
        x, y = left + _CELL * i + _CELL // 2 + 4, top - 5
        drawn.append(f'<text x="{x}" y="{y}" transform="rotate(-90 {x} {y})">{safe(token)}</text>')
    for j, token in enumerate(targets):
        y = top + _CELL * j + _CELL // 2 + 4
        drawn.append(f'<text x="{left - 5}" y="{y}" text-anchor="end">{safe(token)}</text>')
        for i, weight in enumerate(alignment.weights[j].tolist()):
            # A pale cell of less than a hundredth cannot be told from an empty one.
            if weight >= 0.005:
                drawn.append(
                    f'<rect class="cell" x="{left + _CELL * i}" y="{top + _CELL * j}" width="{_CELL}" height="{_CELL}"'
                    f' fill-opacity="{min(weight, 1):.2f}"><title>{safe(sources[i])} → {safe(token)}:'
                    f" {weight:.2f}</title></rect>"
                )
    size = (left + _CELL * len(sources) + 10, top + _CELL * len(targets) + 10)
    return _figure("map", size, _said(alignment), "".join(drawn))


def _said(alignment: Alignment) -> str:
    """The heat map for those who do not see it: where each target token looks most."""
    pairs = [
        f"{token} ← {alignment.source[row.argmax()]} {row.max():.2f}"
        for token, row in zip(alignment.target, alignment.weights, strict=True)
        if row.size and row.max() > 0
    ]
    return "Alignment of target and source tokens. Largest weight of each target token: " + "; ".join(pairs)


def _figure(kind: str, size: tuple[int, int], said: str, drawn: str) -> str:
    width, height = size
    # A wide map scrolls inside its frame, by keyboard too.
    focus = ' tabindex="0"' if kind == "map" else ""
    return (
        f'<div class="figure {kind}"{focus}><svg role="img" aria-label="{safe(said)}" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}">{drawn}</svg></div>'
    )


def _marked(text: str, places: Sequence[Piece], is_marked: Sequence[bool], tag: str) -> str:
    """The text with some of its pieces in a tag; what lies between pieces is kept."""
    parts = []
    at = 0
    for piece, marked in zip(places, is_marked, strict=True):
        parts.append(safe(text[at : piece.start]))
        parts.append(f"<{tag}>{safe(piece.text)}</{tag}>" if marked else safe(piece.text))
        at = piece.stop
    return "".join(parts) + safe(text[at:])


def _width(token: str) -> int:
    """About how many units a token takes at 12 units a Han character."""
    return sum(13 if _WIDE.match(sign) else 8 for sign in token)
