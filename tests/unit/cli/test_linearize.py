"""`kane linearize` on the command line: figures of a pendulum known on paper, states from files, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import main

EXACT = 1e-12


def figures(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def frequency() -> float:
    """Of the built-in pendulum hanging, from its energy: ω² = V''/M."""
    model = kane.load("pendulum")
    V = [model.energy([q], [0.0]).potential for q in (-1e-3, 0.0, 1e-3)]
    return float(np.sqrt((V[0] - 2 * V[1] + V[2]) / 1e-6 / model.mass_matrix([0.0])[0, 0]))


def test_the_hanging_pendulum_is_found_and_swings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearize", "pendulum", "--equilibrium", "--at", "q=0.2", "--json"]) == 0
    found = figures(capsys)
    assert found["states"] == ["q", "u"] and found["running"] == []
    assert found["eigenmodes"][1]["frequency"] == pytest.approx(frequency(), rel=1e-6)
    assert abs(found["eigenmodes"][1]["damping"]) <= EXACT
    assert main(["linearize", "pendulum", "--equilibrium", "--at", "q=0.2"]) == 0
    assert "±" in capsys.readouterr().out


def test_a_control_law_is_closed_in(capsys: pytest.CaptureFixture[str]) -> None:
    """A damper c along u: M λ² + c λ + V'' = 0, so that the real part is −c / 2 M."""
    assert main(["linearize", "pendulum", "--at", "q=0", "--control", "u=-0.2*u", "--json"]) == 0
    M = kane.load("pendulum").mass_matrix([0.0])[0, 0]
    for mode in figures(capsys)["eigenmodes"]:
        assert mode["eigenvalue"][0] == pytest.approx(-0.1 / M, rel=EXACT)


def test_rest_is_looked_for_with_the_law_closed_in(capsys: pytest.CaptureFixture[str]) -> None:
    """9.81 sin q = 3 − 2 q, and λ² + λ + 2 + 9.81 cos q = 0 about it: mass 1 kg, length 1 m."""
    q = 0.25
    for _ in range(20):
        q -= (9.81 * np.sin(q) - 3 + 2 * q) / (9.81 * np.cos(q) + 2)
    assert main(["linearize", "pendulum", "--equilibrium", "--control", "u=3 - 2*q - u", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert np.array(found["A"])[1] == pytest.approx([-2 - 9.81 * np.cos(q), -1.0], abs=1e-9)
    m = kane.load("pendulum")
    assert m.equilibrium([0.1], control={"u": "3 - 2*q - u"})["q"] == pytest.approx(q, abs=1e-10)
    assert m.equilibrium([0.1], [1.0], control={"u": "2 - 2*q"})["q"] == pytest.approx(q, abs=1e-10)
    assert main(["linearize", "pendulum", "--equilibrium", "--control", "u=sin(t)"]) == 1
    assert "changes with time along 'u'" in capsys.readouterr().err


def test_a_state_may_come_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"q": "30*deg", "u": 0.5}', encoding="utf-8")
    assert main(["linearize", "pendulum", "--at", str(state), "--json"]) == 0
    from_file = figures(capsys)
    assert main(["linearize", "pendulum", "--at", "q=30*deg,u=0.5", "--json"]) == 0
    assert figures(capsys) == from_file
    assert from_file["A"][1][0] == pytest.approx(kane.load("pendulum").linearize([np.pi / 6], [0.5]).A[1, 0])


def test_states_are_chosen_and_ignored_and_eigenvalues_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = tmp_path / "eigenvalues.png"
    assert main(["linearize", "cart-pole", "--ignore", "--states", "q, u", "--plot", str(picture), "--json"]) == 0
    assert figures(capsys)["states"] == ["q", "v", "u"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["linearize", "cart-pole", "--ignore", "--without", "v", "--json"]) == 0
    assert figures(capsys)["states"] == ["q", "u"]


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--at", "p=1"], 2, "unknown name 'p'"),
        (["--at", "there-is-none.json"], 2, "there is no such file"),
        (["--equilibrium", "--at", "u=1"], 2, "in equilibrium all speeds are zero"),
        (["--states", "angle"], 1, "unknown coordinate or speed 'angle'"),
        (["--without", "q"], 1, "'q' cannot be left out: the rates of u depend on it"),
    ],
)
def test_what_cannot_be_done_is_said(
    options: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["linearize", "pendulum", *options]) == status
    assert said in capsys.readouterr().err


def test_the_state_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["linearize", "whipple-bicycle", "--at", "ux=3,uroll=0", "--ignore"]
    assert main(line) == 0
    assert "ux 3, urear -10, ufront -8.57143; all else 0" in capsys.readouterr().out
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["at"]["u"]["ux"] == 3.0
    assert main(["linearize", "pendulum", "--equilibrium"]) == 0
    assert capsys.readouterr().out.startswith("at zero\n")
