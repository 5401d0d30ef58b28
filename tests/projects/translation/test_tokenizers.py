"""Vocabularies of a translation model: joint with tags, or one for each language, learnt from training alone."""

from pathlib import Path

import pytest

from coursepkg.projects.translation.tokenizers import FILES, Subwords, tag_of
from coursepkg.text.vocabulary import UNK
from tests.projects.translation.tiny import pairs, recipe, subwords, toy_parts

CORPORA = [(("zh", "vi"), toy_parts().train)]


def separate() -> Subwords:
    return Subwords.train(CORPORA, recipe(joint=False, reverse=0.0, vocab_size=90))


def test_a_joint_vocabulary_has_tags_behind_the_special_tokens() -> None:
    found = subwords()
    assert found.joint
    assert len(found.source) == 170
    assert found.source.pieces[4:7] == (tag_of("zh"), tag_of("vi"), tag_of("en"))


def test_every_source_begins_with_the_tag_of_its_target() -> None:
    texts = [p.source for p in toy_parts().test]
    ids = subwords().encode_sources(texts, "zh", "vi")
    assert {row[0] for row in ids} == {5}
    assert {row[0] for row in subwords().encode_sources(["Tôi ."], "vi", "zh")} == {4}
    # A tag that a user types is text, never a tag.
    assert 5 not in subwords().encode_sources(["<2vi> 我"], "zh", "vi")[0][1:]


def test_targets_come_back_as_they_were() -> None:
    for pair in toy_parts().test:
        (ids,) = subwords().encode_targets([pair.target], "vi")
        assert subwords().target.decode(ids) == pair.target
        assert min(ids) > UNK


def test_user_spelling_and_corpus_spelling_are_one_source() -> None:
    as_read, as_stored = "我看见三只猫。", "我 看见 三 只 猫 。"
    assert subwords().encode_sources([as_read], "zh", "vi") == subwords().encode_sources(
        [as_stored], "zh", "vi"
    )


def test_underscores_are_a_matter_of_targets() -> None:
    removing = Subwords(subwords().source, subwords().target, "remove")
    (kept,), (removed,) = (one.encode_targets(["Các_bạn thích"], "vi") for one in (subwords(), removing))
    assert subwords().target.decode(kept) == "Các_bạn thích"
    assert subwords().target.decode(removed) == "Các bạn thích"
    assert subwords().encode_sources(["Các_bạn"], "vi", "zh") == removing.encode_sources(
        ["Các bạn"], "vi", "zh"
    )


def test_one_vocabulary_for_each_has_no_tags() -> None:
    found = separate()
    assert not found.joint
    assert found.source.tags == found.target.tags == ()
    assert len(set(found.fingerprints)) == 2
    (ids,) = found.encode_sources(["我看见三只猫。"], "zh", "vi")
    assert found.source.decode(ids) == "我看见三只猫。"
    assert not {"▁Tôi", "▁mèo"} & set(found.source.pieces)


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    for found, files in ((subwords(), FILES[1:]), (separate(), FILES)):
        folder = tmp_path / str(len(files))
        folder.mkdir()
        found.save(folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted(files)
        again = Subwords.load(folder, found.underscores)
        assert (again.fingerprints, again.joint) == (found.fingerprints, found.joint)


def test_the_same_training_part_gives_the_same_vocabulary_and_another_another() -> None:
    again = Subwords.train(CORPORA, recipe())
    other = Subwords.train([(("zh", "vi"), pairs("zh", "vi", 0, 239))], recipe())
    assert again.fingerprints == subwords().fingerprints
    assert other.fingerprints != subwords().fingerprints


def test_a_size_that_the_text_does_not_fill_is_refused_by_one_line() -> None:
    with pytest.raises(ValueError, match="vocab_size") as caught:
        Subwords.train(CORPORA, recipe(vocab_size=5000))
    assert "\n" not in str(caught.value)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    subwords().save(tmp_path)
    path = tmp_path / FILES[1]
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"target\.model is not a usable SentencePiece file"):
        Subwords.load(tmp_path, "keep")
