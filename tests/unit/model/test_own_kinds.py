"""Kinds of constraints and loads of a user: in Python and in model files, with the faults told as for the package's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import kane
from kane.errors import InputError, ModelError
from kane.graph import Expr
from kane.model import Builder, Mechanism, Row, RowSet, load_mechanism, read_mechanism, write_mechanism
from kane.model.fields import BodyName, Components, Flag, JointName, Scalar
from kane.model.loads import Action, EffortAction, ForceAction, point_of
from kane.space import Vector


@dataclass(frozen=True, slots=True)
class Screw:
    """Two joints: q2 = pitch · q1."""

    first: JointName
    second: JointName
    pitch: Scalar
    backwards: Flag = False
    kind = "lead-screw"

    def make_rows(self, build: Builder) -> RowSet:
        a, b = build.joint(self.first), build.joint(self.second)
        pitch = build.positive(self.pitch, "pitch")
        pitch = -pitch if self.backwards else pitch
        actions = (EffortAction(b.rates[0], build.graph.const(1.0)), EffortAction(a.rates[0], -pitch))
        gap = b.coordinates[0].symbol - pitch * a.coordinates[0].symbol
        return RowSet((Row("lead", actions, build.graph.const(0.0), gap),))


@dataclass(frozen=True, slots=True)
class Drag:
    """A force −c v² sign(v) of a prismatic body's speed along x of N, at its origin."""

    body: BodyName
    factor: Scalar
    at: Components = (0.0, 0.0, 0.0)
    kind = "drag"

    def check(self, build: Builder) -> None:
        if build.number(build.constant(self.factor, "factor")) < 0:
            raise build.refuse("a negative factor", "drag takes energy away", "give one ≥ 0", "factor")

    def actions(self, build: Builder) -> tuple[Action, ...]:
        body, v = build.body(self.body), build.mechanism.joints["slide"].rates[0]
        push = -build.scalar(self.factor) * v * v.abs()
        zero = build.graph.const(0.0)
        point = point_of(body, build.triple(self.at, "at"), build.name)
        return (ForceAction(point, Vector(build.mechanism.N, (push, zero, zero))),)

    def potential(self, build: Builder) -> Expr | None:
        return None


TEXT = """kane: 1
name: press
parameters: {h: 0.05, c: 3}
bodies: {spindle: {inertia: {xx: 0.2, yy: 0.2}}, ram: {mass: 4}}
joints:
  turn: {type: revolute, parent: ground, child: spindle, axis: x, coordinate: q, speed: w}
  slide: {type: prismatic, parent: ground, child: ram, axis: x, coordinate: x, speed: v}
loads:
  air: {drag: ram, factor: c}
constraints:
  thread: {type: lead-screw, first: turn, second: slide, pitch: h}
"""


def test_own_kinds_work_in_a_file_and_agree_with_the_closed_form() -> None:
    m = kane.Model.of(read_mechanism(TEXT, "press.yaml", kinds=(Screw, Drag)))
    w, torque = 40.0, 1.5
    v = 0.05 * w
    expected = (torque - 0.05 * 3 * v * v) / (0.2 + 4 * 0.05**2)  # (J + m h²) ẇ = T − h c v²
    np.testing.assert_allclose(m.forward_dynamics([0, 0], [w, v], [torque, 0]), [expected, 0.05 * expected], rtol=1e-13)
    assert m.check().passed


def test_own_kinds_are_written_and_read_back() -> None:
    m = read_mechanism(TEXT, "press.yaml", kinds=[Screw, Drag])
    again = read_mechanism(write_mechanism(m), "again.yaml", kinds=[Screw, Drag])
    assert again.description() == m.description()
    built = read_mechanism(TEXT.split("loads:")[0], "press.yaml")
    built.load("air", Drag("ram", "c"))
    built.constrain("thread", Screw(built.joints["turn"], "slide", "h"))
    assert built.description() == m.description()
    assert m.description()["constraints"]["thread"] == {
        "type": "lead-screw",
        "first": "turn",
        "second": "slide",
        "pitch": "h",
    }


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("pitch: h", "pitch: -h", r"press.yaml:11: constraint 'thread' / pitch: pitch -0.05 m"),
        ("pitch: h", "pitsch: h", r"unknown key 'pitsch'\n.*did you mean 'pitch'"),
        ("first: turn", "first: turm", r"press.yaml:11: constraint 'thread' / first: unknown joint 'turm'"),
        (", pitch: h", "", r"constraint 'thread': 'pitch' is missing"),
        ("lead-screw", "lead-scrw", r"unknown type 'lead-scrw' of a constraint\n.*did you mean 'lead-screw'"),
        ("factor: c", "factor: -c", r"press.yaml:9: load 'air' / factor: a negative factor"),
        ("drag: ram", "drag: ran", r"press.yaml:9: load 'air' / drag: unknown body 'ran'"),
    ],
)
def test_faults_in_own_kinds_are_told_with_their_line(old: str, new: str, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        read_mechanism(TEXT.replace(old, new), "press.yaml", kinds=(Screw, Drag))


def test_a_file_knows_no_kind_that_was_not_handed_over() -> None:
    with pytest.raises(ModelError) as refused:
        read_mechanism(TEXT, "press.yaml")
    told = str(refused.value)
    assert "unknown type 'lead-screw' of a constraint" in told and "a load is one of force" in told


def test_parameters_of_own_kinds_are_judged_again() -> None:
    m = read_mechanism(TEXT, "press.yaml", kinds=(Screw, Drag))
    with pytest.raises(ModelError, match="constraint 'thread' / pitch: pitch -1 m"):
        m.set_parameters({"h": -1.0})
    with pytest.raises(ModelError, match="load 'air' / factor: a negative factor"):
        m.set_parameters({"c": -1.0})


def test_what_a_file_with_own_kinds_says_is_not_all_in_its_text() -> None:
    """Programs are remembered by the text of a file; what a class does may change while the text stays."""
    assert read_mechanism(TEXT, "press.yaml", kinds=(Screw, Drag)).signature is None
    assert load_mechanism("pendulum").signature is not None


@dataclass(frozen=True)
class Unmarked:
    k: float
    kind = "unmarked"

    def make_rows(self, build: Builder) -> RowSet:
        return RowSet(())


@dataclass(frozen=True)
class Taken(Unmarked):
    k: Scalar  # type: ignore[assignment]
    kind = "rolling"


@dataclass(frozen=True)
class Mute:
    k: Scalar

    def make_rows(self, build: Builder) -> RowSet:
        return RowSet(())


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Unmarked, "annotate k with a type of kane.model.fields"),
        (Taken, "the kind Taken needs a word of its own"),
        (Mute, "the kind Mute needs a word of its own"),
        (int, "<class 'int'> is no kind"),
        (Mechanism, "is no kind"),
        ("rolling", "'rolling' is no kind"),
    ],
)
def test_classes_that_cannot_stand_in_a_file_are_refused(kind: type, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_mechanism(TEXT, "press.yaml", kinds=(kind,))
