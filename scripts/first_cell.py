# Installs the course's package, and what its chapters import, where they are missing.
# torch and numpy stay as they are.
import importlib.metadata
import importlib.util

REPOSITORY = ""
TO_DO = (
    "set COURSEPKG_SOURCE to a wheel, folder or URL of it "
    "(%env COURSEPKG_SOURCE=...) and run this cell again"
)


class SetupError(Exception):
    def _render_traceback_(self):  # Jupyter prints these lines in place of a traceback
        return [f"error: {self}"]


def find_missing():
    import re

    have = {d.name.lower() for d in importlib.metadata.distributions() if d.name}
    if importlib.util.find_spec("coursepkg") is None:
        return ["coursepkg"]
    lines = importlib.metadata.requires("coursepkg") if "coursepkg" in have else []
    wanted = [line.partition(";")[0].strip() for line in lines if "chapters" in line]
    return [one for one in wanted if re.split(r"[^\w-]", one)[0].lower() not in have]


def find_source():
    import os
    from pathlib import Path

    above = [d for d in Path.cwd().parents if (d / "coursepkg/__init__.py").exists()]
    found = os.environ.get("COURSEPKG_SOURCE") or (above and str(above[0]))
    if not (found := found or (REPOSITORY and f"git+{REPOSITORY}")):
        raise SetupError(
            "coursepkg is not installed, and no place to install it from is known: "
            + TO_DO
        )
    return found


def install_packages(packages):
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    place = "the package index"
    if packages == ["coursepkg"]:
        place = find_source()
        is_url = "://" in place
        packages = [
            f"coursepkg[chapters] @ {place}" if is_url else f"{place}[chapters]"
        ]
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, "constraints.txt")
        kept = {d.name: d.version for d in importlib.metadata.distributions()}
        names = [name for name in ("torch", "numpy") if name in kept]
        pins.write_text("".join(f"{name}=={kept[name]}\n" for name in names))
        command = [sys.executable, "-m", "pip", "install", "-c", str(pins), *packages]
        pip = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        print("Installing what this chapter needs: a minute or two", flush=True)
        lines = [""]
        for line in pip.stdout:
            lines.append(line.strip())
            print(f"\r{lines[-1][:78]:78}", end="", flush=True)
    print(f"\r{'':78}\r", end="")
    if pip.wait():
        reason = lines[-1] or "pip gave no reason"
        raise SetupError(
            f"coursepkg could not be installed from {place} ({reason}): "
            f"connect to the network, or {TO_DO}"
        )
    importlib.invalidate_caches()


if packages := find_missing():
    install_packages(packages)

from coursepkg.viz import notebook_defaults

notebook_defaults()
