"""kNN-MT: a datastore of decoder states of the training part, searched in decoding.

    RUN/neighbours/states.safetensors     keys (N, E) in float16, values (N,)
    RUN/neighbours/neighbours.json        whose they are, settings best on dev

The keys are states of one model in one direction and mean nothing to another; a
datastore of another model is refused. It holds the training sentences as tokens: it is
handed on under the licence of the data only.
"""

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from coursepkg.app.jobs import chunks
from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import make_batch
from coursepkg.decoding.knn import (
    KnnOutput,
    check_knn_settings,
    own_output,
    record_states,
    with_output,
)
from coursepkg.files import (
    read_json,
    read_tensors,
    whole_folder,
    write_json,
    write_tensors,
)
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.placeholders import mask_pair
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.task import fitting

FOLDER = "neighbours"
"""Inside the folder of a run."""
STATES = "states.safetensors"
CARD = "neighbours.json"
NEEDS: dict[str, type] = {
    "model": str,
    "corpus": str,
    "from": str,
    "to": str,
    "states": dict,
    "settings": dict,
}
"""Entries of the card, and their kinds."""


@dataclass(frozen=True)
class Datastore:
    """States and the tokens that followed them."""

    keys: Tensor
    """(N, E), float16."""
    values: Tensor
    """(N,), int32."""
    fingerprint: str
    """Of the translator whose states they are."""
    corpus: str
    """Its training part was read."""
    source: str
    """Language of the sources."""
    target: str
    """Language of the targets."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """weight, temperature and k that were best on dev; empty before `tune`."""

    def __len__(self) -> int:
        """Target tokens."""
        return len(self.keys)

    def save(self, folder: Path, **more: Any) -> None:
        """Write the datastore, whole or not at all, in place of an older one.

        Args:
            folder: made if it is not there; nothing else belongs into it.
            **more: further entries of the card.

        Raises:
            OSError: it cannot be written; the older one stays as it was.
        """
        tensors = {"keys": self.keys, "values": self.values}
        with whole_folder(folder) as part:
            card = {
                "model": self.fingerprint,
                "corpus": self.corpus,
                "from": self.source,
                "to": self.target,
                "n": len(self),
                "states": write_tensors(part / STATES, tensors),
                "settings": dict(self.settings),
            }
            write_json(part / CARD, card | more)

    @classmethod
    def load(cls, folder: Path, translator: Translator) -> "Datastore":
        """Read the datastore of a translator.

        Raises:
            FileNotFoundError: there is none.
            ValueError: it belongs to another model, or is damaged.
        """
        make = f"coursepkg translation neighbours --model {folder.parent}"
        if not (folder / CARD).is_file():
            raise FileNotFoundError(
                f"{folder}: no datastore of neighbours in it; make one first: {make}"
            )
        card = read_json(folder / CARD, needs=NEEDS)
        if card["model"] != translator.fingerprint:
            raise ValueError(
                f"{folder / CARD} belongs to another model; make the datastore again:"
                f" {make}"
            )
        states = read_tensors(folder / STATES, card["states"])
        names = ("model", "corpus", "from", "to", "settings")
        told = (card[name] for name in names)
        return cls(states["keys"], states["values"], *told)


def build_datastore(
    translator: Translator, parts: Parts, *, batch_size: int = 64
) -> Datastore:
    """Read the training part under teacher forcing; dev and test are not touched.

    What the model has learnt to copy is masked, as in its training.

    Args:
        translator: the system; its network must be a `Transformer`.
        parts: the corpus, in the direction that is to be translated.

    Raises:
        ValueError: the model does not translate in this direction, is no Transformer,
            or no pair fits it.
    """
    translator.check_direction(parts.source, parts.target)
    model = _transformer(translator)
    languages, subwords = (parts.source, parts.target), translator.subwords
    is_masked = translator.recipe.placeholders == "mask"
    pairs = [*map(mask_pair, parts.train)] if is_masked else parts.train
    kept = fitting(pairs, subwords, languages, translator.recipe.max_len).pairs
    if not kept:
        raise ValueError(
            f"the training part of {parts.corpus} has no pair that fits the model"
        )
    sources = subwords.encode_sources([p.source for p in kept], *languages)
    targets = subwords.encode_targets([p.target for p in kept], parts.target)
    both = zip(sources, targets, strict=True)
    by_length = sorted(both, key=lambda pair: (len(pair[0]), len(pair[1])))
    batches = map(make_batch, chunks(by_length, batch_size))
    keys, values = record_states(model, batches, dtype=torch.float16)
    whose = translator.fingerprint, parts.corpus
    return Datastore(keys, values.int(), *whose, *languages)


def with_neighbours(
    translator: Translator, store: Datastore, weight: float, temperature: float, k: int
) -> Translator:
    """A translator that searches with a datastore; model and vocabulary are shared.

    It translates in the direction of the datastore alone, its fingerprint is another
    one, and its confidence is not calibrated.

    Args:
        translator: the system whose states the datastore holds; it stays as it is.
        weight: of the neighbours, in [0, 1].
        temperature: of their distances, above 0.
        k: neighbours, in 1..N.

    Raises:
        ValueError: the datastore belongs to another model, or a setting is out of
            range.
    """
    if store.fingerprint != translator.fingerprint:
        raise ValueError(
            "store belongs to another model; build the datastore of this one"
        )
    check_knn_settings(weight, temperature, k, len(store))
    model = _transformer(translator)
    device = model.target_embedding.weight.device
    keys, values = store.keys.to(device), store.values.to(device)
    head = KnnOutput(
        own_output(model), keys, values, weight=weight, temperature=temperature, k=k
    )
    changed = copy.copy(translator)
    changed.fast = with_output(model, head)
    changed.directions = [(store.source, store.target)]
    changed.looked_up = store.corpus
    changed.calibration = None  # it was fitted on the model alone
    whose = f"{translator.fingerprint} {store.corpus}"
    identity = f"{whose} {len(store)} {weight} {temperature} {k}"
    changed.fingerprint = hashlib.sha256(identity.encode()).hexdigest()
    return changed


def with_stored_neighbours(translator: Translator, run: Path) -> Translator:
    """The translator of a run with the datastore and settings in its folder.

    Raises:
        FileNotFoundError: the run has no datastore.
        ValueError: it belongs to another model, or has no settings yet.
    """
    store = Datastore.load(run / FOLDER, translator)
    if store.settings.keys() != {"weight", "temperature", "k"}:
        raise ValueError(
            f"{run / FOLDER / CARD} has no settings; make the datastore again"
        )
    return with_neighbours(translator, store, **store.settings)


def neighbours_settings(translator: Translator) -> dict[str, Any] | None:
    """weight, temperature, k and number of keys; None without neighbours."""
    head = getattr(translator.fast, "output_head", None)
    if not isinstance(head, KnnOutput):
        return None
    settings = {name: getattr(head, name) for name in ("weight", "temperature", "k")}
    return settings | {"n_keys": len(head.keys)}


def _transformer(translator: Translator) -> Transformer:
    """Its network for searching."""
    if not isinstance(translator.fast, Transformer):
        raise ValueError(
            f"neighbours need a Transformer, got a {type(translator.model).__name__}"
        )
    if neighbours_settings(translator):
        raise ValueError(
            "translator has neighbours already; give the one that it was made from"
        )
    return translator.fast
