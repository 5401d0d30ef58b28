"""Line images and their texts: the MC-OCR table, labelled folders, crops, splits, packed files, batches."""

from coursepkg.lazy import lazy_names

_HOME = {
    "read_table": "mc_ocr",
    "Table": "mc_ocr",
    "Fault": "table_row",
    "Instance": "table_row",
    "Receipt": "table_row",
    "receipt_lines": "mc_ocr_lines",
    "sort_lines": "mc_ocr_lines",
    "Unreadable": "mc_ocr_lines",
    "quarters": "reading",
    "read_instance": "reading",
    "read_labels": "vi_lines",
    "read_gray": "images",
    "read_rgb": "images",
    "fit_image": "images",
    "resize_to_height": "images",
    "resize_to_box": "images",
    "crop_polygons": "crops",
    "crop_corners": "crops",
    "split_lines": "splits",
    "Split": "splits",
    "character_vocabulary": "alphabet",
    "characters_outside": "alphabet",
    "encode_text": "alphabet",
    "decode_text": "alphabet",
    "seen_texts": "alphabet",
    "pack_lines": "packing",
    "PackedLines": "packed",
    "Shards": "shards",
    "LineBatch": "batches",
    "LineBatches": "batches",
    "bucket_width": "batches",
    "pad_images": "batches",
    "audit_lines": "audit",
    "audit_table": "audit",
    "describe_lines": "describe",
    "describe_table": "describe",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
