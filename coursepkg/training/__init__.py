"""Training: one visible loop, `fit`, its schedules, losses, averages, checkpoints."""

from coursepkg.files import name_kernel_folder
from coursepkg.lazy import lazy_names

# Before anything here imports Fabric.
name_kernel_folder()

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
