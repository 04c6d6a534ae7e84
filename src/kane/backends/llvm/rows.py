"""A program as LLVM text: a dictionary from operation to instruction, and a loop over rows.

In comes a Program, out goes the flat function over a type T that is either `double` or a vector of doubles with one
lane per sample:

  void name(T *in, T *out)        in: all inputs in the order of the groups, out: all outputs in their order

A multiplication used once, by an addition, is fused with it where the machine can (`fuse_products`). The choice is made
here and not by the optimiser, so scalar and vector code round alike: a sample has the same bits alone and in any batch.

One function of n rows costs LLVM more than linear time, so long programs are cut into functions of `CHUNK` rows which
hand values on through scratch memory; a place there is used again as soon as its last reader has run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

from ...graph import Program, ProgramRow
from .trig import (
    called_sine_cosine,
    library,
    library_definition,
    mended_definition,
    sine_cosine,
    sine_cosine_definition,
)
from .writer import Lanes, Writer

CHUNK = 300
"""Rows per function. 13 000 rows, as scalar and as vector code, took 0.85 + 0.78 s to compile in pieces of 1000 rows,
0.68 + 0.76 s in pieces of 500, 0.65 + 0.74 s in pieces of 250; all ran equally fast. Arms of six joints fit in one."""

QUICK_CHUNK = 2000
"""The same where code is made quickly, not well: 910 rows took 25 ms instead of 40 ms."""

BLANK = 64
"""Outputs that are zero at all times from which on they are not stored one by one but all at once: a sparse matrix."""

LIBRARY = {"tan": 1, "asin": 1, "acos": 1, "atan2": 2, "exp": 1, "log": 1, "pow": 2}
"""Operations left to the C library, and how many arguments they take."""


def _comparison(predicate: str) -> Callable[..., str]:
    def emit(w: Writer, x: str, y: str) -> str:
        t, n = w.lanes.type, w.lanes.number
        return _choice(w, w.let(f"fcmp {predicate} {t} {x}, {y}"), n(1.0), n(0.0))

    return emit


def _extremum(first: int, second: int) -> Callable[..., str]:
    """min and max as the op table defines them: the second argument if it is beyond the first, else the first."""

    def emit(w: Writer, *args: str) -> str:
        beyond = w.let(f"fcmp olt {w.lanes.type} {args[first]}, {args[second]}")
        return _choice(w, beyond, args[1], args[0])

    return emit


def _choice(w: Writer, condition: str, then: str, otherwise: str) -> str:
    t = w.lanes.type
    return w.let(f"select {w.lanes.vector_type('i1')} {condition}, {t} {then}, {t} {otherwise}")


def _nonzero(w: Writer, x: str) -> str:
    return w.let(f"fcmp une {w.lanes.type} {x}, {w.lanes.number(0.0)}")


def _sign(w: Writer, x: str) -> str:
    """±1, or x itself where it is 0 or nan: an ordered comparison, unlike that of `_nonzero`."""
    beyond = w.let(f"fcmp one {w.lanes.type} {x}, {w.lanes.number(0.0)}")
    return _choice(w, beyond, w.call("copysign", w.lanes.number(1.0), x), x)


def _minus_product(w: Writer, x: str, y: str, z: str) -> str:
    """z − x y, by the negative of that factor whose negative is known already, if one is."""
    return w.fma(w.negate(y), x, z) if w.has_negative(y) else w.fma(w.negate(x), y, z)


EMIT: dict[str, Callable[..., str]] = {
    "add": lambda w, x, y: w.binary("fadd", x, y),
    "sub": lambda w, x, y: w.binary("fsub", x, y),
    "mul": lambda w, x, y: w.binary("fmul", x, y),
    "div": lambda w, x, y: w.binary("fdiv", x, y),
    "neg": lambda w, x: w.negate(x),
    "sqrt": lambda w, x: w.call("sqrt", x),
    "abs": lambda w, x: w.call("fabs", x),
    "sign": _sign,
    "min": _extremum(1, 0),
    "max": _extremum(0, 1),
    "less": _comparison("olt"),
    "less_equal": _comparison("ole"),
    "equal": _comparison("oeq"),
    "select": lambda w, c, x, y: _choice(w, _nonzero(w, c), x, y),
    "product_plus": lambda w, x, y, z: w.fma(x, y, z),
    "product_minus": lambda w, x, y, z: w.fma(x, y, w.negate(z)),
    "minus_product": _minus_product,
    **{name: lambda w, *args, name=name: library(w, name, *args) for name in LIBRARY},
}
"""How each operation is written; `sin` and `cos` are written in pairs by `sine_cosine`."""


def fuse_products(program: Program) -> list[tuple[int, ProgramRow]]:
    """(slot, row) of the rows to compute, with products used once merged into the sum that uses them.

    x y + z, x y − z and z − x y become `product_plus`, `product_minus` and `minus_product` of (x, y, z).
    """
    base = program.first_row
    uses = Counter(chain(*[row.args for row in program.rows], *[out.slots for out in program.outputs]))
    rows: dict[int, ProgramRow] = {}
    for slot, row in enumerate(program.rows, start=base):
        rows[slot] = row
        if row.op not in ("add", "sub"):
            continue
        for place in (1, 0):
            product = rows.get(row.args[place])
            if product is not None and product.op == "mul" and uses[row.args[place]] == 1:
                del rows[row.args[place]]
                op = "product_plus" if row.op == "add" else "minus_product" if place else "product_minus"
                rows[slot] = ProgramRow(op, (*product.args, row.args[1 - place]))
                break
    return list(rows.items())


def sines(
    w: Writer, rows: Sequence[tuple[int, ProgramRow]], value: Callable[[int], str], quick: bool
) -> dict[int, str]:
    """slot → value of all sines and cosines among `rows`, written together; `value` gives that of an angle."""
    wanted = [(slot, row) for slot, row in rows if row.op in ("sin", "cos")]
    angles = list(dict.fromkeys(row.args[0] for _, row in wanted))
    write = called_sine_cosine if quick else sine_cosine
    pairs = dict(zip(angles, write(w, [value(a) for a in angles]), strict=True))
    return {slot: pairs[row.args[0]][row.op == "cos"] for slot, row in wanted}


def _is_plain_zero(number: float) -> bool:
    """Whether all bits of a number are zero."""
    return number == 0.0 and math.copysign(1.0, number) > 0.0


def definitions(program: Program, lanes: Lanes, *, quick: bool = False) -> str:
    """Declarations and small functions that the rows of `program` call."""
    used = {row.op for row in program.rows}
    text = '!0 = !{!"branch_weights", i32 1, i32 1000000}\ndeclare ptr @malloc(i64)\ndeclare void @free(ptr)\n'
    for name, arity in LIBRARY.items():
        if name in used:
            text += library_definition(name, arity, lanes)
    if used & {"sin", "cos"}:
        for name in ("sin", "cos"):
            text += library_definition(name, 1, lanes)
            if not quick:
                text += mended_definition(name, lanes)
        if quick:
            text += sine_cosine_definition(lanes)
    return text


def function(program: Program, lanes: Lanes, name: str, *, quick: bool = False) -> str:
    """The text of `void name(T *in, T *out)`, internal, and of the functions it is cut into.

    If `quick`, it is for LLVM to translate quickly: longer functions, and sine and cosine written once, not in line.
    """
    chunk = QUICK_CHUNK if quick else CHUNK
    rows = fuse_products(program) if lanes.fma else list(enumerate(program.rows, start=program.first_row))
    pieces = [rows[i : i + chunk] for i in range(0, len(rows), chunk)] or [[]]
    targets = output_places(program)
    head = f"define internal void @{name}(ptr noalias %in, ptr noalias %out, ptr noalias %tmp) noinline nounwind"
    if len(pieces) == 1:
        return _piece(program, lanes, rows, {}, targets, first=True, last=True, quick=quick).text(head)
    places, size = _scratch(program, pieces)
    text = ""
    whole = Writer(lanes)
    tmp = whole.reserve(size)
    for i, piece in enumerate(pieces):
        inner = head.replace(f"@{name}(", f"@{name}_{i}(")
        last = i == len(pieces) - 1
        text += _piece(program, lanes, piece, places, targets, first=i == 0, last=last, quick=quick).text(inner)
        whole.do(f"call void @{name}_{i}(ptr %in, ptr %out, ptr {tmp})")
    whole.release(tmp, size)
    whole.do("ret void")
    return text + whole.text(head)


def output_places(program: Program) -> dict[int, list[int]]:
    """slot → the numbers of all outputs that it is stored to."""
    targets: dict[int, list[int]] = {}
    for k, slot in enumerate(s for out in program.outputs for s in out.slots):
        targets.setdefault(slot, []).append(k)
    return targets


def _scratch(program: Program, pieces: Sequence[Sequence[tuple[int, ProgramRow]]]) -> tuple[dict[int, int], int]:
    """(place in scratch memory of every slot that outlives its piece, number of places)."""
    last: dict[int, int] = {}
    for i, piece in enumerate(pieces):
        for _, row in piece:
            last.update((a, i) for a in row.args)
    places: dict[int, int] = {}
    free: list[int] = []
    expiring: list[list[int]] = [[] for _ in pieces]
    size = 0
    for i, piece in enumerate(pieces):
        for slot, _ in piece:
            if last.get(slot, i) > i:
                if not free:
                    free.append(size)
                    size += 1
                places[slot] = free.pop()
                expiring[last[slot]].append(places[slot])
        free += expiring[i]
    return places, size


def _piece(
    program: Program,
    lanes: Lanes,
    rows: Sequence[tuple[int, ProgramRow]],
    places: dict[int, int],
    targets: dict[int, list[int]],
    *,
    first: bool,
    last: bool,
    quick: bool,
) -> Writer:
    """The body of one function: its rows, what they load, what later pieces and the outputs need of them."""
    w = Writer(lanes)
    values: dict[int, str] = {}
    inputs, base = program.input_count, program.first_row

    def value(slot: int) -> str:
        if slot not in values:
            if slot < inputs:
                values[slot] = w.load("%in", slot)
            elif slot < base:
                values[slot] = lanes.number(program.constants[slot - inputs])
            else:
                values[slot] = w.load("%tmp", places[slot])
        return values[slot]

    constants = range(inputs, base) if first or last else ()
    zeros = {s for s in constants if s in targets and _is_plain_zero(program.constants[s - inputs])}
    blank = sum(len(targets[s]) for s in zeros) >= BLANK
    if blank and first:
        size = 8 * lanes.width * program.output_count
        w.do(f"call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {size}, i1 false)")

    def store_value(slot: int) -> None:
        """Stored at once where it is wanted later: at the end of the piece it would have held a register until then."""
        if slot in places:
            w.store(values[slot], "%tmp", places[slot])
        for k in targets.get(slot, ()):
            w.store(values[slot], "%out", k)

    mine = {slot for slot, _ in rows}
    for i, (slot, row) in enumerate(rows):
        if slot in values:
            continue
        if row.op in ("sin", "cos"):
            found = sines(w, [r for r in rows[i:] if r[1].args[0] in values or r[1].args[0] not in mine], value, quick)
            values.update(found)
            for s in found:
                store_value(s)
        else:
            values[slot] = EMIT[row.op](w, *[values[a] if a in values else value(a) for a in row.args])
            if slot in places or slot in targets:
                store_value(slot)
    if last:
        for slot, places_out in targets.items():
            if slot < base and not (blank and slot in zeros):  # an input or a constant
                for k in places_out:
                    w.store(value(slot), "%out", k)
    w.do("ret void")
    return w
