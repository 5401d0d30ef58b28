"""Linear attention: a state of fixed size, so that time grows as T, not T^2.

Softmax's kernel exp(q.k) is replaced by phi(q).phi(k), so keys and values can be summed
before any query comes. `FEATURE_MAPS` and `favor_features` are maps phi;
`linear_attention` computes one result in three forms; `LinearState` is what remains.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from coursepkg.validation import check_integer, describe

# exp(60) is about 1e26: large enough never to be met by trained keys, small enough that
# a float32 sum of a million such features times values stays finite. A bound that looks
# at other keys would let the future in.
MAX_EXPONENT = 60.0


@dataclass(frozen=True)
class FeatureMap:
    """Two maps (..., D) -> (..., F) with nonnegative values, for keys and for queries.

    They are the same function up to a positive factor for each query: that factor
    appears in the numerator and in the normaliser of linear attention and cancels, so
    exponential maps use it to keep exp() from overflowing.
    """

    keys: Callable[[Tensor], Tensor]
    queries: Callable[[Tensor], Tensor]


def same_map(phi: Callable[[Tensor], Tensor]) -> FeatureMap:
    """A feature map that treats queries and keys alike."""
    return FeatureMap(keys=phi, queries=phi)


def exponential_map(log_phi: Callable[[Tensor], Tensor]) -> FeatureMap:
    """phi(x) = exp(log_phi(x)), each query's largest exponent subtracted before.

    Keys get no such shift: a factor of its own for each key would not cancel, and one
    for all keys would depend on keys that a causal query must not see. Their exponents
    are cut at `MAX_EXPONENT` instead.
    """

    def keys(x: Tensor) -> Tensor:
        return log_phi(x).clamp(max=MAX_EXPONENT).exp()

    def queries(x: Tensor) -> Tensor:
        exponents = log_phi(x)
        return (exponents - exponents.detach().amax(dim=-1, keepdim=True)).exp()

    return FeatureMap(keys=keys, queries=queries)


def elu_plus_one(x: Float[Tensor, "... D"]) -> Float[Tensor, "... D"]:
    """phi(x) = elu(x) + 1: x + 1 where x > 0, exp(x) elsewhere.

    Written as exp(min(x, 0)) + max(x, 0), which keeps the small values that (exp(x) -
    1) + 1 rounds away.

    Source: Katharopoulos et al. 2020, "Transformers are RNNs", section 3.2 (arXiv
    2006.16236).
    """
    return x.clamp(max=0).exp() + x.relu()


def orthogonal_gaussian(n_rows: int, dim: int, seed: int) -> Float[Tensor, "F D"]:
    """Standard normal rows that are orthogonal within each block of `dim`.

    The directions come from the QR decomposition of a Gaussian matrix; the lengths are
    those of independent Gaussian vectors, so that every single row keeps the
    distribution N(0, I). Drawn in float64 on the CPU: one seed gives one matrix on
    every device.

    Source: Choromanski et al. 2021, section 2.4 (arXiv 2009.14794).
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(
            *shape, generator=generator, dtype=torch.float64, device="cpu"
        )

    blocks = []
    for _ in range(math.ceil(n_rows / dim)):
        basis, triangle = torch.linalg.qr(normal(dim, dim))
        # QR fixes columns only up to sign; the signs of the diagonal make the
        # directions uniform on the sphere.
        blocks.append((basis * triangle.diagonal().sign()).T)
    return torch.cat(blocks)[:n_rows] * normal(n_rows, dim).norm(dim=1, keepdim=True)


def favor_features(head_dim: int, n_features: int, seed: int = 0) -> FeatureMap:
    """FAVOR+: positive orthogonal random features, unbiased for the softmax kernel.

        phi(x) = exp(w_f . y - |y|^2 / 2) / sqrt(F),  f = 1..F,  y = x / D^(1/4)
        E[phi(q) . phi(k)] = exp(q . k / sqrt(D))

    Shapes: (..., D) -> (..., F). `n_features` is F; the variance of the estimate falls
    as 1 / F. The exponent is never above |w_f|^2 / 2.

    Raises:
        ValueError: `head_dim` or `n_features` is not a positive integer; the map is
            given another D.

    Source: Choromanski et al. 2021, "Rethinking Attention with Performers", lemma 1
    (arXiv 2009.14794).
    """
    for name, value in (("head_dim", head_dim), ("n_features", n_features)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: got {value!r}, needs a positive integer")
    directions = orthogonal_gaussian(n_features, head_dim, seed)

    def log_phi(x: Tensor) -> Tensor:
        if x.shape[-1] != head_dim:
            raise ValueError(
                f"feature_map: got head dim {x.shape[-1]}, needs {head_dim}"
                " (favor_features(head_dim, ...))"
            )
        y = x * head_dim**-0.25
        projected = y @ directions.to(device=x.device, dtype=x.dtype).T  # (..., F)
        return (
            projected
            - y.square().sum(dim=-1, keepdim=True) / 2
            - math.log(n_features) / 2
        )

    return exponential_map(log_phi)


FEATURE_MAPS: dict[str, FeatureMap] = {
    "elu+1": same_map(elu_plus_one),
    "relu": same_map(torch.relu),
    "squared-relu": same_map(lambda x: x.relu().square()),
    "exp": exponential_map(lambda x: x),
}


def find_feature_map(
    feature_map: str | FeatureMap | Callable[[Tensor], Tensor],
) -> FeatureMap:
    """The map of that name, the map itself, or one function for queries and keys.

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
        f"feature_map: got {feature_map!r}, needs one of {names}, or"
        " favor_features(...), or a function"
    )


MODES = ("parallel", "chunked", "recurrent")

# On a CPU the chunked form walks through the sequence in pieces of this many tokens,
# which stay in the cache: at T = 16,384 that is three times as fast as one pass. Other
# devices want all the work at once.
CPU_SEGMENT = 512


def checked_map(phi: FeatureMap) -> FeatureMap:
    """`phi` with every result checked: (..., D) -> (..., F), one F for both."""
    widths: set[int] = set()

    def checked(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        def run(x: Tensor) -> Tensor:
            features = function(x)
            _check_tensor("feature_map's result", features)
            if (
                features.shape[:-1] != x.shape[:-1]
                or features.ndim != x.ndim
                or features.dtype != x.dtype
            ):
                raise ValueError(
                    f"feature_map: got {tuple(features.shape)} of {features.dtype} for"
                    f" {tuple(x.shape)}, needs ({', '.join(map(str, x.shape[:-1]))}, F)"
                    f" of {x.dtype}"
                )
            widths.add(features.shape[-1])
            if len(widths) > 1:
                raise ValueError(
                    f"feature_map: got F of {sorted(widths)}, needs one F for queries"
                    " and keys"
                )
            return features

        return run

    return FeatureMap(keys=checked(phi.keys), queries=checked(phi.queries))


class LinearState(NamedTuple):
    """What linear attention remembers: sums over keys, of a size free of T.

    kv = sum_j phi(k_j) v_j^T (B, G, F, D) and k_sum = sum_j phi(k_j) (B, G, F). Kept in
    float32, or in float64 for float64 inputs.
    """

    kv: Tensor
    k_sum: Tensor


def parallel(
    phi_q: Float[Tensor, "B G R T F"],
    phi_k: Float[Tensor, "B G S F"],
    v: Float[Tensor, "B G S M"],
    state: Float[Tensor, "B G F M"],
    causal: bool,
) -> tuple[Float[Tensor, "B G R T M"], Float[Tensor, "B G F M"]]:
    """The kernel matrix written out, to read and to test against: O(T S)."""
    n_groups, n_queries = phi_q.shape[2:4]
    # (B, G, R T, F): the query heads of one kv head are more rows, not more keys.
    rows = phi_q.flatten(2, 3)
    kernel = (rows @ phi_k.mT).unflatten(2, (n_groups, n_queries))  # (B, G, R, T, S)
    if causal:
        kernel = kernel.tril()
    seen = kernel.flatten(2, 3) @ v + rows @ state
    return seen.unflatten(2, (n_groups, n_queries)), state + phi_k.mT @ v


def recurrent(
    phi_q: Float[Tensor, "B G R T F"],
    phi_k: Float[Tensor, "B G T F"],
    v: Float[Tensor, "B G T M"],
    state: Float[Tensor, "B G F M"],
) -> tuple[Float[Tensor, "B G R T M"], Float[Tensor, "B G F M"]]:
    """As an RNN: add phi(k_t) v_t^T to the state, then read it with phi(q_t)."""
    outputs = [phi_q.new_empty(*phi_q.shape[:3], 0, v.shape[-1])]
    for t in range(v.shape[2]):
        state = state + phi_k[:, :, t, :, None] * v[:, :, t, None, :]
        outputs.append((phi_q[:, :, :, t] @ state).unsqueeze(3))
    return torch.cat(outputs, dim=3), state


def chunked(
    phi_q: Float[Tensor, "B G R T F"],
    phi_k: Float[Tensor, "B G T F"],
    v: Float[Tensor, "B G T M"],
    state: Float[Tensor, "B G F M"],
    chunk_size: int,
) -> tuple[Float[Tensor, "B G R T M"], Float[Tensor, "B G F M"]]:
    """The kernel matrix within each chunk of C tokens, the state for those before.

        O_n = tril(Q_n K_n^T) V_n + Q_n S_n,   S_n = S_0 + sum_{m < n} K_m^T V_m

    Source: Hua et al. 2022 (arXiv 2202.10447); Yang et al. 2024, section 2.2 (arXiv
    2312.06635).
    """
    n_groups, n_tokens = phi_q.shape[2:4]
    size = min(chunk_size, max(n_tokens, 1))
    n_chunks = math.ceil(n_tokens / size)
    missing = n_chunks * size - n_tokens
    if missing:  # keys of zeros at the end add nothing to any sum
        phi_q, phi_k, v = (F.pad(x, (0, 0, 0, missing)) for x in (phi_q, phi_k, v))
    # (B, G, R, N C, F) -> (B, G, N, R C, F)
    q = phi_q.unflatten(3, (n_chunks, size)).transpose(2, 3).flatten(3, 4)
    k = phi_k.unflatten(2, (n_chunks, size))  # (B, G, N, C, F)
    v = v.unflatten(2, (n_chunks, size))  # (B, G, N, C, M)

    # (B, G, N + 1, F, M): the state before each chunk, and the last.
    states = torch.cat([state.unsqueeze(2), k.mT @ v], dim=2).cumsum(dim=2)
    # (B, G, N, R C, C), where tril needs the R heads apart.
    within = (q @ k.mT).unflatten(3, (n_groups, size)).tril().flatten(3, 4)
    seen = within @ v + q @ states[:, :, :-1]
    # (B, G, N, R C, M) -> (B, G, R, N C, M)
    seen = seen.unflatten(3, (n_groups, size)).transpose(2, 3).flatten(3, 4)
    return seen[:, :, :, :n_tokens], states[:, :, -1]


def normalise(seen: Float[Tensor, "... T M"]) -> Float[Tensor, "... T D"]:
    """Divide by the last column; a row whose normaliser is zero becomes zeros."""
    normaliser = seen[..., -1:]
    return seen[..., :-1] / normaliser.masked_fill(normaliser == 0, math.inf)


def one_pass(
    q: Float[Tensor, "B G R T D"],
    k: Float[Tensor, "B G S D"],
    v: Float[Tensor, "B G S Dv"],
    state: Float[Tensor, "B G F M"],
    phi: FeatureMap,
    mode: str,
    causal: bool,
    chunk_size: int,
) -> tuple[Float[Tensor, "B G R T Dv"], Float[Tensor, "B G F M"]]:
    """Features, one of the three forms, the normaliser; and the state afterwards."""
    phi_q, phi_k = phi.queries(q), phi.keys(k)
    # A column of ones beside the values turns one weighted sum into output and
    # normaliser: M = D + 1.
    values = F.pad(v, (0, 1), value=1.0)
    if mode == "parallel":
        seen, state = parallel(phi_q, phi_k, values, state, causal)
    elif not causal:
        state = state + phi_k.mT @ values
        seen = (phi_q.flatten(2, 3) @ state).unflatten(2, phi_q.shape[2:4])
    elif mode == "chunked":
        seen, state = chunked(phi_q, phi_k, values, state, chunk_size)
    else:
        seen, state = recurrent(phi_q, phi_k, values, state)
    return normalise(seen), state


def linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    feature_map: str | FeatureMap | Callable[[Tensor], Tensor] = "elu+1",
    mode: str = "chunked",
    causal: bool = True,
    chunk_size: int = 64,
    state: LinearState | None = None,
    return_state: bool = False,
) -> Tensor | tuple[Tensor, LinearState]:
    """Attention with the kernel phi(q).phi(k) in place of exp(q.k / sqrt(D)).

        o_i = phi(q_i)^T (sum_j phi(k_j) v_j^T) / (phi(q_i)^T sum_j phi(k_j))

    with j <= i if causal.

    Args:
        q: queries (B, H, T, D).
        k: keys (B, G, S, D), with H a multiple of G.
        v: values (B, G, S, D); their last dimension may differ from D.
        feature_map: a name of `FEATURE_MAPS`, `favor_features(...)`, or a function
            (..., D) -> (..., F).
        mode: how the same numbers are computed: `parallel` O(T S D), with the kernel
            matrix; `chunked` O(T (C + D) D); `recurrent` O(T D^2), token by token.
            Without `causal` the last two are the same two matrix products.
        causal: query i sees key j only if j <= i; needs T = S.
        chunk_size: C, tokens in a chunk of `chunked`; it changes the speed and not the
            result.
        state: sums over earlier keys, which every query sees too.
        return_state: also return the state after these keys, to be handed to the next
            call.

    Returns:
        output (B, H, T, D) in q's dtype, and the `LinearState` if asked for. Sums are
        taken in float32, or in float64 for float64 inputs. A row whose normaliser is
        zero is zero.

    Raises:
        ValueError: an argument is malformed, or `causal` comes with T != S.

    Source: Katharopoulos et al. 2020, "Transformers are RNNs", sections 3.2 to 3.4
    (arXiv 2006.16236).
    """
    _check_options(mode, chunk_size)
    chunk_size = int(chunk_size)
    _check_inputs(q, k, v, causal)
    phi = checked_map(find_feature_map(feature_map))
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    grouped = q.unflatten(1, (k.shape[1], q.shape[1] // k.shape[1]))  # (B, G, R, T, D)
    length = max(q.shape[2], k.shape[2], 1)
    if mode == "chunked" and causal and q.device.type == "cpu":
        length = math.ceil(CPU_SEGMENT / chunk_size) * chunk_size

    outputs = []
    # Autocast would take the sums in half precision.
    with torch.autocast(q.device.type, enabled=False):
        sums = _initial_sums(state, phi.keys(k[:, :, :0].to(dtype)), v)
        pieces = (grouped.split(length, 3), k.split(length, 2), v.split(length, 2))
        for piece in zip(*pieces, strict=True):
            q_piece, k_piece, v_piece = (x.to(dtype) for x in piece)
            output, sums = one_pass(
                q_piece, k_piece, v_piece, sums, phi, mode, causal, chunk_size
            )
            outputs.append(output.to(q.dtype))
    merged = torch.cat(outputs, dim=3).flatten(1, 2)  # (B, H, T, D)
    last = LinearState(sums[..., :-1], sums[..., -1])
    return (merged, last) if return_state else merged


def linear_step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    state: LinearState | None = None,
    *,
    feature_map: str | FeatureMap | Callable[[Tensor], Tensor] = "elu+1",
) -> tuple[Tensor, LinearState]:
    """One token of generation: O(D^2) time whatever came before, no growing cache.

    q (B, H, 1, D), k and v (B, G, 1, D); `state` is None for the first token. Returns
    the output (B, H, 1, D) and the next state.

    Raises:
        ValueError: more than one token came, or an argument is malformed.
    """
    if isinstance(q, Tensor) and q.ndim == 4 and q.shape[2] != 1:
        raise ValueError(
            f"q: got {q.shape[2]} tokens, needs 1 (linear_attention takes more)"
        )
    output, state = linear_attention(
        q,
        k,
        v,
        feature_map=feature_map,
        mode="recurrent",
        state=state,
        return_state=True,
    )
    return output, state


def _initial_sums(state: LinearState | None, phi_k: Tensor, v: Tensor) -> Tensor:
    """The state as one tensor (B, G, F, D + 1), k_sum as its last column."""
    shape = (v.shape[0], v.shape[1], phi_k.shape[-1], v.shape[-1])
    if state is None:
        return phi_k.new_zeros(*shape[:3], shape[3] + 1)
    if not isinstance(state, LinearState):
        raise ValueError(
            f"state: got {describe(state)}, needs the LinearState of an earlier call"
        )
    for name, tensor, needed in (
        ("kv", state.kv, shape),
        ("k_sum", state.k_sum, shape[:3]),
    ):
        _check_tensor(f"state.{name}", tensor)
        if tuple(tensor.shape) != needed or tensor.device != v.device:
            raise ValueError(
                f"state.{name}: got {tuple(tensor.shape)} on {tensor.device}, needs (B,"
                f" G, F, D)[:{len(needed)}] = {needed} on {v.device}"
            )
    return torch.cat([state.kv, state.k_sum.unsqueeze(-1)], dim=-1).to(phi_k.dtype)


def _check_options(mode: str, chunk_size: int) -> None:
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"mode: got {describe(mode)}, needs one of {', '.join(MODES)}")
    check_integer("chunk_size", chunk_size, least=1)


def _check_inputs(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> None:
    _check_grouped_heads(q, k, v)
    if causal and q.shape[2] != k.shape[2]:
        raise ValueError(
            f"causal: got {q.shape[2]} queries and {k.shape[2]} keys, needs as many of"
            " both (earlier keys come in through state)"
        )


def _check_grouped_heads(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, tensor, shape in (
        ("q", q, "(B, H, T, D)"),
        ("k", k, "(B, G, S, D)"),
        ("v", v, "(B, G, S, D)"),
    ):
        _check_tensor(name, tensor)
        if tensor.ndim != 4 or not tensor.is_floating_point():
            raise ValueError(
                f"{name}: got {tuple(tensor.shape)} of {tensor.dtype}, needs {shape} of"
                " a float dtype"
            )
        if (tensor.dtype, tensor.device) != (q.dtype, q.device):
            raise ValueError(
                f"{name}: got {tensor.dtype} on {tensor.device}, needs q's {q.dtype} on"
                f" {q.device}"
            )
    if k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3]:
        raise ValueError(
            f"k: got {tuple(k.shape)}, needs q's batch {q.shape[0]} and head dim"
            f" {q.shape[3]}"
        )
    if v.shape[:3] != k.shape[:3]:
        raise ValueError(
            f"v: got {tuple(v.shape)}, needs k's (B, G, S) = {tuple(k.shape[:3])}"
        )
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise ValueError(
            f"k: got {k.shape[1]} heads, needs a divisor of q's {q.shape[1]} heads"
        )


def _check_tensor(name: str, x: object) -> None:
    if not isinstance(x, Tensor):
        raise ValueError(f"{name}: got {describe(x)}, needs a tensor")
