"""Motions in files: what is written reads back, the circle closes through a file, and faults have a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.cli.files import read_columns, read_motion, write_columns
from kane.errors import InputError

EXACT = 1e-12
"""Efforts from a file with all digits differ from those in memory by rounding alone (N m)."""

SPLINE = 1e-6
"""Quintic splines through 400 samples of a smooth motion, relative to efforts of order 10."""


def table(path: Path) -> dict[str, np.ndarray]:
    return read_columns(path)


def test_what_is_written_reads_back_to_the_last_digit(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(7, 3)) * 1e-7
    write_columns(tmp_path / "x.csv", ["a", "b", "c'"], values)
    found = table(tmp_path / "x.csv")
    assert list(found) == ["a", "b", "c'"]
    assert np.array_equal(np.column_stack(list(found.values())), values)


@pytest.mark.parametrize("name", ["double-pendulum", "stanford-arm-kane"])
def test_inverse_dynamics_of_a_simulated_file_gives_its_efforts(name: str, tmp_path: Path) -> None:
    motion, efforts = tmp_path / "m.csv", tmp_path / "e.csv"
    control = ["--control", "feedback"] if name.startswith("stanford") else []
    assert main(["simulate", name, "--t", "2", "--samples", "50", *control, "-o", str(motion)]) == 0
    assert main(["inverse", name, "--trajectory", str(motion), "-o", str(efforts)]) == 0
    given, back = table(motion), table(efforts)
    for s in kane.load(name).speeds:
        assert np.abs(given[f"tau_{s}"] - back[f"tau_{s}"]).max() < EXACT * (1 + np.abs(given[f"tau_{s}"]).max()) * 10


@pytest.mark.parametrize("kept", ["t q", "t q u"])
def test_missing_columns_are_replaced_by_splines(kept: str, tmp_path: Path) -> None:
    model = kane.load("stanford-arm-kane")
    from kane.report import cycloid

    full = cycloid(model, {"q1": 1.0, "q3": 0.5, "q6": 0.1}, samples=400)
    columns, names = [full.t, *full.q.T], ["t", *model.coordinates]
    if "u" in kept:
        columns, names = [*columns, *full.u.T], [*names, *model.speeds]
    write_columns(tmp_path / "m.csv", names, np.column_stack(columns))
    read = read_motion(model, tmp_path / "m.csv")
    exact = model.inverse_dynamics(full.q, full.u, full.udot)
    found = model.inverse_dynamics(read.q, read.u, read.udot)
    assert np.abs(found - exact).max() < SPLINE * np.abs(exact).max()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no rows"),
        ("t,q\n", "has no rows"),
        ("t,q\n0\n", "line 2: 1 values under 2 names"),
        ("t,q\n0,x\n", "line 2: q = 'x' is not a finite number"),
        ("t,q\n0,inf\n", "is not a finite number"),
        ("t,t\n0,0\n", "two columns have the same name"),
        ("time,q\n0,0\n", "there is no column 't'"),
        ("t,angle\n0,0\n", "there is no column 'q'"),
        ("t,q\n0,0\n0,1\n", "does not increase"),
        ("t,q\n0,0\n1,1\n", "need six or more"),
    ],
)
def test_a_faulty_file_is_refused_with_a_reason(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_motion(kane.load("pendulum"), path)


def test_some_but_not_all_speeds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("t,q1,q2,u1\n0,0,0,0\n", encoding="utf-8")
    with pytest.raises(InputError, match="has u1 but not u2"):
        read_motion(kane.load("double-pendulum"), path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(b"t,q1\n\xff\xfe,1\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_columns(path)


def test_npz_holds_the_same_motion(tmp_path: Path) -> None:
    line = ["simulate", "double-pendulum", "--t", "1", "--samples", "11"]
    assert main([*line, "-o", str(tmp_path / "m.npz")]) == 0
    assert main([*line, "-o", str(tmp_path / "m.csv")]) == 0
    packed, plain = np.load(tmp_path / "m.npz"), table(tmp_path / "m.csv")
    assert list(packed["coordinates"]) == ["q1", "q2"]
    assert np.array_equal(packed["q"][:, 1], plain["q2"]) and np.array_equal(packed["udot"][:, 0], plain["u1'"])


def test_pictures_are_written_on_request(tmp_path: Path) -> None:
    for name in ("a.png", "b.svg"):
        line = ["simulate", "double-pendulum", "--t", "1", "--samples", "20", "--plot", str(tmp_path / name)]
        assert main(line) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "b.svg").read_text(encoding="utf-8")
