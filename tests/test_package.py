"""The rules of the house for the package: what may import what, how large a file may be, what is declared where."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import jaxtyping
import pytest
import torch

import coursepkg
import coursepkg.attention
import coursepkg.blocks
import coursepkg.data
import coursepkg.decoding
import coursepkg.metrics
import coursepkg.text
import coursepkg.training
import coursepkg.viz
from coursepkg.attention.api import CAPABILITIES
from coursepkg.attention.rope import RotaryEmbedding
from tests.conftest import ANNOTATED

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "coursepkg"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPLEMENTATIONS = (*(row.module for row in CAPABILITIES.values()), "linear", "additive")
LAYERS = ("attention", "blocks", "decoding")
"""From the bottom up: no module of one imports a later one, not even in a function."""
SHORTEST, LONGEST, WIDEST = 40, 600, 88
SHORT_FOR_A_REASON = {
    "coursepkg.__main__": "`python -m coursepkg`",
    "coursepkg.lazy": "imported by every package, so it imports nothing",
    "coursepkg.shapes": "the legend of letters that pages show whole",
}
"""Modules under 40 lines, each with its reason."""
MOST_IN_A_FOLDER = 22
LAZY_PACKAGES = [
    coursepkg,
    coursepkg.attention,
    coursepkg.blocks,
    coursepkg.data,
    coursepkg.decoding,
    coursepkg.metrics,
    coursepkg.text,
    coursepkg.training,
    coursepkg.viz,
]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, *, everywhere: bool) -> Iterator[str]:
    """Modules that a file imports: anywhere in it, or only when it is itself imported."""
    nodes = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not everywhere:
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        nodes.extend(ast.iter_child_nodes(node))


def test_import_of_the_package_is_light() -> None:
    packages = ", ".join(package.__name__ for package in LAZY_PACKAGES)
    probe = f"import sys, {packages}; print([n for n in ('torch', 'numpy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("package", LAZY_PACKAGES, ids=lambda p: p.__name__)
def test_every_lazy_name_leads_somewhere(package) -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    with pytest.raises(AttributeError, match="has no attribute 'attentoin'"):
        _ = package.attentoin


def test_every_module_can_be_imported() -> None:
    for module in pkgutil.walk_packages(coursepkg.__path__, "coursepkg."):
        if module.name != "coursepkg.__main__" and not requires_extra(module.name):
            importlib.import_module(module.name)


def requires_extra(name: str) -> bool:
    """Whether a module holds GPU kernels, which import Triton because they are written in it."""
    return name.rpartition(".")[2].startswith("triton_")


def test_version_is_said_once() -> None:
    assert coursepkg.__version__ == PROJECT["version"]


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_projects_import_the_rest_and_never_the_reverse(path: Path) -> None:
    if path.is_relative_to(PACKAGE / "projects"):
        return
    at_import = [name for name in imports(path, everywhere=False) if name.startswith("coursepkg.projects")]
    assert at_import == []


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_implementations_do_not_import_one_another(name: str) -> None:
    path = PACKAGE / "attention" / f"{name}.py"
    others = {f"coursepkg.attention.{other}" for other in IMPLEMENTATIONS if other != name}
    assert others.isdisjoint(imports(path, everywhere=True))


@pytest.mark.parametrize(("place", "layer"), list(enumerate(LAYERS)))
def test_layers_do_not_reach_up(place: int, layer: str) -> None:
    above = tuple(f"coursepkg.{name}" for name in (*LAYERS[place + 1 :], "projects"))
    found = {
        module_name(path): name
        for path in (PACKAGE / layer).rglob("*.py")
        for name in imports(path, everywhere=True)
        if name.startswith(above)
    }
    assert found == {}


def optional_packages() -> set[str]:
    """Import names of what only an extra brings."""
    renamed = {"jupyter-book": "jupyter_book", "pyyaml": "yaml", "pillow": "PIL", "pytest-xdist": "xdist"}
    required = {re.split(r"[<>=;\[ ]", line)[0] for line in PROJECT["dependencies"]}
    extra = {
        re.split(r"[<>=;\[ ]", s)[0] for lines in PROJECT["optional-dependencies"].values() for s in lines
    }
    # Pillow comes with matplotlib, which is required.
    return {renamed.get(name, name).replace("-", "_") for name in extra - required - {"pillow"}}


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_no_optional_dependency_is_imported_with_a_module(path: Path) -> None:
    if requires_extra(module_name(path)):
        return
    roots = {name.partition(".")[0] for name in imports(path, everywhere=False)}
    assert roots.isdisjoint(optional_packages())


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_a_file_is_one_whole_concept(path: Path) -> None:
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines <= LONGEST
    if path.name != "__init__.py" and module_name(path) not in SHORT_FOR_A_REASON:
        assert n_lines >= SHORTEST


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_lines_fit_on_a_page(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [n for n, line in enumerate(lines, 1) if len(line) > WIDEST] == []


def test_folders_can_be_read_at_a_glance() -> None:
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in SOURCES)
    del sizes["checks"]
    assert {folder: n for folder, n in sizes.items() if n > MOST_IN_A_FOLDER} == {}


def test_nothing_imports_in_a_circle() -> None:
    """Lazy imports count: a circle that is put off until a call is still a circle."""
    names = {module_name(path): path for path in SOURCES}
    graph = {
        name: {found for found in imports(path, everywhere=True) if found in names} - {name}
        for name, path in names.items()
    }
    # A package's own name is imported with every module of it.
    for name, path in names.items():
        if path.name == "__init__.py":
            graph[name] = {found for found in graph[name] if not found.startswith(f"{name}.")}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_shapes_are_checked_wherever_they_are_annotated() -> None:
    annotated = [module_name(path) for path in SOURCES if "from jaxtyping import" in path.read_text("utf-8")]
    assert sorted(ANNOTATED) == annotated
    with pytest.raises(jaxtyping.TypeCheckError, match="positions"):
        RotaryEmbedding(8)._cos_sin(torch.zeros(3))


def test_inheritance_stops_at_one_level() -> None:
    classes = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes[node.name] = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    # An exception, a protocol and a named tuple are how Python names such things, not behaviour taken over.
    deep = {name: bases & classes.keys() for name, bases in classes.items() if bases & classes.keys()}
    assert deep == {}


def declared() -> list[str]:
    """Every requirement of pyproject.toml, of the package and of its extras."""
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    return [*PROJECT["dependencies"], *extras]


def test_the_extras_are_there_with_lower_bounds() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras) == {
        "ocr",
        "ocr-paddle",
        "video",
        "t5",
        "landmarks",
        "export",
        "onnx",
        "triton",
        "chapters",
        "book",
        "class",
        "dev",
    }
    for line in declared():
        assert ">=" in line, f"{line}: no lower bound"
        assert "==" not in line.partition(";")[0], f"{line}: pinned for users"


def test_constraints_cover_every_declared_package_above_its_bound() -> None:
    from coursepkg.doctor import older

    pinned = dict(line.split("==") for line in constraint_lines())
    for line in declared():
        name, floor = re.match(r"([\w.-]+)>=([\w.]+)", line).groups()
        assert not older(pinned[name.lower()], floor), line
    assert list(pinned) == sorted(pinned)


def test_constraints_name_no_build_and_no_place() -> None:
    assert "torch==2.13.0" in constraint_lines()
    for line in constraint_lines():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*", line), line


def constraint_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_constraints_were_used() -> None:
    """`make test` installs with the constraints; a drift here means that the file was not used."""
    from importlib.metadata import PackageNotFoundError, version

    drift = {}
    for line in constraint_lines():
        name, wanted = line.split("==")
        try:
            found = version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
        if found != wanted:
            drift[name] = (wanted, found)
    assert drift == {}
