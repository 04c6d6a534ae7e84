"""Calling a flat program and reaching an array by address from compiled code; how parts of loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, njit, types
from numba.extending import intrinsic

from .parts import part_compiler

PART: dict[str, Any] = {
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "no_rewrites": True,
    "pipeline_class": part_compiler,
}
"""Options of a part."""

part: Callable[..., Any] = njit(**PART)
"""How the parts of a loop are compiled: for calls from compiled code only. Leaving out what Python would need to call
them, and machine code of their own, saves most of the time that the first compilation takes. There is nothing in them
to rewrite: no arrays, no exceptions."""

inline_part: Callable[..., Any] = njit(**PART, forceinline=True)
"""A part that is copied into whatever calls it, since LLVM would judge it too long and calling it takes as long as what
it does."""


def _call(typing_context, address, source, target):

    def code(context, builder, signature, args):
        number, whole = ir.DoubleType().as_pointer(), ir.IntType(64)
        program = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [number, number, whole]).as_pointer())
        source, target = builder.inttoptr(args[1], number), builder.inttoptr(args[2], number)
        builder.call(program, [source, target, whole(0)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


def _call_with(typing_context, address, memory, source, target):

    def code(context, builder, signature, args):
        number, whole = ir.DoubleType().as_pointer(), ir.IntType(64)
        program = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [number, number, whole]).as_pointer())
        builder.call(program, [builder.inttoptr(args[2], number), builder.inttoptr(args[3], number), args[1]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), code


call: Callable[..., Any] = intrinsic(_call)
"""call(address, source, target): run the program at `address`, which reads from the address `source` on and writes from
the address `target` on. A third argument is passed as by `call_with`, since WebAssembly lets all programs be called in
one way only."""

call_with: Callable[..., Any] = intrinsic(_call_with)
"""call_with(address, memory, source, target): the same for a program that may work in memory of the run's own, whose
address is its third argument. A program without one never looks at that register."""


def _solve_by(typing_context, address, task, k, first, rows, kinds, mu, e, n, w, b, r, work):
    def code(context, builder, signature, args):
        whole = ir.IntType(64)
        solver = builder.inttoptr(args[0], ir.FunctionType(ir.DoubleType(), [whole] * 12).as_pointer())
        return builder.call(solver, list(args[1:]))

    return types.float64(*[types.int64] * 13), code


solve_by: Callable[..., Any] = intrinsic(_solve_by)
"""solve_by(address, task, k, first, rows, kinds, mu, e, n, w, b, r, work): what the program of contact problems and
impacts at `address` (`contact_programs.contact_program`) returns."""


def _stay_separate(typing_context):
    def code(context, builder, signature, args):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), code


stay_separate: Callable[..., Any] = intrinsic(_stay_separate)
"""stay_separate(), said within a part: it is never copied into what calls it. A long part that is called from several
places would otherwise be optimised as often."""


def _crossings(typing_context, address, memory, h):
    def code(context, builder, signature, args):
        whole = ir.IntType(64)
        search = builder.inttoptr(args[0], ir.FunctionType(whole, [whole, ir.DoubleType()]).as_pointer())
        return builder.call(search, [builder.ptrtoint(args[1], whole), args[2]])

    return types.int64(types.int64, memory, types.float64), code


crossings: Callable[..., Any] = intrinsic(_crossings)
"""crossings(address, memory, h): what the program at `address` (`events.watch`) finds in a step of length h."""


def _transit(typing_context, address, memory, own, at_start):
    def code(context, builder, signature, args):
        whole = ir.IntType(64)
        change = builder.inttoptr(args[0], ir.FunctionType(whole, [whole, whole, whole]).as_pointer())
        return builder.call(change, [builder.ptrtoint(args[1], whole), args[2], args[3]])

    return types.int64(types.int64, memory, types.int64, types.int64), code


transit: Callable[..., Any] = intrinsic(_transit)
"""transit(address, memory, own, at_start): change the constraints of the motion in a loop's memory, by the program at
`address` (`transitions.transition_program`), which works in memory of its own."""


def _pointer(kind: types.Type) -> Callable[..., Any]:
    """An intrinsic that turns an address into a pointer to values of `kind`."""

    def to_pointer(typing_context, address):
        def code(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), code

    return intrinsic(to_pointer)


reals = _pointer(types.float64)
"""The array of float64 at an address."""
wholes = _pointer(types.int64)
"""The array of int64 at an address."""
complexes = _pointer(types.complex128)
"""The array of complex128 at an address."""


def record_of(memory: np.dtype) -> Callable[..., Any]:
    """An intrinsic that turns an address into the record of type `memory` that is there."""
    kind = from_dtype(memory)

    def to_pointer(typing_context, address):
        def code(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return kind(types.int64), code

    return intrinsic(to_pointer)
