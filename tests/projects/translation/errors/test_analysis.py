"""The error table: scores equal to SacreBLEU, orders, counts, hard examples, JSON.

Every group on sentences made for it, and its neighbours that must not be labelled.
"""

import json

import numpy as np
import pytest
import sacrebleu

from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.analysis import (
    GROUPS,
    Case,
    ErrorTable,
    Rules,
    analyse,
    label,
    name_words,
)
from coursepkg.projects.translation.errors.dictionary import Dictionary, Entry

SOURCES = ["酒店 在 哪里 ？", "我 明天 去 北京 。", "谢谢 。", "三十五 美元 。", "他 很 高 。"]
REFERENCES = ["Khách_sạn ở đâu ?", "Tôi đi Bắc_Kinh ngày_mai .", "Cảm_ơn .", "Ba mươi lăm đô_la ."]
REFERENCES += ["Anh ấy rất cao ."]
HYPOTHESES = ["Nhà trọ ở đâu ?", "Ngày_mai tôi đi Bắc_Kinh .", "Cảm_ơn .", "45 đô_la .", ""]
WORDS = Dictionary((Entry("酒店", "khách_sạn", 0.8),))


@pytest.fixture(scope="module")
def table() -> ErrorTable:
    return analyse(
        SOURCES, HYPOTHESES, REFERENCES, source_language="zh", target_language="vi", dictionary=WORDS
    )


def test_scores_are_those_of_sacrebleu(table: ErrorTable) -> None:
    for sentence, hypothesis, reference in zip(table.sentences, HYPOTHESES, REFERENCES, strict=True):
        bleu = sacrebleu.sentence_bleu(hypothesis, [reference], use_effective_order=True).score
        chrf = sacrebleu.sentence_chrf(hypothesis, [reference]).score
        assert (sentence.bleu, sentence.chrf) == (pytest.approx(bleu), pytest.approx(chrf))


def test_chinese_is_cut_into_characters() -> None:
    table = analyse(["Xin chào"], ["你好吗？"], ["你好！"], source_language="vi", target_language="zh")
    expected = sacrebleu.sentence_bleu("你好吗？", ["你好！"], tokenize="zh", use_effective_order=True).score
    assert table.sentences[0].bleu == pytest.approx(expected)
    assert (table.sentences[0].n_hypothesis, table.sentences[0].gap) == (4, 1)


def test_groups_and_lengths(table: ErrorTable) -> None:
    groups = [["terms"], ["word order"], [], ["names and numbers"], ["omission"]]
    assert [list(s.groups) for s in table.sentences] == groups
    # BLEU's usual tokenizer sets the underscore apart: Khách _ sạn.
    assert [s.gap for s in table.sentences] == [5 - 6, 0, 0, 5 - 7, -5]
    assert table.sentences[3].ratio == pytest.approx(5 / 7)
    assert table.length_ratio == pytest.approx((5 + 9 + 4 + 5) / (6 + 9 + 4 + 7 + 5))
    absent = ("repetition", "off-target language", "unknown pieces")
    assert table.counts == {group: int(group not in absent) for group in GROUPS}
    assert table.n_clean == 1


def test_orders(table: ErrorTable) -> None:
    scores = [s.bleu for s in table.worst(5)]
    assert scores == sorted(scores)
    assert table.worst(1)[0].index == 4
    assert [s.index for s in table.best(5)] == [s.index for s in table.worst(5)][::-1]
    assert table.best(1)[0].index == 2
    assert [s.index for s in table.examples("terms")] == [0]
    assert table.examples("terms", 0) == []
    with pytest.raises(ValueError, match="group must be one of terms, word order"):
        table.examples("tone")


def test_a_sample_depends_on_the_seed_alone(table: ErrorTable) -> None:
    assert table.sample(3, seed=1) == table.sample(3, seed=1)
    assert {s.index for s in table.sample(99)} == set(range(5))
    assert len({tuple(s.index for s in table.sample(2, seed)) for seed in range(20)}) > 3


def test_hard_examples(table: ErrorTable) -> None:
    assert table.hard_examples(2) == [s.index for s in table.worst(2)]
    below = table.hard_examples(threshold=50.0)
    assert {i for i in range(5) if table.sentences[i].bleu < 50} == set(below)
    assert 2 not in below
    assert table.hard_examples(threshold=0.0) == []
    assert table.hard_examples(0) == []
    assert sorted(table.hard_examples(threshold=101.0)) == list(range(5))
    for wrong in ({}, {"n": 1, "threshold": 2.0}):
        with pytest.raises(ValueError, match="either n or threshold"):
            table.hard_examples(**wrong)
    with pytest.raises(ValueError, match="n must be an integer"):
        table.hard_examples(-1)


def test_json_says_the_same(table: ErrorTable) -> None:
    content = json.loads(json.dumps(table.as_json(2)))
    assert {group: row["count"] for group, row in content["groups"].items()} == table.counts
    assert content["sentences"] == 5
    assert content["without_group"] == 1
    assert [row["index"] for row in content["worst"]] == table.hard_examples(2)
    assert content["groups"]["terms"]["examples"][0]["groups"] == {"terms": ["酒店 → khách_sạn"]}


def test_json_without_texts_holds_no_sentence(table: ErrorTable) -> None:
    written = json.dumps(table.as_json(5, texts=False), ensure_ascii=False)
    assert not any(line in written for line in [*SOURCES, *REFERENCES, "酒店"])
    assert '"index": 4' in written


def test_the_text_has_a_line_a_group(table: ErrorTable) -> None:
    lines = str(table).splitlines()
    assert [line.split("  ")[0] for line in lines[1:8]] == list(GROUPS)
    assert "20.0%  [0] 酒店 → khách_sạn" in lines[1]


def test_alignments_reach_the_rules() -> None:
    alignment = Alignment(("他", "高"), ("cao",), np.array([[0.05, 0.95]]))
    texts = ["他很高", "他"], ["cao", "cao"], ["Anh ấy cao", "Anh"]
    table = analyse(*texts, source_language="zh", target_language="vi", alignments=[alignment, None])
    assert "他 untranslated" in table.sentences[0].groups["omission"]
    assert table.sentences[0].alignment is alignment


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"hypotheses": ["a"]},
            "sources and hypotheses must be of one length, got 5 sources and 1 hypotheses",
        ),
        ({"references": ["a"]}, "hypotheses and references must be of one length"),
        ({"alignments": [None]}, "sources and alignments must be of one length"),
        ({"source_language": "fr"}, "source_language must be one of zh, vi, en"),
        ({"target_language": "<2vi>"}, "target_language must be one of zh, vi, en"),
        ({"sources": [], "hypotheses": [], "references": []}, "sources must hold at least one entry"),
    ],
)
def test_bad_input_is_named(change: dict[str, object], message: str) -> None:
    given = {"sources": SOURCES, "hypotheses": HYPOTHESES, "references": REFERENCES}
    given |= {"source_language": "zh", "target_language": "vi"}
    with pytest.raises(ValueError, match=message):
        analyse(**(given | change))  # type: ignore[arg-type]


TERMS = Dictionary(
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
    assert groups("我 二十 酒店", line, line, dictionary=TERMS, names=names) == {}


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [("Nhà trọ ở đâu ?", ("酒店 → khách_sạn",)), ("Khách sạn ở đâu?", None), ("Khách sạn ở đâu thế?", None)],
)
def test_terms(hypothesis: str, expected: tuple[str, ...] | None) -> None:
    found = groups("酒店 在 哪里 ？", hypothesis, "Khách_sạn ở đâu ?", dictionary=TERMS)
    assert found.get("terms") == expected


def test_terms_accept_any_known_translation_and_need_the_reference() -> None:
    airport = ("机场 远 吗 ？", "Sân_bay có xa không ?")
    said = ("Phi_trường xa không ?", "Nhà ga xa không ?")
    right, wrong = (groups(airport[0], one, airport[1], dictionary=TERMS) for one in said)
    assert "terms" not in right
    assert wrong["terms"] == ("机场 → sân_bay",)
    assert "terms" not in groups(airport[0], "Nhà ga ?", "Chỗ đó xa không ?", dictionary=TERMS)
    assert "terms" not in groups(airport[0], said[1], airport[1])


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
    strict = Rules(least_inversions=0.02)
    assert groups("x", swapped, reference, to="en", rules=strict)["word order"] == ("b",)


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
    found = groups("酒店 三十", "⁇ ⁇", "Khách_sạn giá ba mươi đồng", dictionary=TERMS)
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
