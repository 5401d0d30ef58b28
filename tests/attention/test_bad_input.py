"""A mistake in an argument is a ValueError of one line that names the argument."""

import re
import subprocess
import sys

import pytest
import torch

from coursepkg.attention.linear import FeatureMap, LinearState, linear_attention
from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.pattern import per_head
from coursepkg.attention.rope import RotaryEmbedding

X = torch.ones(1, 2, 3, 4)
ROWS = torch.ones(2, 3, 8)


def make(**options):
    return MultiHeadAttention(8, 2, **options)


def linear(**options):
    return linear_attention(X, X, X, **options)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (
            lambda: linear(feature_map=lambda x: x.sum(-1)),
            "feature_map: got (1, 2, 0) of torch.float32 for (1, 2, 0, 4), needs (1, 2, 0, F) of torch.float32",
        ),
        (
            lambda: linear(feature_map=lambda x: x[:, :, :1]),
            "feature_map: got (1, 2, 1, 4) of torch.float32 for (1, 2, 3, 4), needs (1, 2, 3, F) of torch.float32",
        ),
        (
            lambda: linear(feature_map=FeatureMap(keys=torch.relu, queries=lambda x: x[..., :2])),
            "feature_map: got F of [2, 4], needs one F for queries and keys",
        ),
        (lambda: linear(feature_map=lambda x: x > 0), "feature_map: got (1, 2, 0, 4) of torch.bool"),
        (
            lambda: linear(state=LinearState(torch.ones(1, 2, 4, 5), torch.ones(1, 2, 4))),
            "state.kv: got (1, 2, 4, 5) on cpu, needs",
        ),
        (
            lambda: RotaryEmbedding(4).rotate(X, positions=torch.tensor([True, False, True])),
            "positions: got (3,) of torch.bool, needs integers (3,) or (1, 3)",
        ),
        (
            lambda: make()(ROWS.double()),
            "x must have the dtype of the weights (torch.float32), got torch.float64",
        ),
        (lambda: make()(ROWS.to("meta")), "x must be on the device of the weights (cpu), got meta"),
        (
            lambda: make()(ROWS, ROWS.half()),
            "context must have the dtype of the weights (torch.float32), got torch.float16",
        ),
        (lambda: make()(ROWS, ROWS[:1]), "context must have the batch size of x, 2, got 1"),
        (
            lambda: make(impl="flash"),
            "impl must be one of reference, tiled, sdpa, sparse, triton, auto, got 'flash'",
        ),
        (
            lambda: make(rope=RotaryEmbedding(8)),
            "rope must be for heads of dimension 4, got one for 8",
        ),
        (lambda: per_head([]), "patterns must have one Pattern a head, got none"),
    ],
)
def test_wrong_values_are_named_in_one_line(mistake, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)) as error:
        mistake()
    assert "\n" not in str(error.value)


def test_autocast_takes_rows_of_another_dtype():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert make()(ROWS.bfloat16()).shape == ROWS.shape
        with pytest.raises(ValueError, match=r"^x must have the dtype of the weights"):
            make()(ROWS.long())


WRONG_TYPES = """
import torch
from coursepkg.attention.position_bias import alibi_bias, alibi_slopes
from coursepkg.attention.linear import LinearState, linear_attention, linear_step
from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.pattern import causal, padding, per_head
from coursepkg.attention.rope import LinearScaling, RotaryEmbedding
from coursepkg.attention.topk import top_scores_attention

x, rows = torch.ones(1, 2, 3, 4), torch.ones(2, 3, 8)
rope, layer = RotaryEmbedding(4), MultiHeadAttention(8, 2)
for mistake in (
    lambda: linear_attention([1.0], x, x),
    lambda: linear_step([1.0], x, x),
    lambda: linear_attention(x, x, x, chunk_size=1.5),
    lambda: linear_attention(x, x, x, chunk_size="a"),
    lambda: linear_attention(x, x, x, mode=["chunked"]),
    lambda: linear_attention(x, x, x, state=(1, 2)),
    lambda: linear_attention(x, x, x, state=LinearState(1, 2)),
    lambda: linear_attention(x, x, x, feature_map=lambda y: None),
    lambda: RotaryEmbedding("8"),
    lambda: RotaryEmbedding(8.0),
    lambda: RotaryEmbedding(8, base="a"),
    lambda: RotaryEmbedding(8, layout=[1]),
    lambda: RotaryEmbedding(8, scaling=2.0),
    lambda: LinearScaling("a"),
    lambda: rope.rotate(x, offset=1.5),
    lambda: rope.rotate(x, positions=[0, 1, 2]),
    lambda: layer([1.0]),
    lambda: layer(rows, [1.0]),
    lambda: MultiHeadAttention(8, 2, impl=None),
    lambda: MultiHeadAttention(8, 2, dropout_p="a"),
    lambda: MultiHeadAttention(8, 2, rope=torch.nn.Identity()),
    lambda: MultiHeadAttention(8, 2, rope=RotaryEmbedding),
    lambda: MultiHeadAttention.from_mha(torch.nn.Identity(), 1),
    lambda: MultiHeadAttention.from_mha(layer, "1"),
    lambda: padding(None),
    lambda: padding("ab"),
    lambda: per_head([causal]),
    lambda: per_head(causal()),
    lambda: alibi_slopes("8"),
    lambda: alibi_bias(8, 1.5, 2),
    lambda: top_scores_attention(x, x, x, 2, scale="a"),
):
    try:
        print("accepted", mistake())
    except ValueError as error:
        print(error)
"""


def test_wrong_types_are_named_in_one_line():
    """In a process of its own: here the suite's run-time type checks would speak first."""
    result = subprocess.run([sys.executable, "-c", WRONG_TYPES], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "q: got list, needs a tensor",
        "q: got list, needs a tensor",
        "chunk_size: got 1.5, needs an integer",
        "chunk_size: got 'a', needs an integer",
        "mode: got list, needs one of parallel, chunked, recurrent",
        "state: got tuple, needs the LinearState of an earlier call",
        "state.kv: got 1, needs a tensor",
        "feature_map's result: got None, needs a tensor",
        "head_dim: got '8', needs an integer",
        "head_dim: got 8.0, needs an integer",
        "base: got 'a', needs a number",
        "layout: got list, needs one of interleaved, half",
        "scaling: got 2.0, needs None, LinearScaling(2.0) or NTKScaling(2.0)",
        "factor: got 'a', needs a number",
        "offset: got 1.5, needs an integer",
        "positions: got list, needs a tensor",
        "x must be a tensor (B, T, 8), got list",
        "context must be a tensor (B, T, 8), got list",
        "impl must be one of reference, tiled, sdpa, sparse, triton, auto, got None",
        "dropout_p must be at least 0 and below 1, got 'a'",
        "rope must have a method rotate, as RotaryEmbedding(4), got Identity",
        "rope must have a method rotate, as RotaryEmbedding(4), got type",
        "mha must be a MultiHeadAttention, got Identity",
        "n_kv_heads must divide the 2 of mha, got '1'",
        "lengths must be one integer a sequence, shape (B,), got None",
        "lengths must be one integer a sequence, shape (B,), got 'ab'",
        "patterns[0] must be a Pattern as causal(), got function (brackets forgotten?)",
        "patterns must be a list with one Pattern a head, got Pattern",
        "n_heads: got '8', needs an integer",
        "n_queries: got 1.5, needs an integer",
        "scale: got 'a', needs a number",
    ]
