"""Names of a package that are looked up on first use: importing it stays light."""

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, names: Mapping[str, str], *present: str
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return what a package takes as its `__all__`, `__getattr__` and `__dir__`.

    Args:
        package: the package's own `__name__`.
        names: for each module under the package, such as `attention.rope`, the names
            that it defines, with spaces between them.
        present: names that the package has already.
    """
    home = {name: module for module in names for name in names[module].split()}
    everything = [*present, *home]

    def look_up(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return everything, look_up, lambda: sorted(everything)
