"""A trained Transformer as a folder that CTranslate2 runs.

    FOLDER/model.bin                  the weights, quantized if asked for
    FOLDER/config.json                special tokens, and as `max_len` the most tokens of a source and of a target
    FOLDER/shared_vocabulary.json     the piece of each id (or source_vocabulary.json and target_vocabulary.json)

CTranslate2 is a C++ runtime for a few known architectures. It computes the same function as our PyTorch model, so
greedy decoding gives the same tokens; with 8-bit weights nearly the same. `exported.ExportedTranslator` reads the
folder. So does `ctranslate2.Translator`, which takes pieces: the language tag first, the end of sentence last (nothing
is added to a source).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from coursepkg.files import check_new, whole_folder
from coursepkg.projects.translation.export.spec import check_exportable, filled_spec
from coursepkg.text.vocabulary import BOS, EOS, UNK

QUANTIZATIONS = ("none", "int8", "float16", "bfloat16")
"""How the matrices are stored; `none` is float32. A processor that lacks a type computes in a wider one."""


def export_ctranslate2(
    model: nn.Module,
    pieces: Sequence[str],
    out: str | Path,
    *,
    quantization: str = "none",
    source_pieces: Sequence[str] | None = None,
    also: Callable[[Path], object] | None = None,
) -> None:
    """Write a folder for CTranslate2; it appears whole or not at all.

    What can be exported: LayerNorm or RMSNorm before or behind the sublayers, all activations, sinusoidal, learned,
    relative, no or rotary positions (either layout), grouped queries, biases, tied or untied output. What cannot:
    rotated cross-attention (`rope_cross`).

    Args:
        model: a `Transformer`; it stays as it is, whatever the quantization.
        pieces: the target vocabulary, one piece an id, all different; the first four are PAD, BOS, EOS and UNK.
        out: where to; it must not exist yet.
        quantization: one of `QUANTIZATIONS`.
        source_pieces: the source vocabulary of a model that has one of its own.
        also: writes what else belongs to the folder, such as the subword model; called with the unfinished folder.

    Raises:
        ImportError: ctranslate2 is not installed.
        ValueError: CTranslate2 cannot run this model, a vocabulary does not fit, or the folder exists.
        OSError: it cannot be written; nothing half-written stays behind.
    """
    out = Path(out)
    if quantization not in QUANTIZATIONS:
        raise ValueError(f"quantization must be one of {', '.join(QUANTIZATIONS)}, got {quantization!r}")
    check_new(out, "remove it or choose another folder")
    model = check_exportable(model)
    config = model.config
    own_source = config.source_vocab_size is not None
    if own_source != (source_pieces is not None):
        wanted = "must be given, as" if own_source else "must be None unless"
        raise ValueError(f"source_pieces {wanted} source_vocab_size is set in the model's configuration")
    target = _checked("pieces", pieces, "vocab_size", config.vocab_size)
    source = target
    if source_pieces is not None and config.source_vocab_size is not None:
        source = _checked("source_pieces", source_pieces, "source_vocab_size", config.source_vocab_size)
    spec = filled_spec(model)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.unk_token, spec.config.bos_token = target[UNK], target[BOS]
    spec.config.eos_token, spec.config.decoder_start_token = target[EOS], target[BOS]
    spec.config.add_attribute("max_len", config.max_len)
    spec.validate()
    spec.optimize(quantization=None if quantization == "none" else quantization)
    _write(spec, out, also)


def _checked(name: str, pieces: Sequence[str], field: str, size: int) -> list[str]:
    pieces = list(pieces)
    if len(pieces) != size:
        raise ValueError(f"{name} must be {size}, the model's {field}, got {len(pieces)}")
    seen: dict[str, int] = {}
    for i, piece in enumerate(pieces):
        if seen.setdefault(piece, i) != i:
            raise ValueError(f"{name} must be distinct, but ids {seen[piece]} and {i} are both {piece!r}")
    return pieces


def _write(spec: Any, out: Path, also: Callable[[Path], object] | None) -> None:
    with whole_folder(out) as part:
        spec.save(str(part))
        if also is not None:
            also(part)
