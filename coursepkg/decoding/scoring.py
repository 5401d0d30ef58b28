"""Log-probabilities of given sequences, in one batch under teacher forcing.

Decoding finds a sequence; scoring tells what a model thinks of one that is there already: a reference, a sample, or
the hypothesis of another model that is to be reranked.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from coursepkg.arguments import check_count
from coursepkg.text.vocabulary import BOS, EOS, PAD

Predict = Callable[[Tensor], Tensor]
"""Target inputs (B, T), padded behind their ends -> logits (B, T, V): a `LanguageModel`, or an encoder-decoder whose
source is given, as `lambda tgt_in: model(src, tgt_in)`."""


@torch.no_grad()
def token_log_probs(
    predict: Predict,
    targets: Sequence[Sequence[int]],
    *,
    bos: int = BOS,
    eos: int | None = EOS,
    device: torch.device | str = "cpu",
) -> Tensor:
    """log p(y_t | y_<t) of every token of given sequences: log p(y) is the sum over a row.

    Args:
        predict: the model, in eval mode; see `Predict`.
        targets: B lists of ids, without BOS and EOS; a list may be empty.
        bos: put in front of every input.
        eos: counted as the last token of every target; None leaves it out (sequences that were cut off).
        device: where the model computes.

    Returns:
        (B, T) natural logarithms; T is the longest target, EOS included; 0 behind the end of a shorter one.

    Raises:
        ValueError: no targets, an id outside the vocabulary, or the model returns something else than logits.
    """
    if not len(targets):
        raise ValueError("targets must hold at least one sequence, got none")
    check_count("bos", bos, least=0)
    ends = [] if eos is None else [eos]
    rows = [[*target, *ends] for target in targets]
    longest = max(len(row) for row in rows)
    if not longest:
        return torch.zeros(len(rows), 0, device=device)
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows], device=device)
    is_real = torch.arange(longest, device=device) < torch.tensor([[len(row)] for row in rows], device=device)
    if int(ids.min()) < 0:
        raise ValueError(f"targets must hold ids of at least 0, got {int(ids.min())}")
    logits = predict(torch.cat([torch.full_like(ids[:, :1], bos), ids[:, :-1]], dim=1))
    if logits.shape[:-1] != ids.shape or not logits.is_floating_point():
        raise ValueError(
            f"predict must return logits {(*ids.shape, 'V')}, got {logits.dtype} {tuple(logits.shape)}"
        )
    if int(ids.max()) >= logits.shape[-1]:
        raise ValueError(f"targets must hold ids below V = {logits.shape[-1]}, got {int(ids.max())}")
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    found = logits.log_softmax(dim=-1).gather(-1, ids[..., None])[..., 0]
    return found.masked_fill(~is_real, 0.0)
