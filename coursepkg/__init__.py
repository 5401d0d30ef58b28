"""From attention to applications: the package that the book imports.

Importing `coursepkg` imports neither torch nor numpy: the names below are looked up on first use.
"""

from coursepkg.lazy import lazy_names

__version__ = "0.1.0"

_HOME = {
    "linear_attention": "attention.linear",
    "MultiHeadAttention": "attention.multihead",
    "RotaryEmbedding": "attention.rope",
    "Phrasebook": "projects.translation.synthetic",
    "check": "checks",
    "notebook_defaults": "viz.style",
}

__all__ = ["__version__", *_HOME]

__getattr__, __dir__ = lazy_names(__name__, _HOME, ["__version__"])
