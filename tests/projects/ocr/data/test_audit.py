"""What an audit of lines finds, and that it finds nothing where nothing is."""

import json
import unicodedata
from pathlib import Path

import pytest

from coursepkg.projects.ocr.data.audit import (
    LabelledText,
    LineAudit,
    as_json,
    as_text,
    audit_lines,
    audit_table,
    describe_lines,
    table_sizes,
)
from coursepkg.projects.ocr.data.mc_ocr import read_table
from coursepkg.projects.ocr.data.splits import split_lines
from tests.projects.ocr.data.tables import lines, receipt, row, write_table


def labelled(*texts: str, group: str = "a") -> list[LabelledText]:
    return [LabelledText(text, group, f"{group}, instance {i}") for i, text in enumerate(texts)]


def audit(*texts: str) -> LineAudit:
    return audit_lines({"train": labelled(*texts)})


def test_clean_parts_have_no_findings() -> None:
    found = audit_lines({"train": labelled("Tổng tiền"), "test": labelled("Phở bò", group="b")})
    assert not found.leaks
    assert (found.bad, found.unknown, found.n_seen) == ((), (), {"test": 0})
    report = as_text(found)
    assert "leaks: none" in report
    assert "bad texts: none" in report
    assert "nothing outside it" in report


def test_a_receipt_on_both_sides_is_a_leak() -> None:
    found = audit_lines(
        {"train": labelled("một", "hai"), "dev": labelled("ba", group="b"), "test": labelled("bốn")}
    )
    assert found.leaks
    assert found.n_leaking == {"train": 2, "dev": 0, "test": 1}
    assert "LEAKS: 1 receipts or documents" in as_text(found)
    assert as_json(found)["shared_groups"] == [{"group": "a", "lines": {"train": 2, "test": 1}}]


def test_a_text_on_both_sides_is_counted_but_no_leak() -> None:
    test = labelled("Tổng tiền", "TỔNG TIỀN:", "khác", group="b")
    found = audit_lines({"train": labelled("Tổng tiền"), "test": test})
    assert not found.leaks
    assert (found.n_seen, found.n_seen_normalised) == ({"test": 1}, {"test": 2})
    assert "stand in train: 1 of 3 (33.3%)" in as_text(found)


def test_repeated_and_nearly_repeated_texts_are_counted() -> None:
    found = audit("Tổng tiền", "Tổng tiền", "tổng  tiền:", "số 1 đường Láng", "số 2 đường Láng")
    assert (found.n_distinct, found.n_normalised, found.n_near) == (4, 3, 2)
    assert found.frequent[0] == ("Tổng tiền", 2)
    assert found.frequent_share == 1.0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("  ", "empty text"),
        (unicodedata.normalize("NFD", "Tổng"), "not NFC"),
        ("Tổng\u0007", "control character"),
        ("Tổng ", "stray space"),
        ("Tổng  tiền", "stray space"),
        ("Tổng\u00a0tiền", "character that looks like another"),
        ("Ðà Nẵng", "character that looks like another"),
    ],
)
def test_bad_texts_are_named(text: str, kind: str) -> None:
    found = audit("Phở bò", text)
    assert (kind, "train", "a, instance 1") in [bad[:3] for bad in found.bad]
    assert {bad.name for bad in found.bad} == {"a, instance 1"}
    assert f"{kind}: 1" in as_text(found)


def test_characters_forms_and_tones_are_counted() -> None:
    found = audit("hòa ₿₿", "hoà", unicodedata.normalize("NFD", "Tổng"), "abc")
    assert [(one.character, one.count) for one in found.unknown if one.character == "₿"] == [("₿", 2)]
    assert "U+20BF BITCOIN SIGN x 2" in as_text(found)
    assert found.forms == {"NFC": 2, "NFD": 1, "either": 1}
    assert found.tone_styles == {"old": 1, "new": 1}


def test_a_table_is_audited_with_its_faults(tmp_path: Path) -> None:
    rows = [*(receipt(f"{i}.jpg", f"Quán {i}") for i in range(40)), row("bad.jpg", [])]
    table = read_table(write_table(tmp_path / "table.csv", rows))
    by_line = audit_table(table, split_lines(table.groups, "line"))
    by_receipt = audit_table(table, split_lines(table.groups, "receipt"))
    assert by_line.leaks
    assert not by_receipt.leaks
    assert sum(by_receipt.n_lines.values()) == 120
    assert "empty row: 1" in as_text(by_receipt)
    document = json.loads(json.dumps(as_json(by_line)))
    assert document["leaks"]
    assert document["table_fault_counts"] == {"empty row": 1}


def test_statistics_of_lines() -> None:
    given = lines(10)
    found = describe_lines(
        [line.text for line in given],
        [line.group for line in given],
        [(line.width, line.height) for line in given],
        height=48,
    )
    widths = sorted(2 * line.width for line in given)
    assert (found["lines"], found["groups"], found["distinct texts"]) == (10, 4, 10)
    assert found["length"] == {"shortest": 9, "mean": 9, "median": 9, "95%": 9, "longest": 9}
    assert found["width at height 48"]["longest"] == widths[-1]
    assert found["width at height 48"]["mean"] == pytest.approx(sum(widths) / 10)
    assert found["characters"] == 90
    assert "ẵ" in found["accented letters that never occur"]
    assert "ò" not in found["accented letters that never occur"]
    with pytest.raises(ValueError, match="at least one line"):
        describe_lines([], [])
    with pytest.raises(ValueError, match="at least one line"):
        audit_lines({"train": []})


def test_a_table_tells_widths_without_photographs(tmp_path: Path) -> None:
    table = read_table(write_table(tmp_path / "table.csv", [receipt("a.jpg")]))
    assert table.turned == {"upright": 3}
    found = describe_lines(table.texts, table.groups, table_sizes(table), height=40)
    assert found["width at height 40"] == {
        "shortest": 140,
        "mean": 220,
        "median": 160,
        "95%": 160,
        "longest": 360,
    }
