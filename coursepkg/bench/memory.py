"""Peak extra memory of a piece of work, counted at the allocator.

On the CPU every allocation and every release passes through torch's allocator, and the profiler reports each with
its size. The running sum of these sizes has a highest point: the peak. Views and `out=` buffers allocate nothing
and so count nothing; temporaries inside C++ kernels count, although no Python object ever stands for them.
"""

import os
from collections.abc import Callable
from itertools import accumulate

import torch
from torch.profiler import ProfilerActivity, profile


def peak_bytes(work: Callable[[], object], device: torch.device | str = "cpu") -> int:
    """Largest number of bytes that torch held, at any moment of `work()`, beyond what it held before.

    Tensors that existed before are not counted, not even when `work` releases them on the CPU. What `work` returns
    is alive until it has ended, so it counts. On CUDA the figure comes from `torch.cuda.max_memory_allocated`, whose
    allocator rounds each block up to 512 bytes; on the CPU it is exact.

    Args:
        work: a function of no arguments; it runs once.
        device: where the tensors of `work` live, "cpu" or a CUDA device.

    Raises:
        ValueError: the device is neither the CPU nor CUDA.
    """
    kind = torch.device(device).type
    if kind == "cpu":
        return _peak_on_cpu(work)
    if kind == "cuda":
        return _peak_on_cuda(work, torch.device(device))
    raise ValueError(f"device must be 'cpu' or 'cuda' to measure memory, got {str(device)!r}")


def _peak_on_cpu(work: Callable[[], object]) -> int:
    # Without this the profiler's backend writes two lines to stderr at every run; it reads the variable once.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        work()
    results = record.profiler and record.profiler.kineto_results
    assert results
    changes = [(event.start_ns(), event.nbytes()) for event in results.events() if event.name() == "[memory]"]
    changes.sort(key=lambda change: change[0])
    return max(accumulate((n_bytes for _, n_bytes in changes), initial=0))


def _peak_on_cuda(work: Callable[[], object], device: torch.device) -> int:
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    work()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) - before
