"""The network: CNN, Transformer encoder, decoder and CTC head; and its fast copy.

For reading on a CPU batch normalisation is folded away, and matrices and kernels are
packed:

    norm(conv(x)) = scale * (W x) + shift = (scale * W) x + shift    per output channel

The numbers are the same up to rounding. Where the processor multiplies bfloat16 itself,
CNN and encoder may compute in that, with 8 bits of a number instead of 24.
"""

import copy
import dataclasses
from functools import partial
from typing import Any, NamedTuple, cast, get_args

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from coursepkg.attention.pattern import padding
from coursepkg.blocks.cache import (
    CachedState,
    CrossCache,
    Memory,
    SelfCache,
    check_ids,
    check_max_len,
    check_shape,
    hide_padding,
    make_cache,
)
from coursepkg.blocks.convolution import ConvNormReLU
from coursepkg.blocks.decoder import CrossAttention, Decoder
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.blocks.packed import can_pack, pack_where_possible
from coursepkg.processor import multiplies_bfloat16
from coursepkg.projects.ocr.model.backbone import (
    ResNetBackbone,
    SmallCNN,
    check_images,
    load_pretrained,
    make_sequence,
    put_channels_last,
    transformer_config,
)
from coursepkg.projects.ocr.recipe import (
    ModelConfig,
    ReadingPrecision,
    Recipe,
)
from coursepkg.validation import with_tuples

READING = ("backbone", "sequence", "encoder", "ctc_head")
"""Parts between the picture and the CTC head."""
WRITING = ("embedding", "decoder", "output")
"""Parts of the decoder."""
LEARNS = {"all": (*READING, *WRITING), "ctc": READING, "decoder": WRITING}
"""What may be trained, and the parts that move then."""


class LineLogits(NamedTuple):
    """What training compares with a batch of texts."""

    attention: Tensor
    """(B, T, V); position t predicts what follows the decoder's input t. Without inputs
    (B, 0, V)."""
    ctc: Tensor
    """(B, columns, V); class 0 is the blank."""
    n_columns: Tensor
    """(B,) columns of each line that are no padding."""


class LineTransformer(nn.Module):
    """Reads the picture of a line.

    Source: the network of the text recognition notes (section 3); the CTC
    head beside attention is that of Watanabe et al., "Hybrid CTC/Attention
    Architecture" (IEEE JSTSP 11(8), 2017), section III.

    Args:
        config: sizes and choices.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        is_resnet = config.backbone == "resnet"
        self.backbone = ResNetBackbone(config) if is_resnet else SmallCNN(config)
        max_columns = -(-config.max_width // self.backbone.width_stride)
        self.sequence = make_sequence(
            config.sequence,
            self.backbone.out_channels,
            self.backbone.out_height,
            config.d_model,
            max_columns,
        )
        # A grid brings its own positions, in two dimensions.
        position = "sinusoidal" if config.sequence == "fold" else "none"
        self.encoder = Encoder(
            transformer_config(config, max_columns * self.sequence.rows, position)
        )
        self.decoder_config = transformer_config(config, config.max_len)
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.decoder = Decoder(self.decoder_config)
        self.output = nn.Linear(config.d_model, config.vocab_size)
        self.ctc_head = nn.Linear(config.d_model, config.vocab_size)
        for name in ("sequence", "encoder", *WRITING, "ctc_head"):
            initialise(self.get_submodule(name))
        self.learns = "all"

    def train(self, mode: bool = True) -> "LineTransformer":
        """Training or evaluation mode; parts that do not learn stay in the latter."""
        super().train(mode)
        for name, part in self.named_children():
            if name not in LEARNS[self.learns]:
                part.eval()
        return self

    def set_trainable(self, learns: str) -> None:
        """Choose what is trained from now on: one of `LEARNS`.

        The other parts keep weights and statistics.

        Raises:
            ValueError: it is none of them.
        """
        if learns not in LEARNS:
            raise ValueError(
                f"learns must be one of {', '.join(LEARNS)}, got {learns!r}"
            )
        self.learns = learns
        for name, part in self.named_children():
            part.requires_grad_(name in LEARNS[learns])
        self.train(self.training)

    def forward(
        self, images: Tensor, widths: Tensor, tgt_in: Tensor | None
    ) -> LineLogits:
        """Teacher forcing.

        Args:
            images: (B, 1, H, W) in [-1, 1], paper is 1.
            widths: true columns (B,).
            tgt_in: ids (B, T) that begin with BOS, PAD behind their ends; None leaves
                the decoder out.

        Raises:
            ValueError: shapes, widths or ids do not fit.
        """
        memory = self.encode(images, widths)
        if tgt_in is None:
            attention = memory.outputs.new_zeros(len(images), 0, self.config.vocab_size)
        else:
            attention = self.decode(tgt_in, memory)
        return LineLogits(attention, self.ctc_logits(memory), self.n_columns(memory))

    def encode(self, images: Tensor, widths: Tensor | None) -> Memory:
        """Pictures (B, 1, H, W) and their true columns (B,) -> what the decoder reads.

        Without widths no picture is padded; that is also what an export can follow.
        """
        check_images(images, widths, self.config.height, self.config.max_width)
        # bfloat16 in a fast copy, whatever the pictures are.
        dtype = next(self.encoder.parameters()).dtype
        features, n_columns = self.backbone(images.to(dtype), widths)
        steps: Tensor = self.sequence(features)
        if n_columns is None:
            is_real = steps.new_ones(steps.shape[:2], dtype=torch.bool)
            outputs = self.encoder(steps, None)
        else:
            ends = (n_columns * self.sequence.rows)[:, None]
            is_real = torch.arange(steps.shape[1], device=steps.device) < ends
            outputs = self.encoder(steps, hide_padding(is_real))
        return Memory(outputs.to(images.dtype), is_real)

    def n_columns(self, memory: Memory) -> Tensor:
        """Columns (B,) of each encoded line that are no padding."""
        return torch.div(
            memory.is_real.sum(dim=1), self.sequence.rows, rounding_mode="floor"
        )

    def ctc_logits(self, memory: Memory) -> Tensor:
        """Logits (B, columns, V) of the CTC head; those at padding mean nothing."""
        logits: Tensor = self.ctc_head(self.sequence.by_column(memory.outputs))
        return logits

    def decode(self, tgt_in: Tensor, memory: Memory | CrossCache) -> Tensor:
        """Ids (B, T) and encoded lines, or what `decoder.read` made -> (B, T, V)."""
        check_shape("tgt_in", tgt_in, self.config.max_len)
        source = self.decoder.read(memory) if isinstance(memory, Memory) else memory
        if len(tgt_in) != len(source.keys[0]):
            raise ValueError(
                f"tgt_in must have one row a line, {len(source.keys[0])}, got"
                f" {len(tgt_in)}"
            )
        return self._logits(self.decoder(self._embed(tgt_in), source))

    @torch.no_grad()
    def start(self, memory: Memory, *, max_len: int) -> CachedState:
        """Make ready to decode encoded lines step by step, from one row a line.

        Args:
            memory: from `encode`, in evaluation mode.
            max_len: most ids that the state takes in, BOS included.

        Raises:
            ValueError: max_len is not in 1 .. config.max_len.
        """
        check_max_len(max_len, self.config.max_len)
        source = self.decoder.read(memory)
        cache = make_cache(
            self.decoder_config, len(memory.outputs), max_len, like=source.keys[0]
        )
        return CachedState(self._next_logits, self.config.vocab_size, cache, source)

    def _next_logits(
        self, tokens: Tensor, cache: SelfCache, source: CrossCache | None
    ) -> Tensor:
        return self._logits(self.decoder(self._embed(tokens), source, cache)[:, -1])

    def _embed(self, ids: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(ids) * self.config.d_model**0.5
        return embedded

    def _logits(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output(x)
        return logits


@torch.no_grad()
def cross_attention(model: LineTransformer, memory: Memory, tgt_in: Tensor) -> Tensor:
    """The attention weights of the decoder over the columns of a line.

    Fused attention never stores its weights. So the inputs of the queries' projections
    are caught by hooks, and the weights are computed once more from them.

    Args:
        model: in evaluation mode, or dropout changes what is seen.
        memory: encoded lines, from `model.encode`.
        tgt_in: ids (B, T) that begin with BOS; row t shows where the model looks for
            what follows id t.

    Returns:
        (layers, B, H, T, columns); each row sums to 1 and is 0 at padding. Of a grid
        the places of a column are added up.

    Raises:
        ValueError: an id is outside the vocabulary, or there is not one row a line.
    """
    check_ids("tgt_in", tgt_in, model.config.vocab_size, model.config.max_len)
    bridges = [
        cast(CrossAttention, layer.get_submodule("cross")).attention
        for layer in model.decoder.layers
    ]
    caught: dict[int, Tensor] = {}
    hooks = [
        bridge.q_proj.register_forward_pre_hook(partial(_catch, caught, i))
        for i, bridge in enumerate(bridges)
    ]
    try:
        model.decode(tgt_in, memory)
    finally:
        for hook in hooks:
            hook.remove()
    real = padding(memory.is_real.sum(dim=1))
    weights = []
    for i, bridge in enumerate(bridges):
        k, v = bridge.project_kv(memory.outputs)
        found = bridge.attend(
            bridge.project_q(caught[i]), k, v, pattern=real, return_weights=True
        )
        weights.append(found[1])
    steps = torch.stack(weights)  # (layers, B, H, T, steps)
    return steps.unflatten(-1, (-1, model.sequence.rows)).sum(dim=-1)


def _catch(
    caught: dict[int, Tensor],
    number: int,
    module: nn.Module,
    inputs: tuple[Tensor, ...],
) -> None:
    caught[number] = inputs[0]


def config_of(recipe: Recipe, vocab_size: int) -> ModelConfig:
    """The configuration that a recipe asks for, for so many characters."""
    names = [one.name for one in dataclasses.fields(ModelConfig)[1:]]
    return ModelConfig(vocab_size, **{name: getattr(recipe, name) for name in names})


def build_model(
    recipe: Recipe, vocab_size: int, *, pretrained: bool = True
) -> LineTransformer:
    """A fresh network; its weights come from PyTorch's generator as it stands.

    Args:
        recipe: sizes and choices.
        vocab_size: characters, special tokens included.
        pretrained: read the weights that the recipe names; False leaves them random and
            needs no network.
    """
    model = LineTransformer(config_of(recipe, vocab_size))
    if pretrained and recipe.pretrained and isinstance(model.backbone, ResNetBackbone):
        load_pretrained(model.backbone, recipe.pretrained)
    return model


def rebuild(fields: dict[str, Any]) -> LineTransformer:
    """A network of the configuration that a file holds; any weights."""
    return LineTransformer(ModelConfig(**with_tuples(fields)))


ENCODING = ("backbone", "sequence", "encoder")
"""Parts between the picture and what the decoder and the CTC head look at."""


def encoding_type(model: nn.Module, precision: str) -> torch.dtype:
    """What a fast copy encodes in: bfloat16 for `auto` where the CPU has it.

    On a GPU, and in a PyTorch without oneDNN, `auto` is float32, too.

    Raises:
        ValueError: the precision is neither.
    """
    if precision not in get_args(ReadingPrecision):
        raise ValueError(f"precision must be 32-true or auto, got {precision!r}")
    is_half = precision == "auto" and can_pack(model) and multiplies_bfloat16()
    return torch.bfloat16 if is_half else torch.float32


def fast_copy(
    model: LineTransformer, dtype: torch.dtype = torch.float32
) -> LineTransformer:
    """A copy for reading; later changes of the model's weights do not reach it.

    Args:
        model: on the CPU for packed layers; elsewhere they stay as they are.
        dtype: what CNN and encoder compute in, see `encoding_type`. Decoder and CTC
            head stay as they are.
    """
    folded = folded_copy(model)
    fast = pack_where_possible(folded)
    if dtype == torch.bfloat16:
        for name in ENCODING:
            half = getattr(folded, name).to(torch.bfloat16)
            setattr(fast, name, pack_where_possible(half))
    return fast


def folded_copy(model: LineTransformer) -> LineTransformer:
    """A copy for evaluation with batch normalisation folded into convolutions."""
    folded = copy.deepcopy(model).eval()
    for module in folded.modules():
        if isinstance(module, ConvNormReLU) and isinstance(module.norm, nn.BatchNorm2d):
            module.conv, module.norm = (
                fuse_conv_bn_eval(module.conv, module.norm),
                nn.Identity(),
            )
    put_channels_last(folded.backbone)
    return folded
