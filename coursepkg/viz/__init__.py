"""Every figure of the book that is not one line of matplotlib."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "alignment": "alignment_grid alignment_lines",
        "architecture": "architecture_diagram draw_architecture",
        "attention_maps": "line_attention lit_line",
        "curves": "training_curves",
        "film": "attention_strip film_strips",
        "heatmap": "attention_heatmap draw_block_map mask_grid",
        "image": "figure_html notebook_defaults show",
        "search_tree": "draw_search_tree",
        "segmentation": "merge_tree token_boxes",
        "slider": "flipbook",
        "source": "show_source",
    },
)
