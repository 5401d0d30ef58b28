"""`attention` against an independent oracle, over every cell of the capability table, and its error messages."""

import re

import pytest
import torch

from coursepkg.attention import block_sparse
from coursepkg.attention.api import CAPABILITIES, Request, attention, capability_table, unsupported_reason
from coursepkg.attention.dropout import full_keep_mask
from coursepkg.attention.pattern import (
    causal,
    dilated_window,
    global_tokens,
    padding,
    per_head,
    sliding_window,
)
from tests.attention.cases import BAND_PATTERNS, PATTERNS, gradients, make_qkv, oracle
from tests.refusals import assert_refused

ON_CPU = [name for name in CAPABILITIES if name != "triton"]


def largest_error(values, exact):
    return max((x.double() - y.double()).abs().max().item() for x, y in zip(values, exact, strict=True))


@pytest.mark.parametrize("impl", ON_CPU)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_every_cell_agrees_in_result_and_gradients(impl, pattern, dtype):
    """Error against float64 at most twice that of `reference` in the same precision; both see the same inputs."""
    q, k, v = make_qkv(dtype=dtype)
    exact_inputs = [x.detach().double().requires_grad_() for x in (q, k, v)]
    exact = oracle(*exact_inputs, PATTERNS[pattern])
    exact_grads = gradients(exact, exact_inputs)
    output = attention(q, k, v, pattern=PATTERNS[pattern], impl=impl)
    assert output.dtype == dtype
    plain = attention(q, k, v, pattern=PATTERNS[pattern], impl="reference")
    rounding = torch.finfo(dtype).eps
    assert largest_error([output], [exact]) <= 2 * largest_error([plain], [exact]) + rounding
    grads, plain_grads = gradients(output, (q, k, v)), gradients(plain, (q, k, v))
    assert largest_error(grads, exact_grads) <= 2 * largest_error(plain_grads, exact_grads) + 4 * rounding


@pytest.mark.parametrize("impl", ON_CPU)
@pytest.mark.parametrize("sizes", [(1, 11), (4, 11), (11, 4), (11, 11)], ids=str)
@pytest.mark.parametrize("pattern", ["none", "causal", "causal window", "dilated"])
def test_lengths_may_differ(impl, sizes, pattern):
    q, k, v = make_qkv(n_queries=sizes[0], n_keys=sizes[1])
    output = attention(q, k, v, pattern=PATTERNS[pattern], impl=impl)
    exact = oracle(q, k, v, PATTERNS[pattern])
    torch.testing.assert_close(output, exact, rtol=0, atol=1e-12)
    torch.testing.assert_close(gradients(output, (q, k, v)), gradients(exact, (q, k, v)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("impl", ON_CPU)
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize(
    "bias_shape", [(2, 4, 11, 11), (1, 4, 11, 11), (2, 1, 1, 11), (4, 1, 11), (11, 1), (11,)], ids=str
)
def test_bias_and_its_gradient(impl, n_kv_heads, bias_shape):
    q, k, v = make_qkv(n_kv_heads=n_kv_heads)
    bias = torch.randn(
        bias_shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3), requires_grad=True
    )
    for pattern in (None, causal(), padding([0, 11])):
        output, exact = (
            attention(q, k, v, pattern=pattern, impl=impl, bias=bias),
            oracle(q, k, v, pattern, bias=bias),
        )
        torch.testing.assert_close(output, exact, rtol=0, atol=1e-12)
        inputs = (q, k, v, bias)
        torch.testing.assert_close(gradients(output, inputs), gradients(exact, inputs), rtol=0, atol=1e-11)


@pytest.mark.parametrize("impl", [name for name in ON_CPU if CAPABILITIES[name].dropout])
@pytest.mark.parametrize("pattern", ["none", "causal window", "global", "per head"])
def test_dropout_drops_the_same_entries_everywhere(impl, pattern):
    q, k, v = make_qkv()
    torch.manual_seed(5)
    output = attention(q, k, v, pattern=PATTERNS[pattern], impl=impl, dropout_p=0.3)
    torch.manual_seed(5)
    seed = int(torch.randint(0, 2**62, ()).item())
    keep = full_keep_mask(0.3, seed, (2, 4, 11, 11), torch.device("cpu"))
    assert 0.6 < keep.double().mean() < 0.8
    exact = oracle(q, k, v, PATTERNS[pattern], keep=keep, dropout_p=0.3)
    torch.testing.assert_close(output, exact, rtol=0, atol=1e-12)
    torch.testing.assert_close(gradients(output, (q, k, v)), gradients(exact, (q, k, v)), rtol=0, atol=1e-11)


@pytest.mark.parametrize("impl", ON_CPU)
def test_scale(impl):
    q, k, v = make_qkv()
    output = attention(q, k, v, impl=impl, scale=1.7, pattern=causal())
    torch.testing.assert_close(output, oracle(q, k, v, causal(), scale=1.7), rtol=0, atol=1e-12)


def test_weights_are_probabilities_over_visible_pairs():
    q, k, v = make_qkv()
    output, weights = attention(q, k, v, pattern=PATTERNS["padded causal"], return_weights=True)
    visible = PATTERNS["padded causal"].mask(11, 11, batch=2, heads=4).broadcast_to(2, 4, 11, 11)
    assert (weights[~visible] == 0).all()
    torch.testing.assert_close(weights.sum(-1), visible.any(-1).double(), rtol=0, atol=1e-12)
    torch.testing.assert_close(weights @ v.repeat_interleave(2, 1), output, rtol=0, atol=1e-12)


@pytest.mark.parametrize("impl", [*ON_CPU, "auto"])
def test_rows_that_see_nothing_are_zero_with_zero_gradient(impl):
    q, k, v = make_qkv()
    output = attention(q, k, v, pattern=padding([0, 11]), impl=impl)
    assert (output[0] == 0).all()
    for grad in gradients(output, (q, k, v)):
        assert (grad[0] == 0).all()
        assert torch.isfinite(grad).all()


@pytest.mark.parametrize("impl", [*ON_CPU, "auto"])
def test_the_future_never_changes_the_past(impl):
    q, k, v = (x.detach() for x in make_qkv(n_kv_heads=4))
    before = attention(q, k, v, pattern=causal(), impl=impl)
    k[:, :, 6:], v[:, :, 6:] = 9.0, -9.0
    after = attention(q, k, v, pattern=causal(), impl=impl)
    assert torch.equal(before[:, :, :6], after[:, :, :6])
    assert not torch.equal(before[:, :, 6:], after[:, :, 6:])


@pytest.mark.parametrize("impl", ON_CPU)
def test_grouped_heads_equal_repeated_heads(impl):
    q, k, v = make_qkv(n_kv_heads=2)
    repeated = attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), impl=impl, pattern=causal())
    torch.testing.assert_close(attention(q, k, v, impl=impl, pattern=causal()), repeated, rtol=0, atol=1e-12)


@pytest.mark.parametrize("impl", ON_CPU)
def test_inputs_need_not_be_contiguous(impl):
    q, k, v = (x.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_() for x in make_qkv())
    output = attention(q, k, v, impl=impl, pattern=causal())
    torch.testing.assert_close(output, oracle(q, k, v, causal()), rtol=0, atol=1e-12)
    output.transpose(1, 2).sum().backward()
    assert torch.isfinite(k.grad).all()


@pytest.mark.parametrize("length", [16, 2048])
def test_auto_equals_reference(length):
    q, k, v = make_qkv(batch=1, n_queries=length, n_keys=length, dtype=torch.float32)
    for pattern in (None, causal(), causal() & sliding_window(7), sliding_window(8) | global_tokens(1)):
        auto = attention(q, k, v, pattern=pattern)
        torch.testing.assert_close(auto, oracle(q, k, v, pattern).float(), rtol=1e-5, atol=1e-5)


def test_the_table_says_which_patterns_are_bands():
    for name, pattern in PATTERNS.items():
        lacking = unsupported_reason("triton", Request(pattern=pattern))
        assert (lacking is None) == (name in BAND_PATTERNS), name


def test_the_table_is_printed_whole():
    rows = capability_table()
    assert [row["impl"] for row in rows] == list(CAPABILITIES)
    assert {row["bias"] for row in rows} == {"yes", "no"}
    assert next(row for row in rows if row["impl"] == "triton")["patterns"] == "full, causal, sliding window"


def call(**changed):
    q, k, v = (x.detach() for x in make_qkv(dtype=changed.pop("dtype", torch.float32)))
    arguments = {"q": q, "k": k, "v": v, **changed}
    return attention(arguments.pop("q"), arguments.pop("k"), arguments.pop("v"), **arguments)


Z = torch.zeros


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"q": Z(4, 11, 8)}, "q must have 4 dimensions (batch, heads, length, head dim), got (4, 11, 8)"),
        (
            {"k": Z(2, 3, 11, 8), "v": Z(2, 3, 11, 8)},
            "multiple of the key-value heads, got 4 in q and 3 in k",
        ),
        (
            {"k": Z(2, 2, 11, 8, dtype=torch.float64)},
            "k must be floating point in the dtype of q (torch.float32), got torch.float64",
        ),
        ({"q": Z(2, 4, 11, 8, dtype=torch.long)}, "q must be floating point"),
        ({"k": Z(2, 2, 11, 6)}, "k must share batch 2 and head dim 8 with q, got (2, 2, 11, 6)"),
        ({"v": Z(3, 2, 11, 8)}, "v must share batch 2"),
        ({"v": Z(2, 2, 9, 8)}, "v must have the shape of k (2, 2, 11, 8), got (2, 2, 9, 8)"),
        ({"v": Z(2, 2, 11, 8, device="meta")}, "v must be on the device of q (cpu), got meta"),
        ({"k": Z(2, 2, 0, 8), "v": Z(2, 2, 0, 8)}, "must not be empty"),
        ({"impl": "flash"}, "impl must be one of reference, tiled, sdpa, sparse, triton, auto, got 'flash'"),
        ({"pattern": global_tokens(12)}, "global_tokens(12) is too large: there are only 11 keys"),
        ({"pattern": per_head([causal()])}, "per_head has 1 patterns, but there are 4 heads"),
        ({"dropout_p": 1.0}, "dropout_p must be at least 0 and below 1, got 1.0"),
        (
            {"bias": Z(3, 11, 11)},
            "bias must broadcast to (batch, heads, T, S) = (2, 4, 11, 11), got (3, 11, 11)",
        ),
        ({"bias": torch.full((11, 11), -torch.inf)}, "bias must be finite"),
        ({"bias": torch.full((11, 11), torch.finfo(torch.float32).min)}, "hide pairs with a pattern"),
        ({"scale": float("nan")}, "scale must be a finite number or None, got nan"),
        ({"bias": Z(11, 11, dtype=torch.long)}, "bias must be floating point"),
        ({"impl": "sdpa", "dropout_p": 0.1}, "impl='sdpa' does not support dropout_p; use impl='reference'"),
        (
            {"impl": "tiled", "return_weights": True},
            "impl='tiled' does not support return_weights; use impl='reference'",
        ),
        ({"impl": "triton", "bias": Z(11, 11)}, "impl='triton' does not support bias; use impl='reference'"),
        (
            {"impl": "triton", "pattern": dilated_window(2, 2)},
            "does not support pattern dilated_window(2, 2)",
        ),
        ({"impl": "triton", "dtype": torch.float64}, "does not support dtype torch.float64"),
    ],
)
def test_mistakes_are_named_in_one_line(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        call(**changed)
    assert "\n" not in str(error.value)


def test_wrong_types_are_named_too():
    preparation = "import torch\nfrom coursepkg.attention import attention\nq = torch.zeros(1, 1, 2, 2)"
    assert_refused(
        preparation,
        {
            "attention([1.0], q, q)": "q must be a tensor, got list",
            "attention(q, q, q, pattern='causal')": (
                "pattern must be a Pattern such as causal() or sliding_window(4), got str"
            ),
            "attention(q, q, q, bias=[1, 2])": "bias must be a tensor, got list",
            "attention(q, q, q, dropout_p='a')": "dropout_p must be at least 0 and below 1, got 'a'",
            "attention(q, q, q, scale='x')": "scale must be a finite number or None, got 'x'",
            "attention(q, q, q, impl=['sdpa'])": (
                "impl must be one of reference, tiled, sdpa, sparse, triton, auto, got ['sdpa']"
            ),
            "attention(*[q.to(torch.float8_e4m3fn)] * 3)": (
                "q has dtype torch.float8_e4m3fn, which no implementation supports; use float32 or bfloat16"
            ),
        },
    )


@pytest.mark.parametrize("impl", [*ON_CPU, "auto"])
def test_autocast_gives_every_implementation_the_same_precision(impl):
    q, k, v = make_qkv(dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = attention(q, k, v, impl=impl, pattern=causal())
    assert output.dtype == torch.bfloat16
    plain = attention(*(x.to(torch.bfloat16) for x in (q, k, v)), impl=impl, pattern=causal())
    assert torch.equal(output, plain)
    assert gradients(output, (q, k, v))[0].dtype == torch.float32


@pytest.mark.parametrize("impl", ON_CPU)
def test_scores_that_fit_half_precision_only_when_scaled_first(impl):
    q = torch.full((1, 1, 3, 64), 50.0, dtype=torch.float16)
    output = attention(q, q, q, impl=impl)
    torch.testing.assert_close(output, q)


@pytest.mark.parametrize("impl", ["tiled", "sparse"])
def test_second_derivatives_are_refused_not_wrong(impl):
    q, k, v = make_qkv()
    (first,) = torch.autograd.grad(attention(q, k, v, impl=impl).square().sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


@pytest.mark.parametrize("n_queries", [1, 63])
def test_auto_makes_no_block_plan_for_few_queries(n_queries, monkeypatch):
    monkeypatch.setattr(
        block_sparse, "visited_fraction", lambda *sizes, **more: pytest.fail("planned blocks")
    )
    q, k, v = make_qkv(batch=1, n_queries=n_queries, n_keys=1100, dtype=torch.float32)
    attention(q, k, v, pattern=causal() & sliding_window(7))
