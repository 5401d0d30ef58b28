"""Training: one visible loop, `fit`, its schedules, losses, averages, checkpoints."""

import os

from coursepkg.data.registry import cache_folder
from coursepkg.lazy import lazy_names


def _name_kernel_folder() -> None:
    """Let torch's compiler keep its kernels in the user's cache.

    Fabric imports the compiler, and that makes a folder at once: in the temporary one,
    unless another is named. Where the cache cannot be written it stays so.
    """
    folder = cache_folder() / "kernels"
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if there.is_dir() and os.access(there, os.W_OK):
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(folder))


_name_kernel_folder()

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "checkpoint": "read_checkpoint weight_files write_checkpoint",
        "config": "TrainConfig",
        "engine": "make_fabric native_precision",
        "log": "read_log",
        "loop": "History TrainingError fit train_step",
        "losses": "focal_loss info_nce inverse_frequency label_smoothed_cross_entropy",
        "regularisers": (
            "EMA SAM ascent_step average_checkpoints r_drop_loss symmetric_kl"
        ),
        "run_card": "stored_card",
        "saved_model": "load_model restore save_model",
        "scheduled_sampling": (
            "exponential_decay inverse_sigmoid_decay linear_decay mix_in_parallel"
        ),
        "schedules": "Plateau constant cosine inverse_sqrt noam staircase",
        "seed": "set_seed",
        "task": "Batches Task",
        "weights": "parameter_counts",
    },
)
