"""MultiHeadAttention against torch and transformers, decoding through a cache, and mean-pooled key-value heads."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.pattern import causal, padding, sliding_window

B, T, S, E = 2, 6, 9, 24


class Spin:
    """A rotary embedding by complex numbers: pair i of a vector at position m turns by m / 100^(2i / D)."""

    def rotate(self, x: Tensor, offset: int = 0) -> Tensor:
        dim = x.shape[-1]
        positions = torch.arange(offset, offset + x.shape[-2], dtype=torch.float64)
        angles = positions[:, None] / 100 ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).to(x)


def make(n_heads: int = 6, **options) -> MultiHeadAttention:
    torch.manual_seed(0)
    return MultiHeadAttention(E, n_heads, **options).double()


def rows(length: int, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, length, E, dtype=torch.float64, generator=generator)


def torch_twin(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """torch's module with the weights of `ours` (multi-head, with bias)."""
    twin = nn.MultiheadAttention(E, ours.n_heads, batch_first=True).double()
    projections = (ours.q_proj, ours.k_proj, ours.v_proj)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        twin.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
        twin.out_proj.weight.copy_(ours.o_proj.weight)
        twin.out_proj.bias.copy_(ours.o_proj.bias)
    return twin


@pytest.mark.parametrize("impl", ["reference", "auto"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_equals_torch_in_output_weights_and_gradients(impl: str, masked: bool, cross: bool) -> None:
    ours = make(bias=True, impl=impl)
    twin = torch_twin(ours)
    x, y = rows(T).requires_grad_(), (rows(S, 2) if cross else None)
    twin_x = x.detach().clone().requires_grad_()
    twin_y = twin_x if y is None else y
    mask = None
    if masked:
        n_keys = S if cross else T
        mask = ~causal().mask(T, n_keys)[0, 0]
    pattern = causal() if masked else None

    output = ours(x, y, pattern=pattern)
    expected, expected_weights = twin(twin_x, twin_y, twin_y, attn_mask=mask, average_attn_weights=False)
    torch.testing.assert_close(output, expected)
    _, weights = ours(x, y, pattern=pattern, return_weights=True)
    torch.testing.assert_close(weights, expected_weights)

    output.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(x.grad, twin_x.grad)
    grads = [p.weight.grad for p in (ours.q_proj, ours.k_proj, ours.v_proj)]
    torch.testing.assert_close(torch.cat(grads), twin.in_proj_weight.grad)
    torch.testing.assert_close(ours.o_proj.bias.grad, twin.out_proj.bias.grad)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_equals_llama_attention(n_kv_heads: int) -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    from coursepkg.attention.rope import RotaryEmbedding

    config = LlamaConfig(
        hidden_size=E,
        num_attention_heads=4,
        num_key_value_heads=n_kv_heads,
        head_dim=8,
        attn_implementation="eager",
    )
    theirs = LlamaAttention(config, layer_idx=0).double().eval()
    ours = make(n_heads=4, n_kv_heads=n_kv_heads, head_dim=8, rope=RotaryEmbedding(8, layout="half"))
    ours.load_state_dict(theirs.state_dict())

    x = rows(T).requires_grad_()
    their_x = x.detach().clone().requires_grad_()
    # Their angles are float32 whatever the input, so ours are compared at the precision of those angles.
    angles = LlamaRotaryEmbedding(config)(x, torch.arange(T)[None])
    hidden = torch.full((T, T), -torch.inf, dtype=torch.float64).triu(1)[None, None]
    expected = theirs(their_x, position_embeddings=angles, attention_mask=hidden)[0]
    output = ours(x, pattern=causal())
    torch.testing.assert_close(output, expected, rtol=1e-6, atol=1e-6)
    output.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(x.grad, their_x.grad, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pattern", [causal(), causal() & sliding_window(3)], ids=str)
@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
def test_decoding_through_a_cache_equals_the_full_forward(n_kv_heads: int, pattern) -> None:
    layer, x = make(n_kv_heads=n_kv_heads, rope=Spin()), rows(T)
    full = layer(x, pattern=pattern)
    keys, values = [], []
    for t in range(T):
        token = x[:, t : t + 1]
        k, v = layer.project_kv(token, offset=t)
        keys.append(k)
        values.append(v)
        q = layer.project_q(token, offset=t)
        step = layer.attend(q, torch.cat(keys, dim=2), torch.cat(values, dim=2), pattern=pattern)
        torch.testing.assert_close(step, full[:, t : t + 1])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 500))
def test_only_relative_position_matters(offset: int) -> None:
    layer, x = make(rope=Spin()), rows(T)
    torch.testing.assert_close(layer(x, pattern=causal(), offset=offset), layer(x, pattern=causal()))


def test_a_padded_batch_equals_single_sequences() -> None:
    layer, x = make(n_kv_heads=2, rope=Spin()), rows(T)
    together = layer(x, pattern=padding([T, 4]))
    alone = layer(x[1:, :4])
    torch.testing.assert_close(together[1:, :4], alone)


def test_context_rows_are_rotated_from_position_zero() -> None:
    layer, x, y = make(rope=Spin()), rows(T), rows(S, 2)
    q, (k, v) = layer.project_q(x, 3), layer.project_kv(y)
    torch.testing.assert_close(layer(x, y, offset=3), layer.attend(q, k, v))


@pytest.mark.parametrize("bias", [False, True])
def test_from_mha_with_all_heads_is_the_same_module(bias: bool) -> None:
    layer = make(bias=bias, rope=Spin())
    same = MultiHeadAttention.from_mha(layer, n_kv_heads=6)
    torch.testing.assert_close(same(rows(T)), layer(rows(T)), rtol=0, atol=0)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3])
def test_from_mha_is_exact_when_grouped_heads_are_equal(n_kv_heads: int) -> None:
    layer = make(bias=True, rope=Spin())
    with torch.no_grad():
        for proj in (layer.k_proj, layer.v_proj):
            for parameter in proj.parameters():
                heads = parameter.unflatten(0, (n_kv_heads, -1, layer.head_dim))
                heads.copy_(heads[:, :1].clone().expand_as(heads))
    grouped = MultiHeadAttention.from_mha(layer, n_kv_heads)
    assert grouped.k_proj.out_features == n_kv_heads * layer.head_dim
    torch.testing.assert_close(grouped(rows(T), pattern=causal()), layer(rows(T), pattern=causal()))


def test_from_mha_takes_the_mean_of_each_group() -> None:
    layer = make(bias=True)
    grouped = MultiHeadAttention.from_mha(layer, n_kv_heads=2)
    for new, old in ((grouped.k_proj, layer.k_proj), (grouped.v_proj, layer.v_proj)):
        for group in range(2):
            members = range(3 * group, 3 * group + 3)
            for name in ("weight", "bias"):
                heads = [getattr(old, name)[4 * h : 4 * h + 4] for h in members]
                mean = (heads[0] + heads[1] + heads[2]) / 3
                torch.testing.assert_close(getattr(new, name)[4 * group : 4 * group + 4], mean)
    torch.testing.assert_close(grouped.q_proj.weight, layer.q_proj.weight, rtol=0, atol=0)


def test_from_mha_keeps_dtype_mode_and_leaves_the_original_alone() -> None:
    layer = make(dropout_p=0.5).eval()
    before = {name: weight.clone() for name, weight in layer.state_dict().items()}
    grouped = MultiHeadAttention.from_mha(layer, n_kv_heads=2)
    assert grouped.k_proj.weight.dtype == torch.float64
    assert not grouped.training
    with torch.no_grad():
        for parameter in grouped.parameters():
            parameter.zero_()
    for name, weight in layer.state_dict().items():
        torch.testing.assert_close(weight, before[name], rtol=0, atol=0)


def test_dropout_acts_in_training_only() -> None:
    layer, x = make(dropout_p=0.5, impl="reference"), rows(T)
    clean = make()(x)
    torch.testing.assert_close(layer.eval()(x), clean)
    layer.train()
    torch.manual_seed(0)
    first = layer(x)
    torch.manual_seed(0)
    again = layer(x)
    assert not torch.allclose(first, clean)
    torch.testing.assert_close(first, again, rtol=0, atol=0)


def test_score_bias_reaches_the_scores() -> None:
    layer, x = make(), rows(T)
    hide_last = torch.zeros(1, 1, 1, T, dtype=torch.float64)
    hide_last[..., -1] = -1e4
    torch.testing.assert_close(layer(x, score_bias=hide_last), layer(x, x[:, :-1]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_heads": 0}, "n_heads must be a positive integer, got 0"),
        ({"n_heads": 5}, r"d_model must be a multiple of n_heads \(5\)"),
        ({"n_heads": 6, "n_kv_heads": 4}, "n_heads must be a multiple of n_kv_heads, got 6 and 4"),
        ({"n_heads": 6, "head_dim": -2}, "head_dim must be a positive integer, got -2"),
        ({"n_heads": 6, "dropout_p": 1.0}, "dropout_p must be at least 0 and below 1, got 1.0"),
    ],
)
def test_bad_settings_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(E, **arguments)


def test_bad_input_is_named() -> None:
    layer = make()
    with pytest.raises(ValueError, match=r"x must be \(B, T, 24\), got shape \(6, 24\)"):
        layer(torch.zeros(T, E, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"context must be \(B, T, 24\), got shape \(2, 9, 23\)"):
        layer(rows(T), torch.zeros(B, S, E - 1, dtype=torch.float64))
    with pytest.raises(ValueError, match="n_kv_heads must divide the 6 of mha, got 4"):
        MultiHeadAttention.from_mha(layer, 4)


@pytest.mark.parametrize("scale", [1.0, 0.125])
def test_scale_replaces_one_over_root_d(scale: float) -> None:
    layer, x = make(scale=scale), rows(T)
    q, (k, v) = layer.project_q(x), layer.project_kv(x)
    weights = (q @ k.transpose(2, 3) * scale).softmax(-1)
    torch.testing.assert_close(layer(x), layer.o_proj((weights @ v).transpose(1, 2).flatten(2)))
    assert MultiHeadAttention.from_mha(layer, 2).scale == scale


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
def test_a_bad_scale_is_named(scale: float) -> None:
    with pytest.raises(ValueError, match=rf"^scale must be a positive number or None, got {scale!r}$"):
        make(scale=scale)
