"""Couplings and linkages in space closed by each kind of joint, held against the closed forms of their motion.

The Cardan joint turns its shafts at the ratio cos β / (1 − sin² β cos² θ); Oldham's coupling carries a turn over to a
parallel shaft unchanged, while its middle runs round twice as fast on a circle over the distance of the shafts;
Bennett's linkage moves although its joints count to none, with tan(θ₁/2) tan(θ₂/2) constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kane import Model
from kane.model import Loop, read_mechanism

EXACT = 1e-11  # rounding of two formulas, and of projections
CLOSE = 1e-9  # of a motion over some seconds at the tolerances below
TIGHT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}

CARDAN = """
kane: 1
name: cardan
parameters: {b: 0.5, Ji: 0.1, Jo: 0.3}
bodies: {in: {inertia: {xx: Ji, yy: Ji}}, out: {inertia: {xx: Jo, yy: Jo}}}
joints:
  in: {type: revolute, parent: ground, child: in, axis: x, coordinate: qi, speed: ui}
  out: {type: revolute, parent: ground, child: out, axis: x, rotation: {axis: z, angle: b}, coordinate: qo, speed: uo}
constraints:
  cross: {type: universal, first: in, second: out, sequence: body yz}
"""
OLDHAM = """
kane: 1
name: oldham
parameters: {d: 0.1}
bodies:
  in: {inertia: {yy: 0.1, zz: 0.1}}
  out: {inertia: {yy: 0.2, zz: 0.2}}
  middle: {mass: 0.5, inertia: {yy: 0.05, zz: 0.05}}
joints:
  in: {type: revolute, parent: ground, child: in, coordinate: qi, speed: ui}
  out: {type: revolute, parent: ground, child: out, at: [d, 0, 0], coordinate: qo, speed: uo}
  middle: {type: planar, parent: ground, child: middle, coordinates: [x, y, h], speeds: [vx, vy, w]}
constraints:
  one: {type: prismatic, first: in, second: middle, axis: x}
  two: {type: prismatic, first: out, second: middle, axis: y}
initial: {qi: 0.7, qo: 0.7, h: 0.7}
"""


def read(text: str) -> Model:
    return Model.of(read_mechanism(text, "coupling.yaml"))


def test_a_cardan_joint_turns_its_shafts_at_its_ratio_all_around() -> None:
    model, b = read(CARDAN), 0.5
    assert model.freedom().degrees == 1
    q, u = model.project({"qi": 0.3, "qo": 0.3}, {"ui": 2.0}, hold=["qi", "ui"])
    run = model.simulate(np.linspace(0, 5, 101), q=q, u=u, **TIGHT)
    (qi, qo), (ui, uo) = run.q.T, run.u.T
    ratio = np.cos(b) / (1 - (np.sin(b) * np.cos(qi)) ** 2)
    assert np.ptp(qi) > 2 * np.pi
    assert np.abs(np.sin(qo) * np.cos(qi) * np.cos(b) - np.cos(qo) * np.sin(qi)).max() <= EXACT
    assert np.abs(uo - ratio * ui).max() <= EXACT
    assert np.ptp(ui * np.sqrt(0.1 + 0.3 * ratio**2)) <= CLOSE


def test_oldham_s_coupling_carries_a_turn_over_to_a_parallel_shaft() -> None:
    model, d = read(OLDHAM), 0.1
    free = model.freedom()
    assert free.degrees == 1 and set(free.redundant) == {f"{c}.{r}" for c in ("one", "two") for r in ("z", "rx", "ry")}
    q, u = model.project(None, {"ui": 2.0}, hold=["qi", "ui"])
    t = np.linspace(0, 4, 41)
    run = model.simulate(t, q=q, u=u, **TIGHT)
    angle = 0.7 + 2.0 * t
    assert np.abs(run.q[:, [0, 1, 4]] - angle[:, None]).max() <= CLOSE
    circle = d / 2 * np.stack([1 + np.cos(2 * angle), np.sin(2 * angle)], axis=1)
    assert np.abs(run.q[:, 2:4] - circle).max() <= CLOSE


def bennett(a: float, twist: float, other: float) -> Model:
    """Links of length a and b in turn, twisted by α and β, a / sin α = b / sin β; the last one is the ground."""
    b = a * np.sin(other) / np.sin(twist)
    model, parent, place = Model("bennett"), "ground", {}
    for k, (length, angle) in enumerate([(a, twist), (b, other), (a, twist)]):
        name = f"link {k}"
        model.body(name, mass=1 + 0.3 * k, center=(length / 2, 0, 0), inertia={"xx": 0.01, "yy": 0.02, "zz": 0.02})
        model.joint(name, "revolute", parent, name, coordinates=[f"q{k}"], speeds=[f"u{k}"], **place)
        parent, place = name, {"at": (length, 0, 0), "rotation": {"axis": "x", "angle": angle}}
    ends = {"first_at": place["at"], "first_rotation": place["rotation"]}
    back = {"second_at": (-b, 0, 0), "second_rotation": {"axis": "x", "angle": -other}}
    model.constrain("pin", Loop("revolute", parent, "ground", **ends, **back))
    return model


@pytest.mark.parametrize("start", [0.5, 2.0, -2.0])
def test_bennett_s_linkage_keeps_its_closed_form(start: float) -> None:
    twist, other = 0.6, 1.1
    K = np.sin((other + twist) / 2) / np.sin((other - twist) / 2)
    model = bennett(0.5, twist, other)
    near = {"q0": start, "q1": 2 * np.arctan2(K, np.tan(start / 2)) + 0.05, "q2": 2 * np.pi - start - 0.05}
    q, u = model.project(near, {"u0": 1.0}, hold=["q0", "u0"])
    free = model.freedom(q)
    assert (free.degrees, free.rank) == (1, 2) and len(model.row_names) == 5
    run = model.simulate(np.linspace(0, 5, 51), q=q, u=u, **TIGHT)
    half = run.q / 2
    product = np.sin(half[:, 0]) * np.sin(half[:, 1]) - K * np.cos(half[:, 0]) * np.cos(half[:, 1])
    assert np.abs(product).max() <= EXACT and np.abs(np.sin(half[:, 0] + half[:, 2])).max() <= EXACT
    assert np.ptp(run.energy().kinetic) <= CLOSE
