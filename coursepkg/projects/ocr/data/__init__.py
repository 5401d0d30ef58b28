"""Line images and their texts: tables, folders, splits, packed files, batches."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "audit": "audit_lines audit_table describe_lines",
        "batches": (
            "LineBatch LineBatches character_vocabulary characters_outside encode_text "
            "seen_texts"
        ),
        "geometry": "crop_corners crop_polygons",
        "images": "fit_image read_gray read_rgb resize_to_box resize_to_height",
        "label_studio": "read_export",
        "labelled": "read_labels",
        "mc_ocr": "Table quarters read_instance read_table receipt_lines",
        "packed": "PackedLines pack_lines",
        "splits": "Split split_lines",
        "table_row": "Fault Instance Receipt",
    },
)
