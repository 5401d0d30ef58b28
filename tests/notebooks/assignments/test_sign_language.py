"""The tasks of the assignment on sign language accept what is right and say what is wrong."""

import pytest
import torch

from coursepkg.checks.assignments import sign_language
from tests.notebooks.assignments.sources import solution_tests


def normalise(points, seen):
    mask = seen[..., None]
    n = seen.sum((1, 2)).clamp(min=1)[:, None, None, None]
    given = torch.where(mask, points, 0.0)
    moved = torch.where(mask, given - given.sum((1, 2), keepdim=True) / n, 0.0)
    squares = moved.square().sum((1, 2, 3), keepdim=True) / n
    scale = torch.where(squares == 0, 1.0, squares).sqrt()
    return torch.where(squares == 0, 0.0, moved / scale)


def normalise_clip_by_clip(points, seen):
    result = torch.zeros_like(points)
    for number, (clip, mask) in enumerate(zip(points, seen, strict=True)):
        given = clip[mask]
        if len(given) == 0 or bool((given == given[0]).all()):
            continue
        moved = given - given.mean(0, keepdim=True)
        scale = moved.norm() / len(given) ** 0.5
        result = result.index_put((torch.tensor(number), *mask.nonzero().unbind(1)), moved / scale)
    return result


def multiplied(points, seen):
    mask = seen[..., None].to(points.dtype)
    given = points * mask
    n = mask.sum((1, 2, 3), keepdim=True).clamp(min=1)
    moved = (given - given.sum((1, 2), keepdim=True) / n) * mask
    return moved / (moved.square().sum((1, 2, 3), keepdim=True) / n).sqrt().clamp(min=1e-9)


def normalised_by(count=None, axes=(1, 2), sums=(1, 2, 3), root=torch.sqrt, detach=False, fill=True):
    """The right way with one part replaced."""

    def normalise(points, seen):
        mask = seen[..., None]
        n = mask.sum(axes, keepdim=True).clamp(min=1) if count is None else count(points)
        given = torch.where(mask, points, 0.0)
        moved = given - given.sum(axes, keepdim=True) / n
        inside = torch.where(mask, moved, 0.0)
        squares = inside.square().sum(sums, keepdim=True) / n
        scale = root(torch.where(squares == 0, 1.0, squares))
        result = torch.where(squares == 0, 0.0, moved / (scale.detach() if detach else scale))
        return torch.where(mask, result, 0.0) if fill else result

    return normalise


def late_choice(points, seen):
    """0 where it has to be, but through the root of 0, whose gradient is infinite."""
    mask = seen[..., None]
    n = seen.sum((1, 2)).clamp(min=1)[:, None, None, None]
    given = torch.where(mask, points, 0.0)
    moved = torch.where(mask, given - given.sum((1, 2), keepdim=True) / n, 0.0)
    scale = (moved.square().sum((1, 2, 3), keepdim=True) / n).sqrt()
    return torch.where(scale == 0, 0.0, moved / scale)


def filled_with_zeros(points, seen):
    return normalise(torch.where(seen[..., None], points, 0.0), torch.ones_like(seen))


def in_float64(points, seen):
    return normalise(points.double(), seen)


def answers_by_others(distances, words, signers, recordings):
    answers = []
    for i, row in enumerate(distances):
        others = [
            j
            for j in range(len(row))
            if signers[i] and signers[j] and signers[i] != signers[j] and recordings[i] != recordings[j]
        ]
        nearest = min(others, key=lambda j: row[j], default=None)
        answers.append(None if nearest is None else words[nearest])
    return answers


def answers_by_loop(distances, words, signers, recordings):
    answers = [None] * len(words)
    for i in range(len(words)):
        least = float("inf")
        for j, (distance, signer) in enumerate(zip(distances[i], signers, strict=True)):
            if "" in (signer, signers[i]) or signer == signers[i] or recordings[i] == recordings[j]:
                continue
            if distance < least:
                least, answers[i] = distance, words[j]
    return answers


def answered_with(may, pick=min):
    """Answers by the nearest clip of those that `may` allows."""

    def answer(distances, words, signers, recordings):
        answers = []
        for i, row in enumerate(distances):
            others = [j for j in range(len(row)) if may(i, j, words, signers, recordings)]
            nearest = pick(others, key=lambda j: row[j], default=None)
            answers.append(None if nearest is None else words[nearest])
        return answers

    return answer


def is_known(i, j, signers):
    return bool(signers[i] and signers[j] and signers[i] != signers[j])


def last_of_equal(distances, words, signers, recordings):
    turned = [row[::-1] for row in distances[::-1]]
    found = answers_by_others(turned, words[::-1], signers[::-1], recordings[::-1])
    return found[::-1]


def as_numbers(distances, words, signers, recordings):
    return answers_by_others(distances, list(range(len(words))), signers, recordings)


def only_known(distances, words, signers, recordings):
    found = answers_by_others(distances, words, signers, recordings)
    return [one for one in found if one is not None]


def pool_windows(scores, vectors, size, hop):
    starts = range(0, max(len(scores) - size, 0) + 1, hop)
    return torch.stack([scores[i : i + size].softmax(0) @ vectors[i : i + size] for i in starts])


def pool_by_matrix(scores, vectors, size, hop):
    starts = torch.arange(0, max(len(scores) - size, 0) + 1, hop)[:, None]
    frames = torch.arange(len(scores))
    is_inside = (frames >= starts) & (frames < starts + size)
    weights = scores.expand(is_inside.shape).masked_fill(~is_inside, -torch.inf)
    return weights.softmax(1) @ vectors


def pool_copies(scores, vectors, size, hop):
    used = min(size, len(scores))
    weights = scores.unfold(0, used, hop).softmax(1)
    return (weights[:, None] * vectors.unfold(0, used, hop)).sum(2)


def pool_with_einsum(scores, vectors, size, hop):
    used = min(size, len(scores))
    weights = scores.unfold(0, used, hop).softmax(1)
    return torch.einsum("nw,ndw->nd", weights, vectors.unfold(0, used, hop))


def weights_of_the_stream(scores, vectors, size, hop):
    weights, used = scores.softmax(0), min(size, len(scores))
    starts = range(0, len(scores) - used + 1, hop)
    parts = [weights[i : i + used] for i in starts]
    return torch.stack([w / w.sum() @ vectors[i : i + used] for i, w in zip(starts, parts, strict=True)])


def running_sums(scores, vectors, size, hop):
    used = min(size, len(scores))
    powers = scores.exp()
    below = torch.cat([powers.new_zeros(1), powers.cumsum(0)])
    above = torch.cat([vectors.new_zeros(1, vectors.shape[1]), (powers[:, None] * vectors).cumsum(0)])
    starts = torch.arange(0, len(scores) - used + 1, hop)
    return (above[starts + used] - above[starts]) / (below[starts + used] - below[starts])[:, None]


def one_window_less(scores, vectors, size, hop):
    return pool_windows(scores, vectors, size, hop)[:-1]


def len_of(scores, size, hop):
    return max(len(scores) - size, 0) // hop + 1


def padded_window(scores, vectors, size, hop):
    starts = range(0, len(scores), hop)
    return torch.stack([scores[i : i + size].softmax(0) @ vectors[i : i + size] for i in starts])


def plain_mean(scores, vectors, size, hop):
    return pool_windows(0 * scores, vectors, size, hop)


def detached_weights(scores, vectors, size, hop):
    return pool_windows(scores.detach(), vectors, size, hop)


def hop_of_one(scores, vectors, size, hop):
    return pool_windows(scores, vectors, size, 1)[: len_of(scores, size, hop)]


def windows_in_float64(scores, vectors, size, hop):
    return pool_windows(scores.double(), vectors.double(), size, hop)


def without_own_sum(scores, vectors, size, hop):
    starts = range(0, max(len(scores) - size, 0) + 1, hop)
    parts = [(scores[i : i + size], vectors[i : i + size]) for i in starts]
    return torch.stack([(s - s.max()).exp() @ v for s, v in parts])


PART = sign_language.part_of("an-id")
F1 = 2 * PART["n_most"] / (PART["n_most"] + PART["n_clips"])
MACRO = 100 * F1 / PART["n_words"]

RIGHT = {
    "normalise": normalise,
    "normalise clip by clip": normalise_clip_by_clip,
    "answers_by_others": answers_by_others,
    "answers_by_others by loop": answers_by_loop,
    "pool_windows": pool_windows,
    "pool_windows by matrix": pool_by_matrix,
    "constant_macro_f1": lambda: f"{MACRO} %",
    "constant_macro_f1 rounded": lambda: f"{MACRO:.2f}%",
}
WRONG = {
    "normalise multiplied": (multiplied, "a landmark that was not seen has NaN"),
    "normalise late choice": (late_choice, "is NaN or infinite, though the output is finite"),
    "normalise zeros": (filled_with_zeros, "a landmark that was not seen"),
    "normalise not filled": (normalised_by(fill=False), "it is 0, whatever the tracker left there"),
    "normalise all counted": (
        normalised_by(count=lambda points: points.shape[1] * points.shape[2]),
        "the mean landmark of a clip is",
    ),
    "normalise frame by frame": (normalised_by(axes=(2,), sums=(2, 3)), "the same for all its frames"),
    "normalise centre by frame": (
        lambda p, s: normalise(normalised_by(axes=(2,), root=torch.ones_like)(p, s), s),
        "the same for all its frames",
    ),
    "normalise each axis": (normalised_by(sums=(1, 2)), "the root of the mean squared distance"),
    "normalise unrooted": (normalised_by(root=lambda x: x), "the root of the mean squared distance"),
    "normalise detached": (normalised_by(detach=True), "the gradient of points"),
    "normalise batch": (
        lambda p, s: normalise(p.flatten(0, 1)[None], s.flatten(0, 1)[None]).reshape(p.shape),
        "a landmark of a clip without any extent",
    ),
    "normalise float64": (in_float64, "torch.float32 is expected, as it came"),
    "normalise shape": (lambda p, s: normalise(p, s).flatten(2), "is expected"),
    "answers_by_others all": (
        answered_with(lambda i, j, words, signers, recordings: True),
        "a clip is no example of itself",
    ),
    "answers_by_others itself": (
        answered_with(lambda i, j, words, signers, recordings: i != j),
        "a clip by the same signer is no example",
    ),
    "answers_by_others signer": (
        answered_with(
            lambda i, j, words, signers, recordings: (
                bool(signers[i] and signers[j]) and i != j and recordings[i] != recordings[j]
            )
        ),
        "a clip by the same signer is no example",
    ),
    "answers_by_others copies": (
        answered_with(lambda i, j, words, signers, recordings: is_known(i, j, signers)),
        "a clip of the same recording is no example",
    ),
    "answers_by_others unknown": (
        answered_with(
            lambda i, j, words, signers, recordings: (
                i != j and (signers[i] != signers[j] or not signers[i]) and recordings[i] != recordings[j]
            )
        ),
        "they may be the same person",
    ),
    "answers_by_others unknown examples": (
        answered_with(
            lambda i, j, words, signers, recordings: (
                bool(signers[i]) and signers[i] != signers[j] and recordings[i] != recordings[j]
            )
        ),
        "is expected: the nearest of",
    ),
    "answers_by_others other words": (
        answered_with(
            lambda i, j, words, signers, recordings: (
                is_known(i, j, signers) and recordings[i] != recordings[j] and words[i] != words[j]
            )
        ),
        "is expected: the nearest of",
    ),
    "answers_by_others farthest": (
        answered_with(
            lambda i, j, words, signers, recordings: (
                is_known(i, j, signers) and recordings[i] != recordings[j]
            ),
            pick=max,
        ),
        "is expected: the nearest of",
    ),
    "answers_by_others last": (last_of_equal, "the first of those that are equally near"),
    "answers_by_others numbers": (as_numbers, "; the word 'w"),
    "answers_by_others left out": (only_known, "the set has"),
    "pool_windows copies": (pool_copies, "every window with a copy of its frames"),
    "pool_windows einsum": (pool_with_einsum, "every window with a copy of its frames"),
    "pool_windows stream": (weights_of_the_stream, "less their maximum"),
    "pool_windows running sums": (running_sums, "less their maximum"),
    "pool_windows one less": (one_window_less, "is expected"),
    "pool_windows padded": (padded_window, "is expected"),
    "pool_windows mean": (plain_mean, "the pooled windows"),
    "pool_windows detached": (detached_weights, "no gradient reaches scores"),
    "pool_windows hop": (hop_of_one, "the pooled windows"),
    "pool_windows float64": (windows_in_float64, "torch.float32 is expected, as it came"),
    "pool_windows unscaled": (without_own_sum, "of one window add up to 1"),
    "constant_macro_f1 accuracy": (
        lambda: f"{100 * PART['n_most'] / PART['n_clips']} %",
        "this is the accuracy",
    ),
    "constant_macro_f1 one word": (lambda: f"{100 * F1} %", "this is the F1 of one word"),
    "constant_macro_f1 precision": (
        lambda: f"{100 * PART['n_most'] / PART['n_clips'] / PART['n_words']} %",
        "harmonic mean",
    ),
    "constant_macro_f1 recall": (lambda: f"{100 / PART['n_words']} %", "its precision is not"),
    "constant_macro_f1 other words": (
        lambda: f"{100 * F1 / (PART['n_words'] - 1)} %",
        "is one of the words, too",
    ),
    "constant_macro_f1 share": (lambda: f"{MACRO / 100} %", "take the mean of F1 over the words"),
    "constant_macro_f1 bare": (lambda: f"{MACRO}", "has no unit"),
    "constant_macro_f1 number": (lambda: MACRO, "a text such as"),
}

test_right, test_wrong = solution_tests("sign_language", sign_language, RIGHT, WRONG)


@pytest.mark.parametrize("student", [normalise, normalise_clip_by_clip])
def test_rounding_in_float32_is_no_mistake(student):
    task = sign_language.normalise
    for seed in (3, 60, 64, 87):  # landmarks near 100 that lie a few tenths apart
        case = task.make(3, 9, 2, seed, "float32")
        task.judge(case, task.call(student, case))
