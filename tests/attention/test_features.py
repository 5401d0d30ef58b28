"""Feature maps: what they compute, that FAVOR+ is unbiased, and that exponentials stay finite."""

import math
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from coursepkg.attention.linear import (
    FEATURE_MAPS,
    MAX_EXPONENT,
    favor_features,
    find_feature_map,
    orthogonal_gaussian,
)


def test_elu_plus_one_is_elu_plus_one():
    x = torch.linspace(-30, 30, 601, dtype=torch.float64)
    phi = FEATURE_MAPS["elu+1"]
    torch.testing.assert_close(phi.keys(x), F.elu(x) + 1, rtol=1e-12, atol=1e-12)
    assert phi.keys(torch.tensor([-40.0])) > 0, "elu(x) + 1 taken literally rounds to 0 here"


def test_elu_plus_one_has_slope_one_at_zero():
    x = torch.zeros(1, requires_grad=True)
    FEATURE_MAPS["elu+1"].keys(x).sum().backward()
    assert x.grad.item() == 1


@pytest.mark.parametrize(("name", "expected"), [("relu", [0.0, 0.0, 2.0]), ("squared-relu", [0.0, 0.0, 4.0])])
def test_rectified_maps(name, expected):
    x = torch.tensor([-1.0, 0.0, 2.0])
    assert FEATURE_MAPS[name].keys(x).tolist() == expected
    assert FEATURE_MAPS[name].queries(x).tolist() == expected


def test_exp_of_queries_differs_from_exp_by_one_factor_a_row():
    x = torch.randn(5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ratio = FEATURE_MAPS["exp"].queries(x) / x.exp()
    torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio))
    torch.testing.assert_close(FEATURE_MAPS["exp"].keys(x), x.exp())


@pytest.mark.parametrize("phi", [*FEATURE_MAPS.values(), favor_features(8, 16)], ids=[*FEATURE_MAPS, "favor"])
def test_features_are_nonnegative_and_finite_far_out(phi):
    x = torch.randn(100, 8, generator=torch.Generator().manual_seed(1)) * 1000
    for features in (phi.keys(x), phi.queries(x)):
        assert (features >= 0).all()
        assert features.isfinite().all()


def test_exponents_of_keys_are_cut_without_looking_at_other_keys():
    x = torch.tensor([[1.0, 2.0], [500.0, 600.0]])
    keys = FEATURE_MAPS["exp"].keys(x)
    torch.testing.assert_close(keys[0], x[0].exp())
    torch.testing.assert_close(keys[1], torch.full((2,), math.exp(MAX_EXPONENT)))


def test_rows_of_one_block_are_orthogonal_and_as_long_as_gaussian_vectors():
    dim = 16
    rows = orthogonal_gaussian(40, dim, seed=3)
    assert rows.shape == (40, dim)
    for block in rows.split(dim):
        gram = block @ block.T
        torch.testing.assert_close(gram, gram.diagonal().diag(), rtol=0, atol=1e-12)
    # |w|^2 is chi-squared with D degrees of freedom: mean D, variance 2 D; four standard errors of 4,000 draws.
    squares = orthogonal_gaussian(4000, dim, seed=4).square().sum(dim=1)
    assert abs(squares.mean() - dim) < 4 * math.sqrt(2 * dim / 4000)


def test_directions_are_uniform_on_the_sphere():
    # LAPACK fixes the signs of Q by a rule; left so, some coordinates of the first row of a block would lean
    # to one side. 300 blocks: each coordinate of w ~ N(0, 1) has a mean within five standard errors of 0.
    first = torch.stack([orthogonal_gaussian(4, 4, seed) for seed in range(300)])
    assert first.mean(dim=0).abs().max() < 5 / math.sqrt(300)


def test_favor_is_deterministic_by_seed():
    x = torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    torch.randn(7)
    assert torch.equal(favor_features(8, 20, seed=5).keys(x), favor_features(8, 20, seed=5).keys(x))
    assert not torch.equal(favor_features(8, 20, seed=5).keys(x), favor_features(8, 20, seed=6).keys(x))


def queries_keys_and_kernel():
    """Short vectors: for long ones the estimate has so heavy a tail that no mean of few draws shows a bias."""
    q, k = 0.5 * torch.randn(2, 20, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return q, k, (q * k).sum(-1).mul(8**-0.5).exp()


def kernel_estimates(q, k, n_features, n_seeds):
    """phi(q) . phi(k) for each seed, (n_seeds, n)."""
    maps = [favor_features(q.shape[-1], n_features, seed) for seed in range(n_seeds)]
    return torch.stack([(phi.keys(q) * phi.keys(k)).sum(-1) for phi in maps])


def test_favor_is_an_unbiased_estimate_of_the_softmax_kernel():
    q, k, kernel = queries_keys_and_kernel()
    estimates = kernel_estimates(q, k, n_features=64, n_seeds=200)
    standard_error = estimates.std(dim=0) / math.sqrt(len(estimates))
    assert ((estimates.mean(dim=0) - kernel).abs() < 4 * standard_error).all()
    assert (standard_error < 0.05 * kernel).all(), "too loose to see a bias"


def test_error_of_favor_falls_with_the_number_of_features():
    q, k, kernel = queries_keys_and_kernel()
    errors = [
        (kernel_estimates(q, k, n, n_seeds=20) / kernel - 1).square().mean().item()
        for n in (16, 64, 256, 1024)
    ]
    for few, four_times in pairwise(errors):
        assert four_times < 0.5 * few, f"variance should fall as 1 / F: {errors}"


def test_orthogonal_rows_estimate_better_than_independent_ones():
    q, k, kernel = queries_keys_and_kernel()
    generator = torch.Generator().manual_seed(1)

    def independent(x, w):
        y = x * 8**-0.25
        return (y @ w.T - y.square().sum(-1, keepdim=True) / 2).exp() / math.sqrt(len(w))

    draws = [torch.randn(8, 8, dtype=torch.float64, generator=generator) for _ in range(200)]
    plain = torch.stack([(independent(q, w) * independent(k, w)).sum(-1) for w in draws])
    orthogonal = kernel_estimates(q, k, n_features=8, n_seeds=200)
    assert (orthogonal / kernel - 1).square().mean() < (plain / kernel - 1).square().mean()


def test_find_feature_map_takes_names_maps_and_functions():
    x = torch.tensor([0.5, -2.0])
    assert find_feature_map("relu") is FEATURE_MAPS["relu"]
    assert find_feature_map(FEATURE_MAPS["exp"]) is FEATURE_MAPS["exp"]
    assert torch.equal(find_feature_map(torch.sigmoid).queries(x), x.sigmoid())


def test_bad_input_is_one_line_that_says_what_is_needed():
    with pytest.raises(ValueError, match=r"^feature_map: got 'gelu', needs one of elu\+1, .*favor_features"):
        find_feature_map("gelu")
    with pytest.raises(ValueError, match=r"^n_features: got 0, needs a positive integer$"):
        favor_features(8, 0)
    with pytest.raises(ValueError, match=r"^head_dim: got -1, needs a positive integer$"):
        favor_features(-1, 4)
    with pytest.raises(ValueError, match=r"^feature_map: got head dim 16, needs 8"):
        favor_features(8, 4).keys(torch.zeros(2, 16))
