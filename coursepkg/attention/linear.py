"""Linear attention: keys and values are summed into a state of fixed size, so that time grows as T, not T^2."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from coursepkg.arguments import describe
from coursepkg.attention.features import FeatureMap, find_feature_map
from coursepkg.attention.input_checks import (
    check_grouped_heads,
    check_integer,
    check_tensor,
    checked_map,
)

MODES = ("parallel", "chunked", "recurrent")

# On a CPU the chunked form walks through the sequence in pieces of this many tokens, which stay in the cache:
# at T = 16,384 that is three times as fast as one pass. Other devices want all the work at once.
CPU_SEGMENT = 512


class LinearState(NamedTuple):
    """All that linear attention remembers of the past: a sum over keys, whose size does not depend on T.

    kv = sum_j phi(k_j) v_j^T (B, G, F, D) and k_sum = sum_j phi(k_j) (B, G, F). Kept in float32, or in
    float64 for float64 inputs.
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
    """The kernel matrix written out, to be read and tested against: O(T S) time and memory."""
    n_groups, n_queries = phi_q.shape[2:4]
    rows = phi_q.flatten(2, 3)  # (B, G, R T, F): the query heads of one kv head are more rows, not more keys
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
    """One token after the other, as an RNN: add phi(k_t) v_t^T to the state, then read it with phi(q_t)."""
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
    """Chunks of C tokens: the kernel matrix within a chunk, the state of all earlier chunks for the rest.

        O_n = tril(Q_n K_n^T) V_n + Q_n S_n,   S_n = S_0 + sum_{m < n} K_m^T V_m

    Source: Hua et al. 2022 (arXiv 2202.10447); Yang et al. 2024, section 2.2 (arXiv 2312.06635).
    """
    n_groups, n_tokens = phi_q.shape[2:4]
    size = min(chunk_size, max(n_tokens, 1))
    n_chunks = math.ceil(n_tokens / size)
    missing = n_chunks * size - n_tokens
    if missing:  # keys of zeros at the end add nothing to any sum
        phi_q, phi_k, v = (F.pad(x, (0, 0, 0, missing)) for x in (phi_q, phi_k, v))
    q = phi_q.unflatten(3, (n_chunks, size)).transpose(2, 3).flatten(3, 4)  # (B, G, N, R C, F)
    k = phi_k.unflatten(2, (n_chunks, size))  # (B, G, N, C, F)
    v = v.unflatten(2, (n_chunks, size))  # (B, G, N, C, M)

    states = torch.cat([state.unsqueeze(2), k.mT @ v], dim=2).cumsum(dim=2)  # (B, G, N + 1, F, M)
    within = (q @ k.mT).unflatten(3, (n_groups, size)).tril().flatten(3, 4)  # (B, G, N, R C, C)
    seen = within @ v + q @ states[:, :, :-1]
    seen = seen.unflatten(3, (n_groups, size)).transpose(2, 3).flatten(3, 4)  # (B, G, R, N C, M)
    return seen[:, :, :, :n_tokens], states[:, :, -1]


def normalise(seen: Float[Tensor, "... T M"]) -> Float[Tensor, "... T D"]:
    """Divide by the last column, phi(q)^T sum_j phi(k_j); a row whose normaliser is zero becomes zeros."""
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
    """Features, then one of the three forms, then the normaliser; also returns the state after these keys."""
    phi_q, phi_k = phi.queries(q), phi.keys(k)
    # A column of ones beside the values turns one weighted sum into output and normaliser: M = D + 1.
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

        o_i = phi(q_i)^T (sum_j phi(k_j) v_j^T) / (phi(q_i)^T sum_j phi(k_j)),   j <= i if causal

    Args:
        q: queries (B, H, T, D).
        k: keys (B, G, S, D), with H a multiple of G.
        v: values (B, G, S, D); their last dimension may differ from D.
        feature_map: a name of `FEATURE_MAPS`, `favor_features(...)`, or a function (..., D) -> (..., F).
        mode: how the same numbers are computed: `parallel` O(T S D), with the kernel matrix; `chunked`
            O(T (C + D) D); `recurrent` O(T D^2), token by token. Without `causal` the last two are the same two
            matrix products.
        causal: query i sees key j only if j <= i; needs T = S.
        chunk_size: C, tokens in a chunk of `chunked`; it changes the speed and not the result.
        state: sums over earlier keys, which every query sees too.
        return_state: also return the state after these keys, to be handed to the next call.

    Returns:
        output (B, H, T, D) in q's dtype, and the `LinearState` if asked for. Sums are taken in float32, or in
        float64 for float64 inputs. A row whose normaliser is zero is zero.

    Raises:
        ValueError: an argument is malformed, or `causal` comes with T != S.

    Source: Katharopoulos et al. 2020, "Transformers are RNNs", sections 3.2 to 3.4 (arXiv 2006.16236).
    """
    _check_options(mode, chunk_size)
    _check_inputs(q, k, v, causal)
    phi = checked_map(find_feature_map(feature_map))
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    grouped = q.unflatten(1, (k.shape[1], q.shape[1] // k.shape[1]))  # (B, G, R, T, D)
    length = max(q.shape[2], k.shape[2], 1)
    if mode == "chunked" and causal and q.device.type == "cpu":
        length = math.ceil(CPU_SEGMENT / chunk_size) * chunk_size

    outputs = []
    with torch.autocast(q.device.type, enabled=False):  # autocast would take the sums in half precision
        sums = _initial_sums(state, phi.keys(k[:, :, :0].to(dtype)), v)
        pieces = zip(grouped.split(length, 3), k.split(length, 2), v.split(length, 2), strict=True)
        for piece in pieces:
            q_piece, k_piece, v_piece = (x.to(dtype) for x in piece)
            output, sums = one_pass(q_piece, k_piece, v_piece, sums, phi, mode, causal, chunk_size)
            outputs.append(output.to(q.dtype))
    merged = torch.cat(outputs, dim=3).flatten(1, 2)  # (B, H, T, D)
    return (merged, LinearState(sums[..., :-1], sums[..., -1])) if return_state else merged


def linear_step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    state: LinearState | None = None,
    *,
    feature_map: str | FeatureMap | Callable[[Tensor], Tensor] = "elu+1",
) -> tuple[Tensor, LinearState]:
    """One token of generation: O(D^2) time whatever came before, with no cache that grows.

    q (B, H, 1, D), k and v (B, G, 1, D); `state` is None for the first token. Returns the output (B, H, 1, D)
    and the next state.

    Raises:
        ValueError: more than one token came, or an argument is malformed.
    """
    if isinstance(q, Tensor) and q.ndim == 4 and q.shape[2] != 1:
        raise ValueError(f"q: got {q.shape[2]} tokens, needs 1 (linear_attention takes more)")
    output, state = linear_attention(
        q, k, v, feature_map=feature_map, mode="recurrent", state=state, return_state=True
    )
    return output, state


def _initial_sums(state: LinearState | None, phi_k: Tensor, v: Tensor) -> Tensor:
    """The state as one tensor (B, G, F, D + 1), with k_sum as its last column; zeros where there is none."""
    shape = (v.shape[0], v.shape[1], phi_k.shape[-1], v.shape[-1])
    if state is None:
        return phi_k.new_zeros(*shape[:3], shape[3] + 1)
    if not isinstance(state, LinearState):
        raise ValueError(f"state: got {describe(state)}, needs the LinearState of an earlier call")
    for name, tensor, needed in (("kv", state.kv, shape), ("k_sum", state.k_sum, shape[:3])):
        check_tensor(f"state.{name}", tensor)
        if tuple(tensor.shape) != needed or tensor.device != v.device:
            raise ValueError(
                f"state.{name}: got {tuple(tensor.shape)} on {tensor.device}, needs (B, G, F, D)[:{len(needed)}] "
                f"= {needed} on {v.device}"
            )
    return torch.cat([state.kv, state.k_sum.unsqueeze(-1)], dim=-1).to(phi_k.dtype)


def _check_options(mode: str, chunk_size: int) -> None:
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"mode: got {describe(mode)}, needs one of {', '.join(MODES)}")
    check_integer("chunk_size", chunk_size)
    if chunk_size < 1:
        raise ValueError(f"chunk_size: got {chunk_size}, needs at least 1")


def _check_inputs(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> None:
    check_grouped_heads(q, k, v)
    if causal and q.shape[2] != k.shape[2]:
        raise ValueError(
            f"causal: got {q.shape[2]} queries and {k.shape[2]} keys, needs as many of both "
            "(earlier keys come in through state)"
        )
