"""What `coursepkg sign-language predict` does; for streams see `streams.predict`.

Answers to clips grow in `OUT.part`, a document a line, a batch of clips at a time. At
the end the part gets its name, or becomes the contest's file.

Source 002 says where the contest's clips without labels lie: beside each other in
`public_test` and `private_test` (second tutorial, section III.1). Of the answers it
says that they are the words, one a clip (section II), "in the required form" (section
VII); it neither shows such a file nor names its columns. So the columns are settings
here, to be compared with the contest's own page. The encoding is that of the contest's
other task, whose file the source does show (first tutorial, the baseline's last step):
CSV in UTF-8 that begins with a byte order mark, which spreadsheets need for Vietnamese.
"""

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np

from coursepkg.app.jobs import (
    FoundInputs,
    InputFile,
    InputKind,
    OutputPaths,
    ResumableJsonl,
    RunStats,
    chunks,
    find_inputs,
    printable_name,
)
from coursepkg.app.output import Log, log_to_stderr, print_json, silent
from coursepkg.files import whole_file
from coursepkg.processor import check_threads, with_threads
from coursepkg.projects.sign_language.data.clip import Clip
from coursepkg.projects.sign_language.data.scan import SUFFIXES, TEST_PARTS
from coursepkg.projects.sign_language.data.video_file import import_av
from coursepkg.projects.sign_language.inference import Recognition
from coursepkg.projects.sign_language.options import (
    WITH_WORDS,
    Predict,
    Use,
    refuse_given,
)
from coursepkg.projects.sign_language.recipe import StreamConfig
from coursepkg.projects.sign_language.recognizer import (
    SignRecognizer,
    load_recognizer,
)
from coursepkg.validation import check_choices, check_count

if TYPE_CHECKING:
    from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer

VIDEOS = InputKind(
    SUFFIXES,
    inputs="videos or folders of them",
    missing="no video in it",
    hint=f"videos are known by their ending, such as {SUFFIXES[0]}",
)
GENERATED = (
    "note: the model has learnt from generated figures and made-up motions; of real"
    " signs it knows nothing; for words of your own: coursepkg sign-language enroll"
)
Look = Callable[[Clip], np.ndarray]
Show = Callable[[dict[str, Any]], None]


@runtime_checkable
class NamesFiles(Protocol):
    """What an answer to files needs: `SignRecognizer` and `WordRecognizer` have it."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The words (V,)."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that changes an answer."""

    def recognize_each(
        self,
        paths: Iterable[str | Path],
        *,
        n_best: int = 5,
        batch_size: int = 32,
        keep_going: bool = False,
    ) -> Iterator[Recognition]:
        """Yield one recognition for each file, in order."""


@dataclass(frozen=True)
class ContestForm:
    """How the contest's file of answers is written.

    Raises:
        ValueError: a field is out of range.
    """

    columns: tuple[str, str] = ("video_name", "label")
    """Head of the column of clips and of that of answers."""
    answer: Literal["word", "number"] = "word"
    """The word itself, or its class number in the label mapping."""
    endings: bool = True
    """Whether clips are named with their ending, as `12.mp4`."""

    def __post_init__(self) -> None:
        check_choices(self)
        if not all(name.strip() for name in self.columns):
            raise ValueError(f"columns must be two names, got {self.columns}")


FORM = ContestForm()
"""The usual form."""


def find_clips(
    inputs: Sequence[str | Path], *, recursive: bool = False, leave: Iterable[Path] = ()
) -> FoundInputs:
    """Find videos and those of folders, see `app.jobs.find_inputs`."""
    return find_inputs(inputs, VIDEOS, recursive=recursive, leave=leave)


def contest_clips(
    inputs: Sequence[str | Path], *, leave: Iterable[Path] = ()
) -> FoundInputs:
    """Find every video of a part without labels, unreadable ones included.

    Args:
        inputs: the folder of the part, alone.
        leave: files that are not read.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: it is no folder, more than one, or holds no clip directly.
    """
    parts = " or ".join(TEST_PARTS)
    if len(inputs) != 1 or Path(inputs[0]).is_file():
        raise ValueError(
            f"--contest answers one folder of clips, {parts}; name that folder alone"
        )
    folder = Path(inputs[0])
    inside = [folder / name for name in TEST_PARTS if (folder / name).is_dir()]
    if inside:
        raise ValueError(
            f"{folder} holds several parts; name one of them, such as {inside[0]}"
        )
    return find_clips([folder], leave=leave)


def output_paths(out: Path | None = None, contest: Path | None = None) -> OutputPaths:
    """What a run writes: JSON lines, and the contest's file of answers."""
    return OutputPaths({"--out": out, "--contest": contest})


def answer_clips(
    recognizer: NamesFiles,
    sources: FoundInputs,
    paths: OutputPaths,
    *,
    n_best: int = 1,
    batch_size: int = 32,
    show: Show = lambda record: None,
    log: Log = silent,
) -> RunStats:
    """Name the word of every clip, in order.

    Args:
        recognizer: the model.
        sources: the clips.
        paths: what is written.
        n_best: words of each clip.
        batch_size: clips at once, and answers that are written at once.
        show: receives each answer that this run gives.
        log: receives a line for each clip that cannot be read or is flawed, and some
            about how far the run is.

    Raises:
        ValueError: the part beside an output belongs to another command, or an output
            cannot be written.
        ImportError: av is not installed.
    """
    stats, n_files = RunStats("video"), len(sources.files)
    part: ResumableJsonl | None = None
    if paths.journal is not None:
        decides: dict[str, Any] = {
            "inputs": sources.fingerprint,
            "model": recognizer.fingerprint,
        }
        part = ResumableJsonl(paths.journal, decides | {"n_best": n_best})
        for record in part.records():
            stats.count(failed=bool(record["error"]))
        stats.resumed = stats.done
    size = {"n_best": n_best, "batch_size": batch_size}
    for chunk in chunks(sources.files[stats.resumed :], batch_size):
        videos = [one.path for one in chunk]
        found = recognizer.recognize_each(videos, keep_going=True, **size)
        records = [clip_record(*pair) for pair in zip(chunk, found, strict=True)]
        if part is not None:
            part.add(records)
        for record in records:
            stats.count(failed=bool(record["error"]))
            show(record)
            if record["error"]:
                log(f"error: {record['error']}")
            elif record["flaw"]:
                log(f"note: {record['flaw']}")
        if part is not None and stats.done < n_files:
            log(f"{stats.done:,} of {n_files:,} clips")
    if part is not None:
        _finish(part, paths, recognizer.labels, stats)
    return stats


def clip_record(source: InputFile, found: Recognition) -> dict[str, Any]:
    """An answer as JSON has it; probabilities with four digits, times with three."""
    weights = None if found.weights is None else found.weights.tolist()
    told = {} if not found.none else {"none": round(found.none, 4)}
    return told | {
        "clip": printable_name(source.name),
        "label": found.label,
        "confidence": round(found.confidence, 4),
        "candidates": [[word, round(p, 4)] for word, p in found.candidates],
        "seconds": [round(t, 3) for t in found.times.tolist()],
        "weights": weights and [round(weight, 4) for weight in weights],
        "flaw": printable_name(found.flaw),
        "error": printable_name(found.error),
    }


def write_answers(
    path: Path,
    answers: Iterable[tuple[str, str]],
    labels: Sequence[str],
    form: ContestForm = FORM,
) -> int:
    """Write the contest's file of answers, whole or not at all, in constant memory.

    Args:
        path: where to.
        answers: name and word of each clip; a clip that could not be read has an empty
            word and an empty answer, for the contest counts rows.
        labels: the words in the order of their class numbers.
        form: how it is written.

    Returns:
        its rows below the head.

    Raises:
        ValueError: a clip is named twice, or a word is not in the list.
        OSError: it cannot be written.
    """
    numbers = {word: str(number) for number, word in enumerate(labels)}
    seen: set[str] = set()
    with whole_file(path) as file:
        file.write(("\ufeff" + _row(form.columns)).encode())
        for name, word in answers:
            told = name if form.endings else str(Path(name).with_suffix(""))
            if told in seen:
                raise ValueError(
                    f"{told} stands twice among the clips; the contest wants one answer"
                    " a clip"
                )
            if word and word not in numbers:
                n = len(numbers)
                raise ValueError(
                    f"{word!r} is none of the {n} words that the contest knows"
                )
            seen.add(told)
            given = numbers[word] if word and form.answer == "number" else word
            file.write(_row((told, given)).encode())
    return len(seen)


def predict_command(options: Predict) -> int:
    """Name words; 0, 1 where some videos cannot be read, 2 where none can."""
    common, use = options.common, options.use
    paths = output_paths(common.out, options.contest)
    _check(options, paths)
    answers: list[dict[str, Any]] = []
    writes = paths.journal is not None

    def show(record: dict[str, Any]) -> None:
        if not writes:
            _print_record(record)
            if common.json:
                answers.append(record)

    with with_threads(use.threads):
        stats = _answer(options, paths, show)
    if stats.done > 1 or stats.resumed:
        log_to_stderr(str(stats))
    if common.json:
        print_json(_document(options, paths, stats, answers))
    return stats.exit_code


def _answer(options: Predict, paths: OutputPaths, show: Show) -> RunStats:
    """Name the clips that are given, or the signs of streams or of a camera."""
    if options.camera is not None:
        from coursepkg.projects.sign_language.streams.predict import answer_camera

        return answer_camera(_recognizer(options), options, show)
    if options.contest is not None:
        sources = contest_clips(options.inputs, leave=paths.written)
    else:
        recursive = options.recursive
        sources = find_clips(options.inputs, recursive=recursive, leave=paths.written)
    for note in sources.notes:
        log_to_stderr(f"note: {note}")
    recognizer = _recognizer(options)
    if options.stream:
        from coursepkg.projects.sign_language.streams.predict import answer_streams

        return answer_streams(recognizer, options, sources, show)
    return answer_clips(
        recognizer,
        sources,
        paths,
        n_best=options.n_best,
        batch_size=options.use.batch_size,
        show=show,
        log=log_to_stderr,
    )


def _recognizer(options: Predict) -> "SignRecognizer | WordRecognizer":
    """The enrolled words or the trained model that the options name."""
    if options.words is None:
        return _trained(options)
    from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer

    return WordRecognizer.load(options.words)


def _trained(options: Predict) -> SignRecognizer:
    """The trained model; one that knows generated signs alone is said to."""
    recognizer = load_recognizer(options.common, options.use)
    if dict(recognizer.card.get("data") or {}).get("is_generated"):
        log_to_stderr(GENERATED)
    return recognizer


def _check(options: Predict, paths: OutputPaths) -> None:
    """All that can be wrong before anything is loaded."""
    if options.common.data != "auto":
        raise ValueError(
            "--data names clips to learn from or to score; name what to read behind"
            " predict"
        )
    if options.common.split != "auto":
        raise ValueError(
            "--split parts clips to learn from or to score; predict reads every clip"
            " that is named"
        )
    flag = "--stream" if options.camera is None else "--camera"
    if options.finds_events and options.contest is not None:
        raise ValueError(
            f"--contest wants one answer a clip, and {flag} finds several; leave one"
            " of them out"
        )
    if options.camera is not None and options.inputs:
        raise ValueError(
            f"--camera looks at no file, got {options.inputs[0]}; leave one of them out"
        )
    if options.words is not None:
        _check_words(options)
    if not options.finds_events:
        refuse_given(_given_windows(options), "goes with --stream or --camera")
    check_count("--n-best", options.n_best)
    if options.finds_events and options.n_best > 1:
        raise ValueError("--n-best goes with clips; a stream names one word at a time")
    check_count("--batch-size", options.use.batch_size)
    check_threads(options.use.threads)
    import_av()
    paths.check()


def _check_words(options: Predict) -> None:
    """What goes with enrolled words, and what does not."""
    use, common = options.use, options.common
    refuse_given(
        [
            ("--model", use.model),
            ("--preset", common.preset),
            ("--views", use.views is not None),
            ("--adjust", use.adjust is not None),
            ("--batch-size", use.batch_size != Use.batch_size),
            ("--contest", options.contest is not None),
            *_given_windows(options),
        ],
        WITH_WORDS,
    )


def _given_windows(options: Predict) -> list[tuple[str, object]]:
    """The options of `StreamConfig`, and whether each is given."""
    return [
        (f"--{one.name}", getattr(options.windows, one.name) != one.default)
        for one in fields(StreamConfig)
    ]


def _print_record(record: dict[str, Any]) -> None:
    if "start" in record:
        span = f"{record['start']:.2f}-{record['end']:.2f} s"
        cells = (record["clip"], span, record["label"], f"{record['confidence']:.3f}")
        print(*cells, sep="\t", flush=True)
        return
    if record["candidates"] and not record["label"]:
        print(f"{record['clip']}\t(none of these)\t{record['none']:.3f}", flush=True)
        if len(record["candidates"]) == 1:
            return
    for word, probability in record["candidates"]:
        print(f"{record['clip']}\t{word}\t{probability:.3f}", flush=True)


def _document(
    options: Predict,
    paths: OutputPaths,
    stats: RunStats,
    answers: list[dict[str, Any]],
) -> dict[str, Any]:
    """The JSON of a run; answers that are written nowhere else are in it."""
    written = {flag[2:]: str(path) for flag, path in paths.given.items()}
    models = [str(folder) for folder in options.use.folders(options.common)]
    if options.words is not None:
        models = [str(options.words)]
    counts = {"clips": stats.done, "failed": stats.failed}
    counts["resumed_after"] = stats.resumed
    kind = "events" if options.finds_events else "answers"
    found = {} if written else {kind: answers}
    return {**written, "model": models or ["default"], **counts, **found}


def _row(cells: tuple[str, str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _finish(
    part: ResumableJsonl, paths: OutputPaths, labels: Sequence[str], stats: RunStats
) -> None:
    """Give the outputs their names; nothing stays where no clip could be read."""
    contest = paths.given.get("--contest")
    if stats.exit_code != 2 and contest is not None:
        # Beside its own part, which holds the answers.
        whole = contest.with_name(f"{contest.name}.whole")
        answers = ((one["clip"], one["label"]) for one in part.records())
        write_answers(whole, answers, labels)
        os.replace(whole, contest)
    if stats.exit_code != 2 and "--out" in paths.given:
        part.finish()
    else:
        part.discard()
