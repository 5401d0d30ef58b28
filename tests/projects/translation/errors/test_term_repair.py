"""Which word gives way to a missing term."""

import numpy as np
import pytest

from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.dictionary import Dictionary, Entry
from coursepkg.projects.translation.errors.term_repair import Replacement, find_replacements

WORDS = Dictionary(
    (
        Entry("北京", "Bắc_Kinh", 0.9),
        Entry("上海", "Thượng_Hải", 0.9),
        Entry("东京", "Tokyo", 0.9),
        Entry("博物馆", "bảo_tàng", 0.8),
        Entry("心", "lòng", 0.7),
        Entry("面包", "bánh_mì", 0.9),
        Entry("饼", "bánh", 0.9),
        Entry("八", "tám", 0.9),
    )
)


def repair(source: str, hypothesis: str, alignment: Alignment | None = None) -> list[Replacement]:
    return list(find_replacements(source, hypothesis, WORDS, "vi", alignment))


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
    assert [(hypothesis[a:b], word) for (a, b), word, _ in found] == [
        ("Tokyo", "Bắc_Kinh"),
        ("bánh", "Thượng_Hải"),
    ]
    assert "aligned with 北京 by 1.00" in found[0].why
    faint = Alignment(alignment.source, alignment.target, np.eye(4) * 0.4)
    assert repair(source, hypothesis, faint) == []


def test_a_term_inside_of_subword_pieces_is_found() -> None:
    weights = np.array([[0.8, 0.1], [0.1, 0.8], [0.1, 0.8], [0.1, 0.8]])
    alignment = Alignment(("▁我", "去北京。"), ("▁đi", "▁To", "kyo", "▁bánh"), weights)
    found = repair("我去北京。", "đi Tokyo bánh", alignment)
    assert [place for place, _, _ in found] == [(3, 8)]


def test_rare_translations_are_not_put_in() -> None:
    given = ("北京", "Tokyo", WORDS, "vi")
    assert list(find_replacements(*given, least_probability=0.9))
    assert not list(find_replacements(*given, least_probability=0.95))
