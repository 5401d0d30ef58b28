"""A generated data set as files, laid out like the contest's.

    FOLDER/train/<word>/00012.mp4    H.264, one folder a word
    FOLDER/label_mapping.pkl         word -> number, as the contest gives it
    FOLDER/label_mapping.json        the same for readers that do not unpickle
    FOLDER/signers.csv               path, label, signer, group, fault, broken

It grows in FOLDER.part and gets its name at the end. A run that was stopped goes on with the clips that are missing.
"""

import csv
import io
import json
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import numpy as np

from coursepkg.files import part_of, whole_file
from coursepkg.projects.sign_language.synthetic.clips import clip_gap, draw_planned
from coursepkg.projects.sign_language.synthetic.config import SignersConfig
from coursepkg.projects.sign_language.synthetic.plan import PlannedClip, plan_clips
from coursepkg.projects.sign_language.synthetic.signer import make_signer

COLUMNS = ("path", "label", "signer", "group", "fault", "broken")
CARD = "generator.json"
"""Says what the folder was generated from, so that a run goes on with its own clips only."""
CRF = 23
"""How tightly H.264 packs, from 0 (nothing is lost) to 51; its own default."""


def write_signers(
    folder: str | Path,
    seed: int = 0,
    config: SignersConfig | None = None,
    *,
    say: Callable[[str], None] = lambda line: None,
) -> Path:
    """Writes all clips of a seed with their tables; a folder that has them already is left as it is.

    Args:
        folder: where to.
        seed: from 0; another seed has other people, so its clips can test a model trained on these.
        config: what is generated.
        say: receives a line now and then.

    Returns:
        the folder.

    Raises:
        ValueError: the folder has something else in it.
        OSError: a file cannot be written; the message names it.
        ImportError: av is not installed.
    """
    folder, config = Path(folder), config or SignersConfig()
    card = {"generator": "signers", "seed": seed, "config": asdict(config)}
    if folder.exists():
        _check_card(folder, card)
        return folder
    _import_av()
    part = part_of(folder)
    if part.exists():
        _check_card(part, card)
    part.mkdir(parents=True, exist_ok=True)
    _write_text(part / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    clips = plan_clips(seed, config)
    for done, clip in enumerate(clips):
        path = part / "train" / clip.word / clip.file
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_clip(path, clip, seed, config)
        if done % 100 == 99:
            say(f"{done + 1} of {len(clips)} clips")
    _write_tables(part, clips, seed, config)
    os.replace(part, folder)
    return folder


def write_video(path: str | Path, frames: np.ndarray, fps: int, *, crf: int = CRF) -> None:
    """Writes frames as an mp4 file: H.264, 4:2:0, by one thread, so that the same frames give the same bytes.

    Args:
        path: of the file, which appears whole or not at all.
        frames: RGB, uint8 (T, height, width, 3), both sides multiples of 32.
        fps: frames a second.
        crf: how tightly, as `CRF`.

    Raises:
        OSError: the file cannot be written; the message names it.
        ImportError: av is not installed.
    """
    av = _import_av()
    with whole_file(path) as file, av.open(file, "w", format="mp4") as container:
        # With its tree of macroblocks x264 gives other bytes once in some hundred times for the same small frames.
        options = {"crf": str(crf), "preset": "veryfast", "x264-params": "mbtree=0"}
        stream = container.add_stream("libx264", rate=fps, options=options)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="yuv420p")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _import_av() -> ModuleType:
    """The library, or an ImportError of one line."""
    try:
        import av
    except ImportError as reason:
        raise ImportError("writing videos needs av: pip install 'coursepkg[video]'") from reason
    return av


def _write_clip(path: Path, clip: PlannedClip, seed: int, config: SignersConfig) -> None:
    frames = draw_planned(clip, seed, config).frames
    crf = CRF + 6 if clip.is_second_hand else CRF
    write_video(path, frames, config.fps, crf=crf)


def _write_tables(folder: Path, clips: Sequence[PlannedClip], seed: int, config: SignersConfig) -> None:
    mapping = {word: number for number, word in enumerate(sorted({clip.word for clip in clips}))}
    with whole_file(folder / "label_mapping.pkl") as file:
        pickle.dump(mapping, file, protocol=4)
    _write_text(folder / "label_mapping.json", json.dumps(mapping, indent=2, ensure_ascii=False) + "\n")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for clip in clips:
        signer = make_signer(seed, clip.signer, config).name
        path = f"train/{clip.word}/{clip.file}"
        group = f"s{seed}-{clip.original:05}"
        broken = clip_gap(seed, clip.number, config, clip.fault).length
        writer.writerow((path, clip.word, signer, group, clip.fault, broken))
    _write_text(folder / "signers.csv", text.getvalue())


def _write_text(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def _check_card(folder: Path, card: dict[str, object]) -> None:
    """Raises a ValueError unless the folder was generated, wholly or in part, from the same numbers."""
    try:
        found = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if found != card:
        raise ValueError(
            f"{folder}: holds something other than the generated signers of seed {card['seed']} with these settings; "
            "give another folder, or remove this one"
        )
