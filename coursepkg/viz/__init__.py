"""Every figure of the book that is not one line of matplotlib; the names are looked up on first use."""

from coursepkg.lazy import lazy_names

_HOME = {
    "notebook_defaults": "style",
    "figure_html": "image",
    "show": "image",
    "show_source": "source",
    "attention_heatmap": "heatmap",
    "mask_grid": "heatmap",
    "flipbook": "slider",
    "architecture_diagram": "architecture",
    "draw_architecture": "architecture",
    "training_curves": "curves",
    "merge_tree": "segmentation",
    "token_boxes": "segmentation",
    "draw_search_tree": "search_tree",
    "alignment_grid": "alignment",
    "alignment_lines": "alignment",
    "line_attention": "looking",
    "lit_line": "looking",
    "attention_strip": "attention_film",
    "film_strips": "film_strip",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
