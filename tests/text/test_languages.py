"""Letters of a language, and sentences that do not look like it."""

import pytest

from coursepkg.text.languages import language_doubt, script_share


def test_script_share_counts_letters() -> None:
    assert script_share("酒店 ABC 3 !", "zh") == pytest.approx(2 / 5)
    assert script_share("酒店 ABC 3 !", "vi") == pytest.approx(3 / 5)
    assert script_share("được ABC", "en") == pytest.approx(4 / 7)  # đ, ư and ợ are no English letters
    assert script_share("12:30 !", "zh") == 1.0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我想改变 JAL 4002 航班。", "zh"),
        ("Windows 10 和 Office 365 专业增强版", "zh"),
        ("Open File Explorer.", "en"),
        ("She ate phở in Huế with her friends yesterday.", "en"),
        ("Tôi đi Hà Nội.", "vi"),
        ("Windows Update", "vi"),
        ("12:30 !", "zh"),
        ("\U0001f600", "en"),
    ],
)
def test_sentences_of_a_language_raise_no_doubt(text: str, language: str) -> None:
    assert language_doubt(text, language) == ""


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("Where is the hotel?", "zh", "does not look like Chinese: 0% of its letters are"),
        ("酒店在哪里？", "en", "does not look like English: 0%"),
        ("酒店在哪里？", "vi", "does not look like Vietnamese: 0%"),
        ("Khách sạn ở đâu?", "en", "does not look like English: 58%"),
        ("호텔은 어디에 있습니까?", "zh", "does not look like Chinese: 0%"),
        ("호텔은 어디에 있습니까?", "en", "does not look like English: 0%"),
        ("Где находится гостиница?", "vi", "does not look like Vietnamese: 0%"),
        ("Where is the hotel of your friend?", "vi", "does not look like Vietnamese: no letter has a mark"),
    ],
)
def test_sentences_of_another_language_are_told(text: str, language: str, said: str) -> None:
    assert language_doubt(text, language).startswith(said)
