"""The drawn search tree: every candidate once, the way to a hypothesis marked."""

import pytest

from coursepkg.decoding import SearchTrace, beam_search
from coursepkg.viz import draw_search_tree, figure_html
from tests.decoding.tables import Table


def searched():
    trace = SearchTrace()
    found = beam_search(Table(6, 3).start(1), beam_size=2, max_len=4, n_best=2, trace=trace)[0]
    return trace.tree(), found[0]


def words(figure) -> list[str]:
    """What is written, each node once though the outline of an end is drawn by a second text."""
    texts = [text.get_text() for text in figure.axes[0].texts]
    return [text for i, text in enumerate(texts) if i == 0 or text != texts[i - 1]]


def test_every_candidate_is_written_once() -> None:
    nodes, _ = searched()
    figure = draw_search_tree(nodes, lambda i: f"t{i}")
    assert sorted(words(figure)) == sorted(["start", *(f"t{n.token}  {n.log_prob:.2f}" for n in nodes)])
    assert len(figure.axes[0].lines) == len(nodes)
    assert 'alt="a tree"' in figure_html(figure, alt="a tree")


def test_dropped_candidates_may_be_left_out() -> None:
    nodes, _ = searched()
    figure = draw_search_tree(nodes, str, show_dropped=False)
    assert len(figure.axes[0].lines) == sum(n.fate != "dropped" for n in nodes)


def test_the_way_to_a_hypothesis_is_thick() -> None:
    nodes, best = searched()
    ids = [*best.ids, 2] if best.finished else best.ids
    figure = draw_search_tree(nodes, str, highlight=ids)
    assert sum(line.get_linewidth() == 3.0 for line in figure.axes[0].lines) == len(ids)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="nodes must hold at least one candidate, got none"):
        draw_search_tree([], str)
    with pytest.raises(
        ValueError, match=r"highlight must be the ids of a path in the tree, got \[0, 0, 0, 0, 0, 0\]"
    ):
        draw_search_tree(searched()[0], str, highlight=[0] * 6)
