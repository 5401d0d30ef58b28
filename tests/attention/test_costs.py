"""Every cost against something measured: modules, caches, counted operations, measured allocations, counted loads."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from coursepkg.attention import tiled
from coursepkg.attention.additive import AdditiveAttention
from coursepkg.attention.api import attention
from coursepkg.attention.costs import (
    VARIANTS,
    AttentionShape,
    additive_parameters,
    arithmetic_intensity,
    benchmark_flops,
    bytes_moved,
    decode_bytes,
    flops,
    kv_cache_bytes,
    kv_copies,
    linear_state_bytes,
    longest_length,
    parameters,
    projection_flops,
    rope_flops,
    score_bytes,
    sram_tile,
    visible_pairs,
    visited_pairs,
)
from coursepkg.attention.linear import linear_attention
from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.pattern import causal, full, sliding_window
from coursepkg.bench.measure import peak_bytes

from .cases import PATTERNS

SHAPE = AttentionShape(batch=2, n_queries=11, n_keys=11, n_heads=4, n_kv_heads=2, head_dim=6)


def qkv(shape: AttentionShape) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    keys = (shape.batch, shape.n_kv_heads, shape.n_keys, shape.head_dim)
    q = torch.randn(shape.batch, shape.n_heads, shape.n_queries, shape.head_dim)
    return q, torch.randn(keys), torch.randn(keys)


def in_place_flops(_sum, a, b, out_shape=None, **_options) -> int:
    return 2 * a[0] * a[1] * a[2] * b[2]


def counted(work) -> int:
    # The counter knows baddbmm but not its in-place form.
    with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.baddbmm_: in_place_flops}) as counter:
        work()
    return counter.get_total_flops()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("d_model", [24, 10])
def test_parameters_equal_those_of_the_module(bias: bool, n_kv_heads: int, d_model: int) -> None:
    module = MultiHeadAttention(d_model, 4, n_kv_heads=n_kv_heads, head_dim=6, bias=bias)
    shape = replace(SHAPE, n_kv_heads=n_kv_heads, d_model=d_model)
    assert parameters(shape, bias) == sum(p.numel() for p in module.parameters())
    assert parameters(replace(shape, n_layers=3), bias) == 3 * parameters(shape, bias)


def test_additive_parameters_equal_those_of_the_module() -> None:
    module = AdditiveAttention(5, 7, 9)
    assert additive_parameters(5, 7, 9) == sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize(("dtype", "n_bytes"), [(torch.float32, 4), (torch.bfloat16, 2)])
def test_cache_bytes_equal_an_allocated_cache(dtype: torch.dtype, n_bytes: int) -> None:
    layer = MultiHeadAttention(24, 4, n_kv_heads=2).to(dtype)
    cache = [layer.project_kv(torch.randn(2, 11, 24, dtype=dtype)) for _ in range(3)]
    held = sum(x.nbytes for pair in cache for x in pair)
    assert kv_cache_bytes(replace(SHAPE, n_layers=3, bytes_per_element=n_bytes)) == held


def test_a_known_cache_llama_2_70b() -> None:
    # 80 layers, 8 kv heads of 128 (model card of Llama 2 70B): 320 KiB a token in half precision.
    shape = AttentionShape(1, 1, 1, 64, 8, 128, n_layers=80, bytes_per_element=2)
    assert kv_cache_bytes(shape) == 320 * 1024
    assert kv_cache_bytes(replace(shape, n_kv_heads=64)) == 8 * 320 * 1024
    assert kv_cache_bytes(replace(shape, n_kv_heads=1)) * 64 == kv_cache_bytes(replace(shape, n_kv_heads=64))


def test_linear_state_bytes_equal_the_state() -> None:
    q, k, v = qkv(SHAPE)
    _, state = linear_attention(q, k, v, return_state=True)
    assert linear_state_bytes(SHAPE) == state.kv.nbytes + state.k_sum.nbytes
    assert linear_state_bytes(SHAPE.with_length(999)) == linear_state_bytes(SHAPE)


@pytest.mark.parametrize("n_kv_heads", [1, 4])
def test_score_bytes_equal_the_stored_weights_whatever_the_kv_heads(n_kv_heads: int) -> None:
    shape = replace(SHAPE, n_kv_heads=n_kv_heads)
    q, k, v = qkv(shape)
    _, weights = attention(q, k, v, return_weights=True)
    assert score_bytes(shape, "reference") == weights.nbytes


def test_measured_peak_of_reference_is_scores_and_weights() -> None:
    shape = AttentionShape(1, 256, 256, 4, 4, 16)
    q, k, v = qkv(shape)
    peak = peak_bytes(lambda: attention(q, k, v, impl="reference"))
    inputs = 2 * k.nbytes  # k and v are repeated for their heads, even once each
    # At the peak two arrays of the size of the scores are alive: the scores, and their scaled or softmaxed copy.
    assert (
        2 * score_bytes(shape, "reference") <= peak <= 2 * score_bytes(shape, "reference") + inputs + q.nbytes
    )


def test_measured_peak_of_tiled_is_one_tile_and_rows() -> None:
    shape = AttentionShape(1, 1024, 1024, 2, 2, 16)
    q, k, v = qkv(shape)
    options = {"scale": 0.25, "bias": None, "dropout_p": 0.0, "dropout_seed": 0, "tile_q": 64, "tile_k": 64}
    peak = peak_bytes(lambda: tiled.run(q, k, v, None, **options))
    tile = score_bytes(shape, "tiled", tile=64)
    rows = q.nbytes + q.nbytes // 16  # the output and the log-sum-exp of each row
    working_rows = 20 * 2 * 64 * 16 * 4  # no more than 20 buffers (heads, tile, head dim)
    assert tile + rows <= peak <= tile + rows + working_rows
    assert peak < score_bytes(shape, "reference") / 20


def test_measured_peak_of_additive_is_the_hidden_layer_of_every_pair() -> None:
    module, x = AdditiveAttention(16, 16, 32), torch.randn(2, 64, 16)
    shape = AttentionShape(2, 64, 64, 1, 1, 16)
    with torch.no_grad():
        peak = peak_bytes(lambda: module(x, x))
    hidden = score_bytes(shape, "additive", d_hidden=32)
    # The sum and its tanh are alive together; scores and projections are small beside them.
    assert 2 * hidden <= peak <= 2.1 * hidden


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_flops_of_reference_equal_the_counter(n_kv_heads: int) -> None:
    shape = AttentionShape(2, 7, 11, 4, n_kv_heads, 6)
    q, k, v = (x.requires_grad_() for x in qkv(shape))

    def forward() -> Tensor:
        return attention(q, k, v, impl="reference", pattern=causal()).sum()

    assert flops(shape, "reference") == counted(forward)
    assert flops(shape, "reference", passes="both") == counted(lambda: forward().backward())


@pytest.mark.parametrize("name", ["none", "causal", "causal window", "global"])
def test_flops_of_tiled_equal_the_counter(name: str) -> None:
    pattern, shape = PATTERNS[name], replace(SHAPE, n_queries=9)
    q, k, v = qkv(shape)
    options = {"scale": 1.0, "bias": None, "dropout_p": 0.0, "dropout_seed": 0, "tile_q": 4, "tile_k": 4}
    measured = counted(lambda: tiled.run(q, k, v, pattern, **options))
    assert flops(shape, "tiled", pattern=pattern, tile=4) == measured


def test_flops_of_the_tiled_backward_equal_the_counter() -> None:
    q, k, v = (x.requires_grad_() for x in qkv(SHAPE))
    options = {"scale": 1.0, "bias": None, "dropout_p": 0.0, "dropout_seed": 0, "tile_q": 4, "tile_k": 4}
    output = tiled.run(q, k, v, causal(), **options)
    measured = counted(lambda: output.sum().backward())
    assert flops(SHAPE, "tiled", pattern=causal(), tile=4, passes="backward") == measured


@pytest.mark.parametrize("length", [1, 7, 64, 130])
@pytest.mark.parametrize("n_kv_heads", [1, 4])
def test_flops_of_linear_equal_the_counter(length: int, n_kv_heads: int) -> None:
    shape = replace(SHAPE, n_kv_heads=n_kv_heads).with_length(length)
    measured = counted(lambda: linear_attention(*qkv(shape), chunk_size=16))
    assert flops(shape, "linear", chunk_size=16) == measured


def test_flops_of_topk_equal_a_written_out_version() -> None:
    q, k, v = qkv(replace(SHAPE, n_kv_heads=4))

    def gathered() -> Tensor:
        best = (q @ k.mT).topk(3)
        chosen = (
            v[:, :, None]
            .expand(*q.shape[:3], *v.shape[2:])
            .gather(3, best.indices[..., None].expand(*best.indices.shape, q.shape[-1]))
        )  # (B, H, T, n_keep, D)
        return best.values.softmax(-1)[..., None, :] @ chosen

    assert flops(SHAPE, "topk", n_keep=3) == counted(gathered)


def test_flops_of_additive_equal_the_counter() -> None:
    module, shape = AdditiveAttention(6, 6, 9), AttentionShape(2, 4, 11, 1, 1, 6)
    query, keys = torch.randn(2, 4, 6), torch.randn(2, 11, 6)
    assert flops(shape, "additive", d_hidden=9) == counted(lambda: module(query, keys))


def test_projection_flops_equal_the_counter() -> None:
    layer, x = MultiHeadAttention(24, 4, n_kv_heads=2, impl="reference"), torch.randn(2, 11, 24)
    assert projection_flops(SHAPE) + flops(SHAPE) == counted(lambda: layer(x))


def test_rope_costs_six_operations_a_pair() -> None:
    per_pair = 6
    pairs = SHAPE.batch * 11 * (SHAPE.n_heads + SHAPE.n_kv_heads) * SHAPE.head_dim // 2
    assert rope_flops(SHAPE) == per_pair * pairs


def test_benchmark_convention() -> None:
    shape = AttentionShape(1, 4096, 4096, 8, 8, 64)
    assert benchmark_flops(shape) == 4 * 8 * 4096**2 * 64 == flops(shape, "reference")
    assert benchmark_flops(shape, causal=True) * 2 == benchmark_flops(shape)
    assert benchmark_flops(shape, passes="both") == 3.5 * benchmark_flops(shape)
    # Half is what the convention says; the diagonal makes the exact count a little larger.
    exact = flops(shape, "ideal", pattern=causal())
    assert exact == 4 * 8 * 64 * 4096 * 4097 // 2


@pytest.mark.parametrize("name", PATTERNS)
def test_visible_pairs_equal_the_dense_mask(name: str) -> None:
    pattern = PATTERNS[name]
    mask = (pattern or full()).mask(11, 11, batch=2, heads=4)
    assert visible_pairs(SHAPE, pattern) == int(mask.expand(2, 4, 11, 11).sum())


@given(st.sampled_from(sorted(PATTERNS)), st.integers(1, 12))
def test_work_is_bounded_by_visible_and_all_pairs(name: str, tile: int) -> None:
    pattern = PATTERNS[name]
    visited = visited_pairs(SHAPE, pattern, tile, tile)
    assert visible_pairs(SHAPE, pattern) <= visited <= visible_pairs(SHAPE, None)


def test_visible_pairs_of_a_long_text_need_no_dense_mask() -> None:
    shape = AttentionShape(1, 4096, 4096, 1, 1, 64)
    pattern = causal() & sliding_window(100)
    assert visible_pairs(shape, pattern) == 100 * 101 // 2 + (4096 - 100) * 100
    dense = 4096 * 4096
    assert peak_bytes(lambda: visible_pairs(shape, pattern)) < dense


@pytest.mark.parametrize("name", ["none", "causal", "causal window", "bigbird"])
@pytest.mark.parametrize("rows", [2, 3, 20])
def test_traffic_of_tiled_equals_loads_counted_in_a_loop(name: str, rows: int) -> None:
    pattern = PATTERNS[name]
    may, _ = (pattern or full()).block_map(11, 11, rows, rows, batch=2, heads=4)
    may = may.expand(2, 4, *may.shape[2:])
    loaded = 0
    for start in range(0, 11, rows):
        loaded += (
            2 * 2 * 4 * (min(start + rows, 11) - start)
        )  # q in and output out, for 2 sequences of 4 heads
        for column in range(0, 11, rows):
            visits = int(may[:, :, start // rows, column // rows].sum())
            loaded += 2 * visits * (min(column + rows, 11) - column)  # k and v in
    sram = rows * 4 * SHAPE.head_dim * 4
    assert sram_tile(SHAPE, sram) == rows
    assert bytes_moved(SHAPE, "tiled", pattern=pattern, sram_bytes=sram) == loaded * SHAPE.head_dim * 4


def test_traffic_of_reference_counts_scores_four_times() -> None:
    tensors = sum(x.nbytes for x in qkv(SHAPE)) + qkv(SHAPE)[0].nbytes
    assert bytes_moved(SHAPE, "ideal") == tensors
    assert bytes_moved(SHAPE, "reference") == tensors + 4 * score_bytes(SHAPE)


def test_tiled_traffic_falls_with_fast_memory_down_to_the_bound() -> None:
    shape = AttentionShape(1, 4096, 4096, 1, 1, 64)
    sizes = [2**power for power in range(14, 23)]
    traffic = [bytes_moved(shape, "tiled", sram_bytes=size) for size in sizes]
    assert traffic == sorted(traffic, reverse=True)
    once = 2 * 4096 * 64 * 4  # q and the output
    assert traffic[0] - once == 2 * (traffic[1] - once)  # twice the fast memory, half the reading of k and v
    assert bytes_moved(shape, "tiled", sram_bytes=4 * 4096 * 64 * 4) == bytes_moved(shape, "ideal")


def test_tiled_is_limited_by_arithmetic_where_reference_is_limited_by_memory() -> None:
    shape = AttentionShape(1, 4096, 4096, 8, 8, 64, bytes_per_element=2)
    ridge = 312e12 / 2.0e12  # an A100's FLOP/s in bf16 for each byte/s of its memory
    assert arithmetic_intensity(shape, "reference") < ridge < arithmetic_intensity(shape, "tiled")


def test_every_variant_has_all_three_costs() -> None:
    shape = replace(SHAPE, n_heads=1, n_kv_heads=1)
    for variant in VARIANTS:
        assert flops(shape, variant) > 0
        assert bytes_moved(shape, variant) >= bytes_moved(shape, "ideal")
        assert score_bytes(shape, variant) >= 0
        assert flops(replace(shape, n_layers=2), variant) == 2 * flops(shape, variant)


def test_linear_grows_linearly_and_softmax_quadratically() -> None:
    short, long = SHAPE.with_length(1024), SHAPE.with_length(4096)
    assert flops(long, "linear") == 4 * flops(short, "linear")
    assert flops(long, "reference") == 16 * flops(short, "reference")


def test_decoding_reads_the_cache_once_and_expanding_costs_copies() -> None:
    shape = AttentionShape(1, 1, 1024, 16, 4, 64)
    rows = (2 * 16 + 2 * 4) * 64 * 4
    assert decode_bytes(shape) == kv_cache_bytes(shape) + rows
    # Read 4 heads, write 16, read 16: nine times the cache.
    assert decode_bytes(shape, expand=True) == 9 * kv_cache_bytes(shape) + rows
    with pytest.raises(ValueError, match="n_queries must be 1 in a decoding step, got 11"):
        decode_bytes(SHAPE)


def test_longest_length_is_the_last_that_fits() -> None:
    def cost(n: int) -> int:
        return score_bytes(SHAPE.with_length(n))

    for budget in (0, 31, 32, 33, 10**6, 16 * 2**30):
        longest = longest_length(budget, cost)
        assert longest == 0 or cost(longest) <= budget
        assert cost(longest + 1) > budget
    with pytest.raises(ValueError, match="cost does not grow with the length"):
        longest_length(100, lambda n: 1)
    with pytest.raises(ValueError, match="budget_bytes must not be negative, got -1"):
        longest_length(-1, cost)


@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8, 16]))
def test_kv_copies_equal_a_count_over_devices(n_kv_heads: int, n_devices: int) -> None:
    n_heads = 16
    holders = [set() for _ in range(n_kv_heads)]
    for head in range(n_heads):
        holders[head * n_kv_heads // n_heads].add(head * n_devices // n_heads)
    assert {len(devices) for devices in holders} == {kv_copies(n_kv_heads, n_devices)}


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: replace(SHAPE, batch=0), "batch must be a positive integer, got 0"),
        (lambda: replace(SHAPE, n_kv_heads=3), "n_heads must be a multiple of n_kv_heads, got 4 and 3"),
        (lambda: replace(SHAPE, d_model=-1), "d_model must be a positive integer, got -1"),
        (lambda: flops(SHAPE, "magic"), "variant must be one of reference, tiled, .* got 'magic'"),
        (lambda: flops(SHAPE, passes="sideways"), "passes must be one of forward, backward, both"),
        (lambda: flops(SHAPE, "tiled", tile=0), "tile must be at least 1, got 0"),
        (lambda: flops(SHAPE, "linear", n_features=0), "n_features must be at least 1, got 0"),
        (lambda: flops(SHAPE, "additive"), "variant 'additive' has one head: n_heads must be 1, got 4"),
        (lambda: flops(replace(SHAPE, n_keys=3), "linear"), "variant 'linear' is causal"),
        (
            lambda: bytes_moved(SHAPE, "tiled", sram_bytes=95),
            "sram_bytes must hold four rows of a head, 96 bytes",
        ),
        (lambda: kv_copies(3, 4), "must divide one another to split evenly, got 3 and 4"),
        (lambda: kv_copies(0, 4), "n_kv_heads must be a positive integer, got 0"),
    ],
)
def test_bad_input_is_named(work, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work()
