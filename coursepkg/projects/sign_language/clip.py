"""One clip of a signed word: what data sets, generators and models of this project hand to one another."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coursepkg.text.vietnamese import unicode_form


@dataclass(frozen=True)
class ClipFile:
    """A video file of a data set, with what is known about it without opening it.

    Raises:
        ValueError: the label is not in NFC; the file is named.
    """

    path: Path
    label: str
    """The word that is signed, in Unicode form NFC; empty where it is not known, as in a contest's test part."""
    signer: str = ""
    """Who signs; empty where it is not known."""
    group: str = ""
    """Recording that the clip was cut from: clips of one group never stand on both sides of a split. Empty: itself."""

    def __post_init__(self) -> None:
        if unicode_form(self.label) not in ("NFC", "either"):
            raise ValueError(
                f"{self.path}: the label {self.label!r} is in Unicode form {unicode_form(self.label)}, not NFC; "
                "compose it with coursepkg.text.vietnamese.compose"
            )


@dataclass(frozen=True, eq=False)
class Clip:
    """The frames of a clip with their label. Two clips are never equal by their fields: compare what you mean.

    Raises:
        ValueError: the frames are no colour pictures of one size; the clip is named.
    """

    frames: np.ndarray
    """RGB, uint8 (T, height, width, 3), in the order of time."""
    times: np.ndarray
    """When each frame is shown, in seconds from the start of the clip, float64 (T,), rising."""
    label: str
    """The word that is signed, in NFC; empty where it is not known."""
    signer: str
    """Who signs; empty where it is not known."""
    name: str
    """Where the clip is from: its file, or the generator's seed and number."""

    def __post_init__(self) -> None:
        check_frames(self.frames, self.name)
        if self.times.shape != (len(self.frames),) or bool((np.diff(self.times) <= 0).any()):
            raise ValueError(
                f"{self.name}: times must be one rising number a frame, got {self.times.tolist()}"
            )

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return float(self.times[-1] - self.times[0])


def check_frames(frames: np.ndarray, name: str) -> None:
    """Raises a ValueError unless these are colour pictures: uint8 (T, height, width, 3), none of them 0."""
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[-1] != 3 or 0 in frames.shape:
        raise ValueError(
            f"{name}: frames must be RGB pictures of one size, uint8 (T, height, width, 3), "
            f"got {frames.dtype} {tuple(frames.shape)}"
        )
