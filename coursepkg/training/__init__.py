"""Training: one visible loop, `fit`, and what it is made of: schedules, losses, averages, checkpoints."""

from coursepkg.lazy import lazy_names

_HOME = {
    "fit": "loop",
    "History": "loop",
    "TrainConfig": "config",
    "Task": "task",
    "Batches": "task",
    "TrainingError": "step",
    "make_fabric": "engine",
    "set_seed": "seed",
    "read_log": "log",
    "read_checkpoint": "checkpoint",
    "weight_files": "checkpoint",
    "restore": "saved_model",
    "save_model": "saved_model",
    "load_model": "saved_model",
    "file_sha256": "files",
    "EMA": "averaging",
    "average_checkpoints": "averaging",
    "SAM": "sam",
    "Plateau": "plateau",
    "constant": "schedules",
    "noam": "schedules",
    "inverse_sqrt": "schedules",
    "staircase": "schedules",
    "cosine": "schedules",
    "label_smoothed_cross_entropy": "losses",
    "r_drop_loss": "rdrop",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
