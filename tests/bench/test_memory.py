"""peak_bytes counts what the allocator hands out: no more for views and out= buffers, no less for temporaries."""

import pytest
import torch

from coursepkg.bench.memory import peak_bytes

KILO = torch.Size((1000,))
FLOAT = 4


def test_one_tensor_counts_its_bytes() -> None:
    assert peak_bytes(lambda: torch.empty(KILO)) == 1000 * FLOAT


def test_nothing_allocated_is_zero() -> None:
    assert peak_bytes(lambda: None) == 0


def test_views_and_out_buffers_add_nothing() -> None:
    a, b, buffer = torch.ones(KILO), torch.ones(KILO), torch.empty(KILO)
    assert peak_bytes(lambda: a.view(10, 100).transpose(0, 1)[3]) == 0
    assert peak_bytes(lambda: torch.mul(a, b, out=buffer)) == 0


def test_released_tensors_are_given_back() -> None:
    def one_after_another() -> None:
        for _ in range(5):
            torch.empty(KILO)

    def all_at_once() -> None:
        _ = [torch.empty(KILO) for _ in range(5)]

    assert peak_bytes(one_after_another) == 1000 * FLOAT
    assert peak_bytes(all_at_once) == 5 * 1000 * FLOAT


def test_a_peak_in_the_middle_is_seen() -> None:
    def work() -> torch.Tensor:
        wide = torch.empty(7, 1000)
        del wide
        return torch.empty(KILO)

    assert peak_bytes(work) == 7 * 1000 * FLOAT


def test_existing_tensors_are_not_counted() -> None:
    held = [torch.empty(KILO)]
    assert peak_bytes(held.clear) == 0


def test_memory_kept_for_backward_counts() -> None:
    x = torch.rand(1000, requires_grad=True)
    # exp keeps its output for the backward pass, and the second exp makes one more.
    assert peak_bytes(lambda: x.exp().exp()) == 2 * 1000 * FLOAT
    with torch.no_grad():
        assert peak_bytes(lambda: x.exp().exp().exp()) == 2 * 1000 * FLOAT


def test_unknown_device_is_refused() -> None:
    with pytest.raises(ValueError, match="device must be 'cpu' or 'cuda'"):
        peak_bytes(lambda: None, device="meta")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_cuda_counts_blocks_of_512_bytes() -> None:
    device = torch.device("cuda")
    assert peak_bytes(lambda: torch.empty(1024, device=device), device) == 4096
