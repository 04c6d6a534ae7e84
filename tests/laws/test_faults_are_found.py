"""`check` and `check_trajectory` find what is wrong: each fault here breaks the laws it should break, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kane import Model
from kane.analysis import check
from kane.analysis.report import CheckReport, CheckRow
from kane.graph import Expr, Graph
from kane.model.joints import JointMotion, Revolute
from kane.space import rotations
from kane.space.algebra import scaled


@dataclass(frozen=True, slots=True)
class Backwards:
    """A revolute joint about z whose angular velocity has the wrong sign."""

    kind = "backwards"
    coordinates = ("",)
    speeds = ("",)
    rest = (0.0,)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        true = Revolute(rotations.unit(graph, 2)).motion(graph, q, u)
        return JointMotion(true.R, true.p, scaled(-1.0, true.w), true.v, true.qdot)


def rod(model: Model, name: str) -> None:
    model.body(name, mass=2.0, center=[0.5, 0.0, 0.1], inertia={"xx": 0.1, "yy": 0.2, "zz": 0.2})


def failed(report: CheckReport) -> set[str]:
    return {row.name for row in report.rows if not row.passed}


def test_a_joint_that_turns_the_other_way_than_it_says_is_found() -> None:
    model = Model("wrong", gravity=[0, -9.81, 0])
    rod(model, "rod")
    model.joint("hinge", Backwards(), "ground", "rod")
    report = check(model.mechanism, backend="numpy")
    assert {"efforts", "partial velocities", "power balance"} <= failed(report)
    assert "FAILED" in str(report) and "of the checks failed" in str(report)


def test_a_motion_without_inertia_is_named() -> None:
    model = Model("massless", gravity=[0, -9.81, 0])
    model.body("ring")
    rod(model, "rod")
    model.joint("first", "revolute", "ground", "ring", axis="z", speeds=["u1"])
    model.joint("second", "revolute", "ring", "rod", axis="z", speeds=["u2"])
    report = check(model.mechanism, backend="numpy")
    row = report.row("positive mass")
    assert failed(report) == {"positive mass"}
    assert "u1, u2 moves no mass" in row.note and "ring" in row.note
    assert report.row("accelerations").value is None


def test_a_massless_link_between_motions_that_both_move_mass_is_fine() -> None:
    model = Model("cross", gravity=[0, -9.81, 0])
    model.body("cross")
    rod(model, "rod")
    model.joint("first", "revolute", "ground", "cross", axis="x")
    model.joint("second", "revolute", "cross", "rod", axis="y")
    report = check(model.mechanism, backend="numpy")
    assert report.passed, str(report)


def test_a_motion_that_was_tampered_with_is_found() -> None:
    model = Model("pendulum", gravity=[0, -9.81, 0])
    rod(model, "rod")
    model.joint("hinge", "revolute", "ground", "rod", axis="z")
    swing = model.simulate(np.linspace(0.0, 1.0, 11), rtol=1e-10, atol=1e-12)
    assert swing.check().passed
    assert "energy" in failed(replace(swing, u=1.001 * swing.u).check())
    assert "states" in failed(replace(swing, q=np.full_like(swing.q, np.nan)).check())


def test_a_value_that_is_not_a_number_does_not_pass() -> None:
    assert not CheckRow("check", "x = x", float("nan"), 1.0).passed
    assert CheckRow("check", "x = x", None, 1.0).passed


def test_a_report_is_plain_data() -> None:
    report = CheckReport("model", "one state", (CheckRow("check", "x = x", 0.5, 1.0, "so it is"),))
    assert report.to_dict()["rows"] == [
        {"name": "check", "statement": "x = x", "value": 0.5, "tolerance": 1.0, "passed": True, "note": "so it is"}
    ]
