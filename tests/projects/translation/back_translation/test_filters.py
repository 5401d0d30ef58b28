"""Which synthetic pairs are left out, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.back_translation.filters import (
    Limits,
    bare_key,
    problem,
    repeats,
    script_share,
)

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


def test_script_share_counts_letters() -> None:
    assert script_share("酒店 ABC 3 !", "zh") == pytest.approx(2 / 5)
    assert script_share("酒店 ABC 3 !", "vi") == pytest.approx(3 / 5)
    assert script_share("được ABC", "en") == pytest.approx(4 / 7)  # đ, ư and ợ are no English letters
    assert script_share("12:30 !", "zh") == 1.0


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
