# Installs the course's package where it is missing. torch and numpy stay as they are.
import importlib.util

REPOSITORY = ""


class SetupError(Exception):
    def _render_traceback_(self):  # Jupyter prints these lines in place of a traceback
        return [f"error: {self}"]


def install():
    import importlib.metadata
    import os
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    here = [folder for folder in Path.cwd().parents if (folder / "coursepkg" / "__init__.py").exists()]
    source = (
        os.environ.get("COURSEPKG_SOURCE") or (here and str(here[0])) or (REPOSITORY and f"git+{REPOSITORY}")
    )
    to_do = "set COURSEPKG_SOURCE to a wheel, folder or URL of it (%env COURSEPKG_SOURCE=...) and run this cell again"
    if not source:
        raise SetupError(f"coursepkg is not installed, and no place to install it from is known: {to_do}")
    kept = {d.name.lower(): d.version for d in importlib.metadata.distributions() if d.name}
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, "constraints.txt")
        pins.write_text("".join(f"{name}=={kept[name]}\n" for name in ("torch", "numpy") if name in kept))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--constraint", str(pins), source]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise SetupError(
            f"coursepkg could not be installed from {source} ({reason}): connect to the network, or {to_do}"
        )
    importlib.invalidate_caches()


if importlib.util.find_spec("coursepkg") is None:
    install()

from coursepkg.viz import notebook_defaults

notebook_defaults()
