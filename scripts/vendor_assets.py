"""Copy the JavaScript and the fonts of the book from npm packages into book/vendor, with their licenses.

The site loads nothing from another host, so the browser's share of MathJax, of the widget player and of its
loader lies in the repository. Run this again only to move to another version:

    python scripts/vendor_assets.py

It needs npm. Every archive is checked against the SHA-512 recorded here before anything is replaced.
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

VENDOR = Path(__file__).resolve().parents[1] / "book" / "vendor"


@dataclass(frozen=True)
class Package:
    """One npm archive and the files of it that the book serves."""

    name: str
    """npm name."""
    version: str
    sha512: str
    """Subresource integrity of the archive, base64, as npm prints it."""
    strip: str
    """Folder inside the archive that `folder` stands for."""
    folder: str
    """Folder below book/vendor."""
    keep: tuple[str, ...]
    """Patterns of the files to copy, relative to `strip`."""


PACKAGES = [
    Package(
        name="mathjax",
        version="3.2.2",
        sha512="Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/FEsPsjKPZGJvtRZM1vO+geW0OhGw==",
        strip="es5",
        folder="mathjax",
        # The extensions are fetched one by one when a page uses a command of theirs.
        keep=(
            "tex-chtml.js",
            "output/chtml/fonts/woff-v2/*.woff",
            "input/tex/extensions/*.js",
        ),
    ),
    Package(
        name="requirejs",
        version="2.3.8",
        sha512="7/cTSLOdYkNBNJcDMWf+luFvMriVm7eYxp4BcFCsAX0wF421Vyce5SXP17c+Jd5otXKGNehIonFlyQXSowL6Mw==",
        strip="",
        folder="widgets",
        keep=("require.js",),
    ),
    Package(
        name="@jupyter-widgets/html-manager",
        version="1.0.15",
        sha512="5thBIV6ymNgmPVOHvzx+gGy8ZSKmSazhtGw4/c4xJDVzRhG9PTeQsRjF3FUTopvFi//SABeNz1yp47bCrJ3CQA==",
        strip="dist",
        folder="widgets",
        # embed-amd.js names its icon fonts in five formats; every browser since 2016 takes woff2.
        keep=("embed-amd.js", "*.woff2"),
    ),
]


def download(package: Package, into: Path) -> Path:
    """The archive of a package, from the registry that npm is set up for, checked against its hash."""
    command = [
        "npm",
        "pack",
        "--silent",
        f"{package.name}@{package.version}",
        "--pack-destination",
        str(into),
    ]
    before = set(into.iterdir())
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (archive,) = set(into.iterdir()) - before
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != package.sha512:
        raise ValueError(
            f"{package.name} {package.version}: sha512 is {found}, expected {package.sha512}"
        )
    return archive


def wanted(package: Package, member: str) -> PurePosixPath | None:
    """Where below book/vendor a file of the archive goes; None when the book does not need it."""
    root = PurePosixPath("package") / package.strip
    path = PurePosixPath(member)
    if not path.is_relative_to(root):
        return None
    inside = path.relative_to(root)
    matches = any(fnmatch(str(inside), pattern) for pattern in package.keep)
    return PurePosixPath(package.folder) / inside if matches else None


def unpack(archive: Path, package: Package, into: Path) -> int:
    """Copy the wanted files of an archive; the number of files copied."""
    count = 0
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            target = wanted(package, member.name)
            source = tar.extractfile(member) if target is not None else None
            if target is None or source is None:
                continue
            path = into / target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read())
            count += 1
    return count


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        archives, fresh = work / "archives", work / "fresh"
        archives.mkdir()
        for package in PACKAGES:
            try:
                count = unpack(download(package, archives), package, fresh)
            except (OSError, subprocess.CalledProcessError, ValueError) as error:
                print(
                    f"error: {package.name}: {error}; book/vendor is unchanged",
                    file=sys.stderr,
                )
                return 2
            print(f"{package.name} {package.version}: {count} files")
        for folder in sorted({package.folder for package in PACKAGES}):
            shutil.rmtree(VENDOR / folder, ignore_errors=True)
            shutil.copytree(fresh / folder, VENDOR / folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
