"""The checks of the chapter on training craft accept what is right and say what is wrong."""

import math

import torch


def test_noam_rate_right(assert_accepts):
    assert_accepts("training_craft.noam_rate", lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-1.5))


def test_noam_rate_as_printed_in_the_report(assert_rejects):
    assert_rejects(
        "training_craft.noam_rate", lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-0.5), r"warmup^-1.5"
    )


def test_noam_rate_without_the_width(assert_rejects):
    assert_rejects("training_craft.noam_rate", lambda s, d, w: min(s**-0.5, s * w**-1.5), r"d_model^-0.5")


def target(right, n_classes, smoothing, convention):
    others = smoothing / (n_classes if convention == "pytorch" else n_classes - 1)
    result = torch.full((n_classes,), others)
    result[right] = 1 - smoothing + (others if convention == "pytorch" else 0.0)
    return result


def test_smoothed_target_right(assert_accepts):
    assert_accepts("training_craft.smoothed_target", target)


def test_smoothed_target_with_one_convention(assert_rejects):
    assert_rejects(
        "training_craft.smoothed_target", lambda r, n, a, c: target(r, n, a, "pytorch"), "the wrong ones only"
    )


def test_smoothed_target_that_sums_to_less(assert_rejects):
    def forgets(right, n_classes, smoothing, convention):
        result = target(right, n_classes, smoothing, convention)
        result[right] = 1 - smoothing
        return result

    assert_rejects("training_craft.smoothed_target", forgets, "the sum is 1")


def clip(gradients, limit):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * min(1.0, limit / float(norm)) for g in gradients]


def test_clip_together_right(assert_accepts):
    assert_accepts("training_craft.clip_together", clip)


def test_clip_together_each_by_itself(assert_rejects):
    assert_rejects(
        "training_craft.clip_together",
        lambda gradients, limit: [g * min(1.0, limit / float(g.norm())) for g in gradients],
        "one norm over all gradients",
    )


def test_clip_together_always_scales(assert_rejects):
    def scaled(gradients, limit):
        norm = torch.cat([g.flatten() for g in gradients]).norm()
        return [g * (limit / norm) for g in gradients]

    assert_rejects("training_craft.clip_together", scaled, "none where the norm is small enough")


def test_clip_together_in_place(assert_rejects):
    def overwrites(gradients, limit):
        for gradient, value in zip(gradients, clip(gradients, limit), strict=True):
            gradient.copy_(value)
        return gradients

    assert_rejects("training_craft.clip_together", overwrites, "was changed in place")


def place(step, n_batches, accumulate):
    epoch, rest = divmod(step, math.ceil(n_batches / accumulate))
    return epoch, rest * accumulate


def test_position_after_right(assert_accepts):
    assert_accepts("training_craft.position_after", place)


def test_position_after_drops_the_last_group(assert_rejects):
    def drops(step, n_batches, accumulate):
        epoch, rest = divmod(step, n_batches // accumulate)
        return epoch, rest * accumulate

    assert_rejects("training_craft.position_after", drops, "a step too")


def test_position_after_counts_batches_through(assert_rejects):
    assert_rejects("training_craft.position_after", lambda s, n, a: divmod(s * a, n), "a step too")
