"""What the chapters on signs share: shapes and order, the same batches for every model, no answer lost."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from coursepkg.app.published_results import PublishedResults
from coursepkg.files import write_json
from coursepkg.metrics.scoring import Interval, Score
from coursepkg.projects.sign_language import chapter_helpers
from coursepkg.projects.sign_language.data.batches import ClipBatch
from coursepkg.projects.sign_language.few_shot.features import signs_of
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig
from tests.projects.sign_language.blocks import FAST

CONFIG = SignersConfig(least_frames=30, most_frames=30, full_length=1.0)


class Line(nn.Module):
    """Scores from the mean of the frames; weights that are not used."""

    def __init__(self, width, n_classes):
        super().__init__()
        torch.manual_seed(3)
        self.output = nn.Linear(width, n_classes)

    def forward(self, x):
        return self.output(x.mean(dim=1)), torch.full(x.shape[:2], 1 / x.shape[1])


def test_pose_part_has_its_clips_in_order():
    vectors, words, lifts = chapter_helpers.pose_part(4, 2, CONFIG)
    assert vectors.shape == (48, 16, 31)
    assert words.tolist() == [*range(24)] * 2
    own, lift = chapter_helpers.pose_vectors("Xin chào", 1, 4, 24, CONFIG)
    assert words[24] == 0
    assert np.allclose(vectors[24].numpy(), own, atol=1e-6)
    assert np.array_equal(lifts[24], lift)


def test_a_pose_rests_at_both_ends_and_is_raised_between():
    for number in range(6):
        vectors, lift = chapter_helpers.pose_vectors("Mẹ", number, 0, number, CONFIG)
        assert max(lift[0], lift[-1]) < 0.05
        assert lift.max() > 0.9
        assert np.isfinite(vectors).all()


def test_mother_and_father_differ_by_place_alone():
    mother, father = (chapter_helpers.pose_vectors(word, 0, 0, 5, CONFIG)[0] for word in ("Mẹ", "Bố"))
    apart = np.abs(mother - father).max(axis=0)
    assert apart[1] > 0.01, "the height of the palm"
    assert (apart > 1e-6).sum() < 31


def test_rest_repeats_the_last_frame():
    x = torch.randn(2, 3, 4)
    longer = chapter_helpers.with_rest(x, 2)
    assert torch.equal(longer[:, :3], x)
    assert torch.equal(longer[:, 3], x[:, 2])
    assert torch.equal(longer[:, 4], x[:, 2])
    assert torch.equal(chapter_helpers.with_rest(x, 0), x)


def test_learning_learns_repeats_and_asks_when_it_should():
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(60) % 3
    x = torch.randn(60, 5, 3, generator=generator) * 0.1 + torch.eye(3)[y][:, None]
    before, courses = x.clone(), []
    for _ in range(2):
        model = Line(3, 3)
        courses.append(chapter_helpers.learn(model, x, y, steps=25, rest=2, asked=(x, y), every=10))
    assert courses[0] == courses[1]
    assert len(courses[0]) == 2
    chapter_helpers.learn(model, x, y, steps=200)
    assert chapter_helpers.share_right(model, x, y) > 0.95
    assert chapter_helpers.learn(model, x, y, steps=1) == []
    assert torch.equal(before, x)


def test_without_room_what_stands_still_is_zero():
    frames = torch.randn(2, 1, 3, 4, 4).repeat(1, 5, 1, 1, 1)
    frames[1, 3, :, 2, 2] += 1.0
    batch = ClipBatch(frames, torch.ones(2, 5, dtype=torch.bool), torch.tensor([0, 1]))
    freed = chapter_helpers.without_room(batch)
    assert freed.frames[0].abs().max() == 0
    assert int((freed.frames[1].abs() > 0.5).sum()) == 3
    assert torch.equal(freed.targets, batch.targets)
    assert torch.equal(freed.mask, batch.mask)


def test_a_whole_part_is_one_batch_in_order(blocks):
    recipe = dataclasses.replace(FAST, size=blocks.part("dev").size)
    batch = chapter_helpers.whole(blocks, "dev", recipe)
    assert [blocks.labels[number] for number in batch.targets.tolist()] == list(blocks.part("dev").labels)
    assert batch.frames.shape[:2] == (6, recipe.n_frames)
    freed = chapter_helpers.whole(blocks, "dev", recipe, chapter_helpers.without_room)
    assert torch.equal(freed.frames, batch.frames - batch.frames[:, :1])


def test_a_row_is_trained_for_so_many_steps_and_asked(blocks):
    base = dataclasses.replace(FAST, size=blocks.part("train").size)
    found = [
        chapter_helpers.on_pictures("lstm-mean", blocks, base, steps=7, change=chapter_helpers.without_room)
        for _ in range(2)
    ]
    (model, history), (again, _) = found
    assert not model.training
    assert len(history.steps) == 7
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    answers = chapter_helpers.answers_to(model, blocks, ["dev", "test"], base, chapter_helpers.without_room)
    expected = [clip.name for part in ("dev", "test") for clip in blocks.part(part).clips]
    assert [one.name for one in answers] == expected
    alone = chapter_helpers.answers_to(model, blocks, ["test"], base, chapter_helpers.without_room)
    assert [one.said for one in alone] == [one.said for one in answers[6:]]


def test_a_score_as_text():
    assert chapter_helpers.with_interval(Score("macro-F1", 0.4666, "")) == "0.47"
    interval = Interval(0.381, 0.529, 0.95, 200, 0)
    assert chapter_helpers.with_interval(Score("macro-F1", 0.4666, "", interval)) == "0.47 [0.38, 0.53]"


@pytest.mark.parametrize("has_ladder", [True, False])
def test_stored_rows_by_name_in_the_order_of_the_ladder(tmp_path, monkeypatch, has_ladder):
    monkeypatch.setattr(PublishedResults, "folder", lambda self: tmp_path)
    if has_ladder:
        (tmp_path / "ladder" / "dev").mkdir(parents=True)
        for name in ("improved", "lstm-mean", "lstm-last"):
            row = {
                "schema": "s",
                "row": name,
                "seed": 0,
                "conditions": "dev",
                "recipe": {},
                "scores": {},
                "machine": {},
            }
            write_json(tmp_path / "ladder" / "dev" / f"{name}.seed0.json", row)
    rows = [row["row"] for row in chapter_helpers.stored_ladder(["improved", "lstm-last"])]
    assert rows == (["lstm-last", "improved"] if has_ladder else [])


def test_without_a_folder_there_is_no_row(monkeypatch):
    monkeypatch.setattr(PublishedResults, "folder", lambda self: None)
    assert chapter_helpers.stored_ladder(["improved"]) == []


def test_rows_that_are_not_stored_are_named_with_what_makes_them():
    heading, first, second = chapter_helpers.missing_lines(
        ["improved", "flip", "lstm-last"], [{"row": "improved"}]
    )
    assert (
        heading == "not stored; `coursepkg sign-language ladder --preset small --rows flip lstm-last` makes:"
    )
    assert first.split() == ["flip", "half", "of", "the", "clips", "mirrored", "(against", "improved)"]
    assert second.endswith("(against none)")
    assert chapter_helpers.missing_lines(["improved"], [{"row": "improved"}]) == []
    with pytest.raises(ValueError, match=r"--rows must be of .*, got fast"):
        chapter_helpers.missing_lines(["fast"], [{"row": "fast"}])


def test_scores_on_made_up_signs_come_from_the_card():
    scores = chapter_helpers.made_up_scores()
    assert len(scores) == 4 * 4
    assert scores["embedding", 1][0] > scores["dtw", 1][0] > 1 / 20
    assert all(0 < share <= 1 and n > 100 for share, n in scores.values())


def test_normalised_pictures_hide_size_and_place_and_show_the_pose():
    rng = np.random.default_rng(1)
    drawn = sign(rng, draw_words(rng, 1))
    near, far = (signs_of(drawn.clip(0, width))[0][0] for width in (100.0, 220.0))
    pictures = [[chapter_helpers.normalised_picture(steps, at) for at in (0, 12)] for steps in (near, far)]
    assert pictures[0][0].shape == (240, 240, 3)
    assert (pictures[0][0] != pictures[1][0]).mean() < 0.01
    assert not np.array_equal(pictures[0][0], pictures[0][1])
