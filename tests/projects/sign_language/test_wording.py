"""Numbers agree with their nouns, and what a part lacks is named up to a limit."""

from coursepkg.projects.sign_language.wording import SHOWN, counted, lacking


def test_one_is_singular_and_nothing_else() -> None:
    assert [counted(n, "word") for n in (0, 1, 2)] == ["0 words", "1 word", "2 words"]
    assert counted(3875, "clip") == "3,875 clips"


def test_words_that_are_lacking_are_named_up_to_a_limit() -> None:
    assert lacking(()) == "every word"
    assert lacking(["Tôi"]) == "lacks 1 word: Tôi"
    words = [f"word {i}" for i in range(SHOWN)]
    assert lacking(words) == f"lacks 8 words: {', '.join(words)}"
    assert lacking([*words, "one more"]) == f"lacks 9 words: {', '.join(words)}, ..."
