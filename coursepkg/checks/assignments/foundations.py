"""Tests of the assignment on the foundations: padded batches, a decoder's inputs."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import (
    gradients_close,
    personal,
    quantity,
    same_dtype,
    tensor_of,
    two,
    with_gradients,
)
from coursepkg.checks.assignments.task import Task

Case = tuple[Any, ...]
IGNORED = -100
"""The label that PyTorch's cross-entropy leaves out."""


def _encoder_case(batch: int, length: int, seed: int, dtype: str) -> Case:
    """A padded batch with a full sentence, large numbers at padding, and a GRU."""
    generator = torch.Generator().manual_seed(seed)
    size, width = 3 + seed % 2, 4 + seed % 3
    lengths = _lengths(batch, length, generator)
    shapes = [(batch, length, size), (3 * width, size), (3 * width, width)]
    x, w, u, b, c = (
        torch.randn(shape, generator=generator, dtype=getattr(torch, dtype))
        for shape in [*shapes, (3 * width,), (3 * width,)]
    )
    x[_padding(lengths, length)] = 50.0
    return x, lengths, w, u, b, c


def _lengths(batch: int, length: int, generator: torch.Generator) -> Tensor:
    lengths = torch.randint(0, length, (batch,), generator=generator)
    lengths[0] = length
    if batch > 1:
        lengths[-1] = 0
    return lengths


def _padding(lengths: Tensor, length: int) -> Tensor:
    return torch.arange(length) >= lengths[:, None]


def _encoded_alone(
    x: Tensor, lengths: Tensor, w: Tensor, u: Tensor, b: Tensor, c: Tensor
) -> tuple[Tensor, Tensor]:
    """Each sentence by PyTorch's own layer, without padding and on its own."""
    gru = nn.GRU(x.shape[2], u.shape[1], batch_first=True, dtype=x.dtype)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    own = dict(zip(names, (w, u, b, c), strict=True))
    rows, last = [], []
    for sentence, n in zip(x, lengths.tolist(), strict=True):
        states = x.new_zeros(0, u.shape[1])
        if n:
            states = torch.func.functional_call(gru, own, (sentence[:n],))[0]
        rows.append(F.pad(states, (0, 0, 0, x.shape[1] - n)))
        last.append(states[-1] if n else x.new_zeros(u.shape[1]))
    return torch.stack(rows), torch.stack(last)


def _judge_encode(case: Case, answer: Any) -> None:
    x, lengths = case[:2]
    result, gradients = answer
    states, last = two(result, "the states and the last states")
    (right, right_last), exact = with_gradients(_encoded_alone, *case)
    expect.is_tensor(states, right.shape, what="the tensor of states")
    expect.is_tensor(last, right_last.shape, what="the tensor of last states")
    same_dtype(x, states, last)
    padding = _padding(lengths, x.shape[1])
    expect.close(
        states[padding], right[padding], what="a state at padding", hint="it is zero"
    )
    expect.close(
        last[lengths == 0],
        right_last[lengths == 0],
        what="the last state of a sentence of length 0",
        hint="it is zero",
    )
    expect.close(
        states, right, what="the states", hint="the order of the rows is r, z, n"
    )
    expect.close(
        last,
        right_last,
        what="the last states",
        hint="the last state belongs to the last real token",
    )
    gradients_close(gradients, exact, ("x", "lengths", "w", "u", "b", "c"))


encode = Task(
    "encode",
    make=_encoder_case,
    judge=_judge_encode,
    public=[
        (3, 5, 0, "float64"),
        (1, 1, 1, "float64"),
        (4, 7, 2, "float32"),
    ],
    run="gradients",
)


def _attention_case(batch: int, n_queries: int, n_keys: int, seed: int) -> Case:
    generator = torch.Generator().manual_seed(seed)
    lengths = _lengths(batch, n_keys, generator)
    shapes = [(batch, n_queries, 5), (batch, n_keys, 4), (5, 4)]
    query, keys, W = (
        torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes
    )
    keys[_padding(lengths, n_keys)] = 30.0
    dtype = torch.float64 if seed % 2 == 0 else torch.float32
    return query.to(dtype), keys.to(dtype), W.to(dtype), lengths


def _attended_alone(
    query: Tensor, keys: Tensor, W: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    context, weights = [], []
    for q, k, n in zip(query, keys, lengths.tolist(), strict=True):
        row = torch.softmax(torch.einsum("te,ek,sk->ts", q, W, k[:n]), dim=1)
        weights.append(F.pad(row, (0, len(k) - n)))
        context.append(torch.einsum("ts,sk->tk", row, k[:n]))
    return torch.stack(context), torch.stack(weights)


def _judge_attend(case: Case, answer: Any) -> None:
    query, keys, _, lengths = case
    result, gradients = answer
    context, weights = two(result, "the context and the weights")
    (right, right_weights), exact = with_gradients(_attended_alone, *case)
    for name, found, wanted in [
        ("context", context, right),
        ("weights", weights, right_weights),
    ]:
        tensor_of(found, wanted.shape, what=f"the tensor of {name}")
        empty = found[lengths == 0]
        assert not bool(empty.isnan().any()), (
            f"the {name} of a sentence of length 0 is NaN; it is zero"
        )
        expect.close(
            empty,
            wanted[lengths == 0],
            what=f"the {name} of a sentence of length 0",
            hint="it is zero",
        )
    same_dtype(query, context, weights)
    padding = _padding(lengths, keys.shape[1])[:, None].expand_as(weights)
    expect.close(weights[padding], right_weights[padding], what="a weight at padding")
    expect.close(
        weights,
        right_weights,
        what="the weights",
        hint="mask the scores, then softmax over the keys; there is no scale",
    )
    expect.close(context, right, what="the context")
    gradients_close(gradients, exact, ("query", "keys", "W", "lengths"))


attend = Task(
    "attend",
    make=_attention_case,
    judge=_judge_attend,
    public=[(3, 2, 5, 0), (2, 4, 3, 1), (1, 1, 1, 2)],
    run="gradients",
)


def _targets_case(sizes: Sequence[int], seed: int) -> Case:
    """Sentences of ids from 10 on, without marks; BOS, EOS and padding are below."""
    generator = torch.Generator().manual_seed(seed)
    targets = [
        torch.randint(10, 30, (size,), generator=generator).tolist() for size in sizes
    ]
    marks = [[1, 2, 0], [2, 3, 1], [5, 4, 9]][seed % 3]
    return targets, *marks


def _judge_decoder_batch(case: Case, answer: Any) -> None:
    targets, bos, eos, pad = case
    inputs, labels = two(answer, "the inputs and the labels")
    shape = (len(targets), max(len(ids) for ids in targets) + 1)
    for name, found in (("inputs", inputs), ("labels", labels)):
        expect.is_tensor(found, shape, what=f"the tensor of {name}")
        assert found.dtype == torch.int64, (
            f"the {name} have dtype {found.dtype}; torch.int64 is expected"
        )
    for row, ids in enumerate(targets):
        n, read = len(ids) + 1, inputs[row].tolist()
        said = labels[row].tolist()
        assert read[:n] != said[:n], (
            f"sentence {row}: the decoder reads the very token that it has to predict"
        )
        where = f"sentence {row}: the decoder"
        expect.equal(
            read[:n],
            [bos, *ids],
            what=f"{where} reads",
            hint="it begins with BOS and never reads EOS",
        )
        expect.equal(
            said[:n],
            [*ids, eos],
            what=f"{where} has to predict",
            hint="position t predicts token t; EOS comes last, BOS never",
        )
        expect.equal(
            read[n:], [pad] * (shape[1] - n), what=f"{where} reads behind the end"
        )
        expect.equal(
            said[n:],
            [IGNORED] * (shape[1] - n),
            what=f"{where} has to predict behind the end",
            hint="padding is no label",
        )


decoder_batch = Task(
    "decoder_batch",
    make=_targets_case,
    judge=_judge_decoder_batch,
    public=[([3, 1], 0), ([2], 1), ([4, 0, 2], 2)],
)


def sizes_of(student: Any) -> dict[str, int]:
    """The student's own sizes of the task on memory: B, T, S and m."""
    draw = personal(student, "additive memory")
    return {
        "B": draw.choice([12, 24, 48]),
        "T": draw.choice([20, 28, 36]),
        "S": draw.choice([25, 35, 45]),
        "m": draw.choice([96, 160, 224]),
    }


def _judge_memory(case: Case, answer: Any) -> None:
    n = 1
    for size in sizes_of(case[0]).values():
        n *= size
    right = 4 * n / 2**20
    mistakes = [
        (right / 4, "a float32 has 4 bytes"),
        (2 * right, "a float32 has 4 bytes, not 8"),
        (right / sizes_of(case[0])["m"], "tanh is taken of all m components"),
    ]
    quantity(
        answer,
        right,
        "MiB",
        hint="multiply the four sizes and 4 bytes",
        mistakes=mistakes,
    )


additive_memory = Task(
    "additive_memory",
    make=lambda student: (student,),
    judge=_judge_memory,
    arguments=lambda case: (),
)
