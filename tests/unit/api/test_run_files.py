"""Runs written to files and read back: to the bit, with what they answer, and what they cannot."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.run_files import RECORDS, SUFFIXES
from kane.model import Builder, RowSet
from kane.model.fields import Scalar
from style.source import ROOT

ARRAYS = ("t", "q", "u", "tau", "work")


def swing() -> kane.Trajectory:
    m = kane.load("double-pendulum", free=["g"])
    options: dict[str, Any] = {"q": {"q1": "70*deg"}, "events": {"down": "q1"}, "control": {"u1": "-0.1*u1"}}
    return m.simulate(2, parameters={"g": 3.7}, **options)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values are equal to the bit, records field by field."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(
            same_bits(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)
        )
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(same_bits(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_bits(a[k], b[k]) for k in a)
    return a == b or (a != a and b != b)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_loaded_run_is_the_saved_one_to_the_bit_and_answers_the_same(suffix: str, tmp_path: Path) -> None:
    run = swing()
    path = run.save(tmp_path / f"swing{suffix}")
    back = kane.Trajectory.load(path)
    for name in (*ARRAYS, "outcome", "statistics", "events", "segments", "transitions", "singularities"):
        assert same_bits(getattr(run, name), getattr(back, name)), name
    assert len(back.events[0].t) > 0
    assert back.check().passed
    assert np.array_equal(back.acceleration(), run.acceleration())  # with g = 3.7, which the model does not have
    assert same_bits(run.energy().total, back.energy().total)
    np.testing.assert_allclose(back.evaluate("g*sin(q1)"), 3.7 * np.sin(run["q1"]), rtol=1e-14)
    assert str(back.outcome) == str(run.outcome)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_came_and_went_comes_back(suffix: str, tmp_path: Path) -> None:
    run = kane.load("bouncing-ball").simulate(2)
    back = kane.Trajectory.load(run.save(tmp_path / f"ball{suffix}"))
    assert len(run.transitions) > 2
    assert same_bits(run.transitions, back.transitions)
    assert repr(back.transitions) == repr(run.transitions)
    assert same_bits(run.segments, back.segments)
    assert np.array_equal(back.multipliers, run.multipliers)
    assert back.check().passed


def test_time_steps_and_vehicles_come_back(tmp_path: Path) -> None:
    m = kane.load("bouncing-ball")
    run = m.simulate(0.5, contacts="stepping", step=1e-3)
    back = kane.Trajectory.load(run.save(tmp_path / "steps.npz"))
    assert run.step_impulses is not None
    assert same_bits(run.step_impulses, back.step_impulses)
    car = kane.load("tanner-mobile-manipulator").simulate(np.linspace(0, 1, 11))
    there = kane.Trajectory.load(car.save(tmp_path / "car.parquet"))
    assert there.ground_crossings == car.ground_crossings
    assert np.array_equal(there.ground().normal, car.ground().normal)


def test_every_record_of_a_run_can_be_in_a_file() -> None:
    """A field that a record gains later is in the file by itself; a record that is new has to be named."""
    kinds = {f.name for f in dataclasses.fields(kane.Trajectory)} - {
        "answers",
        "law",
        *ARRAYS,
    }  # a law is compiled, and no text
    assert kinds == {
        "outcome",
        "statistics",
        "events",
        "singularities",
        "segments",
        "transitions",
        "ground_crossings",
        "step_impulses",
        "saturation",
    }
    assert set(RECORDS) >= {"Outcome", "Statistics", "Crossings", "Singularity", "Segment", "Transition", "Saturation"}


def test_a_table_alone_needs_its_model_and_says_so(tmp_path: Path) -> None:
    run = swing()
    path = run.save(tmp_path / "swing.csv")
    (tmp_path / "swing.run.json").unlink()
    with pytest.raises(kane.InputError, match=r"(?s)swing\.run\.json is not beside it.*model=\.\.\."):
        kane.Trajectory.load(path)
    back = kane.Trajectory.load(path, model=kane.load("double-pendulum"))
    assert np.array_equal(back.q, run.q)
    assert "not in the file" in str(back.outcome)
    with pytest.raises(kane.InputError, match="there is no column 'x'"):
        kane.Trajectory.load(path, model=kane.load("cart-pole"))


def test_the_table_is_plain_and_has_every_digit(tmp_path: Path) -> None:
    run = swing()
    path = run.save(tmp_path / "swing.csv")
    table = np.genfromtxt(path, delimiter=",", names=True, deletechars="")
    header = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header == ["t", "q1", "q2", "u1", "u2", "u1'", "u2'", "tau_u1", "tau_u2", "work"]
    assert np.array_equal(table["q2"], run["q2"])
    assert np.array_equal(table["u2'"], run["u2'"])


@dataclasses.dataclass(frozen=True, slots=True)
class Fixing:
    """A constraint of the user's own: a coordinate that stays where it is."""

    coordinate: Scalar
    kind = "fixing"

    def make_rows(self, build: Builder) -> RowSet:
        own = kane.ConfigurationEquations("q2 = 0.5")
        return own.make_rows(build)


def test_a_model_with_types_of_its_own_is_asked_for(tmp_path: Path) -> None:
    m = kane.load("double-pendulum")
    m.constrain("hold", Fixing("q2"))
    run = m.simulate(0.5, q={"q2": 0.5})
    path = run.save(tmp_path / "swing.npz")
    with pytest.raises(kane.InputError, match=r"(?s)cannot be read here.*'fixing'.*model=\.\.\."):
        kane.Trajectory.load(path)
    assert np.array_equal(kane.Trajectory.load(path, model=m).multipliers, run.multipliers)
    with pytest.raises(kane.InputError, match="is a motion of 'double-pendulum'"):
        kane.Trajectory.load(path, model=kane.load("pendulum"))


@pytest.mark.parametrize("name", ["run.npz", "run.parquet", "run.csv"])
def test_damaged_files_are_refused_by_name(name: str, tmp_path: Path) -> None:
    path = kane.load("pendulum").simulate(0.5).save(tmp_path / name)
    data = path.read_bytes()
    for cut in (b"", data[: len(data) // 2], b"\x00" * 100):
        path.write_bytes(cut)
        with pytest.raises(kane.InputError, match=name):
            kane.Trajectory.load(path)


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    path = kane.load("pendulum").simulate(0.5).save(tmp_path / "run.npz")
    with np.load(path) as archive:
        kept = {name: archive[name] for name in archive.files}
    for evil in (np.array([os.system], dtype=object), None):
        facts = json.loads(str(kept["kane"]))
        facts["outcome"] = {"record": "Popen", "args": ["true"]}
        changed: dict[str, Any] = kept | ({"q": evil} if evil is not None else {"kane": np.array(json.dumps(facts))})
        np.savez(path, **changed)
        with pytest.raises(kane.InputError, match="damaged, or no run"):
            kane.Trajectory.load(path)


def test_a_joint_of_ones_own_is_saved_without_its_model(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("own_joint", ROOT / "examples" / "own_joint.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    m = next(x for x in vars(example).values() if isinstance(x, kane.Model))
    run = m.simulate(0.1)
    path = run.save(tmp_path / "own.npz")
    with pytest.raises(kane.InputError, match=r"(?s)could not be written as text.*model=\.\.\."):
        kane.Trajectory.load(path)
    assert np.array_equal(kane.Trajectory.load(path, model=m).acceleration(), run.acceleration())


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = kane.load("pendulum").simulate(0.5).save(tmp_path / "run.csv")
    beside = tmp_path / "run.run.json"
    beside.write_text(json.dumps(json.loads(beside.read_text()) | {"format": 99}))
    with pytest.raises(kane.InputError, match="its format is 99"):
        kane.Trajectory.load(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = kane.load("pendulum").simulate(0.5)
    path = run.save(tmp_path / "run.npz")
    old = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(kane.WritingError, match="kept: the file as it was before"):
        run.save(path)
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize("name", ["run.txt", "run", "no/folder/run.npz"])
def test_names_that_say_no_format_or_no_place_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(kane.WritingError):
        kane.load("pendulum").simulate(0.1).save(tmp_path / name)
    with pytest.raises(kane.InputError):
        kane.Trajectory.load(tmp_path / name)
