"""The HTML report: well formed, alone, escaped, and equal to what it was given."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.analysis import ErrorTable, analyse
from coursepkg.projects.translation.report import Report, differences, heat_map, render, write_report

HOSTILE = "<script>alert('x')</script> \"quoted\" & &lt;b&gt; </style></title>\x00 onload=1 javascript:0"
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Collects what is asked for, and refuses tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    def text_in(self, tag: str) -> list[str]:
        return [data for tags, data in self.texts if tags[-1:] == (tag,)]


def make(n: int = 12, extra: str = "") -> ErrorTable:
    sources = [f"我 有 {i + 2} 本 书 {extra}".strip() for i in range(n)]
    references = [f"Tôi có {i + 2} quyển sách ." for i in range(n)]
    outputs = [
        " ".join(line.split()[: 6 - i % 4]) + (f" {extra}" if i % 2 else "")
        for i, line in enumerate(references)
    ]
    alignments = [
        Alignment(tuple(s.split()), tuple(h.split()), np.full((len(h.split()), len(s.split())), 0.25))
        for s, h in zip(sources, outputs, strict=True)
    ]
    return analyse(
        sources, outputs, references, source_language="zh", target_language="vi", alignments=alignments
    )


@pytest.fixture(scope="module")
def report() -> Report:
    table = make()
    texts = [s.hypothesis for s in table.sentences], [s.reference for s in table.sentences]
    scores = {
        "BLEU, raw": score(BLEU(), *texts, n_resamples=50, protocol="beam 5"),
        "chrF": score(CHRF(), *texts),
    }
    return Report(
        "Chinese to Vietnamese",
        table,
        scores,
        {"checkpoint": "small"},
        ["p = 0.01"],
        n_worst=5,
        n_best=3,
        n_random=4,
    )


def test_it_stands_alone(report: Report) -> None:
    text = render(report)
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<script|<link|<img|<iframe", text)
    page = Page(text)
    assert not any("src" in attrs or "href" in attrs for _, attrs in page.tags)
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)


def test_it_fits_screens_and_modes(report: Report) -> None:
    text = render(report)
    assert "prefers-color-scheme: dark" in text
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in Page(text).all("meta")


def test_one_row_a_sentence_asked_for(report: Report) -> None:
    rows = [attrs["data-index"] for attrs in Page(render(report)).all("tr") if "data-index" in attrs]
    table = report.errors
    expected = [*table.worst(5), *table.best(3), *table.sample(4)]
    assert rows == [str(sentence.index) for sentence in expected]
    none = Report("t", table, n_worst=0, n_best=0, n_random=0)
    assert "data-index" not in render(none)
    everything = Page(render(Report("t", table, n_worst=99, n_best=0, n_random=0)))
    assert sum("data-index" in attrs for attrs in everything.all("tr")) == len(table)


def test_numbers_are_those_given(report: Report) -> None:
    page = Page(render(report))
    said = page.text_in("td") + page.text_in("code") + page.text_in("p")
    bleu, chrf = report.scores.values()
    assert {"BLEU, raw", "chrF"} <= set(page.text_in("th"))
    assert f"{bleu.value:.2f}" in said
    assert f"{chrf.value:.2f}" in said
    assert str(bleu.interval) in said
    assert "not computed" in said
    assert {bleu.signature, chrf.signature, "small", "p = 0.01", "zh → vi", "12"} <= set(said)
    for sentence in report.errors.worst(5):
        assert {f"{sentence.bleu:.1f}", f"{sentence.chrf:.1f}"} <= set(said)


def test_groups_have_their_counts(report: Report) -> None:
    text = render(report)
    for group, count in report.errors.counts.items():
        row = re.search(rf'<tr data-group="{group}">.*?</tr>', text, flags=re.DOTALL)
        assert row
        assert f'<td class="number">{count}</td><td class="number">{count / 12:.1%}</td>' in row[0]
        assert ("<details>" in row[0]) is (count > 0)


def test_bars_count_every_sentence(report: Report) -> None:
    labels = [str(attrs["aria-label"]) for attrs in Page(render(report)).all("svg")]
    for start in ("Sentences by sentence BLEU", "Sentences by length gap"):
        (label,) = [label for label in labels if label.startswith(start)]
        counts = [int(part.rsplit(": ", 1)[1]) for part in label.split(". ", 1)[1].split("; ")]
        assert sum(counts) == 12
    gaps = dict(part.rsplit(": ", 1) for part in label.split(". ", 1)[1].split("; "))
    assert int(gaps["0"]) == sum(s.gap == 0 for s in report.errors.sentences)
    assert int(gaps["≤ -5"]) == sum(s.gap <= -5 for s in report.errors.sentences)


def test_heat_maps_show_the_matrix() -> None:
    weights = np.array([[0.9, 0.004], [0.25, 0.75]])
    table = analyse(
        ["我 好"],
        ["tôi khoẻ"],
        ["tôi khoẻ"],
        source_language="zh",
        target_language="vi",
        alignments=[Alignment(("我", "好"), ("tôi", "khoẻ"), weights)],
    )
    page = Page(render(Report("t", table, n_best=0, n_random=0)))
    cells = [attrs for attrs in page.all("rect") if attrs.get("class") == "cell"]
    assert [attrs["fill-opacity"] for attrs in cells] == ["0.90", "0.25", "0.75"]
    assert cells[1]["x"] == cells[0]["x"] != cells[2]["x"]
    assert cells[1]["y"] == cells[2]["y"] != cells[0]["y"]
    assert "我 → tôi: 0.90" in page.text_in("title")
    assert any("tôi ← 我 0.90; khoẻ ← 好 0.75" in str(attrs["aria-label"]) for attrs in page.all("svg"))


def test_hostile_text_stays_text() -> None:
    table = make(4, HOSTILE)
    report = Report(HOSTILE, table, facts={HOSTILE: HOSTILE}, notes=[HOSTILE], n_examples=9)
    page = Page(render(report))
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "b", "img"}
    assert tags == {tag for tag, _ in Page(render(Report("t", make(4), notes=["n"], n_examples=9))).tags}
    shown = HOSTILE.replace("\x00", "\ufffd")
    assert page.text_in("h1") == [shown]
    assert page.text_in("p")[0] == shown
    assert f"{table.sentences[0].source}".replace("\x00", "\ufffd") in page.text_in("dd")
    assert all("onload" not in attrs for _, attrs in page.tags)


def test_a_very_long_sentence_is_shown_without_marks_and_map() -> None:
    long = " ".join(str(i) for i in range(3000))
    other = long.replace(" 1 ", " x ")
    assert differences(long, other) == (long, other)
    alignment = Alignment(("a",) * 101, ("b",) * 100, np.zeros((100, 101)))
    assert heat_map(alignment) == "<p>100 × 101 tokens are too many to draw.</p>"


def test_marked_words() -> None:
    ours, theirs = differences("Tôi mua_sách & bút.", "Tôi mua_vở & bút")
    assert ours == "Tôi mua_<ins>sách</ins> &amp; bút<ins>.</ins>"
    assert theirs == "Tôi mua_<del>vở</del> &amp; bút"
    assert differences("", "<a>") == ("", "<del>&lt;</del><del>a</del><del>&gt;</del>")


@pytest.mark.parametrize("line", ["Tôi ở đây .", "我在北京！", "  <&> \"'_"])
def test_equal_texts_have_no_marks(line: str) -> None:
    both = differences(line, line)
    assert both[0] == both[1]
    assert "<ins>" not in both[0]
    assert Page(f"<p>{both[0]}</p>").text_in("p") == [line]


def test_the_file_is_whole_or_as_it_was(tmp_path: Path, report: Report) -> None:
    path = tmp_path / "report.html"
    write_report(path, report)
    assert path.read_text(encoding="utf-8") == render(report)
    with pytest.raises(OSError, match=r"report\.html"):
        write_report(path / "report.html", report)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(ValueError, match="n_worst must be an integer of at least 0"):
        Report("t", report.errors, n_worst=-1)
