"""The rules of the house for the repository: what the README promises exists, and nothing leaks in."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from coursepkg.cli import COMMANDS
from coursepkg.training.saved_model import MOST_BYTES

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = re.compile(r"coursepkg/projects/\w+/checkpoint/model/model\.safetensors")
LANDMARKS = re.compile(r"coursepkg/projects/sign_language/landmarks/models/\w+_landmark_full\.tflite")
LARGEST = 5 * 2**20
README = (ROOT / "README.md").read_text(encoding="utf-8")
MACHINE_PATH = re.compile(r"(?<![\w.:~*-])/(?:work|root|home|farm|tmp|opt)/[\w.]")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEXT = {".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".cfg", ".cff", ".sh", ".bib", ".css", ".js", ""}


def repository_files() -> list[Path]:
    """Files that git tracks or would track; in a copy without git, those outside the usual build folders."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
            "\0"
        )
        paths = [ROOT / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        built = {".venv", "_build", "__pycache__", ".git"}
        paths = [path for path in ROOT.rglob("*") if not built & set(path.relative_to(ROOT).parts)]
    return [path for path in paths if path.is_file()]


def texts() -> list[Path]:
    vendored = ROOT / "book" / "vendor"
    return [p for p in repository_files() if p.suffix in TEXT and not p.is_relative_to(vendored)]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def test_no_file_is_too_large() -> None:
    large = {p.relative_to(ROOT).as_posix(): p.stat().st_size for p in repository_files()}
    large = {name: size for name, size in large.items() if size > LARGEST}
    # Trained models may be larger: those that `predict` takes without further ado, and MediaPipe's two networks for
    # landmarks, which are shipped as their makers made them.
    shipped = {
        name: size for name, size in large.items() if SHIPPED.fullmatch(name) or LANDMARKS.fullmatch(name)
    }
    assert large == shipped
    assert all(
        size <= (40 * 2**20 if "translation" in name else MOST_BYTES) for name, size in shipped.items()
    )


def test_no_path_of_one_machine() -> None:
    # The two files below hold such paths on purpose: they are what is searched for.
    searchers = {"tests/notebooks/test_notebooks.py", "scripts/notebook_rules.py"}
    found = {}
    for path in texts():
        name = path.relative_to(ROOT).as_posix()
        hit = MACHINE_PATH.search(path.read_text(encoding="utf-8"))
        if hit and name not in searchers:
            found[name] = hit.group()
    assert found == {}


def test_the_machine_path_rule_can_fail() -> None:
    assert MACHINE_PATH.search("see /" + "home/me/data")
    assert not MACHINE_PATH.search("https://example.org/home/page and docs/tmp/x")


@pytest.mark.parametrize(
    "name", ["book", "test", "lab", "bench", "notebooks", "links", "alone", "offline", "pdf", "downloads"]
)
def test_makefile_has(name: str) -> None:
    assert name in make_targets()


@pytest.mark.parametrize("page", ["README.md", "book/how_to_run.md"])
def test_every_make_command_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z]+)\b(?=[`\s|]*(?:$|[`|#\s]))", code_of(text)))
    assert named
    assert named <= make_targets()


@pytest.mark.parametrize("page", ["README.md", "book/how_to_run.md"])
def test_every_coursepkg_command_exists(page: str) -> None:
    text = code_of((ROOT / page).read_text(encoding="utf-8"))
    named = set(re.findall(r"^\s*coursepkg ([a-z][a-z-]*)", text, flags=re.MULTILINE))
    assert named
    assert named <= COMMANDS.keys()


def code_of(text: str) -> str:
    """The code spans and code blocks of a page, one a line."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return "\n".join([*blocks, *spans])


def test_the_file_tree_of_the_readme_exists() -> None:
    tree = re.search(r"^```text\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    assert tree
    folders: list[str] = []
    for line in tree.group(1).splitlines():
        indent, name = re.match(r"( *)(\S+)", line).groups()
        folders[len(indent) // 2 :] = [name.rstrip("/")]
        assert (ROOT / "/".join(folders)).exists(), "/".join(folders)


def test_links_and_pictures_of_the_readme_exist() -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", README) + re.findall(r'src="([^"]+)"', README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_pictures_of_the_readme_have_alt_text() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]", README) + re.findall(r'<img[^>]*alt="([^"]*)"', README)
    assert pictures
    assert all(len(alt) > 20 for alt in pictures)


def test_licences() -> None:
    code = (ROOT / "LICENSE").read_text(encoding="utf-8")
    text = (ROOT / "LICENSE-text").read_text(encoding="utf-8")
    assert "Apache License" in code
    assert "END OF TERMS AND CONDITIONS" in code
    assert text.startswith("Attribution 4.0 International")
    assert "Section 8 -- Interpretation." in text


def test_the_address_of_the_repository_stands_in_one_place() -> None:
    """While it is empty, no file invents one; once it is set, only what `make links` writes repeats it."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    address = urls["Repository"]
    launch = re.compile(r"(?:colab\.research\.google\.com/github|mybinder\.org/v2/gh)/[\w.-]+/[\w.-]+")
    badge = re.compile(r"github\.com/[\w.-]+/[\w.-]+/(?:actions|blob|raw|tree)")
    for path in texts():
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("tests/"):
            continue
        if not address:
            invented = launch.search(text) or badge.search(text)
            assert not invented, f"{name}: {invented.group()}"
        elif name not in ("pyproject.toml", "README.md", "CITATION.cff", "_config.yml"):
            assert address not in text, name


def test_the_citation_can_be_read() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert str(citation["version"]) == project["version"]
    assert citation["license"] == ["Apache-2.0", "CC-BY-4.0"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_failing_command_fails_the_workflow(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert "-eo pipefail" in workflow["defaults"]["run"]["shell"]
    assert all("timeout-minutes" in job or "deploy" in name for name, job in workflow["jobs"].items())


def test_workflows_cover_pythons_torches_book_and_week() -> None:
    assert {path.stem for path in WORKFLOWS} == {"tests", "book", "colab"}
    tests = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    assert all(word in tests for word in ('"3.11"', '"3.13"', "oldest", "newest", "2.6.*"))
    colab = yaml.safe_load((ROOT / ".github/workflows/colab.yml").read_text(encoding="utf-8"))
    # YAML 1.1 reads the key `on` as true.
    assert "schedule" in colab[True]


@pytest.mark.parametrize(
    "name", [".ci/run", *(f"scripts/{p.name}" for p in sorted((ROOT / "scripts").glob("*.sh")))]
)
def test_shell_scripts_stop_at_the_first_error(name: str) -> None:
    path = ROOT / name
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] in ("#!/usr/bin/env bash", "#!/bin/sh")
    assert any(line.startswith("set -e") for line in lines)
    assert path.stat().st_mode & 0o100, "not executable"
    subprocess.run(["bash", "-n", str(path)], check=True)
