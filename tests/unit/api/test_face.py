"""The face of the package: the catalogue of models, names that are not there, models written to files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.model import builtin_names, load_mechanism

ONE_LINE = 120  # characters
MOST_NAMES = 70  # what `help(kane.Model)` can list
HEAVY = ("numpy", "scipy", "numba", "llvmlite", "yaml", "rich")


def test_the_catalogue_says_of_every_model_what_its_file_says() -> None:
    known = kane.models()
    assert tuple(known) == builtin_names()
    for name, about in known.items():
        assert about == load_mechanism(name).about
        assert 0 < len(about) <= ONE_LINE


def test_the_catalogue_prints_one_line_per_model() -> None:
    known = kane.models()
    lines = str(known).splitlines()
    assert len(lines) == len(known)
    assert all(
        line.startswith(f"{name} ") and line.endswith(known[name]) for line, name in zip(lines, known, strict=True)
    )


def test_the_catalogue_and_the_package_load_nothing_heavy() -> None:
    script = f"import sys, kane; len(kane.models()); print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_name_of_the_package_gets_a_suggestion() -> None:
    for name, meant in (("Modle", "Model"), ("trajectory", "Trajectory"), ("from_simpy", "from_sympy")):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; did you mean '{meant}'"):
            getattr(kane, name)
    with pytest.raises(AttributeError, match=r"dir\(kane\)"):
        kane.xylophone  # noqa: B018
    with pytest.raises(AttributeError, match=r"fix: from kane\.ensemble import normal"):
        _ = kane.normal
    with pytest.raises(AttributeError, match=r"no attribute 'a\.b'"):
        getattr(kane, "a.b")


def test_a_package_that_is_not_imported_yet_is_named() -> None:
    script = "import kane\ntry: kane.planning\nexcept AttributeError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "import kane.planning" in done.stdout


def test_a_model_has_a_face_that_can_be_read() -> None:
    """Frames and points of the analyst are in `m.mechanism`."""
    assert len([name for name in dir(kane.Model) if not name.startswith("_")]) <= MOST_NAMES


def test_a_saved_model_moves_like_the_one_it_was_saved_from(tmp_path: Path) -> None:
    m = kane.load("double-pendulum")
    m.set_parameters(g=3.7)
    m.save(tmp_path / "copy.yaml")
    copy = kane.load(tmp_path / "copy.yaml")
    q, u, tau = [0.3, -0.4], [0.5, 0.6], [0.1, 0.2]
    assert np.array_equal(copy.forward_dynamics(q, u, tau), m.forward_dynamics(q, u, tau))


def test_a_robot_written_to_a_file_is_the_text_that_is_returned(tmp_path: Path) -> None:
    m = kane.load("ur5")
    path = tmp_path / "ur5.urdf"
    text = m.to_urdf(path)
    assert text == path.read_text(encoding="utf-8") == m.to_urdf()
    q = np.linspace(0.1, 0.6, 6)
    robot = kane.load(path, gravity=m.gravity)
    assert np.allclose(robot.mass_matrix(q), m.mass_matrix(q), rtol=1e-9)


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    m, path = kane.load("pendulum"), tmp_path / "mine.yaml"
    path.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(kane.WritingError, match=r"(?s)No space left on device.*kept: the file as it was before"):
        m.save(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    m, path, link = kane.load("pendulum"), tmp_path / "mine.yaml", tmp_path / "link.yaml"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    m.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert kane.load(path).coordinates == m.coordinates


@pytest.mark.parametrize("name", ["mine.txt", "mine", "no/such/folder/mine.yaml", "nul\0.yaml", "folder.yaml"])
def test_a_file_that_cannot_be_written_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises((kane.WritingError, kane.InputError), match=name.split("/")[0].split("\0")[0]):
        kane.load("pendulum").save(tmp_path / name)


def test_what_urdf_cannot_say_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(kane.ModelError):
        kane.load("four-bar").to_urdf(tmp_path / "four-bar.urdf")
    assert not list(tmp_path.iterdir())
