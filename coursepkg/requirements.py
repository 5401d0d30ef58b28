"""What the package and its extras require, and which of it is installed."""

import platform
import re
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec

PACKAGES = {"paddle": "paddlepaddle"}
"""Packages that are not called like the module that they bring."""


def pip_install(packages: dict[str, str]) -> str:
    """Return the command that installs `packages`, given as by `requirements`."""
    return "pip install " + " ".join(
        f"'{name}>={versions}'" for name, versions in packages.items()
    )


def requirements(extra: str | None = None) -> dict[str, str]:
    """The packages that coursepkg or an extra requires here, with lowest versions.

    Where there is a version that they must lie below it follows, as in `1.0.4,<2`.
    """
    try:
        lines = metadata.requires("coursepkg") or []
    except metadata.PackageNotFoundError:
        return {}
    wanted = {}
    for line in lines:
        spec, _, marker = line.partition(";")
        of_extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        if (of_extra.group(1) if of_extra else None) != extra:
            continue
        system = re.search(r"platform_system == ['\"](\w+)['\"]", marker)
        if system and system.group(1) != platform.system():
            continue
        name = re.match(r"[\w.-]+", spec)
        floor = re.search(r">=\s*([\w.]+)", spec)
        ceiling = re.search(r"<\s*([\w.]+)", spec)
        if name:
            versions = floor.group(1) if floor else ""
            versions += f",<{ceiling.group(1)}" if ceiling else ""
            wanted[name.group()] = versions
    return wanted


def unfit(version: str, wanted: str) -> bool:
    """Whether a version is older or newer than `requirements` wants it."""
    floor, _, ceiling = wanted.partition(",<")
    return older(version, floor) or (bool(ceiling) and not older(version, ceiling))


def older(version: str, floor: str) -> bool:
    """Whether `version` lies below `floor` by leading numbers (2.13.0+cpu > 2.6)."""

    def numbers(text: str) -> list[int]:
        return [
            int(part) for part in re.findall(r"\d+", re.split(r"[+a-zA-Z]", text)[0])
        ]

    return numbers(version) < numbers(floor)


def installed(name: str) -> str | None:
    """Return the version of a package that is installed, None where it is not."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def missing_packages(modules: Iterable[str]) -> str:
    """The packages of those modules that are not there, joined by "and"."""
    return " and ".join(
        PACKAGES.get(name, name) for name in modules if find_spec(name) is None
    )
