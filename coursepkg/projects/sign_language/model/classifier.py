"""The network whole: backbone over each frame, layers over time, one vector, scores.

    frames (B, T, 3, H, W) -> backbone (B, T, F) -> over time (B, T, E)
                           -> pooled (B, E) -> logits (B, V)

    last        v = x_T                     the last real frame alone
    mean        v = 1/T sum_t x_t
    attention   v = sum_t a_t x_t           a = softmax_t(w2 . tanh(W1 x_t))

The small CNN is trained from scratch on a CPU. It sees what moves and not what stands
still: what a frame has other than the mean of its clip, and what changed since the
frame before. And it may keep places apart when it makes a vector of its last map: a
sign at the chin and the same sign at the chest have the same mean.

In a clip of a sign the hands are down again at the end, so the last frame says least.
An LSTM must carry the sign through that rest; a mean cannot leave it out; attention
can. A convolution over time sees motion, a Transformer layer everything at once. The
baseline of the Olympiad tutorials and its improved model are two configurations of this
network.

Each depth has a learning rate: what was trained on ImageNet moves little.

    rate(part k of n) = rate * backbone_rate * layer_decay^(n - 1 - k)
    rate(all behind the backbone) = rate                     k = 0 is the stem

Sources: the Olympiad tutorials, second tutorial, section VI.3; additive attention with
a learnt query, Bahdanau et al. (arXiv 1409.0473), section A.1.2; discriminative
fine-tuning, ULMFiT (arXiv 1801.06146), section 3.2; layer-wise decay, BEiT (arXiv
2106.08254), section 3.
"""

import dataclasses
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.attention.pattern import padding
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.convolution import (
    ConvNormReLU,
    ConvolutionalEncoder,
    ResidualBlock,
)
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.blocks.norm import to_float32
from coursepkg.projects.sign_language.recipe import (
    ModelConfig,
    Recipe,
    architecture_of,
)
from coursepkg.validation import check_finite, with_tuples


class Stage(nn.Module):
    """A convolution that halves height and width, then residual blocks."""

    def __init__(self, n_in: int, n_out: int, n_blocks: int) -> None:
        super().__init__()
        self.down = ConvNormReLU(n_in, n_out, stride=2)
        self.blocks = nn.Sequential(*(ResidualBlock(n_out) for _ in range(n_blocks)))

    def forward(self, x: Tensor) -> Tensor:
        """x (N, C, H, W) -> (N, C', H / 2, W / 2), halves rounded up."""
        y: Tensor = self.blocks(self.down(x))
        return y


class SmallCNN(nn.Module):
    """Frames to vectors by strided stages.

    Args:
        config: its channels, blocks, size, `motion` and `places`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        colours = 3 if config.motion in ("none", "centred") else 6
        inputs = (colours, *config.stage_channels[:-1])
        sizes = zip(inputs, config.stage_channels, config.stage_blocks, strict=True)
        self.stages = nn.ModuleList(Stage(*size) for size in sizes)
        last, side = config.stage_channels[-1], config.size
        for _ in self.stages:
            side = (side + 1) // 2
        self.fold = (
            nn.Linear(last * side * side, config.d_model)
            if config.places == "fold"
            else None
        )
        self.out_channels = last if self.fold is None else config.d_model

    @property
    def depths(self) -> list[str]:
        """Names of its parts, from the frame to the vector."""
        stages = [f"stages.{i}" for i in range(len(self.stages))]
        return stages if self.fold is None else [*stages, "fold"]

    def forward(self, frames: Tensor) -> Tensor:
        """frames (N, 3 or 6, H, W) -> (N, out_channels)."""
        x = frames
        for stage in self.stages:
            x = stage(x)
        if self.fold is None:
            return x.mean(dim=(2, 3))
        vectors: Tensor = self.fold(x.flatten(1))
        return vectors


def with_motion(frames: Tensor, mask: Tensor | None, motion: str) -> Tensor:
    """Frames as the network is to see them.

    With `centred` a frame is what it has other than the mean of its clip; the order of
    frames changes none of them. With `beside` three channels more hold the change since
    the frame before, zero at the first frame. With `alone` the frame itself gives way
    to what it has other than the mean of its clip: walls and clothes that stand still
    are zero then, and nobody can be known by them. It asks for a camera that stands
    still.

    Args:
        frames: (B, T, 3, H, W).
        mask: bool (B, T), True at a real frame; padding does not enter the mean. None:
            all are real.
        motion: `none`, `centred`, `beside` or `alone`.

    Returns:
        (B, T, 3, H, W) for `none` and `centred`, otherwise (B, T, 6, H, W).
    """
    if motion == "none":
        return frames
    if motion == "centred":
        return frames - mean_frame(frames, mask)
    changed = F.pad(
        frames[:, 1:] - frames[:, :-1], (0, 0, 0, 0, 0, 0, 1, 0)
    )  # (B, T, 3, H, W)
    shown = frames if motion == "beside" else frames - mean_frame(frames, mask)
    return torch.cat([shown, changed], dim=2)


def mean_frame(frames: Tensor, mask: Tensor | None) -> Tensor:
    """The mean of the real frames of each clip, (B, T, 3, H, W) -> (B, 1, 3, H, W)."""
    if mask is None:
        return frames.mean(dim=1, keepdim=True)
    real = mask.to(frames.dtype)[:, :, None, None, None]
    return (frames * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)


class Pooled(NamedTuple):
    """One vector a clip."""

    vector: Tensor
    """(B, E)."""
    weights: Tensor
    """(B, T), what each frame weighs: at least 0, 0 at padding, sum 1."""


class LastFrame(nn.Module):
    """The vector of the last real frame."""

    def forward(self, x: Tensor, mask: Tensor) -> Pooled:
        """x (B, T, E); mask bool (B, T), True at a real frame."""
        last = mask.sum(dim=1) - 1
        # Neither `one_hot` nor `len`: both would fix a size while the network is
        # traced.
        clips, frames = (torch.arange(n, device=x.device) for n in x.shape[:2])
        weights = (frames == last[:, None]).to(x.dtype)
        return Pooled(x[clips, last], weights)


class MeanPooling(nn.Module):
    """The mean over the real frames."""

    def forward(self, x: Tensor, mask: Tensor) -> Pooled:
        """x (B, T, E); mask bool (B, T), True at a real frame."""
        weights = mask.to(x.dtype) / mask.sum(dim=1, keepdim=True)
        return Pooled(_weighted(x, weights), weights)


class AttentionPooling(nn.Module):
    """A mean whose weights come from the frames themselves.

    Args:
        d_model: width of a frame's vector (E); the hidden layer has a quarter of it.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(d_model, max(1, d_model // 4))
        self.score = nn.Linear(self.hidden.out_features, 1)

    def forward(self, x: Tensor, mask: Tensor) -> Pooled:
        """x (B, T, E); mask bool (B, T), True at a real frame."""
        scores = to_float32(self.score(torch.tanh(self.hidden(x)))[..., 0])  # (B, T)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=1).to(x.dtype)
        return Pooled(_weighted(x, weights), weights)


def make_pooling(kind: str, d_model: int) -> LastFrame | MeanPooling | AttentionPooling:
    """`last`, `mean` or `attention`."""
    if kind == "last":
        return LastFrame()
    return MeanPooling() if kind == "mean" else AttentionPooling(d_model)


def _weighted(x: Tensor, weights: Tensor) -> Tensor:
    """x (B, T, E) and weights (B, T) -> (B, E)."""
    return torch.einsum("bt,bte->be", weights, x)


class Temporal(nn.Module):
    """Frames' vectors in, as many out, each of which knows of the others.

    What enters is projected to E first where it has another width, but for an LSTM,
    which takes any: the baseline of the Olympiad tutorials has no layer between its
    ResNet and its LSTM.

    Args:
        config: `temporal`, `n_convolutions` and their sizes.
        n_inputs: width of a frame's vector as it comes from the backbone.
    """

    def __init__(self, config: ModelConfig, n_inputs: int) -> None:
        super().__init__()
        self.project: nn.Module = nn.Identity()
        self.convolutions: ConvolutionalEncoder | None = None
        self.encoder: Encoder | None = None
        self.lstm: nn.LSTM | None = None
        takes_any = config.temporal == "lstm" and not config.n_convolutions
        if n_inputs != config.d_model and not takes_any:
            self.project = nn.Linear(n_inputs, config.d_model)
        if config.n_convolutions:
            self.convolutions = ConvolutionalEncoder(
                config.d_model,
                config.kernel_size,
                config.n_convolutions,
                dropout_p=config.dropout,
            )
        if config.temporal == "transformer":
            self.encoder = Encoder(_layers(config))
        initialise(self)
        if config.temporal == "lstm":
            n_read = n_inputs if takes_any else config.d_model
            self.lstm = nn.LSTM(
                n_read, config.d_model, config.n_layers, batch_first=True
            )

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Run over time.

        Args:
            x: (B, T, n_inputs).
            mask: bool (B, T), True at a real frame; padding stands behind the real
                frames and changes none of them. None: all are real.

        Returns:
            (B, T, E); what stands at padding means nothing.
        """
        x = self.project(x)
        if self.convolutions is not None:
            x = self.convolutions(x, mask)
        if self.encoder is not None:
            encoded: Tensor = self.encoder(
                x, None if mask is None else padding(mask.sum(dim=1))
            )
            return encoded
        if self.lstm is None:
            return x
        states: Tensor = self.lstm(x)[0]
        return states


def _layers(config: ModelConfig) -> TransformerConfig:
    """Pre-norm GELU layers with sinusoidal positions, as in the Olympiad tutorials."""
    return TransformerConfig(
        vocab_size=1,
        d_model=config.d_model,
        n_heads=config.n_heads,
        n_encoder_layers=config.n_layers,
        d_ff=config.d_ff,
        dropout_p=config.dropout,
        attention_dropout_p=config.inner_dropout,
        activation_dropout_p=config.inner_dropout,
        norm_first=True,
        final_norm=config.final_norm,
        activation="gelu",
        max_len=config.n_frames,
    )


class ClipScores(NamedTuple):
    """What the network says of clips."""

    logits: Tensor
    """(B, V)."""
    weights: Tensor
    """(B, T), what each frame weighs in the pooled vector; 0 at padding, sum 1."""


class ClipClassifier(nn.Module):
    """Names the word that is signed in a clip.

    Source: the Olympiad tutorials, second tutorial, sections IV.2 and VI.

    Args:
        config: sizes and choices.

    Raises:
        ImportError: a backbone of the transformers library is asked for, and it is not
            installed.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        module, _, name = architecture_of(config.backbone).network.partition(":")
        self.backbone: Any = getattr(import_module(module), name)(config)
        self.temporal = Temporal(config, self.backbone.out_channels)
        self.pooling = make_pooling(config.pooling, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.d_model, config.n_classes)
        for part in (self.pooling, self.output):
            initialise(part)
        self._frozen: list[str] = []

    def train(self, mode: bool = True) -> "ClipClassifier":
        """Set training or evaluation mode; keep frozen parts in evaluation mode.

        Frozen parts also keep their batch statistics.
        """
        super().train(mode)
        for name in self._frozen:
            self.backbone.get_submodule(name).eval()
        return self

    def freeze(self, n_parts: int) -> None:
        """Freeze the first parts of the backbone from now on and let the others learn.

        Args:
            n_parts: counted from the frame on, the stem first; 0 freezes nothing.

        Raises:
            ValueError: the backbone has fewer; they are named.
        """
        depths = self.backbone.depths
        if not 0 <= n_parts <= len(depths):
            raise ValueError(
                f"--frozen must lie in 0..{len(depths)} for {self.config.backbone} "
                f"(its parts are {', '.join(depths)}), got {n_parts}"
            )
        self._frozen = depths[:n_parts]
        self.backbone.requires_grad_(True)
        for name in self._frozen:
            self.backbone.get_submodule(name).requires_grad_(False)
        self.train(self.training)

    def forward(self, frames: Tensor, mask: Tensor | None = None) -> ClipScores:
        """Score clips.

        Args:
            frames: (B, T, 3, H, W), ImageNet-normalised, or landmarks (B, T, F) where
                the backbone reads these.
            mask: bool (B, T), True at a real frame; padding stands behind the real
                frames. None: all are real.

        Raises:
            ValueError: shapes do not fit, a clip has no real frame, or padding stands
                before a real one.
        """
        check_clips(frames, mask, self.config)
        if mask is not None and bool(mask.all()):
            mask = None
        x = self.temporal(self.frame_vectors(frames, mask), mask)
        real = (
            torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
            if mask is None
            else mask
        )
        pooled = self.pooling(x, real)
        return ClipScores(self.output(self.dropout(pooled.vector)), pooled.weights)

    def frame_vectors(self, frames: Tensor, mask: Tensor | None) -> Tensor:
        """Map frames (B, T, 3, H, W) to (B, T, F); skip padding and give it zeros.

        So padding neither costs time nor enters the statistics of batch normalisation.
        """
        if isinstance(self.backbone, SmallCNN):
            frames = with_motion(frames, mask, self.config.motion)
        real = (
            frames.flatten(0, 1) if mask is None else frames[mask]
        )  # (real frames, C, H, W) or (real frames, F)
        if real.dim() == 4:
            real = real.contiguous(memory_format=torch.channels_last)
        found: Tensor = self.backbone(real)
        if mask is None:
            return found.unflatten(0, frames.shape[:2])
        vectors = found.new_zeros(*mask.shape, found.shape[-1])
        vectors[mask] = found
        return vectors


def check_clips(frames: Tensor, mask: Tensor | None, config: ModelConfig) -> None:
    """Raise a ValueError unless frames (B, T, ...) and mask (B, T) fit.

    A frame is (3, size, size), or (F,) where the backbone reads landmarks.
    """
    n_features = architecture_of(config.backbone).n_features
    wanted = (n_features,) if n_features else (3, config.size, config.size)
    if (
        frames.dim() != 2 + len(wanted)
        or frames.shape[2:] != wanted
        or not frames.is_floating_point()
    ):
        raise ValueError(
            f"frames must be floating point (B, T, {', '.join(map(str, wanted))}), "
            f"got {frames.dtype} {tuple(frames.shape)}"
        )
    if not frames.shape[0] or not 1 <= frames.shape[1] <= config.n_frames:
        raise ValueError(
            f"frames must hold at least one clip of 1..{config.n_frames} frames, got"
            f" {tuple(frames.shape[:2])}"
        )
    if mask is None:
        return
    if mask.shape != frames.shape[:2] or mask.dtype != torch.bool:
        raise ValueError(
            f"mask must be bool {tuple(frames.shape[:2])}, got {mask.dtype}"
            f" {tuple(mask.shape)}"
        )
    # On a GPU this check would make the host wait at every step.
    if mask.device.type == "cpu":
        wrong = ~mask[:, 0] | (mask[:, 1:] & ~mask[:, :-1]).any(dim=1)
        if bool(wrong.any()):
            raise ValueError(
                "mask must be True at the real frames, at least one, and False behind"
                f" them only; clip {int(wrong.nonzero()[0])} of the batch is not so"
            )


SHARED = [
    field.name for field in dataclasses.fields(ModelConfig) if field.name != "n_classes"
]
"""Fields that a recipe and a model's configuration have in common."""


def config_of(recipe: Recipe, n_classes: int) -> ModelConfig:
    """The configuration of the network that a recipe asks for, for so many words."""
    return ModelConfig(n_classes, **{name: getattr(recipe, name) for name in SHARED})


def build_model(
    recipe: Recipe, n_classes: int, *, pretrained: bool = True
) -> ClipClassifier:
    """Build a new network, freeze the recipe's parts, and return it.

    Random weights come from the current state of PyTorch's generator.

    Args:
        recipe: sizes and choices.
        n_classes: words.
        pretrained: read the weights that the recipe names; False leaves them random and
            needs no network.

    Raises:
        ValueError: the weights are those of another backbone, or the recipe freezes
            more than there is.
        OSError: the weights cannot be read or fetched.
        ImportError: transformers is needed and not installed.
    """
    model = ClipClassifier(config_of(recipe, n_classes))
    if pretrained and recipe.pretrained:
        model.backbone.load_pretrained(recipe.pretrained)
    model.freeze(recipe.frozen)
    return model


def rebuild(fields: dict[str, Any]) -> ClipClassifier:
    """A network of the configuration that a file holds; any weights."""
    return ClipClassifier(ModelConfig(**with_tuples(fields)))


def learning_rate_factors(
    model: ClipClassifier, backbone_rate: float = 1.0, layer_decay: float = 1.0
) -> dict[str, float]:
    """Return the learning-rate factor of each backbone part by parameter name prefix.

    Parts that are not named keep the learning rate as it is.

    Args:
        model: its backbone has the parts `model.backbone.depths`.
        backbone_rate: factor of the backbone's last part, above 0.
        layer_decay: factor from a part to the one before it, above 0 and at most 1.

    Raises:
        ValueError: a factor is out of range.
    """
    for name, value in (("backbone_rate", backbone_rate), ("layer_decay", layer_decay)):
        check_finite(name, value)
        if value <= 0:
            raise ValueError(f"{name} must be above 0, got {value}")
    if layer_decay > 1:
        raise ValueError(f"layer_decay must be at most 1, got {layer_decay}")
    depths = model.backbone.depths
    return {
        f"backbone.{part}.": backbone_rate * layer_decay ** (len(depths) - 1 - k)
        for k, part in enumerate(depths)
    }


def factor_of(name: str, factors: Mapping[str, float]) -> float:
    """Return the factor of the first listed prefix of a name, or 1 if none fits."""
    return next(
        (factor for start, factor in factors.items() if name.startswith(start)), 1.0
    )


def parameter_groups(
    model: nn.Module, factors: Mapping[str, float]
) -> list[tuple[float, list[nn.Parameter]]]:
    """The parameters that learn, grouped by their factor, the largest factor first."""
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups.setdefault(factor_of(name, factors), []).append(parameter)
    return sorted(groups.items(), key=lambda group: -group[0])
