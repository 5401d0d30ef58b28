"""What stands on both sides of a split: a signer, a recording, or copies of one clip."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coursepkg.projects.sign_language.clip import ClipFile

SHOWN = 5
"""Leaks of each kind that the text names; JSON names all."""

Kind = Literal["signer", "recording", "copies"]
KINDS: dict[Kind, tuple[str, str]] = {
    "signer": ("signer stands in several parts", "signers stand in several parts"),
    "recording": (
        "recording was cut into clips of several parts",
        "recordings were cut into clips of several parts",
    ),
    "copies": ("group of copies stands in several parts", "groups of copies stand in several parts"),
}
"""Every kind of leak, in the order in which they are told: one of it, and several."""


@dataclass(frozen=True)
class Leak:
    """One thing that several parts have in common."""

    kind: Kind
    name: str
    """Of the signer or the recording; of copies the first file."""
    clips: dict[str, tuple[str, ...]]
    """The files concerned in each part that has any."""

    def __str__(self) -> str:
        places = ", ".join(f"{len(found):,} in {part}" for part, found in self.clips.items())
        return f"{self.name}: {places}"


def find_leaks(
    files: Sequence[ClipFile],
    parts: Mapping[str, Sequence[int]],
    copies: Sequence[Sequence[Hashable]] | None = None,
) -> tuple[Leak, ...]:
    """Everything that stands in more than one part.

    Args:
        files: all clips.
        parts: the numbers of the clips of each part.
        copies: for each clip the keys of the groups of copies that it is in, as `quality.survey.copy_keys` gives
            them; None where copies were not looked for.
    """
    part_of = {i: part for part, numbers in parts.items() for i in numbers}
    keys: dict[Kind, list[Sequence[Hashable]]] = {
        "signer": [(file.signer,) if file.signer else () for file in files],
        "recording": [(file.group,) if file.group else () for file in files],
        "copies": [()] * len(files) if copies is None else list(copies),
    }
    return tuple(leak for kind in KINDS for leak in _of_kind(kind, files, part_of, keys[kind], tuple(parts)))


def leaks_as_text(
    leaks: Sequence[Leak], parts: Mapping[str, Sequence[int]], *, signers_known: bool = True
) -> str:
    """One block a kind, with how much of each part is concerned.

    Args:
        leaks: by `find_leaks`.
        parts: see there.
        signers_known: False where no clip has a signer, so that none could be found in two parts.
    """
    if not leaks and signers_known:
        return "leaks: none, no signer, recording or copy stands in two parts"
    if not leaks:
        return "leaks: none, no recording or copy stands in two parts; signers could not be looked at"
    lines = [] if signers_known else ["signers could not be looked at for leaks"]
    for kind, what in KINDS.items():
        found = [leak for leak in leaks if leak.kind == kind]
        if not found:
            continue
        concerned = clips_concerned(found)
        told = ", ".join(f"{concerned[part]:,} of {len(parts[part]):,} in {part}" for part in parts)
        lines.append(f"LEAKS: {len(found):,} {what[len(found) > 1]}; clips concerned: {told}")
        lines += [f"  {leak}" for leak in found[:SHOWN]]
        lines += [f"  ... and {len(found) - SHOWN:,} more"] if len(found) > SHOWN else []
    return "\n".join(lines)


def leaks_as_json(leaks: Iterable[Leak]) -> list[dict[str, Any]]:
    """Every leak with every file."""
    return [
        {
            "kind": leak.kind,
            "name": leak.name,
            "clips": {part: list(names) for part, names in leak.clips.items()},
        }
        for leak in leaks
    ]


def clips_concerned(leaks: Iterable[Leak]) -> Counter[str]:
    """How many clips of each part have something in common with another part; each counts once."""
    names = {(part, name) for leak in leaks for part, found in leak.clips.items() for name in found}
    return Counter(part for part, _ in names)


def _of_kind(
    kind: Kind,
    files: Sequence[ClipFile],
    part_of: Mapping[int, str],
    keys: Sequence[Sequence[Hashable]],
    order: Sequence[str],
) -> list[Leak]:
    members: dict[Hashable, list[int]] = {}
    for i in sorted(part_of):
        for key in keys[i]:
            members.setdefault(key, []).append(i)
    found = []
    for key, numbers in members.items():
        shared = {part_of[i] for i in numbers}
        if len(shared) < 2:
            continue
        parts = [part for part in order if part in shared]
        clips = {part: tuple(str(files[i].path) for i in numbers if part_of[i] == part) for part in parts}
        name = str(files[numbers[0]].path) if kind == "copies" else str(key)
        found.append(Leak(kind, name, clips))
    return found
