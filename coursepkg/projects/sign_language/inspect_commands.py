"""What `coursepkg sign-language audit`, `describe` and `survey` do."""

import json
from collections import Counter
from contextlib import suppress
from typing import Any

import torch

from coursepkg.files import whole_file
from coursepkg.projects.sign_language.command_options import Look
from coursepkg.projects.sign_language.commands import Audit, Describe, Survey
from coursepkg.projects.sign_language.data.facts import probe
from coursepkg.projects.sign_language.data.leaks import find_leaks, leaks_as_json, leaks_as_text
from coursepkg.projects.sign_language.data.problems import report_problems
from coursepkg.projects.sign_language.model.build import build_model
from coursepkg.projects.sign_language.quality import report
from coursepkg.projects.sign_language.quality.classes import count_classes
from coursepkg.projects.sign_language.quality.survey import Survey as Findings
from coursepkg.projects.sign_language.quality.survey import copy_keys, survey
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.videos import Parts, Videos, find_videos
from coursepkg.training.weights import parameter_counts


def audit_command(options: Audit) -> int:
    """Print what is wrong with the clips and what their parts share; 1 where they leak into one another."""
    common = options.common
    videos = with_words(find_videos(common.corpus_name, common.protocol))
    found = look_at_videos(videos, options.look)
    copies = copy_keys(found, videos.files)
    parts = videos.parts(common.protocol, copies)
    leaks = find_leaks(videos.files, parts, copies)
    told = _findings(videos, found)
    print_head(videos)
    print(f"files that cannot be opened: {len(told['unopened']):,}")
    for one in told["unopened"]:
        print(f"  {one['reason']}")
    print(f"clips with broken frames: {told['damaged']:,}; copies of another clip: {told['copies']:,}")
    for group in told["contradictions"]:
        print(f"  the same pictures under several words: {', '.join(group)}")
    print(_parts_as_text(videos, common.protocol, parts))
    print(leaks_as_text(leaks, parts))
    if common.json:
        document = facts(videos) | told | {"protocol": common.protocol}
        document["parts"] = {part: len(numbers) for part, numbers in parts.items()}
        document["absent"] = {part: list(videos.absent(numbers)) for part, numbers in parts.items()}
        print_json(document | {"leaks": bool(leaks), "leaking": leaks_as_json(leaks)})
    return int(bool(leaks))


def describe_command(options: Describe) -> int:
    """Print what there is to know before training. Videos are opened, but only one frame of each is decoded."""
    preset = options.common.preset or "tiny"
    recipe = PRESETS[preset]
    videos = with_words(find_videos(options.common.corpus_name, options.common.protocol))
    parameters = model_parameters(recipe, len(videos.labels))
    document = facts(videos) | statistics(videos)
    document |= {"preset": preset, "parameters": parameters["total"]}
    for name, value in document.items():
        counted = isinstance(value, int) and not isinstance(value, bool)
        print(f"{name}: {f'{value:,}' if counted else value}")
    for name, value in parameters.items():
        if name != "total":
            print(f"  {name}: {value:,}")
    if options.common.json:
        print_json(document | {"parameters by part": parameters, "recipe": recipe.described()})
    return 0


def survey_command(options: Survey) -> int:
    """Print what is in the clips, and write all of it where `--out` says."""
    common = options.common
    if common.out is not None and common.out.is_dir():
        raise ValueError(
            f"--out {common.out} is a folder; name a file in it, such as {common.out / 'survey.json'}"
        )
    videos = find_videos(common.corpus_name, common.protocol)
    found = look_at_videos(videos, options.look)
    print_head(videos)
    print(report.as_text(found, videos.labels))
    document = facts(videos) | report.as_json(found, videos.labels)
    document["problems"] = [problem._asdict() for problem in videos.problems]
    if common.out is not None:
        common.out.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(common.out) as file:
            file.write((json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode())
        print(f"written to {common.out}")
    if common.json:
        print_json(document)
    return 0


def with_words(videos: Videos) -> Videos:
    """The videos, if every one has a word.

    Raises:
        ValueError: some have none; the first is named.
    """
    bare = [file for file in videos.files if not file.label]
    if bare:
        raise ValueError(
            f"--data {videos.name}: {len(bare):,} of {len(videos.files):,} clips have no word, the first is "
            f"{bare[0].path}; put each into a folder that is called as its word"
        )
    return videos


def look_at_videos(videos: Videos, look: Look) -> Findings:
    """What the survey finds in them, every clip decoded."""
    return survey(videos.files, thresholds=look.thresholds, same=look.same, say=print)


def model_parameters(recipe: Recipe, n_words: int) -> dict[str, int]:
    """Trainable numbers of the recipe's network for so many words, by part of it and in `total`."""
    with torch.device("meta"):
        return parameter_counts(build_model(recipe, n_words, pretrained=False))


def statistics(videos: Videos) -> dict[str, Any]:
    """Classes, sizes and lengths of the videos that open, and how many do not."""
    opened = []
    for file in videos.files:
        with suppress(ValueError, OSError):  # counted below; `audit` names each
            opened.append(probe(file.path))
    counts = count_classes([file.label for file in videos.files], videos.labels)
    return {
        "words by band": counts.words_by_band,
        "clips by band": counts.clips_by_band,
        "most clips of a word": max(counts.counts.values()),
        "fewest clips of a word": min(counts.counts.values()),
        "resolutions": dict(Counter(f"{one.width} x {one.height}" for one in opened).most_common()),
        "frames": report.summary([len(one.times) for one in opened]),
        "seconds": report.summary([one.seconds for one in opened]),
        "frames a second": report.summary([one.fps for one in opened]),
        "variable rate": sum(one.has_variable_rate for one in opened),
        "unreadable": len(videos.files) - len(opened),
    }


def facts(videos: Videos) -> dict[str, Any]:
    """What every document begins with."""
    return {
        "corpus": videos.name,
        "generated": videos.is_generated,
        "clips": len(videos.files),
        "words": len(videos.labels),
        "signers": len({file.signer for file in videos.files} - {""}),
        "notes": list(videos.notes),
    }


def print_head(videos: Videos) -> None:
    """How much there is, what must be known of it, and what is wrong with folder and table."""
    told = facts(videos)
    made = "generated clips" if videos.is_generated else "clips"
    signers = f"{told['signers']:,} signers" if told["signers"] else "signers not known"
    print(f"{videos.name}: {told['clips']:,} {made}, {told['words']:,} words, {signers}")
    for line in (*(f"note: {note}" for note in videos.notes), *report_problems(videos.problems)):
        print(line)


def print_json(document: dict[str, Any]) -> None:
    """The last line of a command."""
    print(json.dumps(document, ensure_ascii=False))


def _findings(videos: Videos, found: Findings) -> dict[str, Any]:
    """What is wrong with single clips."""
    contradictions = [[str(found.clips[i].file.path) for i in group] for group in found.contradictions]
    return {
        "problems": [problem._asdict() for problem in videos.problems],
        "unopened": [{"path": str(one.file.path), "reason": one.reason} for one in found.unopened],
        "damaged": sum(bool(clip.broken.n_broken) for clip in found.clips),
        "copies": sum(len(group) - 1 for group in found.groups),
        "contradictions": contradictions,
    }


def _parts_as_text(videos: Videos, protocol: str, parts: Parts) -> str:
    lines = [f"parted by {protocol}:"]
    for part, numbers in parts.items():
        signers = {videos.files[i].signer for i in numbers} - {""}
        absent = videos.absent(numbers)
        lacks = f"lacks {len(absent):,} words: {', '.join(absent[:8])}{', ...' if len(absent) > 8 else ''}"
        lines.append(
            f"  {part}: {len(numbers):,} clips, {len(signers):,} signers; {lacks if absent else 'every word'}"
        )
    return "\n".join(lines)
