"""The checks of the chapter on additive and multiplicative attention accept what is right and say what is wrong."""

import torch


def scored(query, keys, W, U, v):
    return torch.tanh((query @ W.T)[:, None] + (keys @ U.T)[None]) @ v


def test_additive_scores_right(assert_accepts):
    assert_accepts("alignment_attention.additive_scores", scored)


def test_additive_scores_with_tanh_of_each_part(assert_rejects):
    def apart(query, keys, W, U, v):
        return (torch.tanh(query @ W.T)[:, None] + torch.tanh(keys @ U.T)[None]) @ v

    assert_rejects("alignment_attention.additive_scores", apart, "tanh of the sum")


def test_additive_scores_with_a_softmax(assert_rejects):
    assert_rejects("alignment_attention.additive_scores", lambda *x: scored(*x).softmax(-1), "no softmax")


def test_additive_scores_keys_first(assert_rejects):
    assert_rejects("alignment_attention.additive_scores", lambda *x: scored(*x).T, "(3, 5)")


def test_padded_weights_right(assert_accepts):
    def right(scores, is_real):
        return scores.masked_fill(~is_real[:, None], -1e30).softmax(-1) * is_real[:, None]

    assert_accepts("alignment_attention.padded_weights", right)


def test_padded_weights_masked_after_the_softmax(assert_rejects):
    assert_rejects(
        "alignment_attention.padded_weights",
        lambda scores, is_real: scores.softmax(-1) * is_real[:, None],
        "before the softmax",
    )


def test_padded_weights_with_scores_of_zero(assert_rejects):
    assert_rejects(
        "alignment_attention.padded_weights",
        lambda scores, is_real: (scores * is_real[:, None]).softmax(-1),
        "weights at padding",
    )


def test_padded_weights_nan_without_a_real_key(assert_rejects):
    assert_rejects(
        "alignment_attention.padded_weights",
        lambda scores, is_real: scores.masked_fill(~is_real[:, None], -torch.inf).softmax(-1),
        "NaN",
    )


def test_general_matrix_right(assert_accepts):
    assert_accepts("alignment_attention.general_matrix", lambda W_q, W_k: W_q @ W_k.T / W_q.shape[1] ** 0.5)


def test_general_matrix_without_the_root(assert_rejects):
    assert_rejects("alignment_attention.general_matrix", lambda W_q, W_k: W_q @ W_k.T, "root")


def test_general_matrix_transposed(assert_rejects):
    assert_rejects(
        "alignment_attention.general_matrix", lambda W_q, W_k: W_k @ W_q.T / 3**0.5, "W_q comes first"
    )


def counted(weights, pairs, *, swap=False, check=True):
    partners = {}
    for s, t in pairs:
        if check and t >= len(weights):
            raise ValueError("outside")
        s, t = (t, s) if swap else (s, t)
        partners.setdefault(t, set()).add(s)
    return sum(int(weights[t].argmax()) in p for t, p in partners.items() if t < len(weights)), len(partners)


def test_alignment_hits_right(assert_accepts):
    assert_accepts("alignment_attention.alignment_hits", counted)


def test_alignment_hits_with_all_words_counted(assert_rejects):
    assert_rejects(
        "alignment_attention.alignment_hits",
        lambda weights, pairs: (counted(weights, pairs)[0], len(weights)),
        "two of four",
    )


def test_alignment_hits_that_counts_pairs(assert_rejects):
    assert_rejects(
        "alignment_attention.alignment_hits",
        lambda weights, pairs: (counted(weights, pairs)[0], len(pairs)),
        "count words, not pairs",
    )


def test_alignment_hits_without_the_error(assert_rejects):
    assert_rejects(
        "alignment_attention.alignment_hits",
        lambda weights, pairs: counted(weights, pairs, check=False),
        "ValueError",
    )
