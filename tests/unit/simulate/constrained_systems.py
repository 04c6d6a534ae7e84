"""Constrained motions with known answers, as the programs an embedding is made of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kane import backends
from kane.backends import Kernel
from kane.graph import Expr, Graph, Inputs, Layout, lower
from kane.simulate import Embedding

GRAVITY = 9.81

Values = dict[str, list[Expr]]


@dataclass(frozen=True, slots=True)
class Row:
    """One constraint row: A (n), c of A u + c = 0, b of A u̇ = b, and the position residual if there is one."""

    a: Sequence[Any]
    b: Any
    c: Any = 0.0
    phi: Any = None


@dataclass(frozen=True, slots=True)
class System:
    """What a system says of itself at t, q, u, tau, p: q̇, M, f, power of the loads, rows, δq = T δ."""

    mass: Sequence[Sequence[Any]]
    f: Sequence[Any]
    rows: Sequence[Row]
    power: Any = 0.0
    qdot: Sequence[Any] = ()
    along: Sequence[Sequence[Any]] = ()
    unit: Sequence[Any] = field(default=())


def program(function: Callable[[Values], Sequence[Any]], coordinates: int, n: int, parameters: int = 0) -> Kernel:
    """The kernel of `function` over [t, q, u, work, tau, parameters]."""
    graph = Graph()
    names = {
        "t": ["t"],
        "q": [f"q{i}" for i in range(coordinates)],
        "u": [f"u{i}" for i in range(n)],
        "work": ["work"],
        "tau": [f"tau{i}" for i in range(n)],
        "parameters": [f"p{i}" for i in range(parameters)],
    }
    exprs = [graph.lift(v) for v in function({k: [graph.input(s) for s in v] for k, v in names.items()})]
    groups = tuple(Inputs(k, tuple(v)) for k, v in names.items())
    return backends.compile(lower("part", groups, {"out": ((len(exprs),), exprs)}))


def embedded(system: Callable[[Values], System], coordinates: int, n: int, **options: Any) -> Embedding:
    """The embedding of a system whose coordinates change with the speeds as it says, or like them."""
    counts: dict[str, int] = {}
    positions: list[int] = []

    def terms(v: Values) -> Sequence[Any]:
        s = system(v)
        counts["rows"] = len(s.rows)
        rates = [sum(a * u for a, u in zip(r.a, v["u"], strict=True)) + r.c for r in s.rows]
        return [
            *(s.qdot or v["u"]),
            *(x for row in s.mass for x in row),
            *s.f,
            *(x for r in s.rows for x in r.a),
            *rates,
            *(r.b for r in s.rows),
            *(0.0 if r.phi is None else r.phi for r in s.rows),
            s.power,
        ]

    def places(v: Values) -> Sequence[Any]:
        s = system(v)
        positions[:] = [i for i, r in enumerate(s.rows) if r.phi is not None]
        rows = [s.rows[i] for i in positions]
        along = s.along or [[float(i == j) for j in range(n)] for i in range(coordinates)]
        return [*(r.phi for r in rows), *(x for r in rows for x in r.a), *(x for line in along for x in line)]

    def unit(v: Values) -> Sequence[Any]:
        counts["unit"] = len(system(v).unit)
        return [*(system(v).unit or v["q"]), *v["u"], *v["work"]]

    kernels = [program(part, coordinates, n) for part in (terms, places, unit)]
    return Embedding(
        Layout(coordinates, n, 0, counts["rows"], tuple(positions)),
        kernels[0],
        kernels[1] if positions else None,
        kernels[2] if counts["unit"] else None,
        **options,
    )


def repeated(rows: Sequence[Row]) -> list[Row]:
    """The rows, each of them twice, and one that combines them all."""

    def total(values: Sequence[Any]) -> Any:
        return sum((i + 1.0) * v for i, v in enumerate(values))

    all_have = all(r.phi is not None for r in rows)
    combined = Row(
        [total(column) for column in zip(*(r.a for r in rows), strict=True)],
        total([r.b for r in rows]),
        total([r.c for r in rows]),
        total([r.phi for r in rows]) if all_have else None,
    )
    return [*rows, *rows, combined]


def pendulum(v: Values) -> System:
    """A mass of 2 kg at x, y with x² + y² = 1 m², y upwards."""
    (x, y), (a, b), (p, r) = v["q"], v["u"], v["tau"]
    row = Row([2.0 * x, 2.0 * y], -2.0 * a * a - 2.0 * b * b, 0.0, x * x + y * y - 1.0)
    return System([[2.0, 0.0], [0.0, 2.0]], [p, r - 2.0 * GRAVITY], [row], p * a + r * b - 2.0 * GRAVITY * b)


HELIX_RADIUS, HELIX_RISE = 0.5, 0.2
"""A helix x = R cos(z/c), y = R sin(z/c): R in m, c in m/rad."""


def helix(v: Values) -> System:
    """A bead of 3 kg on a helix, z upwards; every row twice, and a combination of them."""
    (x, y, z), (_, _, w) = v["q"], v["u"]
    angle, turn = z / HELIX_RISE, w / HELIX_RISE
    c, s = HELIX_RADIUS * angle.cos(), HELIX_RADIUS * angle.sin()
    rows = [
        Row([1.0, 0.0, s / HELIX_RISE], -c * turn * turn, 0.0, x - c),
        Row([0.0, 1.0, -c / HELIX_RISE], -s * turn * turn, 0.0, y - s),
    ]
    mass = [[3.0 * float(i == j) for j in range(3)] for i in range(3)]
    return System(mass, [0.0, 0.0, -3.0 * GRAVITY], repeated(rows), -3.0 * GRAVITY * w)


SLEIGH_MASS, SLEIGH_INERTIA, SLEIGH_ARM = 2.0, 0.3, 0.4
"""kg, kg m² about the mass centre, and m from the knife edge forward to the mass centre."""


def sleigh(v: Values) -> System:
    """Chaplygin's sleigh: mass centre x, y and heading θ; the knife edge does not slide sideways."""
    (_, _, heading), (a, b, w) = v["q"], v["u"]
    s, c = heading.sin(), heading.cos()
    row = Row([-s, c, -SLEIGH_ARM], w * (a * c + b * s))
    mass = [[SLEIGH_MASS, 0.0, 0.0], [0.0, SLEIGH_MASS, 0.0], [0.0, 0.0, SLEIGH_INERTIA]]
    return System(mass, [0.0, 0.0, 0.0], [row])


TURNING = 3.0
"""Rate of the rod, rad/s."""


def rod(v: Values) -> System:
    """A bead of 2 kg on a straight rod that is turned about the origin: y cos Ωt − x sin Ωt = 0."""
    (x, y), (a, b), angle = v["q"], v["u"], TURNING * v["t"][0]
    s, c = angle.sin(), angle.cos()
    along, speed = x * c + y * s, a * c + b * s
    across = y * c - x * s
    row = Row([-s, c], 2.0 * TURNING * speed + TURNING * TURNING * across, -TURNING * along, across)
    return System([[2.0, 0.0], [0.0, 2.0]], [0.0, 0.0], [row])


INERTIA = (0.4, 0.7, 0.9)
"""Principal moments of inertia of the body of `level`, kg m²."""


def level(v: Values) -> System:
    """A free body, quaternion wxyz and body components of ω, whose first axis has to stay horizontal."""
    (w, x, y, z), (a, b, c) = v["q"], v["u"]
    one, two, three = INERTIA
    f = [(two - three) * b * c, (three - one) * c * a, (one - two) * a * b]
    along = [[-x / 2.0, -y / 2.0, -z / 2.0], [w / 2.0, -z / 2.0, y / 2.0], [z / 2.0, w / 2.0, -x / 2.0]]
    along.append([-y / 2.0, x / 2.0, w / 2.0])
    # the third row of R: what of each axis of the body points upwards
    up = [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z]
    # d/dt of up is up × ω: of (−up_2 b + up_1 c) at constant speeds
    rates = [up[1] * c - up[2] * b, up[2] * a - up[0] * c, up[0] * b - up[1] * a]
    row = Row([0.0, -up[2], up[1]], rates[2] * b - rates[1] * c, 0.0, up[0])
    size = (w * w + x * x + y * y + z * z).sqrt()
    return System(
        [[one, 0.0, 0.0], [0.0, two, 0.0], [0.0, 0.0, three]],
        f,
        [row],
        qdot=[sum(t * u for t, u in zip(line, v["u"], strict=True)) for line in along],
        along=along,
        unit=[w / size, x / size, y / size, z / size],
    )


def rhombi(count: int) -> Callable[[Values], System]:
    """`count` four-bars side by side, all bars of 1 m and 1 kg, angles from the horizontal; one row too many.

    Cranks 0..count turn about points 1 m apart, bar count + 1 + i leads from crank i to crank i + 1. Where all bars lie
    flat, half of the rows vanish.
    """
    n = 2 * count + 1

    def system(v: Values) -> System:
        q, u = v["q"], v["u"]
        c, s = [x.cos() for x in q], [x.sin() for x in q]
        mass: list[list[Any]] = [[(i == j) / 3.0 for j in range(n)] for i in range(n)]
        f: list[Any] = [-0.5 * GRAVITY * x for x in c]
        rows = []
        for i in range(count):
            bar, right = count + 1 + i, i + 1
            lean, bend = 0.5 * (q[i] - q[bar]).cos(), 0.5 * (q[i] - q[bar]).sin()
            mass[i][i] += 1.0
            mass[i][bar] = mass[bar][i] = lean
            f[i] -= bend * u[bar] * u[bar] + GRAVITY * c[i]
            f[bar] += bend * u[i] * u[i]
            signs = ((i, 1.0), (bar, 1.0), (right, -1.0))
            for value, slope, constant in ((c, [-x for x in s], 1.0), (s, c, 0.0)):
                a: list[Any] = [0.0] * n
                for j, sign in signs:
                    a[j] = sign * slope[j]
                phi = sum(sign * value[j] for j, sign in signs) - constant
                rows.append(Row(a, sum(sign * value[j] * u[j] * u[j] for j, sign in signs), 0.0, phi))
        first, second = rows[:2]
        both = [x + y for x, y in zip(first.a, second.a, strict=True)]
        rows.append(Row(both, first.b + second.b, 0.0, first.phi + second.phi))
        return System(mass, f, rows)

    return system


FOLDING = (1.0, 2.5, -1.5)
"""Crank, coupler and follower of a four-bar over a ground of 2 m, m; the follower leads back. As crank and coupler
together are as long as the other two, it folds flat."""


def folding(v: Values) -> System:
    """A four-bar of bars of 1 kg/m, angles from the horizontal, that lies flat once in a turn; one row too many."""
    q, u = v["q"], v["u"]
    a, b, c = FOLDING
    cosines, sines = [x.cos() for x in q], [x.sin() for x in q]
    lean, bend = a * b * b / 2 * (q[0] - q[1]).cos(), a * b * b / 2 * (q[0] - q[1]).sin()
    mass = [[a**3 / 3 + b * a * a, lean, 0.0], [lean, b**3 / 3, 0.0], [0.0, 0.0, -(c**3) / 3]]
    weights = [GRAVITY * x for x in (a * (a / 2 + b), b * b / 2, c * c / 2)]
    f = [-bend * u[1] * u[1], bend * u[0] * u[0], 0.0]
    f = [x - w * k for x, w, k in zip(f, weights, cosines, strict=True)]
    rows = []
    for value, slope, constant in ((cosines, [-x for x in sines], 2.0), (sines, cosines, 0.0)):
        phi = sum(x * k for x, k in zip(FOLDING, value, strict=True)) - constant
        again = sum(x * k * w * w for x, k, w in zip(FOLDING, value, u, strict=True))
        rows.append(Row([x * k for x, k in zip(FOLDING, slope, strict=True)], again, 0.0, phi))
    both = [x + y for x, y in zip(rows[0].a, rows[1].a, strict=True)]
    return System(mass, f, [*rows, Row(both, rows[0].b + rows[1].b, 0.0, rows[0].phi + rows[1].phi)])


@functools.cache
def given_terms(n: int, rows: int) -> Embedding:
    """An embedding whose M, f, A, rate, b and phi are its parameters, in this order; no coordinates."""
    count = n * (n + 1) + rows * (n + 3)
    terms = program(lambda v: [*v["parameters"], 0.0], 0, n, count)
    return Embedding(Layout(0, n, count, rows), terms)
