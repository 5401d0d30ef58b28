"""Key information extraction: who sold, where, when and for how much."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "arithmetic": "Item check_total find_items",
        "keywords": "find_words fold line_kind",
        "line_tagger": "LineTagger",
        "rules": "FIELDS Field Fields extract_fields",
        "scores": "ChallengeCER FieldF1 evaluate_fields",
        "table": "labelled_receipts",
        "values": "Parsed parse_amount parse_timestamp",
    },
)
