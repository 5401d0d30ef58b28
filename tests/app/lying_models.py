"""Folders of models that lie: each loads, or is refused in one line, soon and without much memory.

`test_damaged_models` runs this file without the shape checks of the suite, which would refuse most lies before
the package sees them.
"""

import json
import shutil
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from coursepkg.files import file_sha256
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS as OCR_PRESETS
from coursepkg.projects.sign_language.model.classifier import build_model as build_classifier
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from coursepkg.projects.translation.models import build_model
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.t5.predict import T5Translator
from coursepkg.text.vocabulary import SPECIALS, Vocabulary
from coursepkg.training.saved_model import save_model
from tests.projects.ocr.drawn import network as line_network
from tests.projects.sign_language import signed
from tests.projects.translation import tiny

NESTED: Any = "x"
for _ in range(50):
    NESTED = [NESTED]
LIES = (None, [], NESTED, "x", 10**10, -1, float("inf"), True)
SECONDS = 10
"""In which a folder is read or refused, on a slow machine."""


def write_translator(folder: Path) -> None:
    recipe, subwords = tiny.fast(), tiny.subwords()
    folder.mkdir()
    subwords.save(folder)
    torch.manual_seed(0)
    model = build_model(recipe, len(subwords.source), len(subwords.target))
    told = {"recipe": asdict(recipe), "directions": [["zh", "vi"]], "vocabulary": subwords.fingerprints}
    save_model(folder / "model", model, **told, corpora=["toy"], seed=0)


def write_recognizer(folder: Path) -> None:
    vocabulary = Vocabulary((*SPECIALS, *"abcdef"))
    folder.mkdir()
    vocabulary.save(folder / "vocabulary.json")
    told = {"recipe": OCR_PRESETS["tiny"].described(), "vocabulary": vocabulary.fingerprint}
    save_model(folder / "model", line_network(len(vocabulary)), **told, data={"name": "toy"})


def write_sign_recognizer(folder: Path) -> None:
    told = {"recipe": signed.RECIPE.described(), "labels": list(signed.WORDS), "counts": list(signed.COUNTS)}
    save_model(folder / "model", build_classifier(signed.RECIPE, len(signed.WORDS)), **told, seed=0)


SYSTEMS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "translation": (write_translator, Translator.load),
    "ocr": (write_recognizer, Recognizer.load),
    "sign_language": (write_sign_recognizer, SignRecognizer.load),
}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder, and what reads it."""
    write, load = SYSTEMS[request.param]
    folder = tmp_path_factory.mktemp(request.param) / "whole"
    write(folder)
    load(folder)
    return folder, load


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a document, that of the document excepted; of a list to the first two."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for name, one in inner:
        yield (*at, name)
        if isinstance(one, dict | list):
            yield from places(one, (*at, name))


def changed(document: Any, place: tuple[Any, ...], lie: Any) -> Any:
    copied = json.loads(json.dumps(document))
    inner = copied
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = lie
    return copied


def refusal(load: Callable[[Path], object], folder: Path) -> str | None:
    """What is said of a folder that cannot be read, one line; None of one that can be."""
    start = time.monotonic()
    try:
        load(folder)
    except (ValueError, OSError) as reason:
        text: str | None = str(reason)
        assert text
        assert "\n" not in text
    else:
        text = None
    assert time.monotonic() - start < SECONDS
    return text


def test_every_value_of_a_card_may_lie(system: Any) -> None:
    folder, load = system
    path = folder / "model" / "model.json"
    text = path.read_text("utf-8")
    document = json.loads(text)
    refused = tried = 0
    try:
        for place in places(document):
            for lie in LIES:
                path.write_text(json.dumps(changed(document, place, lie)), "utf-8")
                try:
                    refused += refusal(load, folder) is not None
                except Exception as reason:
                    raise AssertionError(f"{place} = {str(lie)[:40]}: {reason!r}") from reason
                tried += 1
    finally:
        path.write_text(text, "utf-8")
    assert tried > 300
    assert refused > tried / 2


@pytest.mark.parametrize(
    "field", ["n_decoder_layers", "n_layers", "n_encoder_layers", "d_model", "d_ff", "max_len", "n_frames"]
)
@pytest.mark.parametrize("size", [10**6, 10**9, 10**30])
def test_huge_sizes_are_refused_before_anything_is_built(system: Any, field: str, size: int) -> None:
    folder, load = system
    path = folder / "model" / "model.json"
    text = path.read_text("utf-8")
    document = json.loads(text)
    if field not in document["config"]:
        return
    try:
        path.write_text(json.dumps(changed(document, ("config", field), size)), "utf-8")
        said = refusal(load, folder)
    finally:
        path.write_text(text, "utf-8")
    if size > 10**6:
        assert said is not None
        assert str(path) in said
        assert field in said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "null",
        '"text"',
        "[" * 10_000,
        '{"format": 1, "config": ' + "[" * 10_000 + "]" * 10_000 + "}",
        '{"format": 1e400}',
        '{"format": null, "config": {}, "meta": {}, "weights": {}}',
        '{"format": 1, "config": {}, "meta": {}, "weights": {}}',
        "\udcff",
    ],
)
def test_a_card_that_is_none_is_refused(system: Any, text: str) -> None:
    folder, load = system
    path = folder / "model" / "model.json"
    whole = path.read_bytes()
    try:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        said = refusal(load, folder)
    finally:
        path.write_bytes(whole)
    assert said is not None
    assert str(folder) in said


def garbled(path: Path) -> Iterator[tuple[str, bytes]]:
    """Weights that are none, by name."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, rest = data[8 : 8 + length], data[8 + length :]

    def with_header(text: bytes) -> bytes:
        return struct.pack("<Q", len(text)) + text + rest

    told = json.loads(header)
    name = next(one for one in told if one != "__metadata__")
    yield "empty", b""
    yield "short", data[:5]
    yield "half a header", data[: 8 + length // 2]
    yield "cut", data[: len(data) // 2]
    yield "longer", data + b"\0" * 64
    yield "header of 2^63 bytes", struct.pack("<Q", 2**63) + data[8:]
    yield "no JSON", with_header(b"x" * length)
    yield "deep JSON", with_header(b"[" * 10_000)
    yield "no mapping", with_header(b"[1, 2]")
    for field, lie in (
        ("dtype", "F12"),
        ("dtype", None),
        ("shape", [10**10, 10**10]),
        ("shape", -1),
        ("data_offsets", [0, 2**63]),
        ("data_offsets", [4, 0]),
    ):
        yield f"{field} {lie}", with_header(json.dumps(changed(told, (name, field), lie)).encode())


def lying_weights(path: Path) -> Iterator[tuple[str, dict[str, torch.Tensor]]]:
    """Weights of a file that are no weights of a network, by name."""
    weights = load_file(path)
    name = next(one for one, weight in weights.items() if weight.is_floating_point() and weight.dim() > 1)
    for number in ("nan", "inf", "-inf"):
        broken = weights[name].clone()
        broken.view(-1)[0] = float(number)
        yield number, weights | {name: broken}
    yield "too large for float32", weights | {name: weights[name].double() + 1e300}
    yield "complex", weights | {name: weights[name].to(torch.complex64)}
    yield "integers", weights | {name: weights[name].to(torch.int64)}
    yield "truth values", weights | {name: weights[name] > 0}
    yield "another shape", weights | {name: weights[name].flatten()}
    yield "one less", {key: weight for key, weight in weights.items() if key != name}
    yield "one more", weights | {"more": torch.zeros(2)}


def test_weights_that_pass_their_seal_may_lie(system: Any, tmp_path: Path) -> None:
    folder, load = system
    stored = folder / "model" / "model.safetensors"
    cases: list[tuple[str, Any]] = [*garbled(stored), *lying_weights(stored)]
    for name, content in cases:
        copied = tmp_path / "copied"
        shutil.copytree(folder, copied)
        weights, card = copied / "model" / "model.safetensors", copied / "model" / "model.json"
        if isinstance(content, bytes):
            weights.write_bytes(content)
        else:
            save_file(content, weights)
        seal = {"bytes": weights.stat().st_size, "sha256": file_sha256(weights)}
        card.write_text(json.dumps(json.loads(card.read_text("utf-8")) | {"weights": seal}), "utf-8")
        try:
            said = refusal(load, copied)
        except Exception as reason:
            raise AssertionError(f"{name}: {reason!r}") from reason
        assert said is not None, name
        assert str(weights) in said
        shutil.rmtree(copied)


@pytest.fixture(scope="module")
def t5_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    from coursepkg.projects.translation.t5.model import save_t5, tiny_t5

    folder = tmp_path_factory.mktemp("t5") / "model"
    save_t5(tiny_t5(["tôi đi học", "碎𠫾學"], d_model=16, num_layers=1), folder, prefixes={"nom-vi": "x: "})
    return folder


def test_every_value_may_lie_of_the_library_model(t5_folder: Path) -> None:
    for name in ("config.json", "coursepkg.json"):
        path = t5_folder / name
        text = path.read_text("utf-8")
        document = json.loads(text)
        try:
            for place in places(document):
                for lie in (None, [], NESTED, "x", 10**10, -1, float("inf")):
                    path.write_text(json.dumps(changed(document, place, lie)), "utf-8")
                    try:
                        refusal(T5Translator.load, t5_folder)
                    except Exception as reason:
                        raise AssertionError(f"{name} {place} = {str(lie)[:40]}: {reason!r}") from reason
            for whole in ("", "[]", "[" * 10_000, '{"model_type": ' + "[" * 10_000):
                path.write_text(whole, "utf-8")
                assert refusal(T5Translator.load, t5_folder)
        finally:
            path.write_text(text, "utf-8")


def test_weights_may_lie_of_the_library_model(t5_folder: Path, tmp_path: Path) -> None:
    weights = t5_folder / "model.safetensors"
    cases: list[tuple[str, Any]] = [*garbled(weights), *lying_weights(weights)]
    harmless = ("integers", "truth values", "one more")  # the library makes numbers of them
    whole = weights.read_bytes()
    try:
        for name, content in cases:
            if isinstance(content, bytes):
                weights.write_bytes(content)
            else:
                save_file(content, weights, metadata={"format": "pt"})
            try:
                said = refusal(T5Translator.load, t5_folder)
            except Exception as reason:
                raise AssertionError(f"{name}: {reason!r}") from reason
            assert said or name in harmless, name
    finally:
        weights.write_bytes(whole)
