"""Finding the text of a photograph: boxes from a detector, merged into lines in reading order."""

from coursepkg.lazy import lazy_names

_HOME = {
    "TextBox": "box",
    "Detector": "box",
    "DetectorSettings": "settings",
    "open_detector": "bounded",
    "BoundedDetector": "bounded",
    "BoxCache": "cache",
    "CachedDetector": "cache",
    "what_is_missing": "engines",
    "place_lines": "lines",
    "PlacedLine": "lines",
    "lies_on_side": "direction",
    "DetectionScore": "evaluate",
    "generated_pages": "evaluate",
    "match_boxes": "evaluate",
    "score_page": "evaluate",
    "score_pages": "evaluate",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
