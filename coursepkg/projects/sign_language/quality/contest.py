"""What source 002 says about the contest's own clips, to stand beside the figures of other data.

The figures are those of the second tutorial in source 002 (sections III and VIII.1) and its slides. Its plots are
lost, so a figure that only they showed is given as the text words it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ContestFigures:
    """The training part of the sign-language task of the 2025 AI Olympiad."""

    n_clips: int = 3875
    """Labelled clips; 1,630 of the public and 2,859 of the private test have no labels."""
    n_words: int = 100
    resolution: str = "224 x 224, all clips"
    frames: str = "30 in nearly all clips, 16 to 29 in a few"
    seconds: str = "2 to 3, 2.5 on average; a few above 30"
    """The slides call 30 frames about one second. Both cannot be; 30 frames in 2.5 seconds are 12 a second."""
    head_words: float = 0.42
    """Share of the words with 50 clips and more."""
    body_words: float = 0.27
    """Share of the words with 20 to 49 clips."""
    tail_words: float = 0.31
    """Share of the words with fewer than 20 clips."""
    most_clips: str = "nearly 100"
    """Clips of the most frequent words."""
    least_clips: str = "4 to 8"
    """Clips of the rarest words."""
    clean_clips: str = "about 80%"
    broken_clips: str = "nearly 20%, most with a run in one colour"
    broken_share: str = "most between 30% and 40% or near 60%"
    """Share of broken frames in a clip that has any."""
    copies: str = "nearly a third of the clips in the worst words"


CONTEST = ContestFigures()
