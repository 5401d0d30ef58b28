"""The sentences that a machine made for the translator's fourth stage: their form, and that none of them is scored."""

import re
from pathlib import Path

from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.projects.translation.readers.open_corpus import read_embedded
from coursepkg.text.vietnamese import unicode_form

FOLDER = Path(__file__).parents[3] / "scripts" / "translator_sentences"
HAN = re.compile(r"[\u4e00-\u9fff]")


def rows(name: str, columns: int) -> list[list[str]]:
    found = [line.split("\t") for line in (FOLDER / name).read_text("utf-8").splitlines()]
    assert {len(row) for row in found} == {columns}
    assert all(cell == cell.strip() != "" for row in found for cell in row)
    return found


def test_chinese_stands_beside_training_sentences_alone() -> None:
    chinese = rows("tatoeba_chinese.tsv", 2)
    lines = [int(line) for line, _ in chinese]
    training = {pair.line: pair for pair in read_embedded()["train"]}
    assert lines == sorted(set(lines))
    assert set(lines) <= set(training)
    assert all(HAN.search(text) for _, text in chinese)


def test_general_sentences_have_three_languages_and_the_same_numbers() -> None:
    general = rows("general.tsv", 3)
    for en, vi, zh in general:
        assert HAN.search(zh), en
        assert not HAN.search(en + vi), en
        assert unicode_form(vi) in ("NFC", "either"), vi
        figures = [sorted(re.findall(r"\d+", text)) for text in (en, vi, zh)]
        assert figures[0] == figures[1] == figures[2], en
    for column, language in enumerate(("en", "vi", "zh")):
        keys = [sentence_key(row[column], language) for row in general]
        assert len(set(keys)) == len(keys), language


def test_no_general_sentence_is_scored_as_an_everyday_one() -> None:
    parts = read_embedded()
    for column, side in enumerate(("source", "target")):
        language = ("en", "vi")[column]
        scored = {
            sentence_key(getattr(pair, side), language) for part in ("dev", "test") for pair in parts[part]
        }
        own = {sentence_key(row[column], language) for row in rows("general.tsv", 3)}
        assert not own & scored
