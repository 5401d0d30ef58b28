"""Pictures of every kind that users have, and files that are none."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.data.images import (
    check_size,
    read_gray,
    read_rgb,
    resize_to_box,
    resize_to_height,
)

GRAY = np.tile(np.linspace(0, 255, 60).round().astype(np.uint8), (40, 1))
"""Dark on the left, light on the right."""


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds no pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def test_gray_is_read_as_it_is_from_files_and_bytes(tmp_path: Path) -> None:
    content = saved(Image.fromarray(GRAY))
    (tmp_path / "a.png").write_bytes(content)
    for source in (content, tmp_path / "a.png", str(tmp_path / "a.png")):
        found = read_gray(source)
        assert found.dtype == np.uint8
        assert np.array_equal(found, GRAY)
        assert found.flags.writeable


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "P", "CMYK", "1", "YCbCr"])
def test_every_kind_of_colours_becomes_the_same_gray(mode: str) -> None:
    kind = "TIFF" if mode in ("CMYK", "YCbCr") else "PNG"
    page = Image.fromarray(GRAY)
    content = saved(
        page.convert("RGB").convert(mode, dither=Image.Dither.NONE, palette=Image.Palette.ADAPTIVE)
        if mode != "LA"
        else page.convert("LA"),
        kind,
    )
    found = read_gray(content).astype(int)
    # Of two colours the nearer one is half of the range away at most.
    allowed = 128 if mode == "1" else 6
    assert np.abs(found - GRAY).max() <= allowed
    assert read_rgb(content).shape == (40, 60, 3)


def test_cmyk_jpegs_are_not_inverted() -> None:
    found = read_gray(saved(Image.fromarray(GRAY).convert("RGB").convert("CMYK"), "JPEG", quality=95)).astype(
        int
    )
    assert np.abs(found - GRAY).max() <= 12


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_and_not_cut(kind: str) -> None:
    deep = Image.fromarray(GRAY.astype(np.uint16) * 257)
    assert np.array_equal(read_gray(saved(deep, kind)), GRAY)


def test_what_is_transparent_is_white() -> None:
    clear = Image.new("RGBA", (30, 20), (0, 0, 0, 0))
    clear.putpixel((3, 4), (0, 0, 0, 255))
    found = read_gray(saved(clear))
    assert (found[4, 3], found[0, 0], found.min(), int((found == 0).sum())) == (0, 255, 0, 1)
    palette = Image.new("P", (8, 8), 0)
    palette.putpalette([0, 0, 0, 200, 200, 200])
    assert (read_gray(saved(palette, transparency=0)) == 255).all()


@pytest.mark.parametrize(("orientation", "turns"), [(1, 0), (3, 2), (6, 3), (8, 1)])
def test_exif_rotation_is_undone(orientation: int, turns: int) -> None:
    """A camera stores the picture turned, and the tag says how to turn it back."""
    stored = np.rot90(GRAY, -turns)
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = saved(Image.fromarray(np.ascontiguousarray(stored)), "PNG", exif=exif)
    assert np.array_equal(read_gray(content), GRAY)


def test_a_damaged_exif_block_costs_only_the_rotation() -> None:
    content = saved(Image.fromarray(GRAY), "JPEG", exif=b"Exif\x00\x00garbage that is no TIFF", quality=95)
    assert np.abs(read_gray(content).astype(int) - GRAY).max() <= 10


@pytest.mark.parametrize("size", [(20_000, 20_000), (9_000, 9_000), (100_000, 700)])
def test_huge_pictures_are_refused_before_they_are_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"photo\.png: .*more than 64,000,000.*scale it down") as caught:
        read_gray(png_header(*size), "photo.png")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "TIFF", "WEBP"])
def test_a_picture_cut_short_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    content = saved(Image.fromarray(noise), kind)
    path = tmp_path / f"photo.{kind.lower()}"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"cut short|can be read|not a picture") as caught:
        read_gray(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"Quan Pho 45.000", "not a picture; PNG, JPEG"),
        (b"%PDF-1.7 and so on, many bytes", "a PDF, not a picture; render its pages"),
        (b"\x00\x00\x00\x18ftypheic and so on, bytes", "HEIC or AVIF picture or a video"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "not a picture"),
        (png_header(20, 20), "damaged or cut short"),
    ],
)
def test_what_is_no_picture_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(content)
    for source, name in ((path, str(path)), (content, "picture")):
        with pytest.raises(ValueError, match=message) as caught:
            read_gray(source)
        assert str(caught.value).startswith(f"{name}: ")
        assert "\n" not in str(caught.value)


def test_folders_and_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.png: there is no such picture"):
        read_gray(tmp_path / "no.png")
    with pytest.raises(ValueError, match="is a folder"):
        read_gray(tmp_path)


def test_floating_point_pixels_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^picture: its pixels are floating-point"):
        read_gray(saved(Image.fromarray(np.ones((9, 9), dtype=np.float32)), "TIFF"))


def test_colours_in_lab_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^x: its colours are in CIE Lab; save it in RGB$"):
        read_gray(saved(Image.new("LAB", (9, 9)), "TIFF"), "x")


def test_resizing_to_a_height_keeps_the_proportions() -> None:
    assert resize_to_height(GRAY, 20).shape == (20, 30)
    assert resize_to_height(GRAY, 80).shape == (80, 120)
    assert resize_to_height(GRAY, 40) is GRAY
    assert np.abs(resize_to_height(GRAY, 20).astype(int) - GRAY[::2, ::2]).max() <= 6


def test_thin_strokes_survive_shrinking() -> None:
    """Taking every fourth pixel would lose three of four strokes altogether."""
    stroke = np.full((80, 80), 255, dtype=np.uint8)
    stroke[:, 41] = 0
    assert resize_to_height(stroke, 20).min() < 230


def test_the_fixed_box_stretches() -> None:
    assert resize_to_box(GRAY, 32, 128).shape == (32, 128)
    assert np.abs(resize_to_box(GRAY, 40, 120)[:, ::2].astype(int) - GRAY).max() <= 4


@pytest.mark.parametrize("shape", [(1, 50), (50, 1), (1, 1)])
def test_one_pixel_is_no_line(shape: tuple[int, int]) -> None:
    image = np.zeros(shape, dtype=np.uint8)
    message = f"a.jpg, instance 2: {shape[1]} x {shape[0]} pixels hold no text"
    for refuse in (
        lambda: check_size(image, "a.jpg, instance 2"),
        lambda: resize_to_height(image, 40, "a.jpg, instance 2"),
        lambda: resize_to_box(image, 40, 100, "a.jpg, instance 2"),
    ):
        with pytest.raises(ValueError, match=message):
            refuse()


def test_a_strip_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(ValueError, match=r"strip: 4000 x 2 pixels would be 80,000 wide at height 40.*pieces"):
        resize_to_height(np.zeros((2, 4000), dtype=np.uint8), 40, "strip")
