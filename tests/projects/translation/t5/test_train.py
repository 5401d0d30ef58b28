"""Fine-tuning: it learns, the prefix decides what it does, a resumed run is the same run, and scores are right."""

import dataclasses
from pathlib import Path

import pytest
import torch
from transformers import get_linear_schedule_with_warmup

from coursepkg.metrics import CER, score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.t5.data import Direction, directions_of, natural
from coursepkg.projects.translation.t5.model import T5, load_t5, save_t5, tiny_t5
from coursepkg.projects.translation.t5.nom import nom_sample
from coursepkg.projects.translation.t5.run import nom_scores, score_direction, table_scores
from coursepkg.projects.translation.t5.text import prefix_of
from coursepkg.projects.translation.t5.train import (
    PRESETS,
    FineTuning,
    fine_tune,
    linear_to_zero,
    write_texts,
)

PAIRS = tuple(SentencePair(nom, vi, "lesson", i) for i, (nom, vi) in enumerate(nom_sample(10), start=1))


def directions(repeat: int = 1) -> list[Direction]:
    parts = Parts("lesson", "nom", "vi", PAIRS * repeat, PAIRS, PAIRS, ())
    copies = tuple(p._replace(target=p.source) for p in PAIRS)
    copying = Parts("lesson", "nom", "nom", copies * repeat, copies, copies, ())
    return [
        Direction(parts, prefix_of("nom", "vi")),
        Direction(parts.swapped(), prefix_of("vi", "nom")),
        Direction(copying, "copy Nom: "),
    ]


def fresh(dropout: float = 0.0) -> T5:
    texts = [text for pair in PAIRS for text in pair[:2]]
    return tiny_t5(texts, vocab_size=300, d_model=48, dropout_rate=dropout)


FAST = FineTuning(learning_rate=8e-3, batch_size=20, epochs=4)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> T5:
    """A tiny T5, saved, loaded back and trained on ten pairs both ways and on ten copies."""
    folder = tmp_path_factory.mktemp("t5")
    save_t5(fresh(), folder / "start")
    t5 = load_t5(folder / "start")
    history, notes = fine_tune(t5, directions(repeat=30), FAST, out=folder / "run")
    assert (history.step, history.stopped, notes) == (180, "max_epochs", [])
    assert history.steps[-1]["loss"] < history.steps[0]["loss"] / 50
    return t5


def test_twenty_pairs_are_learnt_by_heart(trained: T5) -> None:
    for direction in directions()[:2]:
        pairs = direction.parts.test
        outputs = write_texts(trained, [p.source for p in pairs], direction.prefix, max_tokens=40)
        assert [one.text for one in outputs] == [p.target for p in pairs]
        assert min(one.confidence for one in outputs) > 0.7


def test_the_prefix_decides_what_is_written(trained: T5) -> None:
    sources = [p.source for p in PAIRS]
    reading, _, copying = (
        [one.text for one in write_texts(trained, sources, d.prefix, max_tokens=40)] for d in directions()
    )
    assert reading == [p.target for p in PAIRS]
    assert copying == sources
    without = [one.text for one in write_texts(trained, sources, "", max_tokens=40)]
    assert without not in (reading, copying)


def test_scores_of_what_it_learnt_by_heart(trained: T5) -> None:
    for direction in directions()[:2]:
        scores, outputs = score_direction(trained, direction, beam_size=2, max_tokens=40)
        assert scores["CER"].value == 0.0
        assert scores["BLEU"].value == pytest.approx(100)
        assert "protocol:lesson test " in scores["CER"].signature
        assert len(outputs) == 10


def weights(t5: T5) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in t5.network.state_dict().items()}


def test_a_run_that_was_stopped_and_resumed_is_bit_equal(tmp_path: Path) -> None:
    settings = dataclasses.replace(FAST, epochs=2, batch_size=8)
    whole, parted = fresh(dropout=0.1), fresh(dropout=0.1)
    history, _ = fine_tune(whole, directions(), settings, out=tmp_path / "whole")
    first, _ = fine_tune(parted, directions(), settings, out=tmp_path / "parted", max_seconds=1e-9)
    assert (first.stopped, first.step) == ("max_seconds", 1)
    assert not torch.equal(parted.network.shared.weight, whole.network.shared.weight)
    resumed = fresh(dropout=0.1)
    last, _ = fine_tune(resumed, directions(), settings, out=tmp_path / "parted", resume=True)
    assert last.steps == history.steps
    assert last.validations == history.validations
    ours, theirs = weights(resumed), weights(whole)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_run_is_not_resumed_with_other_settings(tmp_path: Path) -> None:
    settings = dataclasses.replace(FAST, epochs=1)
    fine_tune(fresh(), directions(), settings, out=tmp_path)
    with pytest.raises(ValueError, match="already holds a run"):
        fine_tune(fresh(), directions(), settings, out=tmp_path)
    other = dataclasses.replace(settings, weight_decay=0.5)
    with pytest.raises(ValueError, match=r"weight_decay was 0\.01, is 0\.5"):
        fine_tune(fresh(), directions(), other, out=tmp_path, resume=True)
    with pytest.raises(ValueError, match="fingerprint"):
        fine_tune(fresh(), directions()[:1], settings, out=tmp_path, resume=True)


def test_bfloat16_keeps_the_weights_in_float32(tmp_path: Path) -> None:
    t5 = fresh()
    settings = dataclasses.replace(FAST, epochs=1, precision="bf16-mixed")
    history, _ = fine_tune(t5, directions(repeat=10), settings, out=tmp_path)
    assert history.steps[-1]["loss"] < history.steps[0]["loss"] / 2
    assert {p.dtype for p in t5.network.parameters()} == {torch.float32}


def test_pairs_that_are_too_long_are_counted(tmp_path: Path) -> None:
    long = SentencePair("碎" * 200, "tôi", "long.tsv", 77)
    there = directions()[0]
    parts = dataclasses.replace(there.parts, train=(*PAIRS, long))
    settings = dataclasses.replace(FAST, epochs=1, max_tokens=100)
    _, notes = fine_tune(fresh(), [Direction(parts, there.prefix)], settings, out=tmp_path)
    assert notes == [
        "nom-vi train: 1 of 11 pairs have more than 100 tokens and are left out, the first is long.tsv:77"
    ]


def test_the_report_is_the_default() -> None:
    report = FineTuning()
    assert PRESETS["report"] == report
    assert (report.learning_rate, report.batch_size) == (2e-5, 32)
    assert (report.weight_decay, report.epochs) == (0.01, 3)


OUT_OF_RANGE = {"learning_rate": (0.0, float("nan")), "weight_decay": (-0.1,), "precision": ("64-true",)}
OUT_OF_RANGE |= dict.fromkeys(("batch_size", "epochs", "max_tokens"), (0,))


@pytest.mark.parametrize(("field", "value"), [(name, v) for name in OUT_OF_RANGE for v in OUT_OF_RANGE[name]])
def test_a_setting_out_of_range_is_named(field: str, value: float | str) -> None:
    with pytest.raises(ValueError, match=f"--{field.replace('_', '-')} must be"):
        FineTuning(**{field: value})


@pytest.mark.parametrize("precision", ["16-mixed", "16-true"])
def test_half_precision_is_refused_with_the_reason(precision: str) -> None:
    with pytest.raises(ValueError, match="in fp16 a T5 gives NaN"):
        FineTuning(precision=precision)


def test_the_schedule_is_the_trainers() -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=2e-5)
    theirs = get_linear_schedule_with_warmup(optimizer, 0, 30)
    ours = linear_to_zero(2e-5, 30)
    for step in range(1, 31):
        assert ours(step) == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()
    assert ours(31) == 0.0


def test_text_is_written_as_readers_write_it() -> None:
    assert natural("Khách_sạn ở đâu ?", "vi") == "Khách sạn ở đâu?"
    assert natural("酒店 在 哪里 ？", "zh") == "酒店在哪里？"
    assert natural(" 碎  讀 ", "nom") == "碎 讀"


def test_other_languages_come_from_the_corpora_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "zh_vi").mkdir()
    for language, line in (("zh", "这 是 {} 号 房间 吗 ？"), ("vi", "Đây là khách_sạn số {} ?")):
        lines = "".join(line.format(number) + "\n" for number in range(300))
        (tmp_path / "zh_vi" / f"train.{language}").write_text(lines, encoding="utf-8")
    there, back = directions_of("zh", "vi", both=True, folder=tmp_path)
    assert (there.name, there.prefix) == ("zh-vi", "translate Chinese to Vietnamese: ")
    assert (back.name, back.prefix) == ("vi-zh", "translate Vietnamese to Chinese: ")
    assert there.parts.corpus == "zh-vi"
    raw = there.parts.test[0]
    number = raw.source.split()[2]
    assert there.natural([raw])[0][:2] == (f"这是{number}号房间吗？", f"Đây là khách sạn số {number}?")
    assert [p.swapped() for p in back.parts.test] == list(there.parts.test)


@pytest.mark.parametrize(("source", "target", "corpus"), [("nom", "zh", "auto"), ("nom", "vi", "zh-vi")])
def test_a_corpus_or_direction_that_does_not_exist(source: str, target: str, corpus: str) -> None:
    with pytest.raises(ValueError, match=r"there is no prefix|--data must be auto or one of nom-vi"):
        directions_of(source, target, corpus=corpus)


def test_case_and_punctuation_weigh_in_one_error_rate_only() -> None:
    pairs = [SentencePair("碎讀冊", "Tôi đọc sách.")]
    scores = nom_scores(["tôi đọc sách"], pairs, "vi", "test")
    assert scores["CER"].value == pytest.approx(2 / 13)
    assert scores["CER, plain"].value == 0.0
    assert set(nom_scores(["碎"], [SentencePair("tôi", "碎")], "nom", "test")) == {"CER", "BLEU", "chrF"}


def test_the_baseline_looks_up() -> None:
    there, back, _ = directions()
    assert table_scores(there)["CER, plain"].value < 0.1
    said = [p.target.replace("𠄼", "𢆥") for p in back.parts.test]
    true = [p.target for p in back.parts.test]
    assert table_scores(back)["CER"].value <= score(CER(), said, true).value + 0.1


def test_scores_of_other_languages_are_those_of_the_project(trained: T5) -> None:
    parts = Parts("book", "nom", "vi", PAIRS, PAIRS, PAIRS, ())
    # The model knows Nom only; passed off as Chinese, the way of scoring is that of Chinese to Vietnamese.
    other = Direction(dataclasses.replace(parts, source="zh"), prefix_of("nom", "vi"))
    scores, _ = score_direction(trained, other, beam_size=1, max_tokens=40)
    assert scores["BLEU"].value == pytest.approx(100)
    assert {"BLEU", "chrF", "TER"} <= scores.keys()
