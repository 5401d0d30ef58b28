"""Name a sign by the enrolled examples that it is nearest to, or say that it is none.

    distance    of the sign to each example, by warping, by embedding, or by both; the
                mirror image of the sign is tried too, for left-handed signers
    word        its nearest example, the mean of its nearest ones, or its prototype: the
                mean vector of its examples
    answer      softmax over the words of -distance, with one answer more that stands at
                a fixed distance: "none of these"

The weight of each distance, and the distance of the last answer, are fitted on made-up
signs: episodes of some words with some examples each, and queries that are words of the
episode, other words, or hands at rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from coursepkg.projects.sign_language.few_shot.dtw import dtw_distances
from coursepkg.projects.sign_language.few_shot.features import (
    SignSteps,
    sign_steps,
)
from coursepkg.projects.sign_language.landmarks.extract import Landmarks

Method = Literal["auto", "dtw", "dtw-mean", "embedding", "dtw+embedding"]
N_NEAREST = 3
"""Examples of a word whose mean distance counts, where there are so many."""


@dataclass(frozen=True, eq=False)
class Example:
    """One enrolled clip."""

    word: str
    signer: str
    """Empty where it is not known."""
    name: str
    """Of its file."""
    landmarks: Landmarks
