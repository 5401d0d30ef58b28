"""Sequence to sequence with GRUs, with and without attention.

The encoder reads the source; its last state starts the decoder, which predicts the
target token by token. Without attention that one vector is all the decoder knows of the
source (Sutskever et al., arXiv 1409.3215; Cho et al., arXiv
1406.1078). With attention each decoder output also looks back at every encoder output.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from coursepkg.attention.additive import AdditiveAttention, MultiplicativeAttention
from coursepkg.blocks.cache import Memory, check_padding, real_tokens
from coursepkg.blocks.recurrent import (
    GRUCell,
    RecurrentState,
    State,
    check_lengths,
    unroll,
)
from coursepkg.text.vocabulary import PAD
from coursepkg.validation import check_counts, use_python_numbers

ATTENTIONS = ("none", "additive", "dot", "general", "concat")


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Sizes of a `GRUSeq2Seq`.

    With 3,000 tokens on each side the defaults are the baseline of the Olympiad
    tutorials: 919,992 parameters.
    """

    source_vocab: int
    """Source vocabulary, special tokens included."""
    target_vocab: int
    """Target vocabulary, special tokens included (V)."""
    d_embedding: int = 64
    """Width of both embeddings."""
    d_hidden: int = 128
    """Width of both GRUs."""
    dropout_p: float = 0.3
    """Probability of dropping a component of an embedding, in training mode only."""
    attention: str = "none"
    """One of `ATTENTIONS`: Bahdanau's additive score, one of Luong's three, or none."""

    def __post_init__(self) -> None:
        sizes = ("source_vocab", "target_vocab", "d_embedding", "d_hidden")
        check_counts(**{name: getattr(self, name) for name in sizes})
        use_python_numbers(self)
        if not 0.0 <= self.dropout_p < 1.0:
            raise ValueError(
                f"dropout_p must be at least 0 and below 1, got {self.dropout_p}"
            )
        if self.attention not in ATTENTIONS:
            raise ValueError(
                f"attention must be one of {', '.join(ATTENTIONS)}, got"
                f" {self.attention!r}"
            )


class GRUSeq2Seq(nn.Module):
    """GRU encoder and GRU decoder, an embedding for each side, an output layer.

    With attention the decoder's output s_t and its context c_t make h_t = tanh(W [c_t;
    s_t]) before the output layer (Luong et al., arXiv 1508.04025, section 3).
    Bahdanau's own decoder (arXiv 1409.0473) computes the context from the state before
    and feeds it into the GRU; here both scores share one decoder, so that only the
    score differs, and all target positions of a training batch are attended at once.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        width, hidden = config.d_embedding, config.d_hidden
        self.source_embedding = nn.Embedding(
            config.source_vocab, width, padding_idx=PAD
        )
        self.target_embedding = nn.Embedding(
            config.target_vocab, width, padding_idx=PAD
        )
        self.dropout = nn.Dropout(config.dropout_p)
        self.encoder = GRUCell(width, hidden)
        self.decoder = GRUCell(width, hidden)
        self.attention = _make_attention(config.attention, hidden)
        self.combine = (
            nn.Linear(2 * hidden, hidden, bias=False) if self.attention else None
        )
        self.output = nn.Linear(hidden, config.target_vocab)

    def forward(self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor) -> Tensor:
        """Teacher forcing: predict each next token from the true tokens before it.

        Args:
            src: source ids (B, S), padded behind their ends.
            src_lengths: (B,) real tokens of each source, at least 1.
            tgt_in: target ids (B, T) that begin with BOS; padding behind their ends
                changes no earlier position.

        Returns:
            logits (B, T, V); position t predicts what follows tgt_in[:, t].

        Raises:
            ValueError: shapes do not fit. No value is read: `check_inputs` does that.
        """
        _check_shape("tgt_in", tgt_in)
        if tgt_in.shape[0] != src.shape[0]:
            raise ValueError(
                f"src and tgt_in must have one batch size, got {src.shape[0]} and"
                f" {tgt_in.shape[0]}"
            )
        memory, state = self.encode(src, src_lengths)
        logits, _, _ = self.decode(tgt_in, state, memory)
        return logits

    def encode(self, src: Tensor, src_lengths: Tensor) -> tuple[Memory, State]:
        """src (B, S), src_lengths (B,) -> what the decoder looks at, and its state."""
        _check_shape("src", src)
        embedded = self.dropout(self.source_embedding(src))
        outputs, state = unroll(self.encoder, embedded, src_lengths)
        ends = src_lengths[:, None].to(src.device)
        is_real = torch.arange(src.shape[1], device=src.device) < ends  # (B, S)
        return Memory(outputs, is_real), state

    def check_inputs(
        self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor | None = None
    ) -> None:
        """Raises a ValueError unless ids and lengths are what `forward` is made for.

        A door for what comes from outside; `start` and `greedy` pass through it.
        """
        _check_ids("src", src, self.config.source_vocab)
        if tgt_in is not None:
            _check_ids("tgt_in", tgt_in, self.config.target_vocab)
        if src_lengths.numel() and int(src_lengths.min()) < 1:
            raise ValueError(
                f"src_lengths must be at least 1, got {src_lengths.tolist()}"
            )
        check_lengths(src_lengths, src.shape[1])

    def decode(
        self, tokens: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, State, Tensor | None]:
        """Some more steps of the decoder.

        Args:
            tokens: ids (B, T), one or many steps.
            state: the state after the steps before.
            memory: the encoded source.

        Returns:
            logits (B, T, V), the state after these steps, and attention weights (B, T,
            S) or None without attention.
        """
        embedded = self.dropout(self.target_embedding(tokens))
        hidden, state = unroll(self.decoder, embedded, state=state)
        if self.attention is None or self.combine is None:
            return self.output(hidden), state, None
        context, weights = self.attention(
            hidden, memory.outputs, key_padding_mask=memory.is_real
        )
        hidden = torch.tanh(self.combine(torch.cat([context, hidden], dim=-1)))
        return self.output(hidden), state, weights

    @torch.no_grad()
    def start(self, src: Tensor, *, max_len: int) -> RecurrentState:
        """Encode the source for decoding step by step, as `Transformer.start` does.

        Raises:
            ValueError: src does not fit, or max_len is below 1.
        """
        if max_len < 1:
            raise ValueError(f"max_len must be at least 1, got {max_len}")
        lengths = real_tokens(src)[1]
        _check_ids("src", src, self.config.source_vocab)
        check_padding("src", src)
        memory, state = self.encode(src, lengths)
        return RecurrentState(
            self._next_logits, self.config.target_vocab, state, memory, max_len
        )

    def _next_logits(
        self, tokens: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, State]:
        """Tokens (N, T), the state before -> logits (N, V) of what follows, state."""
        logits, state, _ = self.decode(tokens, state, memory)
        return logits[:, -1], state

    @torch.no_grad()
    def greedy(
        self, src: Tensor, src_lengths: Tensor, bos: int, eos: int, max_len: int
    ) -> tuple[Tensor, Tensor | None]:
        """Translate by taking the most probable token at each step.

        Runs in the module's present mode: call `eval()` first, or dropout changes the
        result.

        Args:
            src: source ids (B, S).
            src_lengths: (B,) real tokens of each source.
            bos: id that starts a target.
            eos: id that ends it.
            max_len: most tokens to produce, the end token included.

        Returns:
            ids (B, L), without BOS, with EOS, then PAD; L is the longest result. And
            the attention weights (B, L, S), zero behind a result's end, or None without
            attention.

        Raises:
            ValueError: max_len is below 1, or shapes, lengths or ids do not fit.
        """
        if max_len < 1:
            raise ValueError(f"max_len must be at least 1, got {max_len}")
        self.check_inputs(src, src_lengths)
        memory, state = self.encode(src, src_lengths)
        token = torch.full_like(src[:, :1], bos)
        # (B, 1): EOS has not come yet.
        is_open = torch.ones_like(token, dtype=torch.bool)
        found, looked_at = [], []
        for _ in range(max_len):
            logits, state, weights = self.decode(token, state, memory)
            token = torch.where(is_open, logits.argmax(dim=-1), PAD)
            found.append(token)
            if weights is not None:
                looked_at.append(weights * is_open[..., None])
            is_open = is_open & (token != eos)
            if not is_open.any():
                break
        weights = torch.cat(looked_at, dim=1) if looked_at else None
        return torch.cat(found, dim=1), weights


def _make_attention(
    score: str, d_hidden: int
) -> AdditiveAttention | MultiplicativeAttention | None:
    if score == "none":
        return None
    if score == "additive":
        return AdditiveAttention(d_hidden, d_hidden, d_hidden)
    return MultiplicativeAttention(d_hidden, d_hidden, score)


def _check_shape(name: str, ids: Tensor) -> None:
    if ids.dim() != 2 or not ids.numel() or ids.is_floating_point():
        raise ValueError(
            f"{name} must be ids (B, length), got {ids.dtype} {tuple(ids.shape)}"
        )


def _check_ids(name: str, ids: Tensor, vocab: int) -> None:
    _check_shape(name, ids)
    if int(ids.min()) < 0 or int(ids.max()) >= vocab:
        raise ValueError(
            f"{name} must hold ids in 0..{vocab - 1}, got"
            f" {int(ids.min())}..{int(ids.max())}"
        )
