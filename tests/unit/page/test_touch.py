"""Bodies of a page that are pulled: the mass that a hand feels, energy that is accounted for, constraints that hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
import node
from kane.api.pages import coupler_frequency

ROLLING = 1e-9
"""Residual (m/s) of rolling while a body is pulled: projection after each step leaves rounding."""

BALANCE = 1e-6
"""Change of energy less work, relative to the energy that came in: the error of steps of 1 ms."""


def drag(
    m: kane.Model, folder: Path, body: str, point: tuple[float, ...], *, radius: float, seconds: float, **options: Any
) -> Any:
    path = m.page(folder / "page.html", **options)
    index = list(m.bodies).index(body)
    return json.loads(node.run("tests/run_drag.mjs", path, *map(str, (index, *point, radius, seconds))))


def mobility(m: kane.Model, body: str, point: tuple[float, ...]) -> np.ndarray:
    """Accelerations (3, 3) of a point per unit force there, from mass matrix, Jacobian and what constraints leave."""
    q, _ = m.initial_state
    J = m.at(body, point).jacobian(q)[3:]
    N = np.eye(len(m.speeds))
    if m.constraints:
        A = m.constraint_rows(q, 0 * m.initial_state[1]).A
        _, values, rows = np.linalg.svd(A)
        N = rows[np.sum(values > 1e-9 * values[0]) :].T
    return J @ N @ np.linalg.solve(N.T @ m.mass_matrix(q) @ N, N.T) @ J.T


@pytest.mark.parametrize(
    ("name", "body", "point"),
    [
        ("pendulum", "bob", (0.0, -1.0, 0.0)),
        ("stanford-arm", "F", (0.0, 0.1, 0.2)),
        ("four-bar", "coupler", (0.2, 0.0, 0.0)),
        ("whipple-bicycle", "frame", (0.0, 0.0, 0.0)),
    ],
)
def test_the_hand_feels_the_effective_mass(name: str, body: str, point: tuple[float, ...], tmp_path: Path) -> None:
    m = kane.load(name)
    felt = drag(m, tmp_path, body, point, radius=0.0, seconds=0.1)["mass"]
    assert felt == pytest.approx(1 / np.linalg.norm(mobility(m, body, point)), rel=1e-9)


def test_between_contacts_the_hand_feels_the_same_mass(tmp_path: Path) -> None:
    m, point = kane.load("four-bar-stop"), (0.1, 0.0, 0.0)
    felt = drag(m, tmp_path, "coupler", point, radius=0.0, seconds=0.1, contacts="stepping", step=1e-3)["mass"]
    assert felt == pytest.approx(1 / np.linalg.norm(mobility(m, "coupler", point)), rel=1e-9)


def test_a_ball_that_is_stepped_hangs_on_the_hand_by_its_weight(tmp_path: Path) -> None:
    """With K = m ω² it comes to rest g/ω² below the hand that caught it at the height of the drop."""
    m = kane.load("bouncing-ball")
    found = drag(m, tmp_path, "ball", (0, 0, 0), radius=0.0, seconds=5, contacts="stepping", step=1e-3)
    sag = 9.81 / coupler_frequency(m._answers) ** 2
    assert found["states"][-1]["q"][0] == pytest.approx(1 - sag, abs=1e-9) and sag > 1e-3


@pytest.mark.parametrize(
    ("name", "body", "stepped"),
    [
        ("double-pendulum", "lower", {}),
        ("bouncing-ball", "ball", {}),
        ("bouncing-ball", "ball", {"contacts": "stepping", "step": 1e-3}),
    ],
)
def test_work_of_the_hand_is_in_the_energy_balance(name: str, body: str, stepped: Any, tmp_path: Path) -> None:
    m = kane.load(name)
    found = drag(m, tmp_path, body, (0.0, 0.0, 0.0), radius=0.4, seconds=10, **stepped)["states"]
    totals = np.array([s["energy"]["kinetic"] + s["energy"]["potential"] - s["energy"]["work"] for s in found])
    work = max(abs(s["energy"]["work"]) for s in found)
    assert work > 1e-3  # J
    assert np.ptp(totals) <= BALANCE * max(work, 1.0)


def test_a_dragged_bicycle_rolls_without_slip(tmp_path: Path) -> None:
    m = kane.load("whipple-bicycle")
    found = drag(m, tmp_path, "frame", (0.3, 0.0, -0.9), radius=0.5, seconds=60)
    assert found["stopped"] == "" and found["states"][-1]["t"] == pytest.approx(60.0, abs=1e-6)
    q = np.array([s["q"] for s in found["states"]])
    u = np.array([s["u"] for s in found["states"]])
    rows = m.constraint_rows(q, u)
    assert np.abs(rows.rate).max() <= ROLLING
    assert np.abs(u - u[0]).max() > 0.1, "it was moved"
