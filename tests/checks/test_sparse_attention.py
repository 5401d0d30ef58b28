"""The checks of the sparse attention chapter accept what is right and say what is wrong."""

import torch


def top(q, k, v, n_keep, window, *, window_first=True, renormalise=True):
    scores = q @ k.mT * q.shape[-1] ** -0.5
    distance = torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])
    visible = (distance >= 0) & (distance < window)
    shown = scores.masked_fill(~visible, -torch.inf)
    ranked = shown if window_first else scores
    kept = torch.zeros_like(visible.expand_as(scores)).scatter(-1, ranked.topk(n_keep).indices, True)
    if not renormalise:
        return shown.softmax(-1).masked_fill(~kept, 0.0) @ v
    return shown.masked_fill(~kept, -torch.inf).softmax(-1).nan_to_num(0.0) @ v


def test_window_pairs_right(assert_accepts):
    assert_accepts(
        "sparse_attention.window_pairs", lambda n, w: n * min(n, w) - min(n, w) * (min(n, w) - 1) // 2
    )


def test_window_pairs_without_the_edge(assert_rejects):
    assert_rejects("sparse_attention.window_pairs", lambda n, w: n * w, "fewer than `window` keys")


def test_window_pairs_of_a_window_longer_than_the_sequence(assert_rejects):
    assert_rejects("sparse_attention.window_pairs", lambda n, w: n * w - w * (w - 1) // 2, "window = 9")


def test_touched_tiles_right(assert_accepts):
    def right(mask, block):
        return sum(bool(part.any()) for rows in mask.split(block) for part in rows.split(block, dim=1))

    assert_accepts("sparse_attention.touched_tiles", right)


def test_touched_tiles_that_counts_full_tiles(assert_rejects):
    def full_only(mask, block):
        return sum(bool(part.all()) for rows in mask.split(block) for part in rows.split(block, dim=1))

    assert_rejects("sparse_attention.touched_tiles", full_only, "a causal window")


def test_touched_tiles_that_drops_the_last_tile(assert_rejects):
    def drops(mask, block):
        rows, columns = (size // block * block for size in mask.shape)
        cut = mask[:rows, :columns].unflatten(0, (-1, block)).unflatten(2, (-1, block))
        return cut.any(3).any(1).sum()

    assert_rejects("sparse_attention.touched_tiles", drops, "smaller")


def test_top_scores_right(assert_accepts):
    assert_accepts("sparse_attention.top_scores", top)


def test_top_scores_before_the_window(assert_rejects):
    assert_rejects(
        "sparse_attention.top_scores", lambda *args: top(*args, window_first=False), "the window comes first"
    )


def test_top_scores_without_renormalising(assert_rejects):
    assert_rejects(
        "sparse_attention.top_scores", lambda *args: top(*args, renormalise=False), "do not sum to one"
    )


def test_layers_needed_right(assert_accepts):
    assert_accepts("sparse_attention.layers_needed", lambda n, w: -(-(n - 1) // (w - 1)))


def test_layers_needed_that_moves_a_whole_window(assert_rejects):
    assert_rejects("sparse_attention.layers_needed", lambda n, w: -(-n // w), "window - 1 steps")


def test_layers_needed_rounded_down(assert_rejects):
    assert_rejects("sparse_attention.layers_needed", lambda n, w: max(1, (n - 1) // (w - 1)), "n = 9")
