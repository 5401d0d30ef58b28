"""Additive and multiplicative attention against the formula written as loops, with masks and gradients."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from coursepkg.attention.additive import AdditiveAttention, MultiplicativeAttention

B, T, S, D_QUERY, D_KEY, D_VALUE = 2, 3, 4, 5, 6, 7


def make(score: str, d_query: int = D_QUERY, d_key: int = D_KEY) -> nn.Module:
    torch.manual_seed(0)
    if score == "additive":
        return AdditiveAttention(d_query, d_key, 8).double()
    return MultiplicativeAttention(d_query, d_query if score == "dot" else d_key, score).double()


def inputs(score: str) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    d_key = D_QUERY if score == "dot" else D_KEY
    shapes = ((B, T, D_QUERY), (B, S, d_key), (B, S, D_VALUE))
    query, keys, values = (torch.randn(shape, dtype=torch.float64) for shape in shapes)
    return query, keys, values


def score_of_pair(module: nn.Module, query: Tensor, key: Tensor) -> float:
    """One score from one query and one key, element by element."""
    weights = {name: weight.detach() for name, weight in module.named_parameters()}
    if "score_proj.weight" in weights or "compare.score_proj.weight" in weights:
        prefix = "compare." if "compare.score_proj.weight" in weights else ""
        joined = torch.cat([query, key])
        matrix = torch.cat(
            [weights[prefix + "query_proj.weight"], weights[prefix + "key_proj.weight"]], dim=1
        )
        v = weights[prefix + "score_proj.weight"][0]
        return sum(float(v[a]) * math.tanh(float(matrix[a] @ joined)) for a in range(len(v)))
    if "key_proj.weight" in weights:
        matrix = weights["key_proj.weight"]
        return float(
            sum(query[a] * matrix[a, b] * key[b] for a in range(len(query)) for b in range(len(key)))
        )
    return float(sum(query[a] * key[a] for a in range(len(query))))


SCORES = ["additive", "dot", "general", "concat"]


@pytest.mark.parametrize("score", SCORES)
def test_equals_the_formula_in_loops(score: str) -> None:
    module, (query, keys, values) = make(score), inputs(score)
    real = torch.tensor([[True, True, True, True], [True, False, True, False]])
    context, weights = module(query, keys, values, real)
    for b in range(B):
        visible = [s for s in range(S) if real[b, s]]
        for t in range(T):
            powers = {s: math.exp(score_of_pair(module, query[b, t], keys[b, s])) for s in visible}
            total = sum(powers.values())
            expected = torch.zeros(D_VALUE, dtype=torch.float64)
            for s in visible:
                expected += powers[s] / total * values[b, s]
                assert weights[b, t, s].item() == pytest.approx(powers[s] / total, abs=1e-12)
            torch.testing.assert_close(context[b, t], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_masked_keys_have_no_influence(score: str) -> None:
    module, (query, keys, values) = make(score), inputs(score)
    real = torch.tensor([[True, True, False, False], [True, True, True, False]])
    context, weights = module(query, keys, values, real)
    keys[~real], values[~real] = 1e3, -1e3
    changed, _ = module(query, keys, values, real)
    torch.testing.assert_close(context, changed, rtol=0, atol=0)
    assert (weights[~real[:, None].expand(B, T, S)] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T, dtype=torch.float64))


@pytest.mark.parametrize("score", SCORES)
def test_sequence_without_a_key_gives_zeros_and_finite_gradients(score: str) -> None:
    module, (query, keys, values) = make(score), inputs(score)
    query.requires_grad_()
    keys.requires_grad_()
    real = torch.tensor([[False] * S, [True] * S])
    context, weights = module(query, keys, values, real)
    assert (context[0] == 0).all()
    assert (weights[0] == 0).all()
    assert (weights[1] > 0).all()
    context.sum().backward()
    assert torch.isfinite(query.grad).all()
    assert (query.grad[0] == 0).all()
    assert all(torch.isfinite(p.grad).all() for p in module.parameters())


@pytest.mark.parametrize("score", SCORES)
def test_gradcheck(score: str) -> None:
    module = make(score)
    tensors = [tensor.requires_grad_() for tensor in inputs(score)]
    real = torch.tensor([[True, True, True, False], [True, False, True, True]])
    parameters = tuple(module.parameters())

    def run(query: Tensor, keys: Tensor, values: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
        return module(query, keys, values, real)

    assert torch.autograd.gradcheck(run, (*tensors, *parameters))


def test_values_default_to_the_keys() -> None:
    module, (query, keys, _) = make("additive"), inputs("additive")
    torch.testing.assert_close(module(query, keys)[0], module(query, keys, keys)[0], rtol=0, atol=0)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(S)), st.sampled_from(SCORES))
def test_order_of_the_keys_only_permutes_the_weights(order: list[int], score: str) -> None:
    module, (query, keys, values) = make(score), inputs(score)
    context, weights = module(query, keys, values)
    shuffled, shuffled_weights = module(query, keys[:, order], values[:, order])
    torch.testing.assert_close(context, shuffled)
    torch.testing.assert_close(weights[:, :, order], shuffled_weights)


def test_dot_with_identity_equals_general() -> None:
    query, keys, values = inputs("dot")
    general = MultiplicativeAttention(D_QUERY, D_QUERY, "general").double()
    nn.init.eye_(general.key_proj.weight)
    dot = MultiplicativeAttention(D_QUERY, D_QUERY, "dot")
    torch.testing.assert_close(general(query, keys, values), dot(query, keys, values))


def test_dot_equals_torch_attention_without_scale() -> None:
    query, keys, values = inputs("dot")
    context, _ = make("dot")(query, keys, values)
    expected = torch.nn.functional.scaled_dot_product_attention(query, keys, values, scale=1.0)
    torch.testing.assert_close(context, expected)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: AdditiveAttention(0, 4, 4), "d_query must be a positive integer, got 0"),
        (lambda: AdditiveAttention(4, 4, -2), "d_hidden must be a positive integer, got -2"),
        (lambda: MultiplicativeAttention(4, 4, "cosine"), "score must be one of dot, general, concat"),
        (lambda: MultiplicativeAttention(4, 5, "dot"), "needs d_query equal to d_key, got 4 and 5"),
        (lambda: MultiplicativeAttention(4, 4, "dot", d_hidden=3), "d_hidden belongs to score 'concat'"),
    ],
)
def test_bad_settings_are_named(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": torch.zeros(B, D_QUERY)}, r"query must be \(B, T, Eq\)"),
        ({"keys": torch.zeros(B, S, 1)}, r"keys must be \(B, S, Ek\) with width 6"),
        ({"query": torch.zeros(1, T, D_QUERY)}, "one batch size, got 1 and 2"),
        ({"values": torch.zeros(B, S + 1, D_VALUE)}, r"values must be \(B, S, Ev\)"),
        ({"key_padding_mask": torch.ones(B, S)}, r"key_padding_mask must be bool \(2, 4\)"),
        ({"key_padding_mask": torch.ones(B, T, dtype=torch.bool)}, r"key_padding_mask must be bool \(2, 4\)"),
    ],
)
def test_bad_input_is_named(change: dict[str, Tensor], message: str) -> None:
    arguments = {"query": torch.zeros(B, T, D_QUERY), "keys": torch.zeros(B, S, D_KEY)} | change
    with pytest.raises(ValueError, match=message):
        AdditiveAttention(D_QUERY, D_KEY, 8)(**arguments)
