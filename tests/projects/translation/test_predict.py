"""The Translator: order, batches, alternatives, alignments, refusals, and the same model again from its folder."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch

from coursepkg.decoding.step import Hypothesis
from coursepkg.projects.translation.confidence import rank
from coursepkg.projects.translation.models import Subwords, build_model
from coursepkg.projects.translation.placeholders import Masked, _with_marks
from coursepkg.projects.translation.predict import Translation, Translator
from tests.projects.translation.tiny import RECIPE, fast, pairs, subwords, toy_parts

SOURCES = [p.source for p in toy_parts().test[:6]] + ["我喜欢。", "你们 看见 三 只 猫 。"]


@pytest.fixture(scope="module")
def exact(tiny_run: Path) -> Translator:
    """In float64, where batching cannot turn a near-tie."""
    found = Translator.load(tiny_run)
    return Translator(found.model.double(), found.subwords, found.recipe, found.directions)


def test_it_learnt_both_directions(translator: Translator) -> None:
    for source, target in (("zh", "vi"), ("vi", "zh")):
        test = toy_parts(source, target).test
        found = translator.translate([p.source for p in test], source=source, target=target)
        right = [
            one.n_best[0].line.replace(" ", "") == p.target.replace(" ", "")
            for one, p in zip(found, test, strict=True)
        ]
        assert sum(right) > 0.8 * len(test)


def test_one_by_one_equals_together_in_order(exact: Translator) -> None:
    together = exact.translate(SOURCES, batch_size=3)
    alone = [exact.translate([text])[0] for text in SOURCES]
    assert [one.source for one in together] == SOURCES
    assert [[a.tokens for a in one.n_best] for one in together] == [
        [a.tokens for a in one.n_best] for one in alone
    ]
    assert [one.confidence for one in together] == pytest.approx([one.confidence for one in alone])
    turned = exact.translate(SOURCES[::-1])
    assert [one.text for one in turned] == [one.text for one in together][::-1]


def test_how_it_is_written_is_how_it_is_read(translator: Translator) -> None:
    (found,) = translator.translate(["你们 看见 三 只 猫 。"])
    assert found.n_best[0].line == "Các_bạn nhìn thấy ba con mèo ."
    assert found.text == "Các bạn nhìn thấy ba con mèo."
    assert translator.translate(["你们看见三只猫。"])[0].text == found.text
    (back,) = translator.translate([found.text], source="vi", target="zh")
    assert back.text == "你们看见三只猫。"


def test_alternatives_that_read_the_same_are_there_once(translator: Translator) -> None:
    lines = [
        "Các_bạn thích ba con mèo .",
        "Các bạn thích ba con mèo .",
        "Tôi thích ba con mèo .",
        "Tôi thích .",
    ]
    found = [
        Hypothesis(tuple(ids), (-0.1,) * len(ids), -1.0 - i, -1.0 - i, True)
        for i, ids in enumerate(translator.subwords.target.encode_batch(lines))
    ]
    part = Masked("你们喜欢三只猫。", {})
    (ranked,) = rank(translator, [part], [found], "zh", "vi", 0.0, 1.0)
    one = translator._translation(part, [5, 6], ranked, [], "vi", 2, False)
    assert [a.text for a in one.n_best] == ["Các bạn thích ba con mèo.", "Tôi thích ba con mèo."]
    assert [(a.line, a.score) for a in one.n_best] == [(lines[0], -1.0), (lines[2], -3.0)]
    assert one.line == lines[0]


def test_alternatives_are_sorted_and_distinct(translator: Translator) -> None:
    for one in translator.translate(SOURCES, n_best=4, beam_size=6):
        assert len(one.n_best) == 4
        scores = [a.score for a in one.n_best]
        assert scores == sorted(scores, reverse=True)
        assert len({a.tokens for a in one.n_best}) == 4
        assert all(0 < a.confidence <= 1 for a in one.n_best)
        assert (one.text, one.confidence) == (one.n_best[0].text, one.n_best[0].confidence)


def test_confidence_is_lower_for_what_was_never_seen(translator: Translator) -> None:
    known, odd = translator.translate([pairs("zh", "vi")[0].source, "只 只 了 本 五 五 我 。"])
    assert odd.confidence < known.confidence


def test_alignments_are_distributions_over_the_source(translator: Translator) -> None:
    for one in translator.translate(SOURCES[:3], alignments=True):
        assert one.alignment is not None
        assert one.alignment.shape == (len(one.n_best[0].tokens), len(one.source_tokens) + 1)
        torch.testing.assert_close(one.alignment.sum(dim=1), torch.ones(len(one.alignment)))
        assert one.alignment.min() >= 0
        assert one.source_tokens[0] == "<2vi>"
    assert translator.translate(SOURCES[:1])[0].alignment is None


def test_a_network_without_cross_attention_maps_has_no_alignment() -> None:
    torch.manual_seed(0)
    model = build_model(fast(architecture="gru"), 170, 170)
    gru = Translator(model, subwords(), fast(architecture="gru", max_len=10), [("zh", "vi")])
    (found,) = gru.translate(["我 喜欢"], alignments=True)
    assert found.alignment is None
    assert not model.training


def test_a_gru_without_room_for_a_lost_mark_says_so() -> None:
    torch.manual_seed(0)
    settings = fast(architecture="gru", max_len=10, placeholders="mask", beam_size=2)
    gru = Translator(build_model(settings, 170, 170), subwords(), settings, [("zh", "vi")])
    (one,) = gru.translate(["三 5"])
    # An untrained model also writes Chinese.
    assert one.note.split("; ")[0] == "not copied: 5"


@pytest.mark.parametrize("architecture", ["modern", "decoder-only", "gru", "gru-attention"])
def test_a_mark_of_several_tokens_is_put_in_only_where_there_is_room(architecture: str) -> None:
    torch.manual_seed(0)
    settings = fast(max_len=12, placeholders="mask", architecture=architecture)
    model = Translator(build_model(settings, 170, 170), subwords(), settings, [("zh", "vi")])
    part = Masked("我 ① ②", {"①": "5", "②": "6"})
    (ids,) = model.encode([part.text], "zh", "vi")
    for n, fits in ((6, True), (8, False)):
        lacking = Hypothesis((20,) * n, (), 0.0, 0.0, True)
        found = _with_marks(model, part, ids, [lacking], "vi", 1.0)
        assert (found is not None) == fits


def test_nothing_gives_nothing(translator: Translator) -> None:
    assert translator.translate([]) == []


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["我"], {"source": "fr"}, "--from must be one of zh, vi, en, got fr"),
        (["我"], {"target": "xx"}, "--to must be one of zh, vi, en, got xx"),
        (
            ["I"],
            {"source": "en"},
            r"does not translate English into Vietnamese \(it knows zh to vi, vi to zh\)",
        ),
        (["我", "  "], {}, "^sentence 2: empty; give a sentence or remove it$"),
        (
            ["我", "我", "我 喜欢 " * 50000],
            {},
            r"^sentence 3: 250,000 characters, at most 100,000 .* split it",
        ),
        ("我", {}, "^texts must be a list of sentences, got one; put it into a list$"),
        (["我"], {"beam_size": 2**63}, "beam_size must be at most 1,000, got 9223372036854775808"),
        (["我"], {"beam_size": 0}, "beam_size must be an integer of at least 1"),
        (["我"], {"n_best": 3, "beam_size": 2}, "n_best must be .* got 3"),
        (["我"], {"length_penalty": float("nan")}, "length_penalty"),
        (["我"], {"batch_size": 0}, "batch_size must be an integer of at least 1"),
    ],
)
def test_what_cannot_be_translated_is_named(
    translator: Translator, texts: list[str], options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        translator.translate(texts, **options)
    assert "\n" not in str(caught.value)


def test_the_longest_sentence_is_taken_and_one_token_more_makes_two_parts(translator: Translator) -> None:
    lengths = {n: len(subwords().encode_sources(["三五" * n], "zh", "vi")[0]) for n in range(1, 13)}
    fits = max(n for n, length in lengths.items() if length <= translator.longest)
    assert lengths[fits + 1] > translator.longest
    assert translator.translate(["三五" * fits], beam_size=1)[0].note == ""
    (longer,) = translator.translate(["三五" * (fits + 1)], beam_size=1)
    # An untrained model also writes Chinese.
    assert (
        longer.note.split("; ")[0]
        == "longer than the 23 tokens that the model takes, so translated in 2 parts"
    )
    assert longer.source == "三五" * (fits + 1)
    assert "".join(translator.parts_of(longer.source, "zh", "vi")) == longer.source


def test_a_long_text_is_cut_at_sentences_then_commas_then_anywhere() -> None:
    shipped = Translator.load_phrasebook()
    where = "酒店在哪里？"
    (parts, (once,)) = (shipped.translate([text]) for text in (where * 15, where))
    assert "translated in 15 parts" in parts[0].note
    assert parts[0].text == " ".join([once.text] * 15)
    assert (parts[0].alignment, once.note) == (None, "")
    assert 0 < parts[0].confidence <= 1
    three = "我要买三本书，" * 20 + "谢谢。"
    assert all(part.endswith(("，", "。")) for part in shipped.parts_of(three, "zh", "vi"))
    assert "".join(shipped.parts_of("书" * 150, "zh", "vi")) == "书" * 150
    english = "Where is the hotel? " * 30
    (back,) = shipped.translate([english], source="en", alignments=True, n_best=2)
    assert len(back.n_best) == 2
    assert back.text.count("Khách sạn ở đâu?") == 30
    (chinese,) = shipped.translate(["Khách sạn ở đâu? " * 30], source="vi", target="zh")
    assert " " not in chinese.text


def test_each_sentence_is_translated_by_itself_where_the_recipe_says_so() -> None:
    shipped = Translator.load_default()
    alone = shipped.translate(["Hello.", "How are you?"], source="en", alignments=True)
    (one,) = shipped.translate(["Hello. How are you?"], source="en", alignments=True)
    assert (one.text, one.note) == (" ".join(part.text for part in alone), "")
    assert one.usable == pytest.approx(min(part.usable for part in alone))
    assert one.alignment is not None
    maps = [part.alignment for part in alone]
    torch.testing.assert_close(one.alignment, torch.block_diag(*maps), rtol=0, atol=1e-5)
    assert one.alignment.shape == (len(one.n_best[0].tokens), len(one.source_tokens) + 1)
    shipped.recipe = dataclasses.replace(shipped.recipe, split_sentences=False)
    (whole,) = shipped.translate(["Hello. How are you?"], source="en")
    assert whole.source_tokens.count("<2vi>") == 1
    assert one.source_tokens.count("<2vi>") == 2


def test_what_the_model_cannot_take_at_once_has_a_note() -> None:
    shipped = Translator.load_default()
    apples = " ".join(map(str, range(11, 20)))
    rooms = "There are 11 rooms. There are 12 rooms. " + " ".join(f"Room {i} is free." for i in range(13, 21))
    texts = ["Hello. " * 9, rooms, f"I see {apples} and the 21st apple.", "word " * 190]
    few, numbers, crowded, long = shipped.translate(texts, source="en", beam_size=1)
    assert "that the model takes" not in few.note + numbers.note
    assert crowded.note.startswith(
        "more numbers and codes than the 9 that the model takes, so translated in "
    )
    assert long.note.startswith("longer than the 127 tokens that the model takes, so translated in 2 parts")


def test_parts_without_a_word_and_parts_that_begin_with_a_tag() -> None:
    shipped = Translator.load_default()
    numbers = " ".join(map(str, range(1, 13)))
    texts = [numbers, "Hello. ... ! Thank you.", "Hello. <2vi> is a tag."]
    copied, dots, tagged = shipped.translate(texts, source="en", n_best=5, alignments=True)
    assert copied.text == numbers
    assert len(dots.n_best) > 1
    assert all(" ... ! " in other.text for other in dots.n_best)
    assert dots.alignment is not None
    torch.testing.assert_close(dots.alignment.sum(dim=1), torch.ones(len(dots.n_best[0].tokens)))
    assert tagged.text.startswith("Xin chào.")


def same(one: list[Translation], other: list[Translation]) -> bool:
    return [t.n_best for t in one] == [t.n_best for t in other]


def test_a_loaded_model_is_the_one_in_memory(tiny_run: Path, translator: Translator) -> None:
    again = Translator.load(str(tiny_run))
    assert again.fingerprint == translator.fingerprint
    assert again.recipe == RECIPE
    assert same(again.translate(SOURCES, n_best=2), translator.translate(SOURCES, n_best=2))
    changed = Translator.load(tiny_run)
    next(changed.model.parameters()).data[0, 0] += 1e-3
    assert changed.fingerprint != translator.fingerprint


@pytest.fixture
def copied(tiny_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_run, tmp_path / "copy"))


def test_damaged_weights_are_refused(copied: Path) -> None:
    path = copied / "model" / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        Translator.load(copied)


def test_the_vocabulary_of_another_model_is_refused(copied: Path) -> None:
    other = Subwords.train([(("zh", "vi"), pairs("zh", "vi", 0, 200))], RECIPE)
    assert len(other.source) == len(subwords().source)
    other.save(copied)
    with pytest.raises(ValueError, match="vocabulary") as caught:
        Translator.load(copied)
    assert "\n" not in str(caught.value)


def test_what_is_missing_is_named(copied: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no finished model in it; train one there first"):
        Translator.load(tmp_path / "nowhere")
    (copied / "target.model").unlink()
    with pytest.raises(FileNotFoundError, match=r"target\.model"):
        Translator.load(copied)
    shutil.rmtree(copied / "model")
    with pytest.raises(FileNotFoundError, match="training was not finished: add --resume"):
        Translator.load(copied)


def test_a_card_that_is_no_json_is_refused_by_name(copied: Path) -> None:
    path = copied / "model" / "model.json"
    assert json.loads(path.read_text("utf-8"))["meta"]["directions"] == [["zh", "vi"], ["vi", "zh"]]
    path.write_text("{")
    with pytest.raises(ValueError, match=r"model\.json"):
        Translator.load(copied)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<2fr> 酒店在哪里？", r"sentence 1: the text begins with <2fr>; tags are added by the direction"),
        (" <2vi>酒店在哪里？", r"sentence 1: the text begins with <2vi>"),
        ("酒店▁在哪里？", r"sentence 1: holds ▁ \(U\+2581\); put a space"),
    ],
)
def test_what_a_vocabulary_would_misread_is_named(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Translator.load_phrasebook().translate([text])
