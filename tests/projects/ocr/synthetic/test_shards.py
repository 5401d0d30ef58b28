"""Shards of generated lines: a function of the plan, whole or not at all, continued after a stop."""

import dataclasses
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from ocr_fonts import font_facts
from ocr_shards import ShardPlan, Shards, draw_shard, loosened, shard_texts, write_shards

from coursepkg.projects.ocr.synthetic.fonts import matplotlib_faces, split_faces
from coursepkg.projects.ocr.synthetic.render import LineConfig
from coursepkg.projects.ocr.synthetic.texts import TextConfig

FACES = split_faces(matplotlib_faces())[0]
PLAN = ShardPlan(
    n_lines=7,
    a_shard=4,
    receipts=0.5,
    varied=0.5,
    printers=0.5,
    unmarked=0.5,
    config=LineConfig(texts=TextConfig(sentences=0.0, max_length=20)),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Shards]:
    folder = tmp_path_factory.mktemp("shards")
    lines = write_shards(PLAN, folder, FACES, log=lambda line: None)
    assert lines is not None
    return folder, lines


def test_a_plan_says_its_shards() -> None:
    assert PLAN.n_shards == 2
    assert [PLAN.lines_of(n) for n in range(2)] == [4, 3]
    for changes in (
        {"seed": 2},
        {"n_lines": 0},
        {"receipts": 1.1},
        {"varied": -0.1},
        {"printers": 2},
        {"unmarked": 2},
        {"height": 4},
    ):
        with pytest.raises(ValueError, match=next(iter(changes))):
            dataclasses.replace(PLAN, **changes)


@pytest.mark.parametrize(
    ("share", "due"), [(0.0, []), (0.5, [1, 3, 5]), (0.3, [3]), (1.0, [0, 1, 2, 3, 4, 5])]
)
def test_a_share_of_the_receipts_is_varied(share: float, due: list[int]) -> None:
    plan = dataclasses.replace(PLAN, varied=share)
    kinds = [plan.receipt(number) for number in range(6)]
    assert [n for n, kind in enumerate(kinds) if kind.dot_matrix] == due
    assert {kind.empty for kind in kinds} == {0.0}


def test_lines_and_lines_of_receipts_are_there(written: tuple[Path, Shards]) -> None:
    folder, lines = written
    assert len(lines) == len(lines.texts) == 7
    assert {line.height for line in lines} == {PLAN.height}
    cut = [line.group.startswith("synthetic-receipt:") for line in lines]
    assert cut == [False, False, True, True, False, True, True]
    assert [line.text for line in lines] == lines.texts == [lines[i].text for i in range(-7, 0)]
    card = json.loads((folder / "shards.json").read_text())
    assert (card["n_lines"], card["sha256"], len(card["shards"])) == (7, lines.fingerprint, 2)


def test_the_texts_of_a_shard_are_told_without_drawing_it() -> None:
    avoid = {next(iter(draw_shard(PLAN, 0, FACES))).text}
    for shard in range(PLAN.n_shards):
        said = {line.text for line in draw_shard(PLAN, shard, FACES, avoid)}
        told = shard_texts(PLAN, shard, FACES, avoid)
        assert said <= told
        assert len(told) <= 2 * PLAN.lines_of(shard)


def test_what_is_missing_or_damaged_is_written_again_as_it_was(
    written: tuple[Path, Shards], tmp_path: Path
) -> None:
    half = write_shards(PLAN, tmp_path, FACES, max_seconds=0, log=lambda line: None)
    assert half is None
    assert not list(tmp_path.glob("*/index.json"))
    said: list[str] = []
    lines = write_shards(PLAN, tmp_path, FACES, log=said.append)
    assert lines is not None
    assert lines.fingerprint == written[1].fingerprint
    pixels = next((tmp_path / "shard-00001").glob("pixels-*"))
    pixels.write_bytes(pixels.read_bytes()[:-1])
    again = write_shards(PLAN, tmp_path, FACES, log=said.append)
    assert again is not None
    assert again.fingerprint == written[1].fingerprint
    assert said == ["0 of 2 shards are there", "1 of 2 shards are there"]


def test_texts_of_the_test_set_are_avoided() -> None:
    plan = dataclasses.replace(PLAN, n_lines=6, a_shard=6, receipts=0.0)
    before = [line.text for line in draw_shard(plan, 0, FACES)]
    after = [line.text for line in draw_shard(plan, 0, FACES, frozenset(before[:2]))]
    assert len(after) == 6
    assert after[:4] == before[2:]


def test_lines_are_chosen_by_width_and_length(written: tuple[Path, Shards]) -> None:
    lines = written[1]
    widest = sorted(width for _, width in lines.sizes)[3]
    narrow = lines.fitting(most_width=widest, most_characters=20)
    assert 0 < len(narrow) < len(lines)
    assert all(line.width <= widest and len(line.text) <= 20 for line in narrow)
    assert narrow.fingerprint != lines.fingerprint
    assert narrow.texts == [line.text for line in islice(narrow, 7)] == [line.text for line in narrow[:]]
    with pytest.raises(ValueError, match="at least one folder"):
        Shards([])


def test_a_crop_grows_outwards_and_hardly_shrinks() -> None:
    corners = np.array([[10.0, 20], [110, 20], [110, 40], [10, 40]])
    rng = np.random.Generator(np.random.PCG64(0))
    found = np.stack([loosened(corners, rng) for _ in range(200)])
    assert found[:, 0].min() > 10 - 0.26 * 20 - 1e-9
    assert found[:, 0, 0].max() <= 10 + 0.05 * 20
    assert found[:, 2, 1].max() <= 40 + 0.2 * 20
    assert (found[:, 2, 1] - found[:, 1, 1]).min() >= 20 * 0.92 - 1e-9


def test_fonts_say_their_licence() -> None:
    facts = {one["family"]: one for one in font_facts(FACES)}
    sans = facts["DejaVu Sans"]
    assert "Bold" in sans["styles"]
    assert sans["version"].startswith("Version 2")
    assert "Bitstream" in sans["licence"]
    assert all(len(one["licence"]) <= 200 for one in facts.values())
