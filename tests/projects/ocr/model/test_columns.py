"""Padding behind a line: found, and cleared with a gradient and without one alike."""

import pytest
import torch

from coursepkg.projects.ocr.model.backbone import clear_padding, find_padding

WIDTHS = torch.tensor([3, 5, 1])


def test_padding_begins_behind_the_shortest_line() -> None:
    padding = find_padding(WIDTHS, 5)
    assert padding is not None
    assert padding.first == 1
    assert padding.is_real.tolist() == [[True, True, False, False], [True] * 4, [False] * 4]


@pytest.mark.parametrize("widths", [None, torch.tensor([5, 5])])
def test_lines_of_full_width_have_none(widths: torch.Tensor | None) -> None:
    assert find_padding(widths, 5) is None
    x = torch.randn(2, 3, 4, 5)
    assert clear_padding(x, None) is x


@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_padding_is_cleared_and_nothing_else(learns: bool, layout: torch.memory_format) -> None:
    x = torch.randn(3, 2, 4, 5).contiguous(memory_format=layout)
    wanted = x.clone()
    for row, width in zip(wanted, WIDTHS.tolist(), strict=True):
        row[..., width:] = 0.0
    before = x.clone()
    found = clear_padding(x.requires_grad_(learns), find_padding(WIDTHS, 5))
    assert torch.equal(found, wanted)
    assert (found is x) is not learns
    if learns:
        assert torch.equal(x, before)  # what a gradient may need is left alone
        (gradient,) = torch.autograd.grad(found.sum(), x)
        assert torch.equal(gradient, (torch.arange(5) < WIDTHS[:, None])[:, None, None].expand_as(x).float())
