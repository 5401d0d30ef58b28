"""Log-probabilities of given sequences: those that decoding reports, and those of a plain loop."""

import pytest
import torch

from coursepkg.decoding import beam_search, sample, token_log_probs
from tests.decoding.models import V, make, sources


def test_equal_what_the_search_reports() -> None:
    model, src = make("modern", 4), sources(4)
    found = beam_search(model.start(src, max_len=10), beam_size=3, max_len=10, n_best=3)
    found += sample(model.start(src, max_len=10), max_len=10, seed=0, n_samples=3)
    for number, hypotheses in enumerate(found):
        rows = src[number % len(src)].expand(len(hypotheses), -1)
        targets = [[*h.ids, 2] if h.finished else list(h.ids) for h in hypotheses]
        scored = token_log_probs(lambda tgt_in, rows=rows: model(rows, tgt_in), targets, eos=None)
        for row, h in zip(scored.tolist(), hypotheses, strict=True):
            n = len(h.token_log_probs)
            assert row[:n] == pytest.approx(h.token_log_probs, abs=1e-9)
            assert row[n:] == [0.0] * (len(row) - n)
            assert sum(row) == pytest.approx(h.log_prob, abs=1e-9)


def test_equal_a_plain_loop_over_a_language_model() -> None:
    model, texts = make("lm-2017", 0), [[4, 5, 6], [], [11, 11, 3, 0, 7]]
    scored = token_log_probs(model, texts)
    assert scored.shape == (3, 6)
    for row, text in zip(scored, texts, strict=True):
        tokens = [1, *text, 2]
        for t in range(1, len(tokens)):
            logits = model(torch.tensor([tokens[:t]]))[0, -1]
            torch.testing.assert_close(row[t - 1], logits.log_softmax(-1)[tokens[t]])
        assert not row[len(text) + 1 :].any()


def test_the_probabilities_of_all_sequences_sum_to_one() -> None:
    """Of length 2 or cut off there, over a vocabulary of 12: 1 + 11 + 11 * 11 sequences."""
    model = make("lm-modern", 1)
    others = [i for i in range(V) if i != 2]
    finished = token_log_probs(model, [[], *([i] for i in others)]).sum(1).exp().sum()
    cut = token_log_probs(model, [[i, j] for i in others for j in others], eos=None).sum(1).exp().sum()
    torch.testing.assert_close(finished + cut, torch.ones((), dtype=torch.float64))


def test_no_tokens_at_all() -> None:
    assert token_log_probs(make("lm-2017", 0), [[], []], eos=None).shape == (2, 0)


def test_half_precision_is_summed_in_single_precision() -> None:
    def predict(tgt_in: torch.Tensor) -> torch.Tensor:
        return torch.zeros(*tgt_in.shape, V, dtype=torch.bfloat16)

    scored = token_log_probs(predict, [[4, 5]])
    torch.testing.assert_close(scored, torch.full((1, 3), -torch.tensor(float(V)).log()))


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([], "targets must hold at least one sequence, got none"),
        ([[4], [-3]], "targets must hold ids of at least 0, got -3"),
        ([[4], [5, 12]], r"targets must hold ids below V = 12, got 12"),
    ],
)
def test_bad_targets_are_named(targets, message) -> None:
    def predict(tgt_in: torch.Tensor) -> torch.Tensor:
        return torch.zeros(*tgt_in.shape, V)

    with pytest.raises(ValueError, match=f"^{message}$"):
        token_log_probs(predict, targets, eos=2)


def test_a_model_that_returns_no_logits() -> None:
    with pytest.raises(
        ValueError, match=r"predict must return logits \(1, 2, 'V'\), got torch.int64 \(1, 2\)"
    ):
        token_log_probs(lambda tgt_in: tgt_in, [[4]])


@pytest.mark.parametrize(("targets", "bos", "largest"), [([[30, 4]], 1, 30), ([[4]], 12, 12)])
def test_an_id_that_the_model_cannot_read_is_named(targets, bos, largest) -> None:
    table = torch.zeros(V, V)
    message = f"^targets and bos must hold ids of the model's vocabulary, got ids up to {largest}$"
    with pytest.raises(ValueError, match=message):
        token_log_probs(lambda tgt_in: table[tgt_in], targets, bos=bos)
