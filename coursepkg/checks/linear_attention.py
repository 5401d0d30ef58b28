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
        returned = len(result) if isinstance(result, tuple | list) else 1
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


def break_even(student: str) -> None:
    """130 tokens: 160 numbers a token against a state of 256 * 81."""
    expect.quantity(
        student,
        130.0,
        "tokens",
        what="the length",
        tolerance=1e-3,
        mistakes={
            129.0: (
                "129 tokens hold 20,640 numbers and the state holds 20,736: did you"
                " count the normaliser?"
            ),
            129.6: "tokens are whole: which is the first number beyond it?",
            128.0: "the state has F (D + 1) numbers, the normaliser included",
            260.0: "the cache holds a key and a value for each token",
        },
    )


def rank_of_weights(
    student: tuple[Any, Callable[[Tensor, Tensor], Any]],
) -> None:
    """Ranks of weights with 16 features: of 40 keys, and of 10."""
    predicted, rank_of = student
    many, few = expect.attempted(predicted)
    for n, n_features, rank in [(40, 16, 16), (10, 16, 10), (12, 3, 3)]:
        phi_q, phi_k = (_positive(n, n_features, seed=seed) for seed in (4, 5))
        expect.equal(
            int(expect.attempted(rank_of(phi_q, phi_k))),
            rank,
            what=f"the measured rank for {n} keys and {n_features} features",
            hint="it is the rank of the n x n matrix of weights, without a softmax",
        )
    hint = "the weights are a product through 16 columns"
    expect.equal(int(many), 16, what="the prediction for 40 keys", hint=hint)
    hint = "a matrix of 10 x 10 has at most rank 10"
    expect.equal(int(few), 10, what="the prediction for 10 keys", hint=hint)


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
