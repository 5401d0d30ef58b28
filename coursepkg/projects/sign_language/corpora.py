"""The sets of clips by the name that `--data` takes, and a user's own folder.

    signers         generated people and words
    signers-tiny    a few of them in small clips
    signers-hard    words that differ in order alone, moving cameras, more varied people
    signs           real clips of three sign languages, mostly two a word
    FOLDER          train/<word>/*.mp4, <word>/*.mp4, a manifest.csv, or a prepared one

What is decoded is kept in the cache folder of the user; as long as no file changes, it
is opened and not made again.

Generated signers of seed 0 have the contest's long tail. Those of seed 1 are other
people, with other rooms and clothes, who sign every word equally often; half of them
are dev and half are test. This is how `signer` parts them. The other protocols cut the
clips of seed 0 alone, to show what that hides.
"""

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coursepkg.app.output import Log
from coursepkg.data.registry import data_folder
from coursepkg.files import cache_folder
from coursepkg.projects.sign_language.corpus import (
    CARD,
    PARTS,
    SignCorpus,
    growing_folder,
    open_corpus,
    store_corpus,
)
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.data.scan import (
    Problem,
    Scan,
    report_problems,
    scan_clips,
)
from coursepkg.projects.sign_language.data.splits import (
    PROTOCOLS,
    leave_one_signer_out,
    split_clips,
)
from coursepkg.projects.sign_language.data.video import CacheConfig, cache_config
from coursepkg.projects.sign_language.quality.plan import check_plan, plan_cleaning
from coursepkg.projects.sign_language.quality.survey import copy_keys, survey
from coursepkg.projects.sign_language.recipe import Recipe, architecture_of
from coursepkg.projects.sign_language.synthetic.clips import write_signers
from coursepkg.projects.sign_language.synthetic.signer import (
    ORDER_PAIRS,
    SignersConfig,
)

VERSION = 1
"""Rises when the same settings would give other clips or other parts."""
GENERATED = (
    "generated figures sign made-up motions: scores say nothing about real signers"
)
"""What a reader of scores on these clips must know."""


@dataclass(frozen=True)
class SignerSet:
    """What is generated."""

    name: str
    """As `--data` takes it."""
    known: SignersConfig
    """Whom training sees, seed 0."""
    unseen: SignersConfig
    """Whom it does not, seed 1."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides the clips."""
        told = [
            *(VERSION, self.name),
            *(self.known.described(), self.unseen.described()),
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


FULL = SignerSet(
    "signers",
    SignersConfig(),
    SignersConfig(
        signers=16, least_clips=32, most_clips=32, whole_clips=0, duplicate=0.0
    ),
)
"""24 words; 16 people to train on, 8 for dev, 8 for test."""
_EIGHT_WORDS = SignersConfig(
    words=8,
    signers=8,
    most_clips=14,
    least_clips=6,
    whole_clips=6,
    size=96,
    most_frames=24,
)
TINY = SignerSet(
    "signers-tiny",
    _EIGHT_WORDS,
    replace(_EIGHT_WORDS, signers=6, most_clips=7, duplicate=0.0),
)
"""8 words in short and small clips, generated in some seconds."""
_HARD_PEOPLE = SignersConfig(
    words=12,
    order_pairs=6,
    signers=32,
    most_clips=48,
    least_clips=8,
    left_handed=1 / 6,
    moving_camera=True,
    varied_people=True,
)
HARD = SignerSet(
    "signers-hard",
    _HARD_PEOPLE,
    replace(
        _HARD_PEOPLE,
        signers=16,
        most_clips=16,
        least_clips=16,
        whole_clips=0,
        duplicate=0.0,
    ),
)
"""24 words, half of them in pairs that differ in order alone; 32 people to train on, 8
for dev, 8 for test, one in six left-handed; the camera moves."""
SETS = {one.name: one for one in (FULL, TINY, HARD)}


def order_pairs(name: str) -> tuple[tuple[str, str], ...]:
    """The pairs of words of a generated set that differ in their order alone.

    Args:
        name: of any corpus; one that is not generated has no such pairs.
    """
    return ORDER_PAIRS[: SETS[name].known.order_pairs] if name in SETS else ()


def generated_parts(
    chosen: SignerSet, protocol: str, folder: Path, log: Log
) -> tuple[Scan, dict[str, tuple[ClipFile, ...]]]:
    """The clips of each part, generated into a folder where they are not there yet.

    Args:
        chosen: what is generated.
        protocol: one of `data.splits.PROTOCOLS`.
        folder: of all generated videos.
        log: receives a line now and then.

    Raises:
        OSError: they cannot be written.
        ImportError: av is not installed.
    """
    known = _written(chosen.known, 0, folder, log)
    if protocol != "signer":
        split = split_clips(known.files, protocol)
        return known, {
            part: _of(known.files, numbers) for part, numbers in split.parts.items()
        }
    unseen = _written(chosen.unseen, 1, folder, log)
    people = sorted({file.signer for file in unseen.files})
    dev = set(people[: len(people) // 2])
    return known, {
        "train": known.files,
        "dev": tuple(file for file in unseen.files if file.signer in dev),
        "test": tuple(file for file in unseen.files if file.signer not in dev),
    }


def _written(config: SignersConfig, seed: int, folder: Path, log: Log) -> Scan:
    digest = hashlib.sha256(
        json.dumps([VERSION, config.described()]).encode()
    ).hexdigest()
    path = folder / f"signers-{seed}-{digest[:12]}"
    if not path.exists():
        log(f"clips of seed {seed} are generated into {path}")
    return scan_clips(write_signers(path, seed, config, log=log))


def _of(files: Sequence[ClipFile], numbers: Sequence[int]) -> tuple[ClipFile, ...]:
    return tuple(files[i] for i in numbers)


MARK = "burned_in_text"
"""Column of a table that says `yes` where the word can be read in the picture."""


def shows_word(row: Mapping[str, str]) -> bool:
    """Whether a row of a table says that the word can be read in the picture."""
    return row.get(MARK, "").strip().lower() == "yes"


CORPORA = ("signers", "signers-tiny", "signers-hard", "signs")


def load_corpus(
    name: str,
    recipe: Recipe,
    *,
    split: str = "signer",
    folder: Path | None = None,
    log: Log = print,
) -> SignCorpus:
    """Part, clean and decode a set of clips, or open what was decoded before.

    Args:
        name: one of `CORPORA`, `auto` for signers, or the path of a folder.
        recipe: its `size` and `n_frames` decide how clips are kept.
        split: one of `data.splits.PROTOCOLS`, or auto for signer.
        folder: of the real data sets; None for `data_folder()`.
        log: receives one line at a time about what is done.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: the name or the split is unknown, or the clips cannot be parted or
            read.
        ImportError: av is not installed.
    """
    protocol = "signer" if split == "auto" else split
    if protocol not in PROTOCOLS:
        raise ValueError(
            f"--split must be one of auto, {', '.join(PROTOCOLS)}, got {split}"
        )
    name = "signers" if name == "auto" else name
    config = cache_config(recipe)
    if name in SETS:
        return _generated(SETS[name], protocol, config, log)
    path = folder_of(name, folder)
    if (path / CARD).is_file():
        return _prepared(path, recipe, protocol)
    place = kept_in(f"{path.name}-{_digest(str(path.resolve()))[:8]}", protocol, config)
    scan = scan_clips(path)
    if not any(file.label for file in scan.files):
        raise ValueError(
            f"--data {name}: no clip has a word; put the clips of each word into a"
            " folder of its name"
        )
    words, notes = scan.words.words, _notes(scan)
    state = state_of(scan.files, protocol, words, notes)
    made = _made_before(place, state)
    if made is not None:
        return made
    for line in report_problems(scan.problems) if scan.problems else ():
        log(line)
    files = _labelled(scan, log)
    found = survey(files, log=log)
    try:
        parts = split_clips(files, protocol, copies=copy_keys(found, files)).parts
    except ValueError as reason:
        raise ValueError(
            f"--data {name}: {reason}; choose another --split, or add clips"
        ) from None
    chosen = {part: [files[i] for i in numbers] for part, numbers in parts.items()}
    plan = plan_cleaning(found.part(chosen["train"]))
    check_plan(name, plan)
    return _kept_corpus(
        place,
        chosen,
        words,
        config,
        name=name,
        protocol=protocol,
        plan=plan,
        source=state,
        notes=notes,
        log=log,
    )


def signer_folds(
    name: str, recipe: Recipe, *, folder: Path | None = None, log: Log = print
) -> Iterator[tuple[str, SignCorpus]]:
    """Yield (signer, corpus) for each signer who shares a word with others.

    The corpus has the other signers to train on, that one to test on, and no dev part.

    The words are those that somebody else signs as well; a word of one signer alone can
    be learnt and never tested.

    Args:
        name: `signs`, or the path of a folder whose clips name their signers.
        recipe: see `load_corpus`.
        folder: see `load_corpus`.
        log: receives one line at a time.

    Raises:
        ValueError: no word is signed by two signers.
    """
    path, config = folder_of(name, folder), cache_config(recipe)
    scan = scan_clips(path)
    people: dict[str, set[str]] = {}
    for file in scan.files:
        people.setdefault(file.label, set()).add(file.signer)
    shared = {
        word for word, signers in people.items() if word and len(signers - {""}) > 1
    }
    files = [file for file in scan.files if file.label in shared]
    if not files:
        raise ValueError(
            f"{path}: no word is signed by two signers, so none can be left out"
        )
    found = survey(files, log=log)
    for signer, split in leave_one_signer_out(files, copies=copy_keys(found, files)):
        chosen = {
            part: [files[i] for i in numbers] for part, numbers in split.parts.items()
        }
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


def folder_of(name: str, folder: Path | None = None) -> Path:
    """Where the clips of a name are.

    Raises:
        FileNotFoundError: there are none.
    """
    path = (folder or data_folder()) / name if name in CORPORA else Path(name)
    if not path.exists():
        wanted = f"one of {', '.join(CORPORA)}, or a folder"
        hint = (
            "; set COURSEPKG_DATA to the folder of the real data"
            if name in CORPORA
            else ""
        )
        raise FileNotFoundError(
            f"--data {name}: {path} is not there; --data takes {wanted}{hint}"
        )
    return path


def kept_in(name: str, protocol: str, config: CacheConfig) -> Path:
    """Where decoded clips of a corpus are kept."""
    whole = "-whole" if config.skip_solid else ""
    kind = "landmarks" if config.n_features else f"{config.size}px"
    told = f"{name}-{protocol}-{kind}-{config.frames}{whole}"
    return cache_folder() / "sign-language" / told


def state_of(files: Sequence[ClipFile], protocol: str, *others: Sequence[str]) -> str:
    """Return a SHA-256 that changes when a file is changed, added or relabelled.

    It uses the size and time of each file and does not read the files.

    Args:
        files: the clips.
        protocol: how they are parted.
        others: what else a corpus of them holds, as its words in their order.
    """
    stats = [file.path.stat() for file in files]
    told = [
        [
            *(str(file.path), file.label, file.signer, file.group),
            *(stat.st_size, stat.st_mtime_ns),
        ]
        for file, stat in zip(files, stats, strict=True)
    ]
    return _digest(json.dumps([protocol, told, *others]))


def _generated(
    chosen: SignerSet, protocol: str, config: CacheConfig, log: Log
) -> SignCorpus:
    place = kept_in(f"{chosen.name}-{chosen.fingerprint[:8]}", protocol, config)
    made = _made_before(place, chosen.fingerprint)
    if made is not None:
        return made
    scan, parts = generated_parts(
        chosen, protocol, cache_folder() / "sign-language" / "videos", log
    )
    found = survey(parts["train"], log=log)
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
        log=log,
    )


def _prepared(path: Path, recipe: Recipe, protocol: str) -> SignCorpus:
    corpus = open_corpus(path)
    # `signer` is also what stands for a split that was not asked for.
    if protocol not in ("signer", corpus.protocol):
        raise ValueError(
            f"{path} is parted by {corpus.protocol} already; leave --split {protocol}"
            " out, or prepare the clips with it"
        )
    held = corpus.part("train").config
    wanted = architecture_of(recipe.backbone).n_features
    if held.n_features != wanted:
        holds, reads = ("pictures", "films") if wanted else ("landmarks", "pictures")
        raise ValueError(
            f"{path} holds {holds}, and --backbone {recipe.backbone} reads {reads};"
            " name the folder of the videos"
        )
    if not wanted and held.size != recipe.size:
        raise ValueError(
            f"{path} holds clips of {held.size} pixels; give --size {held.size}, or"
            f" prepare them with --size {recipe.size}"
        )
    if held.skip_solid != recipe.skip_solid:
        have, flag = (
            ("no", "--skip-solid") if held.skip_solid else ("also", "--no-skip-solid")
        )
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


def _labelled(scan: Scan, log: Log) -> list[ClipFile]:
    """The clips that have a word; how many have none is said."""
    files = [file for file in scan.files if file.label]
    if len(files) < len(scan.files):
        log(f"{len(scan.files) - len(files):,} clips without a word are left out")
    return files


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


Parts = dict[str, tuple[int, ...]]
"""The numbers of the clips of each part."""


@dataclass(frozen=True)
class Videos:
    """The clips of a data set, none of them opened yet."""

    name: str
    """As `--data` takes it."""
    folder: Path
    files: tuple[ClipFile, ...]
    """Every clip that can be used; those of generated people whom training does not see
    are among them."""
    problems: tuple[Problem, ...]
    labels: tuple[str, ...]
    """All words, in the order of their class numbers; empty where no clip has one."""
    given: Parts | None = None
    """How generated clips are parted; None where a split has to be drawn."""
    is_generated: bool = False
    notes: tuple[str, ...] = ()
    """What a reader of scores must know, one line each."""

    @property
    def given_files(self) -> dict[str, list[ClipFile]] | None:
        """These are the clips of each part; None where a split has to be drawn."""
        if self.given is None:
            return None
        return {
            part: [self.files[i] for i in numbers]
            for part, numbers in self.given.items()
        }

    def parts(self, protocol: str, copies: Sequence[Sequence[Hashable]]) -> Parts:
        """The clips of each part.

        Args:
            protocol: one of `data.splits.PROTOCOLS`.
            copies: for each clip the keys of the groups of copies that it is in.

        Raises:
            ValueError: they cannot be parted so.
        """
        if self.given is not None:
            return self.given
        try:
            return split_clips(self.files, protocol, copies=copies).parts
        except ValueError as reason:
            raise ValueError(
                f"--data {self.name} cannot be parted by {protocol}: {reason}; choose"
                " another --split or add clips"
            ) from None

    def absent(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """The words that some of the clips do not show."""
        shown = {self.files[i].label for i in numbers}
        return tuple(word for word in self.labels if word not in shown)


def find_videos(
    name: str, protocol: str, *, folder: Path | None = None, log: Log = print
) -> Videos:
    """Find the videos that `--data` names, and draw generated ones that are missing.

    Args:
        name: see `corpora.load_corpus`.
        protocol: decides which people are generated; of a folder all clips are found,
            whatever it is.
        folder: of the real data sets; None for `data_folder()`.
        log: receives a line now and then.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: it holds no clip, or decoded ones.
        ImportError: av is needed and not installed.
    """
    if name in SETS:
        return _generated_videos(name, protocol, log)
    path = folder_of(name, folder)
    if (path / CARD).is_file():
        raise ValueError(
            f"--data {name} holds decoded clips, which `prepare` wrote; name the folder"
            " of their videos"
        )
    scan = scan_clips(path)
    has_words = scan.mapping is not None or any(file.label for file in scan.files)
    words = scan.words.words if has_words else ()
    return Videos(name, path, scan.files, scan.problems, words, notes=_notes(scan))


def _notes(scan: Scan) -> tuple[str, ...]:
    marked = sum(map(shows_word, scan.rows))
    if not marked:
        return ()
    told = f"{marked} of {len(scan.files)} clips show their word in writing"
    return (f"{told}, which a model may read instead",)


def _generated_videos(name: str, protocol: str, log: Log) -> Videos:
    scan, chosen = generated_parts(
        SETS[name], protocol, cache_folder() / "sign-language" / "videos", log
    )
    files: list[ClipFile] = []
    given: Parts = {}
    for part in PARTS:
        first = len(files)
        files += chosen[part]
        given[part] = tuple(range(first, len(files)))
    return Videos(
        name,
        scan.folder,
        tuple(files),
        scan.problems,
        scan.words.words,
        given,
        is_generated=True,
        notes=(GENERATED,),
    )
