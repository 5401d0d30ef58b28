"""Batches and loss of a T5: equal to Hugging Face's, blind to padding, and the outputs that go with them."""

import math

import pytest
import torch

from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.t5.data import (
    IGNORED,
    Ids,
    T5Batch,
    T5Batches,
    encode_pairs,
    encode_text,
    make_t5_batch,
)
from coursepkg.projects.translation.t5.model import T5, tiny_t5
from coursepkg.projects.translation.t5.nom import nom_sample
from coursepkg.projects.translation.t5.text import prefix_of
from coursepkg.projects.translation.t5.train import (
    T5Task,
    TextToText,
    sample_losses,
    t5_mean_loss,
    write_texts,
)

PREFIX = prefix_of("nom", "vi")
PAIRS = [SentencePair(nom, vi, "lesson", i) for i, (nom, vi) in enumerate(nom_sample(12), start=1)]
UNEVEN = [
    *PAIRS[:3],
    SentencePair("碎", "tôi", "lesson", 13),
    SentencePair("碎" * 9, "tôi " * 50, "lesson", 14),
]


@pytest.fixture(scope="module")
def t5() -> T5:
    model = tiny_t5([text for p in UNEVEN for text in p[:2]], vocab_size=300, d_model=32)
    # T5's own initial weights are so small that every token would be about equally likely.
    for parameter in model.network.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(1))
    return T5(model.network.double(), model.tokenizer, "tiny")


@pytest.fixture(scope="module")
def examples(t5: T5) -> list[Ids]:
    return encode_pairs(t5, UNEVEN, PREFIX, 160)[0]


def batch_of(examples: list[Ids]) -> T5Batch:
    return make_t5_batch(examples, pad_id=0, start_id=0)


def test_a_batch_is_what_its_picture_says() -> None:
    batch = make_t5_batch([([13, 5, 1], [8, 30, 1]), ([7, 1], [9, 1])], pad_id=0, start_id=0)
    assert batch.src.tolist() == [[13, 5, 1], [7, 1, 0]]
    assert batch.src_mask.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch.tgt_in.tolist() == [[0, 8, 30], [0, 9, 0]]
    assert batch.labels.tolist() == [[8, 30, 1], [9, 1, IGNORED]]
    assert batch.n_tokens == 5


def test_the_loss_is_hugging_faces_times_the_tokens(t5: T5, examples: list[Ids]) -> None:
    batch = batch_of(examples)
    theirs = t5.network(input_ids=batch.src, attention_mask=batch.src_mask, labels=batch.labels).loss
    task = T5Task()
    ours = task.loss(TextToText(t5.network), batch)
    assert task.count(batch) == int((batch.labels != IGNORED).sum()) == batch.n_tokens
    torch.testing.assert_close(ours, theirs * batch.n_tokens)


def test_gradients_are_hugging_faces_times_the_tokens(t5: T5, examples: list[Ids]) -> None:
    batch = batch_of(examples)
    parameters = [p for p in t5.network.parameters() if p.requires_grad]
    theirs = torch.autograd.grad(
        t5.network(input_ids=batch.src, attention_mask=batch.src_mask, labels=batch.labels).loss, parameters
    )
    ours = torch.autograd.grad(T5Task().loss(TextToText(t5.network), batch), parameters)
    for mine, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, their * batch.n_tokens, rtol=1e-5, atol=1e-7)


def test_padding_never_changes_the_loss_of_an_example(t5: T5, examples: list[Ids]) -> None:
    model = TextToText(t5.network)
    alone = torch.cat([sample_losses(model, batch_of([example])) for example in examples])
    together = sample_losses(model, batch_of(examples))
    # T5's norm computes its variance in float32, whatever the weights are.
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-6)
    assert together.std() > 0.01


def test_ignored_labels_count_for_nothing(t5: T5, examples: list[Ids]) -> None:
    model, batch = TextToText(t5.network), batch_of(examples)
    wider = torch.nn.functional.pad(batch.labels, (0, 3), value=IGNORED)
    tgt_in = torch.nn.functional.pad(batch.tgt_in, (0, 3), value=5)
    padded = T5Batch(batch.src, batch.src_mask, tgt_in, wider, batch.n_tokens)
    torch.testing.assert_close(T5Task().loss(model, padded), T5Task().loss(model, batch))
    as_padding = batch.labels.masked_fill(batch.labels == IGNORED, 0)
    counted = T5Batch(batch.src, batch.src_mask, batch.tgt_in, as_padding, batch.n_tokens)
    # Labels padded with PAD instead, a common mistake, teach the model to write padding.
    assert T5Task().loss(model, counted) > T5Task().loss(model, batch) + 1


def test_the_mean_loss_weighs_tokens_and_not_batches(t5: T5, examples: list[Ids]) -> None:
    model = TextToText(t5.network).train()
    batches = [batch_of(examples[:4]), batch_of(examples[4:])]
    mean = t5_mean_loss(model, batches)
    assert model.training
    model.eval()
    total = sum(T5Task().loss(model, batch).item() for batch in batches)
    assert mean == pytest.approx(total / sum(batch.n_tokens for batch in batches))
    with pytest.raises(ValueError, match="at least one batch"):
        t5_mean_loss(model, [])


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_smoothing_out_of_range(smoothing: float) -> None:
    with pytest.raises(ValueError, match="label_smoothing"):
        T5Task(smoothing)


def test_the_prefix_is_part_of_every_source(t5: T5, examples: list[Ids]) -> None:
    prefix = encode_text(t5, PREFIX.strip())[:-1]
    assert all(
        source[: len(prefix)] == prefix and source[-1] == target[-1] == 1 for source, target in examples
    )
    bare = encode_pairs(t5, UNEVEN, "", 160)[0]
    assert bare[0][0] == examples[0][0][len(prefix) :]


def test_long_pairs_are_left_out_and_named(t5: T5, examples: list[Ids]) -> None:
    longest = max(max(map(len, example)) for example in examples)
    kept, left_out = encode_pairs(t5, UNEVEN, PREFIX, longest - 1)
    assert [pair.line for pair in left_out] == [14]
    assert kept == examples[:-1]


def test_an_empty_side_is_named(t5: T5) -> None:
    with pytest.raises(ValueError, match="lesson, line 7: the target is empty"):
        encode_pairs(t5, [SentencePair("碎", " ", "lesson", 7)], PREFIX, 160)


def test_a_tokenizer_of_another_model_is_noticed(t5: T5) -> None:
    other = tiny_t5(["a"], vocab_size=20, d_model=32, num_layers=1)
    mixed = T5(other.network, t5.tokenizer, "mixed")
    with pytest.raises(ValueError, match="mixed: the tokenizer gives id"):
        encode_text(mixed, PAIRS[0].source)


def test_every_example_is_in_one_batch_of_each_epoch(examples: list[Ids]) -> None:
    batches = T5Batches(examples, 2, pad_id=0, start_id=0, seed=3)
    for number in (0, 1, 7):
        epoch = batches.epoch(number)
        assert [len(batch.src) for batch in epoch] == [2, 2, 1]
        assert sorted(i for group in epoch.groups for i in group) == list(range(5))
        assert epoch.groups == batches.epoch(number).groups
        assert [b.n_tokens for b in epoch[1:]] == [b.n_tokens for b in epoch][1:]
    assert len({str(batches.epoch(number).groups) for number in range(8)}) > 1
    still = T5Batches(examples, 2, pad_id=0, start_id=0, shuffle=False)
    assert still.epoch(4).groups == [[0, 1], [2, 3], [4]]


def test_the_fingerprint_tells_data_and_order_apart(examples: list[Ids]) -> None:
    def fingerprint(given: list[Ids], size: int = 2, seed: int = 0) -> str:
        return T5Batches(given, size, pad_id=0, start_id=0, seed=seed).fingerprint

    assert fingerprint(examples) == fingerprint(list(examples))
    assert len({fingerprint(examples), fingerprint(examples[:-1]), fingerprint(examples, 3)}) == 3
    assert fingerprint(examples, seed=1) != fingerprint(examples)


@pytest.mark.parametrize(("given", "size"), [([], 2), ([([5, 1], [6, 1])], 0)])
def test_batches_of_nothing_are_refused(given: list[Ids], size: int) -> None:
    with pytest.raises(ValueError, match=r"examples must hold|batch_size"):
        T5Batches(given, size, pad_id=0, start_id=0)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_writing_in_batches_equals_writing_one_by_one(t5: T5, beam_size: int) -> None:
    texts = [pair.source for pair in UNEVEN]
    options = {"beam_size": beam_size, "n_best": beam_size, "max_tokens": 8}
    together = write_texts(t5, texts, PREFIX, **options)
    alone = [write_texts(t5, [text], PREFIX, **options)[0] for text in texts]
    assert [one.alternatives for one in together] == [one.alternatives for one in alone]
    assert [one.confidence for one in together] == pytest.approx([one.confidence for one in alone], rel=1e-4)
    assert all(one.text == one.alternatives[0] for one in together)


def test_outputs_that_read_the_same_are_there_once(t5: T5) -> None:
    (found,) = write_texts(t5, [PAIRS[0].source], PREFIX, beam_size=60, n_best=60, max_tokens=2)
    source = torch.tensor([encode_text(t5, PREFIX + PAIRS[0].source)])
    written = t5.network.generate(source, num_beams=60, num_return_sequences=60, max_new_tokens=2)
    texts = [text.strip() for text in t5.tokenizer.batch_decode(written, skip_special_tokens=True)]
    assert len(set(texts)) < len(texts)
    assert found.alternatives == tuple(dict.fromkeys(texts))


def test_confidence_is_the_geometric_mean_of_the_probabilities(t5: T5) -> None:
    (found,) = write_texts(t5, [PAIRS[0].source], PREFIX, max_tokens=6)
    source = torch.tensor([encode_text(t5, PREFIX + PAIRS[0].source)])
    written = t5.network.generate(source, do_sample=False, num_beams=1, max_new_tokens=6)
    logits = t5.network(input_ids=source, decoder_input_ids=written[:, :-1]).logits.log_softmax(-1)
    chosen = logits.gather(-1, written[:, 1:, None])
    assert found.confidence == pytest.approx(math.exp(chosen.mean().item()), rel=1e-5)


def test_writing_refuses_what_it_cannot_do(t5: T5) -> None:
    with pytest.raises(ValueError, match=r"texts\[1\] must not be empty"):
        write_texts(t5, ["碎", "  "], PREFIX)
    with pytest.raises(ValueError, match=r"n_best must be an integer in 1\.\.2"):
        write_texts(t5, ["碎"], PREFIX, beam_size=2, n_best=3)
    assert write_texts(t5, [], PREFIX) == []
