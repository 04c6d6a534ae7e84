"""Calling machine code over a batch: pointers and strides from arrays, threads where the batch is large.

The function called is `int64 f(int64 n, const double *const *in, const int64 *in_stride, double *const *out)`, which
returns 1 if an input was not finite. ctypes lets go of Python's lock during the call. Samples do not influence each
other, so the result has the same bits for any number of threads.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import itertools
import os
from collections.abc import Callable, Sequence

import numpy as np

from ..graph import Program
from .kernel import Floats

GRAIN = 10_000_000
"""Rows times samples for one thread: about 1 ms of vector code. Two threads took 0.19 ms to start and to join on a busy
machine, so a batch is not shared unless that is a small part of it."""

BATCH_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def run_batch(
    program: Program, function: Callable[..., int], arrays: Sequence[Floats], batch: int, workers: int
) -> tuple[list[Floats], bool]:
    """(each output as (batch, size), whether all inputs were finite), by `function` on at most `workers` threads."""
    results = [np.empty((batch, len(o.slots))) for o in program.outputs]
    strides = [a.strides[0] if a.ndim == 2 else 0 for a in arrays]
    doubles = (ctypes.c_int64 * len(strides))(*(s // 8 for s in strides))
    sources = [a.ctypes.data for a in arrays]
    targets = [r.ctypes.data for r in results]
    steps = [8 * len(o.slots) for o in program.outputs]

    def part(bounds: tuple[int, int]) -> int:
        start, stop = bounds
        inputs = (ctypes.c_void_p * len(sources))(*(p + start * s for p, s in zip(sources, strides, strict=True)))
        outputs = (ctypes.c_void_p * len(targets))(*(p + start * s for p, s in zip(targets, steps, strict=True)))
        return function(stop - start, inputs, doubles, outputs)

    threads = min(workers, batch * (len(program.rows) + 1) // GRAIN)
    if threads <= 1:
        return results, not part((0, batch))
    edges = [batch * k // threads for k in range(threads + 1)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        bad = list(pool.map(part, itertools.pairwise(edges)))
    return results, not any(bad)


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux restricts a process to some cores this way
        return os.cpu_count() or 1
