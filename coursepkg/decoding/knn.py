"""kNN-MT: a model looks up the training sentences at places like this one.

    p(v | x) = (1 - w) p_model(v | x) + w p_kNN(v | x)
    p_kNN(v | x) in proportion to the sum of exp(-d^2 / T) over those of the k nearest
    keys whose value is v

x is the decoder's last hidden state, which the output projection turns into logits. The
datastore holds one such state for every target token of the training part, as the key,
and that token as the value. d is the Euclidean distance of x to a key. Nothing is
trained: what the weights have forgotten, the datastore still has.

Source: Khandelwal et al., "Nearest Neighbor Machine Translation" (arXiv 2010.00710),
section 2.
"""

import copy
import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import TextBatch
from coursepkg.decoding.beam import top_continuations
from coursepkg.text.vocabulary import PAD
from coursepkg.training.engine import native_precision
from coursepkg.validation import check_count, check_finite

M = TypeVar("M", Transformer, LanguageModel)

CANDIDATES = 4
"""Keys for each of the k that a product with rounded numbers picks out; exact distances
choose among these.
"""
SCORES_AT_ONCE = 2**25
"""Products of states and keys in memory at a time: 64 MB in bfloat16."""


def check_knn_settings(weight: float, temperature: float, k: int, n_keys: int) -> None:
    """Raises a ValueError unless weight, temperature and k are in range."""
    check_finite("weight", weight)
    check_finite("temperature", temperature)
    if not 0 <= weight <= 1:
        raise ValueError(f"weight must be in [0, 1], got {weight}")
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    check_count("k", k, most=n_keys)


class KnnOutput(nn.Module):
    """An output projection that mixes the model with its nearest neighbours.

    The k nearest keys are found in two steps. -d^2 / 2 is x . key - |key|^2 / 2 up to a
    number that is the same for all keys, so that one matrix product ranks them; where
    the machine has it, in bfloat16. Among the best of that product exact distances
    choose.

    Args:
        project: the model's own projection, states (..., E) -> logits (..., V); see
            `own_output`.
        keys: hidden states (N, E), float32 or float16.
        values: the token that followed each (N,), integers in 0..V-1.
        weight: w of the neighbours, in [0, 1]; 0 leaves the model as it is.
        temperature: T in units of a squared distance, above 0.
        k: neighbours, in 1..N.

    Raises:
        ValueError: a setting is out of range, or keys and values do not belong
            together.
    """

    keys: Tensor
    values: Tensor
    _ranked: Tensor
    _offset: Tensor

    def __init__(
        self,
        project: Callable[[Tensor], Tensor],
        keys: Tensor,
        values: Tensor,
        *,
        weight: float,
        temperature: float,
        k: int,
    ) -> None:
        super().__init__()
        if keys.ndim != 2 or values.shape != keys.shape[:1]:
            raise ValueError(
                f"keys must be (N, E) and values (N,), got {tuple(keys.shape)} and"
                f" {tuple(values.shape)}"
            )
        check_knn_settings(weight, temperature, k, len(keys))
        self.project, self.k = project, k
        self.weight, self.temperature = weight, temperature
        self.register_buffer("keys", keys, persistent=False)
        self.register_buffer("values", values.long(), persistent=False)
        # The product reads all keys at every step; the model's own weights have no part
        # in its precision.
        dtype = torch.bfloat16 if native_precision() == "bf16-mixed" else torch.float32
        parts = [part.float().square().sum(dim=1) for part in keys.split(65_536)]
        norms = torch.cat(parts)  # (N,)
        self.register_buffer("_ranked", keys.to(dtype), persistent=False)
        self.register_buffer("_offset", (-norms / 2).to(dtype), persistent=False)
        self._chunk = max(1, SCORES_AT_ONCE // len(keys))

    def forward(self, x: Tensor) -> Tensor:
        """States (..., E) -> log-probabilities (..., V), each row normalised."""
        own = self.project(x).log_softmax(dim=-1)
        if self.weight == 0:
            return own
        found = torch.zeros_like(own).reshape(-1, own.shape[-1])
        rows = x.reshape(-1, x.shape[-1])
        chunks = rows.split(self._chunk), found.split(self._chunk)
        for part, into in zip(*chunks, strict=True):
            distances, places = self.nearest(part)
            shares = (-distances / self.temperature).softmax(dim=-1)
            into.scatter_add_(1, self.values[places], shares.to(own.dtype))
        theirs = found.log().view_as(own) + math.log(self.weight)
        if self.weight == 1:
            return theirs
        return torch.logaddexp(own + math.log1p(-self.weight), theirs)

    def nearest(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Squared distances (R, k) of states (R, E) to the nearest keys, and which."""
        rounded = rows.to(self._ranked.dtype)
        scores = torch.addmm(self._offset, rounded, self._ranked.T)  # (R, N)
        count = min(CANDIDATES * self.k, len(self.keys))
        _, _, places = top_continuations(scores, scores.new_zeros(len(rows), 1), count)
        near = self.keys[places].to(rows.dtype)  # (R, C, E)
        exact = (near - rows[:, None]).square().sum(dim=-1)
        distances, best = exact.topk(self.k, dim=-1, largest=False)
        return distances, places.gather(1, best)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        shown = f"{len(self.keys)} keys, weight={self.weight}"
        return f"{shown}, temperature={self.temperature}, k={self.k}"


def own_output(model: Transformer | LanguageModel) -> Callable[[Tensor], Tensor]:
    """The output projection of a model: states (..., E) -> logits (..., V)."""
    if model.output_head is not None:
        return model.output_head
    return partial(F.linear, weight=model.output_weight, bias=model.output_bias)


def with_output(model: M, head: nn.Module) -> M:
    """A copy of a model with another output projection; the layers are shared.

    Args:
        model: stays as it is.
        head: states (..., E) -> what the copy returns and decodes by, log-probabilities
            (..., V) such as those of `KnnOutput`.
    """
    changed = copy.copy(model)
    # A plain copy would share the table, and change the model, too.
    changed._modules = dict(model._modules)
    changed.output_head = head
    return changed


@torch.no_grad()
def record_states(
    model: Transformer,
    batches: Iterable[TextBatch],
    *,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:
    """The hidden state at every target position, and the true token that follows.

    Args:
        model: decodes in evaluation mode and goes back to the mode it came in.
        batches: sentence pairs; padding is left out.
        dtype: of the keys.

    Returns:
        keys (N, E) and values (N,) on the CPU, EOS included as a value.

    Raises:
        ValueError: there is no batch.
    """
    bare = with_output(model, nn.Identity())
    device, was_training = model.target_embedding.weight.device, model.training
    keys, values = [], []
    model.eval()
    try:
        for batch in batches:
            here = batch.to(device)
            is_real = here.tgt_out != PAD
            keys.append(bare(here.src, here.tgt_in)[is_real].to("cpu", dtype))
            values.append(here.tgt_out[is_real].cpu())
    finally:
        model.train(was_training)
    if not keys:
        raise ValueError("batches must hold at least one batch, got none")
    return torch.cat(keys), torch.cat(values)
