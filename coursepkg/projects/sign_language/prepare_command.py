"""What `coursepkg sign-language prepare` does: look, part, clean, decode, and say what was removed."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from coursepkg.arguments import check_count
from coursepkg.documents import print_json
from coursepkg.projects.sign_language.commands import Prepare
from coursepkg.projects.sign_language.corpora import state_of
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.corpus_files import (
    CARD,
    growing_folder,
    open_corpus,
    store_corpus,
)
from coursepkg.projects.sign_language.data.cache import CacheConfig
from coursepkg.projects.sign_language.inspect_commands import (
    look_at_videos,
    print_head,
    with_words,
)
from coursepkg.projects.sign_language.quality.clean import plan_cleaning
from coursepkg.projects.sign_language.quality.plan_check import check_plan
from coursepkg.projects.sign_language.quality.plan_files import write_plan
from coursepkg.projects.sign_language.quality.plan_report import plan_as_text
from coursepkg.projects.sign_language.quality.survey import copy_keys
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.projects.sign_language.videos import Videos, find_videos

PLAN = "plan.json"
"""The cleaning plan beside the decoded clips, see `quality.plan_files`."""


def prepare_command(options: Prepare) -> int:
    """Write the folder `--out`; it grows in OUT.part, where a run that was stopped goes on."""
    common = options.common
    if common.out is None:
        raise ValueError("--out FOLDER must be given, the folder to write")
    check_count("--size", options.size, least=0)
    recipe = PRESETS[common.preset or "tiny"]
    config = CacheConfig(options.size or recipe.size, options.frames, skip_solid=recipe.skip_solid)
    _check_out(common.out)
    videos = with_words(find_videos(common.corpus_name, common.protocol))
    source = _source(options, videos, config)
    corpus = _made_before(common.out, source)
    if corpus is None:
        corpus = _prepared(options, common.out, videos, config, source)
    else:
        print(f"{common.out} holds these clips already")
    print("\n".join(corpus.report()))
    print(f"prepared in {common.out}; train with: {_train_line(options, config)}")
    if common.json:
        removed = [one._asdict() for one in corpus.removed]
        left_out = {part: [one._asdict() for one in clips.left_out] for part, clips in corpus.parts.items()}
        print_json(
            {"out": str(common.out), "data": corpus.described(), "removed": removed, "left_out": left_out}
        )
    return 0


def _prepared(options: Prepare, out: Path, videos: Videos, config: CacheConfig, source: str) -> SignCorpus:
    protocol = options.common.protocol
    found = look_at_videos(videos, options.look)
    parts = videos.parts(protocol, copy_keys(found, videos.files))
    chosen = {part: [videos.files[i] for i in numbers] for part, numbers in parts.items()}
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
            say=print,
        )
        write_plan(part / PLAN, plan, videos.folder)
    return open_corpus(out, verify=False)


def _check_out(out: Path) -> None:
    if out.exists() and not (out / CARD).is_file():
        raise ValueError(
            f"--out {out} is there already and is nothing that `prepare` wrote; name another folder"
        )


def _made_before(out: Path, source: str) -> SignCorpus | None:
    """What an earlier call wrote from the same files by the same options."""
    if not out.exists():
        return None
    made = open_corpus(out)
    if made.source != source:
        raise ValueError(f"--out {out} holds other clips, or these by other options; name another folder")
    return made


def _source(options: Prepare, videos: Videos, config: CacheConfig) -> str:
    """SHA-256 of the state of the files and of all that decides what becomes of them."""
    decides = [asdict(one) for one in (options.look, options.rules, config)]
    told = json.dumps([state_of(videos.files, options.common.protocol), decides])
    return hashlib.sha256(told.encode()).hexdigest()


def _train_line(options: Prepare, config: CacheConfig) -> str:
    preset = options.common.preset or "tiny"
    size = f" --size {config.size}" if config.size != PRESETS[preset].size else ""
    return f"coursepkg sign-language train --preset {preset} --data {options.common.out}{size}"
