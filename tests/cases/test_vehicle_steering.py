"""Steering of vehicles: laws, their derivatives and their poles; and descriptions of vehicles that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import kane

G, LENGTH, TRACK = 9.81, 1.6, 0.9
WHEEL: dict[str, Any] = {"radius": 0.2, "mass": 3}


def car(law: str = "ackermann", **options: Any) -> kane.Model:
    """Rear wheels at x = 0 and front wheels at the wheelbase, steered by a law."""
    m = kane.Model("car", gravity=(0, 0, -G))
    m.body("chassis", mass=100, center=(0.8, 0, 0.3), inertia={"xx": 5, "yy": 9, "zz": 12})
    places = {"fl": (LENGTH, TRACK / 2), "fr": (LENGTH, -TRACK / 2), "rl": (0, TRACK / 2), "rr": (0, -TRACK / 2)}
    wheels = {
        n: {"at": (x, y, 0), **WHEEL, **({"steering": law} if n[0] == "f" else {})} for n, (x, y) in places.items()
    }
    m.vehicle("chassis", wheels, **{"steering": "phi", **options})
    return m


@pytest.mark.parametrize(("name", "y"), [("fl", TRACK / 2), ("fr", -TRACK / 2)])
def test_derivatives_of_a_steering_law_are_exact(name: str, y: float) -> None:
    """Angle, rate and acceleration of each fork: φ_j, φ_j' φ̇ and φ_j'' φ̇² + φ_j' φ̈, by SymPy."""
    m, phi = car(), sympy.Symbol("phi")
    law = sympy.atan(LENGTH * sympy.sin(phi) / (LENGTH * sympy.cos(phi) - y * sympy.sin(phi)))
    for angle, rate in ((0.3, 0.7), (-0.45, 1.3), (0.0, -2.0)):
        run = m.simulate([0.0, 1e-3], q={"phi": angle}, u={"uphi": rate, m.speeds[0]: 2.0}, rtol=1e-12)
        f, df, ddf = (float(law.diff(phi, k).subs(phi, angle)) for k in range(3))
        udot = run.acceleration()[0]
        q, u = (
            dict(zip(names, values, strict=True)) for names, values in ((m.coordinates, run.q[0]), (m.speeds, run.u[0]))
        )
        fork, own = m.speeds.index(f"u_{name}_fork"), m.speeds.index("uphi")
        assert q[f"q_{name}_fork"] == pytest.approx(f, abs=1e-12)
        assert u[f"u_{name}_fork"] == pytest.approx(df * rate, rel=1e-12)
        assert udot[fork] == pytest.approx(ddf * rate**2 + df * udot[own], rel=1e-9, abs=1e-9)


FRONT, REAR = 0.7, 0.9  # m from the pivot to the axles


def loader(**options: Any) -> kane.Model:
    m = kane.Model("loader", gravity=(0, 0, -G))
    m.body("rear", mass=80, center=(0.2, 0, 0.2), inertia={"xx": 4, "yy": 5, "zz": 6})
    m.body("front", mass=60, center=(0.5, 0, 0.2), inertia={"xx": 3, "yy": 4, "zz": 5})
    front = {"on": "front", "steering": "articulated"}
    wheels = {
        "fl": {"at": (FRONT, 0.4, 0), **front, **WHEEL},
        "fr": {"at": (FRONT, -0.4, 0), **front, **WHEEL},
        "rl": {"at": (0, 0.4, 0), **WHEEL},
        "rr": {"at": (0, -0.4, 0), **WHEEL},
    }
    m.vehicle("rear", wheels, steering="phi", **{"pivot": (REAR, 0, 0), **options})
    return m


def test_an_articulated_vehicle_turns_about_where_its_axles_meet() -> None:
    """With the rear axle at v: θ̇ = (v sin φ − l_f φ̇) / (l_r cos φ + l_f)."""
    m = loader()
    assert m.freedom().degrees == 2 and m.joints["front"].coordinates[0].name == "phi"
    for phi, rate in ((0.4, 0.0), (-0.6, 0.3)):
        run = m.simulate([0.0, 1e-6], q={"phi": phi}, u={m.speeds[0]: 1.5, "uphi": rate})
        v, lateral, yaw = run.u[0, :3]
        assert (v, lateral) == pytest.approx((1.5, 0.0), abs=1e-12)
        assert yaw == pytest.approx((v * np.sin(phi) - FRONT * rate) / (REAR * np.cos(phi) + FRONT), rel=1e-12)


def test_an_articulated_axle_without_a_body_turns_about_the_middle() -> None:
    m = kane.Model("wagon", gravity=(0, 0, -G))
    m.body("bed", mass=80, center=(0.5, 0, 0.2), inertia={"xx": 4, "yy": 5, "zz": 6})
    places = {"fl": (1.6, 0.4), "fr": (1.6, -0.4), "rl": (0, 0.4), "rr": (0, -0.4)}
    wheels = {
        n: {"at": (x, y, 0), **WHEEL, **({"steering": "articulated"} if x else {})} for n, (x, y) in places.items()
    }
    m.vehicle("bed", wheels, steering="phi")
    run = m.simulate([0.0, 1e-6], q={"phi": 0.5}, u={m.speeds[0]: 1.0, "uphi": 0.0})
    assert run.u[0, 2] == pytest.approx(np.sin(0.5) / (0.8 * np.cos(0.5) + 0.8), rel=1e-12)


def atan_law(y: float) -> str:
    return f"atan2({LENGTH}*tan(phi)/({LENGTH} - {y}*tan(phi)), 1)"


def test_a_steering_law_with_a_pole_in_its_range_is_refused_with_numbers() -> None:
    """atan(l tan φ / (l − y tan φ)) jumps by π where tan φ = l / y."""
    pole = np.arctan(LENGTH / (TRACK / 2))
    with pytest.raises(kane.ModelError, match=rf"pole at phi = {pole:.6g} rad \({np.degrees(pole):.4g}°\)") as caught:
        car(atan_law(TRACK / 2), steering_limit="80*deg")
    assert "from 1.5708 to -1.5708 rad" in str(caught.value)
    assert "wheel 'fl' / steering" in str(caught.value) and "steering_limit" in str(caught.value)
    with pytest.raises(kane.ModelError, match=r"pole at phi = -?0.7853"):
        car("tan(2*phi)/100", steering_limit=1.0)
    with pytest.raises(kane.ModelError, match="pole at phi = 0 rad"):
        car("0.1/phi")


def test_a_column_without_inertia_is_refused_where_wheels_may_slide() -> None:
    with pytest.raises(kane.ModelError, match=r"its steering column has no inertia[\s\S]*steering_inertia: 0.05"):
        car(contact="unilateral", friction=0.8)
    m = car(contact="unilateral", friction=0.8, steering_inertia=0.05)
    start: dict[str, Any] = {"q": {"phi": 0.2}, "u": {"u_root_vx": 1.0}}
    run = m.simulate([0.0, 0.05, 0.1], **start)
    kept = car(root="free", steering_inertia=0.05).simulate([0.0, 0.05, 0.1], **start, rtol=1e-12)
    assert np.abs(run.q - kept.q).max() < 1e-9


def test_the_range_of_the_steering_angle_is_kept_as_its_limit() -> None:
    m = car(steering_limit="35*deg")
    limit = m.mechanism.limits["phi"]
    assert (limit.lower, limit.upper) == pytest.approx((-np.radians(35), np.radians(35)))


# what is refused -----------------------------------------------------------------------------------------------------

SIDES: dict[str, Any] = {"left": {"at": (0, 0.3, 0), **WHEEL}, "right": {"at": (0, -0.3, 0), **WHEEL}}
NOSE: dict[str, Any] = {"at": (0.4, 0, 0), "radius": 0.2, "ball": True}


def cart(wheels: dict[str, Any] | None = None, **options: Any) -> kane.Model:
    m = kane.Model("cart", gravity=(0, 0, -G))
    m.body("base", mass=20, inertia={"xx": 1, "yy": 1, "zz": 2})
    m.vehicle("base", {**SIDES, "nose": NOSE, **(wheels or {})}, **options)
    return m


@pytest.mark.parametrize(
    ("wheels", "options", "told"),
    [
        ({"nose": {**NOSE, "radius": 0.15}}, {}, "wheel 'nose': is 0.05 m above the ground"),
        ({"nose": {**NOSE, "at": (0.4, 0, -0.02)}}, {}, "wheel 'nose': is 0.02 m below the ground"),
        ({"left": {**SIDES["left"], "radius": 0}}, {}, "wheel 'left' / radius: radius 0 m"),
        ({"left": {**SIDES["left"], "radius": -0.2}}, {}, "wheel 'left' / radius: radius -0.2 m"),
        ({"left": {**SIDES["left"], "mass": -3}}, {}, "wheel 'left' / mass: mass -3"),
        ({}, {"friction": -0.4}, "friction -0.4"),
        ({}, {"restitution": 1.5}, "restitution 1.5"),
        ({}, {"contact": "unilatral"}, "contact 'unilatral'"),
        ({}, {"contact": "unilateral"}, "contact 'unilateral' without friction"),
        ({}, {"contact": "unilateral", "friction": 1, "root": "planar"}, "root 'planar' with contact 'unilateral'"),
        ({}, {"root": "plane"}, "root 'plane'"),
        ({}, {"pivot": (0.2, 0, 0)}, "has a pivot, and no wheel that turns about it"),
        ({"left": {**SIDES["left"], "steering": "articulated"}}, {}, "without a steering angle"),
        ({}, {"steering": "phi", "steering_limit": 4.0}, "steering_limit 4 rad"),
    ],
)
def test_a_vehicle_that_cannot_be_is_refused_by_name(
    wheels: dict[str, Any], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(kane.ModelError) as caught:
        cart(wheels, **options)
    assert told in str(caught.value)


def test_wheels_that_cannot_all_roll_are_refused_with_the_distance() -> None:
    """Parallel steering of two wheels on one axle leaves nothing but a straight line, and that not to the rear ones."""
    with pytest.raises(kane.ModelError) as caught:
        car("parallel")
    text = str(caught.value)
    assert "leaves no motion at phi = 0.31 rad" in text
    rows = [(-np.sin(a), np.cos(a), x * np.cos(a) + y * np.sin(a)) for x, y, a in
            ((LENGTH, TRACK / 2, 0.31), (LENGTH, -TRACK / 2, 0.31), (0, TRACK / 2, 0.0))]  # fmt: skip
    assert abs(np.linalg.det(np.array(rows))) > 0.05  # no motion satisfies all three
    other = kane.Model("three", gravity=(0, 0, -G))
    other.body("base", mass=20, inertia={"xx": 1, "yy": 1, "zz": 2})
    wheels = {"a": {"at": (0, 0.3, 0), **WHEEL}, "b": {"at": (1.2, 0, 0), "steering": "phi", **WHEEL}}
    wheels["c"] = {"at": (0.5, -0.3, 0), "steering": "phi", **WHEEL}
    with pytest.raises(kane.ModelError) as caught:
        other.vehicle("base", wheels, steering="phi")
    # a and b meet at (0, 1.2 / tan φ); the axle of c, at the same angle, is (1.2 − 0.5) cos φ + 0.3 sin φ away from it
    assert f"misses the centre of the others by {0.7 * np.cos(0.31) + 0.3 * np.sin(0.31):.6g} m" in str(caught.value)


@pytest.mark.parametrize("on_a_bracket", [False, True])
def test_an_arm_on_a_wheel_is_refused(on_a_bracket: bool) -> None:
    m = cart()
    parent = "left"
    if on_a_bracket:
        m.body("bracket", mass=0.1)
        m.joint("bolt", "weld", "left", "bracket")
        parent = "bracket"
    m.body("link", mass=1, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
    m.joint("shoulder", "revolute", parent, "link", axis="z")
    with pytest.raises(
        kane.ModelError, match=r"joint 'shoulder': is mounted on wheel 'left', of radius 0.2 m"
    ) as caught:
        m.simulate(0.1)
    assert "once every 1.257 m" in str(caught.value)
    with pytest.raises(kane.ModelError, match="is mounted on wheel 'left'"):
        m.vehicle("base", {"on top": {"at": (0, 0, 0.2), "on": "left", **WHEEL}}, name="second")


def test_a_weld_on_a_wheel_is_a_part_of_it() -> None:
    m = cart()
    m.body("hub cap", mass=0.1)
    m.joint("screws", "weld", "left", "hub cap")
    assert m.simulate([0, 0.1]).outcome.success


def test_forces_of_a_vehicle_that_could_lift_follow_free_parameters() -> None:
    """A load of mass p at the platform's middle: the wheels carry it."""
    m = kane.Model("cart", gravity=(0, 0, -G))
    m.parameter("p", 5.0, free=True)
    m.body("base", mass="20 + p", inertia={"xx": 1, "yy": 1, "zz": 2})
    m.vehicle("base", {**SIDES, "nose": NOSE, "tail": {**NOSE, "at": (-0.4, 0, 0)}}, root="free")
    for p in (5.0, 11.0):
        m.set_parameters(p=p)
        total = m.simulate([0.0, 0.1]).ground().normal.sum(axis=1)
        assert total == pytest.approx((26 + p) * G, rel=1e-9)
