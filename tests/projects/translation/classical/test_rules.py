"""The rule-based translator: its phrases, its limits, and the notation of its rules."""

from itertools import pairwise

import pytest

from coursepkg.projects.translation.classical.rules import Chunk, Rule, RuleTranslator, dictionary, look_up
from coursepkg.projects.translation.phrasebook.lexicon import table


@pytest.fixture(scope="module")
def translator() -> RuleTranslator:
    return RuleTranslator()


@pytest.mark.parametrize(
    ("chinese", "vietnamese"),
    [
        ("我 买 了 三 本 书 。", "Tôi đã mua ba quyển sách ."),
        ("我 买 了 三 本 新 书 。", "Tôi đã mua ba quyển sách mới ."),
        ("这 双 鞋 很 贵 。", "Đôi giày này rất đắt ."),
        ("这 个 苹果 很 大 。", "Quả táo này rất to ."),
        ("那 个 背包 不 旧 。", "Cái ba_lô kia không cũ ."),
        ("我 爸爸 的 毛衣 很 新 。", "Áo_len của bố tôi rất mới ."),
        ("昨天 晚上 他们 喝 了 两 杯 茶 。", "Tối hôm_qua họ đã uống hai cốc trà ."),
        ("上 个 星期 我 爸爸 去 了 北京 。", "Tuần trước bố tôi đã đi Bắc_Kinh ."),
        ("这 个 橙子 比 那 个 贵 。", "Quả cam này đắt hơn cái kia ."),
        ("我 爸爸 在 公园 跑步 。", "Bố tôi chạy_bộ ở công_viên ."),
    ],
)
def test_phrases(translator: RuleTranslator, chinese: str, vietnamese: str) -> None:
    assert translator.translate(chinese.split()) == vietnamese.split()


def test_the_noun_chooses_the_classifier(translator: RuleTranslator) -> None:
    nouns = [row for row in table("nouns") if row["measure"] == "个" and row["classifier"]]
    assert len({row["classifier"] for row in nouns}) > 2
    for row in nouns:
        first, *rest = row["classifier"].split()
        found = translator.translate(["这", "个", row["zh"]])
        assert found[: 1 + len(rest)] == [first.capitalize(), *rest]


def test_without_rules_it_is_word_for_word() -> None:
    assert RuleTranslator([]).translate(["这", "本", "书"]) == ["Này", "quyển", "sách"]


def test_steps_tell_what_each_rule_did(translator: RuleTranslator) -> None:
    steps = translator.steps(["我", "爸爸", "买", "了", "一", "件", "毛衣", "。"])
    assert len(steps[0]) == 8
    assert all(len(later) < len(earlier) for earlier, later in pairwise(steps))
    assert Chunk("我 爸爸", "person", ("bố", "tôi")) in steps[-1]


def test_unknown_words_stay_and_nothing_becomes_nothing(translator: RuleTranslator) -> None:
    assert look_up("量子") == Chunk("量子", "unknown", ("量子",))
    assert look_up("约二十") == Chunk("约二十", "unknown", ("约二十",))
    assert translator.translate([]) == []
    assert translator.translate(["了"]) == []


def test_numbers_are_spelt() -> None:
    assert look_up("二十五").target == ("hai", "mươi", "lăm")
    assert look_up("两").target == ("hai",)
    assert look_up("205").target == ("205",)


def test_the_dictionary_has_the_lexicon() -> None:
    words = dictionary()
    for name in ("nouns", "adjectives", "cities", "jobs"):
        missing = [row["zh"] for row in table(name) if " " not in row["zh"] and row["zh"] not in words]
        assert missing == []
    assert all(piece.source == word and piece.kind for word, piece in words.items())


def test_a_rule_is_applied_from_left_to_right_and_once_a_place() -> None:
    rule = Rule.parse("a b|x -> c: 2 and 1")
    pieces = [Chunk(name, kind, (name,)) for name, kind in (("p", "a"), ("q", "b"), ("r", "a"), ("x", "z"))]
    joined = rule.apply(pieces)
    assert [piece.target for piece in joined] == [("q", "and", "p"), ("x", "and", "r")]
    assert [(piece.kind, piece.source) for piece in joined] == [("c", "p q"), ("c", "r x")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a b c: 1", "must read 'neighbours -> kind: order'"),
        ("a b -> c", "must read 'neighbours -> kind: order'"),
        ("a b -> c: 3 1", "has 2 neighbours"),
        ("a b -> c: word", "has 2 neighbours"),
    ],
)
def test_bad_rules_are_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rule.parse(line)
