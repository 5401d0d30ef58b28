"""The checks of the FlashAttention chapter accept what is right and say what is wrong."""

import torch


def merged(o1, L1, o2, L2):
    L = torch.logaddexp(L1, L2)
    return (L1 - L).exp() * o1 + (L2 - L).exp() * o2


def test_merge_right(assert_accepts):
    assert_accepts("flash_attention.merge", merged)


def test_merge_equal_weights(assert_rejects):
    assert_rejects("flash_attention.merge", lambda o1, L1, o2, L2: (o1 + o2) / 2, "weigh with exp(L)")


def test_merge_that_overflows(assert_rejects):
    def overflowing(o1, L1, o2, L2):
        return (L1.exp() * o1 + L2.exp() * o2) / (L1.exp() + L2.exp())

    assert_rejects("flash_attention.merge", overflowing, "infinite")


def test_score_gradient_right(assert_accepts):
    def right(s, L, do, o, v):
        return (s - L).exp() * (do @ v.T - (do * o).sum(-1, keepdim=True))

    assert_accepts("flash_attention.score_gradient", right)


def test_score_gradient_without_delta(assert_rejects):
    assert_rejects(
        "flash_attention.score_gradient", lambda s, L, do, o, v: (s - L).exp() * (do @ v.T), "dp - D"
    )


def test_score_gradient_with_a_softmax_of_the_tile(assert_rejects):
    def local(s, L, do, o, v):
        p, dp = s.softmax(-1), do @ v.T
        return p * (dp - (p * dp).sum(-1, keepdim=True))

    assert_rejects("flash_attention.score_gradient", local, "a part of the row")


def test_causal_tiles_right(assert_accepts):
    assert_accepts("flash_attention.causal_tiles", lambda n, tile: (r := -(-n // tile)) * (r + 1) // 2)


def test_causal_tiles_without_the_diagonal(assert_rejects):
    assert_rejects("flash_attention.causal_tiles", lambda n, tile: (r := -(-n // tile)) * (r - 1) // 2, "136")


def test_causal_tiles_without_the_last_row(assert_rejects):
    assert_rejects("flash_attention.causal_tiles", lambda n, tile: (r := n // tile) * (r + 1) // 2, "n = 9")
