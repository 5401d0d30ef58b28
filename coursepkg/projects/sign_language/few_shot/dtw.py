"""Dynamic time warping: how far two signals are apart when time may stretch.

Two people sign a word at different speeds, and each in a rhythm of their own. Step i of
one then belongs to some step j of the other, and the pairs (i, j) form a way through a
table from its first corner to its last, a step down, right or both at a time. Warping
takes the cheapest way:

    C[i, j] = d(a_i, b_j) + min(C[i - 1, j], C[i, j - 1], C[i - 1, j - 1])

with d the distance of two steps. A window keeps the way near the diagonal,
|i - j| <= w: it may stretch time, not turn the word into another one.

Source: Sakoe and Chiba, "Dynamic programming algorithm optimization for spoken word
recognition" (IEEE Transactions on Acoustics, Speech, and Signal Processing 26, 1978).
"""

import numpy as np

from coursepkg.validation import check_count


def cost_table(distances: np.ndarray, window: int) -> np.ndarray:
    """The cost of the cheapest way to each pair of steps.

    Args:
        distances: of each step of one signal from each of the other, (..., N, M);
            several tables at once.
        window: most steps that a way may leave the diagonal by, from 1.

    Returns:
        float64 (..., N, M), infinite beyond the window.
    """
    check_count("window", window)
    rows, columns = distances.shape[-2:]
    # A longer signal may be stretched along all of the shorter one.
    window = max(window, abs(rows - columns))
    costs = np.full((*distances.shape[:-2], rows + 1, columns + 1), np.inf)
    costs[..., 0, 0] = 0
    for i in range(1, rows + 1):
        for j in range(max(1, i - window), min(columns, i + window) + 1):
            before = np.minimum(costs[..., i - 1, j], costs[..., i, j - 1])
            before = np.minimum(before, costs[..., i - 1, j - 1])
            costs[..., i, j] = distances[..., i - 1, j - 1] + before
    return costs[..., 1:, 1:]


def warping_path(costs: np.ndarray) -> list[tuple[int, int]]:
    """The cheapest way through a table of costs (N, M): pairs of steps, in order."""
    i, j = costs.shape[0] - 1, costs.shape[1] - 1
    path = [(i, j)]
    while i or j:
        steps = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
        inside = [(r, c) for r, c in steps if r >= 0 and c >= 0]
        i, j = min(inside, key=lambda step: costs[step])
        path.append((i, j))
    return path[::-1]


def dtw_distances(
    signal: np.ndarray, others: np.ndarray, window: int = 6
) -> np.ndarray:
    """How far a signal is from others, per step of it.

    Args:
        signal: (N, F).
        others: n signals (n, M, F).
        window: see `cost_table`.

    Returns:
        float64 (n,).
    """
    apart = signal[None, :, None] - others[:, None]
    distances = np.sqrt((apart * apart).sum(axis=-1))
    costs = cost_table(distances, window)
    return np.asarray(costs[..., -1, -1] / len(signal))
