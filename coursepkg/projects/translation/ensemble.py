"""Several trained translators as one, see `coursepkg.decoding.ensemble`.

They may differ in seed, recipe and size, and each may have neighbours of its own. They must have one vocabulary: a
token then means the same to all of them.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from coursepkg.decoding.ensemble import Ensemble
from coursepkg.projects.translation.neighbours import neighbours_note, neighbours_settings
from coursepkg.projects.translation.predict import Translator


class EnsembleTranslator(Translator):
    """A `Translator` whose search asks all members; recipe, card and alignments are the first one's.

    Args:
        members: two or more, in evaluation on one device.

    Raises:
        ValueError: there are fewer, or they differ in vocabulary, longest sentence or direction.
    """

    members: tuple[Translator, ...]

    def __init__(self, members: Sequence[Translator]) -> None:
        first, *others = members
        if not others:
            raise ValueError("members must hold two or more translators, got one")
        for number, other in enumerate(others, start=2):
            if other.subwords.fingerprints != first.subwords.fingerprints:
                raise ValueError(
                    f"model {number} of the ensemble has another vocabulary than the first; train them on the same "
                    "data with the same text settings, with other seeds"
                )
            if other.longest != first.longest:
                raise ValueError(
                    f"model {number} of the ensemble takes {other.longest} tokens, and the first {first.longest}; they "
                    "must agree"
                )
        shared = [one for one in first.directions if all(one in other.directions for other in others)]
        if not shared:
            raise ValueError("the models of the ensemble have no direction in common")
        super().__init__(first.model, first.subwords, first.recipe, shared, first.card)
        self.members = tuple(members)
        self.fast = Ensemble([one.fast for one in members])
        identity = "ensemble " + " ".join(one.fingerprint for one in members)
        self.fingerprint = hashlib.sha256(identity.encode()).hexdigest()


def members_of(translator: Translator) -> tuple[Translator, ...]:
    """Those of an ensemble; a translator alone is its only member."""
    return translator.members if isinstance(translator, EnsembleTranslator) else (translator,)


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
