"""Four numbers at a time, however short a row is: compilers vectorise long loops only, and most systems are small.

Rows that are worked on in this way begin at a multiple of `LANES` and have room for whole groups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 4
"""Numbers in a group: a register of most processors, two registers of the others."""

_GROUP = ir.VectorType(ir.DoubleType(), LANES)


def padded_size(count: int) -> int:
    """The least multiple of LANES that has room for `count` numbers."""
    return (count + LANES - 1) // LANES * LANES


def _group(builder: Any, address: Any, kind: Any = _GROUP) -> tuple[Any, Any]:
    """(where, what): a group of numbers in memory, which need not be aligned."""
    pointer = builder.inttoptr(address, kind.as_pointer())
    value = builder.load(pointer)
    value.align = 8
    return pointer, value


def _store(builder: Any, value: Any, pointer: Any) -> None:
    """Write a group to memory."""
    builder.store(value, pointer).align = 8


def _broadcast(builder: Any, number: Any, kind: Any = _GROUP) -> Any:
    """The group of `number` in every place."""
    group = ir.Constant(kind, ir.Undefined)
    for i in range(kind.count):
        group = builder.insert_element(group, number, ir.Constant(ir.IntType(32), i))
    return group


def _add(typing_context, target, factor, source):
    def code(context, builder, signature, args):
        pointer, value = _group(builder, args[0])
        _, other = _group(builder, args[2])
        product = builder.fmul(_broadcast(builder, args[1]), other, flags=("contract",))
        _store(builder, builder.fadd(value, product, flags=("contract",)), pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64, types.int64), code


def _add_all(groups: int) -> Callable[..., Any]:
    """The intrinsic that adds many rows to `groups` groups, which stay in registers meanwhile."""
    kind = ir.VectorType(ir.DoubleType(), groups * LANES)

    def add_rows(typing_context, target, count, factors, next_factor, source, next_source):
        def code(context, builder, signature, args):
            target, count, factors, next_factor, source, next_source = args
            pointer, value = _group(builder, target, kind)
            total = cgutils.alloca_once_value(builder, value)
            with cgutils.for_range(builder, count) as step:
                at = builder.add(factors, builder.mul(step.index, next_factor))
                factor = builder.load(builder.inttoptr(at, ir.DoubleType().as_pointer()))
                _, other = _group(builder, builder.add(source, builder.mul(step.index, next_source)), kind)
                product = builder.fmul(_broadcast(builder, factor, kind), other, flags=("contract",))
                builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            _store(builder, builder.load(total), pointer)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6), code

    return intrinsic(add_rows)


def _add_squares(typing_context, target, factor, source):
    def code(context, builder, signature, args):
        pointer, value = _group(builder, args[0])
        _, other = _group(builder, args[2])
        product = builder.fmul(_broadcast(builder, args[1]), builder.fmul(other, other), flags=("contract",))
        _store(builder, builder.fadd(value, product, flags=("contract",)), pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64, types.int64), code


def _scale(typing_context, target, factor):
    def code(context, builder, signature, args):
        pointer, value = _group(builder, args[0])
        _store(builder, builder.fmul(_broadcast(builder, args[1]), value), pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64), code


add: Callable[..., Any] = intrinsic(_add)
"""add(target, factor, source): the group at the address `target` grows by `factor` times that at `source`."""

add_rows = _add_all(1)
"""add_rows(target, count, factors, next_factor, source, next_source): the group at `target` grows by `count` groups
from `source` on, each times its factor; from one to the next it is so many bytes."""

add_rows_wide = _add_all(4)
"""The same for four groups side by side, which keeps the processor busier."""

WIDE = 4 * LANES

add_squares: Callable[..., Any] = intrinsic(_add_squares)
"""add_squares(target, factor, source): the group at `target` grows by `factor` times the squares at `source`."""

scale: Callable[..., Any] = intrinsic(_scale)
"""scale(target, factor): the group at `target` is multiplied by `factor`."""
