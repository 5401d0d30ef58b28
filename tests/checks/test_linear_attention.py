"""The checks of the chapter on linear attention accept what is right and say what is wrong."""

import torch


def test_linear_output_right(assert_accepts):
    def right(phi_q, phi_k, v):
        return phi_q @ (phi_k.T @ v) / (phi_q @ phi_k.sum(0))[:, None]

    assert_accepts("linear_attention.linear_output", right)


def test_linear_output_without_normaliser(assert_rejects):
    assert_rejects(
        "linear_attention.linear_output", lambda phi_q, phi_k, v: phi_q @ (phi_k.T @ v), "divide each row"
    )


def test_linear_output_with_the_matrix(assert_rejects):
    def quadratic(phi_q, phi_k, v):
        kernel = phi_q @ phi_k.T
        return kernel @ v / kernel.sum(1, keepdim=True)

    assert_rejects("linear_attention.linear_output", quadratic, "1500 x 1500")


def step(S, z, phi_q, phi_k, v):
    S, z = S + torch.outer(phi_k, v), z + phi_k
    return phi_q @ S / (phi_q @ z), S, z


def test_rnn_step_right(assert_accepts):
    assert_accepts("linear_attention.rnn_step", step)


def test_rnn_step_in_place(assert_rejects):
    def in_place(S, z, phi_q, phi_k, v):
        S += torch.outer(phi_k, v)
        z += phi_k
        return phi_q @ S / (phi_q @ z), S, z

    assert_rejects("linear_attention.rnn_step", in_place, "changed in place")


def test_rnn_step_without_normaliser(assert_rejects):
    def raw(S, z, phi_q, phi_k, v):
        _, S, z = step(S, z, phi_q, phi_k, v)
        return phi_q @ S, S, z

    assert_rejects("linear_attention.rnn_step", raw, "divide by")


def test_rnn_step_that_does_not_see_itself(assert_rejects):
    def late(S, z, phi_q, phi_k, v):
        return phi_q @ S / (phi_q @ z + 1e-9), S + torch.outer(phi_k, v), z + phi_k

    assert_rejects("linear_attention.rnn_step", late, "first, then read")


def test_break_even_right(assert_accepts):
    assert_accepts("linear_attention.break_even", lambda d, n_features: n_features * (d + 1) // (2 * d) + 1)


def test_break_even_without_the_normaliser(assert_rejects):
    assert_rejects("linear_attention.break_even", lambda d, n_features: n_features // 2 + 1, "d = 64")


def test_break_even_not_strict(assert_rejects):
    assert_rejects("linear_attention.break_even", lambda d, n: -(-n * (d + 1) // (2 * d)), "131 is expected")


def test_delta_update_right(assert_accepts):
    assert_accepts("linear_attention.delta_update", lambda S, k, v: S + torch.outer(k, v - k @ S))


def test_delta_update_that_adds(assert_rejects):
    assert_rejects(
        "linear_attention.delta_update", lambda S, k, v: S + torch.outer(k, v), "difference between v"
    )


def test_delta_update_that_forgets_the_rest(assert_rejects):
    assert_rejects("linear_attention.delta_update", lambda S, k, v: torch.outer(k, v), "orthogonal to k")
