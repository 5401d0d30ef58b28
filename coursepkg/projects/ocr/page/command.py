"""What `coursepkg ocr predict` does."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from coursepkg.app.jobs import FoundInputs
from coursepkg.app.output import log_to_stderr, print_json
from coursepkg.processor import check_threads, with_threads
from coursepkg.projects.ocr.detector.engines import DetectorSettings
from coursepkg.projects.ocr.options import (
    Predict,
    ReadOptions,
    load_recognizer,
    reading_options,
    refuse_given,
)
from coursepkg.validation import check_count

if TYPE_CHECKING:
    from coursepkg.projects.ocr.fields.line_tagger import LineTagger
    from coursepkg.projects.ocr.page.output import Output, OutputPaths


def predict_command(options: Predict) -> int:
    """Read and return the exit code."""
    from coursepkg.projects.ocr.page.output import Output, read_sources

    sources, paths = _prepared(options)
    reference = _reference(options, sources)
    tagger = _tagger(options)
    for note in sources.notes:
        log_to_stderr(f"note: {note}")
    with with_threads(options.threads), _reader(options) as (read, identity):
        identity |= {
            "inputs": sources.fingerprint,
            "dpi": options.dpi,
            "overlay": options.overlay,
            "fields": "rules" if tagger is None else tagger.fingerprint,
        }
        output = Output(
            paths,
            identity,
            keep_texts=reference is not None,
            with_fields=paths.out is not None or options.common.json,
            tagger=tagger,
        )
        resumed = output.stats.pages
        together = options.read.batch_size if options.lines else 1
        read_sources(
            sources, read, output, dpi=options.dpi, together=together, log=log_to_stderr
        )
    earlier = f"; {resumed} of these pages in an earlier run" if resumed else ""
    log_to_stderr(f"{output.stats}{earlier}")
    scored = None if reference is None else _score(output.stats.texts or [], reference)
    if options.common.json:
        print_json(_document(output, resumed, scored))
    return 1 if output.stats.failed else 0


def _prepared(options: Predict) -> tuple[FoundInputs, "OutputPaths"]:
    """What to read and where results go, checked before anything is loaded."""
    from coursepkg.projects.ocr.data.images import count_pages
    from coursepkg.projects.ocr.page.output import OutputPaths
    from coursepkg.projects.ocr.page.sources import find_sources, is_pdf

    common = options.common
    _check_meant(options)
    check_count("--dpi", options.dpi, least=36, most=1200)
    check_threads(options.threads)
    paths = OutputPaths(common.out, options.text, options.overlay, False, options.lines)
    sources = find_sources(
        options.inputs, recursive=options.recursive, leave=paths.written()
    )
    first = options.inputs[0]
    one_file = len(options.inputs) == 1 and first.is_file()
    one_page = one_file and not is_pdf(first) and count_pages(first) == 1
    paths = replace(paths, one_page=one_page)
    paths.check()
    read = {one.resolve() for one in options.inputs}
    if options.overlay is not None and options.overlay.resolve() in read:
        raise ValueError(
            f"--overlay {options.overlay} is what is read; name another folder"
        )
    return sources, paths


def _check_meant(options: Predict) -> None:
    """Raises a ValueError where an option is given that reading has no use for."""
    common = options.common
    if common.data != "auto":
        raise ValueError(
            "--data names lines to learn from or to score; name what to read behind"
            " predict"
        )
    refuse_given(
        {
            "--split": common.split != "auto",
            "--generate": common.generate != 0,
            "--texts": common.texts is not None,
        },
        "says what to learn from or to score; predict has no use for it, leave it out",
    )
    if options.model is not None and common.preset is not None:
        raise ValueError(
            "--model and --preset both name the model that reads; give one of them"
        )
    if options.fields is not None and common.out is None and not common.json:
        raise ValueError(
            "--fields needs --out or --json, which hold the fields; add one of them"
        )
    if options.lines:
        _check_for_lines(options)


def _check_for_lines(options: Predict) -> None:
    """Raises a ValueError for options that single lines have no use for."""
    read, usual = options.read, ReadOptions()
    refuse_given(
        {
            "--engine": options.engine != DetectorSettings.engine,
            "--side": options.side != DetectorSettings.side,
            "--min-score": read.min_score != usual.min_score,
            "--word-gap": read.word_gap != usual.word_gap,
            "--margin": read.margin != usual.margin,
            "--no-upside-down": read.upside_down != usual.upside_down,
            "--fields": options.fields is not None,
        },
        "is for pages, and --lines reads pictures of single lines; leave one of them"
        " out",
    )


def _tagger(options: Predict) -> "LineTagger | None":
    """What finds the fields of a receipt; None where the rules do."""
    if options.fields is None:
        return None
    from coursepkg.projects.ocr.fields.line_tagger import LineTagger

    return LineTagger.load(options.fields)


@contextmanager
def _reader(options: Predict) -> Iterator[tuple[Any, dict[str, Any]]]:
    """What reads, and all that decides how; the detector is closed at the end."""
    from coursepkg.projects.ocr.detector.detector import open_detector
    from coursepkg.projects.ocr.page.output import line_reader, page_reader

    common, read = options.common, options.read
    recognizer = load_recognizer(common.model_folder(options.model), options.precision)
    # A reader that the model lacks is an error of the command, not of every page.
    below = recognizer.reading_settings(**reading_options(read))["second_look"]
    identity = asdict(read) | {"second_look": below, "lines": options.lines}
    identity["model"] = recognizer.fingerprint
    del identity["batch_size"]
    if options.lines:
        yield line_reader(recognizer, read), identity
        return
    settings = DetectorSettings(
        engine=options.engine, side=options.side, threads=options.threads
    )
    detector = open_detector(settings)
    identity["detector"] = detector.fingerprint
    try:
        yield page_reader(detector, recognizer, read), identity
    finally:
        detector.close()


def _reference(options: Predict, sources: FoundInputs) -> str | None:
    if options.reference is None:
        return None
    if len(sources.files) != 1:
        raise ValueError(
            f"--reference is the text of one file, and {len(sources.files)} are read"
        )
    if not options.reference.is_file():
        raise ValueError(f"--reference {options.reference}: there is no such file")
    try:
        return options.reference.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(
            f"{options.reference}: not UTF-8; save the file as UTF-8"
        ) from None


def _score(texts: list[str], reference: str) -> dict[str, Any]:
    """Print the score of all pages together against a transcription."""
    from coursepkg.metrics.scoring import score
    from coursepkg.projects.ocr.page.words import BagOfWords, describe_score

    found = score(BagOfWords(), ["\n".join(texts)], [reference], protocol="page")
    print(describe_score(found))
    return {"f1": found.value, "signature": found.signature, **found.details}


def _document(
    output: "Output", resumed: int, scored: dict[str, Any] | None
) -> dict[str, Any]:
    """The JSON of a run, with the page where it is written nowhere else."""
    paths, stats = output.paths, output.stats
    named = {"out": paths.out, "text": paths.text, "overlay": paths.overlay}
    document: dict[str, Any] = {name: str(path) for name, path in named.items() if path}
    document |= {
        "pages": stats.pages,
        "lines": stats.lines,
        "empty": stats.empty,
        "unread": stats.unread,
        "failed": stats.failed,
        "resumed_after": resumed,
    }
    if paths.one_page and output.part is None:
        document["page"] = output.last
    if scored is not None:
        document["score"] = scored
    return document
