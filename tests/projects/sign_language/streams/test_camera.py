"""A camera as a stream, with a capture that stands for one: its times, its end, its preview, its bad input."""

import json
import signal
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coursepkg.cli import main
from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.landmarks.drawing import ARMS, draw_skeleton
from coursepkg.projects.sign_language.streams import predict as streams_predict
from coursepkg.projects.sign_language.streams.camera import Camera, Preview
from coursepkg.projects.sign_language.streams.predict import watch_camera
from coursepkg.projects.sign_language.streams.sliding_window import SignEvent
from coursepkg.projects.sign_language.synthetic.clips import draw_clip, write_video
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
CONFIG = SignersConfig(size=224, least_frames=24)


class Capture:
    """What `cv2.VideoCapture` does, from pictures in memory."""

    pictures: tuple[np.ndarray, ...] = ()
    is_open = True
    interrupt_at = -1

    def __init__(self, number: int) -> None:
        self.number, self.taken, self.released = number, 0, False

    def set(self, what: int, value: float) -> bool:
        return True

    def isOpened(self) -> bool:
        return self.is_open

    def read(self) -> tuple[bool, Any]:
        if self.taken == self.interrupt_at:
            signal.raise_signal(signal.SIGINT)
        if self.taken == len(self.pictures):
            return False, None
        self.taken += 1
        return True, self.pictures[self.taken - 1][..., ::-1]

    def release(self) -> None:
        self.released = True


@pytest.fixture
def capture(monkeypatch: pytest.MonkeyPatch) -> type[Capture]:
    class Own(Capture):
        """Of one test alone."""

    monkeypatch.setattr(cv2, "VideoCapture", Own)
    return Own


def test_frames_are_rgb_and_have_rising_times_from_zero(capture: type[Capture]) -> None:
    rng = np.random.default_rng(0)
    capture.pictures = tuple(rng.integers(0, 256, (4, 48, 64, 3), dtype=np.uint8))
    moments = iter([5.0, 5.1, 5.1, 5.3])
    with closing(Camera(1, clock=lambda: next(moments))) as camera:
        frames = list(camera)
    assert camera._capture.number == 1
    assert camera._capture.released
    np.testing.assert_array_equal(np.stack([one.pixels for one in frames]), np.stack(capture.pictures))
    times = [one.seconds for one in frames]
    assert times[0] == 0
    assert times == sorted(set(times))
    assert times[-1] == pytest.approx(0.3)


def test_a_camera_that_is_not_there_or_shows_nothing_is_named(
    capture: type[Capture],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(Camera(0)) as camera, pytest.raises(ValueError, match="--camera 0 gives no picture"):
        list(camera)

    def refuse() -> None:
        raise cv2.error("The function is not implemented")

    monkeypatch.setattr(cv2, "destroyAllWindows", refuse)
    out = tmp_path / "events.jsonl"
    assert main(["sign-language", "predict", "--camera", "0", "--out", str(out)]) == 2
    capture.is_open = False
    assert main(["sign-language", "predict", "--camera", "3"]) == 2
    told = capsys.readouterr().err
    assert "error: --camera 3: there is no such camera, or another program uses it" in told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["film.mp4", "--camera", "0"], "--camera looks at no file, got film.mp4"),
        (["--camera", "-1"], "--camera must be"),
        (
            ["--camera", "0", "--contest", "answers.csv"],
            "--contest wants one answer a clip, and --camera finds",
        ),
        (["--camera", "0", "--n-best", "3"], "--n-best goes with clips"),
        (["--camera", "0", "--words", "nowhere"], "nowhere: there are no words"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    arguments: list[str], said: str, capture: type[Capture], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sign-language", "predict", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


def test_the_preview_shows_skeleton_and_word_until_q(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[np.ndarray] = []
    keys = iter([255, ord("q")])
    monkeypatch.setattr(cv2, "imshow", lambda title, picture: shown.append(picture))
    monkeypatch.setattr(cv2, "waitKey", lambda wait: next(keys))
    closed: list[bool] = []
    monkeypatch.setattr(cv2, "destroyAllWindows", lambda: closed.append(True))
    frame = TimedFrame(0.0, np.full((120, 160, 3), 60, np.uint8))
    preview = Preview(lambda line: None)
    preview.show(frame)
    np.testing.assert_array_equal(shown[0], frame.pixels)
    preview.caption = "cà phê"
    assert not preview.is_closed
    preview.show(frame)
    assert preview.is_closed
    changed = np.flatnonzero((shown[1] != 60).any(axis=(1, 2)))
    assert len(changed)
    assert changed.min() > 60
    preview.close()
    assert closed == [True]


def test_without_windows_there_is_one_note_and_no_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise cv2.error("The function is not implemented")

    monkeypatch.setattr(cv2, "imshow", refuse)
    monkeypatch.setattr(cv2, "destroyAllWindows", refuse)
    lines: list[str] = []
    preview, frame = Preview(lines.append), TimedFrame(0.0, np.zeros((48, 64, 3), np.uint8))
    for _ in range(3):
        preview.show(frame)
    preview.close()
    assert len(lines) == 1
    assert "there is no preview" in lines[0]


def test_lines_join_the_landmarks_and_a_mirror_turns_them() -> None:
    pixels = np.zeros((200, 200, 3), np.uint8)
    body = np.full((33, 3), np.nan, np.float32)
    body[list(ARMS[0])] = [[50, 60, 0], [150, 60, 0]]
    drawn = draw_skeleton(pixels, body)
    assert drawn[60, 50:150].any(axis=-1).all()
    assert not drawn[80:].any()
    assert not pixels.any()
    body[11, 0] = 20
    plain, mirrored = draw_skeleton(pixels, body), draw_skeleton(pixels, body, is_mirrored=True)
    np.testing.assert_array_equal(plain[:, ::-1], mirrored)


def test_words_are_named_at_the_camera_until_ctrl_c(
    capture: type[Capture],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for signer in (1, 3):
        path = tmp_path / "clips" / "Tôi" / f"{signer}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_video(path, draw_clip("Tôi", signer, 0, 40 + signer, CONFIG).frames, CONFIG.fps)
    assert main(["sign-language", "enroll", str(tmp_path / "clips"), "--out", str(tmp_path / "words")]) == 0
    frames = draw_clip("Tôi", 1, 0, 77, CONFIG).frames
    rest = np.repeat(frames[:1], 12, axis=0)
    # Ctrl-C comes right behind the sign: it is named all the same.
    capture.pictures = tuple(np.concatenate([rest, frames, rest]))
    capture.interrupt_at = len(rest) + len(frames)
    moments = iter(np.arange(1000) / CONFIG.fps)
    # A camera by the computer's own clock gives more or fewer frames to look at, by the speed of the machine.
    own_clock = partial(Camera, clock=lambda: float(next(moments)))
    monkeypatch.setattr(streams_predict, "Camera", own_clock)
    monkeypatch.setattr(cv2, "imshow", lambda title, picture: None)
    monkeypatch.setattr(cv2, "waitKey", lambda wait: -1)
    monkeypatch.setattr(cv2, "destroyAllWindows", lambda: None)
    out = tmp_path / "events.jsonl"
    command = [
        "sign-language",
        "predict",
        "--camera",
        "0",
        "--words",
        str(tmp_path / "words"),
        "--out",
        str(out),
    ]
    part = tmp_path / "events.jsonl.part"
    part.touch()
    assert main(command) == 2
    assert "events.jsonl.part" in capsys.readouterr().err
    part.unlink()
    moments = iter(np.arange(1000) / CONFIG.fps)
    assert main(command) == 0
    (event,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert (event["clip"], event["label"]) == ("camera-0", "Tôi")
    told = capsys.readouterr().err
    assert "Ctrl-C ends" in told
    assert "gives no more pictures" not in told


def test_events_stay_when_the_camera_breaks(capture: type[Capture], tmp_path: Path) -> None:
    """What was written before an error is kept; the error is not hidden, and neither is an end."""
    capture.pictures = tuple(np.zeros((4, 8, 8, 3), np.uint8))
    out, lines = tmp_path / "events.jsonl", []

    def events(frames: Iterable[TimedFrame], most: int = 2) -> Iterator[SignEvent]:
        for number, frame in enumerate(frames):
            if number == most:
                raise ValueError("the camera broke")
            yield SignEvent(frame.seconds, frame.seconds, "Tôi", 1.0)

    with pytest.raises(ValueError, match="the camera broke"):
        watch_camera(events, Camera(0), out)
    assert len(out.read_text().splitlines()) == 2
    with pytest.raises(ValueError, match="the camera broke"):
        watch_camera(partial(events, most=0), Camera(0), tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()
    watch_camera(partial(events, most=9), Camera(0), log=lines.append)
    assert lines == ["note: camera 0 gives no more pictures"]
