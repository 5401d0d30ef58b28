"""The two translators that ship: the one of real sentences, and the small one of the phrasebook."""

import unicodedata
from pathlib import Path

import pytest
from train_translator import MACHINE_MADE_SENTENCES

from coursepkg.data import attribution_of
from coursepkg.decoding.step import Hypothesis
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.corpus import to_scorer
from coursepkg.projects.translation.placeholders import _with_marks, copied_strings, copies, mask
from coursepkg.projects.translation.predict import DEFAULT, PHRASEBOOK, Translator
from coursepkg.projects.translation.readers.open_corpus import read_embedded
from coursepkg.projects.translation.synthetic import Phrasebook

DIRECTIONS = [("zh", "vi"), ("vi", "zh"), ("en", "vi"), ("vi", "en")]


@pytest.fixture(scope="module")
def shipped() -> Translator:
    return Translator.load_default()


@pytest.fixture(scope="module")
def phrasebook() -> Translator:
    return Translator.load_phrasebook()


@pytest.mark.parametrize(("folder", "most"), [(DEFAULT, 40 * 2**20), (PHRASEBOOK, 5 * 2**20)])
def test_every_file_is_small(folder: Path, most: int) -> None:
    sizes = {path.name: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    assert {"model.safetensors", "model.json", "target.model"} <= sizes.keys()
    assert max(sizes.values()) <= most


def test_the_sources_and_their_licences_lie_beside_the_weights() -> None:
    told = (DEFAULT / "ATTRIBUTION.txt").read_text("utf-8")
    assert told == f"{attribution_of('open')}\n{MACHINE_MADE_SENTENCES}"
    assert all(name in told for name in ("Tatoeba", "CC BY 2.0 FR", "Microsoft", "Wikipedia", "CC BY-SA"))


def test_it_was_made_of_what_may_ship(shipped: Translator) -> None:
    assert set(shipped.card["corpora"]) == {"open"}
    assert shipped.directions == [*DIRECTIONS]


def test_it_translates_everyday_sentences_that_it_never_saw(shipped: Translator) -> None:
    pairs = read_embedded()["test"][:80]
    found = shipped.translate([pair.source for pair in pairs], source="en", target="vi")
    said, true = [to_scorer(one.line, "vi") for one in found], [to_scorer(p.target, "vi") for p in pairs]
    assert score(BLEU(), said, true).value > 25
    assert all(one.usable is not None for one in found)


def test_it_copies_what_is_masked(shipped: Translator) -> None:
    texts = ["Open %1$s in 2024.", "Select {name} in https://a.org/b.", "It costs 1,024 dollars."]
    for text, one in zip(texts, shipped.translate(texts, source="en", target="vi"), strict=True):
        assert copies(text, one.text, text)[0] == copies(text, text, text)[1]


DIALLED = "Dial 1 2 3 4 5 6 7 8."
"""More numbers than the model keeps in order."""


def test_greedy_search_names_what_it_did_not_copy(shipped: Translator) -> None:
    (one,) = shipped.translate([DIALLED], source="en", target="vi", beam_size=1)
    lost = set("12345678") - set(copied_strings(one.text))
    noted = one.note.removeprefix("not copied: ").split("; ")[0].split(", ")
    assert lost
    assert set(noted) == lost


@pytest.mark.parametrize("beams", [5, 20])
def test_several_beams_copy_all_and_say_what_was_put_in(shipped: Translator, beams: int) -> None:
    (one,) = shipped.translate([DIALLED], source="en", target="vi", beam_size=beams, n_best=2)
    assert set("12345678") <= set(copied_strings(one.text))
    assert one.note.startswith("put in after the search, look where: ")
    assert "not copied" not in one.note


def test_a_mark_is_put_where_the_model_finds_it_most_likely(shipped: Translator) -> None:
    part = mask("It costs 5 dollars.")
    (ids,) = shipped.encode([part.text], "en", "vi")
    (written,) = shipped.subwords.encode_targets(["Nó có giá đô la."], "vi")
    lacking = Hypothesis(tuple(written), (), 0.0, 0.0, True)
    found = _with_marks(shipped, part, ids, [lacking], "vi", 1.0)
    assert found is not None
    best, strings = found
    assert strings == ["5"]
    (mark,) = set(best.ids) - set(written)
    others = [[*written[:i], mark, *written[i:]] for i in range(len(written) + 1)]
    assert best.log_prob == pytest.approx(max(shipped.log_probs([ids] * len(others), others)), abs=1e-4)


def test_it_doubts_what_it_does_not_know(shipped: Translator) -> None:
    nonsense = [
        "Colourless green xylophones defenestrate the quixotic parliamentarians of Zzyzx.",
        "Flibber wobbles the gnarled quorxes of Zzyzx.",
        "Whilst yonder brigantine careened, the boatswain's halyards frayed asunder.",
        "Ontogeny, forsooth, recapitulates nought but the taxonomist's chimaera.",
    ]
    known, *odd = shipped.translate(["Thank you very much.", *nonsense], source="en", target="vi")
    assert not known.doubtful
    assert all(one.doubtful for one in odd)
    letters = ["Twas brillig, and the slithy toves did gyre and gimble in the wabe.", "asdf qwer zxcv uiop"]
    assert all(one.doubtful for one in shipped.translate(letters, source="en", target="vi"))
    (foreign,) = shipped.translate(["Where is the hotel?"], source="zh", target="vi")
    assert "does not look like Chinese" in foreign.note
    repeated, wrong = shipped.translate(["Open the file.", "I won't come today."], source="vi", target="en")
    assert repeated.note.startswith("the translation repeats its source")
    assert "the translation does not look like English" in wrong.note
    for copied in shipped.translate(["Microsoft Azure", "12 + 30 = 42"], source="vi", target="en"):
        assert "translation" not in copied.note
    (emoji,) = shipped.translate(["\U0001f600\U0001f600"], source="en", target="vi")
    assert (emoji.text, emoji.note) == ("\U0001f600\U0001f600", "no word to translate, so copied")


def test_it_does_not_doubt_short_sentences_and_what_it_copies(shipped: Translator) -> None:
    short = ["It is 8:30.", "Room 305, floor 3.", "Where is it?", "Open the file."]
    assert not any(one.doubtful for one in shipped.translate(short, source="en", target="vi"))
    codes = ["12/03/2024", "https://a.b/c", "12 + 30 = 42", "%1$s: ②"]
    for source, target in shipped.directions:
        copied = shipped.translate(codes, source=source, target=target)
        assert [one.text for one in copied] == codes
        assert all("no word to translate, so copied" in one.note for one in copied)
        assert not any(one.doubtful for one in copied)


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (
            ("en", "vi"),
            {
                "Hello.": "Xin chào.",
                "How are you?": "Bạn khỏe không?",
                "Goodbye.": "Tạm biệt.",
                "I love you.": "Anh yêu em.",
            },
        ),
        (("zh", "vi"), {"你好！": "Xin chào!", "再见。": "Tạm biệt.", "你好吗？": "Bạn khỏe không?"}),
        (("vi", "en"), {"Xin chào.": "Hello.", "Tạm biệt.": "Goodbye."}),
    ],
)
def test_it_greets(shipped: Translator, way: tuple[str, str], said: dict[str, str]) -> None:
    found = shipped.translate([*said], source=way[0], target=way[1])
    assert dict(zip(said, (one.text for one in found), strict=True)) == said


def test_its_confidence_does_not_depend_on_the_unicode_form(shipped: Translator) -> None:
    words = "Trời hôm nay đẹp quá!"
    forms = [unicodedata.normalize(form, words) for form in ("NFC", "NFD")]
    composed, apart = shipped.translate(forms, source="vi", target="en")
    assert composed.confidence == pytest.approx(apart.confidence, abs=1e-4)


def test_five_thousand_words_are_translated_in_parts(shipped: Translator) -> None:
    (one,) = shipped.translate(["I like coffee. " * 1667], source="en", target="vi", beam_size=1)
    assert "translated in 1667 parts" in one.note


def test_a_text_with_more_numbers_than_the_model_takes_is_translated_in_parts(shipped: Translator) -> None:
    numbers = [str(100 + i) for i in range(60)]
    (one,) = shipped.translate([" and the number ".join(numbers)], source="en", target="vi")
    assert one.note.startswith("longer than the 127 tokens that the model takes")
    assert set(numbers) <= set(copied_strings(one.text))
    (one,) = shipped.translate([" and ".join(numbers[:12])], source="en", target="vi")
    assert one.note.startswith(
        "more numbers and codes than the 9 that the model takes, so translated in 2 parts"
    )
    assert set(numbers[:12]) <= set(copied_strings(one.text))


def test_every_part_of_a_long_text_has_all_marks_for_itself(shipped: Translator) -> None:
    text = " ".join(f"Room {100 + i} costs {1000 + 7 * i} dollars." for i in range(15))
    (one,) = shipped.translate([text], source="en", target="vi")
    assert "translated in 15 parts" in one.note
    assert copied_strings(one.text) == copied_strings(text)


def test_a_mark_in_the_text_is_copied_beside_a_number(shipped: Translator) -> None:
    (one,) = shipped.translate(["Press ② and then 5."], source="en", target="vi")
    assert sorted(copied_strings(one.text)) == ["5", "②"]


@pytest.mark.parametrize(
    ("source", "target", "said", "meant"),
    [
        ("zh", "vi", "酒店在哪里？", "Khách sạn ở đâu?"),
        ("vi", "zh", "Khách sạn ở đâu?", "酒店在哪里？"),
        ("en", "vi", "Where is the hotel?", "Khách sạn ở đâu?"),
        ("vi", "en", "Khách sạn ở đâu?", "Where is the hotel?"),
    ],
)
def test_it_translates_at_once(
    phrasebook: Translator, source: str, target: str, said: str, meant: str
) -> None:
    (one,) = phrasebook.translate([said], source=source, target=target)
    assert one.text == meant
    assert 0.5 < one.confidence <= 1


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_it_knows_the_phrases_of_the_held_out_part(phrasebook: Translator, source: str, target: str) -> None:
    held_out = Phrasebook().split("random").test[:120]
    found = phrasebook.translate(
        [t.line(source) for t in held_out], source=source, target=target, beam_size=1
    )
    said, true = (
        [to_scorer(line, target) for line in lines]
        for lines in ([one.n_best[0].line for one in found], [t.line(target) for t in held_out])
    )
    assert score(BLEU(tokenize="zh" if target == "zh" else "13a"), said, true).value > 90


def test_another_direction_is_refused(shipped: Translator) -> None:
    with pytest.raises(ValueError, match="does not translate Chinese into English"):
        shipped.translate(["你好"], source="zh", target="en")
