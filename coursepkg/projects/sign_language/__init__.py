"""Words signed in short videos: recognise clips, train, score, and look at data.

The names below are imported when they are asked for.
"""

from coursepkg.lazy import lazy_names

_NAMES = {
    "augmentation": (
        "PictureAugmentation PictureConfig TimeWarp WarpConfig build_geometry "
        "draw_warp import_kornia resampling_shift warp_shift"
    ),
    "bench": "loading_ways",
    "chapter_helpers": (
        "answers_to learn made_up_scores missing_lines normalised_picture on_pictures "
        "pose_part pose_vectors share_right stored_ladder whole with_interval "
        "with_rest without_room"
    ),
    "corpora": "FULL load_corpus",
    "data.batches": "ClipBatch ClipBatches balanced_order",
    "data.cache": "cache_clips",
    "data.clip": (
        "PADDINGS frames_at normalise sample_frames shrink thumbnails to_pixels "
        "uniform_frames"
    ),
    "data.label_mapping": (
        "BANDS ClassCounts _PlainUnpickler band_of read_label_mapping"
    ),
    "data.scan": "scan_clips unreadable",
    "data.splits": "split_clips",
    "data.video": "CacheConfig array_frames decode_needed is_solid read_clip",
    "data.video_file": "probe",
    "evaluate_verb": "Film worst_first write_worst_page",
    "export": "ExportedRecognizer export_program",
    "few_shot.dtw": "cost_table dtw_distances warping_path",
    "few_shot.features": (
        "SignSteps active_parts bridge resample signs_of steps_between steps_of "
        "wrist_heights"
    ),
    "few_shot.generator": "draw_words sign",
    "few_shot.matching": "Example Matcher warping_features",
    "few_shot.recognizer": "WordRecognizer",
    "few_shot.words": "Words",
    "inference": "View adjusted predict_clips views_of",
    "landmarks.detection": "Detection Detector boxes_of grid_anchors overlaps suppress",
    "landmarks.drawing": "draw_skeleton",
    "landmarks.extract": (
        "LandmarkTracker Landmarks assign_sides extract_landmarks track_frames"
    ),
    "landmarks.hands": "Hand HandTracker region_of_hand region_of_palm",
    "landmarks.pose": "Pose PoseTracker",
    "landmarks.regions": "Region turned upright_angle",
    "landmarks.smoothing": "OneEuroConfig OneEuroFilter",
    "ladder": "RESULTS ROWS ladder_lines",
    "leave_one_signer_out": "Fold leave_signers_out together",
    "losses": "LOSSES ClipLoss best_tau loss_shares smoothed",
    "mixing": (
        "KINDS AugmentSettings MixClips MixConfig apply_weights batch_steps "
        "draw_weights stronger"
    ),
    "model.classifier": (
        "AttentionPooling ClipClassifier LastFrame MeanPooling SmallCNN Temporal "
        "build_model learning_rate_factors make_pooling parameter_groups with_motion"
    ),
    "quality.plan": "plan_as_text plan_cleaning",
    "quality.report": "CONTEST as_text class_counts",
    "quality.survey": (
        "copy_keys decode_small distances fingerprint is_frozen largest_changes survey"
    ),
    "recipe": (
        "ARCHITECTURES PRESETS SAME BrokenThresholds ModelConfig Recipe StreamConfig"
    ),
    "recognizer": "SignRecognizer",
    "scores": "Answer WordF1 from_rows",
    "scoring": "compare evaluate score_answers",
    "streams.sliding_window": "SignStream find_events",
    "synthetic.clips": "clip_counts clip_pose draw_clip write_signers",
    "synthetic.motion": "draw_timing make_pose",
    "synthetic.signer": "WORDS SignersConfig make_signer",
    "training": "train",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES)
