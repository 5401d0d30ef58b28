"""The sets of clips by the name that `--data` takes, and a user's own folder.

signers         generated people and words, see `corpora_generated`
signers-tiny    a few of them in small clips
signs           real clips of three sign languages, mostly two a word
FOLDER          train/<word>/*.mp4, <word>/*.mp4, a manifest.csv, or what `prepare` wrote

What is decoded is kept in the cache folder of the user; as long as no file changes, it is opened and not made again.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from coursepkg.data.location import cache_folder, data_folder
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.corpora_generated import GENERATED, SETS, SignerSet, generated_parts
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.corpus_files import (
    CARD,
    growing_folder,
    open_corpus,
    store_corpus,
)
from coursepkg.projects.sign_language.data.cache import CacheConfig
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.data.problems import report_problems
from coursepkg.projects.sign_language.data.scan import Scan, scan_clips
from coursepkg.projects.sign_language.data.splits import PROTOCOLS, leave_one_signer_out, split_clips
from coursepkg.projects.sign_language.quality.clean import plan_cleaning
from coursepkg.projects.sign_language.quality.plan_check import check_plan
from coursepkg.projects.sign_language.quality.survey import copy_keys, survey
from coursepkg.projects.sign_language.recipe import Recipe

CORPORA = ("signers", "signers-tiny", "signs")
Say = Callable[[str], None]


def load_corpus(
    name: str, recipe: Recipe, *, split: str = "signer", folder: Path | None = None, say: Say = print
) -> SignCorpus:
    """Part, clean and decode a set of clips, or open what was decoded before.

    Args:
        name: one of `CORPORA`, `auto` for signers, or the path of a folder.
        recipe: its `size` and `n_frames` decide how clips are kept.
        split: one of `data.splits.PROTOCOLS`, or auto for signer.
        folder: of the real data sets; None for `data_folder()`.
        say: receives one line at a time about what is done.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: the name or the split is unknown, or the clips cannot be parted or read.
        ImportError: av is not installed.
    """
    protocol = "signer" if split == "auto" else split
    if protocol not in PROTOCOLS:
        raise ValueError(f"--split must be one of auto, {', '.join(PROTOCOLS)}, got {split}")
    name = "signers" if name == "auto" else name
    config = cache_config(recipe)
    if name in SETS:
        return _generated(SETS[name], protocol, config, say)
    path = folder_of(name, folder)
    if (path / CARD).is_file():
        return _prepared(path, recipe)
    place = kept_in(f"{path.name}-{_digest(str(path.resolve()))[:8]}", protocol, config)
    scan = scan_clips(path)
    state = state_of(scan.files, protocol)
    made = _made_before(place, state)
    if made is not None:
        return made
    for line in report_problems(scan.problems) if scan.problems else ():
        say(line)
    files = _labelled(scan, say)
    found = survey(files, say=say)
    try:
        parts = split_clips(files, protocol, copies=copy_keys(found, files)).parts
    except ValueError as reason:
        raise ValueError(f"--data {name}: {reason}; choose another --split, or add clips") from None
    chosen = {part: [files[i] for i in numbers] for part, numbers in parts.items()}
    plan = plan_cleaning(found.part(chosen["train"]))
    check_plan(name, plan)
    return _kept_corpus(
        place,
        chosen,
        scan.words.words,
        config,
        name=name,
        protocol=protocol,
        plan=plan,
        source=state,
        say=say,
    )


def signer_folds(
    name: str, recipe: Recipe, *, folder: Path | None = None, say: Say = print
) -> Iterator[tuple[str, SignCorpus]]:
    """For each signer who shares a word with others: these to train on, that one to test on; no dev part.

    The words are those that somebody else signs as well; a word of one signer alone can be learnt and never tested.

    Args:
        name: `signs`, or the path of a folder whose clips name their signers.
        recipe: see `load_corpus`.
        folder: see there.
        say: receives one line at a time.

    Raises:
        ValueError: no word is signed by two signers.
    """
    path, config = folder_of(name, folder), cache_config(recipe)
    scan = scan_clips(path)
    people: dict[str, set[str]] = {}
    for file in scan.files:
        people.setdefault(file.label, set()).add(file.signer)
    shared = {word for word, signers in people.items() if word and len(signers - {""}) > 1}
    files = [file for file in scan.files if file.label in shared]
    if not files:
        raise ValueError(f"{path}: no word is signed by two signers, so none can be left out")
    found = survey(files, say=say)
    for signer, split in leave_one_signer_out(files, copies=copy_keys(found, files)):
        chosen = {part: [files[i] for i in numbers] for part, numbers in split.parts.items()}
        labels = LabelMapping.of_words(file.label for file in chosen["train"]).words
        digest = _digest(f"{path.resolve()} {signer}")[:8]
        yield (
            signer,
            _kept_corpus(
                kept_in(f"{path.name}-{digest}", "fold", config),
                chosen,
                labels,
                config,
                name=name,
                protocol=split.protocol,
                plan=plan_cleaning(found.part(chosen["train"])),
                source=state_of(files, split.protocol),
            ),
        )


def cache_config(recipe: Recipe) -> CacheConfig:
    """How the clips of a recipe are kept: with twice the frames that it samples, so that time can be warped."""
    return CacheConfig(size=recipe.size, frames=max(32, 2 * recipe.n_frames), skip_solid=recipe.skip_solid)


def folder_of(name: str, folder: Path | None = None) -> Path:
    """Where the clips of a name are.

    Raises:
        FileNotFoundError: there are none.
    """
    path = (folder or data_folder()) / name if name in CORPORA else Path(name)
    if not path.exists():
        wanted = f"one of {', '.join(CORPORA)}, or a folder"
        hint = "; set COURSEPKG_DATA to the folder of the real data" if name in CORPORA else ""
        raise FileNotFoundError(f"--data {name}: {path} is not there; --data takes {wanted}{hint}")
    return path


def kept_in(name: str, protocol: str, config: CacheConfig) -> Path:
    """Where decoded clips of a corpus are kept."""
    told = f"{name}-{protocol}-{config.size}px-{config.frames}{'-whole' if config.skip_solid else ''}"
    return cache_folder() / "sign-language" / told


def state_of(files: Sequence[ClipFile], protocol: str) -> str:
    """SHA-256 of what changes when a file is changed, added or labelled otherwise, without reading the files."""
    stats = [file.path.stat() for file in files]
    told = [
        [str(file.path), file.label, file.signer, file.group, stat.st_size, stat.st_mtime_ns]
        for file, stat in zip(files, stats, strict=True)
    ]
    return _digest(json.dumps([protocol, told]))


def _generated(chosen: SignerSet, protocol: str, config: CacheConfig, say: Say) -> SignCorpus:
    place = kept_in(f"{chosen.name}-{chosen.fingerprint[:8]}", protocol, config)
    made = _made_before(place, chosen.fingerprint)
    if made is not None:
        return made
    scan, parts = generated_parts(chosen, protocol, cache_folder() / "sign-language" / "videos", say)
    found = survey(parts["train"], say=say)
    return _kept_corpus(
        place,
        parts,
        scan.words.words,
        config,
        name=chosen.name,
        protocol=protocol,
        plan=plan_cleaning(found),
        is_generated=True,
        source=chosen.fingerprint,
        notes=(GENERATED,),
        say=say,
    )


def _prepared(path: Path, recipe: Recipe) -> SignCorpus:
    corpus = open_corpus(path)
    held = corpus.part("train").config
    if held.size != recipe.size:
        raise ValueError(
            f"{path} holds clips of {held.size} pixels; give --size {held.size}, or prepare them with --size "
            f"{recipe.size}"
        )
    if held.skip_solid != recipe.skip_solid:
        have, flag = ("no", "--skip-solid") if held.skip_solid else ("also", "--no-skip-solid")
        raise ValueError(f"{path} holds {have} frames in one colour; give {flag}")
    return corpus


def _kept_corpus(place: Path, *clips: Any, **told: Any) -> SignCorpus:
    """What `store_corpus` makes, at its place once it is whole."""
    with growing_folder(place) as part:
        store_corpus(part, *clips, **told)
    return open_corpus(place, verify=False)


def _made_before(place: Path, state: str) -> SignCorpus | None:
    """The corpus that is kept there, if it is whole and of this state."""
    try:
        made = open_corpus(place, verify=False)
    except (OSError, ValueError):
        return None
    return made if made.source == state else None


def _labelled(scan: Scan, say: Say) -> list[ClipFile]:
    """The clips that have a word; how many have none is said."""
    files = [file for file in scan.files if file.label]
    if len(files) < len(scan.files):
        say(f"{len(scan.files) - len(files):,} clips without a word are left out")
    return files


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
