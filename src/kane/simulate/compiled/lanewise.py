"""Arithmetic of LANES numbers side by side, at addresses: vector instructions that no loop has to be recognised as.

Every operation is the one that a loop over the lanes would do, in the same order and without contraction: a lane has
the bits that its numbers have alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ...backends.kernel import LANES

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _VECTOR.as_pointer())


def _load(builder: Any, address: Any) -> Any:
    return builder.load(_at(builder, address), align=8)


def _store(builder: Any, value: Any, address: Any) -> None:
    builder.store(value, _at(builder, address), align=8)


def _splat(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)


def _products(builder: Any, weights: Any, count: int, values: Any) -> Any:
    """Sum of so many weights times values: one, two, or four in pairs."""
    step = ir.IntType(64)(8 * LANES)
    terms = []
    for k in range(count):
        terms.append(builder.fmul(_load(builder, weights), _load(builder, values[k])))
        weights = builder.add(weights, step)
    while len(terms) > 1:
        terms = [builder.fadd(a, b) for a, b in zip(terms[::2], terms[1::2], strict=True)]
    return terms[0]


def _weigh(typing_context, target, factor, number):
    def code(context, builder, signature, args):
        _store(builder, builder.fmul(_load(builder, args[1]), _splat(builder, args[2])), args[0])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), code


def _sum1(typing_context, target, weights, a):
    def code(context, builder, signature, args):
        _store(builder, _products(builder, args[1], 1, args[2:]), args[0])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), code


def _sum2(typing_context, target, weights, a, b):
    def code(context, builder, signature, args):
        _store(builder, _products(builder, args[1], 2, args[2:]), args[0])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), code


def _sum4(typing_context, target, weights, a, b, c, d):
    def code(context, builder, signature, args):
        _store(builder, _products(builder, args[1], 4, args[2:]), args[0])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), code


def _add4(typing_context, target, weights, a, b, c, d):
    def code(context, builder, signature, args):
        total = builder.fadd(_load(builder, args[0]), _products(builder, args[1], 4, args[2:]))
        _store(builder, total, args[0])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), code


def _add(typing_context, target, a):
    def code(context, builder, signature, args):
        _store(builder, builder.fadd(_load(builder, args[0]), _load(builder, args[1])), args[0])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _copy(typing_context, source, target):
    def code(context, builder, signature, args):
        _store(builder, _load(builder, args[0]), args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _spread(typing_context, target, number):
    def code(context, builder, signature, args):
        _store(builder, _splat(builder, args[1]), args[0])
        return context.get_dummy_value()

    return types.void(types.int64, types.float64), code


def _add_excess(typing_context, target, a):
    def code(context, builder, signature, args):
        x = _load(builder, args[1])
        _store(builder, builder.fadd(_load(builder, args[0]), builder.fsub(x, x)), args[0])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


def _add_square(typing_context, target, error, y, y_new, atol, rtol):
    def code(context, builder, signature, args):
        sizes = [_absolute(builder, _load(builder, a)) for a in args[2:4]]
        size = builder.select(builder.fcmp_ordered(">", sizes[1], sizes[0]), sizes[1], sizes[0])
        allowed = builder.fadd(_splat(builder, args[4]), builder.fmul(_splat(builder, args[5]), size))
        part = builder.fdiv(_load(builder, args[1]), allowed)
        _store(builder, builder.fadd(_load(builder, args[0]), builder.fmul(part, part)), args[0])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4, types.float64, types.float64), code


def _absolute(builder: Any, value: Any) -> Any:
    name = f"llvm.fabs.v{LANES}f64"
    known = builder.module.globals
    function = known[name] if name in known else ir.Function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), name)
    return builder.call(function, [value])


weigh: Callable[..., Any] = intrinsic(_weigh)
"""weigh(target, factor, number): the lanes at `factor` times a number."""

sum1: Callable[..., Any] = intrinsic(_sum1)
"""sum1(target, weights, a): weights[0] * a; weights are rows of lanes one after the other."""

sum2: Callable[..., Any] = intrinsic(_sum2)
"""sum2(target, weights, a, b): weights[0] * a + weights[1] * b."""

sum4: Callable[..., Any] = intrinsic(_sum4)
"""sum4(target, weights, a, b, c, d): (weights[0] * a + weights[1] * b) + (weights[2] * c + weights[3] * d)."""

add4: Callable[..., Any] = intrinsic(_add4)
"""add4(target, weights, a, b, c, d): add what `sum4` writes."""

add: Callable[..., Any] = intrinsic(_add)
"""add(target, a): add a."""

copy: Callable[..., Any] = intrinsic(_copy)
"""copy(source, target)."""

spread: Callable[..., Any] = intrinsic(_spread)
"""spread(target, number): the same number in all lanes."""

add_excess: Callable[..., Any] = intrinsic(_add_excess)
"""add_excess(target, a): add a - a, which is 0 for finite numbers and nan for others."""

add_square: Callable[..., Any] = intrinsic(_add_square)
"""add_square(target, error, y, y_new, atol, rtol): add (error / (atol + rtol * max(|y|, |y_new|)))²."""
