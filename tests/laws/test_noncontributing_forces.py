"""Forces that `explain` says drop out do: added as loads, they change no effort; what is left out of the list does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics import mechanics as me
from sympy.physics.mechanics import models

import kane
from kane.backends import compile
from seeds import generator

AGREE = 1e-12  # relative to efforts of the size of ten
ROUND = {"xx": 1.0, "yy": 1.2, "zz": 1.5}
X, Y, Z = np.eye(3)

TRANSMITTED = {  # kind of joint, its options → directions of force and of torque that it transmits, in the child
    "revolute": ({"axis": "z"}, [X, Y, Z], [X, Y]),
    "prismatic": ({"axis": "z"}, [X, Y], [X, Y, Z]),
    "cylindrical": ({"axis": "z"}, [X, Y], [X, Y]),
    "spherical": ({}, [X, Y, Z], []),
    "gimbal": ({"sequence": "body 123"}, [X, Y, Z], []),
    "universal": ({"sequence": "body xy"}, [X, Y, Z], []),
    "planar": ({"normal": "z"}, [Z], [X, Y]),
    "weld": ({}, [X, Y, Z], [X, Y, Z]),
}


def chain(kind: str, options: dict[str, Any]) -> kane.Model:
    m = kane.Model("chain", gravity=(0, 0, -9.81))
    m.joint("base", "revolute", "ground", m.body("a", mass=1.0, inertia=ROUND), axis="x")
    m.body("b", mass=2.0, center=(0.1, 0.2, 0.3), inertia=ROUND)
    m.joint("own", kind, "a", "b", at=(0.3, 0.1, 0.5), **options)
    return m


def efforts(m: kane.Model) -> np.ndarray:
    rng = generator(9)
    q, u, udot = rng.uniform(0.2, 0.8, len(m.coordinates)), *rng.normal(size=(2, len(m.speeds)))
    return m.inverse_dynamics(q, u, udot)


@pytest.mark.parametrize("kind", TRANSMITTED)
def test_what_a_joint_transmits_changes_no_effort(kind: str) -> None:
    options, forces, torques = TRANSMITTED[kind]
    plain = efforts(chain(kind, options))
    told = chain(kind, options).explain(beside=None).noncontributing_forces
    assert any(x.what.startswith("joint own, ") for x in told)
    for directions, record in ((forces, kane.Force), (torques, kane.Torque)):
        for e in np.eye(3):
            m = chain(kind, options)
            m.load("reaction", record("b", (7.0 * e).tolist(), frame="b", reaction="a"))
            changed = np.abs(efforts(m) - plain).max()
            if any(np.array_equal(e, d) for d in directions):
                assert changed <= AGREE * (1 + np.abs(plain).max()), (record.__name__, e)
            elif kind not in ("universal", "gimbal", "spherical"):
                assert changed > 0.1, (record.__name__, e)


def test_reactions_of_a_rolling_disc_change_no_acceleration() -> None:
    """A force at the point that touches, any way, does nothing to a disc that rolls; one at its centre does."""
    m = kane.load("rolling-disc")
    q, u = m.project()
    plain = m.forward_dynamics(q, u, np.zeros(len(u)))
    turned = dict(zip(m.bodies, (np.reshape(pose[:9], (3, 3)) for pose in m.poses(q)), strict=True))
    below = np.array([0.0, 0.0, -m.parameters["r"].value])  # in the plane of the disc, which does not spin
    touching = turned["disc"].T @ turned["plane of the disc"] @ below
    for at, drops in ((touching, True), (np.zeros(3), False)):
        for e in np.eye(3):
            other = kane.load("rolling-disc")
            other.load("push", kane.Force("disc", (5.0 * e).tolist(), frame="N", at=at.tolist()))
            changed = np.abs(other.forward_dynamics(q, u, np.zeros(len(u))) - plain).max()
            assert (changed <= 1e-9 * (1 + np.abs(plain).max())) == drops


# weights and inertia forces -------------------------------------------------------------------------------------------

WEIGHED = ["cart-pole", "stanford-arm", "ur5", "rolling-disc", "diff-drive-arm", "painleve-rod"]
ACTING = ["compass-walker", "spinning-top", "four-bar"]  # every weight in every F_r that moves its mass centre
STATES = 4  # random ones: what vanishes in all of them vanishes


def split_names(words: str, known: Iterable[str]) -> set[str]:
    """Names in a list such as "a, b and c"."""
    return {name for name in known if re.search(rf"(^|, | and ){re.escape(name)}(, | and |$)", words)}


def told_weights(m: kane.Model) -> set[tuple[str, int]]:
    """(body, r) of every weight that is told to drop out of F_r, all r where no F_r is named."""
    found = set[tuple[str, int]]()
    for dropped in m.explain(beside=None).noncontributing_forces:
        if (match := re.fullmatch(r"weights? of (.*?)( in (F_.*))?", dropped.what)) is not None:
            named = [int(n) - 1 for n in re.findall(r"F_(\d+)", match[3] or "")]
            speeds = named or range(len(m.speeds))
            found |= {(body, r) for body in split_names(match[1], m.bodies) for r in speeds}
    return found


@pytest.mark.parametrize("name", [*WEIGHED, *ACTING])
def test_weights_that_drop_out_are_those_across_the_partial_velocities(name: str) -> None:
    """Partial velocities of the compiled program, turned to N by the compiled poses, times gravity."""
    m, rng = kane.load(name), generator(23)
    partials = compile(m.equations().program("partial_velocities"))
    gravity = np.array(m.gravity)
    q = rng.uniform(0.3, 1.2, (STATES, len(m.coordinates)))
    R = np.array([[np.reshape(pose[:9], (3, 3)) for pose in m.poses(x)] for x in q])
    v = np.einsum("sbij,sbjr->sbri", R, np.array([partials(x)[1] for x in q]))
    power, moves = np.abs(v @ gravity).max(axis=0), np.linalg.norm(v, axis=-1).max(axis=0)
    told = told_weights(m)
    for b, (body, record) in enumerate(m.bodies.items()):
        if record.mass.is_zero:
            continue
        for r in range(len(m.speeds)):
            if (body, r) in told:
                assert power[b, r] <= AGREE * np.linalg.norm(gravity)
            else:
                assert moves[b, r] == 0 or power[b, r] > 1e-6, (body, r)
    assert bool(told) == (name in WEIGHED)


def test_what_a_body_has_no_mass_or_inertia_for_is_told() -> None:
    """A massless frame, a rotor of inertia alone, a particle and a body: what they lack, the mass matrix by hand."""
    m = kane.Model("four", gravity=(0, 0, -9.81))
    m.joint("first", "prismatic", "ground", m.body("slide", mass=0.0), axis="z", speeds=["u1"])
    m.joint(
        "second",
        "revolute",
        "slide",
        m.body("rotor", mass=0.0, inertia={"xx": 0.2, "yy": 0.2, "zz": 0.3}),
        axis="z",
        speeds=["u2"],
    )
    m.joint("third", "revolute", "slide", m.particle("bob", 2.0, center=(0.5, 0, 0)), axis="z", speeds=["u3"])
    m.joint("fourth", "weld", "slide", m.body("box", mass=1.0, inertia=ROUND))
    told = {x.what: x.why for x in m.explain(beside=None).noncontributing_forces}
    assert told["weight, R* and T* of slide"] == told["weight and R* of rotor"] == "a body without mass has none"
    assert told["T* of bob"] == "a particle has none"
    assert told["weight of bob in F_3"] == "v_3 of its mass centre is perpendicular to gravity"
    assert np.allclose(m.mass_matrix([0.1, 0.2, 0.3]), np.diag([3.0, 0.3, 2.0 * 0.5**2]))
    how = {term.source: term.how for term in m.explain(beside=None).inertia_forces}
    assert how["inertia of rotor"] == ("", "ω_2(rotor) · T*(rotor)", "")
    assert how["inertia of bob"] == ("v_1(bob*) · R*(bob)", "", "v_3(bob*) · R*(bob)")


# scripts, which have no joints ---------------------------------------------------------------------------------------

HELD = {  # joint of SymPy about or along x of a → axes of a along which force and torque drop out, and what is told
    "PinJoint": ("xyz", "yz", "force at own_b_joint, and torque across a_frame.x"),
    "PrismaticJoint": ("yz", "xyz", "force at own_b_joint across a_frame.x, and torque"),
    "CylindricalJoint": ("yz", "yz", "force at own_b_joint across a_frame.x, and torque across a_frame.x"),
    "PlanarJoint": ("x", "yz", "force at own_b_joint along a_frame.x, and torque across a_frame.x"),
    "SphericalJoint": ("xyz", "", "force at own_b_joint"),
    "WeldJoint": ("xyz", "xyz", "force at b_masscenter, and torque"),
}


def told_of(method: object, values: dict[str, float] | None = None) -> dict[str, str]:
    """What drops out of a script, and why."""
    found = kane.from_sympy(method, values=values or {}).explain(beside=None).noncontributing_forces
    return {x.what: x.why for x in found}


@pytest.mark.parametrize("kind", HELD)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_holds_a_body_of_a_script_has_no_partial_velocity_in_sympy_either(kind: str) -> None:
    """Unit forces and torques between two bodies, along each axis: by SymPy's own partial velocities those contribute
    nothing that are told, and all others do."""
    forces, torques, expected = HELD[kind]
    base, a, b = (me.RigidBody(name) for name in ("base", "a", "b"))
    pin = me.PinJoint("pin", base, a, joint_axis=base.frame.z, child_point=-a.frame.x)
    own = getattr(me, kind)("own", a, b, parent_point=a.frame.x + 2 * a.frame.z, child_point=-b.frame.y)
    system = me.System.from_newtonian(base)
    system.add_joints(pin, own)
    N, speeds = base.frame, list(system.u_ind)
    solved = sp.solve(list(system.kdes), list(system.q_ind.diff()), dict=True)[0]
    at_a = a.masscenter.vel(N) + a.frame.ang_vel_in(N).cross(own.child_point.pos_from(a.masscenter))
    relative = {"force": own.child_point.vel(N) - at_a, "torque": b.frame.ang_vel_in(a.frame)}
    for what, drops in (("force", forces), ("torque", torques)):
        for axis, e in zip("xyz", a.frame, strict=True):
            contributions = [sp.diff(relative[what].dot(e).subs(solved), u) for u in speeds]
            assert all(sp.simplify(c) == 0 for c in contributions) == (axis in drops), (what, axis)
    values = {
        str(s): 1.0 for body in (a, b) for s in (body.mass, *body.central_inertia.to_matrix(body.frame).free_symbols)
    }
    told = told_of(system, values)
    assert f"what holds b, {expected}" in told
    assert told[f"what holds b, {expected}"].startswith("acts on a and on b, opposite and equal")
    assert told["what holds a, force at O, and torque across N.z"] == "O is fixed in N, and a turns about N.z only"


def test_rods_between_particles_of_a_script_drop_out() -> None:
    """On a cart that slides along x hang two particles at constant distances."""
    method = models.n_link_pendulum_on_cart(2)
    told = told_of(method, dict.fromkeys(("g", "l0", "l1", "m0", "m1", "m2", "F"), 1.0))
    assert told["what holds Pa0, force at P0 across N.x"] == "P0 moves along N.x only"
    for k in (1, 2):
        why = told[f"what holds Pa{k}, force along the line between them"]
        assert why == f"acts on Pa{k - 1} and on Pa{k}, opposite and equal; their distance is constant"


def floating(angles: int) -> me.KanesMethod:
    """A body whose origin moves freely in space and that turns by so many angles, one on top of the other."""
    x, q = me.dynamicsymbols("x1:4"), me.dynamicsymbols(f"q1:{angles + 1}")
    v, u = me.dynamicsymbols("v1:4"), me.dynamicsymbols(f"u1:{angles + 1}")
    N, O = me.ReferenceFrame("N"), me.Point("O")
    O.set_vel(N, 0)
    frame = N
    for k, angle in enumerate(q):
        frame = frame.orientnew(f"F{k}", "Axis", [angle, frame.x if k % 2 else frame.z])
    rates = [*(c.diff() - s for c, s in zip((*x, *q), (*v, *u), strict=True))]
    frame.set_ang_vel(N, frame.ang_vel_in(N).subs({c.diff(): s for c, s in zip(q, u, strict=True)}))
    P = O.locatenew("P", sum((c * e for c, e in zip(x, N, strict=True)), me.Vector(0)))
    P.set_vel(N, sum((c * e for c, e in zip(v, N, strict=True)), me.Vector(0)))
    body = me.RigidBody("body", P, frame, 2.0, (me.inertia(frame, 1.0, 2.0, 3.0), P))
    return me.KanesMethod(N, [*x, *q], [*v, *u], rates, bodies=[body])


@pytest.mark.parametrize(
    ("angles", "expected"),
    [
        (1, "torque across N.z"),
        (2, "torque across every way to turn"),
        (3, ""),
    ],
)
def test_what_is_free_to_move_is_held_by_nothing_there(angles: int, expected: str) -> None:
    assert list(told_of(floating(angles))) == ([f"what holds body, {expected}"] if expected else [])


def test_a_screw_is_held_by_forces_and_torques_together() -> None:
    """A body in three angles that advances along three axes by these angles: three of six ways, none by itself."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    N, O = me.ReferenceFrame("N"), me.Point("O")
    O.set_vel(N, 0)
    B = me.ReferenceFrame("B")
    B.orient_body_fixed(N, q, "123")
    B.set_ang_vel(N, B.ang_vel_in(N).subs({c.diff(): s for c, s in zip(q, u, strict=True)}))
    P = O.locatenew("P", sum((c * e for c, e in zip(q, N, strict=True)), me.Vector(0)))
    P.set_vel(N, sum((s * e for s, e in zip(u, N, strict=True)), me.Vector(0)))
    body = me.RigidBody("body", P, B, 2.0, (me.inertia(B, 1.0, 2.0, 3.0), P))
    method = me.KanesMethod(N, q, u, [c.diff() - s for c, s in zip(q, u, strict=True)], bodies=[body])
    told = told_of(method)
    assert list(told) == ["what holds body, force at P with a torque, in three ways"]
    assert list(told.values()) == ["the speeds give body 3 of the six ways to move and turn"]


def test_what_a_given_motion_moves_is_told_by_partial_velocities() -> None:
    """A bead on a hoop that turns about its vertical diameter by W t: v = R u B.x - R W sin q B.y, of which only the
    first part is along B.x, and the hoop turns although no speed turns it. On a hoop at rest both are as they move."""
    q, u, t = *me.dynamicsymbols("q u"), sp.Symbol("t")
    R, W = 0.5, sp.Symbol("W")
    for turn in (W * t, 0 * t):
        N, O = me.ReferenceFrame("N"), me.Point("O")
        O.set_vel(N, 0)
        A = N.orientnew("A", "Axis", [turn, N.z])
        B = A.orientnew("B", "Axis", [q, A.y])
        B.set_ang_vel(N, turn.diff(t) * N.z + u * A.y)
        P = O.locatenew("P", -R * B.z)
        assert P.v2pt_theory(O, N, B).dot(B.y) == -R * turn.diff(t) * sp.sin(q)
        hoop, bead = me.RigidBody("hoop", O, A, 1.0, (me.inertia(A, 1, 1, 1), O)), me.Particle("bead", P, 1.0)
        drag = [(P, -0.1 * u * B.x)]
        method = me.KanesMethod(N, [q], [u], [q.diff() - u], bodies=[hoop, bead], forcelist=drag)
        explained = kane.from_sympy(method, values={"W": 2.0}).explain(beside=None)
        told = {x.what: x.why for x in explained.noncontributing_forces}
        moves = "P moves along B.x only" if turn == 0 else "the partial velocities of P point along B.x"
        turns = "hoop does not turn" if turn == 0 else "no speed turns hoop"
        assert told["what holds bead, force at P across B.x"] == moves
        assert told["what holds hoop, force at O, and torque"] == f"O is fixed in N, and {turns}"
        assert [term.source for term in explained.active_forces] == ["load force 1 at P", "effort along u"]


def test_a_support_with_a_given_motion_and_a_rope_with_a_given_length_do_not_stand_still() -> None:
    """A pendulum on a support S at x = sin 2 t, on a rope of 1 + 0.1 sin t from S, which has a particle of its own."""
    q, u, t = *me.dynamicsymbols("q u"), sp.Symbol("t")
    N, O = me.ReferenceFrame("N"), me.Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    length = 1 + sp.sin(t) / 10
    S = O.locatenew("S", sp.sin(2 * t) * N.x)
    S.set_vel(N, 2 * sp.cos(2 * t) * N.x)
    B = S.locatenew("B", -length * A.y)
    B.set_vel(N, S.vel(N) - length.diff(t) * A.y + length * u * A.x)
    bodies = [me.Particle("support", S, 1.0), me.Particle("bob", B, 1.0)]
    told = told_of(me.KanesMethod(N, [q], [u], [q.diff() - u], bodies=bodies))
    assert told["what holds support, force at S"] == "no speed moves S"
    assert told["what holds bob, force along the line between them"].endswith("; no speed changes their distance")


def test_unknown_reactions_of_a_script_are_told_by_their_names() -> None:
    """The string of a pendulum pulls along A.y, across the only way that the bob moves."""
    q, u, stretching, tension = *me.dynamicsymbols("q u ua"), sp.Symbol("T")
    N, O = me.ReferenceFrame("N"), me.Point("O")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    O.set_vel(N, 0)
    B = O.locatenew("B", -A.y)
    B.set_vel(N, u * A.x + stretching * A.y)
    bob, loads = me.Particle("bob", B, 2.0), [(B, -9.81 * N.y), (B, tension * A.y)]
    method = me.KanesMethod(N, [q], [u], [q.diff() - u], u_auxiliary=[stretching], bodies=[bob], forcelist=loads)
    told = told_of(method)
    assert told["what holds bob, force at B across A.x"] == "B moves along A.x only"
    assert "auxiliary speeds" in told["unknown load T on B"] and len(told) == 3
    assert told["T* of bob"] == "a particle has none"


def test_a_lagrangian_says_nothing_of_forces_that_drop_out() -> None:
    (q,) = me.dynamicsymbols("q:1")
    m = kane.from_sympy(me.LagrangesMethod(q.diff() ** 2 - q**2, [q]))
    for ask in (m.explain, m.suggest_speeds):
        with pytest.raises(kane.ModelError, match="nor which forces hold them"):
            ask()


def test_what_holds_bodies_on_frames_and_points_is_told_as_of_joints() -> None:
    """The same arm, described by frames and points and by joints: what is held is the same in number and in kind."""
    m = kane.Model("arm").mechanism
    q1, q2 = m.coordinate("q1"), m.coordinate("q2")
    A, B = m.frame("A", m.N, axis="z", angle=q1), m.frame("B", "A", axis="x", angle=q2)
    elbow = m.point("elbow", m.O, A.vector(1, 0, 0))
    m.body("upper", mass=1.0, inertia=ROUND, frame=A, origin=m.point("upper*", m.O, A.vector(0.5, 0, 0)))
    m.body("lower", mass=1.0, inertia=ROUND, frame=B, origin=m.point("lower*", elbow, B.vector(0, 0.5, 0)))
    told = {x.what: x.why for x in kane.Model.of(m).explain(beside=None).noncontributing_forces}
    assert told == {
        "what holds upper, force at O, and torque across N.z": "O is fixed in N, and upper turns about N.z only",
        "what holds lower, force at elbow, and torque across A.x": "acts on upper and on lower, opposite and equal;"
        " elbow is a point of both, and lower turns about A.x only in upper",
    }
