"""What `coursepkg translation predict` does."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coursepkg.documents import print_json
from coursepkg.projects.translation.commands import Common, Predict, Search
from coursepkg.projects.translation.contest import follows_rules
from coursepkg.projects.translation.corpus import not_composed, numbered_lines
from coursepkg.projects.translation.ensemble import cards_of, together
from coursepkg.projects.translation.neighbours import with_stored_neighbours
from coursepkg.projects.translation.predict import DEFAULT, Translation, Translator
from coursepkg.projects.translation.predict_file import translate_file


def load_translator(
    common: Common, model: Path | None, *, neighbours: bool = False
) -> tuple[Translator, Path]:
    """The model that the options name, with its stored neighbours where they are asked for, and its folder."""
    folder = model or (common.run_folder if common.preset else DEFAULT)
    return _loaded(folder, neighbours), folder


def load_system(common: Common, search: Search) -> tuple[Translator, Path]:
    """The model, or the ensemble, that the options of a search name, and the folder of the first model."""
    first, folder = load_translator(common, search.model, neighbours=search.neighbours)
    others = [_loaded(one, search.neighbours) for one in search.ensemble]
    return (together([first, *others]) if others else first), folder


def _loaded(folder: Path, neighbours: bool) -> Translator:
    translator = Translator.load(folder)
    return with_stored_neighbours(translator, folder) if neighbours else translator


def predict_command(options: Predict) -> int:
    """Translate and return the exit code."""
    if bool(options.text) == (options.file is not None):
        raise ValueError("give either --text SENTENCE... or --file FILE")
    if options.text and options.common.out is not None:
        raise ValueError("--out goes with --file; translations of --text are printed")
    translator, folder = load_system(options.common, options.search)
    search = options.search.options()
    if options.file is not None:
        return _file(options, options.file, translator, folder, search)
    _say_if_composed(options.text, "sentence")
    found = translator.translate(
        list(options.text),
        source=options.common.source,
        target=options.common.target,
        n_best=options.n_best,
        alignments=options.alignments,
        **search,
    )
    for one in found:
        for alternative in one.n_best:
            # With n-best the confidence tells the alternatives apart; one translation alone is printed bare.
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


def _file(options: Predict, path: Path, translator: Translator, folder: Path, search: dict[str, Any]) -> int:
    if options.common.out is None:
        raise ValueError("--file needs --out FILE, the file to write")
    if not options.common.out.absolute().parent.is_dir():
        raise ValueError(f"--out {options.common.out}: the folder does not exist; make it first")
    if options.n_best > 1 or options.alignments:
        raise ValueError("--n-best and --alignments go with --text; a file gets one translation a line")

    def report(n_lines: int) -> None:
        print(f"{n_lines} lines", file=sys.stderr)

    more = (
        " with its --ensemble and --neighbours"
        if options.search.ensemble or options.search.neighbours
        else ""
    )
    if options.form == "contest" and not all(map(follows_rules, cards_of(translator))):
        print(
            f"note: {folder}{more} was not trained with --contest-rules; nothing says that the contest allows "
            "its output",
            file=sys.stderr,
        )
    _say_if_composed((text for _, text in numbered_lines(path)), f"{path}, line")
    done = translate_file(
        translator,
        path,
        options.common.out,
        source=options.common.source,
        target=options.common.target,
        form=options.form,
        identity={"model": translator.fingerprint},
        report=report,
        **search,
    )
    if done:
        print(f"went on behind line {done}, where an earlier run had stopped", file=sys.stderr)
    if options.common.json:
        print(json.dumps({"out": str(options.common.out), "resumed_after": done, "model": str(folder)}))
    return 0


def _say_if_composed(texts: Iterable[str], name: str) -> None:
    """One line about text in another Unicode form than NFC, which the model was trained on."""
    found = not_composed(texts)
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        print(
            f"note: {name} {found[0]}{more}: not in Unicode form NFC; composed before translating",
            file=sys.stderr,
        )


def _alignment_lines(one: Translation) -> list[str]:
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
        "n_best": [{"text": a.text, "confidence": a.confidence, "score": a.score} for a in one.n_best],
        "source_tokens": list(one.source_tokens),
        "tokens": list(one.n_best[0].tokens),
        "alignment": None
        if one.alignment is None
        else [[round(w, 4) for w in row] for row in one.alignment.tolist()],
    }
