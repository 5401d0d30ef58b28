"""Splits of clips that do not leak, and what stands on both sides of a split.

- `clip`: every clip by itself, as a random split does it. Kept to show what it hides:
  AUTSL falls from 95.95% to 62.02% when signers are held apart.
- `group`: recordings and copies stay together; signers stand on both sides.
- `signer`: signers stay together as well.

Whole groups are dealt out many times in orders that a hash gives, each to the part that
lacks its words most. Of these splits the one is taken that leaves fewest words out of a
part, training before test before dev, and then the one nearest to the shares.

Source of the figures: O. M. Sincan, H. Y. Keles, "AUTSL: A Large Scale Multi-modal
Turkish Sign Language Dataset and Baseline Methods" (IEEE Access, 2020).
"""

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coursepkg.data.split import group_records
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.validation import check_choice, check_count, counted

SHOWN = 8
"""Words that a line names at most."""


def lacking(absent: Sequence[str]) -> str:
    """What a part lacks of the words of the data.

    Example:
        >>> lacking(["Tôi"])
        'lacks 1 word: Tôi'
        >>> lacking([])
        'every word'
    """
    if not absent:
        return "every word"
    more = ", ..." if len(absent) > SHOWN else ""
    return f"lacks {counted(len(absent), 'word')}: {', '.join(absent[:SHOWN])}{more}"


def known_signers(signers: Iterable[str], before: str) -> str:
    """How many people sign; empty where none of them is known, as 0 would be wrong.

    Args:
        signers: of each clip, empty where it is not known.
        before: what leads to the number, as a comma.
    """
    n_known = len({*signers} - {""})
    return f"{before}{counted(n_known, 'signer')}" if n_known else ""


def signer_notes(signers: Iterable[str], protocol: str) -> list[str]:
    """What a split by signer cannot promise where signers are not known.

    Args:
        signers: of each clip, empty where it is not known.
        protocol: how the clips are parted, see `data.splits`.
    """
    told = list(signers)
    n_unknown = told.count("")
    if protocol != "signer" or not n_unknown:
        return []
    who = (
        "signers"
        if n_unknown == len(told)
        else f"the signers of {n_unknown:,} of {len(told):,} clips"
    )
    return [
        f"{who} are not known: parted by recordings and copies only; a person may stand"
        " in several parts"
    ]


LEAKS_SHOWN = 5
"""Leaks of each kind that the text names; JSON names all."""

Kind = Literal["signer", "recording", "copies"]
KINDS: dict[Kind, tuple[str, str]] = {
    "signer": ("signer stands in several parts", "signers stand in several parts"),
    "recording": (
        "recording was cut into clips of several parts",
        "recordings were cut into clips of several parts",
    ),
    "copies": (
        "group of copies stands in several parts",
        "groups of copies stand in several parts",
    ),
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
        places = ", ".join(
            f"{len(found):,} in {part}" for part, found in self.clips.items()
        )
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
        copies: for each clip the keys of the groups of copies that it is in, as
            `quality.survey.copy_keys` gives them; None where copies were not looked
            for.
    """
    part_of = {i: part for part, numbers in parts.items() for i in numbers}
    keys: dict[Kind, list[Sequence[Hashable]]] = {
        "signer": [(file.signer,) if file.signer else () for file in files],
        "recording": [(file.group,) if file.group else () for file in files],
        "copies": [()] * len(files) if copies is None else list(copies),
    }
    return tuple(
        leak
        for kind in KINDS
        for leak in _of_kind(kind, files, part_of, keys[kind], tuple(parts))
    )


def leaks_as_text(
    leaks: Sequence[Leak],
    parts: Mapping[str, Sequence[int]],
    *,
    signers_known: bool = True,
) -> str:
    """One block a kind, with how much of each part is concerned.

    Args:
        leaks: by `find_leaks`.
        parts: see `find_leaks`.
        signers_known: False where no clip has a signer, so that none could be found in
            two parts.
    """
    if not leaks and signers_known:
        return "leaks: none, no signer, recording or copy stands in two parts"
    if not leaks:
        return (
            "leaks: none, no recording or copy stands in two parts; signers could not"
            " be looked at"
        )
    lines = [] if signers_known else ["signers could not be looked at for leaks"]
    for kind, what in KINDS.items():
        found = [leak for leak in leaks if leak.kind == kind]
        if not found:
            continue
        concerned = clips_concerned(found)
        told = ", ".join(
            f"{concerned[part]:,} of {len(parts[part]):,} in {part}" for part in parts
        )
        lines.append(
            f"LEAKS: {len(found):,} {what[len(found) > 1]}; clips concerned: {told}"
        )
        lines += [f"  {leak}" for leak in found[:LEAKS_SHOWN]]
        lines += (
            [f"  ... and {len(found) - LEAKS_SHOWN:,} more"]
            if len(found) > LEAKS_SHOWN
            else []
        )
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
    """Count each part's clips that share something with another part, each once."""
    names = {
        (part, name)
        for leak in leaks
        for part, found in leak.clips.items()
        for name in found
    }
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
        clips = {
            part: tuple(str(files[i].path) for i in numbers if part_of[i] == part)
            for part in parts
        }
        name = str(files[numbers[0]].path) if kind == "copies" else str(key)
        found.append(Leak(kind, name, clips))
    return found


PROTOCOLS = ("clip", "group", "signer")
SHARES = {"train": 0.7, "dev": 0.15, "test": 0.15}
_URGENCY = {"train": 0.6, "test": 0.5, "dev": 0.4}
"""Parts in the order in which it matters that they have every word, and how much a word
that a part lacks weighs when groups are dealt out, in shares of all its clips."""


@dataclass(frozen=True)
class ClipSplit:
    """Which clip is in which part, by its number from 0."""

    protocol: str
    """One of `PROTOCOLS`, or `signer NAME` of `leave_one_signer_out`."""
    train: tuple[int, ...]
    dev: tuple[int, ...]
    test: tuple[int, ...]
    absent: dict[str, tuple[str, ...]]
    """For each part the words of the data that it has no clip of, in order."""
    fingerprint: str
    """SHA-256 of which clip is in which part, by their words and file names: the same
    on every machine."""

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """The parts by their names."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    def report(self, files: Sequence[ClipFile]) -> str:
        """Size and signers of each part, and the words that it lacks, for readers."""
        lines = [f"split by {self.protocol}, {self.fingerprint[:12]}"]
        for name, numbers in self.parts.items():
            told = known_signers((files[i].signer for i in numbers), ", ")
            lines.append(
                f"  {name}: {counted(len(numbers), 'clip')}{told};"
                f" {lacking(self.absent[name])}"
            )
        return "\n".join(lines)


def split_clips(
    files: Sequence[ClipFile],
    protocol: str = "signer",
    *,
    copies: Sequence[Sequence[Hashable]] | None = None,
    seed: int = 0,
    tries: int = 64,
) -> ClipSplit:
    """Part clips 70 to 15 to 15, with every word in every part where that is possible.

    A word of which all clips belong together is trained on and cannot be tested.

    Args:
        files: the clips, each with its word.
        protocol: one of `PROTOCOLS`. Clips whose signer is not known stay together by
            recording and copies only.
        copies: for each clip the keys of the groups of copies that it is in, as
            `quality.survey.copy_keys` gives them; None where copies were not looked
            for.
        seed: another seed gives another split.
        tries: splits that are looked at, 1 or more.

    Raises:
        ValueError: there are fewer than three groups, a clip has no word, or an
            argument is out of range.
    """
    _check(files, protocol, copies, seed, tries)
    grouping = _Grouping(files, _keys(files, protocol, copies))
    if len(grouping.names) < len(SHARES):
        what = {"clip": "clips", "group": "recordings", "signer": "signers"}[protocol]
        raise ValueError(
            f"files must hold at least {len(SHARES)} {what} for train, dev and test,"
            f" got {len(grouping.names)}"
        )
    best = min(
        (_deal(grouping, seed, number) for number in range(tries)), key=grouping.badness
    )
    parts = [
        [i for i, g in enumerate(grouping.group_of) if best[g] == part]
        for part in range(len(SHARES))
    ]
    return _made(files, protocol, dict(zip(SHARES, parts, strict=True)))


def leave_one_signer_out(
    files: Sequence[ClipFile], *, copies: Sequence[Sequence[Hashable]] | None = None
) -> Iterator[tuple[str, ClipSplit]]:
    """Yield each signer with a split that tests on this signer's clips.

    The split trains on the other clips. A signer is left out who shares no word with
    the training clips.

    Words of this signer alone cannot be tested and are in no part; neither are copies
    of test clips. There is no dev part: nothing may be chosen by these scores.

    Args:
        files: the clips; those without a signer are only trained on.
        copies: see `split_clips`.
    """
    linked = group_records(_keys(files, "group", copies))
    for signer in sorted({file.signer for file in files} - {""}):
        own = [i for i, file in enumerate(files) if file.signer == signer]
        taken = {linked[i] for i in own}
        train = [
            i
            for i, file in enumerate(files)
            if file.signer != signer and linked[i] not in taken
        ]
        words = {files[i].label for i in train}
        test = [i for i in own if files[i].label in words]
        if test:
            yield (
                signer,
                _made(
                    files, f"signer {signer}", {"train": train, "dev": [], "test": test}
                ),
            )


class _Grouping:
    """Clips in groups that stay together, with the clips of each word in a group."""

    def __init__(
        self, files: Sequence[ClipFile], keys: Sequence[Sequence[Hashable]]
    ) -> None:
        first = group_records(keys)
        places = {group: place for place, group in enumerate(dict.fromkeys(first))}
        self.group_of = [places[group] for group in first]
        words = {
            word: c for c, word in enumerate(sorted({file.label for file in files}))
        }
        self.counts = np.zeros((len(places), len(words)))  # (groups, words)
        members: list[list[str]] = [[] for _ in places]
        for i, file in enumerate(files):
            self.counts[self.group_of[i], words[file.label]] += 1
            members[self.group_of[i]].append(_name(file))
        # A group is known by its smallest clip, so the order of the files says nothing.
        self.names = [min(names) for names in members]

    def badness(self, part_of: np.ndarray) -> tuple[float, ...]:
        """Return the numbers by which splits are compared; a smaller one is better.

        They are the number of empty parts, the words that are missing in train, in
        test and in dev, and the parts' deviation from their shares.
        """
        have = np.stack(
            [self.counts[part_of == part].sum(axis=0) for part in range(len(SHARES))]
        )
        missing = dict(zip(SHARES, (have == 0).sum(axis=1), strict=True))
        sizes = have.sum(axis=1) / have.sum()
        off = float(np.abs(sizes - np.array(list(SHARES.values()))).sum())
        empty = float((sizes == 0).sum())
        return empty, *(float(missing[name]) for name in _URGENCY), off


def _deal(grouping: _Grouping, seed: int, number: int) -> np.ndarray:
    """One split: the part of each group (groups,)."""
    shares = np.array(list(SHARES.values()))
    urgency = np.array([[_URGENCY[name]] for name in SHARES])
    total = grouping.counts.sum(axis=0)
    # Words that few groups have are dealt out first, while every part is still open to
    # them.
    rarest = np.where(
        grouping.counts > 0, (grouping.counts > 0).sum(axis=0), np.inf
    ).min(axis=1)
    lots = [
        hashlib.sha256(f"{seed} {number} {name}".encode()).digest()
        for name in grouping.names
    ]
    order = sorted(range(len(lots)), key=lambda g: (rarest[g], lots[g]))
    have = np.zeros((len(shares), len(total)))
    part_of = np.zeros(len(lots), dtype=np.int64)
    for g in order:
        own = grouping.counts[g]
        lacking = shares[:, None] * total - have  # (parts, words)
        # A rare word counts as much as a frequent one; a part that has none of it needs
        # it most.
        need = ((lacking / total + urgency * (have == 0)) * (own > 0)).sum(axis=1)
        room = (shares - have.sum(axis=1) / total.sum()) / shares
        part_of[g] = int(np.argmax(need / (own > 0).sum() + room))
        have[part_of[g]] += own
    return part_of


def _keys(
    files: Sequence[ClipFile],
    protocol: str,
    copies: Sequence[Sequence[Hashable]] | None,
) -> list[list[Hashable]]:
    keys: list[list[Hashable]] = [[("clip", i)] for i in range(len(files))]
    for i, file in enumerate(files):
        if protocol == "clip":
            continue
        keys[i] += [("group", file.group)] if file.group else []
        keys[i] += [("copies", key) for key in copies[i]] if copies is not None else []
        keys[i] += (
            [("signer", file.signer)] if file.signer and protocol == "signer" else []
        )
    return keys


def _made(
    files: Sequence[ClipFile], protocol: str, parts: dict[str, list[int]]
) -> ClipSplit:
    words = sorted({file.label for file in files})
    absent = {
        name: tuple(
            word for word in words if word not in {files[i].label for i in numbers}
        )
        for name, numbers in parts.items()
    }
    lines = sorted(
        f"{_name(files[i])}\t{name}" for name, numbers in parts.items() for i in numbers
    )
    digest = hashlib.sha256(
        "\n".join(lines).encode("utf-8", "surrogatepass")
    ).hexdigest()
    train, dev, test = (tuple(sorted(parts[name])) for name in SHARES)
    return ClipSplit(protocol, train, dev, test, absent, digest)


def _name(file: ClipFile) -> str:
    """What a clip is called on every machine."""
    return f"{file.label}/{file.signer}/{file.path.parent.name}/{file.path.name}"


def _check(
    files: Sequence[ClipFile],
    protocol: str,
    copies: Sequence[Sequence[Hashable]] | None,
    seed: int,
    tries: int,
) -> None:
    check_choice("protocol", protocol, PROTOCOLS)
    check_count("seed", seed, least=0)
    check_count("tries", tries)
    if not files:
        raise ValueError("files must hold at least one clip, got none")
    bare = next((file for file in files if not file.label), None)
    if bare is not None:
        raise ValueError(
            f"{bare.path}: a clip without a word cannot be put into a part; leave"
            " it out"
        )
    if copies is not None and len(copies) != len(files):
        raise ValueError(
            f"copies must have one entry a clip, {len(files)}, got {len(copies)}"
        )
    twice = [
        name
        for name, count in Counter(str(file.path) for file in files).items()
        if count > 1
    ]
    if twice:
        raise ValueError(f"files must differ, got {twice[0]} twice")
