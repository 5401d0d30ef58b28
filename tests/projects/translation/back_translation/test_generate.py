"""Back-translations and round trips of a model that knows ten sentences by heart.

Which synthetic pairs are left out, and why.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.back_translation.generate import (
    Limits,
    back_translate,
    bare_key,
    problem,
    repeats,
    round_trip,
)
from coursepkg.projects.translation.corpus import SentencePair, sentence_key
from coursepkg.projects.translation.errors.surface import words
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_study import Method
from coursepkg.projects.translation.train import train
from tests.projects.translation.memorised import PAIRS, RECIPE, memorised, translator

REAL = "Khách sạn ở đâu ?"


@pytest.mark.parametrize(
    ("made", "real", "reason"),
    [
        ("酒店在哪里？", REAL, None),
        ("JAL 4002航班在哪里？", "Chuyến bay JAL 4002 ở đâu ?", None),
        ("", REAL, "translated into nothing"),
        ("？！", REAL, "translated into nothing"),
        ("酒店 ⁇ 哪里？", REAL, "translated with unknown tokens"),
        ("Khách_sạn ở đâu?", REAL, "copied instead of translated"),
        ("JAL 4002", "JAL 4002 .", "copied instead of translated"),
        ("Khách sạn 在 đâu？", REAL, "translated into another script"),
        ("酒店", "Khách sạn mà tôi đặt hôm qua ở đâu ?", "of too unequal lengths"),
        ("好", "Vâng , được ạ .", None),
        ("阿兰肚子肚子肚子疼。", "Lan bị đau bụng rồi .", "with repetitions"),
        ("哈哈哈，好。", "Ha ha ha , được rồi .", None),
    ],
)
def test_reasons(made: str, real: str, reason: str | None) -> None:
    assert problem(made, real, "zh", "vi", Limits()) == reason


def test_the_same_rules_write_vietnamese() -> None:
    assert problem("Khách sạn ở đâu ?", "酒店在哪里？", "vi", "zh", Limits()) is None
    assert problem("酒店 ở 哪里 ？", "酒店在那里。", "vi", "zh", Limits()) == "translated into another script"


def test_limits_decide() -> None:
    pair = ("酒店很好很好很好。", "Khách sạn rất tốt .")
    assert problem(*pair, "zh", "vi", Limits()) == "with repetitions"
    assert problem(*pair, "zh", "vi", Limits(max_repeats=3)) is None
    assert problem(*pair, "zh", "vi", Limits(max_ratio=1.5)) == "of too unequal lengths"
    assert problem(*pair, "zh", "vi", Limits(max_ratio=1.5, min_length=9, max_repeats=3)) is None


@given(st.text(alphabet="abc酒店 ", max_size=30))
def test_a_copy_never_passes(text: str) -> None:
    assert problem(text, text, "zh", "vi", Limits()) is not None
    assert bare_key(text, "zh") == bare_key(text, "vi")


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4), st.integers(1, 6))
def test_a_phrase_repeated_n_times_is_found(phrase: list[str], times: int) -> None:
    assert repeats(" ".join(phrase * times)) >= times
    assert repeats(" ".join("abcdefg")) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_ratio": 0.5}, "max_ratio must be at least 1"),
        ({"min_script": 1.5}, r"min_script must be in \[0, 1\]"),
        ({"max_repeats": 0}, "max_repeats must be an integer of at least 1"),
        ({"min_length": 0}, "min_length must be an integer of at least 1"),
    ],
)
def test_limits_are_checked(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**change)


LONG = "Tôi muốn uống nước " * 30


@pytest.fixture(scope="module")
def model() -> Translator:
    return translator()


def test_pairs_are_made_of_real_targets(model: Translator) -> None:
    lines = [pair.target for pair in PAIRS]
    made = back_translate(model, lines, "zh", "vi", name="mono")
    assert made.pairs == [SentencePair(*pair[:2], "mono", i) for i, pair in enumerate(PAIRS, 1)]
    assert made.counts == {}
    assert str(made) == "10 pairs"


def test_lines_are_kept_as_they_stand(model: Translator) -> None:
    made = back_translate(model, ["Khách_sạn ở đâu?"], "zh", "vi")
    assert made.pairs == [SentencePair("酒店在哪里？", "Khách_sạn ở đâu?", "", 1)]


def test_what_is_left_out_is_counted_and_numbers_are_those_of_the_lines(model: Translator) -> None:
    lines = ["", " . ", LONG, PAIRS[0].target, "chúng_tôi đi học", PAIRS[1].target, PAIRS[2].target]
    held = {sentence_key(PAIRS[1].target, "vi"), sentence_key(PAIRS[2].source, "zh")}
    made = back_translate(model, lines, "zh", "vi", held_out=held)
    assert [(pair.source, pair.line) for pair in made.pairs] == [(PAIRS[0].source, 4)]
    assert made.counts == {
        "empty": 2,
        "too long for the model": 1,
        "repeated": 1,
        "in dev or test": 1,
        "translated into a sentence of dev or test": 1,
    }
    assert len(made.pairs) + sum(made.counts.values()) == len(lines)


def test_hot_draws_are_filtered_and_counted(model: Translator) -> None:
    lines = [pair.target for pair in PAIRS]
    hot = Method(sample=True, temperature=20.0)
    made, again = (back_translate(model, lines, "zh", "vi", method=hot, batch_size=size) for size in (64, 3))
    assert made == again
    assert sum(made.counts.values()) > 0
    assert len(made.pairs) + sum(made.counts.values()) == len(lines)
    assert made != back_translate(model, lines, "zh", "vi", method=replace(hot, seed=1))


def test_a_direction_that_was_not_trained_is_refused(model: Translator) -> None:
    with pytest.raises(ValueError, match="does not translate Vietnamese into English"):
        back_translate(model, ["Cảm ơn bạn ."], "en", "vi")
    with pytest.raises(ValueError, match="does not translate Chinese into English"):
        round_trip(model, PAIRS[:1], "zh", "en")


def test_nothing_in_nothing_out(model: Translator) -> None:
    assert back_translate(model, [], "zh", "vi").pairs == []


def test_what_is_known_by_heart_comes_back_unchanged(model: Translator) -> None:
    made = round_trip(model, PAIRS, "zh", "vi")
    assert made.pairs == list(PAIRS)
    reasons = {"of which nothing usable came back": 0, "that came back with too unequal a length": 0}
    reasons |= {"that came back unchanged": 10}
    expected = {f"{side} {reason}": n for side in ("sources", "targets") for reason, n in reasons.items()}
    assert made.counts == expected


def test_there_is_one_round_trip_a_pair_whatever_happens(model: Translator) -> None:
    pairs = [PAIRS[3], SentencePair("酒店？" * 40, LONG, "f", 7), SentencePair("！", ".", "f", 8), PAIRS[4]]
    made = round_trip(model, pairs, "zh", "vi")
    assert made.pairs == pairs
    assert made.counts["sources of which nothing usable came back"] == 2
    assert made.counts["targets of which nothing usable came back"] == 2


def test_a_round_trip_of_another_length_is_left_out_and_counted(model: Translator) -> None:
    hot = Method(sample=True, temperature=20.0)
    wide, narrow = (
        round_trip(model, PAIRS, "zh", "vi", method=hot, limits=limits)
        for limits in (Limits(max_ratio=1000.0), Limits(max_ratio=1.0, min_length=1))
    )
    n_off = 0
    for one, trip, own in zip(wide.pairs, narrow.pairs, PAIRS, strict=True):
        for came, kept, text in zip(one[:2], trip[:2], own[:2], strict=True):
            equal = len(words(came)) == len(words(text))
            n_off += not equal
            assert kept == (came if equal else text)
    counted = {name: n for name, n in narrow.counts.items() if "too unequal a length" in name}
    assert sum(counted.values()) == n_off > 0
    assert not any(n for name, n in wide.counts.items() if "too unequal a length" in name)


def test_round_trips_by_hot_draws_fit_the_model(model: Translator) -> None:
    hot = Method(sample=True, temperature=20.0)
    made = round_trip(model, PAIRS, "zh", "vi", method=hot)
    assert [(pair.file, pair.line) for pair in made.pairs] == [(pair.file, pair.line) for pair in PAIRS]
    assert made.pairs != list(PAIRS)
    for side, language, other in ((0, "zh", "vi"), (1, "vi", "zh")):
        texts = [pair[side] for pair in made.pairs]
        assert all(text.strip() for text in texts)
        assert max(map(len, model.subwords.encode_sources(texts, language, other))) <= model.longest


def test_progress_is_reported(model: Translator) -> None:
    seen: list[tuple[int, int]] = []
    lines = [pair.target for pair in PAIRS]
    back_translate(model, lines, "zh", "vi", report=lambda *numbers: seen.append(numbers))
    assert seen == [(10, 10)]


def test_both_kinds_of_pairs_train_a_model(model: Translator, tmp_path: Path) -> None:
    folder, parts = memorised()
    # Another dev part: further pairs of the one that chooses would be left out.
    parts = replace(parts, dev=(SentencePair("猫很小。", "Con mèo rất nhỏ ."),))
    back = back_translate(model, [pair.target for pair in PAIRS[:4]], "zh", "vi")
    trips = round_trip(model, [*parts.train, *back.pairs], "zh", "vi")
    recipe = replace(
        RECIPE, self_contrastive=0.1, versions="round-trip", max_epochs=1, warmup=1, batch_tokens=2000
    )
    said: list[str] = []
    options = {"extra": back.pairs, "start": folder, "log": said.append, "progress": False}
    train(recipe, parts, tmp_path / "run", round_trips=trips.pairs, **options)
    assert "14 training pairs; 0 of 14 pairs left out as too long" in said[0]
    with pytest.raises(ValueError, match="needs --round-trips with 14 pairs"):
        train(recipe, parts, tmp_path / "other", round_trips=trips.pairs[1:], **options)
