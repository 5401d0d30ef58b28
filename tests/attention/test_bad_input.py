"""A mistake in an argument is a ValueError of one line that names the argument."""

import re

import pytest
import torch

from coursepkg.attention.linear import FeatureMap, LinearState, linear_attention
from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.pattern import per_head
from coursepkg.attention.rope import RotaryEmbedding
from tests.refusals import assert_equal, assert_refused

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
        (lambda: make(rope=RotaryEmbedding(8)), "rope must be for heads of dimension 4, got one for 8"),
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
import numpy as np, torch
from coursepkg.attention.position_bias import RelativeBias, alibi_bias, alibi_slopes
from functools import partial
from coursepkg.attention.latent import MultiHeadLatentAttention
from coursepkg.attention.linear import LinearState, linear_attention, linear_step
from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.pattern import causal, padding, per_head, random_blocks, sliding_window
from coursepkg.attention.rope import LinearScaling, RotaryEmbedding
from coursepkg.attention.topk import top_scores_attention

x, rows = torch.ones(1, 2, 3, 4), torch.ones(2, 3, 8)
rope, layer = RotaryEmbedding(4), MultiHeadAttention(8, 2)
latent = partial(MultiHeadLatentAttention, 8, 2, head_dim=4, latent_dim=4, rope_dim=2)
"""


def test_wrong_types_are_named_in_one_line():
    assert_refused(
        WRONG_TYPES,
        {
            "linear_attention([1.0], x, x)": "q: got list, needs a tensor",
            "linear_step([1.0], x, x)": "q: got list, needs a tensor",
            "linear_attention(x, x, x, chunk_size=1.5)": "chunk_size: got 1.5, needs an integer",
            'linear_attention(x, x, x, chunk_size="a")': "chunk_size: got 'a', needs an integer",
            'linear_attention(x, x, x, mode=["chunked"])': "mode: got list, needs one of parallel, chunked, recurrent",
            "linear_attention(x, x, x, state=(1, 2))": "state: got tuple, needs the LinearState of an earlier call",
            "linear_attention(x, x, x, state=LinearState(1, 2))": "state.kv: got 1, needs a tensor",
            "linear_attention(x, x, x, feature_map=lambda y: None)": "feature_map's result: got None, needs a tensor",
            'RotaryEmbedding("8")': "head_dim: got '8', needs an integer",
            "RotaryEmbedding(8.0)": "head_dim: got 8.0, needs an integer",
            'RotaryEmbedding(8, base="a")': "base: got 'a', needs a number",
            "RotaryEmbedding(8, layout=[1])": "layout: got list, needs one of interleaved, half",
            "RotaryEmbedding(8, scaling=2.0)": (
                "scaling: got 2.0, needs None, LinearScaling(2.0), NTKScaling(2.0) or"
                " YaRNScaling(2.0, trained_len=2048)"
            ),
            "latent(rope=RotaryEmbedding)": "rope must have a method rotate, as RotaryEmbedding(2), got type",
            "latent(rope=RotaryEmbedding(2))([1.0])": "x must be a tensor (B, T, 8), got list",
            'LinearScaling("a")': "factor: got 'a', needs a number",
            "rope.rotate(x, offset=1.5)": "offset: got 1.5, needs an integer",
            "rope.rotate(x, positions=[0, 1, 2])": "positions: got list, needs a tensor",
            "layer([1.0])": "x must be a tensor (B, T, 8), got list",
            "layer(rows, [1.0])": "context must be a tensor (B, T, 8), got list",
            "MultiHeadAttention(8, 2, impl=None)": (
                "impl must be one of reference, tiled, sdpa, sparse, triton, auto, got None"
            ),
            'MultiHeadAttention(8, 2, dropout_p="a")': "dropout_p must be at least 0 and below 1, got 'a'",
            "MultiHeadAttention(8, 2, rope=torch.nn.Identity())": (
                "rope must have a method rotate, as RotaryEmbedding(4), got Identity"
            ),
            "MultiHeadAttention(8, 2, rope=RotaryEmbedding)": (
                "rope must have a method rotate, as RotaryEmbedding(4), got type"
            ),
            "MultiHeadAttention.from_mha(torch.nn.Identity(), 1)": "mha must be a MultiHeadAttention, got Identity",
            'MultiHeadAttention.from_mha(layer, "1")': "n_kv_heads must divide the 2 of mha, got '1'",
            "padding(None)": "lengths must be one integer a sequence, shape (B,), got None",
            'padding("ab")': "lengths must be one integer a sequence, shape (B,), got 'ab'",
            "per_head([causal])": "patterns[0] must be a Pattern as causal(), got function (brackets forgotten?)",
            "per_head(causal())": "patterns must be a list with one Pattern a head, got Pattern",
            'alibi_slopes("8")': "n_heads: got '8', needs an integer",
            "alibi_bias(8, 1.5, 2)": "n_queries: got 1.5, needs an integer",
            'top_scores_attention(x, x, x, 2, scale="a")': "scale: got 'a', needs a number",
            'top_scores_attention(x, x, x, 2, scale=float("nan"))': "scale: got nan, needs a finite number",
            "random_blocks(1, 2, seed=1.5)": "seed: got 1.5, needs an integer",
            "sliding_window(np.int64(0))": "window must be an integer of at least 1, got 0",
            "RelativeBias(2, n_buckets=32.0)": "n_buckets: got 32.0, needs an integer",
        },
    )


def test_numbers_of_numpy_are_numbers():
    preparation = """
from coursepkg.attention import *
from coursepkg.attention.block_sparse import visited_fraction
x, rows = torch.randn(1, 2, 6, 4), torch.ones(1, 6, 8)
sizes = (8, 65536, 65536, 32, 8, 128)
small, shape = AttentionShape(*map(np.int32, sizes)), AttentionShape(*sizes)
def shown(pattern):
    return pattern.name, pattern.mask(7, 9).tolist(), visited_fraction(pattern, 7, 9, block=2)
"""
    assert_equal(
        preparation,
        {
            "shown(sliding_window(i64(3)))": "shown(sliding_window(3))",
            "shown(dilated_window(i64(2), np.int32(3)))": "shown(dilated_window(2, 3))",
            "shown(global_tokens(i64(2)))": "shown(global_tokens(2))",
            "shown(random_blocks(i64(1), i64(2), seed=i64(3)))": "shown(random_blocks(1, 2, seed=3))",
            "attention(x, x, x, scale=f32(0.5))": "attention(x, x, x, scale=0.5)",
            "alibi_slopes(i64(6))": "alibi_slopes(6)",
            "RotaryEmbedding(i64(4)).rotate(x, i64(4))": "RotaryEmbedding(4).rotate(x, 4)",
            "linear_attention(x, x, x, chunk_size=i64(4))": "linear_attention(x, x, x, chunk_size=4)",
            "top_scores_attention(x, x, x, i64(2), block=i64(4))": "top_scores_attention(x, x, x, 2, block=4)",
            "MultiHeadAttention(i64(8), i64(4), scale=f32(0.5))(rows).shape": "rows.shape",
            "MultiHeadAttention.from_mha(MultiHeadAttention(8, 4), i64(2)).n_kv_heads": "2",
            "RelativeBias(i64(2))(i64(3), i64(4))": "RelativeBias(2)(3, 4)",
            "score_bytes(small)": "2**42",
            'flops(small, "linear", chunk_size=np.int32(64))': 'flops(shape, "linear", chunk_size=64)',
        },
    )
