"""Programs that the backend tests run, and how far two computations of one value may be apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from kane.graph import Graph, Inputs, Program, lower
from kane.graph.ops import TABLE

EDGES = (-3.0, -1.0, -0.75, -1e-300, -0.0, 0.0, 1e-300, 0.25, 0.5, 1.0, 2.0, 1e3, 1e9, 1e300)
"""Values where operations change their ways: signed zeros, tiny and huge numbers, the ends of domains."""

ULPS = 4
"""Units in the last place between two good implementations of one elementary function: two each way."""

EXACT = (
    "add",
    "sub",
    "mul",
    "div",
    "neg",
    "sqrt",
    "abs",
    "sign",
    "min",
    "max",
    "less",
    "less_equal",
    "equal",
    "select",
)
"""Operations that IEEE 754 or the op table define to the bit."""


def one_operation(op: str) -> Program:
    """The program of a single operation on inputs."""
    graph = Graph()
    labels = tuple("xyz"[: TABLE[op].arity])
    node = graph.build(op, *(graph.input(label).id for label in labels))
    return lower(f"one {op}", [Inputs("x", labels)], {"value": ((), [graph.expr(node)])}, simplify=False)


def edge_inputs(op: str) -> np.ndarray:
    """All combinations of edge values, shape (batch, arity)."""
    return np.stack(np.meshgrid(*[EDGES] * TABLE[op].arity), axis=-1).reshape(-1, TABLE[op].arity)


QUOTIENTS = ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-2.0, 1.0))
"""Numerators and denominators of nan, the infinities, and some plain numbers."""


def one_operation_on_quotients(op: str) -> Program:
    """The program of a single operation on quotients of inputs, which may be nan or infinite."""
    graph = Graph()
    labels = tuple(f"{part}{k}" for k in range(TABLE[op].arity) for part in ("over", "under"))
    parts = [graph.input(label) for label in labels]
    quotients = [a / b for a, b in zip(parts[::2], parts[1::2], strict=True)]
    node = graph.build(op, *(x.id for x in quotients))
    return lower(f"{op} of quotients", [Inputs("x", labels)], {"value": ((), [graph.expr(node)])}, simplify=False)


def arm() -> Program:
    """A program with the shape of inverse dynamics: groups t, q, u and an empty one, a vector, a matrix, a number."""
    g = Graph()
    t = g.input("t")
    q = [g.input(f"q{i}") for i in range(3)]
    u = [g.input(f"u{i}") for i in range(3)]
    s, c = [x.sin() for x in q], [x.cos() for x in q]
    efforts = [s[0] * u[0] * u[1] + c[1] * t - 2.5, c[0] * c[1] - s[0] * s[1] * u[2], (q[2] * u[2]).sin() / (2 + c[2])]
    matrix = [q[0] * q[0] + 1, c[2], c[2], g.const(3.0), u[0], s[1].max(c[1])]
    return lower(
        "arm",
        [
            Inputs("t", ("t",), "q"),
            Inputs("q", ("q0", "q1", "q2"), "q"),
            Inputs("none", ()),
            Inputs("u", ("u0", "u1", "u2")),
        ],
        {
            "efforts": ((3,), efforts),
            "matrix": ((3, 2), matrix),
            "power": ((), [efforts[0] * u[0] + efforts[1] * u[1]]),
        },
    )


def long_chain(rows: int, name: str = "chain") -> Program:
    """A program of about `rows` rows in which early values are used late, and values stay of order one."""
    g = Graph()
    x = [g.input(f"x{i}") for i in range(8)]
    values = [*x, *(e.sin() for e in x)]
    for k in range(rows // 4):
        a, b, c = values[-1], values[(7 * k) % len(values)], values[(11 * k + 3) % len(values)]
        values.append((a * b + c * (0.3 + k % 7)).sin() if k % 13 == 0 else a * b * 0.5 - c)
    return lower(name, [Inputs("x", tuple(f"x{i}" for i in range(8)))], {"y": ((4,), values[-4:])}, simplify=False)


@st.composite
def smooth_programs(draw: st.DrawFn) -> Program:
    """Random programs of operations that are continuous everywhere."""
    g = Graph()
    values = [g.input(f"x{i}") for i in range(4)] + [g.const(draw(st.sampled_from([0.5, -1.75, 3.0])))]
    for _ in range(draw(st.integers(1, 40))):
        op = draw(st.sampled_from(sorted(SLOPES)))
        args = [values[draw(st.integers(0, len(values) - 1))].id for _ in range(TABLE[op].arity)]
        values.append(g.expr(g.build(op, *args)))
    inputs = [Inputs("a", ("x0", "x1")), Inputs("b", ("x2", "x3"))]
    return lower("random", inputs, {"y": ((3,), values[-3:])}, simplify=draw(st.booleans()))


SLOPES = {
    "add": lambda x, y: (1.0, 1.0),
    "sub": lambda x, y: (1.0, 1.0),
    "mul": lambda x, y: (abs(y), abs(x)),
    "neg": lambda x: (1.0,),
    "sin": lambda x: (1.0,),
    "cos": lambda x: (1.0,),
    "abs": lambda x: (1.0,),
    "min": lambda x, y: (1.0, 1.0),
    "max": lambda x, y: (1.0, 1.0),
}
"""For smooth operations, how much an error of each argument can grow; independent of the table's derivatives."""


def values_and_bounds(program: Program, inputs: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """(outputs, how far off they may be): each operation adds ULPS roundings, earlier errors grow by its slopes.

    The second-order term of a product is covered by taking every slope a thousandth larger.
    """
    values, errors = [*inputs, *program.constants], [0.0] * program.first_row
    for row in program.rows:
        args = [values[a] for a in row.args]
        value = TABLE[row.op].value(*args)
        grown = sum(s * errors[a] for s, a in zip(SLOPES[row.op](*args), row.args, strict=True))
        values.append(value)
        errors.append(1.001 * grown + ULPS * float(np.spacing(abs(value))))
    slots = [s for o in program.outputs for s in o.slots]
    return np.array([values[s] for s in slots]), np.array([errors[s] for s in slots])
