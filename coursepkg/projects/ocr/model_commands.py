"""What `coursepkg ocr train` and `export` do."""

from pathlib import Path

import torch

from coursepkg.arguments import check_count
from coursepkg.documents import print_json
from coursepkg.projects.ocr.commands import Export, Train
from coursepkg.projects.ocr.corpus import Corpus
from coursepkg.projects.ocr.evaluate_command import read_part
from coursepkg.projects.ocr.inspect_commands import say_notes
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.train import Trained, train


def train_command(options: Train) -> int:
    """Train, score the dev part, and return the exit code."""
    common = options.common
    check_count("--threads", options.threads, least=0)
    if options.threads or common.is_tiny:
        torch.set_num_threads(options.threads or 1)
    corpus = common.corpus(is_tiny=common.is_tiny)
    say_notes(corpus)
    parts = {name: corpus.part(name) for name in ("train", "dev")}
    for name, part in parts.items():
        if part.unreadable:
            print(f"{name}: {part.summary()}")
    out = common.out or common.run_folder
    trained = train(
        options.recipe,
        parts["train"].lines,
        parts["dev"].lines,
        out,
        data=corpus.described(),
        start=options.start,
        seed=options.seed,
        resume=options.resume,
    )
    return _report(options, trained, corpus, out)


def _report(options: Train, trained: Trained, corpus: Corpus, out: Path) -> int:
    recognizer = Recognizer(trained.model, trained.vocabulary, options.recipe)
    result = read_part(recognizer, trained.card, corpus, "dev").result
    print(result)
    print(f"model in {out}; score it with: coursepkg ocr evaluate --model {out} --part test")
    if options.common.json:
        card = trained.card | {"seconds": trained.history.seconds, "stopped": trained.history.stopped}
        print_json({"out": str(out), "card": card, "dev": result.as_json()})
    return 0


def export_command(options: Export) -> int:
    """Export and return the exit code."""
    from coursepkg.projects.ocr.export.program import export_program

    if options.common.out is None:
        raise ValueError("--out FOLDER must be given, the folder to write")
    folder = options.common.model_folder(options.model)
    card = export_program(Recognizer.load(folder), options.common.out)
    print(f"exported to {options.common.out}")
    if options.common.json:
        print_json({"out": str(options.common.out), "model": folder.name} | card)
    return 0
