"""Where real data live on this machine."""

import os
import sys
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of the real data sets: `$COURSEPKG_DATA`, or a cache folder of the user.

    The folder may not exist yet. Where a set is missing, the generated one that ships with the package serves.
    """
    chosen = os.environ.get("COURSEPKG_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return cache_folder()


def cache_folder() -> Path:
    """Return the folder of this user for what can be made again; it may not exist yet."""
    return _user_cache() / "coursepkg"


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
