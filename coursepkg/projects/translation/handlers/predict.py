"""Translate sentences, or a file of any length in constant memory.

Translations of a file grow in `OUT.part`; `OUT.part.json` says what they are
translations of. The same command goes on behind the last whole line.
"""

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coursepkg.app.jobs import OutputPaths, ResumableJsonl, chunks
from coursepkg.app.output import log_to_stderr, print_json
from coursepkg.files import check_new, file_sha256
from coursepkg.projects.translation.competition_rules import follows_rules
from coursepkg.projects.translation.corpus import not_composed, numbered_lines
from coursepkg.projects.translation.ensemble import cards_of, load_system
from coursepkg.projects.translation.placeholders import EMPTIED, INVENTED
from coursepkg.projects.translation.predict import (
    IN_PARTS,
    NOT_COPIED,
    PUT_IN,
    Translation,
    Translator,
)
from coursepkg.validation import counted

if TYPE_CHECKING:
    from coursepkg.projects.translation.commands import Predict
    from coursepkg.projects.translation.t5.predict import T5Translator
    from coursepkg.projects.translation.t5.train import T5Output

CHUNK = 512
"""Lines that are read, translated and written at a time."""
CONTEST_HEADER = ("tieng_trung", "tieng_viet")
"""Columns of the contest's file."""

Form = Literal["reader", "corpus", "contest", "scored"]
"""How a translation is written: as it is read, spaced as in the training data, as a row
of the contest's CSV, or with its confidence and a tab in front."""
SHOWN = 5
"""Lines that a note names."""


def check_file(
    translator: "Translator | T5Translator", path: Path, source: str, target: str
) -> int:
    """Read a file once before anything is translated.

    Returns:
        its lines.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not UTF-8 or too long; file and line are named.
    """
    translator.check_direction(source, target)
    count = 0
    for lines in _chunks(path, 0):
        for number, line in enumerate(lines, start=count + 1):
            if line.strip():
                where = f"{path}, line"
                translator.encode([line], source, target, first=number, name=where)
        count += len(lines)
    if not count:
        raise ValueError(f"{path}: empty; a file to translate has at least one line")
    return count


def translate_file(
    translator: "Translator | T5Translator",
    path: Path,
    out: Path,
    *,
    source: str,
    target: str,
    form: Form = "reader",
    identity: dict[str, Any] | None = None,
    report: Callable[[int], None] = lambda n_lines: None,
    **options: Any,
) -> int:
    """Translate every line of `path` into the same line of `out`; empty ones stay so.

    Args:
        path: UTF-8, one sentence a line.
        out: where to; it must not exist.
        form: how translations are written.
        identity: what else decides the result, such as the model's folder; a part with
            another identity is refused.
        report: called with the number of lines after each chunk.
        **options: of the translator's `translate`.

    Returns:
        lines that were already there from a run before.

    Raises:
        ValueError: a line is bad, `out` exists, or the part beside it belongs to
            another command.
    """
    check_new(out)
    check_file(translator, path, source, target)
    decides = {"input": file_sha256(path), "from": source, "to": target, "form": form}
    part = ResumableJsonl(out, decides | options | (identity or {}))
    n_head = int(form == "contest")
    done = max(0, part.n_lines - n_head)
    if part.n_lines < n_head:
        part.write("\ufeff" + _row(CONTEST_HEADER))
    count, notes = done, _FileNotes(path)
    for lines in _chunks(path, done):
        texts = [line for line in lines if line.strip()]
        found: Iterator[Translation | T5Output] = iter(
            translator.translate(texts, source=source, target=target, **options)
        )
        rows = []
        for number, line in enumerate(lines, start=count + 1):
            one = next(found) if line.strip() else None
            notes.add(number, one)
            rows.append(_written(line, one, form))
        part.write("".join(rows))
        count += len(lines)
        report(count)
    part.finish()
    notes.tell(count - done)
    return done


KINDS = {
    "doubtful": "doubtful: more likely unusable than usable",
    NOT_COPIED: f"{NOT_COPIED}: some number or code",
    PUT_IN: f"{PUT_IN}: some number or code",
    INVENTED: INVENTED,
    EMPTIED: EMPTIED,
}
"""By the beginning of a sentence's note, what is said of a file's lines."""
EMPTY = "empty, and stay so"
"""What is said of lines without a sentence."""
UNLIKE = "does not look like"
"""In the notes of `language_doubt`, before the reason."""


class _FileNotes:
    """What a reader must know of the lines of a file: each kind once, lines named."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kinds: dict[str, list[int]] = {}

    def add(self, number: int, one: "Translation | T5Output | None") -> None:
        note = EMPTY if one is None else getattr(one, "note", "")
        # The parts of a long line may have notes of one kind.
        for kind in dict.fromkeys(map(_kind_of, filter(None, note.split("; ")))):
            self.kinds.setdefault(kind, []).append(number)

    def tell(self, n_lines: int) -> None:
        """Print the kinds that have most lines first, and how many others there are."""
        kinds = sorted(self.kinds.items(), key=lambda kind: -len(kind[1]))
        for note, lines in kinds[:SHOWN]:
            some = ", ".join(map(str, lines[:SHOWN])) + ", ..." * (len(lines) > SHOWN)
            one = f"{self.path}, line {some}"
            many = f"{self.path}: {len(lines)} of {n_lines} lines ({some})"
            log_to_stderr(f"note: {many if len(lines) > 1 else one}: {note}")
        n_others = sum(len(lines) for _, lines in kinds[SHOWN:])
        if n_others:
            log_to_stderr(f"note: {self.path}: {n_others} more lines have other notes")


def _kind_of(note: str) -> str:
    """The note without what differs from line to line."""
    if note.startswith(IN_PARTS):
        return f"{note.rpartition(' in ')[0]} in parts"
    if UNLIKE in note:
        return note.partition(":")[0]
    return next((kind for start, kind in KINDS.items() if note.startswith(start)), note)


def _chunks(path: Path, skip: int) -> Iterator[list[str]]:
    lines = (text for _, text in numbered_lines(path))
    return chunks(itertools.islice(lines, skip, None), CHUNK)


def _written(text: str, one: "Translation | T5Output | None", form: Form) -> str:
    if one is None:
        return _row((text, "")) if form == "contest" else "\n"
    if form == "scored":
        return f"{one.confidence:.3f}\t{one.text}\n"
    if form == "contest":
        return _row((text, one.line))
    return (one.text if form == "reader" else one.line) + "\n"


def _row(cells: tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def predict_command(options: "Predict") -> int:
    """Translate and return the exit code."""
    if bool(options.text) == (options.file is not None):
        raise ValueError("give either --text SENTENCE... or --file FILE")
    if options.text and options.common.out is not None:
        raise ValueError("--out goes with --file; translations of --text are printed")
    if options.text and options.form != "reader":
        raise ValueError(
            f"--form {options.form} goes with --file; translations of --text are"
            " printed in the form for readers"
        )
    translator, folder = load_system(options.common, options.search)
    search = options.search.options()
    if options.file is not None:
        return _file(options, options.file, translator, folder, search)
    _note_composition(options.text, "sentence")
    found = translator.translate(
        list(options.text),
        source=options.common.source,
        target=options.common.target,
        n_best=options.n_best,
        alignments=options.alignments,
        **search,
    )
    _note_each(found, "sentence")
    for one in found:
        for alternative in one.n_best:
            # With n-best the confidence tells the alternatives apart; one translation
            # alone is printed bare.
            print(
                f"{alternative.confidence:.3f}  {alternative.text}"
                if options.n_best > 1
                else alternative.text
            )
        if options.alignments:
            print(*_alignment_lines(one), sep="\n")
    if options.common.json:
        print_json([_as_json(one) for one in found])
    return 0


def _file(
    options: "Predict",
    path: Path,
    translator: Translator,
    folder: Path,
    search: dict[str, Any],
) -> int:
    out = options.common.out
    if out is None:
        raise ValueError("--file needs --out FILE, the file to write")
    # What stands there already is refused when the file is known to be readable.
    OutputPaths({"--out": out}).check(may_exist=("--out",))
    if options.n_best > 1 or options.alignments:
        raise ValueError(
            "--n-best and --alignments go with --text; a file gets one translation a"
            " line"
        )
    is_system = options.search.ensemble or options.search.neighbours
    more = " with its --ensemble and --neighbours" if is_system else ""
    if options.form == "contest" and not all(map(follows_rules, cards_of(translator))):
        log_to_stderr(
            f"note: {folder}{more} was not trained with --contest-rules; nothing says"
            " that the contest allows its output"
        )
    _note_composition((text for _, text in numbered_lines(path)), f"{path}, line")
    done = translate_file(
        translator,
        path,
        out,
        source=options.common.source,
        target=options.common.target,
        form=options.form,
        identity={"model": translator.fingerprint},
        report=lambda n_lines: log_to_stderr(counted(n_lines, "line")),
        **search,
    )
    if done:
        log_to_stderr(f"went on behind line {done}, where an earlier run had stopped")
    if options.common.json:
        print_json({"out": str(out), "resumed_after": done, "model": str(folder)})
    return 0


def _note_composition(texts: Iterable[str], name: str) -> None:
    """Note text in another Unicode form than NFC, which models train on."""
    found = not_composed(texts)
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        log_to_stderr(
            f"note: {name} {found[0]}{more}: not in Unicode form NFC; composed before"
            " translating"
        )


def _note_each(found: Sequence[Any], name: str) -> None:
    """What a reader must know of each sentence."""
    for number, one in enumerate(found, start=1):
        if note := getattr(one, "note", ""):
            log_to_stderr(f"note: {name} {number}: {note}")


def _alignment_lines(one: Translation) -> list[str]:
    if not one.n_best[0].tokens:
        return ["(nothing was translated, so nothing has an alignment)"]
    if one.alignment is None:
        return ["(this kind of model has no cross-attention to show)"]
    columns = [*one.source_tokens, "</s>"]
    best = one.alignment.argmax(dim=1).tolist()
    return [
        f"  {token} <- {columns[i]} ({one.alignment[row, i]:.2f})"
        for row, (token, i) in enumerate(zip(one.n_best[0].tokens, best, strict=True))
    ]


def _as_json(one: Translation) -> dict[str, Any]:
    return {
        "source": one.source,
        "text": one.text,
        "confidence": one.confidence,
        "n_best": [
            {"text": a.text, "confidence": a.confidence, "score": a.score}
            | ({} if a.reverse is None else {"reverse": a.reverse})
            for a in one.n_best
        ],
        "source_tokens": list(one.source_tokens),
        "tokens": list(one.n_best[0].tokens),
        "alignment": (
            None
            if one.alignment is None
            else [[round(w, 4) for w in row] for row in one.alignment.tolist()]
        ),
        **({"note": one.note} if one.note else {}),
        **({"doubtful": one.doubtful} if one.usable is not None else {}),
    }
