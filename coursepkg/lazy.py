"""Names of a package that are looked up on first use: importing it stays light."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def lazy_names(
    package: str, home: Mapping[str, str], present: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return what a package takes as its `__getattr__` and `__dir__`.

    Args:
        package: the package's own `__name__`.
        home: for each name the module under the package that defines it, such as
            `attention.rope`.
        present: names that the package has already.
    """

    def look_up(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    def list_names() -> list[str]:
        return sorted([*present, *home])

    return look_up, list_names
