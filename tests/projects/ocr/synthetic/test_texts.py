"""Texts of lines: no accented letter is rare, and what is drawn depends on the dice alone."""

import random
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from coursepkg.projects.ocr.synthetic.receipt_text import KINDS as RECEIPT_KINDS
from coursepkg.projects.ocr.synthetic.receipt_text import money, phone, receipt_line, words
from coursepkg.projects.ocr.synthetic.texts import (
    CODES,
    KINDS,
    LETTER_RATE,
    SIGNS,
    LineTexts,
    TextConfig,
    code,
    column,
    document_line,
    read_own_texts,
)
from coursepkg.text.vietnamese import ACCENTED

# The Phrasebook takes long to unfold; without it the other kinds keep their weights to one another.
PLAIN = TextConfig(sentences=0.0)


def drawn(config: TextConfig, count: int, seed: int = 0) -> list[str]:
    texts = LineTexts(config)
    return [texts.draw(random.Random(f"{seed}:{i}")) for i in range(count)]


def test_no_accented_letter_is_rare_in_either_case() -> None:
    counts = Counter("".join(drawn(PLAIN, 20_000)).replace(" ", ""))
    total = counts.total()
    rare = {
        letter: counts[letter]
        for letter in ACCENTED + ACCENTED.upper()
        if counts[letter] < LETTER_RATE * total
    }
    assert rare == {}


def test_every_sign_of_ascii_occurs() -> None:
    found = set("".join(drawn(PLAIN, 20_000)))
    assert {chr(code) for code in range(33, 127)} <= found


def test_texts_are_clean() -> None:
    for text in drawn(PLAIN, 2000):
        assert text
        assert text == " ".join(text.split())
        assert unicodedata.is_normalized("NFC", text)
        assert len(text) <= PLAIN.max_length


def test_the_same_dice_give_the_same_text() -> None:
    assert drawn(PLAIN, 50) == drawn(PLAIN, 50)
    assert drawn(PLAIN, 50) != drawn(PLAIN, 50, seed=1)


def test_weights_choose_the_kinds() -> None:
    only = {"receipts": 0.0, "documents": 0.0, "sentences": 0.0, "prose": 0.0, "codes": 0.0}
    for text in drawn(TextConfig(**only, syllables=1.0, upper=0.0, title=0.0, swapped=0.0), 100):
        assert re.fullmatch(r"[^\W\d_]+( [^\W\d_]+)*", text)


def test_amounts_in_other_currencies_are_written_in_one_way_a_line() -> None:
    only = dict.fromkeys(KINDS, 0.0) | {"currencies": 1.0}
    lines = drawn(TextConfig(**only, upper=0.0, title=0.0, swapped=0.0), 2000)
    marks = [
        re.findall("|".join(map(re.escape, sorted({*SIGNS, *CODES}, key=len, reverse=True))), text)
        for text in lines
    ]
    assert all(1 <= len(found) <= 2 and len({*found}) == 1 for found in marks)
    assert {found[0] for found in marks} == {*SIGNS, *CODES}
    assert any(re.fullmatch(r"\$\d{1,3}(,\d{3})+", text) for text in lines)
    assert any(re.fullmatch(r"\d+,\d\d ?€", text) for text in lines)


def test_numbers_with_signs_are_written_as_receipts_write_them() -> None:
    only = dict.fromkeys(KINDS, 0.0) | {"signs": 1.0}
    lines = drawn(TextConfig(**only, upper=0.0, title=0.0, swapped=0.0), 2000)
    assert all(any(sign in text for sign in "%+=:") for text in lines)
    for form in (
        r"\d+ \d+%VAT",
        r".+ \d\(\d+%VAT\) .+",
        r".+ \d\+1",
        r".+\(1\.000VND=\d .+\)",
        r".+:\d{3,9}",
    ):
        assert any(re.fullmatch(form, text) for text in lines), form


def test_the_usual_lines_have_no_other_currency() -> None:
    assert not set("€£¥") & set("".join(drawn(PLAIN, 2000)))


def test_cases() -> None:
    assert all(text == text.upper() for text in drawn(TextConfig(sentences=0.0, upper=1.0), 100))
    titles = drawn(TextConfig(sentences=0.0, upper=0.0, title=1.0), 100)
    assert all(not word[0].islower() for text in titles for word in text.split())


def test_long_texts_are_cut_at_a_space() -> None:
    cut, whole = drawn(TextConfig(sentences=0.0, max_length=20), 500), drawn(PLAIN, 500)
    for short, long in zip(cut, whole, strict=True):
        assert len(short) <= 20
        assert long.startswith(short)
        assert len(long) == len(short) or long[len(short)] == " " or " " not in short


def test_sentences_of_the_phrasebook(monkeypatch: pytest.MonkeyPatch) -> None:
    from coursepkg.projects.ocr.synthetic import texts

    monkeypatch.setattr(texts, "_phrasebook", lambda: ("Tôi đi chợ.",))
    only = {"receipts": 0.0, "documents": 0.0, "syllables": 0.0, "prose": 0.0, "codes": 0.0}
    assert set(drawn(TextConfig(**only, upper=0.0, title=0.0, swapped=0.0), 5)) == {"Tôi đi chợ."}


def test_a_users_own_texts(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("  Bún  đậu\n\nMẮM TÔM\r\nho\u0300a\n", encoding="utf-8")
    assert read_own_texts(path) == ("Bún đậu", "MẮM TÔM", "hòa")
    many = drawn(
        TextConfig(sentences=0.0, own=1e6, own_file=str(path), upper=0.0, title=0.0, swapped=0.0), 60
    )
    assert set(many) == {"Bún đậu", "MẮM TÔM", "hòa"}


def test_faulty_files_of_texts(tmp_path: Path) -> None:
    empty, latin = tmp_path / "empty.txt", tmp_path / "latin.txt"
    empty.write_text("\n \n", encoding="utf-8")
    latin.write_bytes("Mỹ café".encode("cp1258", errors="replace"))
    with pytest.raises(ValueError, match=r"empty\.txt: has no text"):
        read_own_texts(empty)
    with pytest.raises(ValueError, match=r"latin\.txt: not UTF-8"):
        read_own_texts(latin)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prose": -1.0}, "prose must be a weight"),
        ({"upper": 1.5}, r"upper must be in \[0, 1\]"),
        ({"max_length": 3}, "max_length must be"),
        ({"own": 1.0}, "own and own_file go together"),
        (dict.fromkeys(KINDS, 0.0), "only zeros"),
    ],
)
def test_faulty_settings(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextConfig(**wrong)


def test_receipts_have_every_kind_of_line() -> None:
    dice = random.Random(0)
    assert all(kind(dice) for kind in RECEIPT_KINDS.values() for _ in range(200))
    lines = [receipt_line(dice) for _ in range(3000)]
    assert any(re.search(r"\d\d/\d\d/20\d\d", line) for line in lines)
    assert 0.1 < sum(line.isascii() for line in lines) / len(lines) < 0.6


def test_money_and_telephones() -> None:
    dice = random.Random(1)
    assert all(re.search(r"\d", money(dice)) for _ in range(100))
    # A prefix that nobody has.
    assert all(re.sub(r"\D", "", phone(dice)).startswith("000") for _ in range(100))


def test_documents_and_codes() -> None:
    dice = random.Random(2)
    assert all(document_line(dice).strip() for _ in range(500))
    assert all(".example" in text for text in (code(dice) for _ in range(500)) if "@" in text)


def test_words() -> None:
    with pytest.raises(ValueError, match="kind of words 'animal': unknown; choose from act"):
        words("animal")


def test_lines_of_running_text_are_as_long_as_a_column() -> None:
    texts = [column(random.Random(seed)) for seed in range(200)]
    assert all(30 <= len(text) <= 100 and text == " ".join(text.split()) for text in texts)
    assert len(set(texts)) == 200
    lengths = [len(document_line(random.Random(seed))) for seed in range(400)]
    assert 0.15 < sum(length > 55 for length in lengths) / 400 < 0.6
