"""Real and generated data: where they live, how they are fetched and checked."""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "audit": "audit_parallel",
        "audit_rows": "Row",
        "batching": "TokenBatches make_batch padded_random_batches",
        "download": "fetch",
        "registry": "attribution_of find_set",
        "split": "group_records grouped_split split_fingerprint",
    },
)
