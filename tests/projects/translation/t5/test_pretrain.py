"""Pretraining: the spans, the sentences, a run of seconds from the command line, and fine-tuning from it."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import tyro
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.projects.translation.t5 import pretrain as module
from coursepkg.projects.translation.t5.commands import T5Predict, T5Pretrain, T5Train
from coursepkg.projects.translation.t5.data import directions_of
from coursepkg.projects.translation.t5.model import T5, load_t5, tiny_t5
from coursepkg.projects.translation.t5.nom import load_nom
from coursepkg.projects.translation.t5.pretrain import (
    PlainText,
    PreTraining,
    SpanBatches,
    corrupt_sentence,
    fill_spans,
    held_out,
    plain_text,
    pretrain,
)
from coursepkg.projects.translation.t5.text import corrupt_spans, draw_spans

SENTINEL = re.compile(r"<extra_id_\d+>")
SIZES = ["--d-model", "16", "--d-ff", "16", "--n-heads", "2", "--n-layers", "1", "--vocab-size", "120"]
NAMES = ["Lan", "Minh", "Hoa", "Nam", "Thu", "Sơn"]
DEEDS = ["đi chợ", "đọc sách", "nấu cơm", "về nhà", "học bài", "uống trà"]
DAYS = ["hôm nay", "ngày mai", "buổi sáng", "mùa hè"]
SENTENCES = [f"Bạn {name} {deed} cùng gia đình {day}." for name in NAMES for deed in DEEDS for day in DAYS]


def run(options: type, *arguments: str) -> int:
    return tyro.cli(options, args=list(arguments)).run()


def mended(source: str, target: str) -> str:
    """The text behind a corrupted one: each sentinel replaced by what stands behind it in the target."""
    spans = dict(zip(SENTINEL.findall(target), SENTINEL.split(target)[1:], strict=True))
    return " ".join(SENTINEL.sub(lambda mark: spans[mark.group()], source).split())


def fresh(**sizes: int) -> T5:
    options = {"d_model": 32, "num_layers": 1} | sizes
    return tiny_t5(SENTENCES, vocab_size=150, n_sentinels=10, **options)


@given(st.integers(2, 300), st.integers(0, 999), st.floats(0.01, 0.99), st.floats(1, 9))
def test_spans_never_touch_and_give_the_text_back(
    n_words: int, seed: int, share: float, mean_length: float
) -> None:
    spans = draw_spans(n_words, random.Random(seed), share=share, mean_length=mean_length)
    assert 1 <= sum(end - first for first, end in spans) < n_words
    assert all(end < first for (_, end), (first, _) in pairwise(spans))
    words = [f"w{i}" for i in range(n_words)]
    # It refuses spans that touch, are empty or lie outside.
    assert mended(*corrupt_spans(words, spans)) == " ".join(words)


def test_the_share_and_the_length_are_those_of_the_paper() -> None:
    draw = random.Random(0)
    for n_words in (20, 40, 100, 512):
        drawn = [draw_spans(n_words, draw) for _ in range(50)]
        lengths = [end - first for spans in drawn for first, end in spans]
        assert sum(lengths) / (50 * n_words) == pytest.approx(0.15, abs=0.5 / n_words)
    # Of 512 tokens 77 in 26 spans, as the chapter computes by hand.
    assert {(len(spans), sum(b - a for a, b in spans)) for spans in drawn} == {(26, 77)}


def test_the_lengths_of_mixed_sentences_are_near_the_paper() -> None:
    draw = random.Random(0)
    sizes = [draw.randint(4, 40) for _ in range(4000)]
    lengths = [end - first for n in sizes for first, end in draw_spans(n, draw)]
    assert sum(lengths) / sum(sizes) == pytest.approx(0.15, abs=0.005)
    assert sum(lengths) / len(lengths) == pytest.approx(3, abs=0.4)


def test_every_word_is_cut_out_now_and_then() -> None:
    cut = [0] * 8
    for seed in range(4000):
        for first, end in draw_spans(8, random.Random(seed), share=0.25, mean_length=1):
            for i in range(first, end):
                cut[i] += 1
    assert all(700 < n < 1300 for n in cut)
    assert sum(cut) == 8000


@pytest.mark.parametrize("n_words", [2, 3, 4])
def test_of_a_short_sentence_one_word_is_cut_out(n_words: int) -> None:
    found = {tuple(draw_spans(n_words, random.Random(seed))) for seed in range(100)}
    assert found == {((i, i + 1),) for i in range(n_words)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"n_words": 1}, "n_words must be an integer of at least 2, got 1"),
        ({"share": 0.0}, "share must be above 0 and below 1"),
        ({"share": 1.0}, "share must be above 0 and below 1"),
        ({"mean_length": 0}, "mean_length must be at least 1"),
    ],
)
def test_spans_that_cannot_be_drawn(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        draw_spans(**{"n_words": 9, "draw": random.Random(0)} | arguments)  # type: ignore[arg-type]


def test_spans_depend_on_seed_epoch_and_number_alone() -> None:
    t5, sentence = fresh(), " ".join(SENTENCES[:4])
    place = {"seed": 1, "epoch": 2, "number": 3}
    first = corrupt_sentence(sentence, **place)
    assert first == corrupt_sentence(sentence, **place)
    for name in place:
        assert corrupt_sentence(sentence, **place | {name: 9}) != first
    batches = SpanBatches(t5, SENTENCES, 10, seed=5)
    later = batches.epoch(1)[3]
    assert torch.equal(later.src, SpanBatches(t5, SENTENCES, 10, seed=5).epoch(1)[3].src)
    ours, theirs = (
        {tuple(row) for batch in batches.epoch(number) for row in batch.src.tolist()} for number in (0, 1)
    )
    assert len(ours - theirs) > len(SENTENCES) / 2
    assert batches.fingerprint == SpanBatches(fresh(), SENTENCES, 10, seed=5).fingerprint
    assert batches.fingerprint != SpanBatches(t5, SENTENCES, 10, seed=6).fingerprint
    with pytest.raises(ValueError, match="sentences must hold at least one, got none"):
        SpanBatches(t5, [], 10)


def test_an_epoch_has_every_sentence_once_and_sentinels_are_one_token() -> None:
    t5 = fresh()
    batches = list(SpanBatches(t5, SENTENCES, 7).epoch(4))
    texts = []
    for batch in batches:
        for source, labels in zip(batch.src, batch.labels, strict=True):
            decoded = [t5.tokenizer.decode([i for i in ids.tolist() if i > 1]) for ids in (source, labels)]
            texts.append(mended(*(SENTINEL.sub(r" \g<0> ", text) for text in decoded)))
    assert sorted(texts) == sorted(SENTENCES)
    assert t5.tokenizer.encode("<extra_id_9>") == [len(t5.tokenizer) - 1, 1]


def test_the_text_is_cleaned_counted_and_split(tmp_path: Path) -> None:
    held = {sentence_key(SENTENCES[0], "vi")}
    lines = [*SENTENCES, SENTENCES[5].upper(), "Một", "Chữ 碎 hiếm."]
    (tmp_path / "text").write_text("\n".join(lines), encoding="utf-8")
    text = plain_text(str(tmp_path / "text"), held)
    assert text.left_out == {
        "in dev or test of a corpus": 1,
        "repeated": 1,
        "length": 1,
        "rare characters": 1,
    }
    assert sorted([*text.train, *text.dev]) == sorted(SENTENCES[1:])
    assert len(text.dev) == 14
    assert text.name == "file text"
    limited = plain_text(str(tmp_path / "text"), held, limit=21)
    assert (len(limited.train), len(limited.dev)) == (18, 2)
    with pytest.raises(ValueError, match=r"has 4 sentences to learn from, at least 10 are needed"):
        plain_text(str(tmp_path / "text"), held, limit=5)
    with pytest.raises(ValueError, match="--limit must be"):
        plain_text(str(tmp_path / "text"), held, limit=-1)


def no_data(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Only what ships with the package is there, and reading the corpora takes no time."""
    patch.setenv("COURSEPKG_DATA", str(folder / "none"))
    patch.setattr(module, "held_out_keys", lambda source, target: {f"{source}-{target}"})


@pytest.fixture
def _no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    no_data(monkeypatch, tmp_path)


@pytest.mark.usefixtures("_no_data")
def test_dev_and_test_of_every_corpus_are_held_out() -> None:
    own = directions_of("vi", "en", corpus="tatoeba")
    held = held_out(own)
    assert "en-vi" in held
    nom = load_nom("nom", "vi")
    true = [p.target for p in (*nom.dev, *nom.test)]
    true += [p.source for p in (*own[0].parts.dev, *own[0].parts.test)]
    assert held == {"en-vi", *(sentence_key(text, "vi") for text in true)}


def test_it_learns_and_writes_what_was_cut_out(tmp_path: Path) -> None:
    t5 = fresh(d_model=48)
    text = PlainText("made up", tuple(SENTENCES[14:]), tuple(SENTENCES[:14]), {}, ())
    settings = PreTraining(learning_rate=1e-2, warmup=10, batch_size=16, epochs=30)
    done = pretrain(t5, text, settings, out=tmp_path)
    assert done.after < done.before / 4
    assert done.history.stopped == "max_epochs"
    written = fill_spans(t5, ["Bạn Lan đọc sách cùng gia <extra_id_0> hôm nay."])
    assert written == ["<extra_id_0> đình <extra_id_1>"]
    assert t5.network.config.dropout_rate == 0.1


def test_a_run_that_was_stopped_and_resumed_is_bit_equal(tmp_path: Path) -> None:
    text = PlainText("made up", tuple(SENTENCES[:60]), tuple(SENTENCES[60:70]), {}, ())
    settings = PreTraining(batch_size=10, epochs=2)
    whole, parted, resumed = fresh(), fresh(), fresh()
    one = pretrain(whole, text, settings, out=tmp_path / "whole")
    first = pretrain(parted, text, settings, out=tmp_path / "parted", max_seconds=1e-9)
    assert (first.history.stopped, first.history.step) == ("max_seconds", 1)
    assert first.after < first.before
    last = pretrain(resumed, text, settings, out=tmp_path / "parted", resume=True)
    assert (last.before, last.after) == (one.before, one.after)
    ours, theirs = resumed.network.state_dict(), whole.network.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `t5-pretrain` in bfloat16, whose vocabulary knows the Nom lesson."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "text").write_text("\n".join(SENTENCES), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        no_data(patch, folder)
        arguments = [*SIZES, "--mono", str(folder / "text"), "--precision", "bf16-mixed", "--epochs", "1"]
        also = ["--also", "nom-lesson", "--from", "nom", "--limit", "100"]
        assert run(T5Pretrain, "--out", str(folder / "out"), *arguments, *also) == 0
    return folder / "out"


def test_a_run_leaves_both_models_and_its_result(made: Path) -> None:
    result = json.loads((made / "result.json").read_text("utf-8"))
    assert (result["mono"], result["also"]) == ("file text", ["nom-lesson"])
    assert (result["sentences"], result["steps"]) == ({"train": 90, "dev": 10}, 2)
    assert result["dev_loss"]["after"] < result["dev_loss"]["before"]
    assert {"seconds", "machine", "versions", "commit", "parameters"} <= result.keys()
    assert len(result["examples"]) == 8
    start, model = load_t5(made / "start"), load_t5(made / "model")
    assert not torch.equal(start.network.shared.weight, model.network.shared.weight)
    assert model.network.config.dropout_rate == 0.1
    assert model.card["pretrained_on"] == "file text"
    assert model.card["vocabulary_of"] == ["nom-lesson"]


@pytest.mark.usefixtures("_no_data")
def test_it_is_fine_tuned_by_the_usual_command(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--n-train", "32", "--epochs", "1", "--beam-size", "1"]
    for name in ("model", "start"):
        out = tmp_path / name
        assert run(T5Train, "--model", str(made / name), "--out", str(out), *options) == 0
        result = json.loads((out / "result.json").read_text("utf-8"))
        assert (result["coverage"]["nom train"], result["coverage"]["vi train"]) == (0, 0)
        assert load_t5(out / "model").card["prefixes"] == {"nom-vi": "translate Nom to Vietnamese: "}
    assert load_t5(tmp_path / "model" / "model").card["pretrained_on"] == "file text"
    model = str(tmp_path / "model" / "model")
    assert run(T5Predict, "--model", model, "--text", "碎", "--max-tokens", "4") == 0
    assert "<extra_id_" not in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.usefixtures("_no_data")
def test_it_translates_nothing_before_and_the_contest_forbids_it(made: Path, tmp_path: Path) -> None:
    model = str(made / "model")
    with pytest.raises(ValueError, match="was pretrained on file text and knows no direction yet; fine-tune"):
        run(T5Predict, "--model", model, "--text", "碎")
    with pytest.raises(ValueError, match="--contest-rules allow no pretrained model"):
        run(T5Train, "--model", model, "--from", "zh", "--out", str(tmp_path / "out"), "--contest-rules")


@pytest.mark.usefixtures("_no_data")
def test_a_second_run_needs_resume_and_the_same_sizes(made: Path) -> None:
    text = str(made.parent / "text")
    again = ["--out", str(made), "--mono", text, "--limit", "100", "--epochs", "1", *SIZES]
    with pytest.raises(ValueError, match="already holds a run; add --resume"):
        run(T5Pretrain, *again)
    with pytest.raises(ValueError, match="holds a model with d_ff 16, and 32 is asked for"):
        run(T5Pretrain, *again, "--d-ff", "32", "--resume")
    with pytest.raises(ValueError, match="was begun with --vocab-size"):
        run(T5Pretrain, *again, "--vocab-size", "77", "--resume")
    before = load_t5(made / "model").network.shared.weight
    assert run(T5Pretrain, *again, "--precision", "bf16-mixed", "--resume") == 0
    assert load_t5(made / "model").network.shared.weight.equal(before)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--d-model", "10"], "--d-model must be a multiple of --n-heads, got 10 and 4"),
        (["--n-layers", "0"], "--n-layers must be an integer of at least 1, got 0"),
    ],
)
def test_sizes_that_make_no_model(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(T5Pretrain, "--out", "x", *arguments)
    # tyro wraps the message in a box.
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").replace("|", " ").split())


@pytest.mark.usefixtures("_no_data")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--also", "nothing"], "--also must be auto or one of"),
        (["--max-seconds", "0"], "--max-seconds must be above 0, got 0"),
        (["--mono", "nothing"], "--mono nothing: no such file; give a file, wikipedia"),
    ],
)
def test_what_cannot_be_read_is_named_and_nothing_is_left(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=said):
        run(T5Pretrain, "--out", str(tmp_path / "out"), *arguments)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((name, 0) for name in ("learning_rate", "warmup", "batch_size", "epochs")),
        *((name, -1) for name in ("weight_decay", "seed")),
        ("precision", "16-mixed"),
    ],
)
def test_a_setting_out_of_range_is_named(field: str, value: float | str) -> None:
    with pytest.raises(ValueError, match=f"--{field.replace('_', '-')} must be"):
        PreTraining(**{field: value})  # type: ignore[arg-type]
