"""The sizes of T5, as the paper gives them and as the architecture adds up, and where T5 differs from a Transformer.

T5 is an encoder-decoder, but not the Transformer of 2017: a learnt bias by relative distance instead of positions in
the input, shared by all layers of a stack; RMSNorm without bias, in front of each sublayer; no bias anywhere; scores
not divided by the square root of the head dimension (its initial weights are scaled instead); ReLU; one embedding for
source, target and output. Source: Raffel et al. (arXiv 1910.10683), sections 2.1 and 3.7.
"""

from dataclasses import dataclass
from typing import Any

from coursepkg.projects.translation.t5.model import transformers_module

VOCABULARY = 32_128
"""Rows of the embedding of the published models: 32,000 pieces, 100 sentinels, and padding to a round number."""
RELATIVE_BUCKETS = 32
"""Distances that the position bias tells apart; far ones share a bucket."""


@dataclass(frozen=True)
class T5Size:
    """One published size."""

    name: str
    """Name in the paper."""
    hub_name: str
    """Name under which `load_t5` finds it where there is a network."""
    d_model: int
    """Width E."""
    d_ff: int
    """Width inside the feed-forward networks."""
    d_kv: int
    """Head dimension D."""
    n_heads: int
    """Heads H; H times D need not be E."""
    n_layers: int
    """Layers of the encoder, and again of the decoder."""
    said: int
    """Parameters as the paper says, rounded."""

    def settings(self) -> dict[str, Any]:
        """What `transformers.T5Config` calls these fields."""
        return {
            "vocab_size": VOCABULARY,
            "d_model": self.d_model,
            "d_ff": self.d_ff,
            "d_kv": self.d_kv,
            "num_heads": self.n_heads,
            "num_layers": self.n_layers,
        }


SIZES = (
    T5Size("Small", "google-t5/t5-small", 512, 2048, 64, 8, 6, 60_000_000),
    T5Size("Base", "google-t5/t5-base", 768, 3072, 64, 12, 12, 220_000_000),
    T5Size("Large", "google-t5/t5-large", 1024, 4096, 64, 16, 24, 770_000_000),
    T5Size("3B", "google-t5/t5-3b", 1024, 16_384, 128, 32, 24, 2_800_000_000),
    T5Size("11B", "google-t5/t5-11b", 1024, 65_536, 128, 128, 24, 11_000_000_000),
)
"""Source: Raffel et al. (arXiv 1910.10683), section 3.7."""


def formula_parameters(size: T5Size) -> int:
    """Parameters by hand.

        V E + n (4 E H D + 2 E F + 2 E) + n (8 E H D + 2 E F + 3 E) + 2 (32 H + E)

    Embedding, encoder layers, decoder layers, and for each stack one table of biases by distance and a final norm.
    """
    inner = size.n_heads * size.d_kv
    attention, feed_forward = 4 * size.d_model * inner, 2 * size.d_model * size.d_ff
    encoder = attention + feed_forward + 2 * size.d_model
    decoder = 2 * attention + feed_forward + 3 * size.d_model
    stacks = 2 * (RELATIVE_BUCKETS * size.n_heads + size.d_model)
    return VOCABULARY * size.d_model + size.n_layers * (encoder + decoder) + stacks


def count_parameters(size: T5Size) -> int:
    """Parameters of Hugging Face's model of this size, built without memory for its weights.

    Raises:
        ImportError: transformers is not installed.
    """
    import torch

    library = transformers_module()
    with torch.device("meta"):
        network = library.T5ForConditionalGeneration(library.T5Config(**size.settings()))
    return sum(parameter.numel() for parameter in network.parameters())
