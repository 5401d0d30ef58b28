"""The page "Try it": models that run in the reader's browser, exported when the book is built.

    ```{try-it} translation
    the form, in HTML
    ```

stands for a button that loads the model, and the form behind it. `<div data-try-it="translation"></div>` in a chapter
stands for the same demo; elsewhere a notebook shows nothing there, so a link to the page stands above it. The command
of the model writes it below _build/models, again only when its weights or what exports it change; the finished site
gets its files compressed. Where the packages that an export needs are not installed there is a sentence instead of the
button. JavaScript: book/scripts/try_it.
"""

import fcntl
import gzip
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective


@dataclass(frozen=True)
class LiveModel:
    """How a model comes into the page."""

    label: str
    """What it does, for the button that loads it."""
    command: tuple[str, ...]
    """Arguments of Python that export it; `--out FOLDER` follows."""
    sources: tuple[str, ...]
    """Files and folders that decide what is exported, below the root."""


MODELS = {
    "translation": LiveModel(
        "Translate",
        ("-m", "coursepkg", "translation", "export", "--format", "onnx"),
        (
            "coursepkg/projects/translation/checkpoint",
            "coursepkg/app/export.py",
            "coursepkg/projects/translation/export/graphs.py",
        ),
    ),
    "ocr": LiveModel(
        "Read lines",
        ("-m", "coursepkg", "ocr", "export", "--format", "onnx"),
        (
            "coursepkg/projects/ocr/checkpoint",
            "coursepkg/app/export.py",
            "coursepkg/projects/ocr/export.py",
            "coursepkg/projects/ocr/model/backbone.py",
            "coursepkg/projects/ocr/model/recognizer.py",
        ),
    ),
    "sign_language": LiveModel(
        "Name signs",
        ("scripts/export_sign_demo.py",),
        (
            "coursepkg/projects/sign_language/few_shot/checkpoint",
            "coursepkg/projects/sign_language/landmarks/models",
            "coursepkg/app/export.py",
            "coursepkg/projects/sign_language/few_shot/embedding.py",
            "scripts/export_sign_demo.py",
        ),
    ),
}
"""By the name that the directive takes."""
EXPORT_NEEDS = ("ai_edge_litert", "onnx", "onnxscript")
RUNTIME = "book/vendor/onnxruntime"
FORMS = "book/try_it.md"
"""The page with the forms."""
MARK = re.compile(r'<div data-try-it="(\w+)"></div>')
"""Where a chapter shows a demo."""
NO_MODELS = "This copy of the site was built without the models. Run make book, which installs what exports them."
FRAME = """
<div class="try-it" data-demo="{name}">
<p class="try-it-note">This demo needs JavaScript. The command line of the course does
the same without a browser.</p>
<p><button type="button" class="try-it-load" hidden>{label}: load the model ({size:.0f} MB)</button>
<span role="status"></span></p>
<div class="try-it-form" hidden>
{form}
</div>
</div>
<script src="{static}try_it/start.js"></script>
"""


def can_export() -> bool:
    """Whether the packages are there that the exports need."""
    return all(importlib.util.find_spec(name) for name in EXPORT_NEEDS)


def state_of(root: Path, name: str) -> str:
    """SHA-256 of all that decides the exported files."""
    sources = [root / source for source in MODELS[name].sources]
    digest = hashlib.sha256()
    for source in sources:
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def export(root: Path, name: str, folder: Path) -> None:
    """Write card, attribution and compressed graphs of the shipped model, unless they are there already.

    Raises:
        ExtensionError: the command fails.
    """
    stamp, state = folder / "state", state_of(root, name)
    if stamp.is_file() and stamp.read_text() == state:
        return
    shutil.rmtree(folder, ignore_errors=True)
    raw = folder.with_name(f"{name}.export")
    shutil.rmtree(raw, ignore_errors=True)
    command = [sys.executable, *MODELS[name].command, "--out", str(raw)]
    # A script finds the package beside it, installed or not.
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ExtensionError(
            f"the model {name} was not exported: {done.stderr.strip()}"
        )
    folder.mkdir(parents=True)
    for text in [raw / "export.json", *raw.glob("*.txt")]:
        shutil.copy(text, folder)
    for graph in raw.glob("*.onnx"):
        (folder / f"{graph.name}.gz").write_bytes(
            gzip.compress(graph.read_bytes(), 6, mtime=0)
        )
    shutil.rmtree(raw)
    stamp.write_text(state)


def models_folder(app: Sphinx) -> Path:
    """Where the exported files of all languages of the site are kept."""
    return Path(app.srcdir) / "_build" / "models"


def export_all(app: Sphinx) -> None:
    """Export what is missing; the builds of other languages wait for it."""
    if app.builder.format == "html" and can_export():
        folder = models_folder(app)
        folder.parent.mkdir(exist_ok=True)
        with open(folder.with_name("models.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for name in MODELS:
                export(Path(app.srcdir), name, folder / name)


def copy_all(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html" and can_export():
        target = Path(app.outdir) / "_static" / "models"
        shutil.copytree(
            models_folder(app),
            target,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("state"),
        )


def demo(app: Sphinx, document: str, name: str, form: str) -> nodes.Node:
    """A demo of a page: the button that loads the model, and the form behind it."""
    if not can_export():
        return nodes.paragraph(text=NO_MODELS)
    root, folder = Path(app.srcdir), models_folder(app) / name
    loaded = [
        *folder.glob("*.gz"),
        folder / "export.json",
        *(root / RUNTIME).iterdir(),
    ]
    size = sum(path.stat().st_size for path in loaded) / 1e6
    static = "../" * document.count("/") + "_static/"
    html = FRAME.format(
        name=name,
        label=MODELS[name].label,
        size=size,
        form=form.replace("../_static/", static),
        static=static,
    )
    return nodes.raw("", html, format="html")


def form_of(name: str, markdown: str) -> str:
    """The form of a demo, as the page of all demos has it.

    Raises:
        ExtensionError: for a model without a form there.
    """
    found = re.search(
        rf"^```\{{try-it\}} {name}\n(.*?)\n```$", markdown, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise ExtensionError(f"{FORMS} has no form for the model {name}")
    return found[1]


def fill_chapters(app: Sphinx, doctree: nodes.document) -> None:
    """Put the demo where a chapter has its mark; other builders, which run no script, show the link alone."""
    for place in list(doctree.findall(nodes.raw)):
        mark = MARK.search(place.astext())
        if mark is None:
            continue
        app.env.note_dependency(FORMS)
        if app.builder.format != "html":
            place.parent.remove(place)
            continue
        markdown = (Path(app.srcdir) / FORMS).read_text(encoding="utf-8")
        form = form_of(mark[1], markdown)
        place.replace_self(demo(app, app.env.docname, mark[1], form))


class TryIt(SphinxDirective):
    """The form of a model behind the button that loads it."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Raw HTML for the site; nothing for other builders, which run no script and export no model."""
        app = self.env.app
        if app.builder.format != "html":
            return []
        form = "\n".join(self.content)
        return [demo(app, self.env.docname, self.arguments[0], form)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("try-it", TryIt)
    app.connect("builder-inited", export_all)
    app.connect("doctree-read", fill_chapters)
    app.connect("build-finished", copy_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
