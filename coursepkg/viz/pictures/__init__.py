"""The pictures of ideas: what chapters open with, and the frames of their sliders.

A function draws one idea and returns a `Drawing`. A chapter shows it by
`pictures.heads().show()`.
"""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "foundations": "additive_and_dot gru_gates gru_step neighbours_of_a_number"
        " padded_batch three_scores",
        "attention": "brackets cache_sizes heads key_value_cache memory_tiles"
        " query_key_value rotary_pairs sparse_patterns",
        "transformer": "beam_of_two embedding_lookup encoder_decoder matching_pairs"
        " next_token norm_order pair_merges position_vectors training_step",
        "translation": "grouped_split ladder_rows report_translator"
        " similarity_matrix spacing_and_score text_to_text three_ways",
        "ocr": "labelled_lines line_from_photograph line_recogniser page_pipeline"
        " same_error_rate",
        "sign_language": "clip_classifier clip_tensor confusion_matrix corrections crnn"
        " sliding_window time_warp",
    },
)
