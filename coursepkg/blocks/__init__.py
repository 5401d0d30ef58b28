"""The parts that models are built from."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "cache": "CachedState Memory RollingCache",
        "config": "POSITIONS TransformerConfig",
        "convolution": "ConvolutionalEncoder GatedConvolution receptive_field",
        "decoder": "CrossAttention DecoderLayer",
        "encoder": "Encoder EncoderLayer",
        "feedforward": "ACTIVATIONS FeedForward",
        "language_model": "LanguageModel",
        "layer_parts": "Residual initialise",
        "norm": "LayerNorm RMSNorm layer_norm",
        "position": "LearnedPosition SinusoidalPosition sinusoidal_table",
        "recurrent": (
            "GRUCell LSTMCell RNNCell gradient_through_time truncated_unroll unroll"
        ),
        "seq2seq": "GRUSeq2Seq Seq2SeqConfig",
        "transformer": "Transformer attention_maps",
    },
)
