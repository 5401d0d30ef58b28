"""Backbones of the transformers library, and the layer that takes landmarks instead.

The small CNN stands in `classifier`. Those of the library are random without weights
and need no network then. Each family ends in the mean over its places:

    resnet     mean over the last map                                    (C,)
    convnext   mean over the last map, then LayerNorm                    (C,)
    vit        LayerNorm, then the mean over the patches, not [CLS]      (C,)
    swin       LayerNorm, then the mean over the patches                 (C,)
"""

from typing import Any

from torch import Tensor, nn

from coursepkg.projects.sign_language.recipe import (
    ARCHITECTURES,
    ModelConfig,
    architecture_of,
)

SWIN_WINDOW = 7
"""Side of a Swin window, in patches."""
TRAINED_SIZE = 224
"""Side in pixels of the frames that the position vectors of a ViT are made for; others
are interpolated."""
MUST_EQUAL = {
    "resnet": ("layer_type", "embedding_size", "hidden_sizes", "depths"),
    "convnext": ("hidden_sizes", "depths", "patch_size"),
    "vit": (
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "patch_size",
    ),
    "swin": ("embed_dim", "depths", "num_heads", "window_size", "patch_size"),
}
"""Fields of the library's configuration that weights must agree in."""


class LandmarkLayer(nn.Module):
    """Landmarks of a frame to a vector by one linear layer.

    What a CNN has to find in pictures is found already.

    Args:
        config: its backbone and its `d_model`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        n_features = architecture_of(config.backbone).n_features
        self.layer = nn.Linear(n_features, config.d_model)
        self.out_channels = config.d_model

    @property
    def depths(self) -> list[str]:
        """Names of its parts."""
        return ["layer"]

    def forward(self, frames: Tensor) -> Tensor:
        """frames (N, F) -> (N, out_channels)."""
        vectors: Tensor = self.layer(frames)
        return vectors


class LibraryBackbone(nn.Module):
    """Frames to vectors by a network of the transformers library.

    Args:
        config: its backbone, channels, blocks and size.

    Raises:
        ImportError: transformers is not installed.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.family = architecture_of(config.backbone).family
        self.out_channels = config.stage_channels[-1]
        self.interpolates = self.family == "vit" and config.size != TRAINED_SIZE
        self.network: Any = _library().AutoModel.from_config(
            _library_config(config), **_unpooled(self.family)
        )

    @property
    def depths(self) -> list[str]:
        """Names of its parts, from the frame to the vector."""
        if self.family == "vit":
            layers = [f"network.layers.{i}" for i in range(len(self.network.layers))]
        else:
            inner = "encoder.layers" if self.family == "swin" else "encoder.stages"
            layers = [
                f"network.{inner}.{i}"
                for i in range(len(self.network.get_submodule(inner)))
            ]
        stem = "network.embedder" if self.family == "resnet" else "network.embeddings"
        last = [] if self.family == "resnet" else ["network.layernorm"]
        return [stem, *layers, *last]

    def forward(self, frames: Tensor) -> Tensor:
        """frames (N, 3, H, W), ImageNet-normalised -> (N, out_channels)."""
        options = {"interpolate_pos_encoding": True} if self.interpolates else {}
        found = self.network(frames, **options)
        if self.family in ("resnet", "convnext"):
            pooled: Tensor = found.pooler_output.flatten(1)
            return pooled
        n_others = 1 if self.family == "vit" else 0
        vectors: Tensor = found.last_hidden_state[:, n_others:].mean(dim=1)
        return vectors

    def load_pretrained(self, name: str) -> None:
        """Take the weights of a network on the Hugging Face Hub or in a folder.

        Raises:
            ValueError: it is of another family or other sizes, or lacks a weight.
            OSError: it cannot be read or fetched.
        """
        try:
            config = _library().AutoConfig.from_pretrained(name)
        except OSError as reason:
            told = str(reason).strip().splitlines()
            raise OSError(
                f"--pretrained {name} can be neither read nor fetched"
                f" ({told[0] if told else 'no reason given'}); name a folder that holds"
                " the weights, or leave the flag out to begin at random"
            ) from reason
        family = self.family
        if config.model_type != family:
            known = (one for one in ARCHITECTURES.values() if one.family == family)
            raise ValueError(
                f"--pretrained {name} is a {config.model_type}, the backbone a"
                f" {family}; choose weights such as {next(known).weights}, or another"
                " --backbone"
            )
        for field in MUST_EQUAL[family]:
            theirs, ours = (
                list(value) if isinstance(value, tuple) else value
                for value in (
                    getattr(config, field),
                    getattr(self.network.config, field),
                )
            )
            if theirs != ours:
                raise ValueError(
                    f"--pretrained {name} has {field} {theirs}, the recipe asks for"
                    f" {ours}; choose other weights, or change --backbone, --channels"
                    " or --n-blocks"
                )
        found, report = type(self.network).from_pretrained(
            name, output_loading_info=True, **_unpooled(family)
        )
        if report["missing_keys"]:
            raise ValueError(
                f"--pretrained {name} lacks the weight {min(report['missing_keys'])};"
                " choose another"
            )
        self.network.load_state_dict(found.state_dict())


def _library_config(config: ModelConfig) -> Any:
    """The library's configuration of a backbone."""
    library, known = _library(), architecture_of(config.backbone)
    channels, n_blocks = list(config.stage_channels), list(config.stage_blocks)
    if known.family == "resnet":
        return library.ResNetConfig(
            embedding_size=64,
            hidden_sizes=channels,
            depths=n_blocks,
            layer_type=known.layer_type,
        )
    if known.family == "convnext":
        return library.ConvNextConfig(
            num_stages=len(channels), hidden_sizes=channels, depths=n_blocks
        )
    if known.family == "vit":
        return library.ViTConfig(
            hidden_size=channels[0],
            num_hidden_layers=n_blocks[0],
            num_attention_heads=channels[0] // known.head_width,
            intermediate_size=4 * channels[0],
            patch_size=known.patch,
            image_size=TRAINED_SIZE,
        )
    return library.SwinConfig(
        embed_dim=channels[0],
        depths=n_blocks,
        num_heads=[c // known.head_width for c in channels],
        patch_size=known.patch,
        image_size=config.size,
        # A window must fit into the map of the last stage, which is the smallest.
        window_size=min(SWIN_WINDOW, config.size // known.size_step(len(channels))),
    )


def _unpooled(family: str) -> dict[str, bool]:
    """Options of a network without the library's own pooling, where it may have one."""
    return {} if family in ("resnet", "convnext") else {"add_pooling_layer": False}


def _library() -> Any:
    try:
        import transformers
    except ImportError as reason:
        raise ImportError(
            "a --backbone other than small needs transformers: pip install"
            " 'coursepkg[t5]'"
        ) from reason
    return transformers
