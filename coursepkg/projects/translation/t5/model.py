"""A T5 and its tokenizer: loaded by name or from a folder, built small from nothing, saved and loaded back.

    >>> t5 = load_t5("google/mt5-small")         # with a network, or from the cache of the Hub
    >>> t5 = load_t5("runs/nom/model")           # a folder that save_pretrained wrote
    >>> t5 = tiny_t5(texts)                      # random weights, a vocabulary of these texts

Weights are read from safetensors alone, and no code that comes with a model is run.
"""

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from safetensors import SafetensorError

from coursepkg.files import whole_folder
from coursepkg.training.files import read_json, write_json
from coursepkg.training.seed import set_seed

FAMILY = ("t5", "mt5", "umt5")
"""Kinds of model that are text-to-text in T5's way."""
NAMES = {
    "google/mt5-small": "101 languages, Vietnamese and Chinese among them",
    "VietAI/vit5-base": "Vietnamese",
    "minhtoan/t5-translate-vietnamese-nom": "Nom and Vietnamese, the one of the report; the Hub converts its pickle",
}
"""Models on the Hugging Face Hub that this course speaks of. Any other T5, mT5 or umT5 will do as well."""
CARD = "coursepkg.json"
"""What we store beside a model: its prefixes and where it comes from."""
TINY = {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4}
"""Sizes of `tiny_t5`, under the names of `transformers.T5Config`."""


@dataclass(frozen=True)
class T5:
    """A network with what belongs to it."""

    network: Any
    """Hugging Face's `T5ForConditionalGeneration` or its mT5 or umT5."""
    tokenizer: Any
    """Its tokenizer; an encoded text ends with EOS."""
    name: str
    """Name or folder that it came from."""
    card: dict[str, Any] = field(default_factory=dict)
    """What `save_t5` stored beside it; empty for a model from elsewhere."""

    @property
    def start_id(self) -> int:
        """What the decoder reads first: PAD, in every T5."""
        config = self.network.config
        start = getattr(config, "decoder_start_token_id", None)
        return int(config.pad_token_id if start is None else start)

    @property
    def pad_id(self) -> int:
        """PAD."""
        return int(self.network.config.pad_token_id)


def load_t5(name: str | Path, *, revision: str = "main", local_only: bool = False) -> T5:
    """Load a model, in float32 and evaluation mode.

    Args:
        name: a folder, or a name on the Hub such as one of `NAMES`.
        revision: branch, tag or commit on the Hub; a commit makes sure that nothing changes under one's feet.
        local_only: do not ask the network; what was loaded before is in the cache of the Hub.

    Raises:
        ImportError: transformers is not installed, or protobuf, which some vocabularies need.
        FileNotFoundError: the folder is not there.
        OSError: the Hub cannot be reached, or has no such model or no safetensors of it.
        ValueError: the folder holds no T5, a file of it is damaged, or the name is `tiny`.
    """
    if str(name) == "tiny":
        raise ValueError("tiny is built when it is trained; give the folder `model` of the run")
    library = transformers_module()
    folder = Path(name).expanduser()
    if not folder.is_dir() and _looks_like_path(str(name)):
        raise FileNotFoundError(f"{name} is no folder here; give one with a saved T5, or `tiny`")
    where: dict[str, Any] = {"trust_remote_code": False}
    if folder.is_dir():
        _check_folder(folder)
        place = str(folder)
    else:
        place = str(name)
        offline = local_only or not _hub_is_there()
        where |= {"revision": revision, "local_files_only": offline}
    with _quiet(library), _one_line(place):
        config = library.AutoConfig.from_pretrained(place, **where)
        if config.model_type not in FAMILY:
            raise _Unfit(f"{place} is a {config.model_type} model; give one of the kinds {', '.join(FAMILY)}")
        tokenizer = library.AutoTokenizer.from_pretrained(place, **where)
        network, found = library.AutoModelForSeq2SeqLM.from_pretrained(
            place, config=config, use_safetensors=True, output_loading_info=True, **where
        )
    if found["missing_keys"]:
        raise ValueError(f"{place} lacks weights ({sorted(found['missing_keys'])[0]}, ...); copy it again")
    card = folder / CARD
    return T5(network.float().eval(), tokenizer, place, read_json(card) if card.is_file() else {})


def save_t5(t5: T5, folder: str | Path, **card: Any) -> None:
    """Write a model as Hugging Face does, with our card beside it; the folder appears whole, replacing an older one.

    Args:
        t5: what to write.
        folder: where to; anything that loads Hugging Face models can read it.
        **card: what else belongs to it, as JSON can hold it.

    Raises:
        OSError: it cannot be written; an older folder of this name stays as it was.
    """
    folder = Path(folder)
    try:
        with whole_folder(folder) as part:
            with _quiet(transformers_module()):
                t5.network.save_pretrained(part)
                t5.tokenizer.save_pretrained(part)
            write_json(part / CARD, {**t5.card, **card})
    except (OSError, SafetensorError) as reason:
        raise OSError(f"{folder} could not be written: {reason}; free some space and try again") from reason


def tiny_t5(texts: Iterable[str], *, vocab_size: int = 4000, seed: int = 0, **sizes: Any) -> T5:
    """A small T5 with random weights and a vocabulary of its own: what makes the real path run without a network.

    Args:
        texts: what the vocabulary is learnt from, both sides of the training part.
        vocab_size: most pieces; fewer where the texts do not give so many, more where their characters need more.
        seed: of the weights.
        **sizes: fields of `transformers.T5Config` that differ from `TINY`.

    Raises:
        ImportError: transformers is not installed.
        ValueError: there is no text.
    """
    from coursepkg.projects.translation.t5.tokenizer import train_tokenizer

    library = transformers_module()
    tokenizer = train_tokenizer(texts, vocab_size)
    special = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    config = library.T5Config(**{"vocab_size": len(tokenizer), **special, **TINY, **sizes})
    set_seed(seed)
    return T5(library.T5ForConditionalGeneration(config).eval(), tokenizer, "tiny")


def transformers_module() -> Any:
    """The library, or an ImportError of one line."""
    try:
        import transformers
    except ImportError as reason:
        raise ImportError("T5 needs transformers: pip install 'coursepkg[t5]'") from reason
    return transformers


class _Unfit(ValueError):
    """A message of ours, which needs no translation."""


def _looks_like_path(name: str) -> bool:
    """Names on the Hub are `name` or `owner/name`."""
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name or Path(name).exists()


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise ValueError(
            f"{folder} has no config.json; give the folder `model` of a run, or another saved T5"
        )
    if not any(folder.glob("*.safetensors")):
        raise ValueError(
            f"{folder} has no *.safetensors; weights of other formats are not read, as unpickling runs code: "
            "convert them once with save_pretrained"
        )


def _hub_is_there() -> bool:
    """Whether the Hub's address has a name server; without one the library would try for half a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or any(os.environ.get(n) for n in ("HTTPS_PROXY", "https_proxy")):
        return not constants.HF_HUB_OFFLINE
    try:
        socket.getaddrinfo(urlsplit(constants.ENDPOINT).hostname, 443)
    except OSError:
        return False
    return True


@contextmanager
def _one_line(place: str) -> Iterator[None]:
    """Inside `with`, what the library says in many lines becomes an error of one."""
    try:
        yield
    except _Unfit:
        raise
    except (OSError, ValueError, RuntimeError, SafetensorError) as reason:
        said = next(iter(str(reason).strip().splitlines()), type(reason).__name__)[:200]
        if "tiktoken" in said or "protobuf" in said:
            # What the library says when it cannot read a SentencePiece model.
            raise ImportError(
                f"{place} has its vocabulary in spiece.model, which needs protobuf to be read: pip install protobuf"
            ) from reason
        if Path(place).is_dir():
            raise ValueError(f"{place} cannot be loaded, copy it again ({said})") from reason
        raise OSError(
            f"{place} cannot be loaded from the Hugging Face Hub ({said}); give --model FOLDER with a saved T5 whose "
            "weights are safetensors, or use the built-in --model tiny"
        ) from reason


@contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """Inside `with`, the library shows no progress bars and no advice."""
    logger = library.utils.logging
    level, bars = logger.get_verbosity(), logger.is_progress_bar_enabled()
    logger.set_verbosity_error()
    logger.disable_progress_bar()
    try:
        yield
    finally:
        logger.set_verbosity(level)
        if bars:
            logger.enable_progress_bar()
