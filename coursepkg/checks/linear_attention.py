"""Checks of the exercises in the chapter on linear attention."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from coursepkg.bench.measure import peak_bytes
from coursepkg.checks import expect


def linear_output(student: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    """Equal to the kernel matrix written out, without the memory of one."""
    phi_q, phi_k, v = (
        _positive(9, 4, seed=0),
        _positive(12, 4, seed=1),
        _positive(12, 3, seed=2),
    )
    kernel = phi_q @ phi_k.T
    output = student(phi_q.clone(), phi_k.clone(), v.clone())
    expect.close(
        output,
        kernel @ v / kernel.sum(1, keepdim=True),
        what="the output",
        hint="divide each row by phi(q) . sum of phi(k)",
    )
    n = 1500
    large = [_positive(n, 4, seed=3) for _ in range(3)]
    peak = peak_bytes(partial(student, *large))
    assert peak < 8 * n * n, (
        f"for {n} tokens you used {peak / 2**20:.0f} MiB, as much as a {n} x {n}"
        " matrix; multiply phi(k) with v first"
    )


def rnn_step(student: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Any]) -> None:
    """Three steps in a row give causal attention."""
    phi_q, phi_k, v = (
        _positive(3, 4, seed=0),
        _positive(3, 4, seed=1),
        _positive(3, 2, seed=2),
    )
    S, z = torch.zeros(4, 2, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
    for t in range(3):
        old_S, old_z = S.clone(), z.clone()
        result = student(S, z, phi_q[t].clone(), phi_k[t].clone(), v[t].clone())
        returned = len(result) if isinstance(result, tuple) else 1
        assert returned == 3, (
            f"{returned} thing(s) returned; three are expected: output, new_S, new_z"
        )
        output, new_S, new_z = result
        expect.unchanged(old_S, S, what="the old state S")
        expect.unchanged(old_z, z, what="the old state z")
        weights = phi_k[: t + 1] @ phi_q[t]
        expect.close(
            output,
            weights @ v[: t + 1] / weights.sum(),
            what=f"the output of token {t + 1}",
            hint="add the token first, then read; divide by phi(q) . z",
        )
        S, z = old_S + torch.outer(phi_k[t], v[t]), old_z + phi_k[t]
        expect.close(new_S, S, what=f"S after token {t + 1}")
        expect.close(new_z, z, what=f"z after token {t + 1}")


def break_even(student: Callable[[int, int], int]) -> None:
    """Strictly more numbers in the cache."""
    for d, n_features, tokens in [
        (64, 64, 33),
        (64, 256, 131),
        (128, 128, 65),
        (1, 1, 2),
        (2, 4, 4),
    ]:
        expect.equal(
            student(d, n_features),
            tokens,
            what=f"tokens for d = {d}, n_features = {n_features}",
            hint="2 n d > F (d + 1), the first whole n",
        )


def delta_update(student: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    """The key reads its new value, orthogonal keys read what they read before."""
    generator = torch.Generator().manual_seed(0)
    keys, _ = torch.linalg.qr(
        torch.randn(5, 5, generator=generator, dtype=torch.float64)
    )
    S = torch.randn(5, 3, generator=generator, dtype=torch.float64)
    v = torch.randn(3, generator=generator, dtype=torch.float64)
    before = S.clone()
    new_S = student(S, keys[0].clone(), v.clone())
    expect.is_tensor(new_S, (5, 3), what="the new state")
    expect.unchanged(before, S, what="the old state")
    expect.close(
        keys[0] @ new_S,
        v,
        what="what is read under k afterwards",
        hint="write the difference between v and what is stored now",
    )
    expect.close(
        keys[1:] @ new_S,
        keys[1:] @ before,
        what="what is read under keys orthogonal to k",
    )


def _positive(*shape: int, seed: int) -> Tensor:
    return (
        torch.rand(
            *shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
        )
        + 0.1
    )
