"""The rolling cache: decoding with it is attention with a causal window."""

import pytest
import torch

from coursepkg.attention import MultiHeadAttention, RotaryEmbedding, causal, sliding_window
from coursepkg.blocks import RollingCache


@pytest.mark.parametrize("window", [1, 3, 20])
def test_decoding_equals_a_causal_window_over_the_whole_text(window):
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 4, n_kv_heads=2, rope=RotaryEmbedding(4)).double()
    x = torch.randn(2, 11, 16, dtype=torch.float64)
    whole = layer(x, pattern=causal() & sliding_window(window))
    cache = RollingCache(window)
    with torch.no_grad():
        for t, token in enumerate(x.split(1, dim=1)):
            keys, values = cache.write(*layer.project_kv(token, offset=t))
            step = layer.attend(layer.project_q(token, offset=t), keys, values)
            assert keys.shape == (2, 2, min(t + 1, window), 4)
            torch.testing.assert_close(step[:, 0], whole[:, t])
    assert cache.length == 11


def test_bad_input_is_one_line():
    with pytest.raises(ValueError, match=r"^window must be a positive integer, got 0$"):
        RollingCache(0)
    two = torch.zeros(1, 2, 2, 4)
    with pytest.raises(
        ValueError, match=r"^k and v must hold one token, \(B, G, 1, D\), got \(1, 2, 2, 4\)$"
    ):
        RollingCache(4).write(two, two)
