"""Record what the original, mediapipe 0.10.21, finds in drawn films, as numbers without pictures.

The original wants NumPy 1, so it has an environment of its own; what draws the films runs in the course's:

    python3.11 -m venv ORIGINAL
    ORIGINAL/bin/pip install mediapipe==0.10.21
    .venv-dev/bin/python scripts/record_mediapipe.py draw DRAWN.npz
    ORIGINAL/bin/python scripts/record_mediapipe.py drawn DRAWN.npz tests/recorded/mediapipe_drawn.json

`tests/projects/sign_language/landmarks/test_parity.py` compares the package with this file. All lengths are pixels.

`serve` is what `scripts/measure_landmarks.py` calls to time the original.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

DRAWN = (("Tôi", 1, 10), ("Uống", 1, 10), ("Nhà", 4, 40))
"""Word, signer and number of the drawn films, in which the original finds hands."""
DRAWN_SIZE, DRAWN_FRAMES = 480, 16
MICROSECONDS = 33_333
"""From frame to frame: what MediaPipe's Python interface assumes of every film."""


def draw(path: Path) -> None:
    """The drawn films, as one array each."""
    from coursepkg.projects.sign_language.synthetic.clips import draw_clip
    from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

    config = SignersConfig(
        size=DRAWN_SIZE, least_frames=DRAWN_FRAMES, most_frames=DRAWN_FRAMES
    )
    films = [
        draw_clip(word, signer, 0, number, config).frames
        for word, signer, number in DRAWN
    ]
    np.savez_compressed(path, *films)


def hands_graph() -> Any:
    """MediaPipe Hands with its defaults, and with what happens between its networks."""
    from mediapipe.python.solution_base import SolutionBase

    return SolutionBase(
        binary_graph_path="mediapipe/modules/hand_landmark/hand_landmark_tracking_cpu.binarypb",
        side_inputs={
            "model_complexity": 1,
            "num_hands": 2,
            "use_prev_landmarks": True,
        },
        calculator_params={
            "palmdetectioncpu__TensorsToDetectionsCalculator.min_score_thresh": 0.5,
            "handlandmarkcpu__ThresholdingCalculator.threshold": 0.5,
        },
        outputs=[
            "multi_hand_landmarks",
            "multi_hand_world_landmarks",
            "multi_handedness",
            "hand_rects_from_landmarks",
            "palm_detections",
            "hand_rects_from_palm_detections",
        ],
    )


def pose_graph() -> Any:
    """MediaPipe Pose with its defaults, and with the square of the next frame."""
    from mediapipe.python.solution_base import SolutionBase

    return SolutionBase(
        binary_graph_path="mediapipe/modules/pose_landmark/pose_landmark_cpu.binarypb",
        side_inputs={
            "model_complexity": 1,
            "smooth_landmarks": True,
            "enable_segmentation": False,
            "smooth_segmentation": True,
            "use_prev_landmarks": True,
        },
        calculator_params={
            "posedetectioncpu__TensorsToDetectionsCalculator.min_score_thresh": 0.5,
            "poselandmarkbyroicpu__tensorstoposelandmarksandsegmentation"
            "__ThresholdingCalculator.threshold": 0.5,
        },
        outputs=["pose_landmarks", "pose_rect_from_landmarks"],
    )


def found(frames: Iterator[np.ndarray]) -> list[dict[str, Any]]:
    """All that the original finds in a film, a row for each frame."""
    hands, pose = hands_graph(), pose_graph()
    rows = []
    for frame in frames:
        height, width = frame.shape[:2]
        size = np.array([width, height])
        one, other = hands.process({"image": frame}), pose.process({"image": frame})
        body = other.pose_landmarks
        rows.append(
            {
                "palms": [palm(each, size) for each in one.palm_detections or []],
                "palm_regions": [
                    region(each, size)
                    for each in one.hand_rects_from_palm_detections or []
                ],
                "hands": [
                    points(each, size) for each in one.multi_hand_landmarks or []
                ],
                "world": [
                    points(each, np.ones(2), 5)
                    for each in one.multi_hand_world_landmarks or []
                ],
                # The original takes a film for mirrored: its left is our right.
                "right": [
                    each.classification[0].label == "Left"
                    for each in one.multi_handedness or []
                ],
                "hand_regions": [
                    region(each, size) for each in one.hand_rects_from_landmarks or []
                ],
                "body": points(body, size) if body else None,
                "visibility": (
                    rounded([each.visibility for each in body.landmark], 4)
                    if body
                    else None
                ),
                "body_region": (
                    region(other.pose_rect_from_landmarks, size)
                    if other.pose_rect_from_landmarks
                    else None
                ),
            }
        )
    hands.close()
    pose.close()
    return rows


def rounded(values: Any, digits: int = 3) -> Any:
    return np.round(np.asarray(values, dtype=np.float64), digits).tolist()


def points(landmarks: Any, size: np.ndarray, digits: int = 3) -> list[list[float]]:
    """Landmarks as x, y, z in pixels; a depth is a share of the width."""
    scale = np.array([*size, size[0]])
    return rounded(
        [np.array([each.x, each.y, each.z]) * scale for each in landmarks.landmark],
        digits,
    )


def region(rect: Any, size: np.ndarray) -> list[float]:
    """Middle x, middle y and side in pixels, and the angle."""
    x, y = np.array([rect.x_center, rect.y_center]) * size
    return rounded([x, y, rect.width * size[0], rect.rotation], 4)


def palm(detection: Any, size: np.ndarray) -> dict[str, Any]:
    place = detection.location_data
    box = place.relative_bounding_box
    corner, extent = np.array([box.xmin, box.ymin]), np.array([box.width, box.height])
    keypoints = np.array([[each.x, each.y] for each in place.relative_keypoints])
    return {
        "score": rounded(detection.score[0], 5),
        "box": rounded([*(corner * size), *((corner + extent) * size)]),
        "keypoints": rounded(keypoints * size),
    }


def record_drawn(path: Path) -> dict[str, Any]:
    films = []
    with np.load(path) as arrays:
        for (word, signer, number), name in zip(DRAWN, arrays.files, strict=True):
            frames = arrays[name]
            films.append(
                {
                    "word": word,
                    "signer": signer,
                    "number": number,
                    # Tells whether the generator still draws this film.
                    "brightness": rounded(frames.mean(axis=(1, 2, 3))),
                    "frames": found(iter(frames)),
                }
            )
    return {"size": DRAWN_SIZE, "films": films}


def serve(path: Path) -> None:
    """Process a film once for each line that comes in, and answer with milliseconds a frame of hands and of body.

    `scripts/measure_landmarks.py` asks in turn with its own rounds. Both graphs use as many threads as they want, as
    they do for their users, one after the other.
    """
    with np.load(path) as arrays:
        frames = arrays[arrays.files[0]]
    import mediapipe

    hands, pose = mediapipe.solutions.hands.Hands(), mediapipe.solutions.pose.Pose()
    print(json.dumps({"mediapipe": mediapipe.__version__}), flush=True)
    for _ in sys.stdin:
        hands.reset()
        pose.reset()
        spent = {"hands": 0.0, "pose": 0.0}
        for frame in frames:
            for name, graph in (("hands", hands), ("pose", pose)):
                begun = time.perf_counter()
                graph.process(frame)
                spent[name] += time.perf_counter() - begun
        print(
            json.dumps(
                {name: 1e3 * total / len(frames) for name, total in spent.items()}
            ),
            flush=True,
        )


def main(arguments: list[str]) -> int:
    if len(arguments) == 2 and arguments[0] == "draw":
        draw(Path(arguments[1]))
        return 0
    if len(arguments) == 2 and arguments[0] == "serve":
        serve(Path(arguments[1]))
        return 0
    if len(arguments) != 3 or arguments[0] != "drawn":
        print(__doc__, file=sys.stderr)
        return 2
    source, out = Path(arguments[1]), Path(arguments[2])
    import mediapipe

    content = {
        "original": f"mediapipe {mediapipe.__version__}",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "microseconds": MICROSECONDS,
        **record_drawn(source),
    }
    part = out.with_name(out.name + ".part")
    part.write_text(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n",
        encoding="utf-8",
    )
    os.replace(part, out)
    print(f"{out}: {out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
