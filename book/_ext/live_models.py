"""The page "Try it": models that run in the reader's browser, exported when the book is built.

    ```{try-it} translation
    the form, in HTML
    ```

stands for a button that loads the model, and the form behind it. `coursepkg NAME export --format onnx` writes the
model below _build/models, again only when checkpoint or exporter change; the finished site gets its files compressed.
Where onnx and onnxscript are not installed there is a sentence instead of the button. JavaScript: book/scripts/try_it.
"""

import gzip
import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

MODELS = {"translation": "Translate", "ocr": "Read lines"}
"""By the name of their command: what they do, for the button that loads them."""
EXPORTERS = {
    "translation": ("app/export.py", "projects/translation/export/graphs.py"),
    "ocr": (
        "app/export.py",
        "projects/ocr/export.py",
        "projects/ocr/model/backbone.py",
        "projects/ocr/model/recognizer.py",
    ),
}
"""What the exported graphs hang on besides the checkpoint, below the package."""
RUNTIME = "book/vendor/onnxruntime"
NO_MODELS = "This copy of the site was built without the models. Run make book, which installs what exports them."
FRAME = """
<div class="try-it" data-demo="{name}">
<p class="try-it-note">This demo needs JavaScript. The commands on this page do the same without a browser.</p>
<p><button type="button" class="try-it-load" hidden>{label}: load the model ({size:.0f} MB)</button>
<span role="status"></span></p>
<div class="try-it-form" hidden>
{form}
</div>
</div>
<script src="{static}try_it/start.js"></script>
"""


def can_export() -> bool:
    """Whether the packages are there that an export to ONNX needs."""
    return all(importlib.util.find_spec(name) for name in ("onnx", "onnxscript"))


def state_of(root: Path, name: str) -> str:
    """SHA-256 of all that decides the exported files."""
    package = root / "coursepkg"
    files = sorted((package / "projects" / name / "checkpoint").rglob("*"))
    files += [package / exporter for exporter in EXPORTERS[name]]
    digest = hashlib.sha256()
    for path in files:
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
    command = [sys.executable, "-m", "coursepkg", name, "export", "--format", "onnx"]
    done = subprocess.run(
        [*command, "--out", str(raw)], cwd=root, capture_output=True, text=True
    )
    if done.returncode:
        raise ExtensionError(
            f"the model {name} was not exported: {done.stderr.strip()}"
        )
    folder.mkdir(parents=True)
    shutil.copy(raw / "export.json", folder)
    for graph in raw.glob("*.onnx"):
        (folder / f"{graph.name}.gz").write_bytes(
            gzip.compress(graph.read_bytes(), 6, mtime=0)
        )
    attribution = (
        root / "coursepkg" / "projects" / name / "checkpoint" / "ATTRIBUTION.txt"
    )
    if attribution.is_file():
        shutil.copy(attribution, folder)
    shutil.rmtree(raw)
    stamp.write_text(state)


def models_folder(app: Sphinx) -> Path:
    return Path(app.outdir).parent / "models"


def export_all(app: Sphinx) -> None:
    if app.builder.format == "html" and can_export():
        for name in MODELS:
            export(Path(app.srcdir), name, models_folder(app) / name)


def copy_all(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html" and can_export():
        target = Path(app.outdir) / "_static" / "models"
        shutil.copytree(
            models_folder(app),
            target,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("state"),
        )


class TryIt(SphinxDirective):
    """The form of a model behind the button that loads it."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Raw HTML for the site; nothing for other builders, which run no script and export no model."""
        name = self.arguments[0]
        if self.env.app.builder.format != "html":
            return []
        if not can_export():
            return [nodes.paragraph(text=NO_MODELS)]
        root, folder = Path(self.env.srcdir), models_folder(self.env.app) / name
        loaded = [
            *folder.glob("*.gz"),
            folder / "export.json",
            *(root / RUNTIME).iterdir(),
        ]
        size = sum(path.stat().st_size for path in loaded) / 1e6
        static = "../" * self.env.docname.count("/") + "_static/"
        label = MODELS[name]
        form = "\n".join(self.content)
        html = FRAME.format(name=name, label=label, size=size, form=form, static=static)
        return [nodes.raw("", html, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("try-it", TryIt)
    app.connect("builder-inited", export_all)
    app.connect("build-finished", copy_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
