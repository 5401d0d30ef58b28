"""Tiny random models in float64: Transformers of several kinds, GRUs, language models; cached and recomputed states."""

import torch
from torch import Tensor, nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.seq2seq import GRUSeq2Seq, Seq2SeqConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.decoding import RecomputedState
from coursepkg.text.vocabulary import pad_batch

V = 12
SMALL = {"d_model": 16, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 2, "d_ff": 24, "max_len": 32}
TRANSFORMERS = {
    "2017": TransformerConfig.vaswani2017(V, **SMALL),
    "modern": TransformerConfig.modern(V, **SMALL | {"n_kv_heads": 2}),
    "relative": TransformerConfig(V, position="relative", norm="rms", norm_first=True, **SMALL),
    "rope-cross": TransformerConfig(V, position="rotary", rope_cross=True, n_kv_heads=1, **SMALL),
    "learned": TransformerConfig(V, source_vocab_size=9, position="learned", tie_output=False, **SMALL),
}
ENCODER_DECODERS = (*TRANSFORMERS, "gru", "gru-additive", "gru-dot")


def make(kind: str, seed: int) -> nn.Module:
    """A model in eval mode. Those of a GRU are larger than at the start of training, so that its choices differ."""
    torch.manual_seed(seed)
    if kind.startswith("gru"):
        score = kind.partition("-")[2] or "none"
        model: nn.Module = GRUSeq2Seq(Seq2SeqConfig(9, V, d_embedding=8, d_hidden=12, attention=score))
    elif kind.startswith("lm"):
        model = LanguageModel(TRANSFORMERS[kind.partition("-")[2]])
    else:
        model = Transformer(TRANSFORMERS[kind])
    with torch.no_grad():
        for parameter in model.parameters() if kind.startswith("gru") else ():
            parameter.mul_(3.0)
    return model.double().eval()


def sources(seed: int, n_sentences: int = 3) -> Tensor:
    """Ids (B, S) of different lengths, padded."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 9, (n_sentences,), generator=generator).tolist()
    return pad_batch([torch.randint(4, 9, (n,), generator=generator).tolist() for n in lengths])[0]


def uncached(model: nn.Module, src: Tensor) -> RecomputedState:
    """The same model without its cache; it encodes each row's source on its own for a GRU."""
    if isinstance(model, Transformer):
        return RecomputedState.of(model, src)

    def predict(tokens: Tensor, sentence: Tensor) -> Tensor:
        rows = src[sentence]
        return model(rows, (rows != 0).sum(dim=1), tokens)[:, -1]

    return RecomputedState(predict, len(src))
