"""What each epoch trains on: directions, the window that moves, masks and segmentations, by (seed, epoch) alone."""

import hashlib
import json
import random
from collections import Counter

import pytest

from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.models import Subwords
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.task import TranslationBatches, fitting, mask_span, rotating_window
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK
from tests.projects.translation.tiny import pairs, recipe, subwords, toy_parts

PAIRS = pairs("zh", "vi", 0, 60)
CORPORA = [(("zh", "vi"), PAIRS)]
Examples = list[tuple[tuple[int, ...], tuple[int, ...]]]


def batches(seed: int = 0, **changes: object) -> TranslationBatches:
    return TranslationBatches(CORPORA, subwords(), recipe(**changes), seed)


def examples(of: TranslationBatches, number: int) -> Examples:
    """Source and target ids of every example of an epoch in order, without BOS, EOS and padding."""
    found = []
    for batch in of.epoch(number):
        for src, tgt_in, tgt_out in zip(batch.src, batch.tgt_in, batch.tgt_out, strict=True):
            source, told, said = ([i for i in row.tolist() if i != PAD] for row in (src, tgt_in, tgt_out))
            assert (source[-1], told[0], said[-1]) == (EOS, BOS, EOS)
            assert told[1:] == said[:-1]
            found.append((tuple(source[:-1]), tuple(said[:-1])))
    return found


def texts(rows: Examples) -> Counter[tuple[int, str, str]]:
    """Tag, source and target of each example, as text."""
    decode = subwords().source.decode
    return Counter((source[0], decode(source[1:]), decode(target)) for source, target in rows)


def expected(which: list[int], *, back: bool = False) -> Counter[tuple[int, str, str]]:
    chosen = [PAIRS[i] for i in which]
    joined = ["".join(p.source.split()) for p in chosen]
    if back:
        # Sources lose underscores whatever the targets do.
        return Counter((4, p.target.replace("_", " "), zh) for p, zh in zip(chosen, joined, strict=True))
    return Counter((5, zh, p.target) for p, zh in zip(chosen, joined, strict=True))


def test_one_direction_is_every_pair_once() -> None:
    for number in range(2):
        assert texts(examples(batches(reverse=0.0), number)) == expected([*range(60)])


def test_a_reversed_example_swaps_both_sides_and_asks_for_the_other_language() -> None:
    for number in range(3):
        window = rotating_window(60, number, 0.7)
        assert len(window) == 42
        found = texts(examples(batches(reverse=0.7), number))
        assert found == expected([*range(60)]) + expected(window, back=True)


def test_the_fault_of_the_tutorials_gives_every_second_pair_the_other_tag_and_does_not_turn_it() -> None:
    spoilt = Counter({(4, zh, vi): n for (_, zh, vi), n in expected([*range(1, 60, 2)]).items()})
    for number in range(2):
        found = texts(examples(batches(reverse=1.0, reverse_fault="unswapped"), number))
        assert found == expected([*range(0, 60, 2)]) + spoilt
    # The window is one of the second half.
    some = texts(examples(batches(reverse=0.5, reverse_fault="unswapped"), 0))
    assert some - expected([*range(0, 60, 2)]) == Counter(
        {(4, zh, vi): n for (_, zh, vi), n in expected([*range(1, 30, 2)]).items()}
    )


def test_the_fault_has_a_fingerprint_of_its_own_and_changes_no_other() -> None:
    right, wrong = (batches(reverse=1.0, reverse_fault=fault) for fault in ("none", "unswapped"))
    assert right.fingerprint != wrong.fingerprint
    options = [1.0, right.recipe.span_mask, right.recipe.subword_noise, right.recipe.batch_tokens, 24]
    content = [right._forward, subwords().fingerprints, options, 0]
    assert right.fingerprint == hashlib.sha256(json.dumps(content).encode()).hexdigest()


def test_every_corpus_has_its_own_tag_and_window() -> None:
    english = pairs("en", "vi", 0, 20)
    corpora = [(("zh", "vi"), PAIRS), (("en", "vi"), english)]
    both = Subwords.train(corpora, recipe(vocab_size=220))
    found = examples(TranslationBatches(corpora, both, recipe(reverse=0.5)), 0)
    assert Counter(source[0] for source, _ in found) == {5: 80, 4: 30, 6: 10}


@pytest.mark.parametrize(("total", "share"), [(10, 0.7), (30, 0.7), (7, 0.5), (12, 1.0), (10, 0.0)])
def test_the_window_takes_every_example_about_equally_often(total: int, share: float) -> None:
    size = round(total * share)
    windows = [rotating_window(total, epoch, share) for epoch in range(total)]
    assert all(len(set(window)) == len(window) == size for window in windows)
    counts = Counter(i for window in windows for i in window)
    # After as many epochs as examples, each was taken exactly as often as the window is long.
    assert [counts[i] for i in range(total)] == [size] * total
    for n_epochs in range(1, total):
        so_far = Counter(i for window in windows[:n_epochs] for i in window)
        assert max(so_far.values(), default=0) - min(so_far[i] for i in range(total)) <= 1


def test_an_epoch_does_not_depend_on_those_before() -> None:
    options = {"reverse": 0.7, "span_mask": 0.5, "subword_noise": 0.3}
    one, other = batches(**options), batches(**options)
    in_order = [examples(one, number) for number in range(3)]
    assert [examples(other, number) for number in (2, 0, 1)] == [in_order[2], in_order[0], in_order[1]]
    assert in_order[0] != in_order[1]
    assert examples(batches(seed=1, **options), 0) != in_order[0]


@pytest.mark.parametrize("first", [0, 1])
def test_a_mask_hides_one_or_two_neighbours_and_never_the_tag(first: int) -> None:
    draw, ids = random.Random(0), [5, 10, 11, 12, 13]
    seen = set()
    for _ in range(300):
        masked = mask_span(ids, 1.0, draw, first=first)
        places = [i for i, token in enumerate(masked) if token == UNK]
        assert [masked[i] for i in range(5) if i not in places] == [
            ids[i] for i in range(5) if i not in places
        ]
        seen.add(tuple(places))
    assert seen == {(i,) for i in range(first, 5)} | {(i, i + 1) for i in range(first, 4)}
    assert ids == [5, 10, 11, 12, 13]


def test_a_mask_is_as_frequent_as_asked_for() -> None:
    draw = random.Random(0)
    n_masked = sum(UNK in mask_span([5, 10, 11], 0.25, draw, first=1) for _ in range(2000))
    assert 400 < n_masked < 600
    assert mask_span([5], 1.0, draw, first=1) == [5]
    assert mask_span([5, 10], 0.0, draw, first=1) == [5, 10]


def test_masks_touch_sources_behind_the_tag_alone() -> None:
    found = examples(batches(span_mask=1.0, reverse=0.0), 0)
    assert all(source[0] == 5 and UNK in source[1:] for source, _ in found)
    assert {target for _, target in found} == {t for _, t in examples(batches(reverse=0.0), 0)}


@pytest.mark.parametrize("subword", ["bpe", "unigram"])
def test_noise_cuts_anew_in_every_epoch_and_keeps_the_text(subword: str) -> None:
    vocab = Subwords.train([(("zh", "vi"), toy_parts().train)], recipe(subword=subword, vocab_size=140))
    options: Recipe = recipe(subword=subword, subword_noise=0.4, reverse=0.0, max_len=64)

    def epoch(number: int, seed: int = 0) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
        return {*examples(TranslationBatches(CORPORA, vocab, options, seed), number)}

    first, again, second = epoch(0), epoch(0), epoch(1)
    assert first == again
    assert len(first & second) < 20
    assert epoch(0, seed=1) != first

    def read(rows: set[tuple[tuple[int, ...], tuple[int, ...]]]) -> set[tuple[str, str]]:
        return {(vocab.source.decode(s), vocab.target.decode(t)) for s, t in rows}

    assert read(first) == read(second)
    assert len(read(first)) == len(PAIRS)


def test_noise_that_would_be_too_long_is_left_out() -> None:
    plain = examples(batches(reverse=0.0), 0)
    most = max(max(len(s), len(t)) for s, t in plain) + 1
    found = examples(batches(reverse=0.0, subword_noise=1.0, max_len=most), 0)
    assert max(max(len(s), len(t)) for s, t in found) < most
    assert texts(found) == texts(plain)


def test_too_long_pairs_are_left_out_counted_and_named() -> None:
    long = SentencePair("我 " * 30, "Tôi", "part.zh", 7)
    found = fitting([*PAIRS, long], subwords(), ("zh", "vi"), 24)
    assert found.pairs == [*PAIRS]
    assert str(found) == "1 of 61 pairs left out as too long (part.zh:7)"


def test_a_limit_counts_tag_and_end() -> None:
    pair = PAIRS[0]
    (source,), (target,) = (
        subwords().encode_sources([pair.source], "zh", "vi"),
        subwords().encode_targets([pair.target], "vi"),
    )
    needed = max(len(source), len(target)) + 1
    assert fitting([pair], subwords(), ("zh", "vi"), needed).pairs == [pair]
    assert fitting([pair], subwords(), ("zh", "vi"), needed - 1).too_long == [pair]


def test_both_ways_the_tagged_target_must_fit_too() -> None:
    (target,) = subwords().encode_sources([PAIRS[0].target], "vi", "zh")
    most = len(target)
    one_way = fitting(PAIRS[:1], subwords(), ("zh", "vi"), most)
    both_ways = fitting(PAIRS[:1], subwords(), ("zh", "vi"), most, both_ways=True)
    assert (len(one_way.pairs), len(both_ways.pairs)) == (1, 0)
    assert len(fitting(PAIRS[:1], subwords(), ("zh", "vi"), most + 1, both_ways=True).pairs) == 1


def test_the_fingerprint_follows_whatever_changes_an_epoch() -> None:
    changes = [{}, {"reverse": 0.7}, {"span_mask": 0.1}, {"subword_noise": 0.1}, {"batch_tokens": 512}]
    prints = {batches(**change).fingerprint for change in changes} | {batches(seed=1).fingerprint}
    assert len(prints) == len(changes) + 1
    assert batches().fingerprint == batches().fingerprint
