"""Take the four networks that find hands and bodies out of the wheel of mediapipe 0.10.21, with their licence.

    .venv-dev/bin/python scripts/unpack_landmark_models.py [WHEEL]

Without WHEEL, pip downloads it for Python 3.11 on Linux (the networks are the same in every wheel of that version). It
is never installed: it asks for NumPy 1. Every file is checked against the SHA-256 in
`coursepkg.projects.sign_language.landmarks.networks` before the first is replaced. The cards beside the networks,
`MODEL_CARDS.md`, are written by hand.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from coursepkg.files import part_of
from coursepkg.projects.sign_language.landmarks.networks import MODELS, SHA256

VERSION = "0.10.21"
FOLDERS = {
    "palm_detection_full": "palm_detection",
    "hand_landmark_full": "hand_landmark",
    "pose_detection": "pose_detection",
    "pose_landmark_full": "pose_landmark",
}
"""Where each network lies below `mediapipe/modules` of the wheel."""
LICENCE = f"mediapipe-{VERSION}.dist-info/LICENSE"
LICENCE_SHA256 = "8707eef0533987efc5b155d64761eeb6e20793f50b9bd1a68dad1cf4719d0ed8"


def download(into: Path) -> Path:
    """The wheel, from the registry that pip is set up for."""
    choice = ["--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"]
    what = ["--no-deps", "--only-binary", ":all:", f"mediapipe=={VERSION}"]
    command = [sys.executable, "-m", "pip", "download", "--quiet"]
    subprocess.run([*command, *choice, *what, "--dest", str(into)], check=True)
    (wheel,) = into.glob("*.whl")
    return wheel


def read(wheel: Path) -> dict[str, bytes]:
    """The files to write, by name, each checked.

    Raises:
        ValueError: the wheel lacks one, or holds another.
    """
    wanted = {
        f"{name}.tflite": (
            f"mediapipe/modules/{FOLDERS[name]}/{name}.tflite",
            digest,
        )
        for name, digest in SHA256.items()
    }
    wanted["LICENSE"] = (LICENCE, LICENCE_SHA256)
    found = {}
    with ZipFile(wheel) as archive:
        for name, (member, digest) in wanted.items():
            try:
                found[name] = archive.read(member)
            except KeyError:
                raise ValueError(
                    f"it has no {member}; give the wheel of mediapipe {VERSION}"
                ) from None
            said = hashlib.sha256(found[name]).hexdigest()
            if said != digest:
                raise ValueError(f"{member}: SHA-256 is {said}, expected {digest}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", nargs="?", type=Path, help="downloaded before")
    parser.add_argument("--out", type=Path, default=MODELS, help="folder")
    chosen = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            wheel = chosen.wheel or download(Path(folder))
            files = read(wheel)
        chosen.out.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            part_of(chosen.out / name).write_bytes(content)
            os.replace(part_of(chosen.out / name), chosen.out / name)
    except (OSError, BadZipFile, subprocess.CalledProcessError, ValueError) as reason:
        print(f"error: {chosen.wheel or 'mediapipe'}: {reason}", file=sys.stderr)
        return 2
    for name, content in files.items():
        print(f"{chosen.out / name}: {len(content):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
