"""What `coursepkg sign-language predict --stream` does: signs in films, or at a camera.

    trained model   a window slides over the frames, see `sliding_window`
    words           of one's own: stretches of raised hands, see `raised_hands`

Events of films grow beside `OUT`. What grows in `OUT.part` is what the network says of
each window, or the events of each film: the same command goes on from there. A camera
cannot be asked again: its events are written into `OUT` as they come, and stay there.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from coursepkg.app.jobs import (
    FoundInputs,
    InputFile,
    ResumableJsonl,
    RunStats,
    printable_name,
)
from coursepkg.app.output import Log, log_to_stderr, silent
from coursepkg.files import check_new, part_of, whole_file
from coursepkg.processor import defer_sigint
from coursepkg.projects.sign_language.data.clip import Clip
from coursepkg.projects.sign_language.data.video import TimedFrame, VideoFrames
from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer
from coursepkg.projects.sign_language.options import Predict
from coursepkg.projects.sign_language.recipe import StreamConfig
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from coursepkg.projects.sign_language.streams.camera import Camera, Preview
from coursepkg.projects.sign_language.streams.raised_hands import WordStream
from coursepkg.projects.sign_language.streams.sliding_window import (
    SignEvent,
    SignStream,
)
from coursepkg.validation import one_line

Show = Callable[[dict[str, Any]], None]
Events = Callable[[Iterable[TimedFrame]], Iterator[SignEvent]]
"""From the frames of a stream to the words that are signed in it."""
NO_SURE_WORD = "no word was sure; lower --threshold"
NO_ENROLLED_WORD = "no enrolled word was signed"


def answer_streams(
    recognizer: SignRecognizer | WordRecognizer,
    options: Predict,
    sources: FoundInputs,
    show: Show,
) -> RunStats:
    """Find the signs of every video, in order, as the options say."""
    out = options.common.out
    # Where events are printed, that there is none is printed as well.
    log_empty = print if out is None else log_to_stderr
    logs: dict[str, Any] = {"log": log_to_stderr, "log_empty": log_empty}
    if isinstance(recognizer, WordRecognizer):
        stream = WordStream(recognizer)
        return watch_words(stream, sources, out, show=show, **logs)
    windows = options.windows
    return watch_streams(recognizer, sources, windows, out, show=show, **logs)


def answer_camera(
    recognizer: SignRecognizer | WordRecognizer, options: Predict, show: Show
) -> RunStats:
    """Find the signs in front of a camera, with a preview where there can be one.

    Raises:
        ValueError: there is no such camera, it gives no picture, or the model reads
            landmarks.
        ImportError: OpenCV is not installed.
    """
    number, out = options.camera, options.common.out
    assert number is not None
    preview = Preview(log_to_stderr)
    events: Events
    if isinstance(recognizer, WordRecognizer):
        events = partial(WordStream(recognizer).events, on_frame=preview.show)
    else:
        windows = SignStream(recognizer, options.windows)

        def events(frames: Iterable[TimedFrame]) -> Iterator[SignEvent]:
            return windows.events(preview.shown(frames))

    def show_and_caption(record: dict[str, Any]) -> None:
        preview.caption = record["label"]
        show(record)

    with closing(Camera(number)) as camera, closing(preview):
        log_to_stderr(f"note: camera {number} runs; Ctrl-C ends")
        return watch_camera(
            events,
            camera,
            out,
            is_closed=lambda: preview.is_closed,
            show=show_and_caption,
            log=log_to_stderr,
        )


def watch_streams(
    recognizer: SignRecognizer,
    sources: FoundInputs,
    config: StreamConfig,
    out: Path | None = None,
    *,
    show: Show = lambda record: None,
    log: Log = silent,
    log_empty: Log = silent,
) -> RunStats:
    """Find the signs of every video with a trained model, in order.

    Args:
        recognizer: the model.
        sources: the videos.
        config: windows and events.
        out: JSON, an event a line; None writes none.
        show: receives each event as soon as it is over.
        log: receives a line for each video that cannot be read or is flawed.
        log_empty: receives a line for each video that can be read and has no event.

    Raises:
        ValueError: the part beside the output belongs to another command.
        OSError: the output cannot be written.
        ImportError: av is not installed.
    """
    stream, reading = SignStream(recognizer, config), recognizer.cache_config
    logs = {"log": log, "log_empty": log_empty}

    def watch(part: ResumableJsonl | None, show: Show) -> RunStats:
        look = None if part is None else partial(_kept_look, part, recognizer)
        events = partial(stream.events, look=look)
        stats = RunStats("video")
        for source in sources.files:
            frames = VideoFrames(source.path, size=reading.size, fit=reading.fit)
            failed = _watch(events, frames, source, NO_SURE_WORD, show, **logs)
            stats.count(failed=failed)
        return stats

    def decides() -> dict[str, Any]:
        windows = {"window": config.window, "hop": config.hop}
        model = recognizer.fingerprint
        return {"inputs": sources.fingerprint, "model": model, **windows}

    return _written(watch, out, decides, show)


def watch_words(
    stream: WordStream,
    sources: FoundInputs,
    out: Path | None = None,
    *,
    show: Show = lambda record: None,
    log: Log = silent,
    log_empty: Log = silent,
) -> RunStats:
    """Find the enrolled words of every video, in order; see `watch_streams`."""
    logs = {"log": log, "log_empty": log_empty}

    def watch_one(source: InputFile, show: Show) -> bool:
        frames = VideoFrames(source.path)
        failed = _watch(stream.events, frames, source, NO_ENROLLED_WORD, show, **logs)
        if not failed:
            for note in stream.notes(printable_name(source.name)):
                log(f"note: {note}")
        return failed

    def watch(part: ResumableJsonl | None, show: Show) -> RunStats:
        stats = RunStats("video")
        for source in sources.files:
            if part is None:
                failed = watch_one(source, show)
            else:
                told = part.next_result(partial(_as_lines, watch_one, source))
                failed = bool(told[0])
                for line in told[1:]:
                    show(json.loads(line))
            stats.count(failed=failed)
        return stats

    def decides() -> dict[str, Any]:
        words = stream.recognizer.fingerprint
        return {"inputs": sources.fingerprint, "words": words}

    return _written(watch, out, decides, show)


def watch_camera(
    events: Events,
    camera: Camera,
    out: Path | None = None,
    *,
    is_closed: Callable[[], bool] = lambda: False,
    show: Show = lambda record: None,
    log: Log = silent,
) -> RunStats:
    """Find the signs in front of a camera, until Ctrl-C or until it stops.

    Args:
        events: see `Events`.
        camera: in use.
        out: JSON, an event a line, each written as it comes, and kept whatever comes
            behind it; None writes none.
        is_closed: whether the preview was closed, which is another end.
        show: receives each event as soon as it is over.
        log: receives a line where the camera stops by itself.

    Raises:
        ValueError: the camera gives no picture.
        OSError: the output cannot be written.
    """
    source = InputFile(Path(f"camera-{camera.number}"), "")
    with defer_sigint() as interrupted, ExitStack() as opened:
        is_ended = False

        def frames() -> Iterator[TimedFrame]:
            nonlocal is_ended
            for frame in camera:
                is_ended = interrupted() or is_closed()
                if is_ended:
                    return
                yield frame

        file = None if out is None else opened.enter_context(_lines_of(out))
        for event in events(frames()):
            record = event_record(source, event)
            if file is not None:
                file.write(_line(record))
                file.flush()
            show(record)
    if not is_ended:
        log(f"note: camera {camera.number} gives no more pictures")
    return RunStats("camera", done=1)


@contextmanager
def _lines_of(out: Path) -> Iterator[BinaryIO]:
    """A new file that stays on an error too, unless nothing is in it."""
    check_new(part_of(out), "finish that run, or choose another --out")
    with out.open("xb") as file:
        try:
            yield file
        except BaseException:
            if not file.tell():
                out.unlink()
            raise


def event_record(source: InputFile, event: SignEvent) -> dict[str, Any]:
    """An event as JSON has it."""
    record: dict[str, Any] = {"clip": printable_name(source.name)}
    for name, value in event._asdict().items():
        record[name] = round(value, 4) if isinstance(value, float) else value
    return record


def _watch(
    events: Events,
    frames: VideoFrames,
    source: InputFile,
    empty_message: str,
    show: Show,
    *,
    log: Log,
    log_empty: Log,
) -> bool:
    """Show the events of a video; whether it cannot be read."""
    n_events, failed = 0, False
    try:
        for event in events(frames):
            n_events += 1
            show(event_record(source, event))
    except (ValueError, FileNotFoundError) as reason:
        # Any other error of the system is one of writing, and stops the command.
        failed, message, path = True, one_line(reason), str(source.path)
        log(f"error: {message if path in message else f'{path}: {message}'}")
    if not failed and not n_events:
        log_empty(f"{printable_name(source.name)}: {empty_message}")
    if frames.complaint:
        log(f"note: {frames.complaint}")
    return failed


def _as_lines(watch: Callable[[InputFile, Show], bool], source: InputFile) -> list[str]:
    """Whether a video cannot be read, as text, and its events, a line each."""
    records: list[dict[str, Any]] = []
    failed = watch(source, records.append)
    lines = (json.dumps(one, ensure_ascii=False) for one in records)
    return ["failed" if failed else "", *lines]


def _line(record: dict[str, Any]) -> bytes:
    return f"{json.dumps(record, ensure_ascii=False)}\n".encode()


def _written(
    watch: Callable[[ResumableJsonl | None, Show], RunStats],
    out: Path | None,
    decides: Callable[[], Mapping[str, Any]],
    show: Show,
) -> RunStats:
    """Watch, and write the events where there is an output.

    Nothing stays where no video could be read.

    Args:
        watch: finds the events; what it is to find again grows in the part.
        out: of the events; None writes none and keeps no part.
        decides: gives all that decides the events; asked only where some are written.
        show: receives each event.
    """
    if out is None:
        return watch(None, show)
    part = ResumableJsonl(out, decides())
    resumed, whole = part.n_lines, out.with_name(f"{out.name}.whole")
    with whole_file(whole) as file:

        def write(record: dict[str, Any]) -> None:
            file.write(_line(record))
            show(record)

        stats = watch(part, write)
    stats.resumed = resumed
    if stats.exit_code == 2:
        whole.unlink()
    else:
        os.replace(whole, out)
    part.discard()
    return stats


def _kept_look(
    part: ResumableJsonl, recognizer: SignRecognizer, clip: Clip
) -> np.ndarray:
    """What an earlier run was told of a window, or else what the network says now."""
    # The shortest digits that give a float32 back exactly.
    told = part.next_result(lambda: [str(p) for p in recognizer.probabilities(clip)])
    return np.array([float(p) for p in told], dtype=np.float32)
