"""The LLVM backend: programs as machine code, one sample at a time and in vectors over a batch.

`writer` writes instructions, `trig` sine and cosine, `rows` a program, `batch` the loop over samples, `entry` the way
in from Python and `python` what that stands on; `machine` compiles, loads and caches. The way in from Python is made at
once and quickly, with a scalar function of its own; the scalar function for loops when its address is asked for, the
vector function when a batch first comes or its address is.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any

from ...graph import Program
from .. import native
from ..kernel import LANES, Call, Floats, Kernel
from .batch import batch_loop
from .entry import CONTEXT, HELD, entry, has_entry
from .machine import QUICK, Library, host, library
from .python import builtin, context
from .rows import definitions, function
from .writer import Lanes, Writer


def flat_text(program: Program, lanes: Lanes) -> str:
    """The module of the function `flat`, of one sample or of as many as there are lanes."""
    outer = Writer(lanes)
    outer.do("call void @body(ptr %in, ptr %out, ptr null)")
    outer.do("ret void")
    text = definitions(program, lanes) + function(program, lanes, "body")
    return text + outer.text("define void @flat(ptr %in, ptr %out) nounwind")


def entry_text(program: Program, lanes: Lanes) -> str:
    """The module of the Python entry."""
    text = definitions(program, lanes, quick=True) + function(program, lanes, "body", quick=True)
    return text + entry(program, "entry", "body")


def batch_text(program: Program, lanes: Lanes) -> str:
    """The module of the function `batch`."""
    return definitions(program, lanes) + function(program, lanes, "body") + batch_loop(program, lanes, "batch", "body")


class LLVMCode:
    """Machine code of a program: scalar and batch functions when they are needed."""

    __slots__ = (
        "_batch",
        "_batch_function",
        "_context",
        "_entry",
        "_flat",
        "_lanes",
        "_lock",
        "_program",
        "_text",
        "workers",
    )

    def __init__(self, program: Program, workers: int):
        self._program = program
        self._text = str(program)
        self._lock = threading.Lock()
        self._batch: Library | None = None
        self._batch_function: Any = None
        self._context: Any = None
        self._flat: Library | None = None
        self._lanes: Library | None = None
        self._entry: Library | None = None
        self.workers = workers

    @property
    def address(self) -> int:
        with self._lock:
            if self._flat is None:
                self._flat = library(self._text, "flat", lambda: flat_text(self._program, Lanes(1, host().fma)))
            return self._flat.address("flat")

    @property
    def lanes_address(self) -> int:
        with self._lock:
            if self._lanes is None:
                lanes = Lanes(LANES, host().fma)
                self._lanes = library(self._text, f"lanes{LANES}", lambda: flat_text(self._program, lanes))
            return self._lanes.address("flat")

    @property
    def batch_address(self) -> int:
        self._ready_for_batches()
        return ctypes.cast(self._batch_function, ctypes.c_void_p).value or 0

    def _ready_for_batches(self) -> None:
        with self._lock:
            if self._batch_function is None:
                h = host()
                lanes = Lanes(h.width, h.fma)
                self._batch = library(self._text, f"batch{h.width}", lambda: batch_text(self._program, lanes))
                self._batch_function = native.BATCH_FUNCTION(self._batch.address("batch"))
                if self._context is not None:
                    self._context[CONTEXT.index("batch")] = self._batch.address("batch")

    def python_entry(self) -> int | None:
        """Address of the entry from Python, None where there is none."""
        known = context() if has_entry(self._program) else None
        if known is None:
            return None
        lanes = Lanes(1, host().fma)
        self._entry = library(self._text, "entry", lambda: entry_text(self._program, lanes), QUICK)
        self._context = (ctypes.c_void_p * len(CONTEXT)).from_address(self._entry.data_address("context"))
        self._context[:] = (*known, None, HELD // (len(self._program.rows) + 1))
        return self._entry.address("entry")

    def run(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        self._ready_for_batches()
        return native.run_batch(self._program, self._batch_function, arrays, batch, self.workers)


def compile_llvm(program: Program, workers: int | None = None) -> Kernel:
    """The kernel of `program` as machine code; large batches are shared by `workers` threads, one per core if None."""
    code = LLVMCode(program, native.cores() if workers is None else workers)
    call = Call(program, code)
    address = code.python_entry()
    return Kernel(program, "llvm", code, call if address is None else builtin(address, call))
