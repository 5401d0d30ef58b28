"""Line images and their texts: tables, folders, splits, packed files, batches."""

from coursepkg.lazy import lazy_names

_NAMES = {
    "mc_ocr": "read_table Table receipt_lines quarters read_instance",
    "table_row": "Fault Instance Receipt",
    "splits": "read_labels split_lines Split",
    "images": "read_gray read_rgb fit_image resize_to_height resize_to_box",
    "geometry": "crop_polygons crop_corners",
    "batches": (
        "character_vocabulary characters_outside encode_text seen_texts LineBatch "
        "LineBatches"
    ),
    "packed": "pack_lines PackedLines",
    "audit": "audit_lines audit_table describe_lines describe_table",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES)
