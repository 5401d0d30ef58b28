"""What `coursepkg sign-language audit`, `describe` and `survey` do."""

from collections.abc import Sequence
from typing import Any

import torch

from coursepkg.documents import check_out_file, hand_over
from coursepkg.projects.sign_language.command_options import Look
from coursepkg.projects.sign_language.commands import Audit, Describe, Survey
from coursepkg.projects.sign_language.data.leaks import find_leaks, leaks_as_json, leaks_as_text
from coursepkg.projects.sign_language.data.problems import report_problems
from coursepkg.projects.sign_language.describe import statistics, statistics_as_text
from coursepkg.projects.sign_language.model.build import build_model
from coursepkg.projects.sign_language.quality import report
from coursepkg.projects.sign_language.quality.survey import Survey as Findings
from coursepkg.projects.sign_language.quality.survey import copy_keys, survey
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.videos import Parts, Videos, find_videos
from coursepkg.projects.sign_language.wording import known_signers, lacking, signer_notes
from coursepkg.training.weights import parameter_counts
from coursepkg.wording import counted


def audit_command(options: Audit) -> int:
    """Print what is wrong with the clips and what their parts share; 1 where they leak into one another."""
    common = options.common
    check_out_file(common.out, "audit.json")
    videos = with_words(find_videos(common.corpus_name, common.protocol))
    found = look_at_videos(videos, options.look)
    _check_opened(videos, found)
    copies = copy_keys(found, videos.files)
    parts = videos.parts(common.protocol, copies)
    leaks = find_leaks(videos.files, parts, copies)
    told = _findings(videos, found)
    shut = {one.file.path for one in found.unopened}
    unopened = {i for i, file in enumerate(videos.files) if file.path in shut}
    print_head(videos)
    print(f"files that cannot be opened: {len(told['unopened']):,}")
    for one in told["unopened"]:
        print(f"  {one['reason']}")
    print(f"clips of variable frame rate: {len(told['variable_rate']):,}")
    for path in told["variable_rate"][: report.SHOWN]:
        print(f"  {path}")
    print(f"clips with broken frames: {told['damaged']:,}; copies of another clip: {told['copies']:,}")
    for group in told["contradictions"]:
        print(f"  the same pictures under several words: {', '.join(group)}")
    print(_parts_as_text(videos, common.protocol, parts, unopened))
    document = facts(videos) | told | {"protocol": common.protocol}
    print(leaks_as_text(leaks, parts, signers_known=bool(document["signers"])))
    document["parts"] = {part: len(numbers) for part, numbers in parts.items()}
    document["absent"] = {part: list(_absent(videos, numbers, unopened)) for part, numbers in parts.items()}
    document["copies_by_part"] = {
        part: found.part(videos.files[i] for i in numbers).n_repeats for part, numbers in parts.items()
    }
    document |= {"leaks": bool(leaks), "leaking": leaks_as_json(leaks)}
    hand_over(document, out=common.out, as_json=common.json)
    return int(bool(leaks))


def describe_command(options: Describe) -> int:
    """Print what there is to know before training. Videos are opened, but only one frame of each is decoded."""
    common = options.common
    check_out_file(common.out, "describe.json")
    preset = common.preset or "tiny"
    recipe = PRESETS[preset]
    videos = with_words(find_videos(common.corpus_name, common.protocol))
    parameters = model_parameters(recipe, len(videos.labels))
    told = statistics(videos)
    print_head(videos)
    print(statistics_as_text(told))
    print(f"preset: {preset}")
    print(f"parameters: {parameters['total']:,}")
    for name, value in parameters.items():
        if name != "total":
            print(f"  {name}: {value:,}")
    document = facts(videos) | told | {"preset": preset, "parameters": parameters["total"]}
    document |= {"parameters by part": parameters, "recipe": recipe.described()}
    hand_over(document, out=common.out, as_json=common.json)
    return 0


def survey_command(options: Survey) -> int:
    """Print what is in the clips, and write all of it where `--out` says."""
    common = options.common
    check_out_file(common.out, "survey.json")
    videos = find_videos(common.corpus_name, common.protocol)
    found = look_at_videos(videos, options.look)
    print_head(videos)
    print(report.as_text(found, videos.labels, videos.given_files))
    document = facts(videos) | report.as_json(found, videos.labels, videos.given_files)
    document["problems"] = [problem._asdict() for problem in videos.problems]
    hand_over(document, out=common.out, as_json=common.json)
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
    made = counted(told["clips"], "generated clip" if videos.is_generated else "clip")
    signers = counted(told["signers"], "signer") if told["signers"] else "signers not known"
    print(f"{videos.name}: {made}, {counted(told['words'], 'word')}, {signers}")
    problems = report_problems(videos.problems, "problems of folder and table")
    for line in (*(f"note: {note}" for note in videos.notes), *problems):
        print(line)


def _check_opened(videos: Videos, found: Findings) -> None:
    """Without a clip that opens there is nothing to look at, and nothing that could leak."""
    if found.clips:
        return
    n, why = len(found.unopened), found.unopened[0].reason
    what = "its only clip cannot be opened" if n == 1 else f"none of its {n:,} clips can be opened; the first"
    raise ValueError(f"--data {videos.name}: {what}: {why}")


def _findings(videos: Videos, found: Findings) -> dict[str, Any]:
    """What is wrong with single clips."""
    contradictions = [[str(found.clips[i].file.path) for i in group] for group in found.contradictions]
    return {
        "problems": [problem._asdict() for problem in videos.problems],
        "unopened": [{"path": str(one.file.path), "reason": one.reason} for one in found.unopened],
        "variable_rate": [str(clip.file.path) for clip in found.clips if clip.has_variable_rate],
        "damaged": sum(bool(clip.broken.n_broken) for clip in found.clips),
        "copies": found.n_repeats,
        "contradictions": contradictions,
    }


def _parts_as_text(videos: Videos, protocol: str, parts: Parts, unopened: set[int]) -> str:
    """A line for each part; a word counts as there where a clip of it opens."""
    lines = [f"parted by {protocol}:"]
    for part, numbers in parts.items():
        shut = len(unopened.intersection(numbers))
        told = counted(len(numbers), "clip") + (f", {shut:,} of them cannot be opened" if shut else "")
        signers = known_signers((videos.files[i].signer for i in numbers), ", ")
        lines.append(f"  {part}: {told}{signers}; {lacking(_absent(videos, numbers, unopened))}")
    notes = signer_notes((file.signer for file in videos.files), protocol)
    return "\n".join([*lines, *(f"note: {note}" for note in notes)])


def _absent(videos: Videos, numbers: Sequence[int], unopened: set[int]) -> tuple[str, ...]:
    return videos.absent([i for i in numbers if i not in unopened])
