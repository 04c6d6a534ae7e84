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

from ...backends.llvm.machine import host

LANES = 4
"""Numbers in a group: a register of most processors, two registers of the others."""

WIDE = 4 * LANES
"""Numbers in four groups side by side, which keep the processor busier."""

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


def _fuse(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """x y + z, rounded once if the processor can, else twice: said, not left to the compiler, so that the loop does the
    same wherever it is translated to."""
    if host().fma:
        kind = x.type
        intrinsic = ir.FunctionType(kind, [kind] * 3)
        return builder.call(
            cgutils.get_or_insert_function(builder.module, intrinsic, f"llvm.fma.v{kind.count}f64"), [x, y, z]
        )
    return builder.fadd(builder.fmul(x, y), z)


def _add(typing_context, target, factor, source):
    def code(context, builder, signature, args):
        pointer, value = _group(builder, args[0])
        _, other = _group(builder, args[2])
        _store(builder, _fuse(builder, _broadcast(builder, args[1]), other, value), pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64, types.int64), code


def _add_two(typing_context, target, factor, source, other_factor, other_source):
    def code(context, builder, signature, args):
        pointer, value = _group(builder, args[0])
        for factor, source in (args[1:3], args[3:5]):
            value = _fuse(builder, _broadcast(builder, factor), _group(builder, source)[1], value)
        _store(builder, value, pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64, types.int64, types.float64, types.int64), code


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
                builder.store(_fuse(builder, _broadcast(builder, factor, kind), other, builder.load(total)), total)
            _store(builder, builder.load(total), pointer)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6), code

    return intrinsic(add_rows)


def _half_sum(builder: Any, value: Any) -> Any:
    """The sum of the two halves of a group, half as long."""
    half = value.type.count // 2
    places = ir.VectorType(ir.IntType(32), half)
    chosen = (ir.Constant(places, list(range(start, start + half))) for start in (0, half))
    return builder.fadd(*(builder.shuffle_vector(value, value, which) for which in chosen))


def _product(typing_context, count, x, y):
    def code(context, builder, signature, args):
        count, x, y = args
        word, done = ir.IntType(64), ir.Constant(ir.IntType(64), 0)
        value: Any = ir.Constant(ir.VectorType(ir.DoubleType(), WIDE), [0.0] * WIDE)
        for lanes in (WIDE, LANES):
            kind = ir.VectorType(ir.DoubleType(), lanes)
            while value.type.count > lanes:
                value = _half_sum(builder, value)
            total = cgutils.alloca_once_value(builder, value)
            groups = builder.sdiv(builder.sub(count, done), word(lanes))
            with cgutils.for_range(builder, groups) as step:
                at = builder.mul(builder.add(done, builder.mul(step.index, word(lanes))), word(8))
                pair = [_group(builder, builder.add(source, at), kind)[1] for source in (x, y)]
                builder.store(builder.fadd(builder.load(total), builder.fmul(*pair)), total)
            done, value = builder.add(done, builder.mul(groups, word(lanes))), builder.load(total)
        value = _half_sum(builder, _half_sum(builder, value))
        total = cgutils.alloca_once_value(builder, builder.extract_element(value, ir.Constant(ir.IntType(32), 0)))
        with cgutils.for_range(builder, builder.sub(count, done)) as step:
            at = builder.mul(builder.add(done, step.index), word(8))
            pointers = [builder.inttoptr(builder.add(source, at), ir.DoubleType().as_pointer()) for source in (x, y)]
            product = builder.fmul(*(builder.load(pointer) for pointer in pointers))
            builder.store(builder.fadd(builder.load(total), product), total)
        return builder.load(total)

    return types.float64(*[types.int64] * 3), code


def _add_squares(typing_context, target, factor, source):
    def code(context, builder, signature, args):
        pointer, value = _group(builder, args[0])
        _, other = _group(builder, args[2])
        _store(builder, _fuse(builder, _broadcast(builder, args[1]), builder.fmul(other, other), value), pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64, types.int64), code


def _scale(typing_context, target, factor):
    def code(context, builder, signature, args):
        pointer, value = _group(builder, args[0])
        _store(builder, builder.fmul(_broadcast(builder, args[1]), value), pointer)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64), code


def _move(typing_context, source, target):
    def code(context, builder, signature, args):
        _, value = _group(builder, args[0])
        _store(builder, value, builder.inttoptr(args[1], _GROUP.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _clear(typing_context, target):
    def code(context, builder, signature, args):
        _store(builder, ir.Constant(_GROUP, [0.0] * LANES), builder.inttoptr(args[0], _GROUP.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64), code


clear: Callable[..., Any] = intrinsic(_clear)
"""clear(target): make a group zero."""

move: Callable[..., Any] = intrinsic(_move)
"""move(source, target): copy a group from one address to another."""

add: Callable[..., Any] = intrinsic(_add)
"""add(target, factor, source): the group at the address `target` grows by `factor` times that at `source`."""

add_two: Callable[..., Any] = intrinsic(_add_two)
"""add_two(target, factor, source, other_factor, other_source): the same with two groups, one after the other."""

add_rows = _add_all(1)
"""add_rows(target, count, factors, next_factor, source, next_source): the group at `target` grows by `count` groups
from `source` on, each times its factor; from one to the next it is so many bytes."""

add_rows_wide = _add_all(4)
"""The same for `WIDE` numbers."""

product: Callable[..., Any] = intrinsic(_product)
"""product(count, x, y): x · y of so many numbers at two addresses. The order of its sums is said, and each product is
rounded before it is added: processors with registers of other lengths, and WebAssembly, give the same bits."""

add_squares: Callable[..., Any] = intrinsic(_add_squares)
"""add_squares(target, factor, source): the group at `target` grows by `factor` times the squares at `source`."""

scale: Callable[..., Any] = intrinsic(_scale)
"""scale(target, factor): the group at `target` is multiplied by `factor`."""
