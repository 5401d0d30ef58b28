"""The module turns a stream of frames into events of signed words.

A window slides over the frames, each window is named, and a word that lasts
becomes an event.

    frames      ....................................
    windows     [.........]  [.........]    `window` seconds each, every `hop` seconds
                   [.........]  [.........]
    smoothed    p_k = s p_(k-1) + (1 - s) q_k    q_k: of window k alone
    events      a word from where it is sure to where it is not

A window speaks for the `hop` seconds around its middle; the first one also for what
lies before, the last one for what comes after. Memory does not grow with the stream:
the frames of one window are kept, scaled to the network's size.

A network that was trained on words alone names one for everything, a person who
scratches their head included. The threshold helps against that and does not solve it.

How a stream of frames is cut into windows, and when what is read in them counts as a
signed word.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from coursepkg.projects.sign_language.data.clip import Clip
from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.recipe import StreamConfig

MOST_FRAMES = 4096
"""Frames that one window may have: 2.5 seconds at 1,600 a second, or at 30 with times
in the wrong unit."""
_ROUNDING = 1e-6
"""Seconds by which a sum of times may be off."""


@dataclass(frozen=True, eq=False)
class WindowReading:
    """What is known of one window."""

    start: float
    """Seconds from the start of the stream."""
    stop: float
    """Where it ends; its last frame stands before."""
    own: np.ndarray
    """What the network says of this window alone: the probability of each word (V,)."""
    smoothed: np.ndarray
    """The same together with the windows before (V,)."""


class SignEvent(NamedTuple):
    """A word that was signed."""

    start: float
    """Seconds from the start of the stream."""
    end: float
    label: str
    confidence: float
    """The highest smoothed probability of the word between start and end, in [0, 1]."""


@runtime_checkable
class NamesClips(Protocol):
    """What a stream needs of a recogniser; `SignRecognizer` is one."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The words in the order of their class numbers (V,)."""

    def probabilities(self, clip: Clip) -> np.ndarray:
        """The probability of each word (V,)."""


class SignStream:
    """Finds the signs in a stream of frames.

    Args:
        recognizer: names the windows.
        config: windows and events; None takes the usual ones.

    Raises:
        ValueError: the recogniser reads landmarks, which take too long for a stream.
    """

    def __init__(
        self, recognizer: NamesClips, config: StreamConfig | None = None
    ) -> None:
        reading = getattr(recognizer, "cache_config", None)
        if getattr(reading, "n_features", 0):
            raise ValueError(
                "a model of landmarks names clips and no stream; take a model of"
                " pictures for --stream and --camera"
            )
        self.recognizer, self.config = recognizer, config or StreamConfig()

    def readings(
        self,
        frames: Iterable[TimedFrame],
        *,
        look: Callable[[Clip], np.ndarray] | None = None,
    ) -> Iterator[WindowReading]:
        """One reading a window, as soon as the first frame behind it is there.

        Args:
            frames: in the order of their times.
            look: from a window to the probabilities of the words; None asks the
                recogniser. A caller who has kept earlier answers can give these again.

        Raises:
            ValueError: times do not rise, or a window has more than `MOST_FRAMES`
                frames.
        """
        look = look or self.recognizer.probabilities
        share = self.config.smoothing
        before: np.ndarray | None = None
        for window in sliding_windows(frames, self.config):
            own = look(window.clip)
            before = own if before is None else share * before + (1 - share) * own
            yield WindowReading(window.start, window.stop, own, before)

    def events(
        self,
        frames: Iterable[TimedFrame],
        *,
        look: Callable[[Clip], np.ndarray] | None = None,
    ) -> Iterator[SignEvent]:
        """The words that are signed, each when it is over; see `readings`."""
        return find_events(
            self.readings(frames, look=look), self.recognizer.labels, self.config
        )


class Window(NamedTuple):
    """Some seconds of a stream."""

    start: float
    """Seconds from the start of the stream."""
    stop: float
    clip: Clip
    """The frames from start until before stop, with their times in the stream."""


def sliding_windows(
    frames: Iterable[TimedFrame], config: StreamConfig
) -> Iterator[Window]:
    """The windows [k hop, k hop + window) of a stream, counted from its first frame.

    Behind the last frame one more window follows if some frame was in none yet. A
    stretch without frames, as of a camera that stood still, has no window.

    Raises:
        ValueError: times do not rise, or a window has more than `MOST_FRAMES` frames.
    """
    held: deque[TimedFrame] = deque()
    number, origin, last, seen = 0, 0.0, -np.inf, -np.inf
    for frame in frames:
        if frame.seconds <= last:
            raise ValueError(
                f"times of a stream must rise, got {frame.seconds:g} s behind"
                f" {last:g} s"
            )
        origin, last = (frame.seconds if last == -np.inf else origin), frame.seconds
        while held and last >= origin + number * config.hop + config.window - _ROUNDING:
            window = _window(held, origin + number * config.hop, config.window)
            yield window
            seen, number = window.stop, number + 1
            _forget(held, origin + number * config.hop)
        if not held:
            # The first window that this frame is in.
            passed = (last - origin - config.window + _ROUNDING) / config.hop
            number = max(number, int(np.floor(passed)) + 1)
        held.append(frame)
        if len(held) > MOST_FRAMES:
            raise ValueError(
                f"a window of {config.window:g} s has more than {MOST_FRAMES:,} frames;"
                " give times in seconds"
            )
    if held and last >= seen - _ROUNDING:
        rest = last - origin - number * config.hop
        usual = rest / (len(held) - 1) if len(held) > 1 else 0.0
        yield _window(
            held, origin + number * config.hop, min(config.window, rest + usual)
        )


def find_events(
    readings: Iterable[WindowReading], labels: tuple[str, ...], config: StreamConfig
) -> Iterator[SignEvent]:
    """What stays the same over the readings.

    An event ends when another one begins, or when its word has not been sure for
    `refractory` seconds. A word whose last event ended less than `refractory` seconds
    ago begins no new one, even if another word came in between.
    """
    current: SignEvent | None = None
    ended: dict[str, float] = {}
    for start, end, smoothed in _spans(readings, config.hop):
        best = int(smoothed.argmax())
        label, confidence = labels[best], float(smoothed[best])
        is_sure = confidence >= config.threshold
        if current is not None and start - current.end > config.refractory + _ROUNDING:
            yield current
            current = None
        if not is_sure:
            continue
        if current is not None and current.label == label:
            current = current._replace(
                end=end, confidence=max(confidence, current.confidence)
            )
        elif start - ended.get(label, -np.inf) >= config.refractory - _ROUNDING:
            if current is not None:
                yield current
            current = SignEvent(start, end, label, confidence)
        else:
            continue
        ended[label] = end
    if current is not None:
        yield current


def _spans(
    readings: Iterable[WindowReading], hop: float
) -> Iterator[tuple[float, float, np.ndarray]]:
    """The time that each reading speaks for, and its smoothed probabilities."""
    waiting: WindowReading | None = None
    start = 0.0
    for reading in readings:
        if waiting is None:
            start = reading.start
        else:
            end = (waiting.start + waiting.stop + hop) / 2
            yield start, end, waiting.smoothed
            # Later than that only where the stream had a gap.
            start = max(end, (reading.start + reading.stop - hop) / 2)
        waiting = reading
    if waiting is not None:
        yield start, waiting.stop, waiting.smoothed


def _window(held: Iterable[TimedFrame], start: float, seconds: float) -> Window:
    frames = list(held)
    times = np.array([frame.seconds for frame in frames])
    clip = Clip(
        np.stack([frame.pixels for frame in frames]),
        times,
        "",
        "",
        f"stream at {start:.2f} s",
    )
    return Window(start, start + seconds, clip)


def _forget(held: deque[TimedFrame], start: float) -> None:
    while held and held[0].seconds < start - _ROUNDING:
        held.popleft()
