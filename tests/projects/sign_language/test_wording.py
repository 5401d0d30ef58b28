"""What a part lacks is named up to a limit."""

from coursepkg.projects.sign_language.data.splits import (
    SHOWN,
    known_signers,
    lacking,
    signer_notes,
)


def test_words_that_are_lacking_are_named_up_to_a_limit() -> None:
    assert lacking(()) == "every word"
    assert lacking(["Tôi"]) == "lacks 1 word: Tôi"
    words = [f"word {i}" for i in range(SHOWN)]
    assert lacking(words) == f"lacks 8 words: {', '.join(words)}"
    assert lacking([*words, "one more"]) == f"lacks 9 words: {', '.join(words)}, ..."


def test_signers_that_are_not_known_are_not_counted() -> None:
    assert known_signers(["An", "", "An"], ", ") == ", 1 signer"
    assert known_signers(["", ""], ", ") == ""


def test_a_split_by_signer_says_what_it_cannot_promise() -> None:
    assert signer_notes(["An", "Chi"], "signer") == []
    assert signer_notes(["", ""], "clip") == []
    (none,) = signer_notes(iter(["", ""]), "signer")
    assert none.startswith("signers are not known: parted by recordings and copies only; a person may stand")
    (some,) = signer_notes(["An", "", "An"], "signer")
    assert some.startswith("the signers of 1 of 3 clips are not known: ")
