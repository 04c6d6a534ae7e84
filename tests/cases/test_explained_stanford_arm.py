"""What `kane explain stanford-arm-kane` prints, read back, against the paper's own equations [KL83, Eqs. 5-47].

The equations are written here from the paper with its Z's put in; the printed text is parsed by a reader of the tests,
and both are compared as vectors at random states. Directions of axes are products of simple rotations, Fig. 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import kane
from seeds import generator
from unit.explain.reading_back import equations, partial_velocities, read, section, with_Z

AGREE = 1e-12  # relative, of some ten operations in double precision
PARAMETERS = {name: p.value for name, p in kane.load("stanford-arm").parameters.items()}
L1, L2, L3, L5, L6 = (PARAMETERS[name] for name in ("L1", "L2", "L3", "L5", "L6"))
BODIES = "ABCDEF"


def turn(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    if axis == "x":
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


@dataclass
class Paper:
    """Eqs. 8-47 at a state: ω and v of all bodies by speeds, `w[body][r]` and `v[body][r]`, components along N."""

    q: np.ndarray
    u: np.ndarray

    def __post_init__(self) -> None:
        q1, q2, q3, q4, q5, q6 = self.q
        s2, c2, s3, c3, s4, c4, s5, c5 = (f(x) for x in (q2, q3, q4, q5) for f in (np.sin, np.cos))
        R = {"A": turn("y", q1)}
        R["B"] = R["C"] = R["A"] @ turn("x", q2)
        R["D"] = R["C"] @ turn("y", q3)
        R["E"] = R["D"] @ turn("x", q4)
        R["F"] = R["E"] @ turn("y", q5)
        self.axes = R
        Z4, Z5 = s3 / s2, -c3 / s2
        Z6, Z7, Z8, Z9 = Z4 * c2, Z5 * c2, -Z4 * s2, -Z5 * s2
        zero = [0.0, 0.0, 0.0]
        own = {  # coefficients of u1 … u6 along the body's own axes, Eqs. 15, 17, 18, 20, 22
            "A": [[0, Z4, 0], zero, [0, Z5, 0], zero, zero, zero],
            "B": [[c3, Z6, Z8], zero, [s3, Z7, Z9], zero, zero, zero],
            "D": [[1, 0, 0], [0, 1, 0], [0, 0, 1], zero, zero, zero],
            "E": [[1, 0, 0], [0, c4, -s4], [0, s4, c4], [1, 0, 0], zero, zero],
            "F": [
                [c5, 0, s5],
                [s4 * s5, c4, -s4 * c5],
                [-c4 * s5, s4, c4 * c5],
                [c5, 0, s5],
                [0, 1, 0],
                zero,
            ],
        }
        own["C"] = own["B"]
        self.w = {body: [R[body] @ x for x in own[body]] for body in BODIES}
        Z22, Z23 = -L1 * Z4, -L1 * Z5
        C = {  # v of C*, D* along c, Eqs. 32 and 34: q6 becomes q6 + L5
            reach: [
                [-reach * Z8, L1 * Z8, reach * c3 - L1 * Z6],
                zero,
                [-reach * Z9, L1 * Z9, reach * s3 - L1 * Z7],
                zero,
                zero,
                [0, 1, 0],
            ]
            for reach in (q6, q6 + L5, q6 + L2)
        }
        c_e = R["C"].T @ R["E"]  # C_ij of Eqs. 36-39
        assert c_e == pytest.approx(
            np.array([[c3, s3 * s4, s3 * c4], [0, c4, -s4], [-s3, c3 * s4, c3 * c4]]), abs=1e-14
        )
        tip = {}  # v of E* and F* along e, Eqs. 40 and 42: that of the wrist, and ω^E × L e2
        for body, length in (("E", L6), ("F", L3)):
            wrist = [c_e.T @ x for x in C[q6 + L2]]
            lever = [np.cross(x, [0, length, 0]) for x in own["E"]]
            tip[body] = [a + b for a, b in zip(wrist, lever, strict=True)]
        self.v = {
            "A": [np.zeros(3)] * 6,
            "B": [R["A"] @ [0, 0, x] for x in (Z22, 0, Z23, 0, 0, 0)],
            "C": [R["C"] @ x for x in C[q6]],
            "D": [R["C"] @ x for x in C[q6 + L5]],
            "E": [R["E"] @ x for x in tip["E"]],
            "F": [R["E"] @ x for x in tip["F"]],
        }
        u1, u2, u3 = self.u[:3]
        self.rates = [(u1 * s3 - u3 * c3) / s2, u1 * c3 + u3 * s3, u2 + (u3 * c3 - u1 * s3) * c2 / s2, *self.u[3:]]
        self.definitions = [
            lambda d: d[0] * s2 * s3 + d[1] * c3,
            lambda d: d[0] * c2 + d[2],
            lambda d: -d[0] * s2 * c3 + d[1] * s3,
        ]

    def values(self) -> dict[str, float | np.ndarray]:
        """What the letters of the printed text stand for."""
        found: dict[str, float | np.ndarray] = dict(PARAMETERS)
        found |= {f"q{k + 1}": x for k, x in enumerate(self.q)} | {f"u{k + 1}": x for k, x in enumerate(self.u)}
        found |= {f"{body}.{x}": R[:, k] for body, R in self.axes.items() for k, x in enumerate("xyz")}
        found |= {f"N.{x}": np.eye(3)[k] for k, x in enumerate("xyz")}
        return found | {f"u{k + 1}'": float("nan") for k in range(6)}


@pytest.fixture(scope="module")
def printed() -> str:
    return kane.load("stanford-arm-kane").explain(beside=None).to_text(digits=17)


def states() -> list[Paper]:
    rng = generator(83)
    return [Paper(rng.uniform(0.3, 1.2, 6), rng.normal(size=6)) for _ in range(5)]


@pytest.mark.parametrize("paper", states(), ids=range(5))
def test_the_printed_velocities_are_those_of_the_paper(printed: str, paper: Paper) -> None:
    known = with_Z(printed, paper.values())
    lines = equations(section(printed, "Angular velocities"))
    assert set(lines) == {f"ω({b})" for b in BODIES} | {f"v({b}*)" for b in BODIES}
    for body in BODIES:
        for label, columns in ((f"ω({body})", paper.w[body]), (f"v({body}*)", paper.v[body])):
            expected = sum(u * x for u, x in zip(paper.u, columns, strict=True))
            found = np.zeros(3) + read(lines[label], known)
            assert found == pytest.approx(expected, rel=AGREE, abs=AGREE), label


@pytest.mark.parametrize("paper", states(), ids=range(5))
def test_every_printed_partial_velocity_is_that_of_the_paper(printed: str, paper: Paper) -> None:
    known = with_Z(printed, paper.values())
    table = partial_velocities(printed)
    for body in BODIES:
        for label, columns in ((f"ω({body})", paper.w[body]), (f"v({body}*)", paper.v[body])):
            assert list(table[label]) == [f"u{r + 1}" for r in range(6)]
            for r, expected in enumerate(columns):
                found = np.zeros(3) + read(table[label][f"u{r + 1}"], known)
                assert found == pytest.approx(expected, rel=AGREE, abs=AGREE), (label, r + 1)
                assert (table[label][f"u{r + 1}"] == "0") == (not np.any(expected)), (label, r + 1)


@pytest.mark.parametrize("paper", states(), ids=range(5))
def test_the_printed_speeds_and_rates_are_those_of_the_paper(printed: str, paper: Paper) -> None:
    """Eqs. 5-7 and 8-11."""
    known = with_Z(printed, paper.values())
    rates = equations(section(printed, "Rates"))
    assert [read(rates[f"q{k + 1}'"], known) for k in range(6)] == pytest.approx(paper.rates, rel=AGREE)
    definitions = equations(section(printed, "Generalized speeds"))
    qdot = generator(5).normal(size=6)
    letters = known | {f"q{k + 1}'": x for k, x in enumerate(qdot)}
    for k, definition in enumerate(paper.definitions):
        assert read(definitions[f"u{k + 1}"], letters) == pytest.approx(definition(qdot), rel=AGREE)


def test_the_printed_equations_vanish_where_the_compiled_ones_do(printed: str) -> None:
    m = kane.load("stanford-arm-kane")
    rng = generator(7)
    for paper in states():
        udot = rng.normal(size=6)
        tau = m.inverse_dynamics(paper.q, paper.u, udot)
        letters = paper.values() | {f"u{k + 1}'": x for k, x in enumerate(udot)}
        known = with_Z(printed, letters | {f"τ_u{k + 1}": x for k, x in enumerate(tau)})
        for line, effort in zip(section(printed, "Equations"), tau, strict=True):
            left = line.partition(" = 0    [")[0]
            assert read(left, known) == pytest.approx(0.0, abs=1e-10 * (1 + abs(effort)))
