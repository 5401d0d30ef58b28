"""Line images and their texts: tables, folders, splits, packed files, batches."""

from coursepkg.lazy import lazy_names

_HOME = {
    "read_table": "mc_ocr",
    "Table": "mc_ocr",
    "Fault": "table_row",
    "Instance": "table_row",
    "Receipt": "table_row",
    "receipt_lines": "mc_ocr",
    "quarters": "mc_ocr",
    "read_instance": "mc_ocr",
    "read_labels": "splits",
    "read_gray": "images",
    "read_rgb": "images",
    "fit_image": "images",
    "resize_to_height": "images",
    "resize_to_box": "images",
    "crop_polygons": "geometry",
    "crop_corners": "geometry",
    "split_lines": "splits",
    "Split": "splits",
    "character_vocabulary": "batches",
    "characters_outside": "batches",
    "encode_text": "batches",
    "seen_texts": "batches",
    "pack_lines": "packed",
    "PackedLines": "packed",
    "LineBatch": "batches",
    "LineBatches": "batches",
    "audit_lines": "audit",
    "audit_table": "audit",
    "describe_lines": "audit",
    "describe_table": "audit",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
