"""A trained Transformer as two ONNX graphs, which onnxruntime runs, in a browser too.

    OUT/encoder.onnx    ids (B, S), tag first, EOS last, PAD behind it
                        -> keys and values of cross-attention (layers, B, G, S, D),
                           and what is no padding (B, S)
    OUT/step.onnx       one token of each of R rows of a sentence (B, R), and all that
                        was computed before it
                        -> log-probabilities of the next one (B, R, V), the longer
                           cache, and where the step looked in the source (B, R, S)
    OUT/export.json     the pieces of each id, special ids, directions, tags, and the
                        search that the translator takes by default
    OUT/target.model    the SentencePiece vocabulary; also source.model if there are two

Greedy decoding has one row a sentence, a beam search a row a beam: it gives the caches
of the rows that live on, by index, to the next step. The cache begins with no token,
(layers, B, R, G, 0, D), and BOS is the first that is fed.

The graphs are the model's own layers. In their place stand a table of rotations, for
the angles are float64, which not every runtime has; a table of relative biases; and a
cache that appends, for a graph cannot write in place.
"""

import copy
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.app.export import Graph, traced, write_onnx
from coursepkg.app.model_folder import write_attribution
from coursepkg.attention.multihead import MultiHeadAttention, attend_cached
from coursepkg.attention.position_bias import RelativeBias
from coursepkg.attention.rope import RotaryEmbedding, rotate_pairs
from coursepkg.blocks.cache import CrossCache, real_tokens
from coursepkg.blocks.decoder import CrossAttention, Decoder, DecoderLayer
from coursepkg.blocks.encoder import Encoder, EncoderLayer
from coursepkg.blocks.layer_parts import embed
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.export.convert import check_transformer
from coursepkg.projects.translation.models import EXTRA_LENGTH, tag_of
from coursepkg.projects.translation.predict import Translator, aligned_layer
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK

ENCODER, STEP = "encoder.onnx", "step.onnx"
MOST_ROWS = 4096
"""Sentences of a call, and rows of a sentence."""


class RotationTable(nn.Module):
    """The turns of a `RotaryEmbedding` for the positions 0 .. max_len - 1, stored.

    Args:
        rope: whose turns.
        max_len: number of positions.
    """

    table: Tensor

    def __init__(self, rope: RotaryEmbedding, max_len: int) -> None:
        super().__init__()
        self.layout = rope.layout
        angles = torch.arange(max_len, dtype=torch.float64)[:, None] * rope.theta
        table = torch.stack((angles.cos(), angles.sin())).float()  # (2, max_len, D / 2)
        self.register_buffer("table", table)

    def rotate(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (B, H, T, D), its first token at position `offset`, rotated."""
        cos, sin = self.table[:, offset : offset + x.shape[2]]
        return rotate_pairs(x, cos, sin, self.layout)


class BiasTable(nn.Module):
    """The biases of a `RelativeBias` for at most max_len keys, stored.

    Args:
        bias: whose biases.
        max_len: most keys, and most queries.
    """

    table: Tensor

    def __init__(self, bias: RelativeBias, max_len: int) -> None:
        super().__init__()
        self.register_buffer("table", bias(max_len, max_len))

    def forward(self, n_queries: int, n_keys: int) -> Tensor:
        """The bias (1, H, T, S); the last query stands beside the last key."""
        return self.table[:, :, n_keys - n_queries : n_keys, :n_keys]


@torch.no_grad()
def with_tables(model: Transformer) -> Transformer:
    """A copy on the CPU in float32 and evaluation mode, ready to be traced."""
    model, most = copy.deepcopy(model).cpu().float().eval(), model.config.max_len
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.impl = "sdpa"
            if isinstance(module.rope, RotaryEmbedding):
                module.rope = RotationTable(module.rope, most)
        elif isinstance(module, Encoder | Decoder) and module.relative_bias is not None:
            module.relative_bias = cast(Any, BiasTable(module.relative_bias, most))
    return model


class EncoderGraph(nn.Module):
    """What is exported first.

    Args:
        model: from `with_tables`.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Ids (B, S) -> keys and values (layers, B, G, S, D), is_real (B, S)."""
        model, encoder = self.model, self.model.encoder
        is_real, _ = real_tokens(ids)
        own = model.source_embedding
        x = embed(model.config, model.target_embedding if own is None else own, ids)
        if encoder.position is not None:
            x = encoder.position(x)
        bias = encoder.relative_bias
        score_bias = None if bias is None else bias(ids.shape[1], ids.shape[1])
        visible = is_real[:, None, None]  # (B, 1, 1, S)
        for layer in encoder.layers:
            x = _encode(cast(EncoderLayer, layer), x, visible, score_bias)
        x = encoder.final_norm(x)
        bridges = [cast(CrossAttention, one.cross) for one in model.decoder.layers]
        pairs = [bridge.project_source(x) for bridge in bridges]
        keys, values = (torch.stack(one) for one in zip(*pairs, strict=True))
        return keys, values, is_real


def _encode(
    layer: EncoderLayer, x: Tensor, visible: Tensor, score_bias: Tensor | None
) -> Tensor:
    """A layer of the encoder with padding as a mask instead of a pattern."""
    attention = layer.self_attention

    def attend(x: Tensor) -> Tensor:
        q, (k, v) = attention.project_q(x), attention.project_kv(x)
        return attend_cached(attention, q, k, v, visible=visible, score_bias=score_bias)

    x = layer.self_residual(x, attend)
    return layer.feed_forward_residual(x, layer.feed_forward)


class AppendedCache:
    """A `SelfCache` and its update in one, for one token a row, without writing.

    Args:
        keys: of the tokens so far (layers, N, G, T, D).
        values: as the keys.
    """

    visible = None

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.past, self.offset = (keys, values), keys.shape[3]
        self.now: list[tuple[Tensor, Tensor]] = []

    def open(self, n_tokens: int) -> "AppendedCache":
        """Room for a token."""
        return self

    def write(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (N, G, T + 1, D) of a layer, those of the token last."""
        pairs = zip(self.past, (k, v), strict=True)
        keys, values = (torch.cat([old[layer], new], dim=2) for old, new in pairs)
        self.now.append((keys, values))
        return keys, values

    def spread(self, score_bias: Tensor) -> Tensor:
        """A bias as it is: each row has a cache of its own."""
        return score_bias


class StepGraph(nn.Module):
    """What is exported second.

    Args:
        model: from `with_tables`.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        tokens: Tensor,
        past_keys: Tensor,
        past_values: Tensor,
        cross_keys: Tensor,
        cross_values: Tensor,
        is_real: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Feed one token a row.

        Args:
            tokens: (B, R), of R rows of each sentence.
            past_keys: (layers, B, R, G, T, D) of the T tokens before.
            past_values: as the keys.
            cross_keys: (layers, B, G, S, D), from the encoder.
            cross_values: as the keys.
            is_real: (B, S), from the encoder.

        Returns:
            log-probabilities (B, R, V) of what follows, the cache with T + 1, and the
            alignment (B, R, S) of what follows, as `Translator.translate` gives it.
        """
        model, rows = self.model, tokens.shape
        cache = AppendedCache(past_keys.flatten(1, 2), past_values.flatten(1, 2))
        source = CrossCache(cross_keys.unbind(), cross_values.unbind(), is_real)
        x = embed(model.config, model.target_embedding, tokens.reshape(-1, 1))
        looked = aligned_layer(len(model.decoder.layers))
        layer = cast(DecoderLayer, model.decoder.layers[looked])
        cross = cast(CrossAttention, layer.cross).attention
        caught: list[Tensor] = []
        hook = cross.q_proj.register_forward_pre_hook(
            lambda _, inputs: caught.append(inputs[0])
        )
        x = model.decoder(x, source, cast(Any, cache))  # (B * R, 1, E)
        hook.remove()
        q = cross.project_q(caught[0], cache.offset).squeeze(2).unflatten(0, rows)
        logits = F.linear(x, model.output_weight, model.output_bias)
        keys, values = (torch.stack(one) for one in zip(*cache.now, strict=True))
        return (
            logits.log_softmax(dim=-1).unflatten(0, rows).squeeze(2),
            keys.unflatten(1, rows),
            values.unflatten(1, rows),
            _mean_weights(q, cross_keys[looked], is_real, cross.scale),
        )


def _mean_weights(q: Tensor, k: Tensor, is_real: Tensor, scale: float | None) -> Tensor:
    """Attention of q (B, R, H, D) to k (B, G, S, D), its mean over heads (B, R, S)."""
    grouped = q.unflatten(2, (k.shape[1], -1))  # (B, R, G, H / G, D)
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    scores = factor * torch.einsum("brghd,bgsd->brghs", grouped, k)
    hidden = ~is_real[:, None, None, None]
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1).mean(dim=(2, 3))


def encoder_program(model: Transformer) -> torch.export.ExportedProgram:
    """The first graph, for any number of sentences of any length."""
    sizes = {0: _dim("B"), 1: _dim("S", model.config.max_len)}
    ids = torch.tensor([[5, 6, 7, EOS], [5, EOS, PAD, PAD], [5, 6, EOS, PAD]])
    return traced(EncoderGraph(model), (ids, sizes))


def step_program(model: Transformer) -> torch.export.ExportedProgram:
    """The second graph, for any number of sentences, rows and tokens before."""
    config = model.config
    layers, heads, width = config.n_decoder_layers, config.kv_heads, config.d_head
    batch, source = _dim("B"), _dim("S", config.max_len)
    rows, past = _dim("R"), _dim("T", config.max_len - 1, least=0)
    # Tensors of their own: one that is given twice would be one input.
    before, across = (
        [torch.zeros(layers, 2, *sizes, width) for _ in range(2)]
        for sizes in ((3, heads, 5), (heads, 7))
    )
    return traced(
        StepGraph(model),
        (torch.full((2, 3), BOS), {0: batch, 1: rows}),
        *((one, {1: batch, 2: rows, 4: past}) for one in before),
        *((one, {1: batch, 3: source}) for one in across),
        (torch.ones(2, 7, dtype=torch.bool), {0: batch, 1: source}),
    )


def _dim(letter: str, most: int = MOST_ROWS, least: int = 1) -> Any:
    return torch.export.Dim(letter, min=least, max=most)


def export_onnx(
    translator: Translator, out: Path, attribution: str = ""
) -> dict[str, Any]:
    """Write both graphs, the vocabulary and a card; all of it appears or nothing.

    Args:
        translator: of one Transformer.
        out: folder, which must not exist.
        attribution: whose texts the model learnt; written beside it if not empty.

    Returns:
        the card.

    Raises:
        ImportError: onnx or onnxscript is not installed.
        ValueError: the model cannot be exported, or the folder exists.
        OSError: it cannot be written.
    """

    def also(part: Path) -> None:
        translator.subwords.save(part)
        write_attribution(part, attribution)

    return write_onnx(out, graphs_of(translator.model), _card(translator), also)


def graphs_of(model: nn.Module) -> dict[str, Graph]:
    """Both graphs by file name.

    Raises:
        ValueError: the model cannot be exported.
    """
    ready = with_tables(check_transformer(model))
    config = ready.config
    n, heads, width = config.n_decoder_layers, config.kv_heads, config.d_head
    across = (n, "B", heads, "S", width)
    before, after = ((n, "B", "R", heads, t, width) for t in ("T", "T + 1"))
    source = {"cross_keys": across, "cross_values": across, "is_real": ("B", "S")}
    past = {"past_keys": before, "past_values": before}
    chosen = {"log_probs": ("B", "R", config.vocab_size)}
    encoder = Graph(lambda: encoder_program(ready), {"ids": ("B", "S")}, source)
    step = Graph(
        lambda: step_program(ready),
        {"tokens": ("B", "R"), **past, **source},
        {**chosen, "keys": after, "values": after, "alignment": ("B", "R", "S")},
    )
    return {ENCODER: encoder, STEP: step}


def _card(translator: Translator) -> dict[str, Any]:
    subwords, directions = translator.subwords, translator.directions
    tags = {one: tag_of(one) for _, one in directions} if subwords.joint else {}
    card = {
        "max_len": translator.recipe.max_len,
        "extra_length": EXTRA_LENGTH,
        "beam_size": translator.recipe.beam_size,
        "length_penalty": translator.recipe.length_penalty,
        "reverse_weight": translator.recipe.reverse_weight,
        "split_sentences": translator.recipe.split_sentences,
        "placeholders": translator.recipe.placeholders,
        "special ids": {"pad": PAD, "bos": BOS, "eos": EOS, "unk": UNK},
        "directions": [list(way) for way in directions],
        "tags": tags,
        "vocabulary": list(subwords.target.pieces),
        "fingerprint": translator.fingerprint,
    }
    own = {} if subwords.joint else {"source vocabulary": list(subwords.source.pieces)}
    return card | own
