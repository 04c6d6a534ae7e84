"""Constraints of model files: every type loads, is written and loads back, and faults are named with their line."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.errors import ModelError
from kane.graph import evaluate
from kane.model import Mechanism, MotionEquations, load_mechanism, read_mechanism, write_mechanism
from kane.model.constraints import GivenRows, Row
from kane.model.constraints.shapes import OPTIONS
from kane.model.files.forms import CONDITIONS, CONSTRAINTS, CONTACT
from laws.guided import BETWEEN, TIES, Case, rate, state, tree
from style.source import ROOT
from unit.model.test_writing import assert_round_trip

ROUND = 1e-12

HEAD = """kane: 1
name: linkage
parameters: {R: 0.4, L: 1}
bodies: {A: {mass: 1}, B: {mass: 1}, W: {mass: 1}, S: {mass: 1}}
joints:
  a: {type: revolute, parent: ground, child: A, coordinate: qa}
  b: {type: revolute, parent: A, child: B, at: [L, 0, 0], coordinate: qb}
  s: {type: prismatic, parent: A, child: S, axis: x, coordinate: qs}
  w: {type: free, parent: ground, child: W}
constraints:
"""
LINE = HEAD.count("\n") + 1

EVERY_TYPE = """\
  motion: {type: motion, equations: "qa' = 2*qb' + sin(t)"}
  configuration: {type: configuration, equations: [qa + qb = R, r.B.x - qs]}
  velocity: {type: velocity, body: B, direction: [cos(qa), sin(qa), 0], frame: A, at: [1, 0, 0], value: 0.1*t}
  contact: {type: velocity, body: W, direction: x, at: [qa, 0, -R], at_frame: B, relative_to: B}
  knife-edge: {type: knife-edge, body: B, direction: y, on: A}
  gear: {type: gear, first: a, second: b, ratio: -2, offset: 0.1}
  belt: {type: belt, first: a, second: b, first_radius: R, second_radius: 0.1, crossed: true}
  rack: {type: rack, pinion: b, rack: s, radius: R, opposite: true}
  rolling: {type: rolling, body: W, radius: R, axis: y, crown: 0.1, on: A, at: [0, 0, 1], normal: -z, normal_row: false}
  rolling-sphere: {type: rolling-sphere, body: W, radius: R, center: [0, 0, 0.1]}
  rolling-on-sphere: {type: rolling-on-sphere, body: W, radius: R, on_radius: 2, inside: true}
  rolling-ellipsoid: {type: rolling-ellipsoid, body: W, semi_axes: [R, 1, 2], rotation: {axis: z, angle: 0.3}}
  weld: {type: weld, first: B, second: W, along: first}
  revolute: {type: revolute, first: B, second: W, first_at: [L, 0, 0], rows: [x, y]}
  prismatic: {type: prismatic, first: ground, second: W, axis: x, first_rotation: {axis: z, angle: 90*deg}}
  cylindrical: {type: cylindrical, first: ground, second: W, axis: [0.6, 0, 0.8]}
  universal: {type: universal, first: B, second: W, sequence: body zx}
  spherical: {type: spherical, first: B, second: W, second_at: [0, 0.1*sin(t), 0]}
  distance: {type: distance, first: B, second: W, length: L + 0.1*t}
  point-on-plane: {type: point-on-plane, first: ground, second: B, normal: x, height: 0.5}
  point-on-line: {type: point-on-line, first: A, second: W, axis: y, rows: [z]}
  point-on-curve: {type: point-on-curve, first: ground, second: B, equations: [y = x**2, z]}
  stop: {type: stop, of: r.B.x - qs, lower: -L, upper: 2 + sin(t), restitution: R}
  backlash: {type: backlash, of: qb - qa, play: 0.1, restitution: 0.5}
  rope: {type: rope, first: A, second: W, length: L + 0.1*t, second_at: [0, 0, R], restitution: 0.2}
  latch: {type: latch, of: qb - R, duration: 2}
  ratchet: {type: ratchet, of: qa' - qb'}
  friction: {type: friction, of: "qa' - w.W.z", bound: 3*R, static: 1.2}
  brake: {type: brake, joint: w, index: 2, bound: 2 + t, when: t - 1, until: t - 2}
  clutch: {type: clutch, first: a, second: b, bound: 2, static: 1.5}
"""


def test_every_type_loads_and_loads_back() -> None:
    m = read_mechanism(HEAD + EVERY_TYPE, "all.yaml")
    built = [*m.constraints.values(), *m.changing.values()]
    names = {*m.constraints, *(c.given for c in m.changing.values())}
    assert names - {"contact"} == set(CONSTRAINTS) == {c.kind for c in built}
    assert_round_trip(m)


@pytest.mark.parametrize("on", ["ground", "B"])
@pytest.mark.parametrize("case", [*BETWEEN, *TIES], ids=lambda c: c.name)
def test_what_is_built_in_python_loads_back_with_the_same_rows(case: Case, on: str) -> None:
    m = tree()
    case.build(m, on)
    assert_round_trip(m)
    again = read_mechanism(write_mechanism(m), "again.yaml")
    assert again.row_names == m.row_names
    values = state(m, np.random.default_rng(6))
    for one, two in zip(m.constraints["c"].rows, again.constraints["c"].rows, strict=True):
        numbers = []
        for mechanism, row in ((m, one), (again, two)):
            exprs = [rate(mechanism, row), *([] if row.residual is None else [row.residual])]
            numbers.append(evaluate(exprs, values))
        assert numbers[0] == pytest.approx(numbers[1], abs=ROUND)


def test_an_equation_too_long_to_write_out_is_kept_as_it_was_written() -> None:
    m = Mechanism("chain")
    for k in range(24):
        m.body(f"B{k}", mass=1.0)
        m.joint(f"j{k}", "revolute", f"B{k - 1}" if k else "ground", f"B{k}", axis="xyz"[k % 3], at=(0.1, 0.2, 0.3))
    m.constrain("tip", MotionEquations("v.B23.x = 0.1*sin(t)"))
    assert m.description()["constraints"]["tip"]["equations"] == ["v.B23.x = 0.1*sin(t)"]
    assert_round_trip(m)


def test_equations_are_written_without_the_names_of_speeds() -> None:
    m = tree()
    m.constrain("c", MotionEquations("u_fork = 2*u_spin"))
    assert m.description()["constraints"]["c"] == {"type": "motion", "equations": ["fork' - 2*spin'"]}


def test_a_single_row_needs_no_list() -> None:
    text = "  one: {type: revolute, first: A, second: W, rows: rx}\n"
    assert [row.label for row in read_mechanism(HEAD + text, "one.yaml").constraints["one"].rows] == ["rx"]


def test_rows_of_your_own_cannot_be_written() -> None:
    m = tree()
    m.constrain("own", GivenRows((Row("1", (), m.graph.const(0.0)),), "my kind"))
    with pytest.raises(ModelError, match="constraint 'own': its kind 'my kind' is not one of the model files"):
        write_mechanism(m)


def test_a_file_that_extends_another_lays_its_constraints_over_it() -> None:
    text = "kane: 1\nextends: double-pendulum\nconstraints:\n  lock: {type: configuration, equations: q1 = q2}\n"
    m = read_mechanism(text, "locked.yaml")
    assert m.row_names == ("lock",) and not load_mechanism("double-pendulum").constraints


FAULTS = [
    ("c: {first: A, second: B}", "constraint 'c': 'type' is missing", "type is one of motion"),
    ("c: 3", "constraint 'c': expected a type and its options, found '3'", "type is one of"),
    ("c: {type: roling, body: W}", "unknown type 'roling' of a constraint", "did you mean 'rolling'?"),
    ("c: {type: fixed, first: A, second: W}", "unknown type 'fixed' of a constraint", "did you mean 'weld'?"),
    ("c: {type: rod, first: A, second: W}", "unknown type 'rod' of a constraint", "did you mean 'distance'?"),
    ("c: {type: cable, first: A, second: W}", "unknown type 'cable' of a constraint", "did you mean 'rope'?"),
    ("c: {type: rolling-sphere, body: W, radius: 1, axis: y}", "unknown key 'axis'", "known: type, body, radius"),
    ("c: {type: rolling, body: W}", "constraint 'c': 'radius' is missing", "add radius: …"),
    ("c: {type: rolling, body: V, radius: 1}", "constraint 'c' / body: unknown body 'V'", "known: ground, A, B, W, S"),
    ("c: {type: rolling, body: W, radius: 1, crwn: 1}", "unknown key 'crwn'", "did you mean 'crown'?"),
    ("c: {type: rolling, body: W, radius: -1}", "radius -1 m", "a radius is > 0"),
    ("c: {type: rolling, body: W, radius: 40 cm}", "expected an operator, found 'cm'", "numbers are in SI units"),
    ("c: {type: rolling, body: W, radius: R*qa}", "radius: it depends on 'qa'", "may depend on parameters only"),
    ("c: {type: rolling, body: W, radius: nan}", "'nan' is not a finite number", "give a finite number"),
    ("c: {type: rolling, body: W, radius: 1, normal: [0, 0, 2]}", "has length 2", "an axis is a unit vector"),
    ("c: {type: rolling, body: W, radius: 1, normal_row: no}", "'no' is neither true nor false", "write true or false"),
    ("c: {type: gear, first: a, second: bb, ratio: 1}", "unknown joint 'bb'", "did you mean 'b'?"),
    ("c: {type: gear, first: a, second: w, ratio: 1}", "joint 'w' is of type free", "one degree of freedom"),
    ("c: {type: motion, equations: qa'**2}", "is not linear in", "a motion constraint is linear in the rates"),
    ("c: {type: motion, equations: qa + qb}", "there is no rate in", "use ConfigurationEquations"),
    ("c: {type: motion, equations: v.WW.x}", "unknown point 'WW'", "did you mean 'W'?"),
    ("c: {type: motion, equations: {a: 1}}", "expected a word, found a mapping", ""),
    ("c: {type: revolute, first: B, second: B}", "body 'B' is named twice", "name two bodies"),
    ("c: {type: revolute, first: A, second: B, rows: [x, u]}", "unknown row 'u'", "known: x, y, z, rx, ry"),
    ("c: {type: distance, first: A, second: B, length: 0}", "length 0 m", "length > 0"),
]


@pytest.mark.parametrize(("entry", "what", "more"), FAULTS)
def test_faults_are_named_with_their_line(entry: str, what: str, more: str) -> None:
    with pytest.raises(ModelError) as refused:
        read_mechanism(HEAD + "  good: {type: knife-edge, body: A}\n  " + entry + "\n", "faulty.yaml")
    (problem,) = refused.value.problems
    assert problem.where.startswith(f"faulty.yaml:{LINE + 1}: constraint 'c'")
    assert re.search(re.escape(what), str(problem)) and more in str(problem)


JUNK = (
    *("nan", "-1", "0", "1e400", "[]", "{}", "[1, 2]", "ground", "A", "x", "''", "[[1]]", "qa", "qa'", "t", "1/t"),
    *(
        "1/0",
        "sqrt(-1)",
        "true",
        "{type: gear}",
        "u_a",
        "w.A.x",
        "'='",
        "a = b = c",
        "~",
        "N",
        "[x, y, z]",
        "[0, 0, 0]",
    ),
)
VALUE = re.compile(r"(?<=: )(?:\[[^\]]*\]|\{(?!type)[^}]*\}|\"[^\"]*\"|[^,{}\[\]\"]+)(?=[,}])")


@settings(max_examples=150)
@given(st.sampled_from(EVERY_TYPE.splitlines()), st.sampled_from(JUNK), st.integers(0, 9))
def test_a_wrong_value_is_refused_or_loads_back(line: str, junk: str, place: int) -> None:
    values = list(VALUE.finditer(line))
    start, stop = values[place % len(values)].span()
    try:
        m = read_mechanism(f"{HEAD}{line[:start]}{junk}{line[stop:]}\n", "faulty.yaml")
    except ModelError as error:
        assert all(p.where.startswith("faulty.yaml:") for p in error.problems)
    else:
        assert_round_trip(m)


def test_a_constraint_on_something_faulty_is_not_blamed() -> None:
    text = HEAD.replace("coordinate: qb", "coordinate: qb, axis: w")
    rest = "  tie: {type: gear, first: a, second: b, ratio: 1}\n  sum: {type: configuration, equations: qa + qb}\n"
    with pytest.raises(ModelError) as refused:
        read_mechanism(text + rest, "faulty.yaml")
    assert all("joint 'b'" in p.where for p in refused.value.problems)


def test_the_documentation_shows_every_type_and_option() -> None:
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("constraints.md", "contact.md")]
    short = (ROOT / "docs" / "model-files.md").read_text(encoding="utf-8")
    for name, form in CONSTRAINTS.items():
        page = pages[hasattr(form.record, "make_changing")]
        assert f"`{name}`" in short, f"docs/model-files.md does not mention '{name}'"
        assert name in page and form.record.__name__ in page, f"the documentation does not explain '{name}'"
        for key in form.keys:
            assert re.search(rf"\b{key}\b", page), f"the documentation does not explain '{key}' of '{name}'"
    for key in (*CONTACT.keys, *CONDITIONS.keys):
        assert re.search(rf"\b{key}\b", pages[1]), f"docs/contact.md does not explain '{key}'"
    for word, options in OPTIONS.items():
        for key in (word, *options):
            assert re.search(rf"\b{key}\b", pages[1]), f"docs/contact.md does not explain '{key}' of a shape"
