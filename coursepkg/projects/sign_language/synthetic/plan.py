"""Which clips a data set has: how many of each word, by which signers, and which of them are broken or copies.

The long tail and the signers go together as follows. The words stand in order of frequency. The clips of a word go to
signer 0, 1, 2 and so on, and round again once all have signed; so the first `least_clips` signers sign every word, and
a word with at least as many clips as there are signers is signed by all. A split by signer that gives every part one of
the first signers therefore has every word in every part.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.projects.sign_language.synthetic.config import SignersConfig
from coursepkg.projects.sign_language.synthetic.faults import Fault
from coursepkg.projects.sign_language.synthetic.words import WORDS


@dataclass(frozen=True)
class PlannedClip:
    """One file that is to be written."""

    word: str
    signer: int
    number: int
    """Of the clip among those of its seed."""
    fault: Fault
    """What is wrong with it."""
    original: int
    """Number of the clip that this one repeats; its own where it repeats none."""

    @property
    def file(self) -> str:
        """Name of its file in the folder of its word."""
        return f"{self.number:05}.mp4"

    @property
    def is_second_hand(self) -> bool:
        """Whether it is a copy that was brightened and packed again; the other copies are exact."""
        return self.fault == "duplicate" and self.number % 2 == 1


def clip_counts(config: SignersConfig) -> dict[str, int]:
    """How many clips each word has.

    For word i of n with x = i / (n - 1):

        count = least + (most - least) (1 - x^2.6)^2.2

    With the default 24 words and 4 to 60 clips, 10 words (42%) have 50 and more, 7 (29%) 20 to 49 and 7 (29%) fewer;
    of the contest's 100 words these were 42, 27 and 31%.
    """
    words = list(WORDS)[: config.words]
    least, span = config.least_clips, config.most_clips - config.least_clips
    shares = [(1 - (i / (len(words) - 1)) ** 2.6) ** 2.2 for i in range(len(words))]
    return {word: least + round(span * share) for word, share in zip(words, shares, strict=True)}


def plan_clips(seed: int, config: SignersConfig | None = None) -> tuple[PlannedClip, ...]:
    """All clips of a data set, in the order of their numbers: a function of the two alone.

    The first `whole_clips` clips of a word have no fault. The others have each fault as often as its rate of all clips,
    rounded, as long as there are enough of them. A duplicate repeats an earlier clip of its word that has
    no fault, and has its signer.

    Args:
        seed: from 0; another seed has other signers, rooms and faults.
        config: words, signers and rates.
    """
    check_count("seed", seed, 0)
    config = config or SignersConfig()
    places = [(word, turn) for word, count in clip_counts(config).items() for turn in range(count)]
    rng = np.random.Generator(np.random.PCG64([6, seed]))
    # The numbers are dealt out at random, or they would tell the word.
    numbers = rng.permutation(len(places)).tolist()
    faults = _draw_faults([turn for _, turn in places], config, rng)
    planned: dict[str, list[PlannedClip]] = {}
    for (word, turn), number, fault in zip(places, numbers, faults, strict=True):
        whole = [clip for clip in planned.setdefault(word, []) if not clip.fault]
        signer, original = turn % config.signers, number
        if fault == "duplicate":
            repeated = whole[int(rng.integers(len(whole)))]
            signer, original = repeated.signer, repeated.number
        planned[word].append(PlannedClip(word, signer, number, fault, original))
    return tuple(sorted((clip for clips in planned.values() for clip in clips), key=lambda clip: clip.number))


def _draw_faults(turns: Sequence[int], config: SignersConfig, rng: np.random.Generator) -> list[Fault]:
    """The fault of every clip, given how many of its word come before it."""
    faults: list[Fault] = [""] * len(turns)
    free = [i for i, turn in enumerate(turns) if turn >= config.whole_clips]
    order = iter(rng.permutation(len(free)).tolist())
    kinds: tuple[tuple[Fault, float], ...] = (
        ("solid", config.solid),
        ("frozen", config.frozen),
        ("duplicate", config.duplicate),
    )
    for fault, rate in kinds:
        # Half a clip counts as one, whatever the parity.
        for _ in range(math.floor(rate * len(turns) + 0.5)):
            place = next(order, None)
            if place is not None:
                faults[free[place]] = fault
    return faults
