"""What is written loads back to the same description; one expression has one normal text."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.errors import ExpressionError, ModelError
from kane.graph import Expr, Graph, evaluate
from kane.model import Builder, Force, Mechanism, Spring, builtin_names, load_mechanism, read_mechanism, write_mechanism
from kane.model.attitude import QUATERNIONS
from kane.model.expression import MAX_LENGTH, parse_expression
from kane.model.normal import normal_text, number_text
from kane.space import Vector
from unit.graph.trees import built, trees
from unit.model.test_files import EVERYTHING


def assert_round_trip(m: Mechanism) -> None:
    text = write_mechanism(m)
    again = read_mechanism(text, "again.yaml")
    assert again.description() == m.description()
    assert write_mechanism(again) == text, "the written form is a fixed point"
    assert (again.coordinates, again.speeds) == (m.coordinates, m.speeds)


@pytest.mark.parametrize("name", builtin_names())
def test_built_in_models_load_back(name: str) -> None:
    assert_round_trip(load_mechanism(name))


def test_a_model_with_everything_in_it_loads_back() -> None:
    assert_round_trip(read_mechanism(EVERYTHING, "all.yaml"))


@given(st.text(max_size=30), st.text(min_size=1, max_size=20))
def test_any_words_load_back(about: str, name: str) -> None:
    m = Mechanism(name, about=about)
    m.body("B", mass=1.0)
    m.joint("j", "revolute", "ground", "B")
    try:
        text = write_mechanism(m)
        text.encode()
    except UnicodeEncodeError:
        return  # half a surrogate pair is not text
    again = read_mechanism(text, "again.yaml")
    assert (again.name, again.about) == (name, about)


kinds = st.sampled_from(
    ["weld", "revolute", "prismatic", "cylindrical", "universal", "gimbal", "spherical", "planar", "free"]
)
numbers = st.floats(-10, 10, allow_subnormal=False)
quantities = st.one_of(
    numbers, st.sampled_from(["a", "-a", "a*b", "b - a", "a - b", "2*a/b", "sin(a) - b", "-(a + b)"])
)
triples = st.lists(quantities, min_size=3, max_size=3)
angles = st.fixed_dictionaries({"axis": st.sampled_from(["x", "-y", [0.6, 0.0, 0.8]]), "angle": quantities})


@st.composite
def mechanisms(draw: st.DrawFn) -> Mechanism:
    """Random trees with loads, controls and initial values, declared in a random order."""
    m = Mechanism("random", gravity=draw(triples))
    m.parameter("a", draw(numbers))
    m.parameter("b", draw(st.floats(0.5, 3)), free=draw(st.booleans()))
    count = draw(st.integers(1, 5))
    for k in range(count):
        m.body(f"B{k}", mass=draw(st.floats(0, 5)), center=draw(triples), inertia={"xx": 1.0, "yy": "b", "zz": "b"})
    for k in draw(st.permutations(range(count))):
        parent = draw(st.sampled_from(["ground", *(f"B{i}" for i in range(k))]))
        m.joint(
            f"j{k}",
            draw(kinds),
            parent,
            f"B{k}",
            at=draw(triples),
            rotation=draw(st.none() | angles),
            child_at=draw(triples),
            child_rotation=draw(st.none() | angles),
        )
    m.coordinate("s", draw(numbers))
    if draw(st.booleans()):
        m.order_coordinates(draw(st.permutations(m.coordinates)))
    bodies = ["ground", *m.bodies]
    m.load(
        "push", Force("B0", [draw(quantities), "s", "sin(t)"], at=draw(triples), reaction=draw(st.sampled_from(bodies)))
    )
    m.load("rope", Spring("ground", "B0", first_at=draw(triples), stiffness="b", rest=draw(quantities)))
    m.control("hold", {"s'": "-a*s - b*s'"})
    quaternions = {c.name for j in m.joints.values() if j.type.kind in QUATERNIONS for c in j.coordinates[:4]}
    alone = [c for c in m.coordinates if c not in quaternions]  # the elements of a quaternion are not
    m.set_initial({draw(st.sampled_from(alone)): draw(numbers), draw(st.sampled_from(m.speeds)): draw(numbers)})
    return m


@settings(max_examples=30)
@given(mechanisms())
def test_random_models_load_back(m: Mechanism) -> None:
    assert_round_trip(m)


def test_chosen_speeds_and_set_velocities_load_back() -> None:
    m = Mechanism("disk")
    m.parameter("r", 0.3)
    for q in ("q1", "q2", "q3"):
        m.coordinate(q)
    A = m.frame("A", "N", euler="body 312", angles=["q1", "q2", "q3"])
    P = m.point("P", "O", m.N.vector(0, 0, 0))
    m.body("disk", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 2.0}, frame=A, origin=P)
    m.set_speeds({"u1": "w.A.x", "u2": "w.A.y", "u3": "w.A.z"})
    A.set_angular_velocity(Vector(A, m.triple(["u1", "u2", "u3"], "")))
    P.set_velocity(Vector(A, m.triple(["r*u2", "-r*u1", 0], "")))
    m.control("spin", {"u3": "-u3"})
    m.set_initial({"u3": 2.0})
    assert_round_trip(m)


def test_a_change_anywhere_makes_another_description() -> None:
    m = read_mechanism(EVERYTHING, "all.yaml")
    for old, new in (("mass: 3", "mass: 4"), ("-k*a", "-k*b"), ("us: 0.5", "us: 0.6"), ("[0, l, 0]", "[l, 0, 0]")):
        assert old in EVERYTHING
        assert read_mechanism(EVERYTHING.replace(old, new), "all.yaml").description() != m.description()


@dataclass(frozen=True, slots=True)
class Wind:
    """A load type of a user."""

    strength: float
    kind = "wind"

    def check(self, build: Builder) -> None:
        pass

    def actions(self, build: Builder) -> tuple:
        return ()

    def potential(self, build: Builder) -> Expr | None:
        return None


def test_what_no_file_can_hold_is_refused_by_name() -> None:
    m = Mechanism("own")
    m.body("B", mass=1.0)
    m.joint("j", "revolute", "ground", "B")
    m.load("breeze", Wind(3.0))
    with pytest.raises(ModelError, match=r"model 'own' / load 'breeze': its type 'Wind' is not one of the model files"):
        write_mechanism(m)
    n = Mechanism("own")
    n.body("B", mass=1.0, frame=n.N.rotate_new("private", "x", n.coordinate("q")), origin="O")
    with pytest.raises(
        ModelError, match=r"body 'B': frame 'private' has no name in the model\n.*\n.*declare it with frame"
    ):
        write_mechanism(n)


# normal text ---------------------------------------------------------------------------------------------------------

VALUES = {"x": 0.3, "y": -1.2, "z": 2.7}


@given(st.lists(trees(leaves=8), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_one_expression_has_one_text_whatever_was_built_before_it(formulas: list[tuple], order) -> None:
    g = Graph()
    texts: list[tuple[str, Expr]] = []
    for formula in formulas:
        e = built(formula, g)
        if e is not None:
            texts.append((normal_text(e), e))
    order.shuffle(texts)
    h = Graph()
    names = {n: h.input(n) for n in "zxy"}
    for text, original in texts:
        again = parse_expression(text, h, names)
        assert normal_text(again) == text
        (expected,), (value,) = evaluate([original], VALUES), evaluate([again], VALUES)
        assert value == expected or value != value


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("b + a", "a + b"),
        ("-(b - a)", "a - b"),
        ("sin(b - a)", "-sin(a - b)"),
        ("c*(b - a)", "-(a - b)*c"),
        ("-a*-b", "a*b"),
        ("a - (b - c)", "a - (b - c)"),
        ("a*a*b", "a**2*b"),
        ("2*(a*b)", "a*b*2"),
        ("a < b", "(a < b)"),
        ("2*(b - a)**-1.5", "(b - a)**-1.5*2"),
        ("(-a)**0.3", "(-a)**0.3"),
    ],
)
def test_normal_texts_read_well(text: str, normal: str) -> None:
    g = Graph()
    names = {n: g.input(n) for n in "abc"}
    expr = parse_expression(text, g, names)
    assert parse_expression(normal_text(expr), g, names) == expr
    assert normal_text(parse_expression(normal, g, names)) == normal_text(expr)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_so_that_they_read_back_exactly(x: float) -> None:
    assert float(number_text(x)) == x


def test_a_text_that_would_explode_is_refused() -> None:
    g = Graph()
    e = g.input("x")
    for _ in range(40):
        e = e.sin() + e
    with pytest.raises(ExpressionError, match=f"takes more than {MAX_LENGTH} characters to write out"):
        normal_text(e)
