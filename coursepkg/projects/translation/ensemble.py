"""Several trained translators as one, see `coursepkg.decoding.ensemble`.

They may differ in seed, recipe and size, and each may have neighbours of its own. They must have one vocabulary: a
token then means the same to all of them.
"""

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

from coursepkg.decoding.ensemble import Ensemble
from coursepkg.projects.translation.neighbours import neighbours_note, neighbours_settings
from coursepkg.projects.translation.predict import Translator


def together(members: Sequence[Translator]) -> Translator:
    """A translator whose search asks all members; recipe, card and alignments are the first one's.

    Args:
        members: two or more, on one device; they stay as they are.

    Raises:
        ValueError: there are fewer, or they differ in vocabulary, longest sentence or direction.
    """
    first, *others = members
    if not others:
        raise ValueError("members must hold two or more translators, got one")
    for number, other in enumerate(others, start=2):
        if other.subwords.fingerprints != first.subwords.fingerprints:
            raise ValueError(
                f"model {number} of the ensemble has another vocabulary than the first; train them on the same data "
                "with the same text settings, with other seeds"
            )
        if other.longest != first.longest:
            raise ValueError(
                f"model {number} of the ensemble takes {other.longest} tokens, and the first {first.longest}; they "
                "must agree"
            )
    shared = [one for one in first.directions if all(one in other.directions for other in others)]
    if not shared:
        raise ValueError("the models of the ensemble have no direction in common")
    changed = copy.copy(first)
    changed.members, changed.directions = tuple(members), shared
    changed.fast = Ensemble([one.fast for one in members])
    identity = "ensemble " + " ".join(one.fingerprint for one in members)
    changed.fingerprint = hashlib.sha256(identity.encode()).hexdigest()
    return changed


def members_of(translator: Translator) -> tuple[Translator, ...]:
    """Those of an ensemble; a translator alone is its only member."""
    return tuple(translator.members) or (translator,)


def cards_of(translator: Translator) -> list[dict[str, Any]]:
    """What the members learnt from, as their cards tell; `neighbours_of` names the corpus of a member's datastore."""
    members = members_of(translator)
    return [one.card | ({"neighbours_of": one.looked_up} if one.looked_up else {}) for one in members]


def system_note(translator: Translator) -> str:
    """What a signature says of a system, ", ensemble of 2, neighbours 0.3"; empty for a model alone."""
    members = members_of(translator)
    note = f", ensemble of {len(members)}" if len(members) > 1 else ""
    return note + neighbours_note(members[0])


def system_settings(translator: Translator) -> dict[str, Any]:
    """Ensemble and neighbours, as a result file holds them."""
    members = members_of(translator)
    told: dict[str, Any] = {"neighbours": neighbours_settings(members[0])}
    if len(members) > 1:
        told["ensemble"] = [
            {
                "fingerprint": one.fingerprint,
                "seed": one.card.get("seed"),
                "neighbours": neighbours_settings(one),
            }
            for one in members
        ]
    return told
