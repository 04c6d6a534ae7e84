"""The Stanford arm of Kane & Levinson as plain data, its reference motion, its control law and its reference results.

All lengths in m, masses in kg, moments of inertia in kg m². At q = 0 the axes of all bodies are parallel to n1, n2, n3;
n2 points up. The tree runs A(q1), B(q2), C(q6), D(q3), E(q4), F(q5), but arrays are in the order q1..q6 of the paper
[KL83, Fig. 2, App. 3]; q1..q5 in rad, q6 in m.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Triple = tuple[float, float, float]

GRAVITY = 9.81  # m/s², along -n2; the paper gives none, the reference results use this one
L1, L2, L3, L4, L5, L6 = 0.1, 0.6, 0.2, 0.1, 0.7, 0.06
N_COORDINATES = 6

# The paper's τ2..τ5 and σ act on the inner body from the outer one: minus the effort along the speed.
PAPER_SIGN = np.array([1.0, -1.0, -1.0, -1.0, -1.0, -1.0])

START = np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0])
TARGET = np.array([np.pi / 3] * 5 + [0.1])
DURATION = 10.0  # s


@dataclass(frozen=True, slots=True)
class Link:
    """A body and the joint that carries it.

    `offset` leads from the parent's origin to this body's origin at q = 0 (parent axes), `mass_center` from there to
    the mass centre (own axes); `inertia` holds the central principal moments about the own axes; `coordinate` is the
    index of the joint's coordinate in q.
    """

    name: str
    joint: Literal["revolute", "prismatic"]
    axis: Triple
    coordinate: int
    offset: Triple
    mass: float
    mass_center: Triple
    inertia: Triple


VERTICAL: Triple = (0.0, 1.0, 0.0)
HORIZONTAL: Triple = (1.0, 0.0, 0.0)
ORIGIN: Triple = (0.0, 0.0, 0.0)

CHAIN = (
    Link("A", "revolute", VERTICAL, 0, ORIGIN, 9.0, ORIGIN, (0.01, 0.02, 0.01)),
    Link("B", "revolute", HORIZONTAL, 1, (L1, L4, 0.0), 6.0, ORIGIN, (0.06, 0.01, 0.05)),
    Link("C", "prismatic", VERTICAL, 5, ORIGIN, 4.0, ORIGIN, (0.4, 0.01, 0.4)),
    Link("D", "revolute", VERTICAL, 2, ORIGIN, 1.0, (0.0, L5, 0.0), (0.0005, 0.001, 0.001)),
    Link("E", "revolute", HORIZONTAL, 3, (0.0, L2, 0.0), 0.6, (0.0, L6, 0.0), (0.0005, 0.0002, 0.0005)),
    Link("F", "revolute", VERTICAL, 4, ORIGIN, 0.5, (0.0, L3, 0.0), (0.001, 0.002, 0.003)),
)

# TREE_ORDER[k] is the index in q of the k-th joint of the chain.
TREE_ORDER = np.array([link.coordinate for link in CHAIN])


def paper_order(values: Array) -> Array:
    """Values of the joints from the base outward, put in the order q1..q6."""
    ordered = np.empty(N_COORDINATES)
    ordered[TREE_ORDER] = values
    return ordered


@dataclass(frozen=True, slots=True)
class Sample:
    """Coordinates, their first and second time derivatives, and efforts along the speeds; each (n,) or (batch, n)."""

    q: Array
    u: Array
    udot: Array
    effort: Array


def reference_motion(t: float | Array) -> tuple[Array, Array, Array]:
    """q, q̇, q̈ of the cycloidal rest-to-rest motion at t in s, each (6,) or (len(t), 6) [KL83, Eq. 127]."""
    phase = 2 * np.pi * np.asarray(t, dtype=float)[..., None] / DURATION
    travel = TARGET - START
    q = START + travel * (phase - np.sin(phase)) / (2 * np.pi)
    u = travel / DURATION * (1 - np.cos(phase))
    udot = travel * 2 * np.pi / DURATION**2 * np.sin(phase)
    return q, u, udot


def feedback_effort(q: Array, u: Array) -> Array:
    """Efforts along the speeds, (6,), of the paper's gravity-compensated feedback law [KL83, Eqs. 128-133]."""
    stiffness = np.array([3.0, 1.0, 0.30, 0.30, 0.25, 30.0])
    damping = np.array([5.0, 3.0, 0.60, 0.60, 0.25, 41.0])
    m_C, m_D, m_E, m_F = (link.mass for link in CHAIN[2:])
    s2, s3, s4 = np.sin(q[1:4])
    c2, c3, c4 = np.cos(q[1:4])
    q6, wrist = q[5], m_E * L6 + m_F * L3
    lever = ((m_C + m_D) * q6 + m_D * L5) * s2 + wrist * (c4 * s2 + c3 * s4 * c2) + (m_E + m_F) * (q6 + L2) * s2
    weight = GRAVITY * np.array(
        [0.0, lever, -wrist * s2 * s3 * s4, wrist * (c2 * s4 + s2 * c3 * c4), 0.0, -(m_C + m_D + m_E + m_F) * c2]
    )
    return stiffness * (TARGET - q) - damping * u + PAPER_SIGN * weight


def vertical_angular_momentum(q: Array, u: Array) -> float:
    """n2 component in kg m²/s of the angular momentum about A*, by sums over the bodies [KL83, Eqs. 134-138]."""
    R_N = np.eye(3)
    p, w, v = np.zeros(3), np.zeros(3), np.zeros(3)
    total = np.zeros(3)
    for link in CHAIN:
        arm, axis = R_N @ np.array(link.offset), R_N @ np.array(link.axis)
        position, speed = q[link.coordinate], u[link.coordinate]
        p, v = p + arm, v + np.cross(w, arm)
        if link.joint == "revolute":
            w = w + speed * axis
            R_N = R_N @ rotation(link.axis, position)
        else:
            p, v = p + position * axis, v + np.cross(w, position * axis) + speed * axis
        lever = R_N @ np.array(link.mass_center)
        spin = R_N @ (np.array(link.inertia) * (R_N.T @ w))
        total = total + spin + link.mass * np.cross(p + lever, v + np.cross(w, lever))
    return float(total[1])


def rotation(axis: Triple, angle: float) -> Array:
    """(3, 3) direction cosines that take components in the turned frame to the original one, by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


@cache
def reference() -> dict:
    """The stored reference results; `about` in the file states where they come from and the signs of the efforts."""
    return json.loads((Path(__file__).parents[1] / "reference" / "stanford_arm.json").read_text(encoding="utf-8"))


def reference_efforts() -> Sample:
    """The 21 samples of the reference motion, with efforts along the speeds (the file has the paper's signs)."""
    rows = reference()["inverse_dynamics_fig1"]
    q, u, udot, effort = (np.array([row[key] for row in rows]) for key in ("q", "qdot", "qddot", "effort"))
    return Sample(q, u, udot, PAPER_SIGN * effort)


def random_samples(count: int, seed: int = 1) -> Sample:
    """`count` random states with random accelerations and unrelated random efforts, spread as in real use."""
    rng = np.random.default_rng(seed)
    q = np.column_stack([rng.uniform(-np.pi, np.pi, (count, 5)), rng.uniform(-0.3, 0.3, count)])
    u, udot, effort = (rng.uniform(-size, size, (count, N_COORDINATES)) for size in (2.0, 5.0, 10.0))
    return Sample(q, u, udot, effort)
