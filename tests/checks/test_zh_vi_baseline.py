"""The checks of the chapter on the Chinese-Vietnamese data accept what is right and say what is wrong."""

import unicodedata

import torch


def drop_empty(sources, targets):
    numbered = list(enumerate(zip(sources, targets, strict=True), start=1))
    full = {number for number, (s, t) in numbered if s.strip() and t.strip()}
    pairs = [(s.strip(), t.strip()) for number, (s, t) in numbered if number in full]
    return pairs, [number for number, _ in numbered if number not in full]


def test_drop_empty_right(assert_accepts):
    assert_accepts("zh_vi_baseline.drop_empty", drop_empty)


def test_drop_empty_in_each_file_for_itself(assert_rejects):
    def shifts(sources, targets):
        kept = [[line.strip() for line in lines if line.strip()] for lines in (sources, targets)]
        return list(zip(*kept, strict=False)), drop_empty(sources, targets)[1]

    assert_rejects("zh_vi_baseline.drop_empty", shifts, "or the lines behind it shift")


def test_drop_empty_counts_from_zero(assert_rejects):
    def from_zero(sources, targets):
        pairs, left_out = drop_empty(sources, targets)
        return pairs, [number - 1 for number in left_out]

    assert_rejects("zh_vi_baseline.drop_empty", from_zero, "count from 1")


def test_drop_empty_does_not_strip(assert_rejects):
    def unstripped(sources, targets):
        return [(s, t) for s, t in zip(sources, targets, strict=True) if s and t], []

    assert_rejects("zh_vi_baseline.drop_empty", unstripped, "the lines left out")


def key(line, form="NFC"):
    return "".join(sign for sign in unicodedata.normalize(form, line).casefold() if sign.isalnum())


def share(train, test, of=key):
    known = {of(line) for line in train}
    return sum(of(line) in known for line in test) / len(test)


def test_seen_share_right(assert_accepts):
    assert_accepts("zh_vi_baseline.seen_share", share)


def test_seen_share_of_whole_lines(assert_rejects):
    assert_rejects(
        "zh_vi_baseline.seen_share", lambda train, test: share(train, test, of=str), "letters and digits only"
    )


def test_seen_share_loses_the_tones(assert_rejects):
    assert_rejects(
        "zh_vi_baseline.seen_share",
        lambda train, test: share(train, test, of=lambda line: key(line, "NFD")),
        "NFC first",
    )


def test_seen_share_of_different_lines(assert_rejects):
    def of_sets(train, test):
        known, asked = {key(line) for line in train}, {key(line) for line in test}
        return len(known & asked) / len(asked)

    assert_rejects("zh_vi_baseline.seen_share", of_sets, "not different ones")


def groups(keys):
    """By spreading the smallest number until nothing changes."""
    found = list(range(len(keys)))
    for _ in keys:
        for i, own in enumerate(keys):
            for j, other in enumerate(keys):
                if set(own) & set(other):
                    found[i] = found[j] = min(found[i], found[j])
    return found


def test_groups_right(assert_accepts):
    assert_accepts("zh_vi_baseline.groups", groups)


def test_groups_without_chains(assert_rejects):
    def direct(keys):
        return [next(j for j, other in enumerate(keys) if set(own) & set(other)) for own in keys]

    assert_rejects("zh_vi_baseline.groups", direct, "through others, too")


def test_groups_by_the_source_alone(assert_rejects):
    assert_rejects("zh_vi_baseline.groups", lambda keys: groups([own[:1] for own in keys]), "the groups of")


def test_last_real_state_right(assert_accepts):
    assert_accepts("zh_vi_baseline.last_real_state", lambda o, n: o[torch.arange(len(o)), n - 1])


def test_last_real_state_after_the_padding(assert_rejects):
    assert_rejects("zh_vi_baseline.last_real_state", lambda o, n: o[:, -1], "last real token")


def test_last_real_state_one_step_late(assert_rejects):
    assert_rejects(
        "zh_vi_baseline.last_real_state", lambda o, n: o[torch.arange(len(o)), n], "last real token"
    )


def test_last_real_state_of_the_whole_batch(assert_rejects):
    assert_rejects("zh_vi_baseline.last_real_state", lambda o, n: o[:, n - 1], "has shape")
