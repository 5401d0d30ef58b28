"""CTC: the forward algorithm against PyTorch's loss and against all paths; greedy and prefix search against both."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.projects.ocr.model.ctc import BLANK, beam_ctc, ctc_log_probs, greedy_ctc, path_log_prob


def random_log_probs(columns: int, classes: int, seed: int, sharp: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (sharp * torch.randn(columns, classes, generator=generator, dtype=torch.float64)).log_softmax(-1)


def read(path: tuple[int, ...]) -> tuple[int, ...]:
    """What a path says, by the definition."""
    merged = [symbol for i, symbol in enumerate(path) if i == 0 or symbol != path[i - 1]]
    return tuple(symbol for symbol in merged if symbol != BLANK)


def by_all_paths(log_probs: torch.Tensor) -> dict[tuple[int, ...], float]:
    """The probability of every text, by adding up every path."""
    found: dict[tuple[int, ...], float] = {}
    for path in product(range(log_probs.shape[1]), repeat=len(log_probs)):
        p = float(log_probs[range(len(path)), path].sum().exp())
        found[read(path)] = found.get(read(path), 0.0) + p
    return found


def test_the_forward_algorithm_adds_up_all_paths() -> None:
    log_probs = random_log_probs(5, 3, 0)
    found = by_all_paths(log_probs)
    assert sum(found.values()) == pytest.approx(1.0)
    for text, p in found.items():
        assert path_log_prob(log_probs, text).exp().item() == pytest.approx(p)
    assert path_log_prob(log_probs, (1, 1, 1, 1)) == -torch.inf  # needs 7 columns


@settings(max_examples=20)
@given(
    columns=st.integers(1, 12),
    text=st.lists(st.integers(1, 4), max_size=6),
    seed=st.integers(0, 1000),
)
def test_value_and_gradient_are_those_of_pytorch(columns: int, text: list[int], seed: int) -> None:
    log_probs = random_log_probs(columns, 5, seed).requires_grad_()
    ours = path_log_prob(log_probs, text)
    theirs = ctc_log_probs(log_probs[None], torch.tensor([columns]), [text])[0]
    if ours == -torch.inf:
        assert theirs == -torch.inf
        return
    torch.testing.assert_close(ours, theirs)
    one, other = (torch.autograd.grad(p, log_probs, retain_graph=True)[0] for p in (ours, theirs))
    # PyTorch gives the gradient with respect to the logits of a softmax: equal after projecting on what sums to 0.
    torch.testing.assert_close(
        one - log_probs.exp() * one.sum(-1, keepdim=True),
        other - log_probs.exp() * other.sum(-1, keepdim=True),
    )


def test_columns_behind_the_end_change_nothing() -> None:
    log_probs = torch.stack([random_log_probs(9, 5, seed, 3.0) for seed in range(4)])
    lengths = torch.tensor([9, 4, 1, 6])
    greedy, searched = greedy_ctc(log_probs, lengths), beam_ctc(log_probs, lengths)
    for i, n in enumerate(lengths.tolist()):
        mine = log_probs[i : i + 1, :n], lengths[i : i + 1]
        for alone, together in ((greedy_ctc(*mine)[0], greedy[i]), (beam_ctc(*mine)[0][0], searched[i][0])):
            assert alone.ids == together.ids
            assert alone.log_prob == pytest.approx(together.log_prob)


def test_greedy_merges_repeats_and_drops_blanks() -> None:
    path = [0, 5, 5, 0, 5, 6, 6, 0, 0, 7]
    log_probs = torch.full((1, len(path), 8), -9.0)
    log_probs[0, range(len(path)), path] = -0.5
    draft = greedy_ctc(log_probs, torch.tensor([len(path)]))[0]
    assert draft.ids == (5, 5, 6, 7)
    assert draft.log_prob == pytest.approx(-0.5 * len(path))
    assert greedy_ctc(log_probs, torch.tensor([1]))[0].ids == ()


@settings(max_examples=25)
@given(columns=st.integers(1, 5), seed=st.integers(0, 1000))
def test_a_wide_beam_finds_the_most_probable_texts(columns: int, seed: int) -> None:
    log_probs = random_log_probs(columns, 3, seed)
    found = by_all_paths(log_probs)
    drafts = beam_ctc(log_probs[None], torch.tensor([columns]), beam_size=200, n_best=3, n_symbols=3)[0]
    ranked = sorted(found.values(), reverse=True)
    for draft, p in zip(drafts, ranked, strict=False):
        assert draft.log_prob == pytest.approx(torch.tensor(p).log().item())
        assert found[draft.ids] == pytest.approx(p)


def test_the_best_text_need_not_be_that_of_the_best_path() -> None:
    # Blank is the best symbol of both columns, yet the paths of "a" have more together: the figure of Graves's thesis.
    log_probs = torch.tensor([[[0.6, 0.4], [0.6, 0.4]]]).log()
    lengths = torch.tensor([2])
    assert greedy_ctc(log_probs, lengths)[0].ids == ()
    best = beam_ctc(log_probs, lengths)[0][0]
    assert best.ids == (1,)
    assert best.log_prob == pytest.approx(torch.tensor(0.64).log().item(), abs=1e-6)


def test_a_repeated_character_needs_a_blank_between() -> None:
    log_probs = random_log_probs(2, 4, 3)
    assert path_log_prob(log_probs, (2, 2)) == -torch.inf
    assert path_log_prob(log_probs, (2, 3)).isfinite()
    assert path_log_prob(random_log_probs(3, 4, 3), (2, 2)).isfinite()


@pytest.mark.parametrize("options", [{"beam_size": 0}, {"n_best": 9}, {"n_symbols": 0}])
def test_bad_options_are_named(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        beam_ctc(torch.zeros(1, 2, 3), torch.tensor([2]), **options)
