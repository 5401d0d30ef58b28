"""The plan: a long tail of the contest's shape, faults at their rates, every word with the first signers."""

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.synthetic.clips import PlannedClip, clip_counts, plan_clips
from coursepkg.projects.sign_language.synthetic.signer import WORDS, SignersConfig

CONFIGS = st.builds(
    SignersConfig,
    words=st.integers(2, len(WORDS)),
    signers=st.integers(1, 20),
    least_clips=st.integers(1, 6),
    most_clips=st.integers(6, 40),
    whole_clips=st.integers(1, 6),
    solid=st.floats(0, 0.3),
    frozen=st.floats(0, 0.3),
    duplicate=st.floats(0, 0.3),
)


def test_the_tail_is_as_long_as_the_contests() -> None:
    counts = clip_counts(SignersConfig())
    assert list(counts) == list(WORDS)
    assert max(counts.values()) == 60
    assert min(counts.values()) == 4
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    head = sum(count >= 50 for count in counts.values())
    tail = sum(count < 20 for count in counts.values())
    # 42, 27 and 31 of the contest's 100 words.
    assert (head, len(counts) - head - tail, tail) == (10, 7, 7)


def test_faults_come_exactly_at_their_rates() -> None:
    config = SignersConfig()
    clips = plan_clips(0, config)
    found = Counter(clip.fault for clip in clips)
    for fault in ("solid", "frozen", "duplicate"):
        assert found[fault] == round(getattr(config, fault) * len(clips))
    none = dataclasses.replace(config, solid=0.0, frozen=0.0, duplicate=0.0)
    assert {clip.fault for clip in plan_clips(0, none)} == {""}


@given(seed=st.integers(0, 1000), config=CONFIGS)
def test_a_plan_holds_together(seed: int, config: SignersConfig) -> None:
    clips = plan_clips(seed, config)
    assert [clip.number for clip in clips] == list(range(len(clips)))
    assert Counter(clip.word for clip in clips) == clip_counts(config)
    for clip in clips:
        assert 0 <= clip.signer < config.signers
        original = clips[clip.original]
        if clip.fault == "duplicate":
            assert (original.word, original.signer, original.fault) == (clip.word, clip.signer, "")
            assert original.number != clip.number
        else:
            assert original is clip
    first = set(range(min(config.signers, config.least_clips, config.whole_clips)))
    for word in clip_counts(config):
        whole = {clip.signer for clip in clips if clip.word == word and not clip.fault}
        # The first signers sign every word, without a fault.
        assert first <= whole


def test_without_whole_clips_faults_fall_on_every_signer_and_rare_words() -> None:
    config = SignersConfig(signers=16, least_clips=32, most_clips=32, whole_clips=0, duplicate=0.0)
    clips = plan_clips(1, config)
    broken = [clip for clip in clips if clip.fault]
    assert len(broken) == round(0.14 * len(clips)) + round(0.04 * len(clips))
    assert {clip.signer for clip in broken} == set(range(16))
    assert len({clip.word for clip in broken}) > 20


@pytest.mark.parametrize("seed", range(3))
def test_a_split_by_signer_can_have_every_word_in_every_part(seed: int) -> None:
    clips = plan_clips(seed)
    for dev, test in (({1, 4, 9}, {0, 5, 7}), ({2, 12, 15}, {3, 8, 10})):
        train = set(range(16)) - dev - test
        for part in (train, dev, test):
            words = {clip.word for clip in clips if clip.signer in part and not clip.fault}
            assert words == set(WORDS)


def test_signers_share_the_work() -> None:
    clips = plan_clips(0)
    per_signer = Counter(clip.signer for clip in clips)
    assert len(per_signer) == 16
    assert max(per_signer.values()) < 2 * min(per_signer.values())
    words = {signer: {clip.word for clip in clips if clip.signer == signer} for signer in per_signer}
    assert min(len(found) for found in words.values()) >= 17


def test_numbers_do_not_tell_the_word() -> None:
    clips = plan_clips(0)
    half = len(clips) // 2
    early = Counter(clip.word for clip in clips[:half])
    for word, count in clip_counts(SignersConfig()).items():
        if count >= 40:
            assert 0.25 * count < early[word] < 0.75 * count


def test_a_plan_is_a_function_of_seed_and_settings() -> None:
    assert plan_clips(5) == plan_clips(5)
    assert plan_clips(5) != plan_clips(6)
    assert PlannedClip("Ăn", 0, 12, "", 12).file == "00012.mp4"
    with pytest.raises(ValueError, match="seed must be an integer of at least 0"):
        plan_clips(-1)


def test_every_other_copy_is_from_a_second_hand() -> None:
    clips = plan_clips(0)
    copies = [clip for clip in clips if clip.fault == "duplicate"]
    assert all(clip.is_second_hand == (clip.number % 2 == 1) for clip in copies)
    assert 0.25 < sum(clip.is_second_hand for clip in copies) / len(copies) < 0.75
    assert not any(clip.is_second_hand for clip in clips if clip.fault != "duplicate")
