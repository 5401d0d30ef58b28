"""A T5 and its tokenizer: loaded, built small from nothing, saved, and measured.

    >>> t5 = load_t5("google/mt5-small")  # with a network, or from the cache
    >>> t5 = load_t5("runs/nom/model")    # a folder that save_pretrained wrote
    >>> t5 = tiny_t5(texts)               # random weights, a vocabulary of these texts

Weights are read from safetensors alone, and no code that comes with a model is run.

A T5 can never write what its vocabulary lacks, and that of the original T5 was made for
English, German, French and Romanian. So coverage is reported before training.

T5 is an encoder-decoder, but not the Transformer of 2017: a learnt bias by relative
distance instead of positions in the input, shared by all layers of a stack; RMSNorm
without bias, in front of each sublayer; no bias anywhere; scores not divided by the
square root of the head dimension (its initial weights are scaled instead); ReLU; one
embedding for source, target and output. Source: Raffel et al. (arXiv 1910.10683),
sections 2.1 and 3.7.
"""

import io
import math
import os
import re
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from safetensors import SafetensorError, safe_open

from coursepkg.files import read_json, whole_folder, write_json
from coursepkg.projects.translation.t5.text import PREFIXES
from coursepkg.text.spacing import HAN, PRIVATE
from coursepkg.text.subword import FIXED
from coursepkg.text.tokenizer import WORD_MARK, normalize
from coursepkg.text.vietnamese import ACCENTED
from coursepkg.training.seed import set_seed
from coursepkg.training.weights import check_weights_finite, outline_of
from coursepkg.validation import check_count, one_line

LETTERS = ACCENTED + ACCENTED.upper()
"""The 134 letters that Vietnamese has and ASCII lacks: 67 in either case."""
WARN_SHARE = 0.005
"""Share of lost characters from which on `Coverage.warning` speaks."""
PAD_PIECE, EOS_PIECE, UNK_PIECE = "<pad>", "</s>", "<unk>"
"""Pieces 0, 1 and 2 of every T5."""

_WORD = re.compile(r"(?<!\S)\w+")
_HAN = re.compile(f"[{HAN}{PRIVATE}]")


@dataclass(frozen=True)
class Coverage:
    """What a tokenizer makes of some texts."""

    n_texts: int
    """Texts that were looked at."""
    n_characters: int
    """Characters, without spaces."""
    lost: Counter[str]
    """Characters that become <unk>, and how often."""
    n_words: int
    """Words, as spaces separate them: in Chinese and Nom whole sentences."""
    n_lost_words: int
    """Words in which something becomes <unk>."""
    n_pieces: int
    """Pieces of all words, without EOS."""
    lost_letters: str
    """Accented Vietnamese letters that the vocabulary lacks, in the texts or not."""

    @property
    def lost_share(self) -> float:
        """Share of the characters that are lost."""
        return self.lost.total() / max(1, self.n_characters)

    @property
    def lost_word_share(self) -> float:
        """Share of the words that lose something."""
        return self.n_lost_words / max(1, self.n_words)

    @property
    def pieces_per_word(self) -> float:
        """How finely words are cut, 1 being not at all."""
        return self.n_pieces / max(1, self.n_words)

    @property
    def warning(self) -> str:
        """One line if more than `WARN_SHARE` of all characters are lost, or none."""
        if self.lost_share <= WARN_SHARE:
            return ""
        worst = " ".join(character for character, _ in self.lost.most_common(8))
        return (
            f"WARNING: {self.lost_share:.1%} of the characters become <unk> ({worst}"
            " ...); a model with this vocabulary can neither read nor write them:"
            " choose another, such as google/mt5-small"
        )

    def __str__(self) -> str:
        return (
            f"{self.n_texts} texts: {self.lost_share:.2%} of {self.n_characters}"
            f" characters and {self.lost_word_share:.2%} of {self.n_words} words lost"
            f" to <unk>, {self.pieces_per_word:.2f} pieces a word;"
            f" {len(LETTERS) - len(self.lost_letters)} of {len(LETTERS)} Vietnamese"
            " letters known"
        )


def coverage(tokenizer: Any, texts: Sequence[str]) -> Coverage:
    """Count what is lost.

    A character is asked for by itself. That is exact for SentencePiece vocabularies,
    whose pieces are made of single characters that are in the vocabulary, too. What the
    tokenizer replaces by itself, such as a full-width letter by a narrow one, does not
    count as lost.

    Raises:
        ValueError: the texts are one string.
    """
    if isinstance(texts, str):
        raise ValueError(
            f"texts must be a list of texts, got the string {texts[:40]!r}; put it into"
            " a list"
        )
    words = Counter(word for text in texts for word in text.split())
    characters = Counter(
        sign for text in texts for word in text.split() for sign in word
    )
    ids = {
        text: tokenizer.encode(text, add_special_tokens=False)
        for text in {*words, *characters, *LETTERS}
    }
    unknown = {text for text, own in ids.items() if tokenizer.unk_token_id in own}
    return Coverage(
        n_texts=len(texts),
        n_characters=characters.total(),
        lost=Counter({c: n for c, n in characters.items() if c in unknown}),
        n_words=words.total(),
        n_lost_words=sum(n for word, n in words.items() if word in unknown),
        n_pieces=sum(n * len(ids[word]) for word, n in words.items()),
        lost_letters="".join(letter for letter in LETTERS if letter in unknown),
    )


def train_tokenizer(texts: Iterable[str], vocab_size: int = 4000) -> Any:
    """A unigram vocabulary of some texts as a Hugging Face tokenizer for T5.

    Every character of the texts gets a piece, those of Nom that lie outside Unicode's
    first plane as well, and so do the characters of the prefixes. A Han character is
    always a piece by itself, as it is a syllable by itself; everything else is cut by
    pieces that SentencePiece learns, and by the most frequent words.

    Args:
        vocab_size: most pieces; more where the characters alone need more.

    Raises:
        ImportError: transformers is not installed.
        ValueError: there is no text, or one holds what no piece can (see
            `text.tokenizer.normalize`).
    """
    check_count("vocab_size", vocab_size)
    given = [
        text
        for i, line in enumerate(texts)
        if (text := normalize(line, name=f"texts[{i}]"))
    ]
    if not given:
        raise ValueError("texts must hold at least one word, got none")
    lines = [*given, *(prefix.strip() for prefix in PREFIXES.values())]
    ideographs = Counter(sign for line in lines for sign in _HAN.findall(line))
    lines = [_HAN.sub(" ", line) for line in lines]
    n_letters = len({letter for line in lines for letter in line}) + 3
    model = _learn(lines, max(vocab_size - len(ideographs), n_letters))
    pieces = [(model.id_to_piece(i), model.get_score(i)) for i in range(len(model))]
    total = ideographs.total()
    pieces += [(sign, math.log(n / total)) for sign, n in sorted(ideographs.items())]
    return _wrap(_with_words(pieces, lines, vocab_size))


def _learn(lines: Sequence[str], vocab_size: int) -> Any:
    """A SentencePiece model; it may have fewer pieces than asked for."""
    import sentencepiece

    special = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    pieces = {"pad_piece": PAD_PIECE, "eos_piece": EOS_PIECE, "unk_piece": UNK_PIECE}
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=vocab_size,
        model_type="unigram",
        character_coverage=1.0,
        hard_vocab_limit=False,
        **FIXED | special | pieces,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())


def _with_words(
    pieces: Sequence[tuple[str, float]], lines: Sequence[str], vocab_size: int
) -> list[tuple[str, float]]:
    """The pieces and, where there is room, the most frequent words.

    SentencePiece looks for pieces that different words share, so in a small text the
    syllable `tôi`, a word that is part of no other, never becomes one; Vietnamese
    consists of such words.
    """
    counts = Counter(WORD_MARK + word for line in lines for word in _WORD.findall(line))
    known, total = {piece for piece, _ in pieces}, counts.total()
    words = [
        (word, math.log(n / total))
        for word, n in counts.most_common()
        if n > 1 and word not in known
    ]
    return [*pieces, *words[: max(0, vocab_size - len(pieces))]]


def _wrap(pieces: Sequence[tuple[str, float]]) -> Any:
    """Scored pieces as T5's tokenizer: words at white space, EOS behind all."""
    library = transformers_module()
    from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers, processors
    from tokenizers.models import Unigram

    core = Tokenizer(Unigram(list(pieces), unk_id=2, byte_fallback=False))
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(WORD_MARK, prepend_scheme="always"),
            pre_tokenizers.Split(Regex(_HAN.pattern), "isolated"),
        ]
    )
    core.decoder = decoders.Metaspace(WORD_MARK, prepend_scheme="always")
    core.post_processor = processors.TemplateProcessing(
        single=f"$A {EOS_PIECE}",
        pair=f"$A {EOS_PIECE} $B {EOS_PIECE}",
        special_tokens=[(EOS_PIECE, 1)],
    )
    return library.PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=PAD_PIECE,
        eos_token=EOS_PIECE,
        unk_token=UNK_PIECE,
    )


FAMILY = ("t5", "mt5", "umt5")
"""Kinds of model that are text-to-text in T5's way."""
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


def load_t5(
    name: str | Path, *, revision: str = "main", local_only: bool = False
) -> T5:
    """Load a model, in float32 and evaluation mode.

    Args:
        name: a folder, or a name on the Hub such as `google/mt5-small`.
        revision: branch, tag or commit on the Hub; a commit makes sure that nothing
            changes under one's feet.
        local_only: do not ask the network; what was loaded before is in the cache of
            the Hub.

    Raises:
        ImportError: transformers is not installed, or protobuf, which some vocabularies
            need.
        FileNotFoundError: the folder is not there.
        OSError: the Hub cannot be reached, or has no such model or no safetensors of
            it.
        ValueError: the folder holds no T5, a file of it is damaged, or the name is
            `tiny`.
    """
    if str(name) == "tiny":
        raise ValueError(
            "tiny is built when it is trained; give the folder `model` of the run"
        )
    library = transformers_module()
    folder = Path(name).expanduser()
    if not folder.is_dir() and _looks_like_path(str(name)):
        raise FileNotFoundError(
            f"{name} is no folder here; give one with a saved T5, or `tiny`"
        )
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
            raise _NotT5(
                f"{place} is a {config.model_type} model; give one of the kinds"
                f" {', '.join(FAMILY)}"
            )
        if folder.is_dir():
            _check_sizes(library, config, folder)
        tokenizer = library.AutoTokenizer.from_pretrained(place, **where)
        network, found = library.AutoModelForSeq2SeqLM.from_pretrained(
            place,
            config=config,
            use_safetensors=True,
            output_loading_info=True,
            **where,
        )
    if found["missing_keys"]:
        raise ValueError(
            f"{place} lacks weights ({sorted(found['missing_keys'])[0]}, ...); copy it"
            " again"
        )
    network = network.float().eval()
    check_weights_finite(network, place)
    card = folder / CARD
    told = read_json(card) if card.is_file() else {}
    prefixes = told.get("prefixes", {})
    if not isinstance(prefixes, dict) or not all(
        isinstance(text, str) for text in prefixes.values()
    ):
        raise ValueError(f"{card} is damaged: its prefixes are no texts; copy it again")
    return T5(network, tokenizer, place, told)


def save_t5(t5: T5, folder: str | Path, **card: Any) -> None:
    """Write a model as Hugging Face does, with our card; an older folder is replaced.

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
        raise OSError(
            f"{folder} could not be written: {reason}; free some space and try again"
        ) from reason


def tiny_t5(
    texts: Iterable[str],
    *,
    vocab_size: int = 4000,
    n_sentinels: int = 0,
    seed: int = 0,
    **sizes: Any,
) -> T5:
    """A small T5 with random weights and a vocabulary of its own; needs no network.

    Args:
        texts: what the vocabulary is learnt from, both sides of the training part.
        vocab_size: most pieces; fewer where the texts do not give so many, more where
            their characters need more.
        n_sentinels: pieces <extra_id_0>, <extra_id_1>, ... behind them, to pretrain.
        **sizes: fields of `transformers.T5Config` that differ from `TINY`.

    Raises:
        ImportError: transformers is not installed.
        ValueError: there is no text.
    """
    library = transformers_module()
    tokenizer = train_tokenizer(texts, vocab_size)
    tokenizer.add_tokens(
        [f"<extra_id_{i}>" for i in range(n_sentinels)], special_tokens=True
    )
    special = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    config = library.T5Config(
        **{"vocab_size": len(tokenizer), **special, **TINY, **sizes}
    )
    set_seed(seed)
    return T5(library.T5ForConditionalGeneration(config).eval(), tokenizer, "tiny")


def transformers_module() -> Any:
    """The library, or an ImportError of one line."""
    try:
        import transformers
    except ImportError as reason:
        raise ImportError(
            "T5 needs transformers: pip install 'coursepkg[t5]'"
        ) from reason
    return transformers


class _NotT5(ValueError):
    """A message of ours, which needs no translation."""


def _looks_like_path(name: str) -> bool:
    """Names on the Hub are `name` or `owner/name`."""
    is_path = name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1
    return is_path or Path(name).exists()


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise ValueError(
            f"{folder} has no config.json; give the folder `model` of a run, or another"
            " saved T5"
        )
    if not any(folder.glob("*.safetensors")):
        raise ValueError(
            f"{folder} has no *.safetensors; weights of other formats are not read, as"
            " unpickling runs code: convert them once with save_pretrained"
        )


def _check_sizes(library: Any, config: Any, folder: Path) -> None:
    """Raises a ValueError unless the weights of a folder can fill its network."""
    stored = n_weights = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 - it is no mapping
                stored += math.prod(file.get_slice(name).get_shape())
                n_weights += 1
    outline = outline_of(
        lambda: library.AutoModelForSeq2SeqLM.from_config(config),
        config.to_dict(),
        n_weights,
    )
    needed = sum(parameter.numel() for parameter in outline.parameters())
    if needed > 2 * stored:
        raise ValueError(
            f"its network has {needed:,} weights, and it stores {stored:,}"
        )


def _hub_is_there() -> bool:
    """Whether the Hub's address resolves; else the library would try half a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    if os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy"):
        return True
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
    except (_NotT5, ImportError):
        raise
    except Exception as reason:  # a damaged file makes the library fail in any way
        message = one_line(reason)[:200]
        if "tiktoken" in message or "protobuf" in message:
            # What the library says when it cannot read a SentencePiece model.
            raise ImportError(
                f"{place} has its vocabulary in spiece.model, which needs protobuf to"
                " be read: pip install protobuf"
            ) from reason
        if Path(place).is_dir():
            raise ValueError(
                f"{place} cannot be loaded, copy it again ({message})"
            ) from reason
        raise OSError(
            f"{place} cannot be loaded from the Hugging Face Hub ({message}); give"
            " --model FOLDER with a saved T5 whose weights are safetensors, or use the"
            " built-in --model tiny"
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


VOCABULARY = 32_128
"""Rows of the published embeddings: 32,000 pieces, 100 sentinels and padding."""
RELATIVE_BUCKETS = 32
"""Distances that the position bias tells apart; far ones share a bucket."""


@dataclass(frozen=True)
class T5Size:
    """One published size."""

    name: str
    """Name in the paper."""
    hub_name: str
    """Name under which `load_t5` finds it where there is a network."""
    d_model: int
    """Width E."""
    d_ff: int
    """Width inside the feed-forward networks."""
    d_kv: int
    """Head dimension D."""
    n_heads: int
    """Heads H; H times D need not be E."""
    n_layers: int
    """Layers of the encoder, and again of the decoder."""
    said: int
    """Parameters as the paper says, rounded."""

    def settings(self) -> dict[str, Any]:
        """What `transformers.T5Config` calls these fields."""
        return {
            "vocab_size": VOCABULARY,
            "d_model": self.d_model,
            "d_ff": self.d_ff,
            "d_kv": self.d_kv,
            "num_heads": self.n_heads,
            "num_layers": self.n_layers,
        }


SIZES = (
    T5Size("Small", "google-t5/t5-small", 512, 2048, 64, 8, 6, 60_000_000),
    T5Size("Base", "google-t5/t5-base", 768, 3072, 64, 12, 12, 220_000_000),
    T5Size("Large", "google-t5/t5-large", 1024, 4096, 64, 16, 24, 770_000_000),
    T5Size("3B", "google-t5/t5-3b", 1024, 16_384, 128, 32, 24, 2_800_000_000),
    T5Size("11B", "google-t5/t5-11b", 1024, 65_536, 128, 128, 24, 11_000_000_000),
)
"""Source: Raffel et al. (arXiv 1910.10683), section 3.7."""


def formula_parameters(size: T5Size) -> int:
    """Parameters by hand.

        V E + n (4 E H D + 2 E F + 2 E) + n (8 E H D + 2 E F + 3 E) + 2 (32 H + E)

    Embedding, encoder layers, decoder layers, and for each stack one table of biases by
    distance and a final norm.
    """
    inner = size.n_heads * size.d_kv
    attention, feed_forward = 4 * size.d_model * inner, 2 * size.d_model * size.d_ff
    encoder = attention + feed_forward + 2 * size.d_model
    decoder = 2 * attention + feed_forward + 3 * size.d_model
    stacks = 2 * (RELATIVE_BUCKETS * size.n_heads + size.d_model)
    return VOCABULARY * size.d_model + size.n_layers * (encoder + decoder) + stacks


def count_parameters(size: T5Size) -> int:
    """Parameters of Hugging Face's model of this size, built without its weights.

    Raises:
        ImportError: transformers is not installed.
    """
    import torch

    library = transformers_module()
    with torch.device("meta"):
        network = library.T5ForConditionalGeneration(
            library.T5Config(**size.settings())
        )
    return sum(parameter.numel() for parameter in network.parameters())
