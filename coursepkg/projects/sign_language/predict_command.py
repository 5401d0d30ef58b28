"""What `coursepkg sign-language predict` does."""

import sys
from typing import TYPE_CHECKING, Any

from coursepkg.arguments import check_count
from coursepkg.documents import print_json
from coursepkg.projects.options import with_threads
from coursepkg.projects.sign_language.clip_sources import ClipSources, find_clips
from coursepkg.projects.sign_language.command_options import load_recognizer
from coursepkg.projects.sign_language.contest import contest_clips
from coursepkg.projects.sign_language.data.container import import_av
from coursepkg.projects.sign_language.stream_config import StreamConfig

if TYPE_CHECKING:
    from coursepkg.projects.sign_language.commands import Predict
    from coursepkg.projects.sign_language.predict_file import Places, Tally

GENERATED = (
    "note: the model has learnt from generated figures and made-up motions; of real signs it knows nothing"
)


def predict_command(options: "Predict") -> int:
    """Name words and return the exit code: 0, 1 where some videos cannot be read, 2 where none can."""
    from coursepkg.projects.sign_language.predict_file import Places, answer_clips
    from coursepkg.projects.sign_language.stream_file import watch_streams

    common, use = options.common, options.use
    places = Places(common.out, options.contest)
    config = _check(options, places)
    sources = _sources(options, places)
    for note in sources.notes:
        _say(f"note: {note}")
    answers: list[dict[str, Any]] = []
    writes = places.journal is not None

    def show(record: dict[str, Any]) -> None:
        if not writes:
            _print_record(record)
            answers.append(record)

    with with_threads(use.threads):
        recognizer = load_recognizer(common, use)
        if dict(recognizer.card.get("data") or {}).get("is_generated"):
            _say(GENERATED)
        if options.stream:
            # Where events are printed, that there is none is printed as well.
            nothing = _say if writes else print
            tally = watch_streams(
                recognizer, sources, config, common.out, show=show, say=_say, nothing=nothing
            )
        else:
            size = {"n_best": options.n_best, "batch_size": use.batch_size}
            tally = answer_clips(recognizer, sources, places, show=show, say=_say, **size)
    if tally.clips > 1 or tally.resumed:
        _say(str(tally))
    if common.json:
        print_json(_document(options, places, tally, answers))
    return tally.exit_code


def _check(options: "Predict", places: "Places") -> StreamConfig:
    """All that can be wrong before anything is loaded; and how a stream is cut."""
    if options.common.data != "auto":
        raise ValueError("--data names clips to learn from or to score; name what to read behind predict")
    if options.common.split != "auto":
        raise ValueError(
            "--split parts clips to learn from or to score; predict reads every clip that is named"
        )
    if options.stream and options.contest is not None:
        raise ValueError(
            "--contest wants one answer a clip, and --stream finds several; leave one of them out"
        )
    check_count("--n-best", options.n_best)
    if options.stream and options.n_best > 1:
        raise ValueError("--n-best goes with clips; a stream names one word at a time")
    check_count("--batch-size", options.use.batch_size)
    check_count("--threads", options.use.threads, least=0)
    import_av()
    places.check()
    return options.windows


def _sources(options: "Predict", places: "Places") -> ClipSources:
    if options.contest is not None:
        return contest_clips(options.inputs, leave=places.written)
    return find_clips(options.inputs, recursive=options.recursive, leave=places.written)


def _print_record(record: dict[str, Any]) -> None:
    if "start" in record:
        span = f"{record['start']:.2f}-{record['end']:.2f} s"
        print(f"{record['clip']}\t{span}\t{record['label']}\t{record['confidence']:.3f}", flush=True)
        return
    for word, probability in record["candidates"]:
        print(f"{record['clip']}\t{word}\t{probability:.3f}", flush=True)


def _document(
    options: "Predict", places: "Places", tally: "Tally", answers: list[dict[str, Any]]
) -> dict[str, Any]:
    """The JSON of a run; answers that are written nowhere else are in it."""
    named = {"out": places.out, "contest": places.contest}
    written = {name: str(path) for name, path in named.items() if path is not None}
    models = [str(folder) for folder in options.use.folders(options.common)]
    counts = {"clips": tally.clips, "failed": tally.failed, "resumed_after": tally.resumed}
    found = {} if written else {"events" if options.stream else "answers": answers}
    return {**written, "model": models or ["default"], **counts, **found}


def _say(line: str) -> None:
    print(line, file=sys.stderr)
