"""Reranking: weighted sums by hand, and real models against one sequence at a time."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.decoding import Forbid, Hypothesis, beam_search
from coursepkg.decoding.rerank import language_model_scorer, model_log_prob, n_tokens, rerank, reverse_scorer
from tests.decoding.models import make, sources


def hypothesis(ids: tuple[int, ...], log_prob: float, finished: bool = True) -> Hypothesis:
    n = len(ids) + finished
    return Hypothesis(ids, (log_prob / n,) * n, log_prob, log_prob, finished)


N_BEST = [
    [hypothesis((4, 5), -1.0), hypothesis((6,), -1.5), hypothesis((4,), -2.0)],
    [],
    [hypothesis((7,), -0.5)],
]


def fluent(sentences: list[int], hypotheses: list[Hypothesis]) -> torch.Tensor:
    """Likes token 6."""
    return torch.tensor([1.0 if 6 in h.ids else -1.0 for h in hypotheses])


def test_by_hand() -> None:
    """0.5 * -1.0 + 2 * -1 = -2.5;   0.5 * -1.5 + 2 * 1 = 1.25;   0.5 * -2.0 + 2 * -1 = -3."""
    found = rerank(N_BEST, {"model": (model_log_prob, 0.5), "lm": (fluent, 2)})
    assert [[r.hypothesis.ids for r in one] for one in found] == [[(6,), (4, 5), (4,)], [], [(7,)]]
    assert [r.score for r in found[0]] == [1.25, -2.5, -3.0]
    assert found[0][0].parts == {"model": -1.5, "lm": 1.0}


def test_the_length_counts_the_end() -> None:
    assert n_tokens(
        [0, 0], [hypothesis((4, 5), -1.0), hypothesis((4, 5), -1.0, finished=False)]
    ).tolist() == [3, 2]


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=6), st.floats(0.1, 3))
def test_the_model_alone_keeps_the_order(log_probs, weight) -> None:
    n_best = [[hypothesis((4 + i,), p) for i, p in enumerate(sorted(log_probs, reverse=True))]]
    found = rerank(n_best, {"model": (model_log_prob, weight)})[0]
    assert [r.hypothesis for r in found] == n_best[0]


def test_language_model_and_reverse_model_score_each_hypothesis_alone() -> None:
    model, src = make("2017", 0), sources(0)
    lm, reverse = make("lm-modern", 1), make("modern", 2)
    n_best = beam_search(
        model.start(src, max_len=8), beam_size=4, max_len=8, n_best=4, filters=[Forbid((0,))]
    )
    originals = [[i for i in row.tolist() if i] for row in src]
    scorers = {
        "lm": (language_model_scorer(lm, batch_size=3), 0.7),
        "reverse": (reverse_scorer(reverse, originals, batch_size=5), 0.3),
    }
    for number, found in enumerate(rerank(n_best, scorers)):
        assert {r.hypothesis for r in found} == set(n_best[number])
        assert [r.score for r in found] == sorted((r.score for r in found), reverse=True)
        for r in found:
            h = r.hypothesis
            target = [*h.ids, 2] if h.finished else list(h.ids)
            logits = lm(torch.tensor([[1, *target[:-1]]]))[0].log_softmax(-1)
            assert r.parts["lm"] == pytest.approx(sum(logits[t, i].item() for t, i in enumerate(target)))
            source = originals[number]
            logits = reverse(torch.tensor([[*h.ids, 2]]), torch.tensor([[1, *source]]))[0].log_softmax(-1)
            wanted = sum(logits[t, i].item() for t, i in enumerate([*source, 2]))
            assert r.parts["reverse"] == pytest.approx(wanted)
            assert r.score == pytest.approx(0.7 * r.parts["lm"] + 0.3 * r.parts["reverse"])


@pytest.mark.parametrize(
    ("scorers", "message"),
    [
        ({}, "scorers must hold at least one scorer, got none"),
        ({"lm": (model_log_prob, math.inf)}, "weight of 'lm' must be a finite number, got inf"),
        (
            {"lm": (lambda s, h: torch.zeros(2), 1.0)},
            r"scorer 'lm' must return one score a hypothesis \(4,\), got \(2,\)",
        ),
        (
            {"lm": (lambda s, h: torch.tensor([0.0, math.nan, 0.0, 0.0]), 1.0)},
            "scorer 'lm' must return numbers, got NaN for hypothesis 1",
        ),
        (
            {"r": (reverse_scorer(lambda src, tgt_in: src, [[4]]), 1.0)},
            r"sources must hold one a sentence \(3\), got 1",
        ),
    ],
)
def test_bad_scorers_are_named(scorers, message) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        rerank(N_BEST, scorers)


def test_a_bad_batch_size_is_named() -> None:
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1, got 0"):
        language_model_scorer(len, batch_size=0)
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1, got -1"):
        reverse_scorer(max, [], batch_size=-1)


def test_nothing_to_rerank() -> None:
    assert rerank([[], []], {"model": (model_log_prob, 1.0)}) == [[], []]
