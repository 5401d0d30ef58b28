"""Finding the text of a photograph: boxes, merged into lines in reading order."""

from coursepkg.lazy import lazy_names

_NAMES = {
    "lines": "TextBox Detector place_lines PlacedLine lies_on_side",
    "engines": "DetectorSettings what_is_missing",
    "detector": "open_detector BoundedDetector BoxCache CachedDetector",
    "evaluate": "DetectionScore generated_pages match_boxes score_page score_pages",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES)
