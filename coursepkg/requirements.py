"""What the package and its extras require, and which of it is installed."""

import re
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec

PACKAGES = {"paddle": "paddlepaddle"}
"""Packages that are not called like the module that they bring."""


def pip_install(packages: dict[str, str]) -> str:
    """Return the command that installs `packages`, given as name and lowest version."""
    return "pip install " + " ".join(
        f"'{name}>={floor}'" for name, floor in packages.items()
    )


def requirements(extra: str | None = None) -> dict[str, str]:
    """The packages that coursepkg or an extra requires, with lowest versions."""
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
        name = re.match(r"[\w.-]+", spec)
        floor = re.search(r">=\s*([\w.]+)", spec)
        if name:
            wanted[name.group()] = floor.group(1) if floor else ""
    return wanted


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
