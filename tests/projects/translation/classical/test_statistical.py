"""The n-gram model sums to one; the decoder finds what an exhaustive search finds."""

import itertools
import math
import random

import pytest

from coursepkg.projects.translation.classical.statistical import END, START, NgramModel, NoisyChannel, Search

SENTENCES = [s.split() for s in ("a b", "a c", "b a b", "c", "a b c")]
LINES = """
这 本 书 = quyển sách này; 新 书 = sách mới; 这 本 新 书 = quyển sách mới này; 这 件 毛衣 = cái áo này;
新 毛衣 = áo mới; 书 = sách; 他 买 书 = anh ấy mua sách; 他 买 毛衣 = anh ấy mua áo; 他 来 = anh ấy đến;
我 买 书 = tôi mua sách
"""
PAIRS = [(s.split(), t.split()) for s, t in (line.split("=") for line in LINES.split(";"))]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_probabilities_sum_to_one_with_a_share_for_the_unknown(n: int) -> None:
    model = NgramModel.fit(SENTENCES, n)
    for history in itertools.product([START, "a", "b", "unseen"], repeat=n - 1):
        words = ["a", "b", "c", END, "never seen"]
        assert sum(model.probability(word, history) for word in words) == pytest.approx(1.0)
        assert model.probability("never seen", history) > 0


def test_witten_bell_by_hand() -> None:
    model = NgramModel.fit([["a", "b"], ["a", "c"]], n=2)
    # Single words: 6 tokens with the ends, 4 kinds, uniform 1/5 below.
    b = (1 + 4 / 5) / (6 + 4)
    assert model.probability("b", ()) == pytest.approx(b)
    assert model.probability("b", ("a",)) == pytest.approx((1 + 2 * b) / (2 + 2))
    assert model.probability("b", ("x",)) == pytest.approx(b)
    assert model.probability("b", ("x", "a")) == model.probability("b", ("a",))


def test_a_sentence_is_the_product_of_its_words_and_its_end() -> None:
    model = NgramModel.fit(SENTENCES, 2)
    steps = [("a", (START,)), ("b", ("a",)), (END, ("b",))]
    expected = sum(math.log(model.probability(word, history)) for word, history in steps)
    assert model.sentence_log_prob(["a", "b"]) == pytest.approx(expected)
    assert model.perplexity([["a", "b"]]) == pytest.approx(math.exp(-expected / 3))


def test_longer_histories_help_on_what_was_seen() -> None:
    perplexities = [NgramModel.fit(SENTENCES, n).perplexity(SENTENCES) for n in (1, 2, 3)]
    assert perplexities == sorted(perplexities, reverse=True)


def test_a_combination_that_no_pair_has() -> None:
    lines = (("新 书", "sách mới"), ("新 笔", "bút mới"), ("旧 书", "sách cũ"))
    translator = NoisyChannel.fit([(zh.split(), vi.split()) for zh, vi in lines])
    assert translator.translate(["旧", "笔"]).words == ("bút", "cũ")


def test_it_reorders_and_inserts() -> None:
    translator = NoisyChannel.fit(PAIRS)
    assert translator.translate(["新", "书"]).words == ("sách", "mới")
    assert translator.translate(["他", "买", "书"]).words == ("anh", "ấy", "mua", "sách")
    assert translator.translate(["这", "件", "新", "毛衣"]).words[-2:] == ("mới", "này")


def test_without_jumps_the_order_of_the_source_stays() -> None:
    translator = NoisyChannel.fit(PAIRS, search=Search(max_jump=0))
    found = translator.translate(["这", "本", "新", "书"])
    assert list(found.order) == sorted(found.order)


def exhaustive(translator: NoisyChannel, source: list[str]) -> float:
    """The best score over every order within reach and every choice of options."""
    search, language = translator.search, translator.language
    best = -math.inf
    for order in itertools.permutations(range(len(source))):
        open_words, reachable = list(range(len(source))), True
        for i in order:
            reachable &= i <= open_words[0] + search.max_jump
            open_words.remove(i)
        if not reachable:
            continue
        jumps = sum(abs(i - last - 1) for last, i in zip((-1, *order), order, strict=False))
        for options in itertools.product(*(translator.options(source[i]) for i in order)):
            words = [word for option in options for word in option.words]
            score = search.lm * language.sentence_log_prob(words) + sum(option.score for option in options)
            best = max(best, score - search.jump * jumps)
    return best


@pytest.mark.parametrize("max_jump", [0, 1, 3])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_equal_to_an_exhaustive_search(n: int, max_jump: int) -> None:
    draw = random.Random(n)
    words = ["这", "新", "书", "他", "买", "毛衣"]
    search = Search(max_jump=max_jump, n_options=4, beam_size=10_000)
    translator = NoisyChannel.fit(PAIRS, n=n, search=search)
    for _ in range(2):
        source = [draw.choice(words) for _ in range(4)]
        found = translator.translate(source)
        score = found.score + search.lm * translator.language.log_prob(END, found.history)
        assert score == pytest.approx(exhaustive(translator, source))
        assert len(found.order) == len(found.words)


def test_unknown_words_pass_and_nothing_becomes_nothing() -> None:
    translator = NoisyChannel.fit(PAIRS)
    assert "量子" in translator.translate(["他", "买", "量子"]).words
    assert translator.translate([]).words == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lm": -1.0}, "lm must be at least 0"),
        ({"jump": float("nan")}, "jump must be a finite number"),
        ({"beam_size": 0}, "beam_size must be an integer of at least 1"),
        ({"max_jump": -1}, "max_jump must be an integer of at least 0"),
    ],
)
def test_bad_settings_are_named(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Search(**change)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        NgramModel.fit(SENTENCES, 0)
    with pytest.raises(ValueError, match="sentences must hold at least one sentence"):
        NgramModel.fit([])
    with pytest.raises(ValueError, match="sentences must hold at least one sentence"):
        NgramModel.fit(SENTENCES).perplexity([])
