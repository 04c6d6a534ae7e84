"""Parts of spacecraft in Python and in model files: what is written loads back, what has no meaning is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kane
from kane.errors import InputError, ModelError
from kane.model import MagneticTorque, Mechanism, PointGravity, Stop, Thruster, read_mechanism, write_mechanism

CRAFT = """
kane: 1
name: craft
parameters: {mu: 4e14, beta: 0.6, J: {value: 0.1, free: true}}
bodies:
  bus: {mass: 100, inertia: {xx: 10, yy: 12, zz: 9}}
  panel: {mass: 5, inertia: {xx: 1, yy: 0.5, zz: 1.4}}
joints:
  flight: {type: free, parent: ground, child: bus}
  drive: {type: revolute, parent: bus, child: panel, at: [0, 1, 0], axis: y}
reaction_wheels:
  w1: {body: bus, axis: z, inertia: J, speed: n1}
  w2: {body: bus, axis: ["cos(beta)", 0, sin(beta)], inertia: 2*J, at: [0, 0, 1], shapes: [{sphere: 0.1}]}
points:
  moon: {parent: O, offset: [4e8*cos(t/1000), 0, 0]}
loads:
  jet: {thruster: "select(t < 1, 5, 0)", body: bus, direction: -x, at: [0.5, 0, 0]}
  ends: {stop: drive, lower: -1, stiffness: 100, damping: 2}
  earth: {point_gravity: mu}
  tide: {point_gravity: 5e12, center: moon, gradient: false}
  coil: {magnetic_torque: [0, 0, 2*q_drive], body: bus, field: [1e-5, 0, "2e-5*sin(t)"]}
  rods: {magnetic_torque: [0.1, 0, 0], body: bus, dipole: [0, 0, -7.8e15]}
initial: {q_flight_px: 7e6, u_flight_vy: 7500, n1: 100, u_w2: -50}
"""


def test_what_is_written_loads_back() -> None:
    m = read_mechanism(CRAFT, "craft.yaml")
    text = write_mechanism(m)
    again = read_mechanism(text, "again.yaml")
    assert again.description() == m.description() and write_mechanism(again) == text
    assert list(m.reaction_wheels) == ["w1", "w2"] and "w1" not in m.description()["bodies"]
    assert isinstance(m.loads["jet"].record, Thruster)


def test_a_file_and_python_describe_the_same_craft() -> None:
    m = kane.Model("craft")
    mu, beta, J = m.parameter("mu", 4e14), m.parameter("beta", 0.6), m.parameter("J", 0.1, free=True)
    m.body("bus", mass=100, inertia={"xx": 10, "yy": 12, "zz": 9})
    m.body("panel", mass=5, inertia={"xx": 1, "yy": 0.5, "zz": 1.4})
    m.joint("flight", "free", "ground", "bus")
    m.joint("drive", "revolute", "bus", "panel", at=[0, 1, 0], axis="y")
    m.reaction_wheel("w1", "bus", "z", J, speed="n1")
    shapes = read_mechanism(CRAFT, "craft.yaml").bodies["w2"].shapes
    m.reaction_wheel("w2", "bus", [beta.cos(), 0.0, beta.sin()], 2 * J, at=[0, 0, 1], shapes=shapes)
    m.point("moon", "O", m.mechanism.N.vector(m.mechanism.scalar("4e8*cos(t/1000)", ""), 0, 0))
    m.load("jet", Thruster("bus", "-x", "select(t < 1, 5, 0)", at=[0.5, 0, 0]))
    m.load("ends", Stop("drive", lower=-1, stiffness=100, damping=2))
    m.load("earth", PointGravity(mu))
    m.load("tide", PointGravity(5e12, center="moon", gradient=False))
    m.load("coil", MagneticTorque("bus", [0, 0, "2*q_drive"], field=[1e-5, 0, "2e-5*sin(t)"]))
    m.load("rods", MagneticTorque("bus", [0.1, 0, 0], dipole=[0, 0, -7.8e15]))
    m.set_initial({"q_flight_px": 7e6, "u_flight_vy": 7500, "n1": 100, "u_w2": -50})
    assert m.mechanism.description() == read_mechanism(CRAFT, "craft.yaml").description()
    assert m.check().passed


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("axis: z, inertia: J", "axis: [0, 0, 0], inertia: J", "has length 0"),
        ("axis: z, inertia: J", "axis: z, inertia: 0", "inertia > 0"),
        ("axis: z, inertia: J", "axis: z, inertia: J, mass: 3", "unknown key 'mass'"),
        ("w1: {body: bus", "w1: {body: buss", "did you mean 'bus'"),
        ("w1: {", "bus: {", "already in use"),
        ("lower: -1,", "lower: -1, upper: -2,", "from -1 to -2"),
        ("lower: -1,", "", "neither lower nor upper"),
        ("stiffness: 100", "stiffness: 0", "stiffness > 0"),
        ("stop: drive", "stop: flight", "a stop on the free joint"),
        ("direction: -x", "direction: [1, 1, 0]", "an axis is a unit vector"),
        ("center: moon", "center: bus", "no reaction acts"),
        ("center: moon", "center: sun", "unknown point or body 'sun'"),
        ("dipole: [0, 0, -7.8e15]", "dipole: [0, 0, 1], field: [0, 0, 1]", "both field and dipole"),
        ("q_flight_px: 7e6", "q_flight_px: 7e6, q_flight_w: 0.9", "length 0.9"),
        ("q_flight_px: 7e6", "q_flight_px: 7e6, q_flight_w: 0", "write [1, 0, 0, 0] for no rotation"),
    ],
)
def test_what_has_no_meaning_is_refused_with_its_line(old: str, new: str, said: str) -> None:
    broken = CRAFT.replace(old, new)
    assert broken != CRAFT
    with pytest.raises(ModelError) as caught:
        read_mechanism(broken, "craft.yaml")
    at = "flight: {" if "q_flight" in old else old  # a quaternion is a matter of its joint
    line = next(k for k, text in enumerate(CRAFT.split("\n"), 1) if at in text)
    assert said in str(caught.value) and f"craft.yaml:{line}:" in str(caught.value)
    assert len(caught.value.problems) == 1


def test_a_wheel_does_not_carry_a_wheel() -> None:
    m = read_mechanism(CRAFT, "craft.yaml")
    with pytest.raises(ModelError, match="mounted on wheel 'w1'"):
        m.reaction_wheel("w3", "w1", "x", 1.0)
    assert "w3" not in m.bodies and "w3" not in m.joints


@pytest.mark.parametrize("axis", ["x", "-x", "y", "-y", "z", "-z", [0.6, 0.0, 0.8], [0.36, 0.48, -0.8]])
def test_the_z_axis_of_a_wheel_is_its_spin_axis(axis: str | list[float]) -> None:
    m = kane.Model("wheel")
    m.body("bus", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    m.joint("flight", "free", "ground", "bus")
    wheel = m.reaction_wheel("w", "bus", axis, 1.0)
    R = m.at("w").pose([1, 0, 0, 0, 0, 0, 0, 0.4])[0]
    np.testing.assert_allclose(R[:, 2], [m.mechanism.number(e, "") for e in wheel.axis], atol=1e-15)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) > 0


def flyer(**initial: float) -> kane.Model:
    m = kane.Model("flyer")
    m.body("bus", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    m.joint("flight", "free", "ground", "bus", coordinates=["w", "x", "y", "z", "px", "py", "pz"])
    m.set_initial(initial)
    return m


def test_a_quaternion_of_a_few_digits_is_made_unit_with_a_warning() -> None:
    short = {"w": 0.7071, "x": 0.7071}
    with pytest.warns(UserWarning, match="length 0.99999041"):
        run = flyer().simulate((0.0, 0.1), q=short)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, :4], axis=1), 1.0, atol=1e-12)
    with pytest.warns(UserWarning, match="joint 'flight'.*divided by it"):
        m = read_mechanism(write_mechanism(flyer(**short).mechanism), "short.yaml")
    assert sum(c.initial**2 for c in list(m.coordinate_records.values())[:4]) == pytest.approx(1.0, abs=1e-15)


def test_a_quaternion_that_is_unit_to_the_digits_written_is_taken_silently() -> None:
    exact = {"w": 0.70710678, "x": 0.70710678}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = flyer(**exact).simulate((0.0, 0.1))
        read_mechanism(write_mechanism(flyer(**exact).mechanism), "exact.yaml")
    np.testing.assert_allclose(np.linalg.norm(run.q[:, :4], axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("wxyz", [[0.98, 0, 0, 0], [1.02, 0, 0, 0], [0, 0, 0, 0], [0.7, 0.7, 0, 0]])
def test_a_quaternion_that_is_none_is_refused(wxyz: list[float]) -> None:
    with pytest.raises(ModelError, match="an attitude is a unit quaternion"):
        flyer().simulate((0.0, 0.1), q=[*wxyz, 0, 0, 0])
    with pytest.raises(ModelError, match="an attitude is a unit quaternion"):
        flyer(**dict(zip("wxyz", wxyz, strict=True))).equations()


def test_several_craft_fly_in_one_model_and_each_body_has_one_root() -> None:
    m = Mechanism("formation")
    for name in ("A", "B"):
        m.body(name, mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
        m.joint(f"flight of {name}", "free", "ground", name)
    m.validate()
    with pytest.raises(ModelError, match="every body has one inboard joint"):
        m.joint("second root", "free", "ground", "A")
    m.body("C", mass=1.0)
    with pytest.raises(ModelError, match="type: free for a body that floats"):
        m.validate()


@pytest.mark.parametrize("gradient", [True, False])
def test_the_attracting_body_is_not_attracted_by_itself(gradient: bool) -> None:
    """A planet that spins about the attracting point, and a moon: the moon falls at mu / r², the planet spins on."""
    m = kane.Model("planet")
    m.body("planet", mass=2.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.2})
    m.joint("spin", "revolute", "ground", "planet", axis="z")
    m.body("moon", mass=0.5)
    m.joint("fall", "prismatic", "ground", "moon", axis="x")
    m.load("gravity", PointGravity(29.032, gradient=gradient))
    udot = m.forward_dynamics([0.4, 2.0], [0.1, 0.0], [0.6, 0.0])
    assert udot == pytest.approx([0.6 / 1.2, -29.032 / 4.0], rel=1e-12)
    assert m.energy([0.4, 2.0], [0.0, 0.0])[1] == pytest.approx(-29.032 * 0.5 / 2.0, rel=1e-12)


@pytest.mark.parametrize("kind", ["free", "spherical"])
def test_an_attitude_starts_as_the_orientation_that_is_given(kind: str) -> None:
    """Against the rotation of SciPy, by a call, by the description and by a file."""
    from scipy.spatial.transform import Rotation

    angles = [0.4, -1.1, 2.9]
    expected = Rotation.from_euler("ZYX", angles).as_matrix()
    text = (
        "kane: 1\nname: craft\nbodies: {bus: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        f"joints: {{flight: {{type: {kind}, parent: ground, child: bus}}}}\n"
    )
    start = {"flight": {"euler": "body 321", "angles": angles}}
    plain = kane.Model.of(read_mechanism(text, "craft.yaml"))
    filed = kane.Model.of(read_mechanism(f"{text}initial: {{flight: {{euler: body 321, angles: {angles}}}}}", "x.yaml"))
    called = plain.simulate([0.0, 0.1], q=start).q[0]
    plain.set_initial(start)
    for q in (called, plain.initial_state[0], filed.initial_state[0]):
        np.testing.assert_allclose(plain.at("bus").pose(q)[0], expected, atol=1e-14)


def test_an_orientation_under_a_name_that_is_unknown_suggests_joints_that_turn_freely() -> None:
    craft, turned = kane.load("free-body"), {"axis": "z", "angle": 1}
    (joint,) = craft.joints
    misspelt = joint.replace("i", "")
    assert misspelt not in craft.joints
    told = f"unknown spherical or free joint '{misspelt}'\n    fix: did you mean '{joint}'"
    with pytest.raises(InputError, match=told):
        craft.simulate(1, q={misspelt: turned})
    with pytest.raises(kane.ModelError, match=told):
        craft.set_initial({misspelt: turned})
    with pytest.raises(InputError, match=r"unknown spherical or free joint 'pivt'\n    fix: known: none"):
        kane.load("pendulum").simulate(1, q={"pivt": turned})


def test_an_orientation_of_a_hinge_and_a_joint_for_a_coordinate_are_refused_with_the_names() -> None:
    model = kane.load("free-body")
    (joint,) = model.joints
    with pytest.raises(InputError, match=f"is a joint of 7 coordinates\n    fix: name them, {model.coordinates[0]}"):
        model.simulate(1, q={joint: [1, 0, 0, 0, 0, 0, 0]})
    pendulum = kane.load("pendulum")
    with pytest.raises(InputError, match="a revolute joint is no spherical or free one"):
        pendulum.simulate(1, q={next(iter(pendulum.joints)): {"axis": "z", "angle": 1}})
