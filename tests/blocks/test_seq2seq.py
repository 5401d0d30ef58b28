"""The GRU model: its size, padding, teacher forcing against step by step, greedy decoding, attention."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from coursepkg.blocks.seq2seq import ATTENTIONS, GRUSeq2Seq, Seq2SeqConfig
from coursepkg.text.vocabulary import BOS, EOS, PAD, pad_batch

SOURCES = [[5, 6, 7, 8, EOS], [9, EOS], [4, 4, 10, EOS]]
TARGETS = [[BOS, 4, 5], [BOS, 6, 7, 8, 9], [BOS]]


def make(attention: str = "none", **sizes) -> GRUSeq2Seq:
    torch.manual_seed(8)
    config = Seq2SeqConfig(11, 13, d_embedding=6, d_hidden=8, attention=attention, **sizes)
    model = GRUSeq2Seq(config).double().eval()
    # Spread the logits, so that greedy decoding meets different tokens and ends at different lengths.
    with torch.no_grad():
        model.output.weight.mul_(12)
        model.output.bias[EOS] += 2
    return model


def test_baseline_has_919_992_parameters() -> None:
    model = GRUSeq2Seq(Seq2SeqConfig(3000, 3000))
    assert sum(p.numel() for p in model.parameters()) == 919_992


@pytest.mark.parametrize(
    ("attention", "extra"),
    [
        ("none", 0),
        ("dot", 0),
        ("general", 128**2),
        ("additive", 2 * 128**2 + 128),
        ("concat", 2 * 128**2 + 128),
    ],
)
def test_attention_adds_its_score_and_one_layer(attention: str, extra: int) -> None:
    model = GRUSeq2Seq(Seq2SeqConfig(3000, 3000, attention=attention))
    combine = 0 if attention == "none" else 2 * 128 * 128
    assert sum(p.numel() for p in model.parameters()) == 919_992 + extra + combine


def test_equals_a_model_of_torch_layers() -> None:
    ours = make()
    encoder, decoder = (nn.GRU(6, 8, batch_first=True).double() for _ in range(2))
    with torch.no_grad():
        for theirs, cell in ((encoder, ours.encoder), (decoder, ours.decoder)):
            theirs.weight_ih_l0.copy_(cell.input_gates.weight)
            theirs.weight_hh_l0.copy_(cell.state_gates.weight)
            theirs.bias_ih_l0.copy_(cell.input_gates.bias)
            theirs.bias_hh_l0.copy_(cell.state_gates.bias)
    (src, lengths), (tgt, _) = pad_batch(SOURCES), pad_batch(TARGETS)
    packed = nn.utils.rnn.pack_padded_sequence(
        ours.source_embedding(src), lengths, batch_first=True, enforce_sorted=False
    )
    hidden, _ = decoder(ours.target_embedding(tgt), encoder(packed)[1])
    torch.testing.assert_close(ours(src, lengths, tgt), ours.output(hidden))


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_padding_changes_no_logit(attention: str) -> None:
    model = make(attention)
    (src, src_lengths), (tgt, tgt_lengths) = pad_batch(SOURCES), pad_batch(TARGETS)
    together = model(src, src_lengths, tgt)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = model(torch.tensor([source]), torch.tensor([len(source)]), torch.tensor([target]))
        torch.testing.assert_close(together[row, : tgt_lengths[row]], alone[0])
    src[src == PAD] = 7
    torch.testing.assert_close(model(src, src_lengths, tgt), together, rtol=0, atol=0)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_padding_gets_no_gradient(attention: str) -> None:
    model = make(attention)
    src, lengths = pad_batch(SOURCES)
    src[src == PAD] = 3
    model(src, lengths, pad_batch(TARGETS)[0]).sum().backward()
    assert (model.source_embedding.weight.grad[3] == 0).all()
    assert (model.source_embedding.weight.grad[5] != 0).any()


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_greedy_follows_its_own_teacher_forcing(attention: str) -> None:
    model = make(attention)
    src, lengths = pad_batch(SOURCES)
    ids, weights = model.greedy(src, lengths, BOS, EOS, max_len=12)
    tgt_in = torch.cat([torch.full_like(ids[:, :1], BOS), ids[:, :-1]], dim=1)
    forced = model(src, lengths, tgt_in).argmax(-1)
    is_open = (ids == EOS).cumsum(1) - (ids == EOS).long() == 0
    assert (ids[is_open] == forced[is_open]).all()
    assert (ids[~is_open] == PAD).all()
    assert (~is_open).any(), "no result ends before another: the test would not see what follows an end"
    if attention == "none":
        assert weights is None
    else:
        expected = is_open.double()
        torch.testing.assert_close(weights.sum(-1), expected)
        assert (weights.masked_select((src == PAD)[:, None]) == 0).all()


@given(st.sampled_from(ATTENTIONS), st.permutations(range(3)))
def test_greedy_in_a_batch_equals_greedy_alone(attention: str, order: list[int]) -> None:
    model = make(attention)
    src, lengths = pad_batch([SOURCES[i] for i in order])
    ids, weights = model.greedy(src, lengths, BOS, EOS, max_len=12)
    for row, i in enumerate(order):
        alone, alone_weights = model.greedy(
            torch.tensor([SOURCES[i]]), torch.tensor([len(SOURCES[i])]), BOS, EOS, max_len=12
        )
        assert ids[row, : alone.shape[1]].tolist() == alone[0].tolist()
        assert (ids[row, alone.shape[1] :] == PAD).all()
        if weights is not None and alone_weights is not None:
            part = weights[row, : alone.shape[1], : len(SOURCES[i])]
            torch.testing.assert_close(part, alone_weights[0])


def test_greedy_stops_at_eos_and_at_the_limit() -> None:
    model, (src, lengths) = make(), pad_batch(SOURCES)
    with torch.no_grad():
        model.output.bias[EOS] = 1e3
        assert model.greedy(src, lengths, BOS, EOS, max_len=9)[0].tolist() == [[EOS]] * 3
        model.output.bias[EOS] = -1e3
    assert model.greedy(src, lengths, BOS, EOS, max_len=9)[0].shape == (3, 9)


@pytest.mark.parametrize("attention", ["none", "additive", "general"])
def test_it_learns_to_copy(attention: str) -> None:
    torch.manual_seed(0)
    model = GRUSeq2Seq(Seq2SeqConfig(8, 8, 16, 32, dropout_p=0.0, attention=attention))
    sources = [[a, b, EOS] for a in range(4, 8) for b in range(4, 8)]
    src, lengths = pad_batch(sources)
    tgt_in, _ = pad_batch([[BOS, *source[:-1]] for source in sources])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        loss = nn.functional.cross_entropy(model(src, lengths, tgt_in).flatten(0, 1), src.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert model.eval().greedy(src, lengths, BOS, EOS, 5)[0].tolist() == sources


def test_dropout_acts_in_training_only() -> None:
    model, (src, lengths), tgt = make(dropout_p=0.5), pad_batch(SOURCES), pad_batch(TARGETS)[0]
    clean = model(src, lengths, tgt)
    torch.testing.assert_close(model(src, lengths, tgt), clean, rtol=0, atol=0)
    assert not torch.equal(model.train()(src, lengths, tgt), clean)


def forward(src: Tensor | None = None, lengths: Tensor | None = None, tgt: Tensor | None = None) -> Tensor:
    ids = torch.full((2, 3), 4)
    inputs = (
        ids if src is None else src,
        torch.tensor([3, 2]) if lengths is None else lengths,
        ids if tgt is None else tgt,
    )
    make().check_inputs(*inputs)
    return make()(*inputs)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: Seq2SeqConfig(0, 5), "source_vocab must be a positive integer, got 0"),
        (lambda: Seq2SeqConfig(5, 5, dropout_p=1.0), "dropout_p must be at least 0 and below 1, got 1.0"),
        (
            lambda: Seq2SeqConfig(5, 5, attention="self"),
            "attention must be one of none, additive, .* got 'self'",
        ),
        (lambda: forward(src=torch.full((2, 3), 11)), r"src must hold ids in 0\.\.10, got 11\.\.11"),
        (lambda: forward(tgt=torch.full((2, 3), -1)), r"tgt_in must hold ids in 0\.\.12, got -1\.\.-1"),
        (lambda: forward(src=torch.zeros(2, 0, dtype=torch.long)), r"src must be ids \(B, length\)"),
        (lambda: forward(tgt=torch.full((1, 3), 4)), "one batch size, got 2 and 1"),
        (lambda: forward(lengths=torch.tensor([3, 0])), r"src_lengths must be at least 1, got \[3, 0\]"),
        (lambda: forward(lengths=torch.tensor([3, 4])), r"lengths must lie in 0\.\.3"),
        (
            lambda: make().greedy(torch.ones(1, 1).long(), torch.ones(1).long(), 1, 2, 0),
            "max_len must be at least 1",
        ),
    ],
)
def test_bad_input_is_named(work, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work()


@pytest.mark.parametrize("attention", ["none", "additive", "general"])
def test_no_forward_pass_reads_a_value(attention: str) -> None:
    """Tensors on the meta device have none, so whoever asks for one fails."""
    ids, lengths = torch.full((2, 3), 4, device="meta"), torch.tensor([3, 2]).to("meta")
    assert make(attention).to("meta")(ids, lengths, ids).shape[:2] == (2, 3)
