"""A trained Transformer as a folder that CTranslate2 runs, and such a folder at work.

    FOLDER/model.bin                  the weights, quantized if asked for
    FOLDER/config.json                special tokens; `max_len`, most tokens of a text
    FOLDER/shared_vocabulary.json     the piece of each id, or one file a language

CTranslate2 is a C++ runtime with layers of its own for a few known architectures. Its
specification of an encoder-decoder model holds the choices (heads, norms, positions)
and the weights; self-attention keeps W_q, W_k and W_v as one matrix, cross-attention
keeps W_k and W_v so. It computes the same function as our PyTorch model, so greedy
decoding gives the same tokens; with 8-bit weights nearly the same.

`ExportedTranslator` reads the folder, with token ids in and out. So does
`ctranslate2.Translator`, which takes pieces: the language tag first, the end of
sentence last (nothing is added to a source). Its score of a translation is

    score(y) = log p(y | x) / |y|^length_penalty        |y| counts EOS

and ours divides by ((5 + |y|) / 6)^alpha (`coursepkg.decoding.beam`). At a penalty of 0
both are the log-probability. Unknown tokens stay in the output: nothing is copied from
the source in their place.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.app.export import check_entries
from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.position_bias import RelativeBias
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.decoder import Decoder, DecoderLayer
from coursepkg.blocks.encoder import Encoder, EncoderLayer
from coursepkg.blocks.feedforward import FeedForward
from coursepkg.blocks.norm import LayerNorm
from coursepkg.blocks.transformer import Transformer
from coursepkg.files import check_new, whole_folder
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK
from coursepkg.validation import check_count, check_finite

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swiglu": "SWISH", "geglu": "GELUTanh"}
"""By our name: that of CTranslate2's activation, in a gated network that of the gate.
"""


def ctranslate2() -> Any:
    """The optional module.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return import_module("ctranslate2")
    except ImportError as reason:
        raise ImportError(
            "an exported model needs ctranslate2: pip install 'coursepkg[export]'"
        ) from reason


def check_transformer(model: nn.Module) -> Transformer:
    """The model, if it is a Transformer with its own output layer.

    Raises:
        ValueError: it is not; the message names what stands in the way.
    """
    if not isinstance(model, Transformer):
        raise ValueError(
            "only a Transformer with encoder and decoder can be exported, got a"
            f" {type(model).__name__}"
        )
    if model.output_head is not None:
        raise ValueError(
            "the model is packed or looks up neighbours, which no export holds; export"
            " the one it was made from"
        )
    return model


def check_exportable(model: nn.Module) -> Transformer:
    """The model, if CTranslate2 can run it.

    Raises:
        ValueError: it cannot; the message names what stands in the way.
    """
    model = check_transformer(model)
    if model.config.rope_cross:
        raise ValueError(
            "rope_cross must be False to export: CTranslate2 rotates self-attention"
            " only; train with rope_cross=False"
        )
    return model


def filled_spec(model: Transformer) -> Any:
    """CTranslate2's `TransformerSpec` with copies, in float32, of the model's weights.

    Raises:
        ImportError: ctranslate2 is not installed.
    """
    config, specs = model.config, ctranslate2().specs
    activation = specs.common_spec.Activation[ACTIVATIONS[config.activation]]
    choices = _choices(config) | {"activation": activation}
    encoder = specs.transformer_spec.TransformerEncoderSpec(
        config.n_encoder_layers, config.n_heads, **choices
    )
    decoder = specs.transformer_spec.TransformerDecoderSpec(
        config.n_decoder_layers, config.n_heads, **choices
    )
    spec = specs.TransformerSpec(encoder, decoder)
    spec.config.add_attribute("layer_norm_epsilon", config.norm_eps)
    source = model.source_embedding or model.target_embedding
    encoder.embeddings[0].weight = _numbers(source.weight)
    decoder.embeddings.weight = _numbers(model.target_embedding.weight)
    _fill_stack(encoder, model.encoder, config)
    _fill_stack(decoder, model.decoder, config)
    decoder.projection.weight = _numbers(model.output_weight)
    if model.output_bias is not None:
        decoder.projection.bias = _numbers(model.output_bias)
    return spec


def _choices(config: TransformerConfig) -> dict[str, Any]:
    """The arguments that both stacks of the specification take."""
    choices = {
        # It makes a place for the final norm; `_fill_stack` corrects the meaning.
        "pre_norm": config.final_norm,
        "rms_norm": config.norm == "rms",
        "ffn_glu": config.activation in ("swiglu", "geglu"),
        "num_heads_kv": config.kv_heads if config.kv_heads != config.n_heads else None,
        "head_dim": config.d_head,
        "relative_attention_bias": config.position == "relative",
    }
    if config.position != "rotary":
        return choices
    return choices | {
        "rotary_dim": config.d_head,
        "rotary_interleave": config.rope_layout == "interleaved",
        "rotary_base": config.rope_base,
    }


def _fill_stack(spec: Any, ours: Encoder | Decoder, config: TransformerConfig) -> None:
    spec.pre_norm = config.norm_first
    spec.scale_embeddings = config.scale_embeddings
    if config.position == "none":
        # Without a table CTranslate2 would add sinusoids.
        spec.position_encodings.encodings = np.zeros(
            (config.max_len, config.d_model), dtype=np.float32
        )
    elif ours.position is not None:
        spec.position_encodings.encodings = _numbers(ours.position.table)
    if config.final_norm:
        _fill_norm(spec.layer_norm, ours.final_norm)
    for layer_spec, layer in zip(spec.layer, ours.layers, strict=True):
        _fill_layer(layer_spec, cast(EncoderLayer | DecoderLayer, layer), config)
        if ours.relative_bias is not None:
            _fill_relative_bias(layer_spec.self_attention, ours.relative_bias)


def _fill_layer(
    spec: Any, layer: EncoderLayer | DecoderLayer, config: TransformerConfig
) -> None:
    attention = layer.self_attention
    _fill_attention(
        spec.self_attention,
        attention,
        [[attention.q_proj, attention.k_proj, attention.v_proj]],
        config,
    )
    _fill_norm(spec.self_attention.layer_norm, layer.self_residual.norm)
    if isinstance(layer, DecoderLayer) and layer.cross is not None:
        cross = layer.cross.attention
        _fill_attention(
            spec.attention,
            cross,
            [[cross.q_proj], [cross.k_proj, cross.v_proj]],
            config,
        )
        _fill_norm(spec.attention.layer_norm, layer.cross.residual.norm)
    _fill_feed_forward(spec.ffn, layer.feed_forward)
    _fill_norm(spec.ffn.layer_norm, layer.feed_forward_residual.norm)


def _fill_attention(
    spec: Any,
    attention: MultiHeadAttention,
    inputs: list[list[nn.Linear]],
    config: TransformerConfig,
) -> None:
    """`inputs`: the projections, grouped as the specification joins them."""
    for linear, parts in zip(spec.linear, [*inputs, [attention.o_proj]], strict=True):
        _fill_linear(linear, *parts)
    if config.attention_scale is not None:
        spec.queries_scale = np.float32(config.attention_scale)


def _fill_feed_forward(spec: Any, network: FeedForward) -> None:
    if network.gate_proj is None:
        _fill_linear(spec.linear_0, network.up_proj)
    else:
        _fill_linear(spec.linear_0, network.gate_proj)
        _fill_linear(spec.linear_0_noact, network.up_proj)
    _fill_linear(spec.linear_1, network.down_proj)


def _fill_relative_bias(spec: Any, bias: RelativeBias) -> None:
    spec.relative_attention_bias = _numbers(bias.table.weight)
    spec.relative_attention_max_distance = np.int32(bias.max_distance)


def _fill_linear(spec: Any, *parts: nn.Linear) -> None:
    """One matrix, or several of the same input below one another."""
    weights: list[Tensor] = [part.weight for part in parts]
    biases: list[Tensor] = [part.bias for part in parts if part.bias is not None]
    spec.weight = _numbers(torch.cat(weights))
    if biases:
        spec.bias = _numbers(torch.cat(biases))


def _fill_norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma = _numbers(cast(Tensor, norm.weight))
    if isinstance(norm, LayerNorm) and norm.bias is not None:
        spec.beta = _numbers(norm.bias)


def _numbers(weight: Tensor) -> np.ndarray:
    """A copy: quantization scales its input in place, and the model must stay."""
    return weight.detach().to("cpu", torch.float32, copy=True).numpy()


QUANTIZATIONS = ("none", "int8", "float16", "bfloat16")
"""How the matrices are stored; `none` is float32. A processor that lacks a type
computes in a wider one."""


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

    What can be exported: LayerNorm or RMSNorm before or behind the sublayers, all
    activations, sinusoidal, learned, relative, no or rotary positions (either layout),
    grouped queries, biases, tied or untied output. What cannot: rotated cross-attention
    (`rope_cross`).

    Args:
        model: a `Transformer`; it stays as it is, whatever the quantization.
        pieces: the target vocabulary, one piece an id, all different; the first four
            are PAD, BOS, EOS and UNK.
        out: where to; it must not exist yet.
        quantization: one of `QUANTIZATIONS`.
        source_pieces: the source vocabulary of a model that has one of its own.
        also: writes what else belongs to the folder, such as the subword model; called
            with the unfinished folder.

    Raises:
        ImportError: ctranslate2 is not installed.
        ValueError: CTranslate2 cannot run this model, a vocabulary does not fit, or the
            folder exists.
        OSError: it cannot be written; nothing half-written stays behind.
    """
    out = Path(out)
    if quantization not in QUANTIZATIONS:
        raise ValueError(
            f"quantization must be one of {', '.join(QUANTIZATIONS)}, got"
            f" {quantization!r}"
        )
    check_new(out, "remove it or choose another folder")
    model = check_exportable(model)
    config = model.config
    own_source = config.source_vocab_size is not None
    if own_source != (source_pieces is not None):
        wanted = "must be given, as" if own_source else "must be None unless"
        raise ValueError(
            f"source_pieces {wanted} source_vocab_size is set in the model's"
            " configuration"
        )
    target = _checked("pieces", pieces, "vocab_size", config.vocab_size)
    source = target
    if source_pieces is not None and config.source_vocab_size is not None:
        size = config.source_vocab_size
        source = _checked("source_pieces", source_pieces, "source_vocab_size", size)
    spec = filled_spec(model)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.unk_token, spec.config.bos_token = target[UNK], target[BOS]
    spec.config.eos_token, spec.config.decoder_start_token = target[EOS], target[BOS]
    spec.config.add_attribute("max_len", config.max_len)
    spec.validate()
    spec.optimize(quantization=None if quantization == "none" else quantization)
    with whole_folder(out) as part:
        spec.save(str(part))
        if also is not None:
            also(part)


def _checked(name: str, pieces: Sequence[str], field: str, size: int) -> list[str]:
    pieces = list(pieces)
    if len(pieces) != size:
        raise ValueError(
            f"{name} must be {size}, the model's {field}, got {len(pieces)}"
        )
    seen: dict[str, int] = {}
    for i, piece in enumerate(pieces):
        if seen.setdefault(piece, i) != i:
            raise ValueError(
                f"{name} must be distinct, but ids {seen[piece]} and {i} are both"
                f" {piece!r}"
            )
    return pieces


@dataclass(frozen=True)
class Exported:
    """One translation by an exported model."""

    ids: tuple[int, ...]
    """The tokens that were chosen, without BOS and EOS."""
    score: float
    """log-probability / |y|^length_penalty, natural logarithm; |y| counts EOS."""
    finished: bool
    """True if it ended with EOS, False if the limit cut it off."""


class ExportedTranslator:
    """A folder that `export_ctranslate2` wrote, in the id space of the model.

    Args:
        folder: where it is.
        threads: CPU threads for one batch.
        batches: that run side by side, each with so many threads.
        device: "cpu", "cuda" or "auto".
        compute_type: of CTranslate2; "default" is that of the stored weights, as far as
            the processor has it.

    Raises:
        ImportError: ctranslate2 is not installed.
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, or CTranslate2 refuses an argument.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        threads: int = 1,
        batches: int = 1,
        device: str = "cpu",
        compute_type: str = "default",
    ) -> None:
        check_count("threads", threads)
        check_count("batches", batches)
        runtime, folder = ctranslate2(), Path(folder)
        config = _read(folder / "config.json")
        check_entries(folder / "config.json", config, {"max_len": int})
        self.max_len: int = config["max_len"]
        shared = folder / "shared_vocabulary.json"
        self._source, self._target = (
            _read(shared if shared.exists() else folder / f"{side}_vocabulary.json")
            for side in ("source", "target")
        )
        self._target_ids = {piece: i for i, piece in enumerate(self._target)}
        try:
            self._runtime = runtime.Translator(
                str(folder),
                device,
                compute_type=compute_type,
                inter_threads=batches,
                intra_threads=threads,
            )
        except (RuntimeError, ValueError, IndexError) as reason:
            first = str(reason).splitlines()[0]
            raise ValueError(
                f"{folder} cannot be run by CTranslate2: {first}; export the model"
                " again"
            ) from reason

    def translate(
        self,
        src: Sequence[Sequence[int]],
        *,
        max_len: int,
        beam_size: int = 1,
        n_best: int = 1,
        length_penalty: float = 0.0,
        max_batch_size: int = 0,
    ) -> list[list[Exported]]:
        """Decode greedily, or with a beam.

        Args:
            src: ids of each source as the model takes them: tag, tokens, EOS, no
                padding; any lengths.
            max_len: most tokens to produce for each, EOS included.
            beam_size: 1 is greedy decoding.
            n_best: results for each source, at most beam_size.
            length_penalty: exponent on the length. At 0 a beam search of ours with
                `length_penalty=0.0` has the same scores; other values do not
                correspond, since `beam_search` divides by ((5 + |y|) / 6)^alpha.
            max_batch_size: sources to decode at once, of similar lengths; 0 takes all
                as one batch.

        Returns:
            for each source its results, best first, in the order of src.

        Raises:
            ValueError: a source is empty or too long, holds PAD or an unknown id, or an
                argument is out of range.
        """
        check_count("max_len", max_len, most=self.max_len)
        check_count("beam_size", beam_size)
        check_count("n_best", n_best, most=beam_size)
        check_finite("length_penalty", length_penalty)
        check_count("max_batch_size", max_batch_size, least=0)
        found = self._runtime.translate_batch(
            self._rows("src", src, self._source),
            beam_size=beam_size,
            num_hypotheses=n_best,
            length_penalty=length_penalty,
            max_batch_size=max_batch_size,
            # Lengths are checked here; CTranslate2 would cut in silence.
            max_input_length=0,
            max_decoding_length=max_len,
            min_decoding_length=0,
            return_end_token=True,
            return_scores=True,
        )
        pairs = (zip(one.hypotheses, one.scores, strict=True) for one in found)
        return [[self._result(*pair) for pair in one] for one in pairs]

    def score(
        self,
        src: Sequence[Sequence[int]],
        tgt: Sequence[Sequence[int]],
        *,
        max_batch_size: int = 16,
    ) -> list[tuple[float, ...]]:
        """Log-probabilities of the tokens of given translations.

        Args:
            src: ids of each source, as in `translate`.
            tgt: ids of its translation, without BOS and EOS.
            max_batch_size: sources to read at once, of similar lengths; 0 takes all as
                one batch.

        Returns:
            for each translation the natural logarithm of every token's probability;
            that of EOS comes last.

        Raises:
            ValueError: a row is too long or holds an unknown id, or there is not one
                translation a source.
        """
        if len(src) != len(tgt):
            raise ValueError(
                f"tgt must hold one translation a source ({len(src)}), got {len(tgt)}"
            )
        rows = self._rows("src", src, self._source)
        # BOS is a row's first input, EOS its last output: both sides have one place
        # beside the tokens.
        ended = self._rows("tgt", [[*ids, EOS] for ids in tgt], self._target)
        targets = [row[:-1] for row in ended]
        found = self._runtime.score_batch(
            rows, targets, max_batch_size=max_batch_size, max_input_length=0
        )
        return [tuple(one.log_probs) for one in found]

    def _rows(
        self, name: str, rows: Sequence[Sequence[int]], pieces: list[str]
    ) -> list[list[str]]:
        """The pieces of ids, which are checked."""
        most = len(pieces) - 1
        for row, ids in enumerate(rows):
            if not 1 <= len(ids) <= self.max_len:
                raise ValueError(
                    f"{name}[{row}] must have 1..{self.max_len} tokens, got {len(ids)}"
                )
            for i in ids:
                check_count(f"{name}[{row}]'s id", i, least=PAD + 1, most=most)
        return [[pieces[i] for i in ids] for ids in rows]

    def _result(self, pieces: list[str], score: float) -> Exported:
        ids = [self._target_ids[piece] for piece in pieces]
        finished = ids[-1:] == [EOS]
        return Exported(tuple(ids[:-1] if finished else ids), score, finished)


def _read(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; export the model again")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as reason:
        raise ValueError(
            f"{path} is damaged: it is no JSON file; export the model again"
        ) from reason
