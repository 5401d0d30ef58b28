"""From attention to applications: the package that the book imports.

Importing `coursepkg` imports neither torch nor numpy: the names below are looked up on
first use.
"""

from coursepkg.lazy import lazy_names
from coursepkg.processor import wait_passively

__version__ = "0.1.0"

_HOME = {
    "linear_attention": "attention.linear",
    "MultiHeadAttention": "attention.multihead",
    "RotaryEmbedding": "attention.rope",
    "Phrasebook": "projects.translation.synthetic",
    "check": "checks",
    "notebook_defaults": "viz.image",
}

# torch reads how its threads wait when it is loaded: this has to come before.
wait_passively()

__all__ = ["__version__", *_HOME]

__getattr__, __dir__ = lazy_names(__name__, _HOME, ["__version__"])
