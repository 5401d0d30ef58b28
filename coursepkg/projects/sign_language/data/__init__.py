"""Clips of signed words and their labels: files of users, scanned, decoded, sampled, cached, split, batched."""

from coursepkg.lazy import lazy_names

_HOME = {
    "DecodedVideo": "video",
    "VideoError": "video",
    "VideoFacts": "video",
    "decode_needed": "video",
    "decode_video": "video",
    "probe": "video",
    "read_clip": "video",
    "Framing": "framing",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
