"""What `coursepkg ocr evaluate --pages` does: whole pages, read and scored.

Detector and recogniser read each page, and so do the baselines in the same run, page by
page in turns. Each gets

    mean bag-of-words F1    the mean of the pages' F1, and the F1 of all words together
    CER of matched words    by letters, where one wrong mark costs a whole word's F1
    detection recall        words of which enough lies in the boxes of what was read

A page at which a reader fails, as where the detector crashes, counts as one on which it
read nothing, and is named.

See `page.words` and `detector.evaluate` for the definitions and their sources. What is
printed and stored are numbers; the pages go by their numbers. Only the report of the
worst pages shows them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from coursepkg.app.error_gallery import write_gallery
from coursepkg.app.evaluation import limited
from coursepkg.app.output import check_out_folder, print_json, write_texts
from coursepkg.app.published_results import write_measurement
from coursepkg.bench.machine import circumstances
from coursepkg.metrics.scoring import Score, score, score_as_json, sentence_scores
from coursepkg.projects.ocr.detector.evaluate import LEAST_COVERED, covered_words
from coursepkg.projects.ocr.evaluation import N_RESAMPLES
from coursepkg.projects.ocr.line import LineRecognizer
from coursepkg.projects.ocr.options import (
    Evaluate,
    ReadOptions,
    load_recognizer,
    reading_options,
    refuse_given,
)
from coursepkg.projects.ocr.page.compare import (
    READERS,
    PageReader,
    PageScore,
    PageText,
    compare_pages,
    open_coursepkg,
)
from coursepkg.projects.ocr.page.labelled import LabelledPage, find_labelled_pages
from coursepkg.projects.ocr.page.words import (
    BagOfWords,
    MatchedWordCER,
    MeanBagOfWords,
    missed_words,
)
from coursepkg.requirements import installed
from coursepkg.validation import check_count, counted, one_line

SCHEMA = "coursepkg.ocr.labelled_pages/1"
OURS = "coursepkg"
PICTURE_SIDE = 1000
"""Longer side of a page in the report, in pixels."""
STYLE = """
body { max-width: 70rem; }
img { height: auto; max-width: 100%; }
p.words { font-family: monospace; }
ins { background: #d5520040; text-decoration: underline; }
del { background: #0072b240; text-decoration: none; }
"""


@dataclass(frozen=True)
class PagesScore:
    """Scores of one reader on labelled pages."""

    reader: str
    """Its name."""
    mean_f1: Score
    """Mean of the pages' bag-of-words F1, with its interval over pages."""
    f1: Score
    """Bag-of-words F1 of all words together, with precision and recall."""
    cer: Score
    """CER of matched words over all pages, with its interval over pages."""
    n_found: int
    """Words that lie in what was read, see `detector.evaluate.covered_words`."""
    n_words: int
    """Words of all pages."""
    f1_of_pages: tuple[float, ...]
    """Bag-of-words F1, page by page."""
    errors: tuple[str, ...]
    """Why a page could not be read, page by page; empty where it could."""
    seconds: float
    """Median time of a page."""

    @property
    def detection_recall(self) -> float:
        """Share of the words that lie in what was read."""
        return self.n_found / self.n_words

    def __str__(self) -> str:
        detail = self.f1.details
        return "\n  ".join(
            [
                f"{self.reader}: {self.mean_f1}",
                f"all words together: F1 {self.f1.value:.4f}, precision"
                f" {detail['precision']:.4f}, recall {detail['recall']:.4f}",
                str(self.cer),
                f"detection recall {self.detection_recall:.4f}: {self.n_found} of"
                f" {counted(self.n_words, 'word')} have {LEAST_COVERED:.0%} of their"
                " area in what was read",
                f"{self.seconds:.2f} s a page",
                *(
                    f"note: page {number} could not be read, so it scores 0: {error}"
                    for number, error in enumerate(self.errors, 1)
                    if error
                ),
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "reader": self.reader,
            "mean_f1": score_as_json(self.mean_f1),
            "f1": score_as_json(self.f1) | dict(self.f1.details),
            "cer": score_as_json(self.cer) | dict(self.cer.details),
            "detection_recall": self.detection_recall,
            "found": self.n_found,
            "words": self.n_words,
            "f1_of_pages": list(self.f1_of_pages),
            "unread_pages": [i for i, error in enumerate(self.errors, 1) if error],
            "seconds": self.seconds,
        }


def score_labelled(
    pages: Sequence[LabelledPage], found: PageScore, *, protocol: str = ""
) -> PagesScore:
    """The scores of what a reader made of labelled pages.

    Args:
        pages: in the order in which they were read.
        found: what `compare_pages` gives.
        protocol: the set and the way of reading in a few words, for the signatures.
    """
    printed = [page.text for page in pages]
    signed: dict[str, Any] = {"protocol": protocol, "n_resamples": N_RESAMPLES}
    covered = [
        is_found
        for page, boxes in zip(pages, found.boxes, strict=True)
        for is_found in covered_words(boxes, list(page.boxes))
    ]
    return PagesScore(
        found.reader,
        score(MeanBagOfWords(), found.texts, printed, **signed),
        score(BagOfWords(), found.texts, printed, **signed),
        score(MatchedWordCER(), found.texts, printed, **signed),
        sum(covered),
        len(covered),
        tuple(sentence_scores(BagOfWords(), found.texts, printed).tolist()),
        found.errors,
        found.seconds,
    )


def evaluate_pages_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    check_meant(options)
    out = options.common.out
    check_out_folder(out)
    chosen = find_labelled_pages(options.pages, generate=options.common.generate)
    folder = options.common.model_folder(options.model)
    recognizer = load_recognizer(folder, options.precision)
    used = recognizer.describe_reading(**reading_options(options))
    told = f"{chosen.name}{limited(options.limit, len(chosen))}"
    with ExitStack() as at_end:
        readers = _open(options, recognizer, at_end)
        pages = list(islice(chosen, options.limit or None))
        found = compare_pages([(page.image, page.text) for page in pages], readers)
    for name, read in found.items():
        if all(read.errors):
            raise ValueError(f"{name} could read no page; the first: {read.errors[0]}")
    scores = {
        name: score_labelled(
            pages, one, protocol=f"{told}, {used if name == OURS else name}"
        )
        for name, one in found.items()
    }
    for one in scores.values():
        print(one)
    n_empty = sum(page.n_empty for page in pages)
    if n_empty:
        print(f"note: {counted(n_empty, 'label')} without text, left out")
    ratios = _ratios(scores)
    for name, ratio in ratios.items():
        print(f"mean F1 of {OURS} over that of {name}: {ratio:.2f}")
    document = {
        "schema": SCHEMA,
        "pages": chosen.name,
        "n_pages": len(pages),
        "n_empty_labels": n_empty,
        "fingerprint": recognizer.fingerprint,
        "readers": [one.as_json() for one in scores.values()],
        "ratios": ratios,
        **_circumstances(options.baselines),
    }
    if out is not None:
        write_measurement(out / f"pages_{chosen.name}.json", document)
        if options.worst:
            _write_private(out, options.worst, pages, found[OURS], scores[OURS])
    if options.common.json:
        print_json(document)
    return 0


def check_meant(options: Evaluate) -> None:
    """Raises a ValueError for options that whole pages have no use for."""
    common, usual = options.common, Evaluate()
    check_count("--limit", options.limit, least=0)
    check_count("--worst", options.worst, least=0)
    refuse_given(
        {
            "--data": common.data != usual.common.data,
            "--split": common.split != usual.common.split,
            "--texts": common.texts is not None,
            "--part": options.part != usual.part,
            "--worst-by": options.worst_by != usual.worst_by,
        },
        "is for labelled lines, and --pages scores whole pages; leave one of them out",
    )
    if len(set(options.baselines)) < len(options.baselines):
        raise ValueError(
            f"--baselines must name each once, got {' '.join(options.baselines)}"
        )


def _open(
    options: Evaluate, recognizer: LineRecognizer, at_end: ExitStack
) -> dict[str, PageReader]:
    """The readers by name, all with the same number of threads."""
    threads = torch.get_num_threads()
    read = ReadOptions(**reading_options(options), batch_size=options.batch_size)
    opening: dict[str, Callable[[int], tuple[PageReader, Callable[[], None]]]] = {
        OURS: partial(open_coursepkg, recognizer=recognizer, options=read)
    }
    opening |= {
        name: READERS[name]
        for baseline in options.baselines
        for name in READERS
        if name.partition(" ")[0] == baseline
    }
    readers: dict[str, PageReader] = {}
    for name, open_reader in opening.items():
        read_or_fail, close = open_reader(threads)
        readers[name] = partial(_read_if_possible, read_or_fail)
        at_end.callback(close)
    return readers


def _read_if_possible(read: PageReader, image: np.ndarray) -> PageText:
    """A page as it is read, without text where the reader fails at it."""
    try:
        return read(image)
    except (ValueError, OSError) as reason:
        return PageText("", error=one_line(reason).removeprefix("page: "))


def _ratios(scores: Mapping[str, PagesScore]) -> dict[str, float]:
    """Our mean F1 over that of each baseline that read a word right."""
    ours = scores[OURS].mean_f1.value
    return {
        name: ours / one.mean_f1.value
        for name, one in scores.items()
        if name != OURS and one.mean_f1.value
    }


def _circumstances(baselines: Sequence[str]) -> dict[str, Any]:
    found = circumstances()
    packages = ("onnxruntime", "rapidocr")
    found["versions"] |= {name: installed(name) for name in packages}
    if "tesseract" in baselines:
        from coursepkg.projects.ocr.baselines import Tesseract

        found["versions"]["tesseract"] = Tesseract().version.split()[-1]
    return found


def _write_private(
    out: Path,
    most: int,
    pages: Sequence[LabelledPage],
    found: PageScore,
    scores: PagesScore,
) -> None:
    """The texts that were read, and the report of the worst pages."""
    ranked = sorted(range(len(pages)), key=lambda i: (scores.f1_of_pages[i], i))
    shown = ranked[:most]
    write_texts(
        out / "texts",
        {f"{number}.txt": f"{text}\n" for number, text in enumerate(found.texts, 1)},
    )
    write_gallery(
        out / "worst_pages.html",
        title="Worst pages",
        opening=f"<p>{len(shown)} of {len(pages)} pages, worst first: words that were"
        " <ins>read</ins> and are not printed, and words that are <del>printed</del>"
        " and were not read.</p>",
        entries=(
            _entry(i + 1, pages[i], found.texts[i], scores.f1_of_pages[i])
            for i in shown
        ),
        closing="",
        style=STYLE,
    )
    print(f"{counted(len(shown), 'worst page')} in {out / 'worst_pages.html'}")


def _entry(number: int, page: LabelledPage, text: str, f1: float) -> str:
    from coursepkg.viz.image import picture_data

    missed, wrong = missed_words(text, page.text)
    picture = Image.fromarray(page.image)
    picture.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    data = picture_data(np.asarray(picture), "JPEG", quality=80)
    marked = [
        " ".join(f"<{tag}>{escape(word)}</{tag}>" for word in words)
        for tag, words in (("ins", wrong), ("del", missed))
    ]
    return (
        f"<h2>{number}: {escape(page.name)}, F1 {f1:.4f}</h2>\n"
        f'<img src="{data}" alt="page {number}">\n'
        + "".join(f'<p class="words" lang="vi">{words}</p>\n' for words in marked)
    )
