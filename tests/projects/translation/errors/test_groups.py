"""Every group on sentences made for it, and its neighbours that must not be labelled."""

import numpy as np
import pytest

from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.dictionary import Dictionary, Entry
from coursepkg.projects.translation.errors.groups import GROUPS, Case, Rules, label, name_words

WORDS = Dictionary(
    (Entry("酒店", "khách_sạn", 0.8), Entry("机场", "sân_bay", 0.7), Entry("机场", "phi_trường", 0.2))
)


def groups(
    source: str,
    hypothesis: str,
    reference: str,
    *,
    to: str = "vi",
    source_language: str = "zh",
    **more: object,
) -> dict[str, tuple[str, ...]]:
    return label(Case(source, hypothesis, reference, source_language, to, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line", ["Tôi ở khách_sạn Hà_Nội hai mươi ngày .", "Luôn luôn vui !", "", "A A A", "我在北京。"]
)
def test_the_reference_itself_has_no_error(line: str) -> None:
    names = name_words([line], "vi")
    assert groups("我 二十 酒店", line, line, dictionary=WORDS, names=names) == {}


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("Nhà trọ ở đâu ?", ("酒店 → khách_sạn",)),
        ("Khách sạn ở đâu?", None),
        ("Khách sạn ở đâu thế?", None),
    ],
)
def test_terms(hypothesis: str, expected: tuple[str, ...] | None) -> None:
    found = groups("酒店 在 哪里 ？", hypothesis, "Khách_sạn ở đâu ?", dictionary=WORDS)
    assert found.get("terms") == expected


def test_terms_accept_any_known_translation_and_need_the_reference() -> None:
    airport = ("机场 远 吗 ？", "Sân_bay có xa không ?")
    assert "terms" not in groups(airport[0], "Phi_trường xa không ?", airport[1], dictionary=WORDS)
    assert groups(airport[0], "Nhà ga xa không ?", airport[1], dictionary=WORDS)["terms"] == (
        "机场 → sân_bay",
    )
    assert "terms" not in groups(airport[0], "Nhà ga ?", "Chỗ đó xa không ?", dictionary=WORDS)
    assert "terms" not in groups(airport[0], "Nhà ga xa không ?", airport[1])


def test_word_order() -> None:
    found = groups("我明天去北京", "Ngày mai tôi đi Bắc Kinh .", "Tôi đi Bắc Kinh ngày mai .")
    assert found == {"word order": ("ngày", "mai")}


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ("Tôi đi Bắc Kinh hôm qua", "Tôi đi Bắc Kinh ngày mai"),  # other words, same order
        ("mai đi", "chúng tôi sẽ đi Bắc Kinh ngày mai"),  # too few words in common
        ("đi đi mai đi", "đi mai đi đi"),  # words that repeat say nothing
        ("", ""),
    ],
)
def test_no_word_order(hypothesis: str, reference: str) -> None:
    assert "word order" not in groups("x", hypothesis, reference)


def test_a_small_inversion_in_a_long_sentence_is_below_the_threshold() -> None:
    reference = "a b c d e f g h k l"
    swapped = "b a c d e f g h k l"
    assert "word order" not in groups("x", swapped, reference, to="en")
    assert groups("x", swapped, reference, to="en", rules=Rules(least_inversions=0.02))["word order"] == (
        "b",
    )


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("Tôi muốn đặt phòng", ("một", "cho", "2", "người")),
        ("", ("tôi", "muốn", "đặt", "một", "phòng", "cho", "2", "người")),
        ("Tôi muốn đặt một phòng cho hai", None),  # one word
        ("Tôi muốn đặt một phòng cho ba bạn", None),  # as long
    ],
)
def test_omission(hypothesis: str, expected: tuple[str, ...] | None) -> None:
    found = groups("x", hypothesis, "Tôi muốn đặt một phòng cho hai người .")
    assert found.get("omission") == expected


def test_a_number_in_figures_is_no_omission() -> None:
    long, short = "Giá ba mươi lăm nghìn đồng", "Giá 35.000 đồng"
    assert groups("三万五千", short, long) == groups("三万五千", long, short) == {}


def test_omission_names_source_words_without_weight() -> None:
    alignment = Alignment(("我", "明天", "。"), ("Tôi",), np.array([[0.95, 0.02, 0.03]]))
    found = groups("我明天。", "Tôi", "Tôi ngày mai", alignment=alignment)
    assert found["omission"] == ("ngày", "mai", "明天 untranslated")


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("rất rất rất vui", "rất vui", ("rất",)),
        ("luôn luôn vui", "thường vui", None),
        ("ở đâu ở đâu", "ở đâu", ("ở đâu",)),
        ("ở đâu ở đâu ở đâu", "ở đâu ở đâu", ("ở đâu",)),
        ("ở đâu ở đâu", "ở đâu ở đâu", None),
        ("tôi đi chợ và tôi đi chợ", "tôi đi chợ và về nhà", ("tôi đi chợ",)),
        ("tôi đi , tôi đi chợ", "tôi đi chợ nhé", ("tôi đi",)),
        ("không không không không", "không", ("không",)),
    ],
)
def test_repetition(hypothesis: str, reference: str, expected: tuple[str, ...] | None) -> None:
    assert groups("x", hypothesis, reference).get("repetition") == expected


@pytest.mark.parametrize(
    ("source", "hypothesis", "reference", "expected"),
    [
        ("三十五 美元", "bốn mươi lăm đô", "ba mươi lăm đô", ("number 35 missing", "number 45 new")),
        ("三十五 美元", "35 đô", "ba mươi lăm đô", None),
        ("三角洲 机场", "sân bay Delta", "Hãng Delta", None),  # 三 is part of a name: the reference has no 3
        ("星期二", "thứ ba", "thứ ba", None),
        ("我 住 东京", "Tôi sống ở đây", "Tôi sống ở Tokyo", ("name tokyo missing",)),
        ("我 住 东京", "tôi sống ở tokyo", "Tôi sống ở Tokyo", None),
    ],
)
def test_names_and_numbers(
    source: str, hypothesis: str, reference: str, expected: tuple[str, ...] | None
) -> None:
    found = groups(source, hypothesis, reference, names=name_words([reference], "vi"))
    assert found.get("names and numbers") == expected


def test_names_are_words_with_a_capital_inside_of_sentences() -> None:
    lines = [
        "Tôi yêu Hà_Nội .",
        "Anh ấy gặp anh Lan . Bạn ơi !",
        "Gặp anh , Anh quốc , tháng Tư",
        "tên : Bạn",
    ]
    assert name_words(lines, "vi") == {"hà", "nội", "lan"}
    assert name_words(["Yes, I said I'm in Paris"], "en") == {"paris"}
    assert name_words(["我坐 JAL 航班"], "zh") == {"jal"}


@pytest.mark.parametrize(
    ("hypothesis", "reference", "to", "is_off"),
    [
        ("我想去 Hà Nội", "Tôi muốn đi Hà Nội", "vi", True),
        ("Tôi muốn đi", "Tôi muốn đi Hà Nội", "vi", False),
        ("I want to go home", "Tôi muốn về nhà", "vi", True),
        ("Anh Lan ra ga", "Anh Lan đi ga", "vi", True),
        ("Anh Lan ra", "Anh ấy đi", "vi", False),
        ("Tôi muốn về", "我想回家", "zh", True),
        ("我坐JAL航班", "我坐JAL航班吧", "zh", False),
        ("Tôi muốn về nhà", "I want to go home", "en", True),
        ("I like the café", "I like the cafe", "en", True),
        ("I really like the old café", "I like the cafe", "en", False),
        ("", "Tôi muốn", "vi", False),
    ],
)
def test_off_target(hypothesis: str, reference: str, to: str, is_off: bool) -> None:
    found = groups("x", hypothesis, reference, to=to, source_language="en" if to == "zh" else "zh")
    assert ("off-target language" in found) is is_off


def test_unknown_pieces() -> None:
    assert groups("x", "Tôi ⁇ và <unk>", "Tôi đi và về")["unknown pieces"] == ("2 unknown",)


def test_a_sentence_may_have_several_errors_in_the_order_of_the_groups() -> None:
    found = groups("酒店 三十", "⁇ ⁇", "Khách_sạn giá ba mươi đồng", dictionary=WORDS)
    assert list(found) == ["terms", "omission", "names and numbers", "unknown pieces"]
    assert list(found) == [name for name in GROUPS if name in found]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"least_overlap": 1.2}, "least_overlap must be in"),
        ({"least_gap": 0}, "least_gap must be an integer"),
    ],
)
def test_bad_rules_are_named(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rules(**settings)  # type: ignore[arg-type]
