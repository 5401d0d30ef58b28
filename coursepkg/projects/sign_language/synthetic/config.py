"""What is generated: how many signers and words, how large and long the clips are, and how often something is wrong."""

from dataclasses import dataclass

from coursepkg.arguments import check_count, check_field, check_finite
from coursepkg.projects.sign_language.synthetic.words import WORDS

SHARES = ("full_length", "left_handed", "solid", "frozen", "duplicate")


@dataclass(frozen=True)
class SignersConfig:
    """Sizes and rates of a generated data set; the defaults resemble the contest's training part.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    words: int = len(WORDS)
    """How many of the words are signed, the more frequent first; from 2 to all 24."""
    signers: int = 16
    """How many people sign; from 1."""
    most_clips: int = 60
    """Clips of the most frequent word; at least `least_clips`."""
    least_clips: int = 4
    """Clips of the rarest word; from 1. As many signers sign every word."""
    whole_clips: int = 4
    """So many clips of every word have no fault, at least; from 0, and from 1 where clips are repeated."""
    size: int = 224
    """Height and width of the pictures in pixels; a multiple of 32, from 32 to 512."""
    least_frames: int = 16
    """Frames of the shortest clip; from 12."""
    most_frames: int = 30
    """Frames of the longest clip; at least `least_frames`."""
    full_length: float = 0.7
    """Share of clips with `most_frames`, in [0, 1]; the others are evenly spread over all lengths."""
    fps: int = 12
    """Frames a second, from 1 to 60; 30 frames at 12 are the 2.5 seconds of the contest's clips."""
    left_handed: float = 0.125
    """Share of signers who sign with the left hand, in [0, 1], evenly spread over their numbers."""
    solid: float = 0.14
    """Share of clips with a run of frames in one colour, in [0, 1]; the contest's data have nearly 0.2 with faults."""
    frozen: float = 0.04
    """Share of clips in which one frame stands still for a quarter to a half of the clip, in [0, 1]."""
    duplicate: float = 0.06
    """Share of clips that repeat another one of their word, in [0, 1]; the three faults together are at most 1."""

    def __post_init__(self) -> None:
        for name, least, most in (
            ("words", 2, len(WORDS)),
            ("signers", 1, None),
            ("least_clips", 1, None),
            ("most_clips", 1, None),
            ("size", 32, 512),
            ("whole_clips", 0, None),
            ("least_frames", 12, None),
            ("most_frames", 12, None),
            ("fps", 1, 60),
        ):
            check_count(f"--{name.replace('_', '-')}", getattr(self, name), least, most)
        # At other sizes the encoder was seen to make different files of the same frames.
        check_field(self, "size", self.size % 32 == 0, "a multiple of 32")
        for name in ("clips", "frames"):
            lower, upper = getattr(self, f"least_{name}"), getattr(self, f"most_{name}")
            check_field(self, f"most_{name}", lower <= upper, f"at least the least number, {lower}")
        for name in SHARES:
            check_finite(f"--{name.replace('_', '-')}", getattr(self, name))
            check_field(self, name, 0 <= getattr(self, name) <= 1, "in [0, 1]")
        needed = int(self.duplicate > 0)
        check_field(self, "whole_clips", self.whole_clips >= needed, "at least 1 where clips are repeated")
        together = self.solid + self.frozen + self.duplicate
        check_field(
            self, "solid", together <= 1, f"at most 1 together with frozen and duplicate ({together:g})"
        )

    def is_left_handed(self, signer: int) -> bool:
        """Whether a signer uses the left hand: with a share of 1/8 those of number 7, 15, 23 and so on do."""
        # A billionth more, so that 10 signers of a share of 0.1 count one and not 0.9999.
        before, after = (int(number * self.left_handed + 1e-9) for number in (signer, signer + 1))
        return after > before
