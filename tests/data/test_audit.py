"""The audit as a whole: what it counts, when parts leak, what it prints and hands on as JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.data.audit import Audit, Leak, audit_parallel, find_leaks, leaking_records
from coursepkg.data.audit_rows import Row, normalised
from coursepkg.data.split import group_records, grouped_split
from coursepkg.projects.translation.corpus import SentencePair

TRAIN = [
    ("我 想 喝水 。", "Tôi muốn uống nước ."),
    ("我 想 喝水 。", "Tôi muốn uống nước ."),
    ("我想喝水！", "tôi muốn uống_nước"),
    ("我 想 吃饭 。", "Tôi muốn ăn cơm ."),
    ("他 每天 早上 喝 咖啡 。", "Sáng nào anh ấy cũng uống cà phê ."),
    ("我 想 喝水 。", "Tôi khát ."),
]
DEV = [("他 每天 早上 喝 茶 。", "Sáng nào anh ấy cũng uống trà ."), ("你好 。", "Chào bạn .")]


def rows(pairs, file: str = "a.zh") -> list[Row]:
    return [Row(source, target, file, i) for i, (source, target) in enumerate(pairs, start=1)]


def audit(**parts) -> Audit:
    return audit_parallel({part: rows(pairs, f"{part}.zh") for part, pairs in parts.items()}, "zh", "vi")


def test_duplicates_are_counted_exactly() -> None:
    found = audit(train=TRAIN).duplicates
    assert (found.n_pairs, found.n_exact, found.n_normalised, found.n_ambiguous) == (6, 5, 4, 1)


def test_parts_that_share_nothing_do_not_leak() -> None:
    found = audit(train=TRAIN, dev=DEV)
    assert not found.leaks
    assert found.n_leaking == {"train": 0, "dev": 0}
    assert "leaks: none" in found.report()
    zh, vi = found.sides
    assert zh.near_across == {"train": 1, "dev": 1}
    assert vi.n_near == 0


def test_a_sentence_is_no_neighbour_of_itself_in_another_part() -> None:
    shared, near = ("a", "một hai ba bốn ."), ("b", "một hai ba năm .")
    found = audit(train=[shared, near], dev=[shared])
    assert found.sides[1].near_across == {"train": 1, "dev": 1}


@pytest.mark.parametrize(
    ("pair", "language", "sentence"),
    [
        (("我 想 喝水 。", "Tôi muốn được uống ."), "zh", "我 想 喝水 。"),
        (("我想喝水", "Khác hẳn ."), "zh", "我 想 喝水 。"),
        (("别的 话 。", "TÔI MUỐN ĂN_CƠM"), "vi", "Tôi muốn ăn cơm ."),
    ],
)
def test_a_shared_sentence_on_either_side_is_a_leak(pair, language: str, sentence: str) -> None:
    found = audit(train=TRAIN, dev=[*DEV, pair])
    assert found.leaks
    assert found.shared_as_written == (sentence,)
    assert found.shared[0].key == (language, normalised(sentence, language))
    assert found.n_leaking["dev"] == 1
    assert found.n_leaking["train"] == len(found.shared[0].records["train"])
    text = found.report()
    assert "LEAKS: 1 sentences stand in several parts" in text
    assert "dev.zh:3 (dev)" in text
    (shared,) = found.as_json()["shared"]
    assert shared["language"] == language
    assert shared["places"]["dev"] == ["dev.zh:3"]


def test_the_same_word_in_both_languages_is_no_leak() -> None:
    assert not audit(train=[("OK 吗 ？", "OK")], dev=[("OK", "Được .")]).leaks


def test_empty_sides_are_bad_rows_and_no_leak() -> None:
    found = audit(train=[("我 。", "")], dev=[("你 。", " ")])
    assert not found.leaks
    assert [(one.kind, one.part, one.line, one.side) for one in found.bad] == [
        ("empty side", "train", 1, "vi"),
        ("empty side", "dev", 1, "vi"),
    ]


def test_a_split_by_group_of_the_same_keys_does_not_leak() -> None:
    pairs = TRAIN + DEV
    keys = [(f"zh{normalised(zh, 'zh')}", f"vi{normalised(vi, 'vi')}") for zh, vi in pairs]
    split = grouped_split(keys, {"train": 0.6, "dev": 0.4})
    assert not audit(**{part: [pairs[i] for i in own] for part, own in split.items()}).leaks


def test_another_key_may_tell_what_is_the_same() -> None:
    parts = {"train": rows([("我 。", "Tôi .")]), "dev": rows([("我 ！", "tôi !")])}
    assert audit_parallel(parts, "zh", "vi").leaks
    assert not audit_parallel(parts, "zh", "vi", key=lambda text, language: text).leaks


def test_characters_outside_the_alphabet_are_counted_and_placed() -> None:
    found = audit(train=[("我 想 。", "Tôi muốn ."), ("好 ☃", "Được ☃ ☃"), ("𪃿 ，", "ｔốt")])
    zh, vi = found.sides
    assert [(one.character, one.count, one.file, one.line) for one in zh.unknown] == [("☃", 1, "train.zh", 2)]
    assert [(one.character, one.count, one.line) for one in vi.unknown] == [("☃", 2, 2), ("ｔ", 1, 3)]
    assert "U+2603 SNOWMAN x 2 (train.zh, line 2)" in found.report()


def test_an_alphabet_can_be_declared() -> None:
    parts = {"train": rows([("abc", "xyz")])}
    found = audit_parallel(parts, "en", "vi", alphabets={"en": "ab", "vi": "xyz"})
    assert [[one.character for one in side.unknown] for side in found.sides] == [["c"], []]
    assert [side.unknown for side in audit_parallel(parts, "qq", "vi").sides] == [(), ()]


def test_unicode_forms_are_counted() -> None:
    found = audit(train=[("我", "hòa"), ("你", "ho\u0300a"), ("他", "hoa"), ("她", "hòa ho\u0300a")])
    assert found.sides[1].forms == {"NFC": 1, "NFD": 1, "either": 1, "mixed": 1}


def test_the_json_can_be_written_and_the_report_printed_whatever_is_in_the_text() -> None:
    broken = b"b\xe1\xbb".decode("utf-8", "surrogateescape")
    found = audit(train=[(broken, broken), ("好", "&lt; _")], dev=[(broken, "tốt")])
    document = json.loads(json.dumps(found.as_json(), ensure_ascii=False).encode())
    assert document["leaks"] is True
    assert document["leaking_pairs"] == {"train": 1, "dev": 1}
    assert document["bad_row_counts"]["invalid UTF-8"] == 3
    assert len(document["bad_rows"]) == sum(document["bad_row_counts"].values()) == len(found.bad)
    found.report().encode()


def test_the_report_shows_five_examples_and_counts_the_rest() -> None:
    found = audit(train=[(f"好{i}", "") for i in range(9)])
    assert "empty side: 9" in found.report()
    assert "train.zh, line 5 (vi)" in found.report()
    assert "line 6" not in found.report()
    assert "... and 4 more" in found.report()
    assert "not looked for, there is one part only" in found.report()


def test_pairs_of_the_translation_project_are_taken() -> None:
    pairs = [SentencePair("我 。", "Tôi .", "x.zh", 7), SentencePair("", "Tôi .", "x.zh", 8)]
    found = audit_parallel({"train": pairs}, "zh", "vi")
    assert [(one.file, one.line) for one in found.bad] == [("x.zh", 8)]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (({"train": []}, "zh", "vi"), {}, "at least one pair, got none"),
        (({}, "zh", "vi"), {}, "at least one pair, got none"),
        (({"train": rows(TRAIN)}, "vi", "vi"), {}, "must differ, got 'vi' twice"),
        (({"train": rows(TRAIN)}, "zh", "vi"), {"deviations": 0}, "deviations must be above 0, got 0"),
        (({"train": rows(TRAIN)}, "zh", "vi"), {"least_near": 1}, "least must be at least 2"),
    ],
)
def test_bad_arguments_are_named(arguments, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit_parallel(*arguments, **options)


records = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=3), min_size=1, max_size=12)


def test_a_key_in_two_parts_is_a_leak() -> None:
    parts = {"train": [["Anna", 1], ["Ben", 2], ["Anna", 3]], "dev": [["Cleo", 1]], "test": [["Anna", 9]]}
    leaks = find_leaks(parts)
    assert leaks == [Leak("Anna", {"train": (0, 2), "test": (0,)}), Leak(1, {"train": (0,), "dev": (0,)})]
    assert leaking_records(leaks, "train") == {0, 2}
    assert leaking_records(leaks, "dev") == {0}
    assert leaking_records(leaks, "elsewhere") == set()


def test_a_key_twice_in_one_record_or_part_is_none() -> None:
    assert find_leaks({"train": [["a", "a"], ["a"]], "dev": []}) == []
    assert find_leaks({"train": [["a", "a"]], "dev": [["a"]]})[0].records == {"train": (0,), "dev": (0,)}


@given(st.lists(records, min_size=1, max_size=3))
def test_leaks_are_what_a_comparison_of_all_records_finds(several) -> None:
    parts = {f"part {i}": own for i, own in enumerate(several)}
    found = {leak.key for leak in find_leaks(parts)}
    slow = {
        key
        for a, ours in parts.items()
        for b, theirs in parts.items()
        if a != b
        for one in ours
        for other in theirs
        for key in set(one) & set(other)
    }
    assert found == slow
    for leak in find_leaks(parts):
        for part, numbers in leak.records.items():
            assert numbers == tuple(i for i, keys in enumerate(parts[part]) if leak.key in keys)


@given(records, st.integers(0, 9))
def test_a_split_by_group_never_leaks(keys, seed: int) -> None:
    split = grouped_split(keys, {"train": 0.5, "dev": 0.5}, seed=seed)
    assert find_leaks({part: [keys[i] for i in own] for part, own in split.items()}) == []


@given(records)
def test_splitting_a_group_leaks(keys) -> None:
    groups = group_records(keys)
    large = next((g for g in groups if groups.count(g) > 1), None)
    if large is not None:
        first = groups.index(large)
        assert find_leaks({"dev": [keys[first]], "train": [k for i, k in enumerate(keys) if i != first]})
