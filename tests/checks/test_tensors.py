"""The checks of the chapter on tensors accept what is right and say what is wrong."""

import torch


def test_normalise_rows_right(assert_accepts):
    assert_accepts("tensors.normalise_rows", lambda x: x / x.sum(-1, keepdim=True))


def test_normalise_rows_with_the_silent_broadcast(assert_rejects):
    assert_rejects("tensors.normalise_rows", lambda x: x / x.sum(-1), "divided by its own sum")


def test_normalise_columns(assert_rejects):
    assert_rejects("tensors.normalise_rows", lambda x: x / x.sum(-2, keepdim=True), "divided by its own sum")


def masked(x, lengths):
    return x * (torch.arange(x.shape[1]) < lengths[:, None])[:, :, None]


def test_masked_mean_right(assert_accepts):
    assert_accepts("tensors.masked_mean", lambda x, n: masked(x, n).sum(1) / n[:, None])


def test_masked_mean_over_padding(assert_rejects):
    assert_rejects("tensors.masked_mean", lambda x, n: x.mean(1), "padding must count neither")


def test_masked_mean_divided_by_the_box(assert_rejects):
    assert_rejects("tensors.masked_mean", lambda x, n: masked(x, n).mean(1), "padding must count neither")


def test_score_bytes_right(assert_accepts):
    assert_accepts("tensors.score_bytes", lambda b, h, t, d: b * h * t * t * torch.finfo(d).bits // 8)


def test_score_bytes_in_bits(assert_rejects):
    assert_rejects("tensors.score_bytes", lambda b, h, t, d: b * h * t * t * torch.finfo(d).bits, "bytes for")


def test_score_bytes_always_four(assert_rejects):
    assert_rejects("tensors.score_bytes", lambda b, h, t, d: 4 * b * h * t * t, "float16")


def test_log_sum_exp_right(assert_accepts):
    def stable(s):
        m = s.amax(-1, keepdim=True)
        return m.squeeze(-1) + (s - m).exp().sum(-1).log()

    assert_accepts("tensors.log_sum_exp", stable)


def test_log_sum_exp_that_overflows(assert_rejects):
    assert_rejects("tensors.log_sum_exp", lambda s: s.exp().sum(-1).log(), "1000")


def test_log_sum_exp_that_forgets_the_maximum(assert_rejects):
    assert_rejects(
        "tensors.log_sum_exp", lambda s: (s - s.amax(-1, keepdim=True)).exp().sum(-1).log(), "near 0"
    )
