"""Letters of a language, and sentences that do not look like it."""

import unicodedata

import pytest

from coursepkg.text.languages import _WORD, LANGUAGES, STOP_WORDS, Language, language_doubt, script_share


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
        ("Guten Morgen, Anna!", "en"),  # no common word: nothing tells it from a name
        ("Die Hard was on in Los Angeles and La Paz.", "en"),
        ("Con mèo con đi ra đó.", "vi"),
        ("Anh ta ăn crêpe à la carte ở Paris.", "vi"),
        ("4198 2289 3388 228 99", "vi"),
        ("S - U - Z - U - K - I .", "vi"),
        (unicodedata.normalize("NFD", "Tôi muốn uống một cốc nước."), "vi"),
        ("设置 Azure Active Directory", "zh"),
        ("Tôi ăn cơm.", "nom"),
        ("Đà Nẵng is a city on the coast.", "en"),
        ("She ate bánh mì.", "en"),
        ("Vincent van de Velde", "en"),
        ("Le Tour de France", "en"),
        ("de, en, es, fr, it", "en"),
        ("http://www.a.de/en/das/index.html", "en"),
        ("a café in a château", "en"),
        ("Trình duyệt báo: This page is not available", "vi"),
        ("Tôi đang gặp lỗi: The result of getSnapshot should be cached", "vi"),
        ("Ở Paris, quán cà phê de la Paix mở cửa.", "vi"),
        ("Chọn Save as type: All files", "vi"),
        ("Tên tệp là what_is_this.txt", "vi"),
        ("Linux 版 Microsoft Defender for Endpoint", "zh"),
        ("点 File > Save As > PDF", "zh"),
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
        ("Khách sạn ở đâu?", "en", "does not look like English: 67%"),
        ("호텔은 어디에 있습니까?", "zh", "does not look like Chinese: 0%"),
        ("호텔은 어디에 있습니까?", "en", "does not look like English: 0%"),
        ("Где находится гостиница?", "vi", "does not look like Vietnamese: 0%"),
        ("Where is the hotel of your friend?", "vi", "does not look like Vietnamese: no letter has a mark"),
        (unicodedata.normalize("NFD", "Khách sạn ở đâu?"), "en", "does not look like English: 67%"),
    ],
)
def test_sentences_of_another_language_are_told(text: str, language: str, said: str) -> None:
    assert language_doubt(text, language).startswith(said)


@pytest.mark.parametrize(
    ("text", "language", "other"),
    [
        ("Wo ist das Hotel?", "en", "German"),
        ("ICH HABE EIN ZIMMER.", "en", "German"),
        ("Où est la gare, s'il vous plaît ?", "en", "French"),
        ("Je ne sais pas où il est.", "en", "French"),
        ("El hotel de mi amigo es muy grande.", "en", "Spanish"),
        ("¿Dónde está el hotel de mi amigo?", "vi", "Spanish"),
        ("He ate phở and it was on the table.", "vi", "English"),
        ("Que horas são? Não sei, mas é muito tarde.", "vi", "Portuguese"),
        ("Il libro non è sul tavolo della cucina.", "en", "Italian"),
        ("Ik weet niet waar het station is.", "en", "Dutch"),
        ("Saya tidak tahu di mana itu.", "en", "Indonesian"),
    ],
)
def test_languages_in_one_script_are_told_by_their_common_words(text: str, language: str, other: str) -> None:
    name = LANGUAGES[language].name
    assert language_doubt(text, language) == f"does not look like {name}: its common words are {other}"


def test_a_language_that_was_added_is_told_by_its_own_words_and_letters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added = {"fr": ("French", ""), "sv": ("Swedish", "åäö"), "ru": ("Russian", "егдостиницаЕГДОСТИЦ")}
    for code, (name, letters) in added.items():
        monkeypatch.setitem(LANGUAGES, code, Language(name, letters))
    assert language_doubt("Je ne sais pas où il est.", "fr") == ""
    assert language_doubt("I do not know where it is.", "fr").endswith("its common words are English")
    # Of Swedish no common words are known, so that nothing is said.
    assert language_doubt("Jag vet inte var det är, men en van är där.", "sv") == ""
    assert language_doubt("Где гостиница?", "ru") == ""


def test_every_stop_word_can_be_found() -> None:
    for name, words in STOP_WORDS.items():
        assert len(words) > 30, name
        assert all(_WORD.fullmatch(word) and word == word.casefold() for word in words)
