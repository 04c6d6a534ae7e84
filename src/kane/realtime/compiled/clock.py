"""The clock of the loop that keeps time, and memory that other threads see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ...simulate.compiled.call import part, wholes

MONOTONIC = 1
"""The clock that no one sets, of clock_gettime."""

BILLION = 1_000_000_000


def _load(typing_context, address):
    def code(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(types.int64), code


def _store(typing_context, address, value):
    def code(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        builder.store_atomic(args[1], pointer, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _clock(typing_context, function, clock, moment):
    def code(context, builder, signature, args):
        whole, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(whole, [whole, pointer])
        address = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(address, [builder.trunc(args[1], whole), builder.inttoptr(args[2], pointer)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


def _sleep(typing_context, function, moment):
    def code(context, builder, signature, args):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [pointer, pointer])
        address = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(address, [builder.inttoptr(args[1], pointer), ir.Constant(pointer, None)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


load: Callable[..., Any] = intrinsic(_load)
"""load(address): a whole number that another thread may be writing."""
store: Callable[..., Any] = intrinsic(_store)
"""store(address, value): a whole number that another thread may be reading."""
read_clock: Callable[..., Any] = intrinsic(_clock)
sleep_for: Callable[..., Any] = intrinsic(_sleep)


@part
def now(k):
    """The time of the clock, ns."""
    read_clock(k.clock, MONOTONIC, k.moment)
    moment = wholes(k.moment)
    return moment[0] * BILLION + moment[1]


@part
def sleep_until(k, due):
    """Sleep until the clock shows `due` (ns), or a little longer: sleep ends late."""
    left = due - now(k)
    while left > 0:
        moment = wholes(k.moment)
        moment[0], moment[1] = left // BILLION, left % BILLION
        sleep_for(k.sleep, k.moment)
        left = due - now(k)


@part
def watch_until(k, due):
    """Watch the clock until it shows `due` (ns)."""
    while now(k) < due:
        pass
