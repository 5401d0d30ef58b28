"""The translator that ships: it loads, it knows its four directions, it is small, its phrases are right."""

from pathlib import Path

import pytest

from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.corpus import to_scorer
from coursepkg.projects.translation.predict import DEFAULT, Translator
from coursepkg.projects.translation.synthetic import Phrasebook

DIRECTIONS = [("zh", "vi"), ("vi", "zh"), ("en", "vi"), ("vi", "en")]


@pytest.fixture(scope="module")
def shipped() -> Translator:
    return Translator.load_default()


def test_every_file_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in Path(DEFAULT).rglob("*") if path.is_file()}
    assert {"model.safetensors", "model.json", "target.model"} <= sizes.keys()
    assert max(sizes.values()) <= 5 * 2**20


@pytest.mark.parametrize(
    ("source", "target", "said", "meant"),
    [
        ("zh", "vi", "酒店在哪里？", "Khách sạn ở đâu?"),
        ("vi", "zh", "Khách sạn ở đâu?", "酒店在哪里？"),
        ("en", "vi", "Where is the hotel?", "Khách sạn ở đâu?"),
        ("vi", "en", "Khách sạn ở đâu?", "Where is the hotel?"),
    ],
)
def test_it_translates_at_once(shipped: Translator, source: str, target: str, said: str, meant: str) -> None:
    (one,) = shipped.translate([said], source=source, target=target)
    assert one.text == meant
    assert 0.5 < one.confidence <= 1


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_it_knows_the_phrases_of_the_held_out_part(shipped: Translator, source: str, target: str) -> None:
    held_out = Phrasebook().split("random").test[:120]
    found = shipped.translate([t.line(source) for t in held_out], source=source, target=target, beam_size=1)
    said, true = (
        [to_scorer(line, target) for line in lines]
        for lines in ([one.n_best[0].line for one in found], [t.line(target) for t in held_out])
    )
    assert score(BLEU(tokenize="zh" if target == "zh" else "13a"), said, true).value > 90


def test_another_direction_is_refused(shipped: Translator) -> None:
    with pytest.raises(ValueError, match="does not translate Chinese into English"):
        shipped.translate(["你好"], source="zh", target="en")
