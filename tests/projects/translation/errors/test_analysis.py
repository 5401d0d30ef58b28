"""The error table: scores equal to SacreBLEU, orders, counts, hard examples, JSON."""

import json

import numpy as np
import pytest
import sacrebleu

from coursepkg.projects.translation.classical.word_alignment import Alignment
from coursepkg.projects.translation.errors.analysis import ErrorTable, analyse
from coursepkg.projects.translation.errors.dictionary import Dictionary, Entry
from coursepkg.projects.translation.errors.groups import GROUPS

SOURCES = ["酒店 在 哪里 ？", "我 明天 去 北京 。", "谢谢 。", "三十五 美元 。", "他 很 高 。"]
REFERENCES = [
    "Khách_sạn ở đâu ?",
    "Tôi đi Bắc_Kinh ngày_mai .",
    "Cảm_ơn .",
    "Ba mươi lăm đô_la .",
    "Anh ấy rất cao .",
]
HYPOTHESES = [
    "Nhà trọ ở đâu ?",
    "Ngày_mai tôi đi Bắc_Kinh .",
    "Cảm_ơn .",
    "45 đô_la .",
    "",
]
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
    assert [list(s.groups) for s in table.sentences] == [
        ["terms"],
        ["word order"],
        [],
        ["names and numbers"],
        ["omission"],
    ]
    # BLEU's usual tokenizer sets the underscore apart: Khách _ sạn.
    assert [s.gap for s in table.sentences] == [5 - 6, 0, 0, 5 - 7, -5]
    assert table.sentences[3].ratio == pytest.approx(5 / 7)
    assert table.length_ratio == pytest.approx((5 + 9 + 4 + 5) / (6 + 9 + 4 + 7 + 5))
    assert table.counts == {
        group: int(group not in ("repetition", "off-target language", "unknown pieces")) for group in GROUPS
    }
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
    table = analyse(
        ["他很高", "他"],
        ["cao", "cao"],
        ["Anh ấy cao", "Anh"],
        source_language="zh",
        target_language="vi",
        alignments=[alignment, None],
    )
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
    given = {
        "sources": SOURCES,
        "hypotheses": HYPOTHESES,
        "references": REFERENCES,
        "source_language": "zh",
        "target_language": "vi",
    }
    with pytest.raises(ValueError, match=message):
        analyse(**(given | change))  # type: ignore[arg-type]
