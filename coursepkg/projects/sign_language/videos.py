"""The videos of a data set as they are, before anything is cleaned or decoded: what the looking commands look at."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursepkg.data.location import cache_folder
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.corpora import folder_of
from coursepkg.projects.sign_language.corpora_generated import GENERATED, SETS, generated_parts
from coursepkg.projects.sign_language.corpus import PARTS
from coursepkg.projects.sign_language.corpus_files import CARD
from coursepkg.projects.sign_language.data.problems import Problem
from coursepkg.projects.sign_language.data.scan import Scan, scan_clips
from coursepkg.projects.sign_language.data.splits import split_clips
from coursepkg.projects.sign_language.leave_out import MARK

Say = Callable[[str], None]
Parts = dict[str, tuple[int, ...]]
"""The numbers of the clips of each part."""


@dataclass(frozen=True)
class Videos:
    """The clips of a data set, none of them opened yet."""

    name: str
    """As `--data` takes it."""
    folder: Path
    files: tuple[ClipFile, ...]
    """Every clip that can be used; those of generated people whom training does not see are among them."""
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
        """The clips of each part where they are parted already; None where a split has to be drawn."""
        if self.given is None:
            return None
        return {part: [self.files[i] for i in numbers] for part, numbers in self.given.items()}

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
                f"--data {self.name} cannot be parted by {protocol}: {reason}; choose another --split or add clips"
            ) from None

    def absent(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """The words that some of the clips do not show."""
        shown = {self.files[i].label for i in numbers}
        return tuple(word for word in self.labels if word not in shown)


def find_videos(name: str, protocol: str, *, folder: Path | None = None, say: Say = print) -> Videos:
    """The videos that `--data` names; generated ones are drawn where they are not there yet.

    Args:
        name: see `corpora.load_corpus`.
        protocol: decides which people are generated; of a folder all clips are found, whatever it is.
        folder: of the real data sets; None for `data_folder()`.
        say: receives a line now and then.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: it holds no clip, or decoded ones.
        ImportError: av is needed and not installed.
    """
    if name in SETS:
        return _generated(name, protocol, say)
    path = folder_of(name, folder)
    if (path / CARD).is_file():
        raise ValueError(
            f"--data {name} holds decoded clips, which `prepare` wrote; name the folder of their videos"
        )
    scan = scan_clips(path)
    has_words = scan.mapping is not None or any(file.label for file in scan.files)
    words = scan.words.words if has_words else ()
    return Videos(name, path, scan.files, scan.problems, words, notes=_notes(scan))


def _notes(scan: Scan) -> tuple[str, ...]:
    marked = sum(row.get(MARK) == "yes" for row in scan.rows)
    if not marked:
        return ()
    return (
        f"{marked} of {len(scan.files)} clips show their word in writing, which a model may read instead",
    )


def _generated(name: str, protocol: str, say: Say) -> Videos:
    scan, chosen = generated_parts(SETS[name], protocol, cache_folder() / "sign-language" / "videos", say)
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
