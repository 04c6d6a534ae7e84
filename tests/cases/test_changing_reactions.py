"""Reactions of joints while constraints come and go, against Newton and Euler written out by hand for each body.

Here accelerations, forces in joints and forces of constraints are all unknown, and one linear system of the equations
of every body gives them, at the states of the motion; nothing of the package is used but these states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import InputError

CLOSE = 1e-9  # relative: systems of ten equations of moderate condition, states on constraints to 1e-12
Array = np.ndarray[Any, Any]


def direction(angle: float) -> tuple[Array, Array]:
    """A unit vector in a plane at this angle from x, and the one a right angle ahead of it."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c, s]), np.array([-s, c])


class Equations:
    """Linear equations between named unknowns, some of them vectors of the plane."""

    def __init__(self, **sizes: int):
        self.places: dict[str, slice] = {}
        self.size = 0
        for name, size in sizes.items():
            self.places[name] = slice(self.size, self.size + size)
            self.size += size
        self.rows: list[tuple[Array, float]] = []

    def unit(self, name: str) -> Array:
        """The unknown as a function of all unknowns, (size, all)."""
        return np.eye(self.size)[self.places[name]]

    def add(self, left: Array, right: Any) -> None:
        """left @ unknowns = right, for one or two rows."""
        self.rows += list(zip(np.atleast_2d(left), np.atleast_1d(right), strict=True))

    def solve(self) -> dict[str, Array]:
        found = np.linalg.solve(np.array([a for a, _ in self.rows]), np.array([b for _, b in self.rows]))
        return {name: found[place] for name, place in self.places.items()}


def moment_row(arm: Array, force: Array) -> Array:
    """The row of the moment of a force, given by its rows, at an arm."""
    return arm[0] * force[1] - arm[1] * force[0]


# four-bar with a stop ------------------------------------------------------------------------------------------------


def four_bar(q: Array, u: Array, p: dict[str, float], on_stop: bool) -> dict[str, Array]:
    """Forces on the crank, the coupler and the rocker at their joints, that of the pin on the rocker, the torque of the
    stop, and accelerations of the joints."""
    a, b, c, m, g = p["a"], p["b"], p["c"], p["m"], p["g"]
    angles = np.array([q[0], q[0] + q[1], q[2]])
    w = np.array([u[0], u[0] + u[1], u[2]])
    e, n = zip(*map(direction, angles), strict=True)
    eq = Equations(wdot=3, crank=2, coupler=2, rocker=2, pin=2, stop=1)
    alpha = eq.unit("wdot").copy()
    alpha[1] += alpha[0]  # of the coupler, from the crank's
    weight = np.array([0.0, -m * g])

    def swing(of: int, length: float) -> tuple[Array, Array]:
        """Acceleration along a bar: rows, and what does not depend on unknowns."""
        return np.outer(n[of], alpha[of]) * length, -length * w[of] ** 2 * e[of]

    crank, coupler, rocker, pin, stop = (eq.unit(x) for x in ("crank", "coupler", "rocker", "pin", "stop"))
    half, tip = swing(0, a / 2), swing(0, a)
    eq.add(m * half[0] - crank + coupler, weight - m * half[1])
    inertia = m * a**2 / 12
    eq.add(inertia * alpha[0] - moment_row(-a / 2 * e[0], crank) + moment_row(a / 2 * e[0], coupler), p["T"])
    middle = swing(1, b / 2)
    eq.add(m * (tip[0] + middle[0]) - coupler + pin, weight - m * (tip[1] + middle[1]))
    inertia = m * b**2 / 12
    eq.add(inertia * alpha[1] - moment_row(-b / 2 * e[1], coupler) + moment_row(b / 2 * e[1], pin), 0.0)
    half = swing(2, c / 2)
    eq.add(m * half[0] - rocker - pin, weight - m * half[1])
    inertia = m * c**2 / 12
    turned = moment_row(-c / 2 * e[2], rocker) + moment_row(c / 2 * e[2], pin) + stop[0]
    eq.add(inertia * alpha[2] - turned, 0.0)
    far, other = swing(1, b), swing(2, c)
    eq.add(tip[0] + far[0] - other[0], other[1] - tip[1] - far[1])
    eq.add(alpha[2] if on_stop else stop, 0.0)
    return eq.solve()


@pytest.mark.parametrize("e", [0.7, 0.0])
def test_joints_of_a_four_bar_with_a_stop(e: float) -> None:
    """A torque on the crank presses the rocker against the stop, after many impacts or after one."""
    model = kane.load("four-bar-stop")
    model.set_parameters(e=e, w0=3.0)
    p = {name: x.value for name, x in model.parameters.items()} | {"T": -6.0}
    run = model.simulate(np.linspace(0.0, 3.0, 61), tau=[p["T"], 0.0, 0.0])
    found, other = run.reactions(), run.reactions(method="multipliers")
    held = abs(found["stop"].efforts["rocker'"]) > 0.0
    assert held.any() and not held.all()
    largest = max(np.abs(found[name].force).max() for name in found.joints)
    for i in range(len(run)):
        wanted = four_bar(run.q[i], run.u[i], p, bool(held[i]))
        for name in ("crank", "coupler", "rocker", "pin"):
            np.testing.assert_allclose(found[name].force[i, :2], wanted[name], rtol=0, atol=CLOSE * largest)
        np.testing.assert_allclose(found["stop"].efforts["rocker'"][i], wanted["stop"][0], rtol=0, atol=CLOSE * largest)
        np.testing.assert_allclose(found["rocker"].moment[i, 2], wanted["stop"][0], rtol=0, atol=CLOSE * largest)
        np.testing.assert_allclose(found["crank"].moment[i, 2], p["T"], rtol=0, atol=CLOSE * largest)
    for name in found.joints:
        np.testing.assert_allclose(found[name].force, other[name].force, rtol=0, atol=CLOSE * largest)
        np.testing.assert_allclose(found[name].moment, other[name].moment, rtol=0, atol=CLOSE * largest)
    assert found["crank"].undetermined == ("force z", "moment x", "moment y")  # held in its plane twice


# shopping cart -------------------------------------------------------------------------------------------------------


def cart(q: Array, u: Array, p: dict[str, float], caster: str) -> dict[str, Array]:
    """Accelerations, the force and moment of the basket on the caster, lateral forces of the axle and of the wheel."""
    (e1, e2), (d1, d2) = direction(q[2]), direction(q[2] + q[3])
    u1, v, w, turning = u
    spin = w + turning
    eq = Equations(udot=4, force=2, moment=1, axle=1, wheel=1)
    udot, force, moment, axle, wheel = (eq.unit(x) for x in ("udot", "force", "moment", "axle", "wheel"))
    at_axle = np.outer(e1, udot[0]) + np.outer(e2, udot[1]), w * (u1 * e2 - v * e1)
    centre = at_axle[0] + p["L1"] * np.outer(e2, udot[2]), at_axle[1] - p["L1"] * w**2 * e1
    bent = udot[2] + udot[3]
    contact = (
        at_axle[0] + p["L2"] * np.outer(e2, udot[2]) - p["L3"] * np.outer(d2, bent),
        at_axle[1] - p["L2"] * w**2 * e1 + p["L3"] * spin**2 * d1,
    )
    side = np.outer(d2, wheel[0])
    eq.add(p["mC"] * contact[0] - force - side, -p["mC"] * contact[1])
    eq.add(moment_row(p["L3"] * d1, force) + moment[0], 0.0)  # a particle: no moment about where it is
    across = np.outer(e2, axle[0])
    eq.add(p["mB"] * centre[0] + force - across, -p["mB"] * centre[1])
    ahead = (p["L2"] - p["L1"]) * e1
    turned = -moment_row(ahead, force) + moment_row(-p["L1"] * e1, across) - moment[0]
    eq.add(p["IB"] * udot[2] - turned, 0.0)
    eq.add(udot[1], 0.0)  # v stays 0
    velocity = u1 * e1 + v * e2 + p["L2"] * w * e2 - p["L3"] * spin * d2
    eq.add(d2 @ contact[0], spin * (velocity @ d1) - d2 @ contact[1])
    if caster == "sticks":
        eq.add(udot[3], 0.0)
    else:
        eq.add(moment[0], -p["mc"] * np.sign(turning) if caster == "slips" else 0.0)
    return eq.solve()


@pytest.mark.parametrize("what", [{"lock": 1.0, "free": 3.0}, {"mc": 0.6}])
def test_joints_of_a_shopping_cart_whose_caster_is_locked_or_rubs(what: dict[str, float]) -> None:
    model = kane.load("shopping-cart")
    model.set_parameters(**what)
    p = {name: x.value for name, x in model.parameters.items()}
    run = model.simulate(np.linspace(0.0, 5.0, 74))
    found = run.reactions()
    assert len(run.transitions) > 1
    modes = set()
    for i, t in enumerate(run.t.tolist()):
        mode = next(x.mode for x in reversed(run.transitions) if x.t <= t)
        caster = mode["caster_friction"] if p["mc"] else mode["caster_lock"]  # friction of no moment holds nothing
        modes.add(caster)
        wanted = cart(run.q[i], run.u[i], p, caster)
        np.testing.assert_allclose(found["caster"].force[i, :2], wanted["force"], rtol=0, atol=1e-8)
        np.testing.assert_allclose(found["caster"].moment[i, 2], wanted["moment"][0], rtol=0, atol=1e-8)
        across = {"axle": direction(run.q[i, 2])[1], "wheel": direction(run.q[i, 2] + run.q[i, 3])[1]}
        for name, along in across.items():
            np.testing.assert_allclose(found[name].force[i, :2], wanted[name][0] * along, rtol=0, atol=1e-8)
    assert "sticks" in modes and len(modes) > 1, modes
    locked = found.multiplier("caster_lock")
    assert (locked == 0.0).any() and (locked != 0.0).any() == ("lock" in what)  # what does not hold has zeros


# an arm that drags on the floor --------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [60.0, 2.0])
def test_the_hinge_of_an_arm_that_drags_on_the_floor(force: float) -> None:
    """A rod is hinged to a slide at height h and trails behind it on the floor: pulled it slips, or sticks and stays.

    Slipping with μ N against the motion: m a = Hx − μ N, Hz + N = m g, moments about the hinge
    −l N (cos θ + μ sin θ) + m g l cos θ / 2 = m a l sin θ / 2, and M a = F − Hx for the slide.
    """
    M, m, l, theta, mu, g = 3.0, 2.0, 0.8, 0.6, 0.4, 9.81
    model = kane.Model("drag", gravity=(0, 0, -g))
    model.body("slide", mass=M)
    model.body("arm", mass=m, center=(-l / 2, 0, 0), inertia={"yy": m * l**2 / 12, "zz": m * l**2 / 12})
    model.joint("rail", "prismatic", "ground", "slide", axis="x", at=(0, 0, l * np.sin(theta)), speeds=["v"])
    model.joint("hinge", "revolute", "slide", "arm", axis="y", coordinates=["angle"], initial=[-theta])
    model.contact("floor", "arm", "ground", shape={"point": (-l, 0, 0)}, friction=mu)
    run = model.simulate(np.linspace(0.0, 0.5, 6), tau=[force, 0.0], u={"v": 0.0})
    slips = run.transitions[-1].mode["floor"] == "slips"
    assert slips == (force > 10.0)
    c, s = np.cos(theta), np.sin(theta)
    if slips:  # unknowns a, Hx, Hz, N
        A = [[m, -1, 0, mu], [0, 0, 1, 1], [m * l * s / 2, 0, 0, l * (c + mu * s)], [M, 1, 0, 0]]
        a, Hx, Hz, N = np.linalg.solve(A, [0, m * g, m * g * l * c / 2, force])
        friction = -mu * N
        np.testing.assert_allclose(run.acceleration()[:, 0], a, rtol=1e-9)
    else:  # at rest: Hx = F, friction −F, and moments about the hinge
        Hx, friction = force, -force
        N = (m * g * c / 2 - force * s) / c
        Hz = m * g - N
    found = run.reactions()
    floor = found["floor"]
    sign = 1.0 if floor.on == "arm" else -1.0
    np.testing.assert_allclose(sign * floor.force, np.tile([friction, 0.0, N], (6, 1)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["hinge"].force, np.tile([Hx, 0.0, Hz], (6, 1)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["rail"].force[:, 2], M * g + Hz, rtol=1e-9)
    opposite = run.reactions(on="parent", frame="arm")["hinge"]
    np.testing.assert_allclose(np.linalg.norm(opposite.force, axis=1), np.hypot(Hx, Hz), rtol=1e-9)


def test_forces_that_more_contacts_than_needed_share_are_named() -> None:
    run = kane.load("box-on-incline").simulate(1.0)
    found = run.reactions()
    assert "incline.1.normal" in found.undetermined and found["incline.1"].undetermined
    assert not found["flight"].undetermined
    total = sum(found[f"incline.{k}"].force for k in range(1, 5))
    weight = 3.0  # kg, as the model says
    np.testing.assert_allclose(np.linalg.norm(total, axis=1), weight * 9.81, rtol=1e-9)


@pytest.mark.parametrize("options", [{"method": "complement"}, {"stiffness": {"pin": 2.0}}, {"udot": [0, 0, 0]}])
def test_what_does_not_go_with_modes_is_refused(options: dict[str, Any]) -> None:
    run = kane.load("four-bar-stop").simulate(0.1)
    with pytest.raises(InputError, match="fix: "):
        run.reactions(**options)
