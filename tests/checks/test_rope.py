"""The checks of the RoPE chapter accept what is right and say what is wrong."""

import math

import torch


def rotate(x, position):
    theta = 10000.0 ** (-torch.arange(0, len(x), 2) / len(x))
    cos, sin = (position * theta).cos(), (position * theta).sin()
    a, b = x[0::2], x[1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten()


def test_rotate_right(assert_accepts):
    assert_accepts("rope.rotate", rotate)


def test_rotate_backwards(assert_rejects):
    assert_rejects("rope.rotate", lambda x, position: rotate(x, -position), "theta_i")


def test_rotate_in_the_half_layout(assert_rejects):
    def half(x, position):
        order = torch.arange(len(x)).unflatten(0, (2, -1)).T.flatten()
        return rotate(x[order], position)[order.argsort()]

    assert_rejects("rope.rotate", half, "half layout")


def slow(head_dim, base, trained, turn=2 * math.pi):
    theta = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    return int((theta * trained < turn).sum())


def test_slow_pairs_right(assert_accepts):
    assert_accepts("rope.slow_pairs", slow)


def test_slow_pairs_with_half_a_turn(assert_rejects):
    assert_rejects("rope.slow_pairs", lambda *sizes: slow(*sizes, turn=math.pi), "a turn is 2 pi")


def test_fast_pairs_instead(assert_rejects):
    assert_rejects("rope.slow_pairs", lambda d, base, n: d // 2 - slow(d, base, n), "slow pairs for")


def test_chunk_positions_right(assert_accepts):
    def right(lengths):
        starts = [sum(lengths[:i]) for i in range(len(lengths))]
        return [torch.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)]

    assert_accepts("rope.chunk_positions", right)


def test_chunk_positions_without_offset(assert_rejects):
    assert_rejects(
        "rope.chunk_positions", lambda lengths: [torch.arange(n) for n in lengths], "where the one before"
    )


def test_chunk_positions_off_by_one(assert_rejects):
    def shifted(lengths):
        return [torch.arange(1 + sum(lengths[:i]), 1 + sum(lengths[: i + 1])) for i in range(len(lengths))]

    assert_rejects("rope.chunk_positions", shifted, "where the one before")


def alibi(n_heads, length, first=1, sign=-1.0):
    slopes = 2.0 ** (-8 * torch.arange(first, n_heads + first) / n_heads)
    distance = (torch.arange(length)[:, None] - torch.arange(length)).abs()
    return sign * slopes[:, None, None] * distance


def test_alibi_right(assert_accepts):
    assert_accepts("rope.alibi", alibi)


def test_alibi_that_rewards_distance(assert_rejects):
    assert_rejects("rope.alibi", lambda h, n: alibi(h, n, sign=1.0), "wrong sign")


def test_alibi_slopes_from_zero(assert_rejects):
    assert_rejects("rope.alibi", lambda h, n: alibi(h, n, first=0), "the first slope")
