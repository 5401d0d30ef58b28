"""The checks of the chapter on decoding accept what is right and say what is wrong."""

import torch


def test_penalised_right(assert_accepts):
    assert_accepts("decoding.penalised", lambda s, n, alpha: s / ((5 + n) / 6) ** alpha)


def test_penalised_by_the_plain_length(assert_rejects):
    assert_rejects("decoding.penalised", lambda s, n, alpha: s / n**alpha, "((5 + length) / 6)")


def test_penalised_times_the_penalty(assert_rejects):
    assert_rejects("decoding.penalised", lambda s, n, alpha: s * ((5 + n) / 6) ** alpha, "divide by")


def nucleus(probs, p, strict=True):
    order = probs.argsort(descending=True, stable=True)
    held = probs[order].cumsum(0) - probs[order]
    kept = torch.zeros_like(probs, dtype=torch.bool)
    kept[order[held < p if strict else held + probs[order] <= p]] = True
    return kept


def test_nucleus_right(assert_accepts):
    # Where p is 1 a probability of 0 may stay or go; the case has none.
    assert_accepts("decoding.nucleus", nucleus)


def test_nucleus_without_the_token_that_crosses(assert_rejects):
    assert_rejects(
        "decoding.nucleus", lambda probs, p: nucleus(probs, p, strict=False), "the one that crosses"
    )


def test_nucleus_by_a_threshold(assert_rejects):
    assert_rejects("decoding.nucleus", lambda probs, p: probs >= 1 - p, "the fewest")


def test_nucleus_in_the_sorted_order(assert_rejects):
    def sorted_mask(probs, p):
        held = probs.sort(descending=True).values
        return held.cumsum(0) - held < p

    assert_rejects("decoding.nucleus", sorted_mask, "kept tokens")


def test_nucleus_that_writes_to_its_input(assert_rejects):
    def in_place(probs, p):
        kept = nucleus(probs, p)
        probs[~kept] = 0.0
        return kept

    assert_rejects("decoding.nucleus", in_place, "changed in place")


def beam_step(totals, log_probs, size, eos, *, first=None, rows_apart=False, forget=False):
    grown = [
        ((0.0 if forget else totals[row]) + log_probs[row, token].item(), row, token)
        for row in range(len(totals))
        for token in range(log_probs.shape[1])
    ]
    best = sorted(grown, reverse=True)[: 2 * size]
    ended = [(row, total) for total, row, token in best[: first or size] if token == eos]
    alive = [(row, token, total) for total, row, token in best if token != eos]
    if rows_apart:
        alive = [one for i, one in enumerate(alive) if one[0] not in [other[0] for other in alive[:i]]]
    return ended, alive[:size]


def test_beam_step_right(assert_accepts):
    assert_accepts("decoding.beam_step", beam_step)


def test_beam_step_ends_anywhere(assert_rejects):
    def wrong(*arguments):
        return beam_step(*arguments, first=4)

    assert_rejects("decoding.beam_step", wrong, "only among the best K")


def test_beam_step_one_child_a_row(assert_rejects):
    def wrong(*arguments):
        return beam_step(*arguments, rows_apart=True)

    assert_rejects("decoding.beam_step", wrong, "two may share a row")


def test_beam_step_forgets_the_past(assert_rejects):
    def wrong(*arguments):
        return beam_step(*arguments, forget=True)

    assert_rejects("decoding.beam_step", wrong, "for totals")


def can_stop(alive, finished, now, limit, alpha, lengths=None):
    lp = [((5 + n) / 6) ** alpha for n in (lengths or (now + 1, limit))]
    return min(finished) >= alive / max(lp)


def test_can_stop_right(assert_accepts):
    assert_accepts("decoding.can_stop", can_stop)


def test_can_stop_by_the_present_length(assert_rejects):
    def wrong(alive, finished, now, limit, alpha):
        return can_stop(alive, finished, now, limit, alpha, (now,))

    assert_rejects("decoding.can_stop", wrong, "lp(limit)")


def test_can_stop_by_the_limit_alone(assert_rejects):
    def wrong(alive, finished, now, limit, alpha):
        return can_stop(alive, finished, now, limit, alpha, (limit,))

    assert_rejects("decoding.can_stop", wrong, "lp(now + 1)")


def test_can_stop_by_the_best_finished(assert_rejects):
    def wrong(alive, finished, now, limit, alpha):
        return can_stop(alive, [max(finished)], now, limit, alpha)

    assert_rejects("decoding.can_stop", wrong, "the worst of the n best")
