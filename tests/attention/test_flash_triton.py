"""The Triton kernels against the formula in float64.

The tests of `TestKernels` run on a CUDA GPU where there is one. Without one they run in Triton's interpreter, which
must be chosen before triton is imported: `test_kernels_in_the_interpreter` starts a second pytest for that.
"""

import math
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursepkg.attention import attention, flash_triton, reference
from coursepkg.attention.pattern import causal, full, global_tokens, sliding_window

INTERPRETED = flash_triton.interpreting()
DEVICE = "cpu" if INTERPRETED else "cuda"
# Tiles are larger on a GPU; the sequences are, too, so that the walks meet as many of them.
LONGER = 1 if INTERPRETED else 6

PATTERNS = {
    "full": full(),
    "causal": causal(),
    "window": sliding_window(20 * LONGER),
    "causal-window": causal() & sliding_window(20 * LONGER),
    "narrow": causal() & sliding_window(2),
    "wider-than-all": causal() & sliding_window(10**12),
}
# pattern, (H, G), (T, S), D
CASES = [
    ("full", (1, 1), (64, 64), 32),
    ("full", (4, 2), (70, 33), 64),
    ("full", (2, 1), (1, 50), 128),
    ("causal", (1, 1), (70, 70), 64),
    ("causal", (4, 1), (33, 90), 40),
    ("causal", (2, 1), (90, 37), 32),
    ("window", (1, 1), (70, 70), 80),
    ("window", (2, 1), (33, 90), 32),
    ("window", (2, 1), (90, 37), 32),
    ("causal-window", (2, 1), (70, 70), 32),
    ("causal-window", (2, 1), (33, 90), 128),
    ("causal-window", (1, 1), (90, 37), 96),
    ("narrow", (2, 1), (40, 40), 32),
    ("wider-than-all", (2, 1), (40, 40), 32),
]
DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def flash(q, k, v, pattern=None, scale=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return flash_triton.run(q, k, v, pattern, scale=scale, bias=None, dropout_p=0.0, dropout_seed=0)


def formula(q, k, v, pattern, scale=None):
    """softmax(q k^T * scale) v, written out in whatever precision the inputs have."""
    n_shared = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(n_shared, 1), v.repeat_interleave(n_shared, 1)
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    seen = pattern.mask(q.shape[2], k.shape[2], device=q.device)
    # A row that sees nothing gets equal weights from the softmax, and the second factor clears them.
    return (scores.masked_fill(~seen, torch.finfo(q.dtype).min).softmax(-1) * seen) @ v


def draw(heads, lengths, head_dim, dtype=torch.float32, batch=1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    (n_heads, n_kv_heads), (n_queries, n_keys) = heads, lengths
    shapes = [(n_heads, n_queries), (n_kv_heads, n_keys), (n_kv_heads, n_keys), (n_heads, n_queries)]
    draws = (torch.randn(batch, h, length, head_dim, generator=generator) for h, length in shapes)
    return [x.to(DEVICE, dtype) for x in draws]


def with_gradients(attend, q, k, v, grad, *args):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    out = attend(q, k, v, *args)
    return [out.detach(), *torch.autograd.grad(out, (q, k, v), grad)]


def errors(results, exact):
    return [
        ((x.double() - y).norm() / y.norm().clamp(min=1e-9)).item()
        for x, y in zip(results, exact, strict=True)
    ]


@pytest.mark.skipif(
    not INTERPRETED and not torch.cuda.is_available(),
    reason="no CUDA GPU here; test_kernels_in_the_interpreter runs these tests on the CPU, without bfloat16",
)
@pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning")  # interpreter of Triton 3.6
class TestKernels:
    @pytest.mark.parametrize(("name", "heads", "lengths", "head_dim"), CASES)
    @pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
    def test_output_and_gradients_are_as_exact_as_the_formula(self, dtype, name, heads, lengths, head_dim):
        if INTERPRETED and dtype == torch.bfloat16:
            pytest.skip("Triton's interpreter multiplies bfloat16 wrongly; it is checked on a CUDA GPU")
        lengths = tuple(n * LONGER for n in lengths)
        inputs, pattern = draw(heads, lengths, head_dim, dtype), PATTERNS[name]
        exact = with_gradients(formula, *(x.double() for x in inputs), pattern)
        ours = errors(with_gradients(flash, *inputs, pattern), exact)
        plain = errors(with_gradients(formula, *inputs, pattern), exact)
        for quantity, error, allowed in zip(("out", "dq", "dk", "dv"), ours, plain, strict=True):
            assert error <= 2 * allowed + 1e-7, f"{quantity}: error {error:.2e}, formula {allowed:.2e}"

    def test_equals_the_reference_of_the_package(self):
        q, k, v, grad = draw((4, 2), (50, 70), 32, batch=2)
        options = {"scale": 0.3, "bias": None, "dropout_p": 0.0, "dropout_seed": 0}
        runs = (lambda *x: flash_triton.run(*x, **options), lambda *x: reference.run(*x, **options))
        ours, theirs = (with_gradients(run, q, k, v, grad, causal()) for run in runs)
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("n_keys", [37, 16])
    def test_rows_that_see_nothing_are_zero_and_pass_no_gradient(self, n_keys):
        n_queries = 90
        inputs = draw((2, 1), (n_queries, n_keys), 32)
        out, grad_q, grad_k, grad_v = with_gradients(flash, *inputs, causal())
        assert not out[:, :, : n_queries - n_keys].any()
        assert not grad_q[:, :, : n_queries - n_keys].any()
        assert all(x.isfinite().all() for x in (out, grad_q, grad_k, grad_v))
        assert out[:, :, n_queries - n_keys :].all()

    def test_saved_logarithm_is_that_of_the_softmax_denominator(self):
        from coursepkg.attention.triton_launch import forward

        q, k, v, _ = draw((2, 2), (50, 40), 32)
        _, lse = forward(q, k, v, causal().band, 0.5)
        scores = (q.double() @ k.double().mT * 0.5).masked_fill(
            ~causal().mask(50, 40, device=DEVICE), -math.inf
        )
        expected = scores.logsumexp(-1).float()
        assert (lse[:, :, :10] == -math.inf).all()
        torch.testing.assert_close(lse[:, :, 10:] * math.log(2), expected[:, :, 10:])

    def test_large_scores_do_not_overflow(self):
        q, k, v, grad = draw((2, 2), (40, 40), 32)
        exact = with_gradients(formula, *(x.double() for x in (q * 100, k * 100, v, grad)), causal())
        ours = with_gradients(flash, q * 100, k * 100, v, grad, causal())
        assert all(x.isfinite().all() for x in ours)
        assert errors(ours, exact)[0] < 1e-4

    @pytest.mark.parametrize("scale", [-0.5, 0.0, 2.0])
    def test_any_scale(self, scale):
        q, k, v, grad = draw((2, 1), (40, 50), 32)
        exact = with_gradients(formula, *(x.double() for x in (q, k, v, grad)), causal(), scale)
        assert max(errors(with_gradients(flash, q, k, v, grad, causal(), scale), exact)) < 1e-5

    def test_a_scale_of_numpy_is_a_number(self):
        q, k, v, _ = draw((1, 1), (16, 16), 16)
        ours, same = (attention(q, k, v, impl="triton", scale=scale) for scale in (np.float32(0.5), 0.5))
        assert torch.equal(ours, same)

    def test_strided_inputs_equal_contiguous_ones(self):
        q, k, v, grad = draw((2, 2), (48, 48), 32, batch=2)
        packed = torch.stack(
            [x.transpose(1, 2) for x in (q, k, v)], dim=2
        )  # (B, T, 3, H, D), as one projection
        views = [x.transpose(1, 2) for x in packed.unbind(2)]
        columns = [x.mT.contiguous().mT for x in (q, k, v, grad)]  # numbers of one head lie far apart
        expected = with_gradients(flash, q, k, v, grad, causal())
        for inputs in ([*views, grad], columns):
            assert not any(x.is_contiguous() for x in inputs[:3])
            for strided, contiguous in zip(with_gradients(flash, *inputs, causal()), expected, strict=True):
                assert torch.equal(strided, contiguous)

    def test_broadcast_gradient(self):
        q, k, v, _ = draw((2, 2), (40, 40), 32)
        q.requires_grad_()
        flash(q, k, v, causal()).sum().backward()
        exact = with_gradients(
            formula, *(x.detach().double() for x in (q, k, v, torch.ones_like(q))), causal()
        )
        assert errors([q.grad], exact[1:2])[0] < 1e-5

    @pytest.mark.filterwarnings("ignore:All-NaN slice")
    def test_tiles_outside_the_band_are_not_read(self):
        n, half = 160 * LONGER, 64 * LONGER
        pattern = causal() & sliding_window(16)
        far = half + 128 + 16  # no tile is longer than 128
        inputs = draw((2, 1), (n, n), 32)
        clean = with_gradients(flash, *inputs, pattern)
        if INTERPRETED:
            far = half + 32 + 16
        q, k, v, grad = (x.clone() for x in inputs)
        k[:, :, :half] = v[:, :, :half] = math.nan
        out, grad_q, _, _ = with_gradients(flash, q, k, v, grad, pattern)
        assert torch.equal(out[:, :, far:], clean[0][:, :, far:])
        assert torch.equal(grad_q[:, :, far:], clean[1][:, :, far:])
        q, k, v, grad = (x.clone() for x in inputs)
        q[:, :, far:] = grad[:, :, far:] = math.nan
        _, _, grad_k, grad_v = with_gradients(flash, q, k, v, grad, pattern)
        assert torch.equal(grad_k[:, :, :half], clean[2][:, :, :half])
        assert torch.equal(grad_v[:, :, :half], clean[3][:, :, :half])

    def test_no_second_derivative(self):
        q, k, v, _ = draw((1, 1), (20, 20), 32)
        q.requires_grad_()
        (grad,) = torch.autograd.grad(
            flash(q, k, v), q, torch.ones_like(q).requires_grad_(), create_graph=True
        )
        with pytest.raises(RuntimeError, match="once_differentiable"):
            grad.sum().backward()

    @pytest.mark.skipif(not INTERPRETED, reason="bfloat16 works on a CUDA GPU")
    def test_interpreter_refuses_bfloat16(self):
        with pytest.raises(ValueError, match=r"q must be float16 or float32 under TRITON_INTERPRET=1"):
            flash(*draw((1, 1), (4, 4), 32, torch.bfloat16)[:3])


@pytest.mark.skipif(INTERPRETED, reason="this is the interpreter")
def test_kernels_in_the_interpreter():
    pytest.importorskip("triton", reason="triton is not installed; pip install triton")
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider"]
    child = subprocess.run(
        [*command, f"{__file__}::TestKernels"],
        env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    assert " passed" in child.stdout


class Hopper:
    """Stands in for the GPU driver, so that the compiler has a target: an H100 or H200 that is not there."""

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 99

    def get_current_stream(self, device):
        return 0


@pytest.mark.skipif(INTERPRETED, reason="the interpreter does not compile")
def test_kernels_compile_for_hopper_and_use_its_tensor_cores(tmp_path, monkeypatch):
    """The interpreter accepts more than the compiler does, and knows nothing of shared memory."""
    triton = pytest.importorskip("triton", reason="triton is not installed; pip install triton")
    from coursepkg.attention import triton_launch

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(triton_launch, "tiles_for", lambda q: triton_launch.LARGE_HALF[q.shape[-1]])
    compiled = []
    monkeypatch.setattr(
        triton.runtime.JITFunction,
        "__getitem__",
        lambda kernel, grid: (
            lambda *args, **kwargs: compiled.append(kernel.warmup(*args, grid=grid, **kwargs))
        ),
    )
    q, k = (
        torch.empty(1, 4, 4096, 64, dtype=torch.bfloat16),
        torch.empty(1, 2, 4096, 64, dtype=torch.bfloat16),
    )
    monkeypatch.setattr(triton.runtime.driver, "_active", Hopper())
    band = (causal() & sliding_window(1024)).band
    out, lse = triton_launch.forward(q, k, k, band, 0.125)
    triton_launch.backward(q, k, k, out, lse, out, band, 0.125)
    forward, delta, query_gradient, key_value_gradient = compiled
    for kernel in (forward, query_gradient, key_value_gradient):
        assert "wgmma" in kernel.asm["ptx"]
        assert "cp.async" in kernel.asm["ptx"]
        assert kernel.metadata.shared <= 227 * 1024
    assert "wgmma" not in delta.asm["ptx"]


def test_importing_does_not_import_triton():
    code = "import sys, coursepkg.attention.flash_triton; sys.exit('triton' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pattern": global_tokens(1)}, r"pattern must be full, causal or sliding window .* global_tokens"),
        ({"bias": torch.zeros(1)}, r"bias must be None"),
        ({"dropout_p": 0.1}, r"dropout_p 0"),
        ({"dtype": torch.float64}, r"q must be float16, bfloat16 or float32 .* got torch.float64"),
        ({"head_dim": 129}, r"head dim 128 at most .* head dim 129"),
    ],
)
def test_what_the_kernels_lack_is_said(changes, message):
    x = torch.zeros(1, 1, 4, changes.pop("head_dim", 32), dtype=changes.pop("dtype", torch.float32))
    options = {"scale": 1.0, "bias": None, "dropout_p": 0.0, "dropout_seed": 0, "pattern": None} | changes
    with pytest.raises(ValueError, match=message):
        flash_triton.run(x, x, x, **options)


def test_cpu_tensors_need_the_interpreter(monkeypatch):
    pytest.importorskip("triton", reason="triton is not installed; pip install triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    x = torch.zeros(1, 1, 4, 32)
    with pytest.raises(
        ValueError, match=r"cannot run here: .* got cpu tensors; move them, or .*TRITON_INTERPRET=1"
    ):
        flash(x, x, x)


def test_missing_triton_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(flash_triton, "find_spec", lambda name: None)
    assert "pip install 'triton>=3.3'" in flash_triton.unavailable()


def test_an_old_triton_is_named_with_what_is_needed(monkeypatch):
    pytest.importorskip("triton", reason="triton is not installed; pip install triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(flash_triton, "version", lambda name: "3.2.0")
    assert "triton 3.2 cannot launch them; it needs 3.3 or newer" in flash_triton.unavailable(
        torch.device("cuda")
    )


def test_a_triton_of_another_package_is_asked_itself(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    build = SimpleNamespace(__version__="3.4.0+git1234")
    monkeypatch.setattr(flash_triton, "version", missing)
    monkeypatch.setattr(flash_triton, "import_module", {"triton": build}.__getitem__)
    assert flash_triton._installed_triton() == (3, 4)


def test_missing_gpu_is_named(monkeypatch):
    pytest.importorskip("triton", reason="triton is not installed; pip install triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "torch sees none" in flash_triton.unavailable(torch.device("cuda"))
