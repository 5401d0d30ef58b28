"""The generated signers as a corpus: some people to train on, and others whom no training clip shows.

Those of seed 0 have the contest's long tail. Those of seed 1 are other people, with other rooms and clothes. They sign
every word equally often, so that a score of rare words rests on more than a few clips, and any of their clips may have
a fault. Half of them are dev and half are test. This is how `signer` parts them. The other protocols cut the clips of
seed 0 alone, to show what that hides.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.scan import Scan, scan_clips
from coursepkg.projects.sign_language.data.splits import split_clips
from coursepkg.projects.sign_language.synthetic.config import SignersConfig
from coursepkg.projects.sign_language.synthetic.write import write_signers

VERSION = 1
"""Rises when the same settings would give other clips or other parts."""
GENERATED = "generated figures sign made-up motions: scores say nothing about real signers"
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
        told = [VERSION, self.name, asdict(self.known), asdict(self.unseen)]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


FULL = SignerSet(
    "signers",
    SignersConfig(),
    SignersConfig(signers=16, least_clips=32, most_clips=32, whole_clips=0, duplicate=0.0),
)
"""24 words; 16 people to train on, 8 for dev, 8 for test."""
TINY = SignerSet(
    "signers-tiny",
    SignersConfig(words=8, signers=8, most_clips=14, least_clips=6, whole_clips=6, size=96, most_frames=24),
    SignersConfig(
        words=8, signers=6, most_clips=7, least_clips=6, whole_clips=6, size=96, most_frames=24, duplicate=0.0
    ),
)
"""8 words in short and small clips, generated in some seconds."""
SETS = {one.name: one for one in (FULL, TINY)}


def generated_parts(
    chosen: SignerSet, protocol: str, folder: Path, say: Callable[[str], None]
) -> tuple[Scan, dict[str, tuple[ClipFile, ...]]]:
    """The clips of each part, generated into a folder where they are not there yet.

    Args:
        chosen: what is generated.
        protocol: one of `data.splits.PROTOCOLS`.
        folder: of all generated videos.
        say: receives a line now and then.

    Raises:
        OSError: they cannot be written.
        ImportError: av is not installed.
    """
    known = _written(chosen.known, 0, folder, say)
    if protocol != "signer":
        split = split_clips(known.files, protocol)
        return known, {part: _of(known.files, numbers) for part, numbers in split.parts.items()}
    unseen = _written(chosen.unseen, 1, folder, say)
    people = sorted({file.signer for file in unseen.files})
    dev = set(people[: len(people) // 2])
    return known, {
        "train": known.files,
        "dev": tuple(file for file in unseen.files if file.signer in dev),
        "test": tuple(file for file in unseen.files if file.signer not in dev),
    }


def _written(config: SignersConfig, seed: int, folder: Path, say: Callable[[str], None]) -> Scan:
    digest = hashlib.sha256(json.dumps([VERSION, asdict(config)]).encode()).hexdigest()
    path = folder / f"signers-{seed}-{digest[:12]}"
    if not path.exists():
        say(f"clips of seed {seed} are generated into {path}")
    folder.mkdir(parents=True, exist_ok=True)
    return scan_clips(write_signers(path, seed, config, say=say))


def _of(files: Sequence[ClipFile], numbers: Sequence[int]) -> tuple[ClipFile, ...]:
    return tuple(files[i] for i in numbers)
