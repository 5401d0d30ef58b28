"""Nearest neighbours beside a model: the mixture by hand, its limits, recorded states, the model left alone."""

import math

import pytest
import torch
from torch import Tensor, nn

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.packed import pack
from coursepkg.data.batching import make_batch
from coursepkg.decoding import knn
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.knn import KnnOutput, own_output, record_states, with_output
from coursepkg.text.vocabulary import BOS, EOS
from tests.blocks.models import make, source, target

N, E, V = 500, 16, 11
PAIRS = [([4, 5, 6], [7, 8]), ([9, 4], [5, 6, 10, 4]), ([8, 8, 5, 7], [9])]


@pytest.fixture
def parts() -> tuple[nn.Linear, Tensor, Tensor]:
    torch.manual_seed(0)
    return nn.Linear(E, V), torch.randn(N, E), torch.randint(V, (N,))


def head(parts: tuple[nn.Linear, Tensor, Tensor], **settings: float) -> KnnOutput:
    given = {"weight": 0.3, "temperature": 4.0, "k": 8} | settings
    return KnnOutput(*parts, **given).requires_grad_(False)


def by_hand(
    parts: tuple[nn.Linear, Tensor, Tensor], x: Tensor, weight: float, temperature: float, k: int
) -> list[float]:
    """The probabilities of one state by the formula, in Python's own numbers."""
    project, keys, values = parts
    logits = (project.weight.double() @ x.double() + project.bias.double()).tolist()
    most = max(logits)
    total = sum(math.exp(one - most) for one in logits)
    found = [(1 - weight) * math.exp(one - most) / total for one in logits]
    pairs = zip(keys.double().tolist(), values.tolist(), strict=True)
    squares = [(sum((a - b) ** 2 for a, b in zip(key, x.tolist(), strict=True)), v) for key, v in pairs]
    near = sorted(squares)[:k]
    scale = sum(math.exp(-(d - near[0][0]) / temperature) for d, _ in near)
    for d, value in near:
        found[value] += weight * math.exp(-(d - near[0][0]) / temperature) / scale
    return found


@pytest.mark.parametrize("settings", [(0.3, 4.0, 8), (0.9, 0.5, 1), (1.0, 20.0, 40), (0.5, 4.0, N)])
def test_the_mixture_is_the_formula(
    parts: tuple[nn.Linear, Tensor, Tensor], settings: tuple[float, float, int]
) -> None:
    weight, temperature, k = settings
    x = torch.randn(2, 3, E)
    found = head(parts, weight=weight, temperature=temperature, k=k)(x)
    expected = [[by_hand(parts, x[b, t], *settings) for t in range(3)] for b in range(2)]
    torch.testing.assert_close(found.exp(), torch.tensor(expected), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(found.exp().sum(dim=-1), torch.ones(2, 3))
    torch.testing.assert_close(found.log_softmax(dim=-1).exp(), found.exp())


def test_chunks_of_rows_change_nothing(
    parts: tuple[nn.Linear, Tensor, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(7, E)
    whole = head(parts)(x)
    monkeypatch.setattr(knn, "SCORES_AT_ONCE", 2 * N)
    torch.testing.assert_close(head(parts)(x), whole)


def test_rounded_products_do_not_decide_which_keys_are_nearest() -> None:
    """Keys that bfloat16 cannot tell apart are told apart by their exact distances."""
    keys = 100 + torch.arange(4.0)[:, None] * 0.01 * torch.ones(E)
    one = KnnOutput(nn.Linear(E, V), keys, torch.arange(4), weight=1.0, temperature=1e-4, k=1)
    for number in range(4):
        distances, places = one.nearest(keys[number : number + 1])
        assert places.tolist() == [[number]]
        assert distances.item() == 0
        assert one(keys[number]).argmax().item() == number


def test_all_keys_at_a_high_temperature_give_the_share_of_each_token(
    parts: tuple[nn.Linear, Tensor, Tensor],
) -> None:
    found = head(parts, weight=1.0, temperature=1e9, k=N)(torch.randn(3, E))
    counts = torch.bincount(parts[2], minlength=V) / N
    torch.testing.assert_close(found.exp(), counts.expand(3, V), rtol=1e-4, atol=1e-6)


def test_float16_keys_and_int32_values_are_taken_as_they_are_stored(
    parts: tuple[nn.Linear, Tensor, Tensor],
) -> None:
    project, keys, values = parts
    x = torch.randn(3, E)
    rounded = head((project, keys.half(), values.int()))(x)
    torch.testing.assert_close(rounded, head((project, keys.half().float(), values))(x))


@pytest.mark.parametrize("kind", ["2017", "modern"])
@pytest.mark.parametrize("packed", [False, True])
def test_without_weight_the_model_says_what_it_said(kind: str, packed: bool) -> None:
    model = make(kind).float()
    model = pack(model) if packed else model
    keys, values = record_states(model, [make_batch(PAIRS)])
    same = with_output(model, KnnOutput(own_output(model), keys, values, weight=0.0, temperature=1.0, k=2))
    results = [beam_search(m.start(source(), max_len=9), beam_size=3, max_len=8) for m in (model, same)]
    ours, theirs = ([one for found in result for one in found] for result in results)
    assert [one.ids for one in ours] == [one.ids for one in theirs]
    assert [one.log_prob for one in ours] == pytest.approx([one.log_prob for one in theirs])


def test_states_are_those_behind_the_logits_and_padding_is_left_out() -> None:
    model = make("modern").float().train()
    keys, values = record_states(model, [make_batch(PAIRS[:2]), make_batch(PAIRS[2:])])
    assert model.training
    assert model.output_head is None
    assert values.tolist() == [token for _, tokens in PAIRS for token in (*tokens, EOS)]
    logits = own_output(model.eval())(keys)
    for first, (src, tgt) in zip((0, 3, 8), PAIRS, strict=True):
        alone = model(torch.tensor([[*src, EOS]]), torch.tensor([[BOS, *tgt]]))[0]
        torch.testing.assert_close(logits[first : first + len(tgt) + 1], alone, rtol=1e-4, atol=1e-5)


def test_a_sentence_that_the_model_misses_is_found_through_its_states() -> None:
    model = make("modern").float()
    keys, values = record_states(model, [make_batch(PAIRS)])
    head = KnnOutput(own_output(model), keys, values, weight=0.99, temperature=1e-3, k=1)
    for src, tgt in PAIRS:
        ids = torch.tensor([[*src, EOS]])
        alone, helped = (
            greedy(m.start(ids, max_len=9), max_len=8)[0] for m in (model, with_output(model, head))
        )
        assert list(alone.ids) != tgt
        assert list(helped.ids) == tgt
        assert helped.finished


def test_a_language_model_takes_another_output_and_stays_as_it_is() -> None:
    model = make("modern", LanguageModel).float()
    before = model(target())
    states = with_output(model, nn.Identity())(target())
    assert states.shape == (*target().shape, model.config.d_model)
    torch.testing.assert_close(own_output(model)(states), before)
    assert torch.equal(model(target()), before)
    kept = with_output(model, nn.Identity())
    assert isinstance(pack(kept).output_head, nn.Identity)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"weight": 1.5}, r"weight must be in \[0, 1\], got 1.5"),
        ({"weight": -0.1}, r"weight must be in \[0, 1\], got -0.1"),
        ({"weight": math.nan}, "weight must be a finite number"),
        ({"temperature": 0.0}, "temperature must be above 0, got 0.0"),
        ({"temperature": -1.0}, "temperature must be above 0, got -1.0"),
        ({"k": 0}, rf"k must be an integer in 1..{N}, got 0"),
        ({"k": N + 1}, rf"k must be an integer in 1..{N}, got {N + 1}"),
    ],
)
def test_bad_settings_are_named(
    parts: tuple[nn.Linear, Tensor, Tensor], settings: dict[str, float], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        head(parts, **settings)


def test_states_and_tokens_that_do_not_belong_together_are_refused(
    parts: tuple[nn.Linear, Tensor, Tensor],
) -> None:
    project, keys, values = parts
    with pytest.raises(ValueError, match="keys must be"):
        head((project, keys, values[1:]))
    with pytest.raises(ValueError, match="at least one batch"):
        record_states(make("modern"), [])
