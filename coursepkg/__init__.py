"""From attention to applications: the package that the book imports.

Importing `coursepkg` imports neither torch nor numpy: the names below are looked up on first use.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {
    "linear_attention": "coursepkg.attention.linear",
    "MultiHeadAttention": "coursepkg.attention.multihead",
    "RotaryEmbedding": "coursepkg.attention.rope",
    "Phrasebook": "coursepkg.projects.translation.synthetic",
    "check": "coursepkg.checks",
    "notebook_defaults": "coursepkg.viz.style",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'coursepkg' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
