"""Accelerations of a robot with forty digits, from the decimals in its URDF file: the truth that roundings are held to.

In come the file, a state and efforts; out goes the solution of M u̇ = tau − bias, the columns of M and the bias by the
recursion of Newton and Euler. Nothing of it is shared with the package: file, kinematics and solution are read and
worked out here. Joints are revolute, continuous, prismatic or fixed; the base rests.
"""

# mpmath, numbers of any precision, is a package without type information.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import mpmath
import numpy as np

Exact = np.ndarray[Any, np.dtype[np.object_]]
Array = np.ndarray[Any, np.dtype[np.float64]]

MP: Any = mpmath.MPContext()
MP.dps = 40  # digits: a mass matrix of condition 1e12 leaves 28 of them
ZERO: Exact = np.array([MP.mpf(0)] * 3, dtype=object)
IDENTITY: Exact = np.array([[MP.mpf(i == j) for j in range(3)] for i in range(3)], dtype=object)


class Body(NamedTuple):
    """A link: its joint (R_PB and p_PB in the parent's axes, axis and `moved` in its own) and inertia about B*."""

    parent: int
    R: Exact
    p: Exact
    axis: Exact
    slides: bool
    moved: int | None  # which of the coordinates moves it
    mass: Any
    center: Exact
    inertia: Exact


def accelerations(path: Path, joints: Sequence[str], q: Array, u: Array, tau: Array, gravity: Sequence[float]) -> Array:
    """u̇ (rad/s², m/s²), rounded at the very end; q, u and tau in the order of `joints`, gravity (m/s²) in N."""
    bodies = read(path, joints, exact(q))
    n, g = len(joints), np.array([MP.mpf(repr(float(x))) for x in gravity], dtype=object)
    still = [MP.mpf(0)] * n
    bias = efforts(bodies, exact(u), still, g)
    columns = [efforts(bodies, still, [MP.mpf(i == k) for i in range(n)], ZERO) for k in range(n)]
    M = MP.matrix(n, n)
    for j, column in enumerate(columns):
        for i, x in enumerate(column):
            M[i, j] = x
    solution = MP.lu_solve(M, MP.matrix([t - b for t, b in zip(exact(tau), bias, strict=True)]))
    return np.array([float(x) for x in solution])


def exact(values: Array) -> list[Any]:
    return [MP.mpf(float(x)) for x in values]


def read(path: Path, joints: Sequence[str], q: Sequence[Any]) -> list[Body]:
    """The links of a file, parents first, at the configuration q."""
    robot = ElementTree.parse(path).getroot()
    links = {link.attrib["name"]: link for link in robot.findall("link")}
    outward: dict[str, list[ElementTree.Element]] = {}
    for joint in robot.findall("joint"):
        outward.setdefault(end(joint, "parent"), []).append(joint)
    (root,) = set(links) - {end(j, "child") for found in outward.values() for j in found}
    bodies = [Body(-1, IDENTITY, ZERO, ZERO, False, None, *mass_of(links[root]))]
    stack = [(0, joint) for joint in outward.get(root, [])]
    while stack:
        parent, joint = stack.pop()
        R, p = pose(joint.find("origin"))
        kind, axis, moved = joint.attrib["type"], ZERO, None
        if kind != "fixed":
            moved = joints.index(joint.attrib["name"])
            axis = numbers(joint, "axis", "xyz", "1 0 0")
            axis = axis / MP.sqrt(axis @ axis)
            if kind == "prismatic":
                p = p + R @ axis * q[moved]
            else:
                R = R @ turn(axis, q[moved])
        child = end(joint, "child")
        stack += [(len(bodies), outer) for outer in outward.get(child, [])]
        bodies.append(Body(parent, R, p, axis, kind == "prismatic", moved, *mass_of(links[child])))
    return bodies


def end(joint: ElementTree.Element, which: str) -> str:
    found = joint.find(which)
    assert found is not None
    return found.attrib["link"]


def numbers(element: ElementTree.Element, child: str, attribute: str, default: str) -> Exact:
    found = element.find(child)
    text = default if found is None else found.get(attribute, default)
    return np.array([MP.mpf(x) for x in text.split()], dtype=object)


def pose(origin: ElementTree.Element | None) -> tuple[Exact, Exact]:
    """Rotation and position of an <origin>: roll, pitch and yaw about the fixed axes."""
    if origin is None:
        return IDENTITY, ZERO
    xyz, rpy = ([MP.mpf(x) for x in origin.get(name, "0 0 0").split()] for name in ("xyz", "rpy"))
    roll, pitch, yaw = (turn(IDENTITY[k], rpy[k]) for k in range(3))
    return yaw @ pitch @ roll, np.array(xyz, dtype=object)


def turn(axis: Exact, angle: Any) -> Exact:
    """The rotation about a unit vector, by the formula of Rodrigues."""
    x, y, z = axis
    K: Exact = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)
    return IDENTITY + MP.sin(angle) * K + (1 - MP.cos(angle)) * (K @ K)


def mass_of(link: ElementTree.Element) -> tuple[Any, Exact, Exact]:
    """Mass, mass centre and central inertia, in the link's axes."""
    inertial = link.find("inertial")
    if inertial is None:
        return MP.mpf(0), ZERO, 0 * IDENTITY
    R, center = pose(inertial.find("origin"))
    xx, xy, xz, yy, yz, zz = (
        numbers(inertial, "inertia", name, "0")[0] for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    matrix: Exact = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)
    return numbers(inertial, "mass", "value", "0")[0], center, R @ matrix @ R.T


def cross(a: Exact, b: Exact) -> Exact:
    return np.array([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)], dtype=object)


def efforts(bodies: Sequence[Body], u: Sequence[Any], udot: Sequence[Any], gravity: Exact) -> list[Any]:
    """Efforts (N m, N) along the joints by the recursion of Newton and Euler, all vectors in the links' axes."""
    motions: list[tuple[Exact, Exact, Exact]] = []  # ω, α and the acceleration of the joint, less gravity
    loads: list[tuple[Exact, Exact]] = []  # force and torque at the joint
    for b in bodies:
        w, al, a = motions[b.parent] if b.parent >= 0 else (ZERO, ZERO, -gravity)
        w, al, a = b.R.T @ w, b.R.T @ al, b.R.T @ (a + cross(al, b.p) + cross(w, cross(w, b.p)))
        if b.moved is not None and b.slides:
            a = a + b.axis * udot[b.moved] + 2 * cross(w, b.axis * u[b.moved])
        elif b.moved is not None:
            al = al + b.axis * udot[b.moved] + cross(w, b.axis * u[b.moved])
            w = w + b.axis * u[b.moved]
        motions.append((w, al, a))
        F = b.mass * (a + cross(al, b.center) + cross(w, cross(w, b.center)))
        loads.append((F, b.inertia @ al + cross(w, b.inertia @ w) + cross(b.center, F)))
    found = [MP.mpf(0)] * len(u)
    for k in range(len(bodies) - 1, 0, -1):
        b, (F, T) = bodies[k], loads[k]
        if b.moved is not None:
            found[b.moved] = b.axis @ (F if b.slides else T)
        inner_F, inner_T = loads[b.parent]
        F = b.R @ F
        loads[b.parent] = inner_F + F, inner_T + b.R @ T + cross(b.p, F)
    return found
