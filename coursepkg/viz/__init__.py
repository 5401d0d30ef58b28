"""Every figure of the book that is not one line of matplotlib; the names are looked up on first use."""

from importlib import import_module

_HOME = {
    "notebook_defaults": "style",
    "figure_html": "image",
    "show": "image",
    "show_source": "source",
    "attention_heatmap": "heatmap",
    "mask_grid": "heatmap",
    "flipbook": "slider",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'coursepkg.viz' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
