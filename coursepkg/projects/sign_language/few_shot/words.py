"""The folder of enrolled words: the landmarks of a few clips each, and no picture.

    words/words.json            the words with their clips: file, signer, hash
    words/landmarks/<hash>.npz  landmarks of one clip

A word is added, replaced or removed without training. New landmarks are written first
and the list of words last: a run that is stopped leaves the earlier words as they were.
Other files in the folder stay.
"""

import dataclasses
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.files import read_json, whole_folder, write_json
from coursepkg.projects.sign_language.few_shot.features import check_landmarks
from coursepkg.projects.sign_language.few_shot.matching import Example
from coursepkg.projects.sign_language.landmarks.extract import (
    Landmarks,
    read_landmarks,
    write_landmarks,
)

CARD, KIND, VERSION = "words.json", "enrolled signs", 1
_NEEDS: dict[str, type] = {"word": str, "name": str, "sha256": str, "signer": str}


@dataclass(frozen=True, eq=False)
class EnrolledClip:
    """One clip of a word."""

    word: str
    """In Unicode form NFC."""
    name: str
    """Of its file."""
    sha256: str
    """Of its file."""
    signer: str
    """Empty where it is not known."""
    landmarks: Landmarks

    @property
    def example(self) -> Example:
        """As `Matcher` takes it."""
        return Example(self.word, self.signer, self.name, self.landmarks)


@dataclass(frozen=True, eq=False)
class Words:
    """Enrolled clips, those of a word together, words in the order of the alphabet."""

    clips: tuple[EnrolledClip, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The words (V,)."""
        return tuple(dict.fromkeys(one.word for one in self.clips))

    @property
    def examples(self) -> list[Example]:
        """All clips, as `Matcher` takes them."""
        return [one.example for one in self.clips]

    def clips_of(self, word: str) -> list[EnrolledClip]:
        """The clips of a word."""
        return [one for one in self.clips if one.word == word]

    def added(self, clips: Iterable[EnrolledClip], *, replace: bool = False) -> "Words":
        """These words and more clips.

        Args:
            clips: one whose file is enrolled under its word already takes the new name
                and, where it has one, the new signer.
            replace: the earlier clips of the words that `clips` has go.

        Raises:
            ValueError: one film is enrolled under two words.
        """
        new = list(clips)
        gone = {one.word for one in new} if replace else set()
        known = {one.sha256: one for one in self.clips if one.word not in gone}
        for clip in new:
            other = known.get(clip.sha256)
            if other is not None and other.word != clip.word:
                raise ValueError(
                    f"{clip.name} is one film with two words, {other.word!r} and"
                    f" {clip.word!r}; leave it in one folder, or take out the other"
                    f" with --remove {other.word!r}"
                )
            if other is not None and not clip.signer:
                clip = dataclasses.replace(other, name=clip.name)
            known[clip.sha256] = clip
        return Words(
            tuple(sorted(known.values(), key=lambda one: (one.word, one.name)))
        )

    def without(self, words: Collection[str]) -> "Words":
        """All but these words.

        Raises:
            ValueError: one of them is not enrolled.
        """
        _check_enrolled(words, self.labels)
        return Words(tuple(one for one in self.clips if one.word not in words))

    def save(self, folder: str | Path) -> None:
        """Write all clips, and take landmarks away that none of them has.

        Raises:
            FileNotFoundError: the folder holds something else than words.
            ValueError: the words in it are damaged.
            OSError: it cannot be written; the earlier words stay.
        """
        folder = Path(folder)
        if folder.is_dir() and any(folder.iterdir()):
            _read_card(folder)
            self._write(folder)
            return
        with whole_folder(folder) as part:
            self._write(part)

    def _write(self, folder: Path) -> None:
        for one in self.clips:
            write_landmarks(_place(folder, one.sha256), one.landmarks)
        rows = [{name: getattr(one, name) for name in _NEEDS} for one in self.clips]
        write_json(folder / CARD, {"kind": KIND, "version": VERSION, "clips": rows})
        wanted = {_place(folder, one.sha256) for one in self.clips}
        for place in (folder / "landmarks").glob("*.npz"):
            if place not in wanted:
                place.unlink()

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        remove: Collection[str] = (),
        replace: Collection[str] = (),
        report: Callable[[str], None] = lambda line: None,
    ) -> "Words":
        """Read what `save` wrote.

        Args:
            folder: of the words.
            remove: words that are left out.
            replace: words that get other clips: those that are damaged are left out.
            report: receives a line for each clip that is left out as damaged.

        Raises:
            FileNotFoundError: there is no such folder, or it holds no words.
            ValueError: it is damaged or of another version, or a word that is to be
                removed is not enrolled.
        """
        folder = Path(folder)
        rows = _read_card(folder)
        _check_enrolled(remove, dict.fromkeys(row["word"] for row in rows))
        clips: list[EnrolledClip] = []
        damaged: list[str] = []
        for row in rows:
            if row["word"] in remove:
                continue
            landmarks = _sound_landmarks(_place(folder, row["sha256"]), row["name"])
            if landmarks is not None:
                clips.append(EnrolledClip(**row, landmarks=landmarks))
            elif row["word"] in replace:
                report(f"{row['word']}: {row['name']} is damaged and left out")
            else:
                damaged.append(f"{row['word']!r} ({row['name']})")
        if damaged:
            more = f" and {len(damaged) - 5} more" if len(damaged) > 5 else ""
            raise ValueError(
                f"{folder}: landmarks are missing, damaged or of another version, those"
                f" of {', '.join(damaged[:5])}{more}; enrol the clips of each such word"
                " again with --replace, or take it out with --remove"
            )
        return cls(tuple(clips))


def checked_word(word: str) -> str:
    """A word as it is enrolled: in Unicode form NFC, without spaces around it.

    Raises:
        ValueError: it is empty, or has a character that no name of a folder has.
    """
    told = unicodedata.normalize("NFC", word).strip()
    if not told or re.search(r"[/\\\x00-\x1f]", told):
        raise ValueError(f"{word!r} is no word; name the folder by what is signed")
    return told


def _check_enrolled(words: Iterable[str], labels: Collection[str]) -> None:
    for word in words:
        if word not in labels:
            raise ValueError(
                f"the word {word!r} is not enrolled; there are"
                f" {', '.join(labels) or 'none'}"
            )


def _sound_landmarks(path: Path, name: str) -> Landmarks | None:
    """What `save` wrote of a clip; None where it is damaged or shows no sign."""
    landmarks = read_landmarks(path, name)
    if landmarks is not None:
        try:
            check_landmarks(landmarks)
        except ValueError:
            return None
    return landmarks


def _place(folder: Path, sha256: str) -> Path:
    return folder / "landmarks" / f"{sha256}.npz"


def _read_card(folder: Path) -> list[dict[str, str]]:
    """The rows of a folder's clips."""
    path = folder / CARD
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder}: there are no words; enrol some with coursepkg sign-language"
            f" enroll CLIPS --out {folder}"
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"{folder} holds no enrolled words ({CARD} is missing); name the folder"
            " that `enroll --out` wrote"
        )
    card = read_json(path, needs={"kind": str, "version": int, "clips": list})
    if card["kind"] != KIND or card["version"] != VERSION:
        raise ValueError(
            f"{path} is of version {card['version']} of {card['kind']!r}, and this"
            f" package reads version {VERSION} of {KIND!r}; remove {path.parent} and"
            " enrol all clips again"
        )
    return [_row(path, row) for row in card["clips"]]


def _row(path: Path, row: Any) -> dict[str, str]:
    fits = isinstance(row, dict) and all(
        isinstance(row.get(name), kind) for name, kind in _NEEDS.items()
    )
    if not fits or not re.fullmatch(r"[0-9a-f]{64}", row["sha256"]):
        raise ValueError(f"{path} is damaged: {str(row)[:80]} is no clip; enrol again")
    return {name: row[name] for name in _NEEDS}
