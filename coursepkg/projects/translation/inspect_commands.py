"""What `coursepkg translation describe` does."""

import statistics
from collections.abc import Sequence
from typing import Any

import torch

from coursepkg.documents import check_out_file, hand_over
from coursepkg.projects.translation.commands import Describe
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.examples import fitting
from coursepkg.projects.translation.models import build_model, count_parameters
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.tokenizers import Subwords


def describe(options: Describe) -> int:
    """Print what there is to know before training."""
    check_out_file(options.common.out, "describe.json")
    recipe = PRESETS[options.common.preset or "tiny"]
    parts = load_parts(options.common.corpus(), options.common.source, options.common.target)
    with torch.device("meta"):
        model = build_model(recipe, recipe.vocab_size, recipe.vocab_size)
    document: dict[str, Any] = {
        "preset": options.common.preset or "tiny",
        "corpus": parts.corpus,
        "from": parts.source,
        "to": parts.target,
        "pairs": {"train": len(parts.train), "dev": len(parts.dev), "test": len(parts.test)},
        "words": _lengths(parts),
        "parameters": count_parameters(model),
        "notes": list(parts.notes),
        "recipe": recipe.described(),
    } | _tokens(parts, recipe)
    for name, value in document.items():
        if name not in ("recipe", "notes"):
            print(f"{name}: {value if not isinstance(value, int) else f'{value:,}'}")
    for note in parts.notes:
        print(f"note: {note}")
    hand_over(document, out=options.common.out, as_json=options.common.json)
    return 0


def _lengths(parts: Parts) -> dict[str, dict[str, float]]:
    """Words, or for Chinese characters, of the training sentences."""
    found = {}
    for language, lines in (
        (parts.source, [p.source for p in parts.train]),
        (parts.target, [p.target for p in parts.train]),
    ):
        counts = [len(to_model(line, language) if language == "zh" else line.split()) for line in lines]
        found[language] = _summary(counts)
    return found


def _summary(counts: Sequence[int]) -> dict[str, float]:
    ordered = sorted(counts)
    return {
        "mean": round(statistics.mean(counts), 2),
        "median": statistics.median(counts),
        "95%": ordered[int(0.95 * (len(ordered) - 1))],
        "longest": ordered[-1],
    }


def _tokens(parts: Parts, recipe: Recipe) -> dict[str, Any]:
    """Lengths in subwords, before and after the filter of the recipe."""
    try:
        subwords = Subwords.train([((parts.source, parts.target), parts.train)], recipe)
    except ValueError as reason:
        return {"subwords": f"none: {reason}"}
    languages = parts.source, parts.target
    kept = fitting(parts.train, subwords, languages, recipe.max_len, both_ways=recipe.reads_both)

    def lengths(pairs: Sequence[SentencePair]) -> dict[str, dict[str, float]]:
        sources = subwords.encode_sources([p.source for p in pairs], *languages)
        targets = subwords.encode_targets([p.target for p in pairs], parts.target)
        return {parts.source: _summary([*map(len, sources)]), parts.target: _summary([*map(len, targets)])}

    return {
        "subwords": {"before the filter": lengths(parts.train), "after": lengths(kept.pairs)},
        "too long": len(kept.too_long),
    }
