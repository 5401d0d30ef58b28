"""The picture of a Transformer, drawn from its configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from coursepkg.blocks.config import TransformerConfig

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "embedding": "#F8DCE4",
    "attention": "#FBDDBB",
    "feed_forward": "#CBE4F5",
    "norm": "#F3EFBD",
    "output": "#DCD6F0",
    "add": "#FFFFFF",
}
"""Fill of each kind of part."""
HIGHLIGHT = "#D55E00"
LINE = "#444444"
X = {"encoder": 2.6, "decoder": 7.4}
WIDTH, HEIGHT, GAP = 3.1, 0.8, 0.42
_ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "swiglu": "SwiGLU", "geglu": "GEGLU"}
_NORMS = {"layer": "LayerNorm", "rms": "RMSNorm"}


@dataclass(frozen=True)
class Part:
    """One box of the picture."""

    name: str
    """Which one, for example encoder.self_attention."""
    label: str
    """What stands in it."""
    kind: str
    """One of `COLOURS`."""
    sublayer: str = ""
    """The residual that the part belongs to; empty outside the layers."""


def architecture_parts(
    config: TransformerConfig, *, decoder_only: bool = False
) -> dict[str, list[Part]]:
    """The parts of each stack in the order in which a token passes them.

    Args:
        config: of the model.
        decoder_only: for a `LanguageModel`, which has no encoder and no
            cross-attention.
    """
    stacks = {} if decoder_only else {"encoder": _stack(config, "encoder", cross=False)}
    decoder = _stack(config, "decoder", cross=not decoder_only)
    output = [
        Part("decoder.output", "Linear", "output"),
        Part("decoder.softmax", "Softmax", "output"),
    ]
    return stacks | {"decoder": decoder + output}


def architecture_diagram(
    config: TransformerConfig,
    *,
    highlight: str | Sequence[str] = (),
    decoder_only: bool = False,
) -> "Figure":
    """Draws the model: stacks side by side, tokens enter below.

    Args:
        config: of the model: norms before or after, kind of norm, positions, key-value
            heads, activation, layers.
        highlight: names of parts that get a thick frame.
        decoder_only: for a `LanguageModel`.

    Raises:
        ValueError: a highlighted part does not exist.
    """
    import matplotlib.pyplot as plt

    longest = max(
        map(len, architecture_parts(config, decoder_only=decoder_only).values())
    )
    size = (4.2 if decoder_only else 7.0, 0.62 * longest + 1.2)
    figure, axis = plt.subplots(figsize=size, layout="constrained")
    draw_architecture(axis, config, highlight=highlight, decoder_only=decoder_only)
    return figure


def draw_architecture(
    axis: "Axes",
    config: TransformerConfig,
    *,
    highlight: str | Sequence[str] = (),
    decoder_only: bool = False,
) -> None:
    """As `architecture_diagram`, on an axis of a larger figure."""
    stacks = architecture_parts(config, decoder_only=decoder_only)
    marked = {highlight} - {""} if isinstance(highlight, str) else set(highlight)
    unknown = marked - {part.name for parts in stacks.values() for part in parts}
    if unknown:
        raise ValueError(
            f"highlight must name parts of the model, got {', '.join(sorted(unknown))}"
        )
    axis.set_axis_off()
    n_layers = {"encoder": config.n_encoder_layers, "decoder": config.n_decoder_layers}
    top = 0.0
    places: dict[str, float] = {}
    for stack, parts in stacks.items():
        heights = _draw_stack(axis, stack, parts, marked, n_layers[stack])
        places |= heights
        top = max(top, *heights.values())
    if not decoder_only:
        _draw_bridge(axis, places, stacks["encoder"][-1])
    axis.set(xlim=(4.2 if decoder_only else 0.0, 10.0), ylim=(-1.0, top + 1.5))


def _stack(config: TransformerConfig, stack: str, *, cross: bool) -> list[Part]:
    parts = [Part(f"{stack}.embedding", "Embedding", "embedding")]
    if config.position in ("sinusoidal", "learned"):
        parts.append(Part(f"{stack}.position", f"+ {config.position} positions", "add"))
    masked = "Masked " if stack == "decoder" else ""
    inside = (
        f"\n{config.position} positions"
        if config.position in ("rotary", "relative")
        else ""
    )
    heads = _heads(config)
    parts += _sublayer(
        config, stack, "self", f"{masked}{heads}\nself-attention{inside}", "attention"
    )
    if cross:
        turned = "\nrotary positions" if config.rope_cross else ""
        parts += _sublayer(
            config, stack, "cross", f"{heads}\ncross-attention{turned}", "attention"
        )
    label = f"Feed-forward\n({_ACTIVATIONS[config.activation]})"
    parts += _sublayer(config, stack, "feed_forward", label, "feed_forward")
    return parts + (
        [Part(f"{stack}.final_norm", _NORMS[config.norm], "norm")]
        if config.final_norm
        else []
    )


def _sublayer(
    config: TransformerConfig, stack: str, name: str, label: str, kind: str
) -> list[Part]:
    whole = f"{stack}.{name}" + ("_attention" if kind == "attention" else "")
    body, norm = Part(whole, label, kind, name), _NORMS[config.norm]
    if config.norm_first:
        return [
            Part(f"{stack}.{name}_norm", norm, "norm", name),
            body,
            Part(f"{stack}.{name}_add", "+", "add", name),
        ]
    return [body, Part(f"{stack}.{name}_norm", f"Add & {norm}", "norm", name)]


def _heads(config: TransformerConfig) -> str:
    if config.kv_heads == config.n_heads:
        return "multi-head" if config.n_heads > 1 else "one-head"
    return "grouped-query" if config.kv_heads > 1 else "multi-query"


def _draw_stack(
    axis: "Axes", stack: str, parts: Sequence[Part], marked: set[str], n_layers: int
) -> dict[str, float]:
    """Draws one column, tokens at its foot; returns the middle height of each part."""
    x, y, places = X[stack], 0.0, {}
    for part in parts:
        height = _height(part)
        _draw_part(axis, part, x, y, part.name in marked)
        places[part.name] = y + height / 2
        y += height + GAP
    for lower, upper in pairwise(parts):
        start, end = (
            places[lower.name] + _height(lower) / 2,
            places[upper.name] - _height(upper) / 2,
        )
        _arrow(axis, [(x, start), (x, end)])
    _arrow(axis, [(x, -GAP - 0.1), (x, 0.0)])
    source = "source tokens" if stack == "encoder" else "tokens so far"
    axis.text(x, -GAP - 0.2, source, ha="center", va="top", fontsize=10)
    if stack == "decoder":
        _arrow(axis, [(x, y - GAP), (x, y + 0.1)])
        axis.text(x, y + 0.2, "next token", ha="center", va="bottom", fontsize=10)
    _draw_layer(axis, stack, parts, places, n_layers)
    return places


def _height(part: Part) -> float:
    return HEIGHT * {0: 0.75, 1: 1.1, 2: 1.5}[part.label.count("\n")]


def _draw_part(axis: "Axes", part: Part, x: float, y: float, marked: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    width = 0.7 if part.label == "+" else WIDTH
    box = FancyBboxPatch(
        (x - width / 2, y),
        width,
        _height(part),
        boxstyle="round,pad=0,rounding_size=0.12",
        facecolor=COLOURS[part.kind],
        edgecolor=HIGHLIGHT if marked else LINE,
        linewidth=3.5 if marked else 1.0,
        zorder=3,
    )
    axis.add_patch(box)
    axis.text(
        x,
        y + _height(part) / 2,
        part.label[0].upper() + part.label[1:],
        ha="center",
        va="center",
        fontsize=10,
        color="#111111",
        zorder=4,
    )


def _draw_layer(
    axis: "Axes",
    stack: str,
    parts: Sequence[Part],
    places: dict[str, float],
    n_layers: int,
) -> None:
    """The frame around one layer, and the residuals around its sublayers."""
    from matplotlib.patches import Rectangle

    side = -1 if stack == "encoder" else 1
    x, outer = X[stack], X[stack] + side * (WIDTH / 2 + 0.32)
    inside = [part for part in parts if part.sublayer]
    for _, group in groupby(inside, key=lambda part: part.sublayer):
        members = list(group)
        start = places[members[0].name] - _height(members[0]) / 2 - GAP * 0.65
        end = places[members[-1].name]
        reach = 0.35 if members[-1].label == "+" else WIDTH / 2
        _arrow(
            axis, [(x, start), (outer, start), (outer, end), (x + side * reach, end)]
        )
    low = places[inside[0].name] - _height(inside[0]) / 2 - GAP * 0.8
    high = places[inside[-1].name] + _height(inside[-1]) / 2 + GAP * 0.4
    left = x - WIDTH / 2 - (0.55 if side < 0 else 0.3)
    frame = Rectangle(
        (left, low), WIDTH + 0.85, high - low, facecolor="#F4F4F4", edgecolor="#999999"
    )
    axis.add_patch(frame)
    edge = x + side * (WIDTH / 2 + 0.62)
    axis.text(
        edge,
        (low + high) / 2,
        f"{n_layers} x",
        ha="right" if side < 0 else "left",
        va="center",
    )


def _draw_bridge(axis: "Axes", places: dict[str, float], last: Part) -> None:
    """From the top of the encoder to the cross-attention of every decoder layer."""
    x, end = (X["encoder"] + X["decoder"]) / 2, places["decoder.cross_attention"]
    start = places[last.name] + _height(last) / 2
    top = start + GAP
    _arrow(
        axis,
        [
            (X["encoder"], start),
            (X["encoder"], top),
            (x, top),
            (x, end),
            (X["decoder"] - WIDTH / 2, end),
        ],
    )
    axis.text(
        (X["encoder"] + x) / 2,
        top + 0.08,
        "keys, values",
        ha="center",
        va="bottom",
        fontsize=10,
    )


def _arrow(axis: "Axes", path: Sequence[tuple[float, float]]) -> None:
    xs, ys = zip(*path[:-1], strict=True)
    axis.plot(xs, ys, color=LINE, linewidth=1.1, zorder=2)
    axis.annotate(
        "",
        path[-1],
        path[-2],
        arrowprops={
            "arrowstyle": "-|>",
            "color": LINE,
            "linewidth": 1.1,
            "shrinkA": 0,
            "shrinkB": 0,
        },
        zorder=2,
    )
