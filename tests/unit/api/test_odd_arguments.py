"""Whatever a caller gives, only errors of `kane.errors` come out: odd values for every argument of every entry."""

from __future__ import annotations

import dataclasses
import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.backends import compile
from kane.errors import InputError, KaneError, ModelError
from kane.planning import ComputedTorque
from long.odd_arguments import (
    DESCRIBING,
    ELSEWHERE,
    EXPORTED,
    ODD,
    OPTIONS,
    OWNERS,
    PUBLIC,
    TOUCHED,
    VALID,
    asked_model,
    described,
    elsewhere,
    loose,
)


class Odd:
    """A class, whose calls take nothing."""


def odd_values() -> list[Any]:
    """Values of every kind that is no number, name or list of these; some are used up by looking at them."""
    plain = [None, True, math.nan, math.inf, -1, 0, 1e308, 10**400, 1 + 2j, np.float64(3.0), np.int64(2)]
    texts = ["", "text", "1/0", "a b", "é" * 50, b"bytes"]
    lists = [[], [1, 2, 3, 4, 5], [[1, 2], [3]], [[]], [None], ["x"], [{}], (1,), ("a", None), range(3), {1, 2}]
    arrays = [np.array([]), np.zeros((2, 3, 4)), np.array(["a"]), np.array([None]), np.datetime64("2020")]
    others = [{}, {"x": 1}, {1: 2}, {"x": None}, object(), Odd, Ellipsis, lambda *a: None, iter([1])]
    return [*plain, *texts, *lists, *arrays, *others]


WRITES = ("save",)  # to any path that it is given: its errors are those of files
METHODS = [n for n in dir(kane.Model) if not n.startswith("_") and callable(getattr(kane.Model, n)) and n != "of"]
RECORDS = [r for n in kane.__all__ if isinstance(r := getattr(kane, n), type) and hasattr(r, "kind")]


def outcomes(calls: Sequence[tuple[str, Callable[[], object]]]) -> list[str]:
    """What came out of calls that is no error of this package, and not an answer either."""
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, call in calls:
            try:
                call()
            except KaneError:
                continue
            except Exception as error:
                wrong.append(f"{label}: {type(error).__name__}: {error}")
    return wrong


@pytest.mark.parametrize("name", [n for n in METHODS if n not in WRITES])
def test_every_method_of_a_model_answers_or_refuses(name: str) -> None:
    asked = described()
    calls: list[tuple[str, Callable[[], object]]] = []
    parameters = list(inspect.signature(getattr(kane.Model, name)).parameters.values())[1:]
    valid = VALID.get(name, ())
    for place, p in enumerate(parameters):
        keys = OPTIONS.get(name, ("odd",)) if p.kind is p.VAR_KEYWORD else (p.name,)
        for key in keys:
            for value in odd_values():

                def call(place: int = place, key: str = key, value: Any = value, named: bool = True) -> object:
                    model = loose() if name in DESCRIBING else asked
                    if place < len(valid) and parameters[place].kind is not inspect.Parameter.VAR_KEYWORD:
                        return getattr(model, name)(*valid[:place], value, *valid[place + 1 :])
                    return getattr(model, name)(*valid, **{key: value})

                calls.append((f"{key}={type(value).__name__}", call))
    assert outcomes(calls) == []


@pytest.mark.parametrize("record", RECORDS)
def test_every_record_is_taken_or_refused_with_odd_fields(record: type) -> None:
    calls: list[tuple[str, Callable[[], object]]] = []
    fields = [f for f in dataclasses.fields(record) if f.init]
    valid: dict[str, Any] = {}
    for f in fields:
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            meant = {"Body": "a", "Joint": "j", "Comp": [0.0, 0.0, 1.0], "Axis": "z"}
            valid[f.name] = next((v for kind, v in meant.items() if kind in str(f.type)), 1.0)
    for f in fields:
        for value in odd_values():

            def call(name: str = f.name, value: Any = value) -> object:
                model = described()
                made = record(**{**valid, name: value})
                add = model.load if hasattr(made, "actions") else model.constrain
                return add("odd", made)

            calls.append((f"{record.__name__}.{f.name}={type(value).__name__}", call))
    assert outcomes(calls) == []


def test_every_public_name_is_among_the_odd_arguments() -> None:
    """All that `kane` and its main classes offer is drawn by the search of `tests/long`, or it is said why not."""
    named = {entry.partition(",")[0] for entry in PUBLIC}
    for owner in (kane.Model, kane.Trajectory, kane.Ensemble, kane.Equations):
        assert owner.__name__ in OWNERS
    functions = {n: f for n in kane.__all__ if callable(f := getattr(kane, n)) and not isinstance(f, type)}
    offered = {n for n, f in functions.items() if _takes_something(f)}
    for owner in OWNERS:
        kind = getattr(kane, owner)
        methods = inspect.getmembers(kind, callable)
        offered |= {f"{owner}.{n}" for n, f in methods if not n.startswith("_") and _takes_something(f)}
    assert offered - named == set(ELSEWHERE)


def _takes_something(function: Callable[..., object]) -> bool:
    return any(name != "self" for name in inspect.signature(function).parameters)


@pytest.mark.parametrize("method", ["check", "reactions"])
def test_motions_answer_or_refuse(method: str) -> None:
    run = described().simulate((0.0, 0.01))
    keys = {"check": ("tolerance",), "reactions": ("frame", "on", "odd")}[method]
    calls = [(k, lambda k=k, v=v: getattr(run, method)(**{k: v})) for k in keys for v in odd_values()]
    assert outcomes(calls) == []


ROBOT = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="revolute"><parent link="a"/>
<child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


def test_loading_answers_or_refuses(tmp_path: Path) -> None:
    robot = tmp_path / "r.urdf"
    robot.write_text(ROBOT)
    options = ("free", "base", "gravity", "mimic", "damping", "friction", "packages", "strict", "right_angle", "odd")
    calls = [(f"{k}", lambda k=k, v=v: kane.load(robot, **{k: v})) for k in options for v in odd_values()]
    calls += [("source", lambda v=v: kane.load(v)) for v in odd_values()]
    calls += [("gravity", lambda v=v: kane.Model("m", gravity=v).gravity) for v in odd_values()]
    assert outcomes(calls) == []


QUICK = (
    "identify",
    "Explanation",
    "Equations",
    "Ensemble.member",
    "Ensemble.share",
    "Ensemble.plot",
    "Trajectory.load",
)
ASKED = {name: call for name, call in PUBLIC.items() if name.startswith(QUICK)}


@pytest.mark.parametrize("name", [*EXPORTED, *TOUCHED, *ASKED])
def test_what_others_take_is_answered_or_refused(name: str) -> None:
    call, model = {**EXPORTED, **TOUCHED, **ASKED}[name], asked_model()
    with elsewhere(), np.errstate(all="ignore"):
        assert outcomes([(repr(x)[:40], lambda x=x: call(model, x, x)) for x in ODD]) == []


@pytest.mark.parametrize("answer", [None, "text", [[1.0]], [1.0], {"u_j": 1.0}, [1 + 2j, 0.0], b"xx", object()])
def test_a_control_that_gives_no_efforts_is_refused(answer: Any) -> None:
    with pytest.raises(InputError, match="the control gave"):
        described().simulate((0.0, 0.1), control=lambda t, q, u: answer)


def test_errors_of_a_control_are_those_of_the_caller() -> None:
    def broken(t: float, q: Any, u: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        described().simulate((0.0, 0.1), control=broken)


class Unreadable(str):
    """A name that cannot be compared."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise TypeError("nobody knows")


def test_what_nobody_foresaw_is_named_with_its_cause() -> None:
    with pytest.raises(InputError, match=r"body: cannot take what it was given: 'new', about=") as caught:
        described().body("new", about=Unreadable("center"))
    assert isinstance(caught.value.__cause__, TypeError)


def test_names_and_numbers_that_are_none_are_named() -> None:
    with pytest.raises(ModelError, match="unknown body"):
        described().joint("x", "revolute", ["ground"], "a")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="is not a finite number"):
        described().body("new", mass=10**400)


def test_an_unknown_option_is_named_with_the_closest_that_there_is() -> None:
    model = kane.load("pendulum")
    with pytest.raises(InputError, match=r"Model.momentum: there is no option 'abuot'\n    fix: did you mean 'about'"):
        model.momentum([0.0], [0.0], abuot="center")  # pyright: ignore[reportCallIssue]
    with pytest.raises(InputError, match=r"Model.body: there is no option 'mas'\n    fix: did you mean 'mass'"):
        kane.Model().body("b", mas=1.0)  # pyright: ignore[reportCallIssue]
    with pytest.raises(InputError, match=r"Trajectory.animate: there is no option 'fps'"):
        model.simulate(0.1).animate("x.gif", fps=5)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda m: m.mass_matrix(),
            r"missing a required argument: 'q'\n    fix: call Model.mass_matrix\(q, \*, t=0.0, ",
        ),
        (
            lambda m: m.keep_free(1, 2),
            r"Model.keep_free: too many positional arguments\n    fix: call Model.keep_free\(",
        ),
        (lambda m: m.ensemble(1, 2), r"Model.ensemble: too many positional arguments\n    fix: call .*watch=None, …\)"),
        (
            lambda m: m.body(),
            r"Model.body: missing a required argument: 'name'\n    fix: call Model.body\(name, \*, mass",
        ),
    ],
)
def test_arguments_that_are_missing_or_too_many_are_named_with_what_there_are(
    call: Callable[[Any], object], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        call(kane.load("pendulum"))


def test_values_are_given_in_a_mapping_or_by_their_names() -> None:
    m = kane.load("double-pendulum")
    m.set_parameters({"m1": 3.0, "m2": 2.0}, L1="2*L1")
    assert [m.parameters[name].value for name in ("m1", "m2", "L1")] == [3.0, 2.0, 2.0]
    m.set_initial({"q1": "180*deg", "q2": 0.25}, u1=2)
    assert np.allclose(np.concatenate(m.initial_state), [np.pi, 0.25, 2, 0], rtol=1e-15)


def test_reactions_are_those_of_the_start_where_no_state_is_given() -> None:
    """The pull of a pendulum that swings is m g cos q + m L u²; a loop starts as `simulate` does."""
    m = kane.load("pendulum")
    m.set_initial(q="30*deg", u=2)
    q, g = np.pi / 6, 9.81
    along = m.reactions()["pivot"].force @ [-np.sin(q), np.cos(q), 0]
    assert along == pytest.approx(g * np.cos(q) + 4.0, rel=1e-12)
    loop = kane.load("four-bar")
    run = loop.simulate(0.01)
    there, first = loop.reactions(), loop.reactions(run.q[0], run.u[0])
    assert all(np.array_equal(there[name].force, first[name].force) for name in loop.joints)


@pytest.mark.parametrize(
    ("given", "meant"), [("speed", "u"), ("coordinates", "q"), ("duration", "t"), ("methd", "method")]
)
def test_options_of_simulate_that_are_called_otherwise_are_understood(given: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"(?s)simulate has no option '{given}'.*did you mean '{meant}'"):
        asked: dict[str, Any] = {given: {}}
        kane.load("pendulum").simulate(1.0, **asked)


@pytest.mark.parametrize("gravity", [9.81, "-9.81", (0, 0)])
def test_gravity_without_three_components_is_refused_at_once(gravity: Any) -> None:
    with pytest.raises(kane.ModelError, match=r"gravity: .* is not a list of three components"):
        kane.Model("arm", gravity=gravity)


def test_a_body_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(kane.ModelError, match=r"unknown body 'bab'(.|\n)*bob"):
        kane.load("pendulum").at("bab")


@pytest.mark.parametrize("gains", [(-25, 10), (25, [-1.0])])
def test_gains_that_drive_errors_away_are_refused(gains: Any) -> None:
    with pytest.raises(kane.InputError, match=r"(stiffness|damping) is (.|\n)*from 0 on"):
        ComputedTorque([0.0], *gains)


def test_what_is_wrong_with_a_measurement_is_told_with_its_place() -> None:
    m = kane.load("pendulum")
    q, u, udot, tau = np.random.default_rng(0).normal(size=(4, 30, 1))
    with pytest.raises(kane.InputError, match=r"noise has shape \(2,\)(.|\n)*for each of u"):
        kane.identify(m, q, u, udot, tau, noise=[1, 2])
    tau[[3, 7]] = np.nan
    with pytest.raises(kane.InputError, match=r"tau\[3, 0\] is nan, and 1 more like it"):
        kane.identify(m, q, u, udot, tau)


def test_laws_of_all_kinds_become_programs_of_their_efforts() -> None:
    m, (q, u) = kane.load("double-pendulum"), np.random.default_rng(0).normal(size=(2, 2))
    e = m.equations()
    tau = compile(e.control({"u1": "-2*q1*u2", "elbow": "w.lower.z"}))(q, u)
    np.testing.assert_allclose(tau, [-2 * q[0] * u[1], u[0] + u[1]], rtol=1e-14)
    tau = compile(e.control(ComputedTorque([0.3, 0.1], 25, [10, 4])))(q, u)
    udot = 25 * (np.array([0.3, 0.1]) - q) - np.array([10, 4]) * u
    np.testing.assert_allclose(tau, m.inverse_dynamics(q, u, udot), rtol=1e-12)
    with pytest.raises(kane.KaneError, match=r"is no control law that can be compiled(.|\n)*fix: give a name"):
        e.control(3)  # type: ignore[arg-type]
    with pytest.raises(kane.KaneError, match="two efforts along"):
        e.control({"u2": "1", "elbow": "2"})


def test_a_motion_runs_backward_only_where_both_times_say_so() -> None:
    m = kane.load("pendulum")
    with pytest.raises(kane.InputError, match=r"t = -1 s is no duration(.|\n)*\(0, -1\)"):
        m.simulate(-1)
    there = m.simulate(1, q={"q": 1.0}, rtol=1e-11)
    back = m.simulate((1, 0), q=there.q[-1], u=there.u[-1], rtol=1e-11)
    np.testing.assert_allclose([back.q[-1, 0], back.u[-1, 0]], [1.0, 0.0], atol=1e-8)
