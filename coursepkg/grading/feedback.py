"""The page that a student gets back: marks and messages, all of it escaped text."""

import html
from collections.abc import Mapping
from pathlib import Path

from coursepkg.files import whole_file
from coursepkg.grading.grade import CellMark, Record

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: sans-serif; max-width: 50rem; margin: auto; padding: 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid gray; padding: .4rem; text-align: left; }}
td.points {{ text-align: right; white-space: nowrap; }}
pre {{ white-space: pre-wrap; border: 1px solid gray; padding: .6rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{summary}</p>
{notes}
<table>
<thead><tr><th>Task</th><th>Result</th><th>Points</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
{details}
</body>
</html>
"""


def write_feedback(
    record: Record, path: Path, manual: Mapping[str, tuple[float | None, str]]
) -> None:
    """Write the page of one submission.

    Args:
        record: of its grading.
        path: of the page; its folder is made.
        manual: points and comment that a person gave, by grade id.
    """
    with whole_file(path) as file:
        file.write(feedback_page(record, manual).encode())


def feedback_page(
    record: Record, manual: Mapping[str, tuple[float | None, str]]
) -> str:
    """The page as HTML without scripts, pictures or links."""
    rows, points, waiting = [], 0.0, 0
    for mark in record.cells:
        given, comment = manual.get(mark.grade_id, (None, ""))
        if mark.is_manual and given is None:
            waiting += 1
        worth = given if given is not None else mark.points
        points += worth
        shown = "-" if mark.is_manual and given is None else f"{worth:g}"
        rows.append(
            f"<tr><td>{_text(mark.grade_id)}</td><td>{_result(mark, comment)}</td>"
            f'<td class="points">{shown} of {mark.max_points:g}</td></tr>'
        )
    most = sum(mark.max_points for mark in record.cells)
    later = f" ({waiting} to be marked by a person)" if waiting else ""
    notes = [text for text in (record.error, record.ended, *record.notes) if text]
    return PAGE.format(
        title=_text(f"{record.assignment}: {record.student}"),
        summary=_text(f"{points:g} of {most:g} points{later}."),
        notes="\n".join(f"<p><strong>{_text(note)}</strong></p>" for note in notes),
        rows="\n".join(rows),
        details=_details(record),
    )


def _result(mark: CellMark, comment: str) -> str:
    lines = []
    for verdict in mark.verdicts:
        about = verdict["about"] or verdict["test"]
        said = verdict["message"] or "passed"
        lines.append(f"{_text(about)} <em>{_text(said)}</em>")
    if comment:
        lines.append(_text(comment))
    return "<br>".join(lines) or ("marked by a person" if mark.is_manual else "not run")


def _details(record: Record) -> str:
    parts = []
    for title, text in (
        ("What your cells raised", "\n".join(record.problems)),
        ("What your cells printed", record.output),
    ):
        if text:
            parts.append(f"<h2>{title}</h2>\n<pre>{_text(text)}</pre>")
    return "\n".join(parts)


def _text(text: str) -> str:
    return html.escape(text)
