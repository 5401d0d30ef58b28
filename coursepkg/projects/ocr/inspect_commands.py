"""What `coursepkg ocr audit`, `describe` and `pack` do."""

from typing import Any

import torch

from coursepkg.arguments import check_count
from coursepkg.documents import check_out_file, check_out_folder, hand_over, print_json
from coursepkg.projects.ocr.commands import Audit, Describe, Pack
from coursepkg.projects.ocr.corpus import PARTS, Corpus
from coursepkg.projects.ocr.data.alphabet import character_vocabulary
from coursepkg.projects.ocr.data.audit import audit_lines
from coursepkg.projects.ocr.data.audit_report import as_json, as_text
from coursepkg.projects.ocr.data.describe import describe_lines
from coursepkg.projects.ocr.model.build import build_model
from coursepkg.projects.ocr.packed_corpus import pack_corpus
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from coursepkg.training.weights import parameter_counts


def audit_command(options: Audit) -> int:
    """Print what is wrong with the lines and what their parts share; 1 where they leak into one another."""
    common = options.common
    check_out_file(common.out, "audit.json")
    corpus = common.corpus(is_tiny=common.is_tiny)
    say_notes(corpus)
    parts = {part: corpus.labels[part] for part in PARTS if corpus.labels[part]}
    found = audit_lines(parts, faults=corpus.faults)
    print(as_text(found))
    hand_over(_facts(corpus) | as_json(found), out=common.out, as_json=common.json)
    return int(found.leaks)


def describe_command(options: Describe) -> int:
    """Print what there is to know before training."""
    common = options.common
    check_out_file(common.out, "describe.json")
    preset = common.preset or "tiny"
    recipe, corpus = PRESETS[preset], common.corpus(is_tiny=common.is_tiny)
    say_notes(corpus)
    labels = [one for part in PARTS for one in corpus.labels[part]]
    statistics = describe_lines(
        [one.text for one in labels], [one.group for one in labels], corpus.sizes(), height=recipe.height
    )
    parameters = model_parameters(recipe, corpus)
    document = _facts(corpus) | statistics
    document |= {"parts": {part: len(corpus.labels[part]) for part in PARTS}, "preset": preset}
    document |= {"parameters": parameters["total"]}
    for name, value in document.items():
        print(f"{name}: {f'{value:,}' if isinstance(value, int) else value}")
    for name, value in parameters.items():
        if name != "total":
            print(f"  {name}: {value:,}")
    document |= {"parameters by part": parameters, "recipe": recipe.described()}
    hand_over(document, out=common.out, as_json=common.json)
    return 0


def model_parameters(recipe: Recipe, corpus: Corpus) -> dict[str, int]:
    """Trainable numbers of the recipe's network for the characters of the corpus, by part of it and in `total`."""
    vocabulary = character_vocabulary(corpus.texts["train"])
    with torch.device("meta"):
        return parameter_counts(build_model(recipe, len(vocabulary), pretrained=False))


def pack_command(options: Pack) -> int:
    """Pack a corpus into the folder `--out`."""
    common = options.common
    if common.out is None:
        raise ValueError("--out FOLDER must be given, the folder to pack into")
    check_out_folder(common.out)
    recipe = PRESETS[common.preset or "tiny"]
    check_count("--height", options.height, least=0)
    box_width = recipe.box_width if options.box_width is None else options.box_width
    check_count("--box-width", box_width, least=0)
    corpus = common.corpus(is_tiny=common.is_tiny)
    say_notes(corpus)
    packed = pack_corpus(corpus, common.out, height=options.height or recipe.height, box_width=box_width)
    print(f"packed in {common.out}; train with: coursepkg ocr train --data {common.out}")
    if common.json:
        print_json(_facts(packed) | {"out": str(common.out)})
    return 0


def say_notes(corpus: Corpus) -> None:
    """Print what must be known of a corpus before anything else is said."""
    for note in corpus.notes:
        print(f"note: {note}")


def _facts(corpus: Corpus) -> dict[str, Any]:
    return {"corpus": corpus.name, "protocol": corpus.protocol, "notes": list(corpus.notes)}
