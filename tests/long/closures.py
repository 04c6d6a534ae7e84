"""Constraints as the package is told them and as the oracle knows them: loops, rods, guides and rolling contacts.

The oracle's side is a function of the poses alone. Of a position it is the closure whose first and second derivatives
in time are a row and what it must accelerate by; of a rolling contact it is the velocity of the rolling body's material
point at the contact, relative to the other body, with its rate. Each constraint is made so that it is met in the given
position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane import (
    Distance,
    KnifeEdge,
    Loop,
    PointOnLine,
    PointOnPlane,
    Rolling,
    RollingEllipsoid,
    RollingOnSphere,
    RollingSphere,
)
from kane.model import Constraint
from laws.trees import rotation
from long.newton import GROUND, Moving, Series, Tree, axis_of, cross, direction, dot, series, stacked

Array = NDArray[np.float64]
LOOPS = ("weld", "revolute", "prismatic", "cylindrical", "spherical")
UPRIGHT = 0.3  # least sine of the angle between a wheel's axis and the normal: a wheel that lies flat touches nowhere


@dataclass(frozen=True)
class Rows:
    """Values whose rates vanish: `at_rates` of bodies gives (rate, second derivative) of each."""

    rates: Callable[[list[Moving]], tuple[Array, Array]]


@dataclass(frozen=True)
class Closed:
    """A constraint as the package is told it, and as the oracle knows it."""

    record: Constraint
    rows: Rows


def body_at(now: list[Moving], k: int) -> Moving:
    return GROUND if k < 0 else now[k]


def name_of(k: int) -> str:
    return "ground" if k < 0 else f"b{k}"


def of_position(closure: Callable[[list[Moving]], Series]) -> Rows:
    def rates(now: list[Moving]) -> tuple[Array, Array]:
        phi = closure(now)
        return phi.rate, phi.second

    return Rows(rates)


def loop(kind: str, ends: tuple[int, int], at: tuple[Array, Array], axes: tuple[Array, Array]) -> Closed:
    """A joint about or along z of two frames, one in each body."""

    def closure(now: list[Moving]) -> Series:
        one, two = (body_at(now, k) for k in ends)
        F, S = one.R @ axes[0], two.R @ axes[1]
        f, s = ([M @ e for e in np.eye(3)] for M in (F, S))
        d = two.point(at[1]) - one.point(at[0])
        across = [dot(f[0], d), dot(f[1], d)]
        tilt = [dot(f[0], s[2]), dot(f[1], s[2])]
        found = {
            "spherical": [dot(e, d) for e in f],
            "revolute": [*(dot(e, d) for e in f), *tilt],
            "cylindrical": [*across, *tilt],
            "prismatic": [*across, *tilt, dot(f[0], s[1])],
            "weld": [*(dot(e, d) for e in f), *tilt, dot(f[0], s[1])],
        }[kind]
        return stacked(found)

    turns: dict[str, Any] = {
        "first_rotation": {"matrix": axes[0].tolist()},
        "second_rotation": {"matrix": axes[1].tolist()},
    }
    places: dict[str, Any] = {"first_at": at[0].tolist(), "second_at": at[1].tolist()}
    record = Loop(kind, name_of(ends[0]), name_of(ends[1]), axis="z", **places, **turns)
    return Closed(record, of_position(closure))


def local(body: Moving, place: Array) -> Array:
    """A place of N in a body's frame."""
    return body.R.c[0].T @ (place - body.p.c[0])


def closing_loop(kind: str, first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A loop that is closed in the given position."""
    place, Z = rng.normal(size=3) * 0.5, rotation(rng)
    one, two = body_at(now, first), body_at(now, second)
    place = two.point(place).c[0]
    return loop(kind, (first, second), (local(one, place), local(two, place)), (one.R.c[0].T @ Z, two.R.c[0].T @ Z))


def doubled_joint(tree: Tree, k: int, now: list[Moving]) -> Closed:
    """A loop of the kind of joint k beside it: implied by the tree, all its rows vanish but for rounding."""
    b = tree.plan.bodies[k]
    one, two = body_at(now, b.parent), now[k]
    Z = np.eye(3)
    if b.kind in ("revolute", "prismatic", "cylindrical"):
        e = one.R.c[0] @ b.R_P @ axis_of(b.options)
        x = np.cross(e, np.eye(3)[int(np.argmin(np.abs(e)))])
        x /= np.linalg.norm(x)
        Z = np.stack([x, np.cross(e, x), e], axis=1)
    return loop(b.kind, (b.parent, k), (b.at, b.child_at), (one.R.c[0].T @ Z, two.R.c[0].T @ Z))


def rod(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A distance that stays."""
    at = rng.normal(size=(2, 3))

    def closure(now: list[Moving]) -> Series:
        d = body_at(now, second).point(at[1]) - body_at(now, first).point(at[0])
        return stacked([dot(d, d) * 0.5])

    d = body_at(now, second).point(at[1]).c[0] - body_at(now, first).point(at[0]).c[0]
    ends = {"first_at": at[0].tolist(), "second_at": at[1].tolist()}
    return Closed(
        Distance(name_of(first), name_of(second), length=float(np.linalg.norm(d)), **ends), of_position(closure)
    )


def guide(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A point of one body on a plane of another."""
    n, at = rotation(rng)[0], rng.normal(size=3)
    one, two = body_at(now, first), body_at(now, second)
    origin = local(one, two.point(at).c[0])

    def closure(now: list[Moving]) -> Series:
        one, two = body_at(now, first), body_at(now, second)
        return stacked([dot(one.R @ n, two.point(at) - one.point(origin))])

    ends = {"first_at": origin.tolist(), "second_at": at.tolist()}
    return Closed(PointOnPlane(name_of(first), name_of(second), normal=n.tolist(), **ends), of_position(closure))


def line(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A point of one body on a line of another."""
    E, at = rotation(rng), rng.normal(size=3)
    one, two = body_at(now, first), body_at(now, second)
    origin = local(one, two.point(at).c[0])

    def closure(now: list[Moving]) -> Series:
        one, two = body_at(now, first), body_at(now, second)
        gap = two.point(at) - one.point(origin)
        return stacked([dot(one.R @ E[k], gap) for k in (0, 1)])

    ends = {"first_at": origin.tolist(), "second_at": at.tolist()}
    return Closed(PointOnLine(name_of(first), name_of(second), axis=E[2].tolist(), **ends), of_position(closure))


def sliding(one: Moving, two: Moving, center: Array, arm: Series) -> Series:
    """Velocity, and its rate as second coefficient, of the material point of `two` at `arm` from its point `center`,
    relative to that of `one` in the same place."""
    w_one, w_two = (Series((body.w, body.alpha, np.zeros(3))) for body in (one, two))
    middle, origin = two.point(center), one.p
    v_middle, v_origin = (Series((p.rate, p.second, np.zeros(3))) for p in (middle, origin))
    return v_middle + cross(w_two, arm) - v_origin - cross(w_one, middle + arm - origin)


def blade(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A knife edge: a point of the second body has no velocity along a direction of its own."""
    e, at = rotation(rng)[0], rng.normal(size=3)

    def rates(now: list[Moving]) -> tuple[Array, Array]:
        one, two = body_at(now, first), body_at(now, second)
        v = dot(two.R @ e, sliding(one, two, at, series(np.zeros(3))))
        return np.array([v.c[0]]), np.array([v.c[1]])

    record = KnifeEdge(name_of(second), at=at.tolist(), direction=e.tolist(), on=name_of(first))
    return Closed(record, Rows(rates))


Arm = Callable[[Moving, Moving], Series]


def contact(first: int, second: int, center: Array, arm: Arm) -> Rows:
    """No slip where `arm`, from `center` of the second body, ends."""

    def rates(now: list[Moving]) -> tuple[Array, Array]:
        one, two = body_at(now, first), body_at(now, second)
        v = sliding(one, two, center, arm(one, two))
        return v.c[0], v.c[1]

    return Rows(rates)


def under(first: int, second: int, now: list[Moving], center: Array, arm: Arm) -> list[float]:
    """The place of contact as a point of the first body."""
    one, two = body_at(now, first), body_at(now, second)
    return local(one, (two.point(center) + arm(one, two)).c[0]).tolist()


def ball(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A ball, part of a body, on a plane of another."""
    n, center, radius = rotation(rng)[0], rng.normal(size=3) * 0.4, float(rng.uniform(0.2, 1.0))

    def arm(one: Moving, two: Moving) -> Series:
        return one.R @ (-radius * n)

    plane = {"at": under(first, second, now, center, arm), "normal": n.tolist(), "on": name_of(first)}
    record = RollingSphere(name_of(second), radius=radius, center=center.tolist(), **plane)
    return Closed(record, contact(first, second, center, arm))


def wheel(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A wheel with a sharp or a round rim, anywhere on a body, on a plane of another."""
    one, two = body_at(now, first), body_at(now, second)
    center, radius = rng.normal(size=3) * 0.4, float(rng.uniform(0.2, 1.0))
    crown = radius * float(rng.choice([0.0, 0.3, 0.8]))
    while True:
        n, e = rotation(rng)[0], rotation(rng)[0]
        if np.linalg.norm(np.cross(one.R.c[0] @ n, two.R.c[0] @ e)) > UPRIGHT:
            break

    def arm(one: Moving, two: Moving) -> Series:
        up, axis = one.R @ n, two.R @ e
        return direction(up - dot(up, axis) * axis) * (crown - radius) - up * crown

    plane = {"at": under(first, second, now, center, arm), "normal": n.tolist(), "on": name_of(first)}
    record = Rolling(name_of(second), radius=radius, axis=e.tolist(), center=center.tolist(), crown=crown, **plane)
    return Closed(record, contact(first, second, center, arm))


def transposed(R: Series) -> Series:
    return Series((R.c[0].T, R.c[1].T, R.c[2].T))


def ellipsoid(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """An ellipsoid, turned in its body, on a plane of another: its lowest point is −A n / √(n · A n)."""
    n, center, E = rotation(rng)[0], rng.normal(size=3) * 0.4, rotation(rng)
    sizes = rng.uniform(0.3, 1.0, 3)
    A = E @ np.diag(sizes**2) @ E.T

    def arm(one: Moving, two: Moving) -> Series:
        up = one.R @ n
        down = two.R @ A @ transposed(two.R) @ up
        return down * dot(up, down).sqrt().reciprocal() * -1.0

    plane = {"at": under(first, second, now, center, arm), "normal": n.tolist(), "on": name_of(first)}
    record = RollingEllipsoid(
        name_of(second), semi_axes=sizes.tolist(), center=center.tolist(), rotation={"matrix": E.tolist()}, **plane
    )
    return Closed(record, contact(first, second, center, arm))


def ball_on_ball(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A ball on a ball of another body, or in a hollow of it."""
    one, two = body_at(now, first), body_at(now, second)
    center, radius, inside = rng.normal(size=3) * 0.4, float(rng.uniform(0.2, 0.6)), bool(rng.integers(2))
    other = radius + float(rng.uniform(0.3, 1.0))
    k = rotation(rng)[0]
    gap = other - radius if inside else other + radius
    at = local(one, two.point(center).c[0] - gap * k)
    usual = one.R.c[0].T @ k + 0.3 * rotation(rng)[0]
    usual /= np.linalg.norm(usual)

    def arm(one: Moving, two: Moving) -> Series:
        return direction(two.point(center) - one.point(at)) * (radius if inside else -radius)

    record = RollingOnSphere(
        name_of(second),
        radius=radius,
        on_radius=other,
        center=center.tolist(),
        on=name_of(first),
        at=at.tolist(),
        inside=inside,
        normal=usual.tolist(),
    )
    return Closed(record, contact(first, second, center, arm))
