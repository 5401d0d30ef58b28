"""Views, versions and the batches that hold them: right tags, no duplicates as negatives, the same every time."""

import random
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.data.batching import make_batch
from coursepkg.projects.translation.contrastive.batches import (
    ContrastiveBatch,
    ContrastiveBatches,
    MaskedVersions,
    RoundTripVersions,
    distinct_pairs,
    dropout_versions,
    four_views,
    mask_spans,
    pad_views,
)
from coursepkg.text.vocabulary import EOS, PAD, UNK

TAGS = {"zh": 4, "vi": 5, "en": 6}
LANGUAGES = ("zh", "vi")
draw = random.Random(0)
PAIRS = [
    ([draw.randint(10, 19) for _ in range(draw.randint(1, 9))], [i + 20, 20, *[21] * draw.randint(0, 5)])
    for i in range(40)
]


def batches(pairs=PAIRS, max_tokens: int = 80, **options) -> ContrastiveBatches:
    return ContrastiveBatches(pairs, max_tokens, **({"languages": LANGUAGES, "tags": TAGS} | options))


def strip(row: torch.Tensor) -> list[int]:
    ids = row.tolist()
    end = ids.index(EOS)
    assert set(ids[end + 1 :]) <= {PAD}
    return ids[:end]


def parts(batch: ContrastiveBatch) -> list[torch.Tensor]:
    text = [batch.text.src, batch.text.tgt_in, batch.text.tgt_out]
    return [*text, batch.views, *([] if batch.versions is None else [batch.versions])]


def equal(one: ContrastiveBatch, other: ContrastiveBatch) -> bool:
    return all(torch.equal(a, b) for a, b in zip(parts(one), parts(other), strict=True))


def test_the_four_views_have_their_tags() -> None:
    assert four_views(([7, 8], [9]), (4, 5)) == [[5, 7, 8], [5, 9], [4, 9], [4, 7, 8]]
    batch = batches([([7, 8], [9]), ([10], [11, 12, 13])], languages=("vi", "en")).make([0, 1], 0)
    assert [[strip(row) for row in view] for view in batch.views] == [
        [[6, 7, 8], [6, 10]],
        [[6, 9], [6, 11, 12, 13]],
        [[5, 9], [5, 11, 12, 13]],
        [[5, 7, 8], [5, 10]],
    ]
    assert batch.versions is None


def test_every_pair_is_translated_in_both_directions_once_an_epoch() -> None:
    found = Counter()
    for batch in batches().epoch(3):
        for src, tgt_in, tgt_out in zip(batch.text.src, batch.text.tgt_in, batch.text.tgt_out, strict=True):
            assert tgt_in[1:][tgt_in[1:] != PAD].tolist() == strip(tgt_out)
            found[tuple(strip(src)), tuple(strip(tgt_out))] += 1
        assert batch.text.n_tokens == int((batch.text.tgt_out != PAD).sum())
    expected = Counter((5, *a, 0, *b) for a, b in PAIRS) + Counter((4, *b, 0, *a) for a, b in PAIRS)
    assert Counter({(*src, 0, *out): n for (src, out), n in found.items()}) == expected


def test_batches_keep_to_their_size_and_hold_views_of_their_own_pairs() -> None:
    epoch = batches(max_tokens=60).epoch(0)
    assert len(epoch) > 3
    for batch in epoch:
        n_pairs = len(batch.text.src) // 2
        forward = range(n_pairs)
        longest = max(len(strip(batch.text.src[i])) for i in forward) + 1
        longest += max(len(strip(batch.text.tgt_out[i])) for i in forward) + 1
        assert n_pairs * longest <= 60
        sources = {tuple(strip(row)) for row in batch.text.src}
        assert {tuple(strip(row)) for row in (*batch.views[0], *batch.views[2])} <= sources


def test_pairs_that_share_a_sentence_are_never_compared() -> None:
    pairs = [([7], [20]), ([7], [20]), ([7], [21]), ([8], [20]), ([8], [22]), ([20], [7])]
    assert distinct_pairs(pairs) == [0, 4, 5]
    batch = batches(pairs).make(range(6), 0)
    assert [strip(row) for row in batch.views[0]] == [[5, 7], [5, 8], [5, 20]]
    assert len(batch.text.src) == 12
    for epoch in range(3):
        for found in batches([*PAIRS, *PAIRS], max_tokens=300).epoch(epoch):
            for view in found.views:
                assert len({tuple(row) for row in view.tolist()}) == len(view)


@given(st.integers(1, 40), st.floats(0, 0.99), st.integers(1, 6), st.integers(0, 99))
def test_masking_hides_its_share_and_nothing_else(n: int, share: float, longest: int, seed: int) -> None:
    ids = list(range(10, 10 + n))
    masked = mask_spans(ids, share, longest, random.Random(seed))
    assert all(found in (UNK, token) for found, token in zip(masked, ids, strict=True))
    assert masked.count(UNK) == min(round(share * n), n - 1)


def test_versions_carry_the_tag_of_the_other_language() -> None:
    batch = batches(PAIRS[:2], versions=dropout_versions).make([0, 1], 0)
    assert batch.versions is not None
    assert batch.versions.shape[:3] == (2, 2, 2)
    for side, tag in enumerate((5, 4)):
        for version in batch.versions[side]:
            assert [strip(row) for row in version] == [[tag, *pair[side]] for pair in PAIRS[:2]]


def test_masked_versions_differ_by_place_and_epoch_but_not_by_batch() -> None:
    pairs = [(list(range(10, 30)), list(range(30, 50))), ([7], [8])]
    made = batches(pairs, 200, versions=MaskedVersions(share=0.4))
    first = made.make([0, 1], 0).versions
    assert first is not None
    one, other = strip(first[0, 0, 0]), strip(first[0, 1, 0])
    assert one != other
    assert one.count(UNK) == other.count(UNK) == 8
    assert [strip(row) for row in first[:, :, 1].flatten(0, 1)] == [[5, 7], [5, 7], [4, 8], [4, 8]]
    alone, later = made.make([0], 0).versions, made.make([0], 1).versions
    assert alone is not None
    assert later is not None
    assert torch.equal(alone[:, :, 0], first[:, :, 0])
    assert not torch.equal(alone, later)


def test_round_trips_stand_beside_their_sentences() -> None:
    trips = RoundTripVersions([([7, 9], [20]), ([8, 8], [31, 32])])
    batch = batches([([7], [20, 21]), ([8], [30])], versions=trips).make([1, 0], 0)
    assert batch.versions is not None
    found = [[[strip(row) for row in version] for version in language] for language in batch.versions]
    assert found[0] == [[[5, 8], [5, 7]], [[5, 8, 8], [5, 7, 9]]]
    assert found[1] == [[[4, 30], [4, 20, 21]], [[4, 31, 32], [4, 20]]]


def test_an_epoch_depends_on_seed_and_number_alone() -> None:
    options = {"versions": MaskedVersions(), "seed": 5}
    one, other = batches(**options), batches(**options)
    one.epoch(0)[2]
    again = one.epoch(2)
    assert len(again) == len(other.epoch(2))
    assert all(equal(again[i], batch) for i, batch in reversed(list(enumerate(other.epoch(2)))))
    assert equal(again[1:3][1], again[2])
    assert not equal(again[0], one.epoch(3)[0])
    assert not equal(again[0], batches(**options | {"seed": 6}).epoch(2)[0])
    assert equal(again[0].to("cpu"), again[0])


def test_the_fingerprint_tells_whatever_changes_an_epoch() -> None:
    def forward_only(numbers, epoch):
        return [([5, *PAIRS[i][0]], PAIRS[i][1]) for i in numbers]

    made = [
        batches(),
        batches(seed=1),
        batches(max_tokens=81),
        batches(PAIRS[1:]),
        batches(languages=("zh", "en")),
        batches(versions=dropout_versions),
        batches(versions=MaskedVersions()),
        batches(versions=MaskedVersions(share=0.5)),
        batches(examples=forward_only),
    ]
    assert len({each.fingerprint for each in made}) == len(made)
    assert batches().fingerprint == made[0].fingerprint
    chosen = made[-1].make([3, 1], 0)
    assert torch.equal(chosen.text.src, make_batch(forward_only([3, 1], 0)).src)
    assert chosen.views.shape[:2] == (4, 2)


def test_padding_stands_behind_the_end() -> None:
    padded = pad_views([[[7], [8, 9]], [[10, 11, 12], [13]]])
    expected = [[[7, EOS, PAD, PAD], [10, 11, 12, EOS]], [[8, 9, EOS, PAD], [13, EOS, PAD, PAD]]]
    assert padded.tolist() == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"languages": ("zh", "fr")}, "languages must be among en, vi, zh, which have tags, got 'fr'"),
        ({"languages": ("zh", "zh")}, "languages must have different tags, got 4 for zh and zh"),
        ({"tags": {"zh": 3, "vi": 5}}, r"tags\['zh'\] must be an integer of at least 4, got 3"),
        ({"pairs": [([7], [8]), ([7, 5], [8])]}, r"pairs\[1\] must be without tags, .* got id 5"),
        ({"pairs": [([7], [])]}, r"pairs\[0\] must have a target of at least one token, got none"),
        ({"pairs": [([1], [8])]}, r"pairs\[0\] must have source ids above 2, .*"),
        ({"pairs": []}, "pairs must hold at least one pair, got none"),
        ({"max_tokens": 3}, r"pairs\[0\] must fit into max_tokens \(3\).*"),
        ({"versions": RoundTripVersions([([7], [6])])}, r"trips\[0\] must be without tags, .* got id 6"),
        ({"versions": RoundTripVersions([([7], [8])])}, "trips must hold .* a pair, 40, got 1"),
    ],
)
def test_bad_input_is_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        batches(**options)


def test_bad_versions_are_named() -> None:
    with pytest.raises(ValueError, match=r"^share must be at least 0 and below 1, got 1.0$"):
        MaskedVersions(share=1.0)
    with pytest.raises(ValueError, match=r"^longest must be an integer of at least 1, got 0$"):
        MaskedVersions(longest=0)
    with pytest.raises(ValueError, match=r"^pairs\[0\] must have a source of at least one token, got none$"):
        RoundTripVersions([([], [8])])
