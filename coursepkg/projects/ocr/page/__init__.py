"""Pages: from a photograph, a scan or a PDF to its text, with boxes and confidences."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "compare": "PageScore PageText compare_pages",
        "output": "page_record record_page",
        "overlay": "draw_overlay",
        "read": "Page PageLine read_page read_single_lines",
        "sources": "find_sources open_pages",
        "words": "BagOfWords",
    },
)
