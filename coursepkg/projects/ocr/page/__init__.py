"""Pages: from a photograph, a scan or a PDF to its text, with boxes and confidences."""

from coursepkg.lazy import lazy_names

_NAMES = {
    "read": "Page PageLine read_page read_single_lines",
    "output": "page_record record_page",
    "overlay": "draw_overlay",
    "sources": "find_sources open_pages",
    "compare": "BagOfWords compare_pages PageScore",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES)
