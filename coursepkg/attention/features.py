"""Feature maps phi for linear attention: softmax's kernel exp(q.k) is replaced by phi(q).phi(k)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

# exp(60) is about 1e26: large enough never to be met by trained keys, small enough that a float32 sum of a
# million such features times values stays finite. A bound that looks at other keys would let the future in.
MAX_EXPONENT = 60.0


@dataclass(frozen=True)
class FeatureMap:
    """Two maps (..., D) -> (..., F) with nonnegative values, one for keys and one for queries.

    They are the same function up to a positive factor for each query: that factor appears in the numerator and
    in the normaliser of linear attention and cancels, so exponential maps use it to keep exp() from overflowing.
    """

    keys: Callable[[Tensor], Tensor]
    queries: Callable[[Tensor], Tensor]


def same_map(phi: Callable[[Tensor], Tensor]) -> FeatureMap:
    """A feature map that treats queries and keys alike."""
    return FeatureMap(keys=phi, queries=phi)


def exponential_map(log_phi: Callable[[Tensor], Tensor]) -> FeatureMap:
    """phi(x) = exp(log_phi(x)), with the largest exponent of each query subtracted before exp().

    Keys get no such shift: a factor of its own for each key would not cancel, and one for all keys would depend
    on keys that a causal query must not see. Their exponents are cut at `MAX_EXPONENT` instead.
    """

    def keys(x: Tensor) -> Tensor:
        return log_phi(x).clamp(max=MAX_EXPONENT).exp()

    def queries(x: Tensor) -> Tensor:
        exponents = log_phi(x)
        return (exponents - exponents.detach().amax(dim=-1, keepdim=True)).exp()

    return FeatureMap(keys=keys, queries=queries)


def elu_plus_one(x: Float[Tensor, "... D"]) -> Float[Tensor, "... D"]:
    """phi(x) = elu(x) + 1: x + 1 where x > 0, exp(x) elsewhere.

    Written as exp(min(x, 0)) + max(x, 0), which keeps the small values that (exp(x) - 1) + 1 rounds away.

    Source: Katharopoulos et al. 2020, "Transformers are RNNs", section 3.2 (arXiv 2006.16236).
    """
    return x.clamp(max=0).exp() + x.relu()


def orthogonal_gaussian(n_rows: int, dim: int, seed: int) -> Float[Tensor, "F D"]:
    """Rows that are each a standard normal vector, and orthogonal to the others of their block of `dim` rows.

    The directions come from the QR decomposition of a Gaussian matrix; the lengths are those of independent
    Gaussian vectors, so that every single row keeps the distribution N(0, I). Drawn in float64 on the CPU: one
    seed gives one matrix on every device.

    Source: Choromanski et al. 2021, section 2.4 (arXiv 2009.14794).
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64, device="cpu")

    blocks = []
    for _ in range(math.ceil(n_rows / dim)):
        basis, triangle = torch.linalg.qr(normal(dim, dim))
        # QR fixes columns only up to sign; the signs of the diagonal make the directions uniform on the sphere.
        blocks.append((basis * triangle.diagonal().sign()).T)
    return torch.cat(blocks)[:n_rows] * normal(n_rows, dim).norm(dim=1, keepdim=True)


def favor_features(head_dim: int, n_features: int, seed: int = 0) -> FeatureMap:
    """FAVOR+: positive orthogonal random features, an unbiased estimate of the softmax kernel.

        phi(x) = exp(w_f . y - |y|^2 / 2) / sqrt(F)  for f = 1..F,   with y = x / D^(1/4)
        E[phi(q) . phi(k)] = exp(q . k / sqrt(D))

    Shapes: (..., D) -> (..., F). `n_features` is F; the variance of the estimate falls as 1 / F. The exponent
    is never above |w_f|^2 / 2.

    Raises:
        ValueError: `head_dim` or `n_features` is not a positive integer; the map is given another D.

    Source: Choromanski et al. 2021, "Rethinking Attention with Performers", lemma 1 (arXiv 2009.14794).
    """
    for name, value in (("head_dim", head_dim), ("n_features", n_features)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: got {value!r}, needs a positive integer")
    directions = orthogonal_gaussian(n_features, head_dim, seed)

    def log_phi(x: Tensor) -> Tensor:
        if x.shape[-1] != head_dim:
            raise ValueError(
                f"feature_map: got head dim {x.shape[-1]}, needs {head_dim} (favor_features(head_dim, ...))"
            )
        y = x * head_dim**-0.25
        projected = y @ directions.to(device=x.device, dtype=x.dtype).T  # (..., F)
        return projected - y.square().sum(dim=-1, keepdim=True) / 2 - math.log(n_features) / 2

    return exponential_map(log_phi)


FEATURE_MAPS: dict[str, FeatureMap] = {
    "elu+1": same_map(elu_plus_one),
    "relu": same_map(torch.relu),
    "squared-relu": same_map(lambda x: x.relu().square()),
    "exp": exponential_map(lambda x: x),
}


def find_feature_map(feature_map: str | FeatureMap | Callable[[Tensor], Tensor]) -> FeatureMap:
    """The map of that name, or the map itself; any function of one tensor serves for queries and keys alike.

    Raises:
        ValueError: the name is unknown, or what came is not a map.
    """
    if isinstance(feature_map, FeatureMap):
        return feature_map
    if isinstance(feature_map, str) and feature_map in FEATURE_MAPS:
        return FEATURE_MAPS[feature_map]
    if callable(feature_map):
        return same_map(feature_map)
    names = ", ".join(FEATURE_MAPS)
    raise ValueError(
        f"feature_map: got {feature_map!r}, needs one of {names}, or favor_features(...), or a function"
    )
