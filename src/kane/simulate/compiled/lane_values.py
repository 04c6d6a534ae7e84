"""Numbers of LANES motions as one value: what compiled code reads from memory, works with in registers, and chooses by.

A `Lanes` value has one number per lane, a `Choice` one yes or no. Every operation is that of a number alone, rounded
alike and never contracted by the compiler: a lane has the bits that its numbers have alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import register_model
from numba.extending import intrinsic, models

from ...backends.kernel import LANES
from ...backends.llvm.machine import host
from .call import part, reals

ROW = 8 * LANES
"""Bytes of one number of all lanes."""

_NUMBERS, _WHOLES = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(64), LANES)
_CHOICES, _WHOLE = ir.VectorType(ir.IntType(1), LANES), ir.IntType(64)


class _NumbersOfLanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


class _ChoiceOfLanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Choice")


lanes, choice = _NumbersOfLanes(), _ChoiceOfLanes()


@register_model(_NumbersOfLanes)
class _NumbersModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _NUMBERS)


@register_model(_ChoiceOfLanes)
class _ChoiceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _CHOICES)


def _at(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _splat(builder: Any, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_NUMBERS, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_NUMBERS, ir.Undefined), mask)


def _call_by_name(builder: Any, name: str, *values: Any) -> Any:
    """An operation that LLVM has by name."""
    kind = ir.FunctionType(_NUMBERS, [_NUMBERS] * len(values))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64")
    return builder.call(function, values)


def _fuse(builder: Any, x: Any, y: Any, z: Any) -> Any:
    if host().fma:
        return _call_by_name(builder, "fma", x, y, z)
    return builder.fadd(builder.fmul(x, y), z)


def _places(builder: Any, base: Any, numbers: Any) -> list[Any]:
    """Addresses, lane by lane, of the rows with these numbers from `base` on."""
    found = []
    for i in range(LANES):
        row = builder.extract_element(numbers, ir.IntType(32)(i))
        at = builder.add(builder.add(base, builder.mul(row, _WHOLE(ROW))), _WHOLE(8 * i))
        found.append(_at(builder, at, ir.DoubleType()))
    return found


def _gather(builder: Any, base: Any, numbers: Any) -> Any:
    value = ir.Constant(_NUMBERS, ir.Undefined)
    for i, place in enumerate(_places(builder, base, numbers)):
        value = builder.insert_element(value, builder.load(place), ir.IntType(32)(i))
    return value


def _read(builder: Any, address: Any, kind: Any = _NUMBERS) -> Any:
    return builder.load(_at(builder, address, kind), align=8)


def _pair(builder: Any, base: Any, n: Any, first: Any, second: Any) -> Any:
    spread = builder.insert_element(ir.Constant(_WHOLES, ir.Undefined), n, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    times_n = builder.mul(
        _read(builder, first, _WHOLES), builder.shuffle_vector(spread, ir.Constant(_WHOLES, ir.Undefined), mask)
    )
    return _gather(builder, base, builder.add(times_n, _read(builder, second, _WHOLES)))


def _scatter(builder: Any, value: Any, base: Any, numbers: Any) -> None:
    for i, place in enumerate(_places(builder, base, _read(builder, numbers, _WHOLES))):
        builder.store(builder.extract_element(value, ir.IntType(32)(i)), place)


def _choose(builder: Any, where: Any, x: Any, y: Any) -> Any:
    """LLVM would make one masked write of a choice between a number and the one it is written over, which takes some
    processors ten times as long as a choice and a whole write. The fence keeps them apart; it is no instruction."""
    return _call_by_name(builder, "arithmetic.fence", builder.select(where, x, y))


def _bits(builder: Any, value: Any) -> Any:
    return builder.zext(builder.bitcast(value, ir.IntType(LANES)), _WHOLE)


def _from_bits(builder: Any, number: Any) -> Any:
    return builder.bitcast(builder.trunc(number, ir.IntType(LANES)), _CHOICES)


def _operation(result: Any, kinds: tuple[Any, ...], code: Callable[..., Any]) -> Callable[..., Any]:
    """The intrinsic that does to arguments of these kinds what `code` writes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = code(builder, *args)
        return context.get_dummy_value() if result is types.void else value

    def one(typing_context, a):
        return result(*kinds), generate

    def two(typing_context, a, b):
        return result(*kinds), generate

    def three(typing_context, a, b, c):
        return result(*kinds), generate

    def four(typing_context, a, b, c, d):
        return result(*kinds), generate

    functions: tuple[Any, ...] = (one, two, three, four)
    return intrinsic(functions[len(kinds) - 1])


_whole, _real = types.int64, types.float64

load = _operation(lanes, (_whole,), _read)
"""load(address): the numbers there."""

store = _operation(types.void, (_whole, lanes), lambda b, to, x: b.store(x, _at(b, to, _NUMBERS), align=8))
"""store(address, a)."""

splat = _operation(lanes, (_real,), _splat)
"""splat(number): the same number in all lanes."""

plus = _operation(lanes, (lanes, lanes), lambda b, x, y: b.fadd(x, y))
minus = _operation(lanes, (lanes, lanes), lambda b, x, y: b.fsub(x, y))
times = _operation(lanes, (lanes, lanes), lambda b, x, y: b.fmul(x, y))
over = _operation(lanes, (lanes, lanes), lambda b, x, y: b.fdiv(x, y))
fused = _operation(lanes, (lanes, lanes, lanes), _fuse)
"""fused(a, b, c): a b + c, rounded as `lanes.add` does."""

negative = _operation(lanes, (lanes,), lambda b, x: b.fneg(x))
root = _operation(lanes, (lanes,), lambda b, x: _call_by_name(b, "sqrt", x))
size = _operation(lanes, (lanes,), lambda b, x: _call_by_name(b, "fabs", x))

above = _operation(choice, (lanes, lanes), lambda b, x, y: b.fcmp_ordered(">", x, y))
"""above(a, b): where a > b; not where one is not a number."""

at_least = _operation(choice, (lanes, lanes), lambda b, x, y: b.fcmp_ordered(">=", x, y))
differs = _operation(choice, (lanes, lanes), lambda b, x, y: b.fcmp_unordered("!=", x, y))
"""differs(a, b): where a != b; also where one is not a number."""

both = _operation(choice, (choice, choice), lambda b, x, y: b.and_(x, y))
choose = _operation(lanes, (choice, lanes, lanes), _choose)
"""choose(where, a, b): a there, b elsewhere."""

bits = _operation(_whole, (choice,), _bits)
"""bits(where): a whole number with a bit for each lane."""

from_bits = _operation(choice, (_whole,), _from_bits)
"""from_bits(number): what `bits` was made of."""

gather = _operation(lanes, (_whole, _whole), lambda b, base, at: _gather(b, base, _read(b, at, _WHOLES)))
"""gather(base, numbers): of each lane the row from `base` on whose number is its own at the address `numbers`."""

gather_pair = _operation(lanes, (_whole,) * 4, _pair)
"""gather_pair(base, n, first, second): the same for the row n first + second."""

scatter = _operation(types.void, (lanes, _whole, _whole), _scatter)
"""scatter(a, base, numbers): write a where `gather` would read."""

EVERY = 2**LANES - 1
"""The bits of all lanes."""


@part
def copy_rows(count, source, target):
    """Copy so many numbers of all lanes."""
    for i in range(count):
        store(target + ROW * i, load(source + ROW * i))


@part
def copy_from_lane(n, lanes, at, target):
    """n numbers of one lane."""
    a, b = reals(lanes), reals(target)
    for i in range(n):
        b[i] = a[LANES * i + at]


@part
def copy_to_lane(n, source, lanes, at):
    """n numbers into one lane."""
    a, b = reals(source), reals(lanes)
    for i in range(n):
        b[LANES * i + at] = a[i]


@part
def copy_in_lanes(count, where, source, target):
    """The same in some lanes."""
    for i in range(count):
        store(target + ROW * i, choose(where, load(source + ROW * i), load(target + ROW * i)))
