"""Signs in long videos, each read as a stream, into a file that a run which was stopped goes on with.

What the network says of each window grows in `OUT.part`, a window a line. The same command reads the frames again and
asks the network for what is missing only; windows, smoothing and events follow from these answers alone. At the end
the events are written, and the part goes.
"""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.files import whole_file
from coursepkg.part_file import Kept, PartFile
from coursepkg.projects.sign_language.clip import Clip
from coursepkg.projects.sign_language.clip_sources import ClipSource, ClipSources
from coursepkg.projects.sign_language.predict_file import Say, Tally, readable
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from coursepkg.projects.sign_language.stream import SignEvent, SignStream
from coursepkg.projects.sign_language.stream_config import StreamConfig
from coursepkg.projects.sign_language.stream_frames import VideoFrames
from coursepkg.wording import one_line

Look = Callable[[Clip], np.ndarray]
Show = Callable[[dict[str, Any]], None]


def watch_streams(
    recognizer: SignRecognizer,
    sources: ClipSources,
    config: StreamConfig,
    out: Path | None = None,
    *,
    show: Show = lambda record: None,
    say: Say = lambda line: None,
    nothing: Say = lambda line: None,
) -> Tally:
    """Find the signs of every video, in order.

    Args:
        recognizer: the model.
        sources: the videos.
        config: windows and events.
        out: JSON, an event a line; None writes none.
        show: receives each event as soon as it is over.
        say: receives one line for each video that cannot be read or is flawed.
        nothing: receives one line for each video that can be read and has no event.

    Raises:
        ValueError: the part beside the output belongs to another command.
        OSError: the output cannot be written.
        ImportError: av is not installed.
    """
    if out is None:
        return _watch_all(recognizer, config, sources, recognizer.probabilities, show, say, nothing)
    cut = {"window": config.window, "hop": config.hop}
    part = PartFile(out, {"inputs": sources.fingerprint, "model": recognizer.fingerprint, **cut})
    resumed = part.n_lines
    look = partial(_kept_look, Kept(part), recognizer)
    whole = out.with_name(f"{out.name}.whole")
    with whole_file(whole) as file:

        def write(record: dict[str, Any]) -> None:
            file.write(f"{json.dumps(record, ensure_ascii=False)}\n".encode())
            show(record)

        tally = _watch_all(recognizer, config, sources, look, write, say, nothing)
    tally.resumed = resumed
    if tally.exit_code == 2:
        whole.unlink()
    else:
        os.replace(whole, out)
    part.discard()
    return tally


def event_record(source: ClipSource, event: SignEvent) -> dict[str, Any]:
    """An event as JSON has it."""
    return {"clip": readable(source.name)} | {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in event._asdict().items()
    }


def _watch_all(
    recognizer: SignRecognizer,
    config: StreamConfig,
    sources: ClipSources,
    look: Look,
    show: Show,
    say: Say,
    nothing: Say,
) -> Tally:
    tally, stream = Tally(), SignStream(recognizer, config)
    reading = recognizer.cache_config
    for source in sources.files:
        tally.clips += 1
        n_events = 0
        frames = VideoFrames(source.path, size=reading.size, fit=reading.fit)
        try:
            for event in stream.events(frames, look=look):
                n_events += 1
                show(event_record(source, event))
        except (ValueError, FileNotFoundError) as reason:
            # Any other error of the system is one of writing, and stops the command.
            tally.failed += 1
            told = one_line(reason)
            say(f"error: {told if str(source.path) in told else f'{source.path}: {told}'}")
        else:
            if not n_events:
                nothing(f"{readable(source.name)}: no word was sure; lower --threshold")
        if frames.complaint:
            say(f"note: {frames.complaint}")
    return tally


def _kept_look(kept: Kept, recognizer: SignRecognizer, clip: Clip) -> np.ndarray:
    """What an earlier run was told of a window, or else what the network says now."""
    # The shortest digits that give a float32 back exactly.
    told = kept.result(lambda: [str(p) for p in recognizer.probabilities(clip)])
    return np.array([float(p) for p in told], dtype=np.float32)
