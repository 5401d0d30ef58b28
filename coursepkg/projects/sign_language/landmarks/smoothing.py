"""The one-euro filter: still where a point stands still, quick where it moves.

Landmarks tremble by a pixel or two from frame to frame. A low-pass filter removes that,
but it lags behind fast movements. So the filter's cutoff frequency rises with speed:

    x'_k = x'_(k-1) + alpha(f_c) (x_k - x'_(k-1))      alpha(f) = 1 / (1 + r / (2 pi f))
    f_c  = f_min + beta |v_k|                          r: frames a second

with v the speed, itself smoothed by alpha(f_v). A point at rest is smoothed with the
cutoff f_min, a fast one hardly at all.

Source: Casiez, Roussel, Vogel, "1 euro filter" (CHI 2012), algorithm 1.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class OneEuroConfig:
    """How much is smoothed.

    Raises:
        ValueError: a field is out of range.
    """

    min_cutoff: float
    """f_min, in hertz, above 0: the cutoff frequency for a point at rest."""
    beta: float
    """By how many hertz the cutoff rises for each unit of speed, at least 0."""
    speed_cutoff: float = 1.0
    """f_v, in hertz, above 0: the cutoff frequency by which the speed is smoothed."""

    def __post_init__(self) -> None:
        for name in ("min_cutoff", "speed_cutoff"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.beta < math.inf:
            raise ValueError(f"beta must be at least 0, got {self.beta}")


class OneEuroFilter:
    """Smooths points one frame after another.

    Args:
        config: how much.
    """

    def __init__(self, config: OneEuroConfig) -> None:
        self.config = config
        self._raw: np.ndarray | None = None
        self._smooth = self._speed = np.zeros(0)

    def reset(self) -> None:
        """Forget all frames."""
        self._raw = None

    def apply(self, values: np.ndarray, rate: float, unit: float = 1.0) -> np.ndarray:
        """Smooth the next frame.

        Args:
            values: of any shape, the same in each frame.
            rate: 1 / seconds since the frame before, above 0.
            unit: length in which speed is measured, so that the filter does the same to
                a person near the camera and far from it.

        Returns:
            smoothed values of the same shape, float64.
        """
        values = np.asarray(values, dtype=np.float64)
        if self._raw is None:
            self._smooth, self._speed = values, np.zeros_like(values)
        else:
            speed = (values - self._raw) * rate / unit
            share = _share(self.config.speed_cutoff, rate)
            self._speed = self._speed + share * (speed - self._speed)
            cutoff = self.config.min_cutoff + self.config.beta * np.abs(self._speed)
            share = _share(cutoff, rate)
            self._smooth = np.asarray(self._smooth + share * (values - self._smooth))
        self._raw = values
        return self._smooth


def _share(cutoff: "np.ndarray | float", rate: float) -> "np.ndarray | float":
    """How much of a new value is taken, in (0, 1)."""
    return 1 / (1 + rate / (2 * math.pi * cutoff))
