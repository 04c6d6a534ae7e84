"""What a stranger gets wrong is named, with the fix; members that cannot be do not spoil the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.cli import FAILED, main
from kane.ensemble import Enough
from kane.errors import InputError


def fail(generator: np.random.Generator) -> float:
    """A function of a user that has a fault."""
    raise ValueError("no luck")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"parameters": {"mass": "normal(1, 0.1)"}}, r"unknown parameter 'mass'\n    fix: known: g, L1"),
    ({"q": {"q3": 1.0}}, r"unknown coordinate 'q3'\n    fix: known: q1, q2"),
    ({"n": 10**400}, r"n: an ensemble has 1000000000000 members at most\n    fix"),
    ({"n": 0}, r"n = 0: an ensemble has one member at least\n    fix: give n ≥ 1"),
    ({"n": 2.5}, r"n = 2.5 is not a whole number\n    fix"),
    ({"n": None}, r"how many members\?\n    fix: give n="),
    ({"n": None, "q": {"q1": []}}, r"n = 0: an ensemble has one member at least\n    fix"),
    ({"seed": -1}, r"seed = -1: a seed is not negative\n    fix: give seed ≥ 0"),
    ({"seed": "a"}, r"seed = 'a' is not a whole number\n    fix"),
    ({"q": {"q1": np.zeros((3, 2))}}, r"q / q1 has shape \(3, 2\)\n    fix: give one number for each member"),
    ({"q": np.zeros((3, 3))}, r"of shape \(3, 3\)\n    fix: .*array \(n, 2\) of q1, q2"),
    ({"q": {"q1": np.zeros(4)}}, r"q q1: 4 values are given for 3 members\n    fix: give one per member"),
    ({"q": {"q1": float("nan")}}, r"q / q1 is not finite: nan; give a finite number"),
    ({"q": {"q1": "normal(0)"}}, r"normal does not take 1 numbers\n    fix: give normal\(mean, deviation\)"),
    ({"q": {"q1": "norml(0, 1)"}}, r"there is no distribution 'norml'\n    fix: did you mean 'normal'\?"),
    ({"q": {"q1": "gamma(0, 1)"}}, r"no distribution 'gamma'\n    fix: give normal\(…\), .* in Python a function"),
    ({"q": {"q1": "sin(1"}}, r"(?s)sin.*fix: give a number, or a distribution: normal"),
    ({"q": lambda rng: [1.0]}, r"q: the function gave \[1.0\] for member 0\n    fix: give an array \(2,\)"),
    ({"q": fail}, r"q: the function raised ValueError for member 0: no luck\n    fix"),
    ({"n": 10**12}, r"takes .*e\+04 GB, and this machine has .* GB\n    fix: keep='tallies' or fewer members"),
    (
        {"n": 10**12, "keep": "tallies"},
        r"takes 1e\+03 GB, for a moment up to 2e\+03 GB, and this machine has .* GB\n    fix: fewer members",
    ),
    ({"q": {"q1": fail}}, r"q q1: the function raised ValueError for member 0: no luck\n    fix"),
    ({"sampling": "halton"}, r"there are random, latin, sobol"),
    ({"keep": "all"}, r"there are motions, ends, tallies"),
    ({"until": "over"}, r"until = 'over'\n    fix: give kane.ensemble.Enough"),
    ({"resume": True}, r"resume: there is no store to go on with\n    fix: name it"),
    ({"store": 3}, r"store = 3 is no name of a folder\n    fix"),
    ({"store": "nosuch://x"}, r"Protocol not known: nosuch\n    fix"),
    ({"rtoll": 1e-3}, r"no option 'rtoll'\n    fix: did you mean 'rtol'"),
]


@pytest.mark.parametrize(("given", "words"), WRONG, ids=[words[:24] for _, words in WRONG])
def test_what_makes_no_sense_is_named_with_the_fix(given: dict[str, Any], words: str) -> None:
    with pytest.raises(kane.KaneError, match=words):
        kane.load("double-pendulum").ensemble(0.1, **{"n": 3, **given})


@pytest.mark.parametrize("kind", ["q", "u", "parameters"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_member_without_a_number_is_refused_and_spoils_nobody(kind: str, value: float) -> None:
    m, name = kane.load("double-pendulum"), {"q": "q1", "u": "u1", "parameters": "m1"}[kind]
    numbers = np.linspace(0.5, 1.5, 5)
    asked: dict[str, Any] = {kind: {name: numbers}}
    expected: Any = m.ensemble(0.1, **asked)
    spoiled = numbers.copy()
    spoiled[2] = value
    asked = {kind: {name: spoiled}}
    found: Any = m.ensemble(0.1, **asked)
    assert found.reasons.tolist() == ["end", "end", "refused", "end", "end"]
    assert found.messages == {2: f"member 2: {kind} {name} = {value:g} is not finite\n    fix: give finite numbers"}
    assert np.array_equal(found.end_q[found.success], expected.end_q[found.success])


def test_a_mass_that_cannot_be_is_told_with_the_member_and_where_it_came_from() -> None:
    m = kane.load("double-pendulum")
    found = m.ensemble(0.1, n=3, parameters={"m1": np.array([1.0, -2.0, 1.0]), "m2": "uniform(1, 2)"})
    said = found.messages[1]
    assert said.startswith("member 1: m1 = -2 as given, m2 = 1.") and "from uniform(1, 2)" in said
    assert "body 'upper' / mass: mass -2 kg\n    because mass is not negative\n    fix: give a mass ≥ 0" in said


def sweep(store: Path, **options: Any) -> Any:
    asked: dict[str, Any] = {"n": 70, "q": {"q": "uniform(0, 1)"}, "resume": True, **options}
    return kane.load("pendulum").ensemble(0.1, store=store, **asked)


def test_a_store_of_another_version_is_told_apart_from_another_ensemble(tmp_path: Path) -> None:
    store = tmp_path / "runs.zarr"
    sweep(store)
    settings = json.loads((store / "settings.json").read_text())
    for name, value in {"kane": "0123456789ab", "version": "0.0.1", "numpy": "1.0", "format": 99}.items():
        (store / "settings.json").write_text(json.dumps(settings | {name: value}))
        with pytest.raises(InputError, match=rf"(?s)another version.*{name}: .*{value}.* there.*fix: go on with that"):
            sweep(store)
    (store / "settings.json").write_text(json.dumps(settings | {"version": "0.0.1", "seed": 9}))
    with pytest.raises(InputError, match=r"(?s)another ensemble.*seed: 9 there, 0 here"):
        sweep(store)
    for text in ("[1, 2]", "{half", ""):
        (store / "settings.json").write_text(text)
        with pytest.raises(InputError, match=r"settings.json is damaged.*\n    fix: choose another name"):
            sweep(store)


def test_a_folder_that_is_no_store_cannot_be_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match=r"it is no store of an ensemble\n    fix: choose another name"):
        sweep(tmp_path)
    line = ["sweep", "pendulum", "-n", "9", "--q", "q=uniform(0,1)", "--out", str(tmp_path), "--resume"]
    assert main(line) == FAILED
    assert "it is no store of an ensemble" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_members_that_are_never_reached_take_no_memory() -> None:
    """Of 10¹¹ members the first block is enough; a list of all blocks would take gigabytes."""
    m, drawn, events = kane.load("double-pendulum"), {"q1": "uniform(1, 2)"}, {"over": "q1 - 1.5"}
    found = m.ensemble(0.001, n=10**11, q=drawn, events=events, keep="tallies", until=Enough("over", 0.1))
    assert len(found) < 10_000
