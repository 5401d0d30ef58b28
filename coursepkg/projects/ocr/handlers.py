"""What `coursepkg ocr audit|describe|pack|train|evaluate|export` do."""

import dataclasses
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.app.evaluation import limited, origin_of
from coursepkg.app.export import CARD as EXPORT_CARD
from coursepkg.app.model_folder import check_finished, start_folder
from coursepkg.app.options import set_training_threads
from coursepkg.app.output import (
    check_out_file,
    check_out_folder,
    print_json,
    required_out,
    write_json_output,
    write_texts,
)
from coursepkg.app.training_run import Trained
from coursepkg.app.verbs import (
    export_model,
    model_parameters,
    parameters_as_text,
    report_findings,
    report_training,
)
from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json
from coursepkg.projects.ocr.corpora import CORPORA
from coursepkg.projects.ocr.corpus import PARTS, Corpus, pack_corpus
from coursepkg.projects.ocr.data.audit import (
    as_json,
    as_text,
    audit_lines,
    describe_lines,
)
from coursepkg.projects.ocr.data.batches import (
    LineBatches,
    character_vocabulary,
    seen_texts,
)
from coursepkg.projects.ocr.data.splits import PROTOCOLS
from coursepkg.projects.ocr.error_gallery import Reading, write_error_gallery
from coursepkg.projects.ocr.evaluation import (
    Evaluation,
    commonest_confusions,
    evaluate,
    training_texts,
)
from coursepkg.projects.ocr.line import (
    LineReading,
    LineRecognizer,
    TextLine,
    Unreadable,
    sort_lines,
)
from coursepkg.projects.ocr.model.recognizer import build_model
from coursepkg.projects.ocr.options import (
    Audit,
    Common,
    Describe,
    Evaluate,
    Export,
    Pack,
    Train,
    load_recognizer,
    reading_options,
)
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.projects.ocr.training import (
    fits,
    mean_loss,
    picture_options,
    train,
)
from coursepkg.training.run_card import check_free, stored_card
from coursepkg.validation import check_count, check_share, counted


def audit_command(options: Audit) -> int:
    """Print faults of the lines and what their parts share; 1 where they leak."""
    common = options.common
    check_out_file(common.out, "audit.json")
    corpus = common.corpus(is_tiny=common.is_tiny)
    print_notes(corpus)
    parts = {part: corpus.labels[part] for part in PARTS if corpus.labels[part]}
    found = audit_lines(parts, faults=corpus.faults)
    print(as_text(found))
    return report_findings(
        _facts(corpus) | as_json(found),
        out=common.out,
        as_json=common.json,
        leaks=found.leaks,
    )


def describe_command(options: Describe) -> int:
    """Print what there is to know before training."""
    common = options.common
    check_out_file(common.out, "describe.json")
    preset = common.preset or "tiny"
    recipe, corpus = PRESETS[preset], common.corpus(is_tiny=common.is_tiny)
    print_notes(corpus)
    labels = [one for part in PARTS for one in corpus.labels[part]]
    statistics = describe_lines(
        [one.text for one in labels],
        [one.group for one in labels],
        corpus.sizes(),
        height=recipe.height,
    )
    vocab_size = len(character_vocabulary(corpus.texts["train"]))
    parameters = model_parameters(
        lambda: build_model(recipe, vocab_size, pretrained=False)
    )
    document = _facts(corpus) | statistics
    document |= {
        "parts": {part: len(corpus.labels[part]) for part in PARTS},
        "preset": preset,
        "parameters": parameters["total"],
    }
    for name, value in document.items():
        print(f"{name}: {f'{value:,}' if isinstance(value, int) else value}")
    print(parameters_as_text(parameters))
    document |= {"parameters by part": parameters, "recipe": recipe.described()}
    write_json_output(document, out=common.out, as_json=common.json)
    return 0


def pack_command(options: Pack) -> int:
    """Pack a corpus into the folder `--out`."""
    common = options.common
    out = required_out(common.out, "the folder to pack into")
    recipe = PRESETS[common.preset or "tiny"]
    check_count("--height", options.height, least=0)
    box_width = recipe.box_width if options.box_width is None else options.box_width
    check_count("--box-width", box_width, least=0)
    corpus = common.corpus(is_tiny=common.is_tiny)
    print_notes(corpus)
    height = options.height or recipe.height
    packed = pack_corpus(corpus, out, height=height, box_width=box_width)
    print(f"packed in {out}; train with: coursepkg ocr train --data {out}")
    if common.json:
        print_json(_facts(packed) | {"out": str(out)})
    return 0


def print_notes(corpus: Corpus) -> None:
    """Print what must be known of a corpus before anything else is said."""
    for note in corpus.notes:
        print(f"note: {note}")


def _facts(corpus: Corpus) -> dict[str, Any]:
    return {
        "corpus": corpus.name,
        "protocol": corpus.protocol,
        "notes": list(corpus.notes),
    }


@dataclass(frozen=True)
class PartLoss:
    """What training lowers, on a part: teacher forcing, without label smoothing."""

    value: float
    """Nats a character, the end of a line counting as one."""
    n_lines: int
    """Behind it: those that the model could train on, neither too wide nor too long."""
    head: str
    """Whose: `decoder`, its cross-entropy; or `CTC head`, where the decoder was never
    trained."""

    def __str__(self) -> str:
        return (
            f"loss of the {self.head}: {self.value:.4f} nats a character over"
            f" {counted(self.n_lines, 'line')}"
        )


@dataclass(frozen=True)
class ReadPart:
    """A part as it was read, and its scores."""

    readings: tuple[Reading, ...]
    result: Evaluation
    loss: PartLoss | None
    """None of an export, and where the model could train on none of the lines."""
    notes: tuple[str, ...]
    """What a reader of the scores must know."""


def evaluate_command(options: Evaluate) -> int:
    """Score, report and return the exit code."""
    if options.pages:
        from coursepkg.projects.ocr.page.evaluate import evaluate_pages_command

        return evaluate_pages_command(options)
    if options.baselines:
        raise ValueError("--baselines read whole pages; name them by --pages")
    check_count("--limit", options.limit, least=0)
    check_count("--worst", options.worst, least=0)
    if options.second_look is not None:
        check_share("--second-look", options.second_look)
    check_out_folder(options.common.out)
    folder = options.common.model_folder(options.model)
    recognizer = load_recognizer(folder, options.precision)
    way = reading_options(options)
    # A way of reading that the model lacks is an error before anything is read.
    settings = recognizer.reading_settings(**way)
    is_model = isinstance(recognizer, Recognizer)
    card = stored_card(folder) if is_model else read_json(folder / EXPORT_CARD)
    corpus = _corpus(options.common, card)
    found = read_part(
        recognizer,
        card,
        corpus,
        options.part,
        limit=options.limit,
        batch_size=options.batch_size,
        **way,
    )
    print(found.result)
    if found.loss is not None:
        print(found.loss)
    for note in found.notes:
        print(f"note: {note}")
    loss = None if found.loss is None else dataclasses.asdict(found.loss)
    document = found.result.as_json() | {
        "loss": loss,
        "notes": list(found.notes),
        "part": options.part,
        "corpus": corpus.described(),
        "model": folder.name,
        "fingerprint": recognizer.fingerprint,
    }
    if isinstance(recognizer, Recognizer):
        document |= origin_of(recognizer.recipe, card, folder)
    else:
        document["exported_from"] = card.get("fingerprint")
    document |= {"reading": settings, **circumstances()}
    if options.common.out is not None:
        _write(options, options.common.out, found, document)
    if options.common.json:
        print_json(document)
    return 0


def read_part(
    recognizer: LineRecognizer,
    card: Mapping[str, Any],
    corpus: Corpus,
    part: str,
    *,
    limit: int = 0,
    batch_size: int = 64,
    **way: Any,
) -> ReadPart:
    """Read a part of a corpus and score it; unreadable lines count as wrong.

    Args:
        recognizer: what reads.
        card: of its model, which says what it learnt from.
        corpus: to read.
        part: train, dev or test.
        limit: so many of its lines, the first ones; 0 takes all.
        batch_size: see `Recognizer.read_lines`.
        **way: reader, beam_size and second_look of it.
    """
    lines = corpus.lines(part, limit)
    found = _read(recognizer, lines, batch_size=batch_size, **way)
    references = [line.text for line in lines]
    learnt, unclear = training_texts(card, corpus)
    first = limited(limit, len(corpus.labels[part]))
    used = recognizer.describe_reading(**way)
    result = evaluate(
        [None if one.error is not None else one.text for one in found],
        references,
        protocol=f"{corpus.name} {part}{first}, split {corpus.protocol}, {used}",
        seen=None if learnt is None else seen_texts(learnt, references),
        groups=[line.group for line in lines],
    )
    both = sort_lines(lines)
    reasons = [both.summary()] if both.unreadable else []
    if isinstance(recognizer, Recognizer):
        loss = part_loss(recognizer, both.lines)
    else:
        loss = None
        reasons.append("no loss, which needs the model that was exported")
    return ReadPart(
        tuple(_reading(line, one) for line, one in zip(lines, found, strict=True)),
        result,
        loss,
        (*corpus.notes, *reasons, *unclear),
    )


def part_loss(recognizer: Recognizer, lines: Sequence[TextLine]) -> PartLoss | None:
    """The loss on the lines that the model could train on; None without any.

    The model then learns what its recipe says.
    """
    model, recipe = recognizer.model, recognizer.recipe
    fitting = [line for line in lines if fits(recipe, line)]
    if not fitting:
        return None
    # Weights do not say what they learnt: of a network without a trained decoder, only
    # the CTC loss means anything.
    if model.learns != recipe.learns:
        model.set_trainable(recipe.learns)
    batches = LineBatches(
        fitting, recognizer.vocabulary, shuffle=False, **picture_options(recipe)
    )
    head = "CTC head" if recipe.learns == "ctc" else "decoder"
    return PartLoss(mean_loss(model, batches.epoch(0)), len(fitting), head)


def _read(
    recognizer: LineRecognizer, lines: Sequence[TextLine | Unreadable], **way: Any
) -> list[LineReading]:
    """A reading of each line; one without a picture has its reason as an error."""
    pictures = [line.image for line in lines if isinstance(line, TextLine)]
    found = iter(recognizer.read_lines(pictures, keep_going=True, **way))
    return [
        next(found) if isinstance(line, TextLine) else LineReading((), line.reason)
        for line in lines
    ]


def _reading(line: TextLine | Unreadable, found: LineReading) -> Reading:
    image = line.image if isinstance(line, TextLine) else None
    return Reading(image, line.text, found.text, found.confidence, line.name)


def _corpus(common: Common, card: Mapping[str, Any]) -> Corpus:
    """The lines that the options name, or those that the model learnt from.

    Raises:
        ValueError: it learnt from a folder of the user, which is not named.
    """
    learnt = card.get("data")
    name = learnt.get("name") if isinstance(learnt, dict) else None
    if common.data == "auto" and isinstance(learnt, dict) and name is not None:
        if name not in CORPORA:
            raise ValueError(
                f"the model learnt from the folder {name}; name it with --data, or one"
                f" of {', '.join(CORPORA)}"
            )
        split, protocol = common.split, learnt.get("protocol")
        if protocol in PROTOCOLS and split == "auto":
            split = protocol
        generate = common.generate or int(learnt.get("generate", 0))
        common = dataclasses.replace(common, data=name, split=split, generate=generate)
    return common.corpus(is_tiny=common.preset == "tiny")


def _write(
    options: Evaluate, out: Path, found: ReadPart, document: dict[str, Any]
) -> None:
    """Readings, references, scores and the page of the worst, each file whole."""
    result = found.result
    document["confusions"] = commonest_confusions(result.hypotheses, result.references)
    rows = [
        f"{one.name}\t{one.confidence:.4f}\t{one.reference}\t{one.hypothesis}\n"
        for one in found.readings
    ]
    files = {
        "hypotheses.txt": "\n".join(result.hypotheses) + "\n",
        "references.txt": "\n".join(result.references) + "\n",
        "readings.tsv": "".join(["name\tconfidence\treference\thypothesis\n", *rows]),
        "evaluation.json": json.dumps(document, ensure_ascii=False, indent=2) + "\n",
    }
    write_texts(out, files)
    title = (
        f"Worst readings of {document['model']}: {document['corpus']['name']},"
        f" {document['part']}"
    )
    path, most, order = out / "worst.html", options.worst, options.worst_by
    shown = write_error_gallery(
        path, found.readings, title=title, most=most, order=order
    )
    print(f"{shown} worst readings in {path}")


def train_command(options: Train) -> int:
    """Train, score the dev part, and return the exit code."""
    common = options.common
    out = common.out or common.run_folder
    check_out_folder(out)
    check_free(out, options.resume)
    start = start_folder(options.start, DEFAULT)
    if start is not None:
        check_finished(start)
    # The model to begin with is larger than `tiny`: it trains on all cores.
    is_small = start is None or common.preset is not None
    set_training_threads(options.threads, common.preset if is_small else "small")
    corpus = common.corpus(is_tiny=common.is_tiny)
    print_notes(corpus)
    parts = {name: corpus.part(name) for name in ("train", "dev")}
    for name, part in parts.items():
        if part.unreadable:
            print(f"{name}: {part.summary()}")
    trained = train(
        options.recipe,
        parts["train"].lines,
        parts["dev"].lines,
        out,
        data=corpus.described(),
        start=start,
        seed=options.seed,
        resume=options.resume,
    )
    recognizer = Recognizer(trained.model, trained.vocabulary, options.recipe)
    scores = read_part(recognizer, trained.card, corpus, "dev").result
    then = f"score it with: {_scoring(options, out)}"
    run = Trained(trained.model, trained.history, trained.card)
    return report_training(run, scores, out=out, then=then, as_json=common.json)


def _scoring(options: Train, out: Path) -> str:
    """The command that scores a model on the test part of what it learnt from."""
    common = options.common
    given = ["--model", out]
    # A card names sets, and no folder or file of a user.
    if common.data not in ("auto", *CORPORA):
        given += ["--data", common.data]
        given += [] if common.split == "auto" else ["--split", common.split]
    if common.texts is not None:
        given += ["--texts", common.texts]
    command = ("coursepkg", "ocr", "evaluate", *given, "--part", "test")
    return shlex.join(map(str, command))


def export_command(options: Export) -> int:
    """Export and return the exit code."""
    from coursepkg.projects.ocr.export import export_program

    folder = options.common.model_folder(options.model)
    return export_model(
        options.common.out,
        folder,
        lambda out: export_program(
            Recognizer.load(folder),
            out,
            options.format,
            training=stored_card(folder),
        ),
        lambda card: "",
        as_json=options.common.json,
    )
