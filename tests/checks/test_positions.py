"""The checks of the chapter on positions accept what is right and say what is wrong."""

import math

import torch

from coursepkg.blocks.position import sinusoidal_table


def test_position_table_right(assert_accepts):
    assert_accepts("positions.position_table", sinusoidal_table)


def test_position_table_with_the_base_1000(assert_rejects):
    assert_rejects("positions.position_table", lambda n, d: sinusoidal_table(n, d, 1000.0), "10000^(-2i")


def test_position_table_in_two_halves(assert_rejects):
    def halves(length, d_model):
        table = sinusoidal_table(length, d_model)
        return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)

    assert_rejects("positions.position_table", halves, "cosine of the same angle")


def test_position_table_with_an_exponent_for_each_column(assert_rejects):
    def each(length, d_model):
        angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(d_model) / d_model)
        angles[:, 0::2] = angles[:, 0::2].sin()
        angles[:, 1::2] = angles[:, 1::2].cos()
        return angles

    assert_rejects("positions.position_table", each, "cosine of the same angle")


def rotation(offset, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        c, s = math.cos(offset * 1e4 ** (-i / d_model)), math.sin(offset * 1e4 ** (-i / d_model))
        blocks.append(torch.tensor([[c, s], [-s, c]]))
    return torch.block_diag(*blocks)


def test_shift_matrix_right(assert_accepts):
    assert_accepts("positions.shift_matrix", rotation)


def test_shift_matrix_the_other_way_round(assert_rejects):
    assert_rejects("positions.shift_matrix", lambda k, d: rotation(k, d).T, "minus sign")


def test_shift_matrix_with_one_speed(assert_rejects):
    def one_speed(offset, d_model):
        return torch.block_diag(*[rotation(offset, 2)] * (d_model // 2))

    assert_rejects("positions.shift_matrix", one_speed, "d_model 16")


def test_read_positions_right(assert_accepts):
    assert_accepts("positions.read_positions", lambda x, table: torch.cdist(x, table).argmin(-1))


def test_read_positions_by_the_first_hand(assert_rejects):
    def first_hand(x, table):
        return torch.cdist(x[:, :2], table[:, :2]).argmin(-1)

    assert_rejects("positions.read_positions", first_hand, "in all dimensions")


def test_read_positions_returns_distances(assert_rejects):
    assert_rejects("positions.read_positions", lambda x, table: torch.cdist(x, table), "shape")


def shaw(q, k, a, *, transposed=False, wrapped=False, scaled=True):
    m = (len(a) - 1) // 2
    places = torch.arange(len(q))
    offsets = places[:, None] - places if transposed else places - places[:, None]
    rows = (offsets + m) % len(a) if wrapped else offsets.clamp(-m, m) + m
    relative = torch.einsum("id,ijd->ij", q, a[rows])
    root = math.sqrt(q.shape[-1])
    return (q @ k.T + relative) / root if scaled else q @ k.T / root + relative


def test_relative_key_scores_right(assert_accepts):
    assert_accepts("positions.relative_key_scores", shaw)


def test_relative_key_scores_query_minus_key(assert_rejects):
    assert_rejects(
        "positions.relative_key_scores", lambda q, k, a: shaw(q, k, a, transposed=True), "key minus query"
    )


def test_relative_key_scores_without_clipping(assert_rejects):
    assert_rejects("positions.relative_key_scores", lambda q, k, a: shaw(q, k, a, wrapped=True), "clipped")


def test_relative_key_scores_scales_one_term(assert_rejects):
    assert_rejects(
        "positions.relative_key_scores", lambda q, k, a: shaw(q, k, a, scaled=False), "both terms are divided"
    )
