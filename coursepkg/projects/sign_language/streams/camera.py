"""A camera of this machine as a stream of frames, and a window that shows what is seen.

Camera    frames with times, until the camera stops
Preview   the frames, mirrored as in a mirror, with skeleton and last word; where
OpenCV was built without windows there is none, and that is said once
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.landmarks.drawing import draw_skeleton
from coursepkg.projects.sign_language.landmarks.extract import as_arrays
from coursepkg.projects.sign_language.landmarks.hands import Hand
from coursepkg.projects.sign_language.landmarks.pose import Pose
from coursepkg.projects.sign_language.landmarks.regions import import_cv2
from coursepkg.validation import check_count

TITLE = "coursepkg sign-language: q ends"


class Camera:
    """The frames of a camera, with times from the first one.

    Frames that come while another one is looked at are dropped, as far as the driver
    allows.

    `close` gives it back.

    Args:
        number: of the camera, from 0.
        clock: seconds, rising.

    Raises:
        ValueError: there is no such camera, or another program uses it.
        ImportError: OpenCV is not installed.
    """

    def __init__(
        self, number: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        check_count("--camera", number, least=0)
        cv2 = import_cv2()
        self.number, self._clock = number, clock
        cv2.setLogLevel(0)  # the error below says all that OpenCV would
        self._capture: Any = cv2.VideoCapture(number)
        # A picture that waited in the driver is late.
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        if not self._capture.isOpened():
            self.close()
            raise ValueError(
                f"--camera {number}: there is no such camera, or another program uses"
                " it; try another number"
            )

    def close(self) -> None:
        """Give the camera back."""
        self._capture.release()

    def __iter__(self) -> Iterator[TimedFrame]:
        """The frames, until the camera gives none.

        Raises:
            ValueError: the camera gives no picture at all.
        """
        first = last = -np.inf
        while True:
            is_there, picture = self._capture.read()
            if not is_there:
                break
            now = self._clock()
            first = now if first == -np.inf else first
            # Two pictures of one moment would have no order.
            last = max(now - first, last + 1e-6)
            yield TimedFrame(last, np.ascontiguousarray(picture[..., ::-1]))
        if first == -np.inf:
            raise ValueError(
                f"--camera {self.number} gives no picture; is its cover closed, or does"
                " another program use it?"
            )


class Preview:
    """A window with the frames of a camera.

    Args:
        log: receives a line where there can be no window.

    Raises:
        ImportError: OpenCV is not installed.
    """

    def __init__(self, log: Callable[[str], None]) -> None:
        self._cv2, self._log = import_cv2(), log
        self._is_refused = self._is_open = False
        self.is_closed = False
        """Whether q or Escape was pressed."""
        self.caption = ""
        """What stands in the picture, such as the last word."""

    def show(
        self,
        frame: TimedFrame,
        person: Pose | None = None,
        sides: Sequence[Hand | None] = (None, None),
    ) -> None:
        """Show a frame with the skeleton that was found in it."""
        if self._is_refused:
            return
        body, _, hands, _ = as_arrays(person, sides)
        picture = draw_skeleton(
            frame.pixels, body, hands, caption=self.caption, is_mirrored=True
        )
        try:
            self._cv2.imshow(TITLE, np.ascontiguousarray(picture[..., ::-1]))
            key = self._cv2.waitKey(1) & 0xFF
        except self._cv2.error:
            self._is_refused = True
            self._log(
                "note: this OpenCV opens no window, so there is no preview; on a"
                " machine with a screen, opencv-python has one instead of"
                " opencv-python-headless"
            )
            return
        self._is_open = True
        self.is_closed = self.is_closed or key in (ord("q"), 27)

    def shown(self, frames: Iterable[TimedFrame]) -> Iterator[TimedFrame]:
        """Frames, each shown as it comes."""
        for frame in frames:
            self.show(frame)
            yield frame

    def close(self) -> None:
        """Close the window."""
        if self._is_open:
            self._cv2.destroyAllWindows()
