"""Copy third-party JavaScript, styles and fonts from npm packages into the repository.

The site loads nothing from another host, so what its pages and their tests need lies in book/vendor and in
tests/book. Run this again only to move to another version:

    python scripts/vendor_assets.py

It needs npm. Every archive is checked against the SHA-512 recorded here before anything is replaced.
"""

import base64
import gzip
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]


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
    """Folder below `base`."""
    keep: tuple[str, ...]
    """Patterns of the files to copy, relative to `strip`."""
    compress: tuple[str, ...] = ()
    """Patterns of those among them that are stored as .gz, which the page unpacks."""
    base: str = "book/vendor"
    """Where the folder stands, below the root: what is served, or what only tests use."""

    @property
    def path(self) -> PurePosixPath:
        """The folder below the root."""
        return PurePosixPath(self.base) / self.folder


PACKAGES = [
    Package(
        name="katex",
        version="0.16.22",
        sha512="XCHRdUw4lf3SKBaJe4EvgqIuWwkPSo9XoeO8GjQW94Bp7TWv9hNhzZjZ+OH9yf1UmLygb7DIT5GSFQiyt16zYg==",
        strip="dist",
        folder="katex",
        # The script runs while the book is built; a page takes the style and the fonts it uses.
        keep=("katex.min.js", "katex.min.css", "fonts/*.woff2"),
    ),
    Package(
        name="axe-core",
        version="4.11.1",
        sha512="BASOg+YwO2C+346x3LZOeoovTIoTrRqEsqMa6fmfAV0P+U9mFr9NsyOEpiYvFjbc64NMrSswhV50WdXzdb/Z5A==",
        strip="",
        folder="axe",
        keep=("axe.min.js", "LICENSE"),
        base="tests/book",
    ),
    Package(
        name="onnxruntime-web",
        version="1.30.0",
        sha512="q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
        strip="dist",
        folder="onnxruntime",
        # The smallest build: WebAssembly alone, its loader inside the module.
        keep=("ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"),
        compress=("*.wasm",),
    ),
    Package(
        name="reveal.js",
        version="6.0.2",
        sha512="JYIg5D9aoxoaLeb84O+OvAwsKWdIavVgEDScxtYEXFCT6t6TQrhNtSgogcjdCpdLsWglhJn3zyE3fUOwiH5KEg==",
        strip="dist",
        folder="reveal",
        # The frame of the decks, and the window with the speaker's notes.
        keep=("reveal.js", "reveal.css", "plugin/notes.js"),
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
    """Where below the root a file of the archive goes; None when the book does not need it."""
    root = PurePosixPath("package") / package.strip
    path = PurePosixPath(member)
    if not path.is_relative_to(root):
        return None
    inside = path.relative_to(root)
    matches = any(fnmatch(str(inside), pattern) for pattern in package.keep)
    return package.path / inside if matches else None


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
            data = source.read()
            if any(fnmatch(path.name, pattern) for pattern in package.compress):
                path, data = (
                    path.with_name(f"{path.name}.gz"),
                    gzip.compress(data, mtime=0),
                )
            path.write_bytes(data)
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
                    f"error: {package.name}: {error}; nothing is changed",
                    file=sys.stderr,
                )
                return 2
            print(f"{package.name} {package.version}: {count} files")
        for folder in sorted({package.path for package in PACKAGES}):
            shutil.rmtree(ROOT / folder, ignore_errors=True)
            shutil.copytree(fresh / folder, ROOT / folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
