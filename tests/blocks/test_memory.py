"""Which ids are real: lengths from padding, and what is refused."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.blocks.cache import Memory, check_ids, check_padding, real_tokens, trimmed
from coursepkg.text.vocabulary import PAD, pad_batch


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=8), min_size=1, max_size=5))
def test_lengths_come_back_from_a_padded_batch(sentences: list[list[int]]) -> None:
    ids, lengths = pad_batch(sentences)
    is_real, found = real_tokens(ids)
    assert found.tolist() == lengths.tolist()
    assert is_real.tolist() == (ids != PAD).tolist()


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_both_integer_types_are_ids(dtype: torch.dtype) -> None:
    check_ids("src", torch.tensor([[0, 4]], dtype=dtype), 5, 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([PAD, PAD], "src must have a token in every row, got only padding in row 1"),
        ([PAD, 4], "src must be padded behind its last token only, got padding before it in row 1"),
    ],
)
def test_padding_in_the_wrong_place_is_named_with_its_row(row: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_padding("src", torch.tensor([[5, 6], row]))


def test_bools_are_no_ids() -> None:
    with pytest.raises(ValueError, match=r"^src must be integer ids \(B, length\), got torch.bool \(1, 2\)$"):
        check_ids("src", torch.ones(1, 2, dtype=torch.bool), 5, 2)


def test_rows_are_trimmed_to_the_longest_of_them() -> None:
    is_real = torch.arange(5) < torch.tensor([[2], [3], [5], [1]])
    outputs = torch.arange(4.0 * 5).view(4, 5, 1)
    part = trimmed(Memory(outputs, is_real), 0, 2)
    assert torch.equal(part.outputs, outputs[:2, :3])
    assert part.is_real.tolist() == [[True, True, False], [True, True, True]]
    rest = trimmed(Memory(outputs, is_real), 2, 9)
    assert torch.equal(rest.outputs, outputs[2:])
    assert torch.equal(rest.is_real, is_real[2:])
