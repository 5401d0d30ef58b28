"""The network: CNN, sequence, Transformer encoder; above it a Transformer decoder and a CTC head."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from coursepkg.attention.patterns import padding
from coursepkg.blocks.cache import CrossCache, SelfCache
from coursepkg.blocks.decoder import Decoder
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.blocks.memory import Memory, check_ids
from coursepkg.blocks.state import CachedState, check_max_len, make_cache
from coursepkg.projects.ocr.model.backbone import SmallCNN
from coursepkg.projects.ocr.model.columns import check_images
from coursepkg.projects.ocr.model.config import ModelConfig
from coursepkg.projects.ocr.model.resnet import ResNetBackbone
from coursepkg.projects.ocr.model.sequence import make_sequence

READING = ("backbone", "sequence", "encoder", "ctc_head")
"""Parts between the picture and the CTC head."""
WRITING = ("embedding", "decoder", "output")
"""Parts of the decoder."""
LEARNS = {"all": (*READING, *WRITING), "ctc": READING, "decoder": WRITING}
"""What may be trained, and the parts that move then."""


class LineLogits(NamedTuple):
    """What training compares with a batch of texts."""

    attention: Tensor
    """(B, T, V); position t predicts what follows the decoder's input t. Without inputs (B, 0, V)."""
    ctc: Tensor
    """(B, columns, V); class 0 is the blank."""
    n_columns: Tensor
    """(B,) columns of each line that are no padding."""


class LineTransformer(nn.Module):
    """Reads the picture of a line.

    Source: the network of the text recognition notes (source 001, section 3); the CTC head beside attention is that of
    Watanabe et al., "Hybrid CTC/Attention Architecture" (IEEE JSTSP 11(8), 2017), section III.

    Args:
        config: sizes and choices.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.backbone = _make_backbone(config)
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
        self.encoder = Encoder(config.transformer(max_columns * self.sequence.rows, position))
        self.decoder_config = config.transformer(config.max_len)
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.decoder = Decoder(self.decoder_config)
        self.output = nn.Linear(config.d_model, config.vocab_size)
        self.ctc_head = nn.Linear(config.d_model, config.vocab_size)
        for part in (self.sequence, self.encoder, self.embedding, self.decoder, self.output, self.ctc_head):
            initialise(part)
        self.learns = "all"

    def train(self, mode: bool = True) -> "LineTransformer":
        """Training or evaluation mode; parts that do not learn stay in evaluation mode."""
        super().train(mode)
        for name, part in self.named_children():
            if name not in LEARNS[self.learns]:
                part.eval()
        return self

    def let_learn(self, learns: str) -> None:
        """Choose what is trained from now on: one of `LEARNS`. The other parts keep weights and statistics.

        Raises:
            ValueError: it is none of them.
        """
        if learns not in LEARNS:
            raise ValueError(f"learns must be one of {', '.join(LEARNS)}, got {learns!r}")
        self.learns = learns
        for name, part in self.named_children():
            part.requires_grad_(name in LEARNS[learns])
        self.train(self.training)

    def forward(self, images: Tensor, widths: Tensor, tgt_in: Tensor | None) -> LineLogits:
        """Teacher forcing.

        Args:
            images: (B, 1, H, W) in [-1, 1], paper is 1.
            widths: true columns (B,).
            tgt_in: ids (B, T) that begin with BOS, PAD behind their ends; None leaves the decoder out.

        Raises:
            ValueError: shapes, widths or ids do not fit.
        """
        memory = self.encode(images, widths)
        if tgt_in is None:
            attention = memory.outputs.new_zeros(len(images), 0, self.config.vocab_size)
        else:
            attention = self.decode(tgt_in, memory)
        return LineLogits(attention, self.ctc_logits(memory), self.n_columns(memory))

    def encode(self, images: Tensor, widths: Tensor) -> Memory:
        """Pictures (B, 1, H, W) and their true columns (B,) -> what the decoder may look at."""
        check_images(images, widths, self.config.height, self.config.max_width)
        dtype = next(self.encoder.parameters()).dtype  # bfloat16 in a fast copy, whatever the pictures are
        features, n_columns = self.backbone(images.to(dtype), widths)
        assert n_columns is not None
        steps = self.sequence(features)
        n_steps = n_columns * self.sequence.rows
        is_real = torch.arange(steps.shape[1], device=steps.device) < n_steps[:, None]
        pattern = None if bool(is_real.all()) else padding(n_steps)
        outputs = self.encoder(steps, pattern)
        return Memory(outputs if dtype == images.dtype else outputs.to(images.dtype), is_real)

    def encode_whole(self, images: Tensor) -> Tensor:
        """Pictures (B, 1, H, W) without padding -> what the decoder may look at (B, steps, E).

        The same numbers as those of `encode`, without looking at widths: what an export can follow.
        """
        features, _ = self.backbone(images, None)
        steps: Tensor = self.encoder(self.sequence(features), None)
        return steps

    def n_columns(self, memory: Memory) -> Tensor:
        """Columns (B,) of each encoded line that are no padding."""
        return torch.div(memory.is_real.sum(dim=1), self.sequence.rows, rounding_mode="floor")

    def ctc_logits(self, memory: Memory) -> Tensor:
        """Logits (B, columns, V) of the CTC head; those at padding mean nothing."""
        logits: Tensor = self.ctc_head(self.sequence.by_column(memory.outputs))
        return logits

    def decode(self, tgt_in: Tensor, memory: Memory | CrossCache) -> Tensor:
        """Ids (B, T) and encoded lines, or what `decoder.read` made of them -> logits (B, T, V)."""
        check_ids("tgt_in", tgt_in, self.config.vocab_size, self.config.max_len)
        source = self.decoder.read(memory) if isinstance(memory, Memory) else memory
        if len(tgt_in) != len(source.keys[0]):
            raise ValueError(f"tgt_in must have one row a line, {len(source.keys[0])}, got {len(tgt_in)}")
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
        cache = make_cache(self.decoder_config, len(memory.outputs), max_len, like=source.keys[0])
        return CachedState(self._next_logits, self.config.vocab_size, cache, source)

    def _next_logits(self, tokens: Tensor, cache: SelfCache, source: CrossCache | None) -> Tensor:
        return self._logits(self.decoder(self._embed(tokens), source, cache)[:, -1])

    def _embed(self, ids: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(ids) * self.config.d_model**0.5
        return embedded

    def _logits(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output(x)
        return logits


def _make_backbone(config: ModelConfig) -> SmallCNN | ResNetBackbone:
    return ResNetBackbone(config) if config.backbone == "resnet" else SmallCNN(config)
