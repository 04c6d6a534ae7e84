"""Operations of mobile manipulators beside the upper bounds of Tanner & Kyriakopoulos (2001), Sec. 5.2."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kane
from kane.analysis import mobile_table
from kane.analysis.mobile import general_mobile_manipulator, mobile_row
from kane.analysis.ops import mobile_manipulator_bound, operation_table
from kane.cli import main
from kane.formulation import formulate

FEWER = 5.0
"""Times fewer operations than the bound that M and the bias take, each by itself."""


def test_the_bound_is_the_one_that_the_paper_evaluates() -> None:
    """For one link and four wheels it prints 679 multiplications and 494 additions."""
    assert mobile_manipulator_bound(1, 4) == (679, 494)


@pytest.mark.parametrize("w", [3, 4, 5, 6])
def test_mass_matrix_and_bias_take_a_fifth_of_the_bound_at_most(w: int) -> None:
    for m in range(1, 11):
        equations = formulate(general_mobile_manipulator(m, w), "all")
        for part in ("mass_matrix", "bias"):
            count = equations.count(part)
            mul, add = mobile_manipulator_bound(m, w)
            assert FEWER * (count["mul"] + count["div"]) <= mul, (m, w, part)
            assert FEWER * (count["add"] + count["neg"]) <= add, (m, w, part)


def test_even_accelerations_take_fewer_operations_than_the_bound_of_the_equations_alone() -> None:
    for row in mobile_table((1, 2, 10), (3, 6)).rows:
        assert row.factor("forward_dynamics") > 2.0, row


def test_the_vehicle_that_is_counted_is_right() -> None:
    """Against the second route, and its closed form against its accelerations."""
    m = kane.Model.of(general_mobile_manipulator(2, 5))
    assert m.check(samples=2).passed
    form = m.closed_form()
    q, u = m.project({"phi": 0.3}, {m.speeds[0]: 0.7, m.speeds[-1]: 0.4})
    tau = np.linspace(-1.0, 1.0, len(m.speeds))
    z = u[[m.speeds.index(name) for name in form.speeds]]
    terms, reduced = form(q, z), form.reduce(q, z)
    zdot = np.linalg.solve(reduced.M, reduced.B @ tau - reduced.F)
    assert terms.S @ zdot + terms.Sdot_z == pytest.approx(m.forward_dynamics(q, u, tau), rel=1e-8, abs=1e-8)


def test_the_vehicle_that_is_counted_has_no_number_of_its_own() -> None:
    mechanism = general_mobile_manipulator(3, 4)
    program = formulate(mechanism, "all").program("mass_matrix")
    assert set(program.constants) <= {0.0, 0.5, 1.0, 2.0, 0.25}
    assert mobile_row(3, 4).m == 3


def example(velocity: str = "body") -> kane.Model:
    """The paper's example with every number of it a parameter; zeros are structure."""
    m = kane.Model("example", gravity=(0, 0, "-g"))
    values = {"g": 9.81, "r": 0.15, "mw": 2.0, "jw": 0.0225, "lf": 0.3, "lr": -0.3, "ly": 0.3, "l1": 1.05, "x1": 0.25}
    values |= {"z1": 0.1505, "x2": 0.4, "mp": 40.0, "m0": 5.0, "m1": 10.0, "m2": 5.0, "I2y": 0.267, "I2z": 0.267}
    values |= {"Ipx": 1.667, "Ipy": 1.667, "Ipz": 3.02, "I0x": 0.08, "I0y": 0.08, "I0z": 0.156}
    values |= {"I1x": 1.759, "I1y": 2.035, "I1z": 2.073}
    for name, value in values.items():
        m.parameter(name, value)
    m.body("platform", mass="mp", inertia={"xx": "Ipx", "yy": "Ipy", "zz": "Ipz"})
    m.body("base", mass="m0", inertia={"xx": "I0x", "yy": "I0y", "zz": "I0z"})
    m.joint("mount", "weld", "platform", "base")
    m.body("link1", mass="m1", center=("x1", 0, "z1"), inertia={"xx": "I1x", "yy": "I1y", "zz": "I1z"})
    m.joint("shoulder", "revolute", "base", "link1", axis="z")
    m.body("link2", mass="m2", center=("x2", 0, 0), inertia={"yy": "I2y", "zz": "I2z"})
    m.joint("elbow", "revolute", "link1", "link2", axis="z", at=("l1", 0, "z1"))
    wheel = {"radius": "r", "mass": "mw", "inertia": "jw"}
    wheels = {
        "front": {"at": ("lf", 0, 0), "steering": "phi", **wheel},
        "left": {"at": ("lr", "ly", 0), **wheel},
        "right": {"at": ("lr", "-ly", 0), **wheel},
    }
    m.vehicle("platform", wheels, steering="phi", velocity=velocity)
    return m


def test_the_example_with_its_numbers_free_takes_few_operations() -> None:
    """Accelerations of all nine speeds, the platform's velocity along its own axes."""
    own = example().equations(free="all").count("forward_dynamics")
    assert own["mul"] + own["div"] <= 150 and own["add"] + own["neg"] <= 120


def test_the_command_line_prints_the_bound_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "tanner-mobile-manipulator"]) == 0
    told = capsys.readouterr().out
    assert "upper bound for m = 2 links, w = 3 wheels [TK01]" in told and "1205" in told and "970" in told
    arm = operation_table(kane.load("diff-drive-arm").mechanism).rows
    assert any("m = 2 links, w = 3 wheels" in row.source for row in arm)
    assert not any("TK01" in row.source for row in operation_table(kane.load("stanford-arm").mechanism).rows)


def test_the_command_line_prints_the_table_of_vehicles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kane.analysis.mobile_table", lambda: mobile_table((1, 2), (3,)))
    assert main(["ops", "--vehicles"]) == 0
    assert "1205 + 970" in capsys.readouterr().out
    assert main(["ops", "--vehicles", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["vehicles"]
    assert [row["links"] for row in rows] == [1, 2]
    assert rows[1]["paper"] == {"mul": 1205, "add": 970}
    assert rows[1]["bias"]["mul"] < 1205 / FEWER
