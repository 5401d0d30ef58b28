"""The two-pass search for the largest numbers against `topk` over all of them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.decoding.beam import BLOCK, top_continuations

widths = st.one_of(
    st.integers(1, 9), st.integers(BLOCK - 2, BLOCK + 2), st.integers(2 * BLOCK - 1, 5 * BLOCK + 3)
)


def plain(log_probs: torch.Tensor, totals: torch.Tensor, count: int) -> torch.Tensor:
    sums = (totals[..., None] + log_probs.view(*totals.shape, -1)).flatten(1)
    return sums.topk(min(count, sums.shape[1]), dim=1).values


@given(st.integers(1, 3), st.integers(1, 5), widths, st.integers(1, 12), st.integers(0, 999), st.booleans())
def test_equals_topk(n_sentences, n_rows, n_tokens, count, seed, has_gaps) -> None:
    generator = torch.Generator().manual_seed(seed)
    draw = torch.randn(n_sentences * n_rows, n_tokens, generator=generator, dtype=torch.float64)
    log_probs = draw.masked_fill(draw > 0.8, -torch.inf) if has_gaps else draw
    totals = torch.randn(n_sentences, n_rows, generator=generator, dtype=torch.float64)
    total, row, token = top_continuations(log_probs, totals, count)
    torch.testing.assert_close(total, plain(log_probs, totals, count), rtol=0, atol=0)
    finite = total > -torch.inf
    assert (token[finite] < n_tokens).all()
    for b, c in finite.nonzero().tolist():
        r, i = int(row[b, c]), int(token[b, c])
        assert total[b, c] == totals[b, r] + log_probs.view(n_sentences, n_rows, -1)[b, r, i]
    for b in range(n_sentences):
        pairs = [
            (r, i)
            for r, i, f in zip(row[b].tolist(), token[b].tolist(), finite[b].tolist(), strict=True)
            if f
        ]
        assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("place", [0, BLOCK - 1, BLOCK, 2 * BLOCK + 4])
def test_nan_comes_first(place) -> None:
    log_probs = torch.zeros(2, 2 * BLOCK + 5)
    log_probs[1, place] = torch.nan
    total, row, token = top_continuations(log_probs, torch.zeros(1, 2), 3)
    assert total[0, 0].isnan()
    assert (int(row[0, 0]), int(token[0, 0])) == (1, place)


def test_equal_numbers() -> None:
    total, row, token = top_continuations(torch.zeros(4, 3 * BLOCK), torch.zeros(2, 2), 8)
    assert total.tolist() == [[0.0] * 8] * 2
    for b in range(2):
        assert len(set(zip(row[b].tolist(), token[b].tolist(), strict=True))) == 8
