"""Backbones of the transformers library: ResNet, ConvNeXt, ViT and Swin, one vector a frame.

Built from a configuration they are random and need no network; `load_pretrained` gives them weights by name or folder.
Every family ends in the mean over its places:

    resnet     mean over the last map                                    (C,)
    convnext   mean over the last map, then LayerNorm                    (C,)
    vit        LayerNorm, then the mean over the patches, not [CLS]      (C,)
    swin       LayerNorm, then the mean over the patches                 (C,)
"""

from typing import Any

from torch import Tensor, nn

from coursepkg.projects.sign_language.model.architectures import (
    ARCHITECTURES,
    HEAD_WIDTH,
    PATCH,
    SWIN_WINDOW,
    architecture_of,
)
from coursepkg.projects.sign_language.model.config import ModelConfig

TRAINED_SIZE = 224
"""Side in pixels of the frames that the position vectors of a ViT are made for; others are interpolated."""
MUST_EQUAL = {
    "resnet": ("layer_type", "embedding_size", "hidden_sizes", "depths"),
    "convnext": ("hidden_sizes", "depths", "patch_size"),
    "vit": ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "patch_size"),
    "swin": ("embed_dim", "depths", "num_heads", "window_size", "patch_size"),
}
"""Fields of the library's configuration that weights must agree in."""


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
        self.network: Any = _make_network(self.family, _library_config(config))

    @property
    def depths(self) -> list[str]:
        """Names of its parts, from the frame to the vector."""
        if self.family == "vit":
            layers = [f"network.layers.{i}" for i in range(len(self.network.layers))]
        else:
            inner = "encoder.layers" if self.family == "swin" else "encoder.stages"
            layers = [f"network.{inner}.{i}" for i in range(len(self.network.get_submodule(inner)))]
        stem = "network.embedder" if self.family == "resnet" else "network.embeddings"
        return [stem, *layers] if self.family == "resnet" else [stem, *layers, "network.layernorm"]

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


def load_pretrained(backbone: LibraryBackbone, name: str) -> None:
    """Give a backbone the weights of a network on the Hugging Face Hub or in a folder.

    Raises:
        ValueError: it is of another family or other sizes, or lacks a weight.
        OSError: it cannot be read or fetched.
    """
    try:
        config = _library().AutoConfig.from_pretrained(name)
    except OSError as reason:
        said = str(reason).strip().splitlines()
        raise OSError(
            f"--pretrained {name} can be neither read nor fetched ({said[0] if said else 'no reason given'}); name "
            "a folder that holds the weights, or leave the flag out to begin at random"
        ) from reason
    if config.model_type != backbone.family:
        raise ValueError(
            f"--pretrained {name} is a {config.model_type}, the backbone a {backbone.family}; choose weights "
            f"such as {_example(backbone.family)}, or another --backbone"
        )
    ours = backbone.network.config
    for field in MUST_EQUAL[backbone.family]:
        if _plain(getattr(config, field)) != _plain(getattr(ours, field)):
            raise ValueError(
                f"--pretrained {name} has {field} {_plain(getattr(config, field))}, the recipe asks for "
                f"{_plain(getattr(ours, field))}; choose other weights, or change --backbone, --channels or "
                "--n-blocks"
            )
    options = {} if backbone.family in ("resnet", "convnext") else {"add_pooling_layer": False}
    found, report = type(backbone.network).from_pretrained(name, output_loading_info=True, **options)
    if report["missing_keys"]:
        raise ValueError(
            f"--pretrained {name} lacks the weight {min(report['missing_keys'])}; choose another"
        )
    backbone.network.load_state_dict(found.state_dict())


def _library_config(config: ModelConfig) -> Any:
    """The library's configuration of a backbone."""
    library, known = _library(), architecture_of(config.backbone)
    channels, n_blocks = list(config.stage_channels), list(config.stage_blocks)
    if known.family == "resnet":
        return library.ResNetConfig(
            embedding_size=64, hidden_sizes=channels, depths=n_blocks, layer_type=known.layer_type
        )
    if known.family == "convnext":
        return library.ConvNextConfig(num_stages=len(channels), hidden_sizes=channels, depths=n_blocks)
    if known.family == "vit":
        return library.ViTConfig(
            hidden_size=channels[0],
            num_hidden_layers=n_blocks[0],
            num_attention_heads=channels[0] // HEAD_WIDTH["vit"],
            intermediate_size=4 * channels[0],
            patch_size=PATCH["vit"],
            image_size=TRAINED_SIZE,
        )
    return library.SwinConfig(
        embed_dim=channels[0],
        depths=n_blocks,
        num_heads=[c // HEAD_WIDTH["swin"] for c in channels],
        patch_size=PATCH["swin"],
        image_size=config.size,
        # A window must fit into the map of the last stage, which is the smallest.
        window_size=min(SWIN_WINDOW, config.size // (PATCH["swin"] * 2 ** (len(channels) - 1))),
    )


def _make_network(family: str, config: Any) -> Any:
    library = _library()
    if family == "resnet":
        return library.ResNetModel(config)
    if family == "convnext":
        return library.ConvNextModel(config)
    made = library.ViTModel if family == "vit" else library.SwinModel
    return made(config, add_pooling_layer=False)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list) else value


def _example(family: str) -> str:
    return next(known.weights for known in ARCHITECTURES.values() if known.family == family)


def _library() -> Any:
    try:
        import transformers
    except ImportError as reason:
        raise ImportError(
            "a --backbone other than small needs transformers: pip install 'coursepkg[t5]'"
        ) from reason
    return transformers
