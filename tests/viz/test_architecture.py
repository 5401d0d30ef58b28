"""The picture of a Transformer shows the parts that the model of that configuration has, in their order."""

from typing import Any

import pytest
from torch import nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.norm import LayerNorm, RMSNorm
from coursepkg.blocks.transformer import Transformer
from coursepkg.viz.architecture import architecture_diagram, architecture_parts

SMALL = {"d_model": 8, "n_heads": 4, "d_ff": 8, "n_encoder_layers": 1, "n_decoder_layers": 1}


def names(config: TransformerConfig, stack: str, **options: Any) -> list[str]:
    return [part.name.partition(".")[2] for part in architecture_parts(config, **options)[stack]]


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_post_norm_of_2017() -> None:
    config = TransformerConfig.vaswani2017(9)
    assert names(config, "encoder") == [
        "embedding",
        "position",
        "self_attention",
        "self_norm",
        "feed_forward",
        "feed_forward_norm",
    ]
    assert names(config, "decoder")[2:] == [
        "self_attention",
        "self_norm",
        "cross_attention",
        "cross_norm",
        "feed_forward",
        "feed_forward_norm",
        "output",
        "softmax",
    ]


def test_pre_norm_has_its_norm_first_and_a_final_one() -> None:
    config = TransformerConfig.modern(9)
    assert names(config, "encoder") == [
        "embedding",
        "self_norm",
        "self_attention",
        "self_add",
        "feed_forward_norm",
        "feed_forward",
        "feed_forward_add",
        "final_norm",
    ]


def test_decoder_only_has_no_encoder_and_no_cross_attention() -> None:
    parts = architecture_parts(TransformerConfig.modern(9), decoder_only=True)
    assert list(parts) == ["decoder"]
    assert not any("cross" in part.name for part in parts["decoder"])


@pytest.mark.parametrize("make", [TransformerConfig.vaswani2017, TransformerConfig.modern])
@pytest.mark.parametrize("decoder_only", [False, True])
def test_as_many_norms_as_the_model_has(make: Any, decoder_only: bool) -> None:
    config = make(9, **SMALL, n_kv_heads=2)
    model: nn.Module = LanguageModel(config) if decoder_only else Transformer(config)
    built = sum(isinstance(module, LayerNorm | RMSNorm) for module in model.modules())
    drawn = architecture_parts(config, decoder_only=decoder_only)
    assert sum(part.kind == "norm" for parts in drawn.values() for part in parts) == built


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({}, "Masked multi-head\nself-attention"),
        ({"n_kv_heads": 2}, "Masked grouped-query\nself-attention"),
        ({"n_kv_heads": 1}, "Masked multi-query\nself-attention"),
        ({"position": "learned"}, "+ learned positions"),
        ({"position": "relative"}, "Masked multi-head\nself-attention\nrelative positions"),
        ({"position": "rotary", "rope_cross": True}, "Multi-head\ncross-attention\nrotary positions"),
        ({"activation": "geglu"}, "Feed-forward\n(GEGLU)"),
        ({"norm": "rms"}, "Add & RMSNorm"),
        ({"n_decoder_layers": 3}, "3 x"),
    ],
)
def test_labels_follow_the_configuration(changes: dict[str, Any], label: str) -> None:
    assert label in texts(architecture_diagram(TransformerConfig(9, **changes)))


def test_no_box_overlaps_another() -> None:
    figure = architecture_diagram(TransformerConfig.modern(9, rope_cross=True))
    boxes = [patch.get_extents() for patch in figure.axes[0].patches if hasattr(patch, "get_boxstyle")]
    assert len(boxes) == sum(map(len, architecture_parts(TransformerConfig.modern(9)).values()))
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_texts_fit_into_their_boxes() -> None:
    config = TransformerConfig.modern(9, rope_cross=True)
    figure = architecture_diagram(config)
    figure.canvas.draw()
    boxes = [patch.get_window_extent() for patch in figure.axes[0].patches if hasattr(patch, "get_boxstyle")]
    labels = {part.label.lower() for parts in architecture_parts(config).values() for part in parts}
    written = [text for text in figure.axes[0].texts if text.get_text().lower() in labels]
    assert len(written) == len(boxes)
    for text, box in zip(written, boxes, strict=True):
        extent = text.get_window_extent()
        assert box.x0 <= extent.x0 < extent.x1 <= box.x1, text.get_text()
        assert box.y0 <= extent.y0 < extent.y1 <= box.y1, text.get_text()


def test_a_highlight_is_one_thick_frame() -> None:
    figure = architecture_diagram(TransformerConfig(9), highlight="decoder.cross_attention")
    widths = sorted(patch.get_linewidth() for patch in figure.axes[0].patches)
    assert widths[-1] > 2 * widths[-2]


def test_an_unknown_highlight_is_refused() -> None:
    with pytest.raises(ValueError, match=r"highlight must name parts of the model, got encoder\.final_norm"):
        architecture_diagram(TransformerConfig(9), highlight=["encoder.final_norm", "encoder.embedding"])
