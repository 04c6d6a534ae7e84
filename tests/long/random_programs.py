"""Random programs on all backends: the same bits where every operation is exact, else within a running error bound."""

from __future__ import annotations

import numpy as np

from backends.programs import EDGES, EXACT, SLOPES, values_and_bounds
from kane.backends import BACKENDS, compile
from kane.errors import ExpressionError, SingularError
from kane.graph import Graph, Inputs, Program, lower, parse
from kane.graph.ops import TABLE
from long.block import Disagreement
from long.tries import draws

SAMPLES = 5
SAME_BITS = tuple(op for op in EXACT if op != "mul")  # a product and a sum may be rounded once, as one operation
LARGEST = 1e100  # beyond, a bound on the error may overflow


def drawn_program(operations: list[str], rng: np.random.Generator) -> Program:
    """A program of one to sixty operations on four inputs in two groups."""
    g = Graph()
    values = [g.input(f"x{i}") for i in range(4)] + [g.const(float(rng.choice([0.5, -1.75, 3.0, 0.0, -1.0])))]
    for _ in range(int(rng.integers(1, 60))):
        op = operations[int(rng.integers(len(operations)))]
        args = [values[int(rng.integers(len(values)))].id for _ in range(TABLE[op].arity)]
        values.append(g.expr(g.build(op, *args)))
    groups = [Inputs("a", ("x0", "x1")), Inputs("b", ("x2", "x3"))]
    return lower("random", groups, {"y": ((3,), values[-3:])}, simplify=bool(rng.integers(2)))


def interpreted(program: Program, x: list[float]) -> np.ndarray:
    """Outputs by the table of operations."""
    values = [*x, *program.constants]
    for row in program.rows:
        values.append(TABLE[row.op].value(*(values[a] for a in row.args)))
    return np.array([values[s] for o in program.outputs for s in o.slots])


def search(number: int) -> str:
    """One program on some inputs, by every backend, singly and in a batch."""
    rng = draws("programs", number)
    exact = bool(rng.integers(2))
    try:
        program = drawn_program(list(SAME_BITS) if exact else sorted(SLOPES), rng)
    except ExpressionError:  # a constant that is not finite
        return "no program"
    if str(parse(str(program))) != str(program):
        raise Disagreement("the text of a program reads back as another one")
    x = rng.choice(EDGES, (SAMPLES, 4)) if exact else rng.uniform(-4, 4, (SAMPLES, 4))
    names = [name for name in BACKENDS if name != "c" or number % 10 == 0]  # a C compiler takes long for each
    for name in names:
        kernel = compile(program, name)
        batch = kernel(x[:, :2], x[:, 2:])
        for k, row in enumerate(x.tolist()):
            _judge(name, program, row, batch[k], exact)
            try:
                got = kernel(row[:2], row[2:])
            except SingularError:
                got = None
            if (got is None) == np.isfinite(batch[k]).all() or (got is not None and np.any(got != batch[k])):
                raise Disagreement(f"{name}: one sample {got}, the same in a batch {batch[k]}")
    return f"{len(names)} backends agree, {'to the bit' if exact else 'within bounds'}"


def _judge(name: str, program: Program, row: list[float], got: np.ndarray, exact: bool) -> None:
    expected, bound = (interpreted(program, row), 0.0) if exact else values_and_bounds(program, row)
    if exact and not np.array_equal(got, expected, equal_nan=True):
        raise Disagreement(f"{name}: {got} and {expected} at {row}\n{program}")
    if not exact and np.all(np.abs(expected) < LARGEST) and not np.all(np.abs(got - expected) <= bound):
        raise Disagreement(f"{name}: {got} and {expected}, bound {bound}, at {row}\n{program}")
