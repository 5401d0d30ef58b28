"""What `coursepkg sign-language audit`, `describe`, `survey` and `prepare` do."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coursepkg.app.output import (
    check_out_file,
    print_json,
    required_out,
    write_json_output,
)
from coursepkg.app.report import SHOWN, counts_text, spread, summary
from coursepkg.app.verbs import model_parameters, parameters_as_text, report_findings
from coursepkg.projects.sign_language.corpora import (
    Parts,
    Videos,
    find_videos,
    state_of,
)
from coursepkg.projects.sign_language.corpus import (
    CARD,
    SignCorpus,
    growing_folder,
    open_corpus,
    store_corpus,
)
from coursepkg.projects.sign_language.data.label_mapping import count_classes
from coursepkg.projects.sign_language.data.scan import report_problems
from coursepkg.projects.sign_language.data.splits import (
    find_leaks,
    known_signers,
    lacking,
    leaks_as_json,
    leaks_as_text,
    signer_notes,
)
from coursepkg.projects.sign_language.data.video import CacheConfig
from coursepkg.projects.sign_language.data.video_file import probe
from coursepkg.projects.sign_language.model.classifier import build_model
from coursepkg.projects.sign_language.options import (
    Audit,
    Describe,
    Look,
    Prepare,
    Survey,
)
from coursepkg.projects.sign_language.quality import report
from coursepkg.projects.sign_language.quality.plan import (
    check_plan,
    plan_as_text,
    plan_cleaning,
    write_plan,
)
from coursepkg.projects.sign_language.quality.survey import Survey as Findings
from coursepkg.projects.sign_language.quality.survey import copy_keys, survey
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.validation import check_count, counted


def statistics(videos: Videos) -> dict[str, Any]:
    """Classes, sizes and lengths of the videos that open, and how many do not.

    Where the clips are parted already, words and bands are of the training part: its
    long tail would not show in a count of all parts together.
    """
    opened = []
    for file in videos.files:
        with suppress(ValueError, OSError):  # counted below; `audit` names each
            opened.append(probe(file.path))
    parts = videos.given_files
    trained = videos.files if parts is None else parts["train"]
    counts = count_classes([file.label for file in trained], videos.labels)
    return {
        "clips by part": {part: len(files) for part, files in (parts or {}).items()},
        "words counted in": "all clips" if parts is None else "training part",
        "words by band": counts.words_by_band,
        "clips by band": counts.clips_by_band,
        "most clips of a word": max(counts.counts.values()),
        "fewest clips of a word": min(counts.counts.values()),
        "resolutions": dict(
            Counter(f"{one.width} x {one.height}" for one in opened).most_common()
        ),
        "frames": summary([len(one.times) for one in opened]),
        "seconds": summary([one.seconds for one in opened]),
        "frames a second": summary([one.fps for one in opened]),
        "variable rate": sum(one.has_variable_rate for one in opened),
        "unreadable": len(videos.files) - len(opened),
    }


def statistics_as_text(told: dict[str, Any]) -> str:
    """What `statistics` found, for readers."""
    parts = told["clips by part"]
    where = ", training part" if parts else ""
    rows = [("clips of each part", counts_text(parts))] if parts else []
    rows += [
        (f"{name}{where}", counts_text(told[name]))
        for name in ("words by band", "clips by band")
    ]
    rows += [
        (f"{name}{where}", f"{told[name]:,}")
        for name in ("most clips of a word", "fewest clips of a word")
    ]
    rows.append(("resolution", report.sizes(told["resolutions"])))
    rows += [
        (name, spread(told[name])) for name in ("frames", "seconds", "frames a second")
    ]
    rows.append(("clips of variable rate", f"{told['variable rate']:,}"))
    rows.append(("files that cannot be opened", f"{told['unreadable']:,}"))
    return "\n".join(f"{name}: {value}" for name, value in rows)


def audit_command(options: Audit) -> int:
    """Print the clips' faults and what parts share; return 1 where parts leak."""
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
    for path in told["variable_rate"][:SHOWN]:
        print(f"  {path}")
    print(
        f"clips with broken frames: {told['damaged']:,}; copies of another clip:"
        f" {told['copies']:,}"
    )
    for group in told["contradictions"]:
        print(f"  the same pictures under several words: {', '.join(group)}")
    print(_parts_as_text(videos, common.protocol, parts, unopened))
    document = facts(videos) | told | {"protocol": common.protocol}
    print(leaks_as_text(leaks, parts, signers_known=bool(document["signers"])))
    document["parts"] = {part: len(numbers) for part, numbers in parts.items()}
    document["absent"] = {
        part: list(_absent(videos, numbers, unopened))
        for part, numbers in parts.items()
    }
    document["copies_by_part"] = {
        part: found.part(videos.files[i] for i in numbers).n_repeats
        for part, numbers in parts.items()
    }
    document |= {"leaks": bool(leaks), "leaking": leaks_as_json(leaks)}
    out, as_json = common.out, common.json
    return report_findings(document, out=out, as_json=as_json, leaks=bool(leaks))


def describe_command(options: Describe) -> int:
    """Print what there is to know before training.

    The command opens every video and decodes only one frame of each.
    """
    common = options.common
    check_out_file(common.out, "describe.json")
    preset = common.preset or "tiny"
    recipe = PRESETS[preset]
    videos = with_words(find_videos(common.corpus_name, common.protocol))
    parameters = model_parameters(
        lambda: build_model(recipe, len(videos.labels), pretrained=False)
    )
    told = statistics(videos)
    print_head(videos)
    print(statistics_as_text(told))
    print(f"preset: {preset}")
    print(f"parameters: {parameters['total']:,}")
    print(parameters_as_text(parameters))
    document = (
        facts(videos) | told | {"preset": preset, "parameters": parameters["total"]}
    )
    document |= {"parameters by part": parameters, "recipe": recipe.described()}
    write_json_output(document, out=common.out, as_json=common.json)
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
    write_json_output(document, out=common.out, as_json=common.json)
    return 0


def with_words(videos: Videos) -> Videos:
    """The videos, if every one has a word.

    Raises:
        ValueError: some have none; the first is named.
    """
    bare = [file for file in videos.files if not file.label]
    if bare:
        raise ValueError(
            f"--data {videos.name}: {len(bare):,} of {len(videos.files):,} clips have"
            f" no word, the first is {bare[0].path}; put each into a folder that is"
            " called as its word"
        )
    return videos


def look_at_videos(videos: Videos, look: Look) -> Findings:
    """What the survey finds in them, every clip decoded."""
    return survey(videos.files, thresholds=look.thresholds, same=look.same, log=print)


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
    """Print the counts, the notes and the problems of folder and table."""
    told = facts(videos)
    made = counted(told["clips"], "generated clip" if videos.is_generated else "clip")
    signers = (
        counted(told["signers"], "signer") if told["signers"] else "signers not known"
    )
    print(f"{videos.name}: {made}, {counted(told['words'], 'word')}, {signers}")
    problems = report_problems(videos.problems, "problems of folder and table")
    for line in (*(f"note: {note}" for note in videos.notes), *problems):
        print(line)


def _check_opened(videos: Videos, found: Findings) -> None:
    """Raise a ValueError where no clip can be opened.

    Without such a clip there are no pictures to compare for leaks.
    """
    if found.clips:
        return
    n, why = len(found.unopened), found.unopened[0].reason
    what = (
        "its only clip cannot be opened"
        if n == 1
        else f"none of its {n:,} clips can be opened; the first"
    )
    raise ValueError(f"--data {videos.name}: {what}: {why}")


def _findings(videos: Videos, found: Findings) -> dict[str, Any]:
    """What is wrong with single clips."""
    contradictions = [
        [str(found.clips[i].file.path) for i in group] for group in found.contradictions
    ]
    return {
        "problems": [problem._asdict() for problem in videos.problems],
        "unopened": [
            {"path": str(one.file.path), "reason": one.reason} for one in found.unopened
        ],
        "variable_rate": [
            str(clip.file.path) for clip in found.clips if clip.has_variable_rate
        ],
        "damaged": sum(bool(clip.broken.n_broken) for clip in found.clips),
        "copies": found.n_repeats,
        "contradictions": contradictions,
    }


def _parts_as_text(
    videos: Videos, protocol: str, parts: Parts, unopened: set[int]
) -> str:
    """A line for each part; a word counts as there where a clip of it opens."""
    lines = [f"parted by {protocol}:"]
    for part, numbers in parts.items():
        shut = len(unopened.intersection(numbers))
        told = counted(len(numbers), "clip") + (
            f", {shut:,} of them cannot be opened" if shut else ""
        )
        signers = known_signers((videos.files[i].signer for i in numbers), ", ")
        lines.append(
            f"  {part}: {told}{signers}; {lacking(_absent(videos, numbers, unopened))}"
        )
    notes = signer_notes((file.signer for file in videos.files), protocol)
    return "\n".join([*lines, *(f"note: {note}" for note in notes)])


def _absent(
    videos: Videos, numbers: Sequence[int], unopened: set[int]
) -> tuple[str, ...]:
    return videos.absent([i for i in numbers if i not in unopened])


PLAN = "plan.json"
"""The cleaning plan beside the decoded clips."""


def prepare_command(options: Prepare) -> int:
    """Write the folder `--out`.

    The run writes to OUT.part first, and a stopped run continues there.
    """
    common = options.common
    out = required_out(common.out)
    check_count("--size", options.size, least=0)
    recipe = PRESETS[common.preset or "tiny"]
    config = CacheConfig(
        options.size or recipe.size, options.frames, skip_solid=recipe.skip_solid
    )
    _check_out(out)
    videos = with_words(find_videos(common.corpus_name, common.protocol))
    source = _source(options, videos, config)
    corpus = _made_before(out, source)
    if corpus is None:
        corpus = _prepared(options, out, videos, config, source)
    else:
        print(f"{out} holds these clips already")
    print("\n".join(corpus.report()))
    print(f"prepared in {out}; train with: {_train_line(options, config)}")
    if common.json:
        removed = [one._asdict() for one in corpus.removed]
        left_out = {
            part: [one._asdict() for one in clips.left_out]
            for part, clips in corpus.parts.items()
        }
        print_json(
            {
                "out": str(out),
                "data": corpus.described(),
                "removed": removed,
                "left_out": left_out,
            }
        )
    return 0


def _prepared(
    options: Prepare, out: Path, videos: Videos, config: CacheConfig, source: str
) -> SignCorpus:
    protocol = options.common.protocol
    found = look_at_videos(videos, options.look)
    parts = videos.parts(protocol, copy_keys(found, videos.files))
    chosen = {
        part: [videos.files[i] for i in numbers] for part, numbers in parts.items()
    }
    plan = plan_cleaning(found.part(chosen["train"]), options.rules)
    print_head(videos)
    print(plan_as_text(plan))
    check_plan(videos.name, plan)
    with growing_folder(out) as part:
        store_corpus(
            part,
            chosen,
            videos.labels,
            config,
            name=videos.name,
            protocol=protocol,
            plan=plan,
            notes=videos.notes,
            is_generated=videos.is_generated,
            source=source,
            log=print,
        )
        write_plan(part / PLAN, plan, videos.folder)
    return open_corpus(out, verify=False)


def _check_out(out: Path) -> None:
    if out.exists() and not (out / CARD).is_file():
        raise ValueError(
            f"--out {out} is there already and is nothing that `prepare` wrote; name"
            " another folder"
        )


def _made_before(out: Path, source: str) -> SignCorpus | None:
    """What an earlier call wrote from the same files by the same options."""
    if not out.exists():
        return None
    made = open_corpus(out)
    if made.source != source:
        raise ValueError(
            f"--out {out} holds other clips, or these by other options; name another"
            " folder"
        )
    return made


def _source(options: Prepare, videos: Videos, config: CacheConfig) -> str:
    """SHA-256 of the state of the files and of all that decides their treatment."""
    decides = [asdict(one) for one in (options.look, options.rules, config)]
    others = videos.labels, videos.notes
    state = state_of(videos.files, options.common.protocol, *others)
    told = json.dumps([state, decides])
    return hashlib.sha256(told.encode()).hexdigest()


def _train_line(options: Prepare, config: CacheConfig) -> str:
    preset = options.common.preset or "tiny"
    size = f" --size {config.size}" if config.size != PRESETS[preset].size else ""
    return (
        f"coursepkg sign-language train --preset {preset} --data"
        f" {options.common.out}{size}"
    )
