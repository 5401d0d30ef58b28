"""T5's relative bias: buckets and bias equal to Hugging Face's T5, and usable in attention()."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from coursepkg.attention import attention
from coursepkg.attention.position_bias import RelativeBias, relative_buckets


@given(
    distances=st.lists(st.integers(-5000, 5000), max_size=200),
    n_buckets=st.integers(2, 40).map(lambda n: 2 * n),
    reach=st.integers(1, 1000),
    bidirectional=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_buckets_are_those_of_t5(distances, n_buckets, reach, bidirectional):
    max_distance = n_buckets // 2 + reach
    distance = torch.tensor(distances, dtype=torch.long)
    expected = T5Attention._relative_position_bucket(distance, bidirectional, n_buckets, max_distance)
    assert torch.equal(relative_buckets(distance, n_buckets, max_distance, bidirectional), expected)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_of_the_published_settings(bidirectional):
    distance = torch.arange(-300, 301)
    expected = T5Attention._relative_position_bucket(distance, bidirectional, 32, 128)
    buckets = relative_buckets(distance, 32, 128, bidirectional)
    assert torch.equal(buckets, expected)
    assert buckets.unique().tolist() == (
        [n for n in range(32) if n != 16] if bidirectional else list(range(32))
    )


@pytest.mark.parametrize("decoder", [True, False])
@pytest.mark.parametrize(("n_queries", "n_keys"), [(40, 40), (1, 25)])
def test_bias_is_the_one_of_t5(decoder, n_queries, n_keys):
    config = T5Config(
        d_model=16, d_kv=4, num_heads=4, relative_attention_num_buckets=16, relative_attention_max_distance=30,
        is_decoder=decoder,
    )  # fmt: skip
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    torch.nn.init.normal_(theirs.relative_attention_bias.weight)
    ours = RelativeBias(4, n_buckets=16, max_distance=30, bidirectional=not decoder)
    ours.table.load_state_dict(theirs.relative_attention_bias.state_dict())
    expected = theirs.compute_bias(n_queries, n_keys, past_seen_tokens=n_keys - n_queries)
    assert torch.equal(ours(n_queries, n_keys), expected)


def test_attention_trains_the_table():
    q, k, v = torch.randn(3, 2, 4, 12, 8, generator=torch.Generator().manual_seed(0))
    relative = RelativeBias(4, n_buckets=8, max_distance=10)
    without = attention(q, k, v, impl="reference")
    out = attention(q, k, v, impl="reference", bias=relative(12, 12))
    assert torch.equal(out, without), "a table of zeros is attention without positions"
    out.square().sum().backward()
    used = relative_buckets(torch.arange(-11, 12), 8, 10, True).unique()
    unused = sorted(set(range(8)) - set(used.tolist()))
    assert (relative.table.weight.grad[used] != 0).all()
    assert (relative.table.weight.grad[unused] == 0).all()


def test_bias_does_not_depend_on_the_length():
    relative = RelativeBias(2)
    torch.nn.init.normal_(relative.table.weight)
    assert torch.equal(relative(50, 50)[:, :, :20, :20], relative(20, 20))
    assert torch.equal(relative(3, 50), relative(50, 50)[:, :, 47:])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RelativeBias(0), "^n_heads: got 0, needs at least 1$"),
        (lambda: RelativeBias(2, n_buckets=2), "^n_buckets: got 2, needs an even number of at least 4$"),
        (
            lambda: RelativeBias(2, n_buckets=7, bidirectional=False),
            "^n_buckets: got 7, needs an even number",
        ),
        (
            lambda: RelativeBias(2, max_distance=8),
            r"^max_distance: got 8, needs more than 8 \(n_buckets / 4\)$",
        ),
        (lambda: RelativeBias(2)(-1, 4), "^n_queries: got -1, needs 0 or more$"),
        (
            lambda: relative_buckets(torch.arange(3), 2, 128, True),
            "^n_buckets: got 2, needs an even number of at least 4$",
        ),
    ],
)
def test_bad_input_is_one_line_that_says_what_is_needed(call, message):
    with pytest.raises(ValueError, match=message):
        call()
