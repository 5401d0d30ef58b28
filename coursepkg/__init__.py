"""From attention to applications: the package that the book imports.

Importing `coursepkg` imports neither torch nor numpy: the names below are looked up on
first use.
"""

import os

from coursepkg.lazy import lazy_names
from coursepkg.processor import wait_passively

__version__ = "0.1.0"

# torch reads how its threads wait when it is loaded: this has to come before.
wait_passively()

# ONNX Runtime sends reports of its use to its maker and keeps files for them in the
# temporary folder, unless this is set before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "attention.linear": "linear_attention",
        "attention.multihead": "MultiHeadAttention",
        "attention.rope": "RotaryEmbedding",
        "checks": "check",
        "projects.translation.synthetic": "Phrasebook",
        "viz.image": "notebook_defaults",
    },
    "__version__",
)
