"""Answers for tests: some that are drawn, and some that are written down."""

from typing import NamedTuple

import numpy as np

from coursepkg.projects.sign_language.scores import Answer

LABELS = ("ăn", "uống", "ngủ", "mẹ", "bố", "chào")
COUNTS = (60, 50, 30, 20, 19, 4)


class Told(NamedTuple):
    """A clip, as `evaluate` asks for it."""

    name: str
    label: str
    signer: str = ""
    group: str = ""


class Guessed(NamedTuple):
    """What a recogniser gives."""

    probabilities: np.ndarray


def answer(label: str, said: str | None, signer: str = "An", name: str = "", group: str = "") -> Answer:
    """One answer; its probabilities say only whether it is right."""
    right = said == label
    rank = 0 if said is None else 1 if right else 3
    return Answer(
        name or f"{label}.mp4", label, signer, group, said, float(said is not None), float(right), rank
    )


def drawn_answers(
    seed: int, n: int = 120, n_signers: int = 12, lacking: tuple[str, ...] = (), share: float = 0.6
) -> list[Answer]:
    """Answers of which about a share is right, to words of a long tail; each comes once at least."""
    rng = np.random.Generator(np.random.PCG64(seed))
    odds = np.array([0.0 if word in lacking else count for word, count in zip(LABELS, COUNTS, strict=True)])
    here = np.flatnonzero(odds)
    truths = np.concatenate([here, rng.choice(len(LABELS), n - len(here), p=odds / odds.sum())])
    guesses = np.where(rng.random(n) < share, truths, rng.integers(0, len(LABELS), n))
    return [
        answer(LABELS[right], LABELS[said], f"signer {rng.integers(n_signers)}", f"{i}.mp4")
        for i, (right, said) in enumerate(zip(truths.tolist(), guesses.tolist(), strict=True))
    ]
