"""Changes of training clips in pictures and time, drawn once for all frames of a clip.

A crop that differs from frame to frame shakes the camera, and a colour that does makes
the light flicker: both would be motion that nobody made. The Olympiad tutorials turn
the contrast about the mean of each frame, so that a frame with a bright hand changes
otherwise than the next; here it turns about the mean of the clip. Kornia does the work:
`VideoSequential` with `same_on_frame`, and for colours `ColorJitter` on the clip as one
tall picture.

A clip that is only played faster as a whole, and is then sampled at moments evenly
spaced over its length, gives the same frames again: `resampling_shift` measures how
little is left (the Olympiad tutorials, section V.2, kept as a control). Signers lift
the hands slowly and sign fast, or linger at the end: a warp of time that is not even
moves the places where frames are taken, and never changes their order.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch

from coursepkg.app.recipe import AtLeast, Share, check_fields, within
from coursepkg.projects.sign_language.data.clip import (
    check_frames,
    frames_at,
    uniform_frames,
)
from coursepkg.validation import check_count, check_finite

LEAST_PLAYED = 4
"""Frames that are left of the fastest clip, as in the source."""


@dataclass(frozen=True)
class ResamplingConfig:
    """How much faster or slower clips are played.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    strength: Annotated[float, within(0, 0.9)] = 0.1
    """Speeds are drawn evenly from 1 - strength to 1 + strength, in [0, 0.9]; the
    source has 0.1."""
    n_frames: Annotated[int, AtLeast(2)] = 30
    """Frames of a clip as filmed, by which indices are cut off; the usual clip of the
    contest has 30. At least 2."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Resampling:
    """A clip played at another speed."""

    speed: float
    """Above 1 is faster."""
    n_frames: int
    """Frames of the clip as filmed."""

    def __call__(self, count: int) -> np.ndarray:
        """Return evenly spaced places in [0, 1] of what is played, float64 (count,)."""
        last = self.n_frames - 1
        n_played = max(LEAST_PLAYED, int(self.n_frames / self.speed))
        played = np.arange(n_played) * last // (n_played - 1)
        if (
            n_played < count
        ):  # the source repeats the last frame of a clip that has become too short
            played = np.concatenate([played, np.repeat(played[-1:], count - n_played)])
        taken = np.arange(count) * (len(played) - 1) // max(1, count - 1)
        places: np.ndarray = played[taken] / last
        return places


@dataclass(frozen=True)
class DrawResampling:
    """What `ClipBatches` takes as `draw_places`: a speed for each clip."""

    config: ResamplingConfig

    def __call__(self, rng: np.random.Generator) -> Resampling:
        """The speed of one clip."""
        low, high = 1 - self.config.strength, 1 + self.config.strength
        return Resampling(float(rng.uniform(low, high)), self.config.n_frames)


@dataclass(frozen=True)
class WarpConfig:
    """How strongly time is warped.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    strength: Annotated[float, within(0, 0.9)] = 0.3
    """A stretch is at most 1 / (1 - strength) times faster or slower, before the whole
    is brought back to its old length; in [0, 0.9], 0 leaves time as it is. 0.1 draws
    from about the speeds of the Olympiad tutorials, 0.9 to 1.1."""
    stretches: Annotated[int, AtLeast(2)] = 4
    """Parts of equal length with a speed of their own, from 2; a single one would lose
    its speed to the old length."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, eq=False)
class TimeWarp:
    """A rising curve maps time in the shown clip to time in the filmed clip.

    Both times are in [0, 1].

    Straight between knots, where its slope is the speed. It goes through both corners,
    so a warped clip begins and ends with the frames of the old one.
    """

    shown: np.ndarray
    """Where the stretches begin and end in the new clip, float64 (N + 1,), from 0 to 1,
    rising."""
    filmed: np.ndarray
    """Where they do in the old one, float64 (N + 1,), from 0 to 1, rising."""

    def __call__(self, count: int) -> np.ndarray:
        """Return places in the old clip, float64 (count,), rising.

        They are the places of frames that are evenly spaced in the new clip.
        """
        return np.interp(np.linspace(0, 1, count), self.shown, self.filmed)


def draw_warp(config: WarpConfig, rng: np.random.Generator) -> TimeWarp:
    """A warp by chance.

        speed_k = (1 - strength)^(u_k),  u_k even in [-1, 1];  filmed_k = (speed_1 + ...
        + speed_k) / sum of all

    Args:
        config: the strength, and how many stretches k counts.
        rng: where chance comes from.
    """
    speeds = (1 - config.strength) ** rng.uniform(-1, 1, config.stretches)
    filmed = np.concatenate([[0.0], np.cumsum(speeds) / speeds.sum()])
    filmed[-1] = 1.0
    return TimeWarp(np.linspace(0, 1, config.stretches + 1), filmed)


@dataclass(frozen=True)
class DrawWarp:
    """It draws a new warp for each clip, as the `draw_places` of `ClipBatches`.

    A clip of no more frames than are sampled changes as well: some of its frames come
    twice, others not at all.
    """

    config: WarpConfig

    def __call__(self, rng: np.random.Generator) -> TimeWarp:
        """The warp of one clip."""
        return draw_warp(self.config, rng)


@dataclass(frozen=True)
class Shift:
    """By how many frames the samples of a clip move, without sign."""

    mean: float
    """On average over the samples."""
    most: int
    """That of the sample that moves furthest."""


def resampling_shift(n_frames: int, n_samples: int, speed: int | float) -> Shift:
    """Measure how far a change of speed moves the evenly sampled frames.

    They hardly move.

    It is done as in the Olympiad tutorials (`_speed_augment`, then
    `_downsample_frames`), where both cut indices off. What is left comes from that
    alone: with real numbers for indices both steps together would be the identity.

    Args:
        n_frames: of the clip, at least `n_samples`.
        n_samples: taken of it, T.
        speed: above 0; above 1 is faster. The source draws it from 0.9 to 1.1.

    Raises:
        ValueError: an argument is out of range.
    """
    check_count("n_samples", n_samples, least=2)
    check_count("n_frames", n_frames, least=n_samples)
    check_finite("speed", speed)
    if speed <= 0:
        raise ValueError(f"speed must be above 0, got {speed}")
    played = _even_indices(n_frames, max(4, int(n_frames / speed)))
    if (
        len(played) < n_samples
    ):  # the source repeats the last frame of a clip that has become too short
        played = np.concatenate(
            [played, np.repeat(played[-1:], n_samples - len(played))]
        )
    return _shift(
        played[_even_indices(len(played), n_samples)],
        _even_indices(n_frames, n_samples),
    )


def warp_shift(n_frames: int, n_samples: int, warp: TimeWarp) -> Shift:
    """Measure how far a warp moves the sampled frames, as `resampling_shift` does.

    Args:
        n_frames: of the clip, evenly spaced in time.
        n_samples: taken of it, T.
        warp: of its time.
    """
    times = np.arange(n_frames, dtype=np.float64)
    return _shift(frames_at(times, warp(n_samples)), uniform_frames(times, n_samples))


def _even_indices(n_frames: int, n_samples: int) -> np.ndarray:
    """Return `n_samples` even indices from 0 to `n_frames - 1`, each rounded down.

    The Olympiad tutorials compute `torch.linspace(0, n_frames - 1, n_samples).long()`;
    exact fractions replace its floats here.
    """
    return np.arange(n_samples) * (n_frames - 1) // (n_samples - 1)


def _shift(one: np.ndarray, other: np.ndarray) -> Shift:
    apart = np.abs(one - other)
    return Shift(float(apart.mean()), int(apart.max()))


@dataclass(frozen=True)
class PictureConfig:
    """How strongly pictures are changed. 0 leaves a change out, a crop of 1 the crop.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    crop: Annotated[float, within(0.1, 1)] = 0.85
    """Smallest share of height and width that a crop keeps, in [0.1, 1]; it is enlarged
    to the old size."""
    rotation: Annotated[float, within(0, 45)] = 5.0
    """Most degrees of turning to either side, in [0, 45]."""
    brightness: Share = 0.2
    """All values are scaled by a factor within 1 - brightness and 1 + brightness, in
    [0, 1]."""
    contrast: Share = 0.2
    """Values move from or towards the mean of the clip by a factor within 1 - contrast
    and 1 + contrast, in [0, 1]."""
    saturation: Share = 0.2
    """Colours move from or towards gray by a factor within 1 - saturation and 1 +
    saturation, in [0, 1]."""
    flip: Share = 0.0
    """How often left and right are exchanged, in [0, 1]. It turns a right-handed signer
    into a left-handed one, and some signs into others: `to the left` becomes `to the
    right`. Off unless an experiment says otherwise."""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is changed."""
        return self == PictureConfig(1.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class PictureAugmentation:
    """Changes the pictures of one clip after another.

    Args:
        config: how strongly.

    Raises:
        ImportError: kornia is not installed.
    """

    def __init__(self, config: PictureConfig) -> None:
        self.config = config
        self._kornia = None if config.is_idle else import_kornia()
        self._colour = (
            None if self._kornia is None else build_colour(self._kornia, config)
        )
        self._geometry: dict[tuple[int, int], Any] = {}

    def __call__(self, frames: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The clip after one draw, the same for all of its frames.

        Args:
            frames: RGB, uint8 (T, height, width, 3).
            rng: where chance comes from; torch's own random numbers are neither used
                nor moved on.

        Returns:
            uint8, of the same shape.
        """
        check_frames(frames, "frames")
        if self._kornia is None:
            return frames
        # (T, height, width, 3) -> (1, T, 3, height, width)
        pictures = (
            torch.from_numpy(np.ascontiguousarray(frames))
            .permute(0, 3, 1, 2)[None]
            .float()
            / 255
        )
        seed = int(rng.integers(2**63))
        with torch.random.fork_rng(devices=[]), torch.inference_mode():
            # Kornia draws on the CPU; `torch.manual_seed` would reset the GPUs as well,
            # which are not forked.
            torch.default_generator.manual_seed(seed)
            changed = self._change(pictures)
        levels = changed.clamp(0, 1).mul(255).round().to(torch.uint8)
        return levels.permute(0, 2, 3, 1).contiguous().numpy()

    def _change(self, pictures: torch.Tensor) -> torch.Tensor:
        """(1, T, 3, height, width) to (T, 3, height, width)."""
        _, n_frames, _, height, width = pictures.shape
        if (height, width) not in self._geometry:
            self._geometry[height, width] = build_geometry(
                self._kornia, self.config, height, width
            )
        geometry = self._geometry[height, width]
        frames = pictures[0] if geometry is None else geometry(pictures)[0]
        if self._colour is None:
            return frames
        # (T, 3, height, width) -> (1, 3, T * height, width)
        tall = frames.transpose(0, 1).reshape(1, 3, n_frames * height, width)
        return self._colour(tall)[0].reshape(3, n_frames, height, width).transpose(0, 1)


def build_geometry(
    kornia: Any,
    config: PictureConfig,
    height: int,
    width: int,
    *,
    same_on_frame: bool = True,
) -> Any:
    """Build Kornia's `VideoSequential` of rotation, crop and flip, or return None.

    The result is None where the config asks for none of them.

    Args:
        kornia: the module `kornia.augmentation`.
        config: how strongly.
        height: of the pictures, float32 (B, T, 3, height, width) in [0, 1].
        width: of the pictures.
        same_on_frame: False draws for every frame anew, to show what that does.
    """
    steps = []
    if config.rotation:
        # The border is repeated: black corners would tell the angle.
        steps.append(kornia.RandomAffine(config.rotation, padding_mode="border", p=1.0))
    if config.crop < 1:
        area = (config.crop**2, 1.0)
        steps.append(
            kornia.RandomResizedCrop(
                (height, width), scale=area, ratio=(width / height,) * 2, p=1.0
            )
        )
    if config.flip:
        steps.append(kornia.RandomHorizontalFlip(p=config.flip))
    return (
        kornia.VideoSequential(*steps, data_format="BTCHW", same_on_frame=same_on_frame)
        if steps
        else None
    )


def build_colour(kornia: Any, config: PictureConfig) -> Any:
    """Build the change of brightness, contrast and saturation, or return None.

    It changes pictures (B, 3, height, width) in [0, 1]. The result is None where the
    config asks for no change.

    Contrast turns about the mean of the picture that it is given.
    """
    if not (config.brightness or config.contrast or config.saturation):
        return None
    return kornia.ColorJitter(
        config.brightness, config.contrast, config.saturation, 0.0, p=1.0
    )


def import_kornia() -> Any:
    """The module `kornia.augmentation`, or an ImportError of one line."""
    try:
        import kornia.augmentation
    except ImportError as reason:
        raise ImportError(
            "augmenting clips needs kornia: pip install 'coursepkg[video]'"
        ) from reason
    return kornia.augmentation
