"""What `coursepkg ocr evaluate` does: read a part of a corpus, score it, and write it all down."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count, check_share
from coursepkg.bench.machine import circumstances
from coursepkg.documents import check_out_folder, print_json
from coursepkg.files import whole_file
from coursepkg.projects.ocr.commands import Common, Evaluate
from coursepkg.projects.ocr.corpora import CORPORA
from coursepkg.projects.ocr.corpus import Corpus
from coursepkg.projects.ocr.data.alphabet import seen_texts
from coursepkg.projects.ocr.data.batches import LineBatches
from coursepkg.projects.ocr.data.mc_ocr_lines import Unreadable, sort_lines
from coursepkg.projects.ocr.data.splits import PROTOCOLS
from coursepkg.projects.ocr.evaluate import Evaluation, commonest_confusions, evaluate
from coursepkg.projects.ocr.learning import fits, picture_options
from coursepkg.projects.ocr.learnt import learnt_texts
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.line_reading import LineReading
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.task import mean_loss
from coursepkg.projects.ocr.worst import Reading, write_worst_page
from coursepkg.training.call_log import read_calls
from coursepkg.training.run_card import stored_card
from coursepkg.wording import counted


@dataclass(frozen=True)
class PartLoss:
    """What training lowers, on a part: teacher forcing, without label smoothing."""

    value: float
    """Nats a character, the end of a line counting as one."""
    n_lines: int
    """Behind it: those that the model could train on, neither too wide nor too long."""
    head: str
    """Whose: `decoder`, its cross-entropy; or `CTC head`, where the decoder was never trained."""

    def __str__(self) -> str:
        return (
            f"loss of the {self.head}: {self.value:.4f} nats a character over {counted(self.n_lines, 'line')}"
        )


@dataclass(frozen=True)
class ReadPart:
    """A part as it was read, and its scores."""

    readings: tuple[Reading, ...]
    result: Evaluation
    loss: PartLoss | None
    """None where the model could train on none of the lines."""
    notes: tuple[str, ...]
    """What a reader of the scores must know."""


def evaluate_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    check_count("--limit", options.limit, least=0)
    check_count("--worst", options.worst, least=0)
    if options.second_look is not None:
        check_share("--second-look", options.second_look)
    check_out_folder(options.common.out)
    folder = options.common.model_folder(options.model)
    recognizer = Recognizer.load(folder, precision=options.precision)
    # A way of reading that the model lacks is an error before anything is read.
    recognizer.said_way(options.reader, options.beam_size, options.second_look)
    card = stored_card(folder)
    corpus = _corpus(options.common, card)
    found = read_part(
        recognizer,
        card,
        corpus,
        options.part,
        limit=options.limit,
        reader=options.reader,
        beam_size=options.beam_size,
        second_look=options.second_look,
        batch_size=options.batch_size,
    )
    print(found.result)
    if found.loss is not None:
        print(found.loss)
    for note in found.notes:
        print(f"note: {note}")
    loss = None if found.loss is None else dataclasses.asdict(found.loss)
    document = found.result.as_json() | {"loss": loss, "notes": list(found.notes), "part": options.part}
    document |= {"corpus": corpus.described(), "model": folder.name, "fingerprint": recognizer.fingerprint}
    document |= _origin(options, recognizer, folder, card) | circumstances()
    if options.common.out is not None:
        _write(options.common.out, found, document)
        _write_worst(options, options.common.out / "worst.html", found.readings, document)
    if options.common.json:
        print_json(document)
    return 0


def read_part(
    recognizer: Recognizer,
    card: Mapping[str, Any],
    corpus: Corpus,
    part: str,
    *,
    limit: int = 0,
    reader: str | None = None,
    beam_size: int | None = None,
    second_look: int | float | None = None,
    batch_size: int = 64,
) -> ReadPart:
    """Read a part of a corpus and score it; a line whose picture cannot be read counts as read wrong.

    Args:
        recognizer: what reads.
        card: of its model, which says what it learnt from.
        corpus: to read.
        part: train, dev or test.
        limit: so many of its lines, the first ones; 0 takes all.
        reader: see `Recognizer.read_lines`.
        beam_size: see there.
        second_look: see there.
        batch_size: see there.
    """
    lines = corpus.lines(part, limit)
    way: dict[str, Any] = {"reader": reader, "beam_size": beam_size, "second_look": second_look}
    found = _read(recognizer, lines, batch_size=batch_size, **way)
    references = [line.text for line in lines]
    learnt, unclear = learnt_texts(card, corpus)
    limited = f", first {limit}" if limit and limit < len(corpus.labels[part]) else ""
    used = recognizer.said_way(**way)
    result = evaluate(
        [None if one.error is not None else one.text for one in found],
        references,
        protocol=f"{corpus.name} {part}{limited}, split {corpus.protocol}, {used}",
        seen=None if learnt is None else seen_texts(learnt, references),
        groups=[line.group for line in lines],
    )
    both = sort_lines(lines)
    reasons = [both.summary()] if both.unreadable else []
    return ReadPart(
        tuple(_reading(line, one) for line, one in zip(lines, found, strict=True)),
        result,
        part_loss(recognizer, both.lines),
        (*corpus.notes, *reasons, *unclear),
    )


def part_loss(recognizer: Recognizer, lines: Sequence[TextLine]) -> PartLoss | None:
    """The loss on some lines, those left out that the model could not train on; None where that is all of them.

    The model then learns what its recipe says.
    """
    model, recipe = recognizer.model, recognizer.recipe
    fitting = [line for line in lines if fits(recipe, line)]
    if not fitting:
        return None
    # Weights do not say what they learnt: of a network without a trained decoder, only the CTC loss means anything.
    if model.learns != recipe.learns:
        model.let_learn(recipe.learns)
    batches = LineBatches(fitting, recognizer.vocabulary, shuffle=False, **picture_options(recipe))
    head = "CTC head" if recipe.learns == "ctc" else "decoder"
    return PartLoss(mean_loss(model, batches.epoch(0)), len(fitting), head)


def _read(recognizer: Recognizer, lines: Sequence[TextLine | Unreadable], **way: Any) -> list[LineReading]:
    """A reading of each line; one without a picture has its reason as an error."""
    pictures = [line.image for line in lines if isinstance(line, TextLine)]
    found = iter(recognizer.read_lines(pictures, keep_going=True, **way))
    return [next(found) if isinstance(line, TextLine) else LineReading((), line.reason) for line in lines]


def _reading(line: TextLine | Unreadable, found: LineReading) -> Reading:
    image = line.image if isinstance(line, TextLine) else None
    return Reading(image, line.text, found.text, found.confidence, line.name)


def _corpus(common: Common, card: Mapping[str, Any]) -> Corpus:
    """The lines that the options name; without a name those of the set that the model learnt from."""
    learnt = card.get("data")
    if common.data == "auto" and isinstance(learnt, dict) and learnt.get("name") in CORPORA:
        protocol = learnt.get("protocol")
        split = protocol if protocol in PROTOCOLS and common.split == "auto" else common.split
        generate = common.generate or int(learnt.get("generate", 0))
        common = dataclasses.replace(common, data=learnt["name"], split=split, generate=generate)
    return common.corpus(is_tiny=common.preset == "tiny")


def _origin(
    options: Evaluate, recognizer: Recognizer, folder: Path, card: Mapping[str, Any]
) -> dict[str, Any]:
    """The model with its recipe, seed and data, and how it read."""
    recipe = recognizer.recipe
    return {
        "recipe": recipe.described(),
        "seed": card.get("seed"),
        "training": {name: value for name, value in card.items() if name not in ("recipe", "seed")}
        | {"calls": read_calls(folder)},
        "reading": {
            "reader": options.reader or recipe.reader,
            "beam_size": options.beam_size or recipe.beam_size,
            "second_look": recognizer.second_look_below(
                options.reader, options.beam_size, options.second_look
            ),
            "dtype": str(recognizer.dtype).removeprefix("torch."),
        },
    }


def _write(out: Path, found: ReadPart, document: dict[str, Any]) -> None:
    """Readings, references and scores, each file whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    result = found.result
    document["confusions"] = commonest_confusions(result.hypotheses, result.references)
    rows = [
        f"{one.name}\t{one.confidence:.4f}\t{one.reference}\t{one.hypothesis}\n" for one in found.readings
    ]
    files = {
        "hypotheses.txt": "\n".join(result.hypotheses) + "\n",
        "references.txt": "\n".join(result.references) + "\n",
        "readings.tsv": "".join(["name\tconfidence\treference\thypothesis\n", *rows]),
        "evaluation.json": json.dumps(document, ensure_ascii=False, indent=2) + "\n",
    }
    for name, content in files.items():
        with whole_file(out / name) as file:
            file.write(content.encode())


def _write_worst(
    options: Evaluate, path: Path, readings: Sequence[Reading], document: Mapping[str, Any]
) -> None:
    title = f"Worst readings of {document['model']}: {document['corpus']['name']}, {document['part']}"
    shown = write_worst_page(path, readings, title=title, most=options.worst, order=options.worst_by)
    print(f"{shown} worst readings in {path}")
