"""The checks of the chapter on the contrastive stage accept what is right and say what is wrong."""

import math

import torch
from torch.nn import functional as F


def two_way(cosines, temperature):
    labels = torch.arange(len(cosines))
    scores = cosines / temperature
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def test_two_way_loss_right(assert_accepts):
    assert_accepts("contrastive.two_way_loss", two_way)


def test_two_way_loss_one_way(assert_rejects):
    def one_way(cosines, temperature):
        return F.cross_entropy(cosines / temperature, torch.arange(len(cosines)))

    assert_rejects("contrastive.two_way_loss", one_way, "along rows and along columns")


def test_two_way_loss_multiplies_by_the_temperature(assert_rejects):
    assert_rejects("contrastive.two_way_loss", lambda c, t: two_way(c, 1 / t), "divide by the temperature")


def test_two_way_loss_sums(assert_rejects):
    assert_rejects("contrastive.two_way_loss", lambda c, t: two_way(c, t) * len(c), "the mean over the pairs")


def pool(outputs, ids, left_out):
    counts = ~torch.isin(ids, torch.tensor(left_out))
    total = (outputs * counts[..., None]).sum(dim=1)
    return total / counts.sum(dim=1, keepdim=True).clamp_min(1)


def test_pool_content_right(assert_accepts):
    assert_accepts("contrastive.pool_content", pool)


def test_pool_content_leaves_out_padding_only(assert_rejects):
    assert_rejects("contrastive.pool_content", lambda o, i, left_out: pool(o, i, [0]), "what is left out")


def test_pool_content_divides_by_all_positions(assert_rejects):
    def shrinks(outputs, ids, left_out):
        return (outputs * ~torch.isin(ids, torch.tensor(left_out))[..., None]).mean(dim=1)

    assert_rejects("contrastive.pool_content", shrinks, "nor in the number")


def test_pool_content_divides_by_zero(assert_rejects):
    def not_a_number(outputs, ids, left_out):
        counts = ~torch.isin(ids, torch.tensor(left_out))
        return (outputs * counts[..., None]).sum(dim=1) / counts.sum(dim=1, keepdim=True)

    assert_rejects("contrastive.pool_content", not_a_number, "NaN")


def clashes(pairs):
    n = range(len(pairs))
    return torch.tensor(
        [[i != j and any(x == y for x, y in zip(pairs[i], pairs[j], strict=True)) for j in n] for i in n]
    )


def test_wrong_negatives_right(assert_accepts):
    assert_accepts("contrastive.wrong_negatives", clashes)


def test_wrong_negatives_only_where_both_sides_agree(assert_rejects):
    def copies(pairs):
        return torch.tensor([[i != j and a == b for j, b in enumerate(pairs)] for i, a in enumerate(pairs)])

    assert_rejects("contrastive.wrong_negatives", copies, "their source or their target")


def test_wrong_negatives_forbids_the_positive(assert_rejects):
    assert_rejects(
        "contrastive.wrong_negatives", lambda pairs: clashes(pairs) | torch.eye(len(pairs)).bool(), "diagonal"
    )


def test_wrong_negatives_across_sides(assert_rejects):
    def mixes(pairs):
        sides = [{tuple(side) for side in pair} for pair in pairs]
        return torch.tensor(
            [[i != j and bool(a & b) for j, b in enumerate(sides)] for i, a in enumerate(sides)]
        )

    assert_rejects("contrastive.wrong_negatives", mixes, "side with side")


def test_wrong_negatives_of_numbers(assert_rejects):
    assert_rejects("contrastive.wrong_negatives", lambda pairs: clashes(pairs).long(), "torch.bool")


def solved(positive, negative, n_negatives, wanted):
    return (positive - negative) / math.log(n_negatives * wanted / (1 - wanted))


def test_temperature_for_right(assert_accepts):
    assert_accepts("contrastive.temperature_for", solved)


def test_temperature_for_one_negative(assert_rejects):
    assert_rejects("contrastive.temperature_for", lambda p, q, n, w: solved(p, q, 1, w), "its own term")


def test_temperature_for_the_inverse(assert_rejects):
    assert_rejects(
        "contrastive.temperature_for", lambda p, q, n, w: 1 / solved(p, q, n, w), "the partner's probability"
    )


def test_temperature_for_the_wrong_sign(assert_rejects):
    assert_rejects("contrastive.temperature_for", lambda p, q, n, w: -solved(p, q, n, w), "must be above 0")
