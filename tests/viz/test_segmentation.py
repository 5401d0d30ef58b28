"""Pictures of tokens: every token is written, nothing of the word is missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.bpe import BPE
from coursepkg.viz import figure_html, merge_tree, token_boxes
from coursepkg.viz.segmentation import spans

PAPER = BPE.train(
    [" ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)], vocab_size=30, tags=()
)


def test_the_tree_has_a_node_for_each_character_and_each_merge() -> None:
    trace = PAPER.trace("lowest")
    figure = merge_tree(trace, title="lowest")
    texts = [text.get_text() for text in figure.axes[0].texts]
    merges = [merge for merge, _ in trace if merge is not None]
    assert all(merge.token in texts for merge in merges)
    assert f"l + o   ({merges[-1].frequency if merges[-1].token == 'lo' else 7} times in training)" in texts
    assert len(texts) == len("▁lowest") + 2 * len(merges)
    assert len(figure.axes[0].lines) == 2 * len(merges)
    assert 'alt="a tree"' in figure_html(figure, alt="a tree")


def test_one_merge_at_two_places_makes_two_nodes() -> None:
    bpe = BPE.train(["anan an"], vocab_size=9, min_frequency=1, tags=())
    figure = merge_tree(bpe.trace("anan")[:2])
    assert [text.get_text() for text in figure.axes[0].texts].count("an") == 2


@given(st.lists(st.text("abế你", min_size=1, max_size=3), max_size=6))
def test_spans_cover_the_word_without_gaps(tokens: list[str]) -> None:
    signs = list("".join(tokens))
    found = spans(signs, tokens)
    assert ["".join(signs[i:j]) for i, j in found] == tokens
    assert spans(tokens, tokens) == [(i, i + 1) for i in range(len(tokens))]


def test_boxes_show_every_token_and_how_many_there_are() -> None:
    figure = token_boxes({"zh": ["▁我", "们"], "vi": ["▁chúng", "▁t", "ôi"], "none": []}, title="cut")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["▁我", "们", "2", "zh", "▁chúng", "▁t", "ôi", "3", "vi", "0", "none"]
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert len(widths) == 5
    assert widths[0] > widths[1] > 2


def test_nothing_to_draw_is_named() -> None:
    with pytest.raises(ValueError, match="trace must hold at least the characters of a word, got none"):
        merge_tree([])
    with pytest.raises(ValueError, match="rows must hold at least one text, got none"):
        token_boxes({})
