"""Finding the text of a photograph: boxes, merged into lines in reading order."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "detector": "BoundedDetector BoxCache CachedDetector open_detector",
        "engines": "DetectorSettings what_is_missing",
        "evaluate": "DetectionScore generated_pages match_boxes score_page",
        "lines": "Detector PlacedLine TextBox lies_on_side place_lines",
    },
)
