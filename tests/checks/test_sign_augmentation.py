"""The checks of the chapter on the augmentation of clips accept what is right and say what is wrong."""

import numpy as np


def played(n_frames, speed, count, *, least=4):
    new = max(least, int(n_frames / speed))
    first = [i * (n_frames - 1) // (new - 1) for i in range(new)]
    first += [first[-1]] * max(0, count - new)
    return [first[i * (len(first) - 1) // (count - 1)] for i in range(count)]


def test_played_frames_right(assert_accepts):
    assert_accepts("sign_augmentation.played_frames", played)


def test_played_frames_with_fractions(assert_accepts):
    def by_linspace(n_frames, speed, count):
        new = max(4, int(n_frames / speed))
        first = np.linspace(0, n_frames - 1, new).astype(int)
        first = np.concatenate([first, np.full(max(0, count - new), first[-1])])
        return first[np.linspace(0, len(first) - 1, count).astype(int)]

    assert_accepts("sign_augmentation.played_frames", by_linspace)


def test_played_frames_without_the_second_step(assert_rejects):
    def once(n_frames, speed, count):
        return played(n_frames, 1.0, count)

    assert_rejects("sign_augmentation.played_frames", once, "at speed 0.9")


def test_played_frames_the_wrong_way_round(assert_rejects):
    assert_rejects(
        "sign_augmentation.played_frames",
        lambda n_frames, speed, count: played(n_frames, 1 / speed, count),
        "int(n / speed)",
    )


def test_played_frames_rounded(assert_rejects):
    def rounded(n_frames, speed, count):
        new = max(4, int(n_frames / speed))
        first = [round(i * (n_frames - 1) / (new - 1)) for i in range(new)]
        first += [first[-1]] * max(0, count - new)
        return [first[round(i * (len(first) - 1) / (count - 1))] for i in range(count)]

    assert_rejects("sign_augmentation.played_frames", rounded, "at speed 1.0")


def test_played_frames_with_fewer_than_four(assert_rejects):
    assert_rejects(
        "sign_augmentation.played_frames",
        lambda n, speed, count: played(n, speed, count, least=2),
        "at least 4",
    )


def places(speeds, count):
    old = np.concatenate([[0], np.cumsum(speeds)]) / np.sum(speeds)
    return np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(old)), old)


def test_warped_places_right(assert_accepts):
    assert_accepts("sign_augmentation.warped_places", places)


def test_warped_places_not_brought_back(assert_rejects):
    assert_rejects(
        "sign_augmentation.warped_places",
        lambda speeds, count: places(speeds, count) * np.sum(speeds) / len(speeds),
        "by 1 in all",
    )


def test_warped_places_the_other_way_round(assert_rejects):
    def inverse(speeds, count):
        old = np.concatenate([[0], np.cumsum(speeds)]) / np.sum(speeds)
        return np.interp(np.linspace(0, 1, count), old, np.linspace(0, 1, len(old)))

    assert_rejects("sign_augmentation.warped_places", inverse, "as xp")


def test_warped_places_speeds_taken_for_lengths(assert_rejects):
    assert_rejects(
        "sign_augmentation.warped_places", lambda speeds, count: np.linspace(0, 1, count), "the 5 places"
    )


def crop(frames, side, rng, *, end=1):
    top = rng.integers(frames.shape[1] - side + end)
    left = rng.integers(frames.shape[2] - side + end)
    return frames[:, top : top + side, left : left + side]


def test_one_crop_right(assert_accepts):
    assert_accepts("sign_augmentation.one_crop", crop)


def test_one_crop_for_each_frame(assert_rejects):
    def each(frames, side, rng):
        return np.concatenate([crop(frames[i : i + 1], side, rng) for i in range(len(frames))])

    assert_rejects("sign_augmentation.one_crop", each, "the camera shakes")


def test_one_crop_that_misses_the_last_place(assert_rejects):
    assert_rejects(
        "sign_augmentation.one_crop",
        lambda frames, side, rng: crop(frames, side, rng, end=0),
        "upper end",
    )


def test_one_crop_in_the_middle(assert_rejects):
    def middle(frames, side, rng):
        top, left = ((length - side) // 2 for length in frames.shape[1:3])
        return frames[:, top : top + side, left : left + side]

    assert_rejects("sign_augmentation.one_crop", middle, "in 200 draws")


def test_one_crop_by_other_chance(assert_rejects):
    hidden = np.random.Generator(np.random.PCG64(7))
    assert_rejects(
        "sign_augmentation.one_crop",
        lambda frames, side, rng: crop(frames, side, hidden),
        "take all chance from rng",
    )


def test_one_crop_of_another_shape(assert_rejects):
    assert_rejects("sign_augmentation.one_crop", lambda frames, side, rng: frames, "the shape of the crop")


def share(first, second, start, stop):
    inside = (np.arange(len(first)) >= start) & (np.arange(len(first)) < stop)
    own = first & (~inside | ~second)
    real = first | second
    return float(own.sum() / real.sum())


def test_share_left_right(assert_accepts):
    assert_accepts("sign_augmentation.share_left", share)


def test_share_left_by_all_frames(assert_rejects):
    assert_rejects(
        "sign_augmentation.share_left",
        lambda first, second, start, stop: 1 - (stop - start) / len(first),
        "count real frames only",
    )


def test_share_left_by_the_first_clip_alone(assert_rejects):
    def alone(first, second, start, stop):
        kept = first.copy()
        kept[start:stop] = False
        return float(kept.sum() / first.sum())

    assert_rejects("sign_augmentation.share_left", alone, "just one clip has a frame")


def test_share_left_of_the_other(assert_rejects):
    assert_rejects(
        "sign_augmentation.share_left",
        lambda first, second, start, stop: 1 - share(first, second, start, stop),
        "is expected",
    )
