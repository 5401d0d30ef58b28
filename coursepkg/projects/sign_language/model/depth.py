"""A learning rate for each depth: what was trained on ImageNet moves little, what is new moves fast.

    rate(part k of n) = rate * backbone_rate * layer_decay^(n - 1 - k)        k = 0 is the stem
    rate(all behind the backbone) = rate

Early parts know edges and colours, which serve hands as they served ImageNet; late ones know ImageNet's objects.
Sources: discriminative fine-tuning, Howard and Ruder, ULMFiT (arXiv 1801.06146), section 3.2; layer-wise decay for
vision, Bao et al., BEiT (arXiv 2106.08254), section 3.
"""

from collections.abc import Mapping

from torch import nn

from coursepkg.arguments import check_finite
from coursepkg.projects.sign_language.model.classifier import ClipClassifier


def learning_rate_factors(
    model: ClipClassifier, backbone_rate: float = 1.0, layer_decay: float = 1.0
) -> dict[str, float]:
    """What multiplies the learning rate of each part of the backbone, by the beginning of its parameters' names.

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
    """The factor of a parameter: that of the beginning of its name, 1 where none is listed."""
    return next((factor for start, factor in factors.items() if name.startswith(start)), 1.0)


def parameter_groups(
    model: nn.Module, factors: Mapping[str, float]
) -> list[tuple[float, list[nn.Parameter]]]:
    """The parameters that learn, grouped by their factor, the largest factor first."""
    groups: dict[float, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups.setdefault(factor_of(name, factors), []).append(parameter)
    return sorted(groups.items(), key=lambda group: -group[0])
