"""Finding the text of a photograph: boxes, merged into lines in reading order."""

from coursepkg.lazy import lazy_names

_HOME = {
    "TextBox": "lines",
    "Detector": "lines",
    "DetectorSettings": "engines",
    "open_detector": "detector",
    "BoundedDetector": "detector",
    "BoxCache": "detector",
    "CachedDetector": "detector",
    "what_is_missing": "engines",
    "place_lines": "lines",
    "PlacedLine": "lines",
    "lies_on_side": "lines",
    "DetectionScore": "evaluate",
    "generated_pages": "evaluate",
    "match_boxes": "evaluate",
    "score_page": "evaluate",
    "score_pages": "evaluate",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
