"""Splits that do not leak: records that share anything of weight stay together.

Records (sentence pairs, receipts, clips) carry keys: a sentence on either side, a shop,
a signer. Records with a common key belong to one group, and so do those linked through
others. A group goes to one part as a whole, and which one is decided by a hash: the
same data give the same split on every machine, in any order of the records.
"""

import hashlib
from collections.abc import Hashable, Mapping, Sequence


def group_records(keys: Sequence[Sequence[Hashable]]) -> list[int]:
    """The group of each record: the number of its first record."""
    parent = list(range(len(keys)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[Hashable, int] = {}
    for i, own in enumerate(keys):
        for key in own:
            a, b = root(first.setdefault(key, i)), root(i)
            parent[max(a, b)] = min(a, b)
    return [root(i) for i in range(len(keys))]


def grouped_split(
    keys: Sequence[Sequence[Hashable]],
    shares: Mapping[str, int | float],
    *,
    seed: int = 0,
) -> dict[str, list[int]]:
    """Distribute records over named parts, whole groups at a time.

    A group's place is the SHA-256 of its smallest key, so it does not depend on the
    order of the records. Shares are met on average over groups; a group larger than a
    tenth of the smallest share would spoil it and goes to the first part.

    Args:
        keys: for each record its keys, see `group_records`; each record has at least
            one.
        shares: for each part its share, above 0; the last part takes what the others
            leave.
        seed: another seed gives another split.

    Returns:
        for each part the numbers of its records, ascending.

    Raises:
        ValueError: there is no record, one has no key, or the shares do not add up to
            1.
    """
    _check(keys, shares)
    members: dict[int, list[int]] = {}
    for i, group in enumerate(group_records(keys)):
        members.setdefault(group, []).append(i)
    largest = max(1.0, min(shares.values()) * len(keys) / 10)
    parts: dict[str, list[int]] = {name: [] for name in shares}
    names = list(shares)
    for records in members.values():
        smallest = min(repr(key) for i in records for key in keys[i])
        place = names[0] if len(records) > largest else _part_of(smallest, shares, seed)
        parts[place] += records
    return {name: sorted(records) for name, records in parts.items()}


def split_fingerprint(parts: Mapping[str, Sequence[int]]) -> str:
    """SHA-256 of which record is in which part."""
    content = "\n".join(
        f"{name} {' '.join(map(str, records))}" for name, records in parts.items()
    )
    return hashlib.sha256(content.encode()).hexdigest()


def _part_of(key: str, shares: Mapping[str, int | float], seed: int) -> str:
    """The part whose stretch of [0, 1) the hash of the key falls into."""
    digest = hashlib.sha256(f"{seed} {key}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    end = 0.0
    for name, share in shares.items():
        end += share
        if place < end:
            return name
    return list(shares)[-1]


def _check(
    keys: Sequence[Sequence[Hashable]], shares: Mapping[str, int | float]
) -> None:
    if not keys:
        raise ValueError("keys must hold at least one record, got none")
    bare = next((i for i, own in enumerate(keys) if not own), None)
    if bare is not None:
        raise ValueError(f"keys[{bare}] must hold at least one key, got none")
    if not shares or min(shares.values()) <= 0 or abs(sum(shares.values()) - 1) > 1e-9:
        given = ", ".join(f"{name} {share}" for name, share in shares.items()) or "none"
        raise ValueError(f"shares must be above 0 and add up to 1, got {given}")
