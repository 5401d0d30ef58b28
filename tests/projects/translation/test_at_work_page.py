"""The page on the translation system at work: its tables hold the stored numbers."""

import json
from typing import Any

from tests.projects.pages import BOOK

PAGE = (BOOK / "translation_at_work.md").read_text("utf-8")
NAMES = {"en": "English", "zh": "Chinese", "vi": "Vietnamese"}


def stored(name: str) -> dict[str, Any]:
    return dict(json.loads((BOOK / "_data" / "translation" / name).read_text("utf-8")))


def test_the_scores_are_those_of_the_shipped_model() -> None:
    rows = []
    for way, told in stored("shipped.json")["ways"].items():
        source, target = way.split("-")
        for one in told["domains"]:
            bleu, copied = one["scores"]["BLEU"], one["copied"]
            low, high = bleu["interval"]
            rows.append(
                f"| {NAMES[source]} to {NAMES[target]} | {one['domain']} | {one['n']} |"
                f" {bleu['value']:.1f} [{low:.1f}, {high:.1f}] | {one['scores']['chrF']['value']:.1f} |"
                f" {copied['kept']} of {copied['of']} |"
            )
    assert len(rows) == 12
    assert [row for row in rows if row not in PAGE] == []


def test_what_reading_back_and_the_last_stages_changed_is_as_stored() -> None:
    rows = []
    for way, told in stored("shipped.json")["ways"].items():
        source, target = way.split("-")
        for one in told["domains"]:
            alone, earlier = one["against"]["search alone"], one["against"]["earlier model"]
            assert alone["system"] == earlier["system"] == one["scores"]["BLEU"]["value"]
            rows.append(
                f"| {NAMES[source]} to {NAMES[target]} | {one['domain']} | {earlier['baseline']:.1f} |"
                f" {alone['baseline']:.1f} | {alone['system']:.1f} | {difference(alone)} | {difference(earlier)} |"
            )
    assert [row for row in rows if row not in PAGE] == []


def test_what_single_sentences_bring_is_as_stored() -> None:
    rows = [
        f"| {NAMES[one['from']]} to {NAMES[one['to']]} | {one['n']} | {one['baseline']:.1f} |"
        f" {one['system']:.1f} | {difference(one)} |"
        for one in stored("shipped.json")["several_sentences"]
    ]
    assert len(rows) == 4
    assert [row for row in rows if row not in PAGE] == []


def difference(told: dict[str, Any]) -> str:
    low, high = told["interval"]
    return f"{told['difference']:+.1f} [{low:+.1f}, {high:+.1f}]"


def test_searches_and_notes_are_as_stored() -> None:
    found = stored("shipped.json")
    rows = [
        f"| {one['beams']} | {one['reverse_weight']:g} | {one['BLEU']:.1f} | {one['chrF']:.1f} |"
        for one in found["searches"]
    ]
    for way, told in found["ways"].items():
        source, target = way.split("-")
        notes = told["notes"]
        rows.append(
            f"| {NAMES[source]} to {NAMES[target]} | {notes['n_doubtful']:,} of {notes['n']:,} |"
            f" {notes['chrf']['sure']:.1f} | {notes['chrf']['doubtful']:.1f} | {notes['auc']:.2f} |"
        )
    assert [row for row in rows if row not in PAGE] == []
    for way, told in stored("calibration.json")["directions"].items():
        source, target = way.split("-")
        shares = " | ".join(f"{100 * told['risk'][n]:.0f}%" for n in ("100", "90", "80", "70", "50", "30"))
        assert f"| {NAMES[source]} to {NAMES[target]} | {shares} |" in PAGE
        joined = told["run_ons"]
        assert (
            f"| {NAMES[source]} to {NAMES[target]} | {joined['n_doubtful']:,} of {joined['n']:,} |"
            f" {joined['chrf']['sure']:.1f} | {joined['chrf']['doubtful']:.1f} | {joined['auc']:.2f} |"
            f" {told['calibration_error']:.2f} | {joined['calibration_error']:.2f} |"
        ) in PAGE


def interval(told: dict[str, Any]) -> str:
    low, high = told["interval"]
    return f"[{low:.1f}, {high:.1f}]"


def test_what_the_tenth_stage_brought_is_as_stored() -> None:
    text = " ".join(PAGE.split())
    first, *rest = stored("shipped.json")["run_ons"]
    assert f"{first['difference']:.1f} BLEU {interval(first)} from English to Vietnamese" in text
    ways = ("from Chinese to Vietnamese", "back to English", "back to Chinese")
    for one, way in zip(rest, ways, strict=True):
        assert f"{one['difference']:.1f} {interval(one)} {way}" in text
    en, zh = (
        stored(f"stages/{way}_general-dev_tenth-against-before.json")["against"] for way in ("en-vi", "zh-vi")
    )
    assert f"{en['difference']:.1f} {interval(en)} from English" in text
    assert f"from Chinese {zh['difference']:.1f} {interval(zh)} is undecided" in text


def test_what_is_copied_is_as_stored() -> None:
    for way in ("en-vi", "zh-vi"):
        for domain in ("everyday", "documentation", "interface"):
            if (way, domain) == ("zh-vi", "everyday"):
                continue
            with_marks, without = (
                stored(f"copied/{way}_{domain}-dev_{kind}-marks.json") for kind in ("with", "without")
            )
            assert with_marks["scores"]["BLEU"]["signature"] == without["scores"]["BLEU"]["signature"]
            cells = [
                f"{one['kept']} of {one['of']}"
                for one in (with_marks["copied"], without["copied"], with_marks["capitalised"])
            ]
            assert f"| {NAMES[way[:2]]} | {domain} | {' | '.join(cells)}" in PAGE


def test_the_open_corpus_is_counted_as_stored() -> None:
    counted = stored("audit_open.json")["pairs"]
    for domain, head in (
        ("everyday", "| everyday | Tatoeba |"),
        ("documentation", "| documentation | Microsoft, React |"),
        ("interface", "| interface | Apache, MIT, BSD, MPL projects |"),
        ("support", "| support pages | Microsoft, Vietnamese by machine |"),
    ):
        cells = []
        for way in ("en-vi", "zh-vi"):
            files = [one for one in counted[way]["files"].values() if one["domain"] == domain]
            assert {one["machine_made"] for one in files} == {domain == "support"}
            cells.append(
                f"{sum(one['n_pairs'] for one in files):,}, {sum(one['n_short'] for one in files):,}"
            )
        assert f"{head} {cells[0]} | {cells[1]} |" in PAGE
    near = [counted[way]["near"][way[:2]] for way in counted] + [
        counted[way]["near"]["vi"] for way in counted
    ]
    en, zh, vi_of_en, vi_of_zh = (one["across_parts"]["test"] for one in near)
    text = " ".join(PAGE.split())
    assert f"{en} of the English test sentences and {vi_of_en} of their translations differ" in text
    assert f"and {zh} of the Chinese and {vi_of_zh} of their translations." in text
    assert {n for way in counted.values() for n in way["leaking_pairs"].values()} == {0}
