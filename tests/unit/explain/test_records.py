"""What an explanation gives out: records that print as the equations do, loads told in the names of the model."""

from __future__ import annotations

import kane

FLYING = {f"{u}{x}": f"{u}.platform.{x}" for u in "wv" for x in "xyz"}
"""Speeds of a platform that flies, as they are."""


def test_entries_print_as_equations_do() -> None:
    told = kane.load("pendulum").explain()
    assert str(told.partial_velocities[1].entries[0]) == "L bob.x"
    assert str(told.active_forces[0].values[0]) == "-m g L sin(q)"


def test_a_joint_spring_is_told_in_the_names_of_the_model() -> None:
    m = kane.Model("swing_rod", gravity=(0, -9.81, 0))
    m.body("my_rod", mass=1, center=(0, -1, 0), inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("floor_joint", "revolute", "ground", "my_rod", axis="z", coordinates=["q_rod"], speeds=["u1"])
    m.load("coil", kane.JointSpring("floor_joint", stiffness=3))
    text = m.explain().to_text()
    assert "effort times the coefficient of u_1 in q_rod'" in text
    assert "v_1(my_rod*)" in text


def test_terms_that_share_their_parameters_are_collected_and_greek_names_are_letters() -> None:
    """F_1 of a top on its tip, whose centre of mass is h away: m g h times a component of the vertical."""
    told = kane.load("spinning-top").explain(beside=None)
    assert str(told.active_forces[0].values[0]) == "2 m g h (e0 e1 + e2 e3)"
    m = kane.Model("spool")
    m.body("spool", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("axle", "revolute", "ground", "spool", axis="z", coordinates=["phi"], speeds=["Omega"])
    assert m.explain().active_forces[0].source == "effort along Ω"


def test_the_argument_of_a_sine_begins_with_a_positive_term() -> None:
    """sin(b - a) is -sin(a - b), so that equal functions are seen to be equal."""
    lines = "\n".join(str(kane.load("four-bar").explain(beside=None)).splitlines())
    assert "sin(crank - rocker)" in lines and "sin(-" not in lines and "cos(-" not in lines


def test_another_choice_of_speeds_is_shown_with_its_equations_under_constraints() -> None:
    """A unicycle, mass centre d ahead of its wheel, by the velocity along it: m u1' = m d ω² + τ, u2 = 0."""
    m = kane.Model("unicycle")
    for name, value in {"m": 5.0, "I": 0.3, "d": 0.1}.items():
        m.parameter(name, value)
    m.body("B", mass="m", center=("d", 0, 0), inertia={"xx": "I", "yy": "I", "zz": "I"})
    m.joint("place", "planar", "ground", "B", coordinates=["x", "y", "theta"], speeds=["vx", "vy", "omega"])
    m.constrain("wheel", kane.KnifeEdge("B"))
    text = m.explain(beside={"u1": "v.B.x", "u2": "v.B.y", "omega": "theta'"}).to_text()
    _, _, beside = text.partition("The same with other speeds")
    assert beside.count("  u2 = 0") == 1 and "  u2 = 0    [wheel]\n" in beside
    assert "  -m u1' + m d ω² + τ_u1 = 0    [u1]\n  -(I + m d²) ω' - m d u1 ω + τ_ω = 0    [ω]\n" in beside


def test_a_speed_is_defined_by_other_speeds_where_it_is_their_sum() -> None:
    """Of a rotor in a platform that flies: its absolute rate is that of the platform along z and its own."""
    told = kane.load("dual-spin").explain(beside={"u7": "w.platform.z + p'"} | FLYING)
    assert "  u7 = wz + p'    [ω of rotor along its z axis]\n" in told.to_text()
    assert "  wz = ω of platform along its z axis\n" in told.to_text()


def test_accelerations_are_told_of_bodies_that_have_mass() -> None:
    """R* and T* of others do not exist, and their rates of turning are long."""
    told = kane.load("rolling-disc").explain(beside=None).derivation
    assert [a.body for a in told.accelerations] == ["disc"]


def test_products_have_masses_gravity_and_lengths_in_this_order_whatever_they_are_called() -> None:
    """A rod of mass z and length 2 c with a flywheel of inertia a, on a cart of 2 kg; b is gravity, the spring between
    cart and wall has length d at rest. Inertia about the pin: z (2 c)²/3 + a."""
    m = kane.Model("swing", gravity=(0, 0, "-b"))
    for name in ("a", "b", "c", "d", "k", "z"):
        m.parameter(name, 1.5)
    m.particle("cart", 2.0)
    m.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["s"], speeds=["v"])
    m.body("rod", mass="z", center=(0, 0, "-c"), inertia={"xx": "z*c**2/3", "yy": "z*c**2/3 + a", "zz": 2.0})
    m.joint("pin", "revolute", "cart", "rod", axis="-y", coordinates=["q"], speeds=["u"])
    m.load("spring", kane.Effort("rail", "k*d - k*s"))
    assert m.explain(beside=None).equations == (
        "-(z + 2) v' - z c cos(q) u' + z c sin(q) u² + k (d - s) + τ_v = 0",
        "-z c cos(q) v' - (a + 4/3 z c²) u' - z b c sin(q) + τ_u = 0",
    )


def test_a_row_that_is_a_dependent_speed_and_one_that_says_nothing_are_told_once() -> None:
    """The blade of a sleigh has no velocity across; two bodies in one plane do not leave it."""
    sleigh = kane.load("chaplygin-sleigh").explain(beside=None).to_text()
    assert sleigh.count("  across = 0") == 1 and "  across = 0    [blade]" in sleigh
    linkage = kane.load("four-bar").explain(beside=None).to_text()
    assert "0 = 0" not in linkage and "rows pin.z, pin.rx and pin.ry: say nothing" in linkage


def test_terms_and_partial_velocities_print_as_formulas() -> None:
    """Of a pole of half-length L, by hand."""
    told = kane.load("cart-pole").explain(beside=None)
    assert str(told.active_forces[0]) == "weight of pole: m g L sin(q) for r = 2"
    assert str(told.partial_velocities[-1]) == "v(pole*): v_1 = N.x, v_2 = L pole.x"
    arm = kane.load("stanford-arm-kane").explain(beside=None)
    assert str(arm.Z[0]) == "Z1 = (sin(q3) u1 - cos(q3) u3)/sin(q2)    [q1']"  # [KL83, Eq. 8]
