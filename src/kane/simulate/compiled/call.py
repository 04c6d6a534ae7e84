"""Calling a flat program by its address from compiled code, and how the loops are compiled and cached."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

loop: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
"""How a loop is compiled: kept on disk, other threads may run, a division by zero gives inf or nan."""

compiled: Callable[..., Any] = njit(error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""How its parts are compiled: for calls from compiled code only. Leaving out what Python would need to call them saves
most of the time that the first compilation takes."""


@intrinsic
def call(typing_context, address, inputs, outputs, offset):
    """Run the program at `address`: it reads `inputs` from their start and writes `outputs` from `offset` on."""

    def code(context, builder, signature, args):
        number = ir.DoubleType().as_pointer()
        pointer = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [number, number]).as_pointer())
        source = context.make_array(signature.args[1])(context, builder, args[1]).data
        target = context.make_array(signature.args[2])(context, builder, args[2]).data
        builder.call(pointer, [source, builder.gep(target, [args[3]])])
        return context.get_dummy_value()

    return types.void(types.int64, inputs, outputs, types.intp), code


def source_digest() -> int:
    """A number that changes when any source file of the loops does.

    numba decides by the file of the outermost function alone whether its cached code is still good. Loops close over
    this number, which numba counts as part of them, so a change in any file they are made of is noticed.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:7], "big")
