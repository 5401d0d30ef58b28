"""Repairs: what is changed, what must be left alone, and that every change is told.

Which word gives way to a missing term.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.classical.word_alignment import Alignment, Model1
from coursepkg.projects.translation.errors.dictionary import Dictionary, Entry
from coursepkg.projects.translation.errors.postprocess import (
    Change,
    PostProcessor,
    Replacement,
    find_replacements,
)

ENTRIES = [("酒店", "khách_sạn", 0.8), ("在", "ở", 0.5), ("机场", "sân_bay", 0.7), ("医院", "bệnh_viện", 0.9)]
ENTRIES += [("诊所", "phòng_khám", 0.6), ("诊所", "bệnh_viện", 0.2), ("旅馆", "nhà_nghỉ", 0.4)]
WORDS = Dictionary(tuple(Entry(*entry) for entry in ENTRIES))
ZH_VI = PostProcessor("zh", "vi", WORDS)


def diagonal(source: str, target: str, weight: float = 0.9) -> Alignment:
    """Token i of the target comes from token i of the source; what is longer comes from the last one."""
    rows, columns = target.split(), source.split()
    weights = np.full((len(rows), len(columns)), (1 - weight) / len(columns))
    for j in range(len(rows)):
        weights[j, min(j, len(columns) - 1)] += weight
    return Alignment(tuple(columns), tuple(rows), weights)


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("三十五 美元 。", "Bốn mươi lăm đô_la .", "Ba mươi lăm đô_la ."),
        ("我 有 三十五 美元 。", "Tôi có 45 đô_la.", "Tôi có 35 đô_la."),
        ("二零五 房间", "phòng 250", "phòng 205"),
        ("六月 二号", "ngày 2 tháng bảy", "ngày 2 tháng sáu"),
    ],
)
def test_a_wrong_number_is_repaired_in_its_own_way(source: str, hypothesis: str, expected: str) -> None:
    repaired = ZH_VI(source, hypothesis)
    assert repaired.text == expected
    assert [change.kind for change in repaired.changes] == ["number"]
    assert "the source has" in repaired.changes[0].why


def test_numbers_in_chinese() -> None:
    repair = PostProcessor("vi", "zh")
    assert repair("phòng cho hai người", "三个人的房间").text == "两个人的房间"
    assert repair("ngày hai", "三号").text == "二号"
    assert repair("mười hai người", "二十个人").text == "十二个人"
    assert PostProcessor("vi", "en")("mười hai người", "twenty people").changes == ()


@pytest.mark.parametrize(
    ("source", "hypothesis"),
    [
        ("下午 两点", "14 giờ"),  # the same time
        ("三角洲 机场", "sân bay Delta"),  # 三 in a name, and no odd number to replace
        ("星期二 见", "hẹn gặp thứ ba"),
        ("三 个 人 五 天", "bốn người sáu ngày"),  # which is which?
        ("三 个 人", "ba người ở bốn đêm"),
        ("我 很 好", "tôi có 5 cái"),
        ("", ""),
    ],
)
def test_doubtful_numbers_are_left_alone(source: str, hypothesis: str) -> None:
    assert ZH_VI(source, hypothesis) == (hypothesis, ())


def test_a_missing_term_replaces_the_aligned_word() -> None:
    source, hypothesis = "酒店 在 哪里 ？", "Bệnh_viện ở đâu ?"
    repaired = ZH_VI(source, hypothesis, diagonal(source, hypothesis))
    assert repaired.text == "Khách sạn ở đâu ?"
    (change,) = repaired.changes
    assert (change.kind, change.before, change.after) == ("term", "Bệnh_viện", "Khách sạn")
    assert change.why == "aligned with 酒店 by 0.93"
    joined = PostProcessor("zh", "vi", WORDS, underscores=True)
    assert joined(source, hypothesis, diagonal(source, hypothesis)).text == "Khách_sạn ở đâu ?"


def test_several_tokens_of_one_term_are_replaced_together() -> None:
    weights = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    alignment = Alignment(("▁酒店", "在"), ("▁bệnh", "▁viện", "▁ở"), weights)
    assert ZH_VI("酒店在", "bệnh viện ở", alignment).text == "khách sạn ở"


@pytest.mark.parametrize(
    ("source", "hypothesis", "weight"),
    [
        ("酒店 在 哪里", "Khách sạn ở đâu", 0.9),  # known
        ("酒店 远 哪里", "đâu là khách_sạn", 0.9),  # known, elsewhere
        ("酒店 在 哪里", "ở đâu thế", 0.9),  # the aligned word belongs to 在
        ("酒店 在 哪里", "bệnh_viện ở sân_bay", 0.1),  # either word may be wrong, and the weights are even
        ("酒店 在 哪里", "? ở đâu", 0.9),  # no word
        ("酒店 在 哪里", "hotel ở đâu", 0.9),  # maybe a synonym
        ("医院 在 哪里", "phòng_khám ở đâu", 0.9),  # 诊所 may be both
        ("旅馆 在 哪里", "sân_bay ở đâu", 0.9),  # this word has other translations more often
    ],
)
def test_doubtful_terms_are_left_alone(source: str, hypothesis: str, weight: float) -> None:
    alignment = diagonal(source, " ".join(hypothesis.split()), weight)
    assert ZH_VI(source, hypothesis, alignment) == (hypothesis, ())


def test_terms_need_a_dictionary_and_the_switch_and_an_alignment_where_two_words_are_odd() -> None:
    source, hypothesis = "酒店 在", "bệnh_viện ở"
    alignment = diagonal(source, hypothesis)
    assert ZH_VI(source, hypothesis, alignment).changes
    two = "bệnh_viện ở sân_bay"
    assert ZH_VI(source, two, diagonal(source, two)).text == "khách sạn ở sân_bay"
    assert not ZH_VI(source, two).changes
    assert not PostProcessor("zh", "vi")(source, hypothesis, alignment).changes
    assert not PostProcessor("zh", "vi", WORDS, terms=False)(source, hypothesis, alignment).changes


def test_without_an_alignment_the_only_odd_word_is_replaced() -> None:
    repaired = ZH_VI("酒店 在 哪里 ？", "Sân bay ở đâu ?")
    assert repaired.text == "Khách sạn ở đâu ?"
    assert repaired.changes[0].why == "nothing else translates 酒店"
    assert ZH_VI("酒店 医院", "sân_bay").changes == ()


def test_the_alignment_of_model1_serves() -> None:
    pairs = [("酒店 远", "khách_sạn xa"), ("酒店 近", "nhà_nghỉ gần")]
    pairs += [("机场 远", "sân_bay xa"), ("机场 近", "sân_bay gần")]
    model = Model1.fit([(zh.split(), vi.split()) for zh, vi in pairs], n_iterations=20)
    source, hypothesis = "酒店 远", "nhà_nghỉ xa"
    repaired = ZH_VI(source, hypothesis, model.align(source.split(), hypothesis.split()))
    assert repaired.text == "khách sạn xa"


@pytest.mark.parametrize("target", ["bệnh_viện ở đâu", "bệnh_viện", "bệnh_viện xa"])
def test_an_alignment_of_another_sentence_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match=r"tokens must spell the text 'bệnh_viện ở'"):
        ZH_VI("酒店 在", "bệnh_viện ở", diagonal("酒店 在", target))


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("tôi có_thể có_thể gửi thư", "tôi có_thể gửi thư"),
        ("rất rất rất vui .", "rất vui ."),
        ("ở đâu, ở đâu, ở đâu?", "ở đâu?"),
        ("luôn luôn vui", "luôn luôn vui"),
        ("số một hai một hai", "số một hai một hai"),
        ("đợi ... ! ! !", "đợi ... ! ! !"),
    ],
)
def test_repetitions(hypothesis: str, expected: str) -> None:
    repaired = ZH_VI("我 想", hypothesis)
    assert repaired.text == expected
    assert {change.kind for change in repaired.changes} <= {"repetition"}
    assert bool(repaired.changes) is (hypothesis != expected)


def test_a_source_that_repeats_itself_may_be_translated_so() -> None:
    assert ZH_VI("干杯 。", "cạn ly, cạn ly!").text == "cạn ly!"
    assert ZH_VI("干杯 ， 干杯 。", "cạn ly, cạn ly!").changes == ()
    assert PostProcessor("vi", "zh")("xem", "研究研究").changes == ()


def test_every_switch_turns_its_repair_off() -> None:
    text = "ở đâu ở đâu 45"
    assert len(ZH_VI("三十五", text).changes) == 2
    for switch, left in (("numbers", "repetition"), ("repeats", "number")):
        repaired = PostProcessor("zh", "vi", **{switch: False})("三十五", text)
        assert [change.kind for change in repaired.changes] == [left]


TOKENS = ["ba", "bốn", "mươi", "7", "khách_sạn", "ở", ",", "A"]


@given(st.lists(st.sampled_from(TOKENS), max_size=9).map(" ".join))
def test_undoing_the_changes_gives_the_output_back(hypothesis: str) -> None:
    """Nothing is changed that is not told."""
    repaired = ZH_VI("三十五 酒店", hypothesis)
    text, at = "", 0
    for change in repaired.changes:
        stop = hypothesis.index(change.before, at)
        text += hypothesis[at:stop] + change.after
        at = stop + len(change.before)
    assert isinstance(repaired.changes, tuple)
    assert all(isinstance(change, Change) and change.why for change in repaired.changes)
    assert len(text + hypothesis[at:]) == len(repaired.text)
    assert bool(repaired.changes) is (repaired.text != hypothesis)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target_language": "fr"}, "target_language must be one of"),
        ({"least_weight": 0.0}, "least_weight must be above 0"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PostProcessor(**({"source_language": "zh", "target_language": "vi"} | settings))  # type: ignore[arg-type]


NAMES = [("北京", "Bắc_Kinh", 0.9), ("上海", "Thượng_Hải", 0.9), ("东京", "Tokyo", 0.9)]
NAMES += [("博物馆", "bảo_tàng", 0.8), ("心", "lòng", 0.7), ("面包", "bánh_mì", 0.9), ("饼", "bánh", 0.9)]
TERMS = Dictionary(tuple(Entry(*entry) for entry in (*NAMES, ("八", "tám", 0.9))))


def repair(source: str, hypothesis: str, alignment: Alignment | None = None) -> list[Replacement]:
    return list(find_replacements(source, hypothesis, TERMS, "vi", alignment))


def test_the_only_stranger_gives_way_to_the_only_missing_term() -> None:
    (found,) = repair("我 去 北京 。", "Tôi đi Thượng Hải .")
    assert found == Replacement((7, 17), "Bắc_Kinh", "nothing else translates 北京")


@pytest.mark.parametrize(
    ("source", "hypothesis"),
    [
        ("我 去 北京 。", "Tôi đi bắc kinh ."),  # there in another spelling
        ("我 去 博物馆 。", "Tôi đi viện_bảo_tàng Tokyo ."),  # there in a longer word
        ("我 去 北京 。", "Xin vui_lòng đi ."),  # lòng is no word of this text
        ("我 要 面包 。", "Tôi muốn bánh ."),  # akin
        ("我 去 北京 。", "Tôi đi lúc tám giờ ."),  # a number is not a term
        ("我 去 北京 。", "Tôi đi Huế ."),  # not known
        ("我 从 上海 去 北京 。", "Tôi từ Thượng_Hải đi ."),  # left out, and nothing is strange
        ("我 从 上海 去 北京 。", "Tôi đi Tokyo ."),  # two terms for one place
        ("我 去 北京 。", "Tôi từ Tokyo đi Thượng_Hải ."),  # one term for two places
    ],
)
def test_where_it_is_not_clear_nothing_gives_way(source: str, hypothesis: str) -> None:
    assert repair(source, hypothesis) == []


def test_an_alignment_chooses_among_several() -> None:
    source, hypothesis = "从 北京 去 上海", "từ Tokyo đi bánh"
    alignment = Alignment(tuple(source.split()), tuple(hypothesis.split()), np.eye(4))
    found = repair(source, hypothesis, alignment)
    places = [(hypothesis[a:b], word) for (a, b), word, _ in found]
    assert places == [("Tokyo", "Bắc_Kinh"), ("bánh", "Thượng_Hải")]
    assert "aligned with 北京 by 1.00" in found[0].why
    faint = Alignment(alignment.source, alignment.target, np.eye(4) * 0.4)
    assert repair(source, hypothesis, faint) == []


def test_a_term_inside_of_subword_pieces_is_found() -> None:
    weights = np.array([[0.8, 0.1], [0.1, 0.8], [0.1, 0.8], [0.1, 0.8]])
    alignment = Alignment(("▁我", "去北京。"), ("▁đi", "▁To", "kyo", "▁bánh"), weights)
    found = repair("我去北京。", "đi Tokyo bánh", alignment)
    assert [place for place, _, _ in found] == [(3, 8)]


def test_rare_translations_are_not_put_in() -> None:
    given = ("北京", "Tokyo", TERMS, "vi")
    assert list(find_replacements(*given, least_probability=0.9))
    assert not list(find_replacements(*given, least_probability=0.95))
