"""The WebAssembly backend: programs and compiled loops as modules that a browser or Node runs.

LLVM's own wasm32 target makes a relocatable object of LLVM text (`machine`); `linking` makes a module of it. A module
takes everything it needs from outside, so that several share one memory: `env.__linear_memory`, the table of functions
`env.__indirect_function_table`, the stack pointer `env.__stack_pointer`, and the functions of `LIBRARY`. An address of
data is a place in that memory, an address of a function its place in the table.

Programs give the bits that they give natively: where this machine fuses products and sums, so does a function that
stands for the instruction that WebAssembly has not (`fused`). Sine and cosine are ours (`llvm/trig.py`); others
are those of the host's `Math`, whose last digits may differ.
"""

from __future__ import annotations

from ...graph import Program
from .. import cache
from ..llvm.machine import host
from ..llvm.rows import definitions, function
from ..llvm.writer import Lanes, Writer
from .fused import replace_fma
from .linking import LIBRARY, WasmModule, link
from .machine import assemble, fingerprint

FLAT = "flat"
"""The name under which the module of a program exports it: `void flat(const double *in, double *out, int64)`."""


def _lanes() -> Lanes:
    return Lanes(1, fma=host().fma, heap=False)


def program_text(program: Program) -> str:
    """The LLVM text of a program. Its third argument, memory of a run's own, is for those that call any program in the
    same way: WebAssembly checks the types of a call, where machine code never looks."""
    lanes = _lanes()
    outer = Writer(lanes)
    outer.do("call void @body(ptr %in, ptr %out, ptr null)")
    outer.do("ret void")
    text = definitions(program, lanes) + function(program, lanes, "body")
    return replace_fma(text) + outer.text(f"define void @{FLAT}(ptr %in, ptr %out, i64 %memory) nounwind")


def compile_wasm(program: Program) -> WasmModule:
    """The module of `program`, from the cache if it has been compiled before."""
    key = cache.key(fingerprint(), b"wasm", bytes([host().fma]), str(program).encode())
    code = cache.load(key)
    if code is None:
        code = assemble(program_text(program))
        cache.save(key, code)
    return link(code, (FLAT,))


__all__ = [
    "FLAT",
    "LIBRARY",
    "WasmModule",
    "assemble",
    "compile_wasm",
    "fingerprint",
    "link",
    "program_text",
    "replace_fma",
]
