"""Clips of signed words and their labels: files of users, scanned, decoded, sampled, cached, split, batched."""

from coursepkg.lazy import lazy_names

_HOME = {
    "scan_clips": "scan",
    "Scan": "scan",
    "Problem": "problems",
    "report_problems": "problems",
    "unreadable": "problems",
    "LabelMapping": "label_mapping",
    "read_label_mapping": "label_mapping",
    "VideoError": "video",
    "VideoFacts": "video",
    "DecodedVideo": "video",
    "probe": "video",
    "decode_video": "video",
    "decode_needed": "video",
    "read_clip": "video",
    "Framing": "framing",
    "sample_frames": "sampling",
    "uniform_frames": "sampling",
    "frames_at": "sampling",
    "normalise": "imagenet",
    "to_pixels": "imagenet",
    "CacheConfig": "cache",
    "CachedClips": "cache",
    "cache_clips": "caching",
    "ClipSplit": "splits",
    "split_clips": "splits",
    "leave_one_signer_out": "splits",
    "ClipBatch": "batches",
    "ClipBatches": "batches",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
