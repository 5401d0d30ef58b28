"""Reading the lines of Vietnamese receipts and documents."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "baselines": "RapidReader",
        "bench": "reading_ways",
        "corpus": "EASY DrawnParts",
        "data.audit": "as_text audit_table",
        "data.batches": (
            "LineBatches character_vocabulary characters_outside encode_text seen_texts"
        ),
        "data.geometry": (
            "area crop_corners homography in_reading_order map_points rectangle sides "
            "smallest_rectangle"
        ),
        "data.images": "fit_image read_gray read_rgb resize_to_box resize_to_height",
        "data.mc_ocr": "COLUMNS quarters read_instance read_table receipt_lines",
        "data.packed": "PackedLines pack_lines",
        "data.splits": "split_lines",
        "data.table_row": "read_row",
        "decode": "NEVER encode_lines read_greedy",
        "detector.detector": (
            "BoundedDetector BoxCache CachedDetector open_detector pixels_sha256"
        ),
        "detector.engines": "DetectorSettings what_is_missing",
        "detector.evaluate": "DetectionScore match_boxes score_page",
        "detector.lines": (
            "Detector TextBox intersection_over_union lies_on_side place_lines"
        ),
        "detector.process": "Worker main memory_of",
        "error_gallery": "Reading rank_by_error write_error_gallery",
        "evaluation": (
            "commonest_confusions edit_kind error_kinds evaluate letter_parts "
            "line_edits marked_html"
        ),
        "fields.line_tagger": "LineTagger",
        "fields.rules": "extract_fields",
        "fields.scores": "ChallengeCER FieldF1 join_fields",
        "fields.table": "generated_fields score_fields",
        "fields.training": "TagBatches TagTask",
        "fields.values": "parse_amount parse_timestamp",
        "line": "TextLine bucket_width decode_text pad_images sort_lines",
        "model.backbone": "STRIDES Fold Grid",
        "model.ctc": "beam_ctc ctc_log_probs greedy_ctc path_log_prob",
        "model.recognizer": "build_model cross_attention",
        "options": "ReadOptions",
        "page.words": "BagOfWords missed_words",
        "page.output": (
            "Output OutputPaths page_reader page_record read_sources record_page"
        ),
        "page.overlay": "draw_overlay",
        "page.read": "PageLine read_page",
        "page.sources": "PagePicture Source find_sources open_pages",
        "predict": "DEFAULT Recognizer",
        "published_results": (
            "published_boxes published_document published_fields published_map"
        ),
        "readers": "TTA_BELOW Candidate",
        "recipe": "PRESETS TINY",
        "synthetic.effects": "EffectConfig apply_effects preset",
        "synthetic.fonts": "REQUIRED LineStyle matplotlib_faces place split_faces",
        "synthetic.receipt_config": "ReceiptConfig receipt_config",
        "synthetic.receipts": "make_receipt write_receipts",
        "synthetic.render": "LineConfig SyntheticLines draw_line",
        "synthetic.sheet": "lay_out",
        "synthetic.texts": "KINDS LineTexts TextConfig syllables",
        "training": "LineTask train",
    },
)
