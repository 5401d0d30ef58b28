"""Reading: drafts change nothing, batches change nothing, joint scores are what they say."""

import dataclasses

import numpy as np
import pytest
import torch

from coursepkg.blocks.cache import Memory, RecomputedState
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.rerank import token_log_probs
from coursepkg.projects.ocr.decode import NEVER, encode_lines, length_limits, read_greedy
from coursepkg.projects.ocr.model.ctc import greedy_ctc
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.readers import LINES_AT_ONCE, Reader, read_encoded
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK
from tests.projects.ocr.drawn import network, noise

MODEL = network(vocab_size=12, seed=3)
WIDTHS = [37, 64, 5, 100, 64, 20]


def memory_of(model: LineTransformer, widths: list[int] = WIDTHS) -> Memory:
    with torch.no_grad():
        return model.encode(*noise(widths, max(widths)))


def lively(seed: int) -> LineTransformer:
    """A network whose greedy readings differ in length: EOS is likely now and then."""
    model = network(vocab_size=12, seed=seed)
    model.output.weight.data *= 3
    model.output.bias.data[EOS] = 2.0
    return model


@pytest.mark.parametrize("seed", range(3))
def test_drafts_never_change_what_is_read(seed: int) -> None:
    model = lively(seed)
    memory = memory_of(model)
    plain = read_greedy(model, memory)
    generator = np.random.Generator(np.random.PCG64(seed))
    right = [list(one.ids) for one in plain]
    wrong = [generator.integers(4, 12, size=generator.integers(0, 30)).tolist() for _ in plain]
    one_too_many = [[*ids[:2], 7, *ids[2:]] for ids in right]
    one_too_few = [ids[:1] + ids[2:] for ids in right]
    one_other = [[*ids[:3], 5, *ids[4:]] for ids in right]
    by_ctc = [d.ids for d in greedy_ctc(model.ctc_logits(memory).log_softmax(-1), model.n_columns(memory))]
    for drafts in (right, wrong, one_too_many, one_too_few, one_other, [[]] * len(plain), by_ctc):
        for found, wanted in zip(read_greedy(model, memory, drafts), plain, strict=True):
            assert (found.ids, found.finished) == (wanted.ids, wanted.finished)
            assert found.token_log_probs == pytest.approx(wanted.token_log_probs, abs=1e-9)
            assert found.log_prob == pytest.approx(wanted.log_prob, abs=1e-9)


@torch.no_grad()
def test_some_readings_end_and_some_are_cut_off() -> None:
    finished = [h.finished for seed in range(3) for h in read_greedy(lively(seed), memory_of(lively(seed)))]
    assert set(finished) == {True, False}


def test_greedy_equals_decoding_without_a_cache() -> None:
    model = lively(1)
    memory = memory_of(model)

    def predict(tokens: torch.Tensor, line: torch.Tensor) -> torch.Tensor:
        return model.decode(tokens, Memory(memory.outputs[line], memory.is_real[line]))[:, -1]

    slow = greedy(
        RecomputedState(predict, len(WIDTHS)), max_len=length_limits(model, memory), filters=[NEVER]
    )
    assert [h.ids for h in read_greedy(model, memory)] == [h.ids for h in slow]


@pytest.mark.parametrize(
    "reader", [Reader(kind, beams) for kind in ("ctc", "attention", "joint") for beams in (1, 3)]
)
def test_batching_changes_no_reading(reader: Reader) -> None:
    model = lively(2)
    # More lines than are read at once, and the longest not among the last of them.
    widths = [*WIDTHS, *WIDTHS[:3] * (LINES_AT_ONCE // 3)]
    together = read_encoded(model, memory_of(model, widths), reader, n_best=reader.beam_size)
    assert len(together) == len(widths) > LINES_AT_ONCE
    images, sizes = noise(widths, max(widths))
    for i, width in enumerate(widths):
        with torch.no_grad():
            alone = model.encode(images[i : i + 1, ..., :width], sizes[i : i + 1])
        found = read_encoded(model, alone, reader, n_best=reader.beam_size)[0]
        assert [c.ids for c in found] == [c.ids for c in together[i]]
        assert [c.confidence for c in found] == pytest.approx([c.confidence for c in together[i]], abs=1e-9)
        assert all(0 < c.confidence <= 1 for c in found)
        # Best first; what the limit cut off, without EOS among its tokens, stands behind what ended.
        order = [(c.n_scored == len(c.ids), -c.score) for c in found]
        assert order == sorted(order)


def test_lines_are_encoded_in_their_order_whatever_their_widths() -> None:
    model = network().float()
    generator = np.random.Generator(np.random.PCG64(0))
    images = [generator.integers(0, 256, (32, width), dtype=np.uint8) for width in (70, 9, 200, 33, 71, 64)]
    together = encode_lines(model, images, max_columns=128)
    for i, image in enumerate(images):
        alone = encode_lines(model, [image])
        n = int(alone.is_real.sum())
        assert int(together.is_real[i].sum()) == n == -(-image.shape[1] // 4)
        torch.testing.assert_close(together.outputs[i, :n], alone.outputs[0, :n], rtol=1e-4, atol=1e-5)


def test_special_tokens_are_never_read() -> None:
    model = network(vocab_size=12, seed=5)
    for head in (model.output, model.ctc_head):
        head.bias.data[[BOS, UNK]] = 50.0
        head.bias.data[EOS] = -50.0
    model.output.bias.data[PAD] = 50.0
    for kind in ("ctc", "attention", "joint"):
        for beams in (1, 3):
            for line in read_encoded(model, memory_of(model), Reader(kind, beams), n_best=beams):
                assert all(i > UNK for candidate in line for i in candidate.ids)


@torch.no_grad()
def test_the_joint_score_is_the_mixture_of_both() -> None:
    model = lively(4)
    memory = memory_of(model, [64])
    log_probs = model.ctc_logits(memory)
    log_probs[..., [BOS, EOS, UNK]] = -torch.inf
    log_probs = log_probs.log_softmax(-1)
    for candidate in read_encoded(model, memory, Reader("joint", 3, ctc_share=0.3), n_best=3)[0]:
        ids = torch.tensor([candidate.ids])
        by_ctc = -torch.nn.functional.ctc_loss(
            log_probs.transpose(0, 1), ids, torch.tensor([16]), torch.tensor([ids.shape[1]]), reduction="sum"
        )

        def predict(tgt_in: torch.Tensor) -> torch.Tensor:
            return NEVER(model.decode(tgt_in, memory).flatten(0, 1), tgt_in).unflatten(0, tgt_in.shape)

        by_decoder = token_log_probs(predict, [candidate.ids]).sum()
        assert candidate.log_prob == pytest.approx(float(0.7 * by_decoder + 0.3 * by_ctc))


def test_without_drafts_the_ctc_head_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    model = lively(4)
    memory = memory_of(model)
    drafted = read_encoded(model, memory, Reader("attention"))
    monkeypatch.setattr(model, "ctc_logits", None)
    alone = read_encoded(model, memory, Reader("attention", drafts=False))
    assert [line[0].ids for line in alone] == [line[0].ids for line in drafted]
    assert not Reader.of(dataclasses.replace(PRESETS["report"], ctc_weight=0.0, reader="attention")).drafts


def test_a_share_silences_a_reader() -> None:
    model = lively(11)
    memory = memory_of(model)
    attention = read_encoded(model, memory, Reader("attention"))
    ctc = read_encoded(model, memory, Reader("ctc"))
    both = [read_encoded(model, memory, Reader("joint", ctc_share=share)) for share in (0.0, 1.0)]
    ended = [line[0].n_scored > len(line[0].ids) for line in attention]
    assert sum(ended) > 2
    for i in range(len(WIDTHS)):
        if ended[i]:  # the joint reader takes whole texts only
            assert both[0][i][0].log_prob >= attention[i][0].log_prob - 1e-9
        assert both[1][i][0].log_prob >= ctc[i][0].log_prob - 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "eyes"}, "reader must be one of"),
        ({"beam_size": 0}, "beam_size"),
        ({"ctc_share": 1.5}, "ctc_share"),
    ],
)
def test_a_bad_reader_is_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Reader(**options)
