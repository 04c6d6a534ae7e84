"""Reactions that rigid bodies leave open are those of rows that yield alike: the limit of stiff springs.

A table on four legs: three would carry it. On springs in place of the legs K x = load has one solution, whose forces
are k A x; they do not depend on how stiff equal springs are, nor on where the origin of the body lies.
"""

from __future__ import annotations

import numpy as np
import pytest

from kane import InputError, Model, PointOnPlane

LEGS = {"leg 1": (0.5, 0.4), "leg 2": (-0.6, 0.4), "leg 3": (-0.6, -0.3), "leg 4": (0.5, -0.7)}
MASS, CENTER, G = 2.0, (0.12, -0.07, 0.3), 9.81
ORIGINS = [(0.0, 0.0, 0.0), (0.3, 0.2, 0.1), (-0.8, 0.5, 0.7), (2.0, -1.0, -0.4)]
METHODS = ("auxiliary", "multipliers", "complement")
AGREEMENT = 1e-9  # N


def table(origin: tuple[float, ...]) -> Model:
    """A table that may move in all six ways, its origin somewhere, on a floor without friction."""
    model = Model("table", gravity=(0, 0, -G))
    shift = -np.array(origin)
    center = (np.array(CENTER) + shift).tolist()
    model.body("top", mass=MASS, center=center, inertia={"xx": 0.2, "yy": 0.3, "zz": 0.4})
    model.joint("free", "free", "ground", "top")
    for name, (x, y) in LEGS.items():
        model.constrain(name, PointOnPlane("ground", "top", second_at=tuple(np.add(shift, (x, y, 0)).tolist())))
    return model


def spring_forces(stiffness: dict[str, float]) -> dict[str, float]:
    """Forces (N) of vertical springs under a plate of three freedoms, sinking z + y θx − x θy."""
    A = np.array([[1.0, y, -x] for x, y in LEGS.values()])
    k = np.array([stiffness.get(name, 1.0) for name in LEGS])
    load = MASS * G * np.array([1.0, CENTER[1], -CENTER[0]])
    return dict(zip(LEGS, k * (A @ np.linalg.solve(A.T @ (k[:, None] * A), load)), strict=True))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("stiffness", [{}, {"leg 1": 2.0}, {"leg 2": 0.5, "leg 4": 3.0}])
def test_a_table_stands_as_on_stiff_springs(
    origin: tuple[float, ...], method: str, stiffness: dict[str, float]
) -> None:
    model = table(origin)
    q, u = model.project(hold=model.speeds)  # the legs reach the floor
    found = model.reactions(q, u, method=method, stiffness=stiffness or None)
    expected = spring_forces(stiffness)
    for name in LEGS:
        assert np.abs(found[name].force - [0, 0, expected[name]]).max() <= AGREEMENT
        assert found[name].undetermined == ("force z",)


def test_a_stiffness_is_positive_and_of_a_constraint() -> None:
    model = table(ORIGINS[0])
    q, u = model.initial_state
    with pytest.raises(InputError, match="positive"):
        model.reactions(q, u, stiffness={"leg 1": 0.0})
    with pytest.raises(InputError, match="unknown constraint or row 'leg 5'"):
        model.reactions(q, u, stiffness={"leg 5": 1.0})
