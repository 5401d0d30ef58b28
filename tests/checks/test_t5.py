"""The checks of the chapter on T5 accept what is right and say what is wrong."""

import math
import re

import torch


def text_of(similarity):
    return f"{math.floor(max(1.0, similarity) * 5 + 0.5) / 5:.1f}"


def test_similarity_text_right(assert_accepts):
    assert_accepts("t5.similarity_text", text_of)


def test_similarity_text_without_the_clip(assert_rejects):
    assert_rejects("t5.similarity_text", lambda s: f"{math.floor(s * 5 + 0.5) / 5:.1f}", "the string for 0.0")


def test_similarity_text_rounds_to_tenths(assert_rejects):
    assert_rejects("t5.similarity_text", lambda s: f"{max(1.0, s):.1f}", "nearest 0.2")


def test_similarity_text_as_a_number(assert_rejects):
    assert_rejects("t5.similarity_text", lambda s: float(text_of(s)), "is 1.0, '1.0' is expected")


def restore(source, target):
    pieces = re.split(r"<extra_id_\d+>", target)[1:]
    words = []
    for word in source.split():
        sentinel = re.fullmatch(r"<extra_id_(\d+)>", word)
        words += pieces[int(sentinel[1])].split() if sentinel else [word]
    return " ".join(words)


def test_restored_right(assert_accepts):
    assert_accepts("t5.restored", restore)


def test_restored_leaves_the_sentinels(assert_rejects):
    assert_rejects("t5.restored", lambda source, target: source, "belongs where that sentinel stands")


def test_restored_appends_what_was_cut(assert_rejects):
    def appends(source, target):
        words = [w for w in f"{source} {target}".split() if not w.startswith("<extra_id_")]
        return " ".join(words)

    assert_rejects("t5.restored", appends, "belongs where that sentinel stands")


def shift(labels, start, pad):
    first = torch.full_like(labels[:, :1], start)
    shifted = torch.cat([first, labels[:, :-1]], dim=1)
    return shifted.where(shifted != -100, pad)


def test_decoder_input_right(assert_accepts):
    assert_accepts("t5.decoder_input", shift)


def test_decoder_input_keeps_the_ignored(assert_rejects):
    def keeps(labels, start, pad):
        return torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], dim=1)

    assert_rejects("t5.decoder_input", keeps, "an embedding has no row -100")


def test_decoder_input_not_shifted(assert_rejects):
    assert_rejects(
        "t5.decoder_input", lambda labels, start, pad: labels.where(labels != -100, pad), "one place later"
    )


def test_decoder_input_in_place(assert_rejects):
    def overwrites(labels, start, pad):
        return labels.copy_(shift(labels, start, pad))

    assert_rejects("t5.decoder_input", overwrites, "labels was changed in place")


def test_decoder_input_starts_with_padding_always(assert_rejects):
    assert_rejects("t5.decoder_input", lambda labels, start, pad: shift(labels, 0, pad), "start in front")


def bucket(steps, n_buckets, max_distance):
    exact = n_buckets // 2
    if steps < exact:
        return steps
    growth = math.log(steps / exact) / math.log(max_distance / exact)
    return min(exact + int(growth * (n_buckets - exact)), n_buckets - 1)


def test_causal_bucket_right(assert_accepts):
    assert_accepts("t5.causal_bucket", bucket)


def test_causal_bucket_only_clips(assert_rejects):
    assert_rejects("t5.causal_bucket", lambda s, n, m: min(s, n - 1), "then logarithmic")


def test_causal_bucket_without_a_last_one(assert_rejects):
    def beyond(steps, n_buckets, max_distance):
        exact = n_buckets // 2
        growth = math.log(max(steps, exact) / exact) / math.log(max_distance / exact)
        return steps if steps < exact else exact + int(growth * (n_buckets - exact))

    assert_rejects("t5.causal_bucket", beyond, "the last one for all the rest")


def test_causal_bucket_of_an_encoder(assert_rejects):
    assert_rejects("t5.causal_bucket", lambda s, n, m: bucket(s, n // 2, m), "below half of the buckets")
