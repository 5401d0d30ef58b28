"""Pages: from a photograph, a scan or a PDF to its text, with boxes and confidences."""

from coursepkg.lazy import lazy_names

_HOME = {
    "Page": "read",
    "PageLine": "read",
    "read_page": "read",
    "read_single_lines": "read",
    "page_record": "output",
    "record_page": "output",
    "draw_overlay": "overlay",
    "find_sources": "sources",
    "open_pages": "sources",
    "BagOfWords": "compare",
    "compare_pages": "compare",
    "PageScore": "compare",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
