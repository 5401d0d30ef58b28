"""The systems that options name: a model, with its neighbours, or an ensemble.

The models of an ensemble may differ in seed, recipe and size, and each may have
neighbours of its own. They must have one vocabulary: a token then means the same to all
of them. `coursepkg.decoding.ensemble` has the mechanism.
"""

import copy
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursepkg.decoding.ensemble import Ensemble
from coursepkg.projects.translation.predict import DEFAULT, Translator

if TYPE_CHECKING:
    from coursepkg.projects.translation.commands import Common, Search


def together(members: Sequence[Translator]) -> Translator:
    """A translator whose search asks all members.

    Recipe, card and alignments are the first one's.

    Args:
        members: two or more, on one device; they stay as they are.

    Raises:
        ValueError: there are fewer, or they differ in vocabulary, longest sentence or
            direction.
    """
    first, *others = members
    if not others:
        raise ValueError("members must hold two or more translators, got one")
    for number, other in enumerate(others, start=2):
        if other.subwords.fingerprints != first.subwords.fingerprints:
            raise ValueError(
                f"model {number} of the ensemble has another vocabulary than the first;"
                " train them on the same data with the same text settings, with other"
                " seeds"
            )
        if other.longest != first.longest:
            raise ValueError(
                f"model {number} of the ensemble takes {other.longest} tokens, and the"
                f" first {first.longest}; they must agree"
            )
    if any(one.exported is not None for one in members):
        raise ValueError(
            "an exported model takes no part in an ensemble; give the trained models"
        )
    known = [other.directions for other in others]
    shared = [one for one in first.directions if all(one in ways for ways in known)]
    if not shared:
        raise ValueError("the models of the ensemble have no direction in common")
    changed = copy.copy(first)
    changed.members, changed.directions = tuple(members), shared
    changed.calibration = None  # it was fitted on one of them
    changed.fast = Ensemble([one.fast for one in members])
    identity = "ensemble " + " ".join(one.fingerprint for one in members)
    changed.fingerprint = hashlib.sha256(identity.encode()).hexdigest()
    return changed


def members_of(translator: Translator) -> tuple[Translator, ...]:
    """Those of an ensemble; a translator alone is its only member."""
    return tuple(translator.members) or (translator,)


def cards_of(translator: Translator) -> list[dict[str, Any]]:
    """Cards of the members; `neighbours_of` names the corpus of a datastore."""
    return [
        one.card | ({"neighbours_of": one.looked_up} if one.looked_up else {})
        for one in members_of(translator)
    ]


def system_note(translator: Translator) -> str:
    """What a signature says of a system, such as ", ensemble of 2, neighbours 0.3"."""
    members = members_of(translator)
    note = f", ensemble of {len(members)}" if len(members) > 1 else ""
    found = _neighbours(members[0])
    return note + (f", neighbours {found['weight']:g}" if found else "")


def system_settings(translator: Translator) -> dict[str, Any]:
    """Ensemble and neighbours, as a result file holds them."""
    members = members_of(translator)
    told: dict[str, Any] = {"neighbours": _neighbours(members[0])}
    if len(members) > 1:
        told["ensemble"] = [
            {"fingerprint": one.fingerprint, "seed": one.card.get("seed")}
            | {"neighbours": _neighbours(one)}
            for one in members
        ]
    return told


def load_translator(
    common: "Common", model: Path | None, *, neighbours: bool = False
) -> tuple[Translator, Path]:
    """The model that options name, with its neighbours if asked for, and its folder."""
    folder = model or (common.run_folder if common.preset else DEFAULT)
    return _loaded(folder, neighbours), folder


def load_system(common: "Common", search: "Search") -> tuple[Translator, Path]:
    """The model or ensemble that the options of a search name, and the first folder."""
    first, folder = load_translator(common, search.model, neighbours=search.neighbours)
    others = [_loaded(one, search.neighbours) for one in search.ensemble]
    return (together([first, *others]) if others else first), folder


def _loaded(folder: Path, neighbours: bool) -> Translator:
    translator = Translator.load(folder)
    if not neighbours:
        return translator
    # The datastore brings what only training needs.
    from coursepkg.projects.translation.knn_mt import with_stored_neighbours

    return with_stored_neighbours(translator, folder)


def _neighbours(translator: Translator) -> dict[str, Any] | None:
    """Settings of a translator's neighbours; None where it has none."""
    if not translator.looked_up:
        return None
    from coursepkg.projects.translation.knn_mt import neighbours_settings

    return neighbours_settings(translator)
