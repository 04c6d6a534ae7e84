"""Model files: what they may say, in any order, and every fault with its file and line, all of them at once."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from textwrap import dedent

import pytest
from markdown_it import MarkdownIt

from kane.errors import ModelError
from kane.model import JOINT_TYPES, Mechanism, builtin_names, load_mechanism, read_mechanism
from kane.model.drawn_shapes import LENGTHS
from kane.model.files.forms import LOADS
from kane.model.files.loading import MAX_EXTENDS
from kane.model.files.nodes import MAX_BYTES, MAX_DEPTH, MAX_NODES, compose
from kane.model.files.parts import BODY, JOINT
from kane.model.files.reader import SECTIONS
from style.source import ROOT

ARM = dedent("""\
    kane: 1
    name: arm
    gravity: [0, -g, 0]
    parameters:
      g: 9.81
      L: {value: 0.5, free: true}
    bodies:
      upper: {mass: 1, center: [0, -L, 0], inertia: {xx: 0.1, zz: 0.1}}
      lower: {mass: 1, center: [0, -L, 0], inertia: {xx: 0.1, zz: 0.1}}
    joints:
      shoulder: {type: revolute, parent: ground, child: upper, coordinate: q1, speed: u1, initial: 90*deg}
      elbow: {type: revolute, parent: upper, child: lower, at: [0, -2*L, 0], coordinate: q2, speed: u2}
    """)


def problems(text: str, source: str = "arm.yaml") -> list[str]:
    """The problems of a file, as text, in their order."""
    with pytest.raises(ModelError) as refused:
        read_mechanism(text, source)
    return [str(p) for p in refused.value.problems]


def changed(old: str, new: str) -> str:
    """The arm with one thing changed."""
    assert ARM.count(old) >= 1
    return ARM.replace(old, new, 1)


# what a file may say -------------------------------------------------------------------------------------------------


def test_a_file_becomes_a_mechanism() -> None:
    m = read_mechanism(ARM, "arm.yaml")
    assert type(m) is Mechanism
    assert (m.coordinates, m.speeds) == (("q1", "q2"), ("u1", "u2"))
    assert m.parameters["L"].free and not m.parameters["g"].free
    assert m.coordinate_records["q1"].initial == math.pi / 2
    assert m.number(m.gravity[1], "") == -9.81


def test_sections_and_entries_may_stand_in_any_order() -> None:
    expected = read_mechanism(EVERYTHING, "all.yaml").description()
    rng = random.Random(2)
    for _ in range(10):
        sections = EVERYTHING.strip().split("\n\n")
        rng.shuffle(sections)
        shuffled = []
        for section in sections:
            head, *entries = section.split("\n")
            rng.shuffle(entries)
            shuffled += [head, *entries]
        m = read_mechanism("\n".join(shuffled), "all.yaml")
        order = {key: sorted(value) for key, value in expected.items() if isinstance(value, dict)}
        found = m.description()
        assert {key: sorted(value) for key, value in found.items() if isinstance(value, dict)} == order
        assert found == expected


EVERYTHING = """
kane: 1

name: everything

coordinates: [s, e0, e1, e2, e3, a, b, x, y, h]

gravity: [0, 0, -g]

parameters:
  g: 9.81
  k: {value: 40, free: true}
  l: 2*w
  w: 0.25

extra_coordinates:
  s: {initial: l, speed: us}

bodies:
  cart: {mass: 3, frame: C, origin: P}
  ball: {mass: 1, inertia: {xx: 0.4, yy: 0.4, zz: 0.4}, shapes: [{sphere: l, color: red}, {line: [0, 0, 1]}]}
  fork: {mass: 1, center: [w, 0, 0], inertia: {xx: 1, yy: 2, zz: 2, xy: 0.1}, about: origin}
  bob: {particle: 0.1}
  tail:

joints:
  j1: {type: spherical, parent: cart, child: ball, coordinates: [e0, e1, e2, e3], rotation: {axis: x, angle: w}}
  j2: {type: universal, parent: ball, child: fork, sequence: space zx, coordinates: [a, b], child_at: [w, 0, 0]}
  j3: {type: planar, parent: fork, child: bob, normal: y, coordinates: [x, y, h], initial: [0, l, 0]}
  j4: {type: weld, parent: bob, child: tail, child_rotation: {euler: body 321, angles: [0.1, 0.2, w]}}

frames:
  D: {parent: C, rotation: {quaternion: [0.5, 0.5, 0.5, 0.5]}}
  C: {parent: N, rotation: {axis: [0.6, 0, 0.8], angle: s}}
  T: {parent: tail, rotation: {matrix: [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]}}

points:
  Q: {parent: P, offset: [1, 0, s], frame: D}
  P: {parent: O, offset: [s, 0, 0]}

loads:
  push: {force: ["max(k, 1)", 0, us], body: cart, at: [0, 1, 0], frame: T, reaction: bob}
  twist: {torque: [0, sin(t), 0], body: ball}
  rope: {spring: [ground, tail], at: [[0, 0, 1], [0, 0, w]], stiffness: k, damping: 1, rest: l}
  hold: {joint_spring: j2, stiffness: k, rest: 0.1, index: 1}
  drive: {effort: -k*a, joint: j2}

controls:
  steady: {us: -k*s, a': 1, u_j3_angle: "select(t < 1, 1, 0)"}

initial:
  us: 0.5
  e0: cos(w)
  e1: sin(w)
"""


def test_velocities_set_by_the_analyst_are_written_in_the_speeds() -> None:
    m = read_mechanism(
        dedent("""\
            kane: 1
            name: disk
            extra_coordinates: {q1: {speed: a}, q2: {speed: b}, q3: {speed: c}}
            frames:
              A: {parent: N, rotation: {euler: body 312, angles: [q1, q2, q3]}, angular_velocity: [u1, u2, u3]}
            points:
              P: {parent: O, velocity: {frame: A, components: [u2, -u1, 0]}}
            bodies:
              disk: {mass: 1, inertia: {xx: 1, yy: 1, zz: 2}, frame: A, origin: P}
            speeds: {u1: w.A.x, u2: w.A.y, u3: w.A.z}
            """),
        "disk.yaml",
    )
    A, P, u = m.frames["A"], m.points["P"], m.names()
    assert A.w_NF == (u["u1"], u["u2"], u["u3"])
    assert P.v_NP is not None and P.v_NP.frame is A and P.v_NP.xyz[1] == -u["u1"]


def test_a_particle_has_no_other_inertia() -> None:
    assert problems(changed("{mass: 1, center", "{particle: 1, mass: 1, center"))[0].startswith(
        "arm.yaml:8: body 'upper': a particle has neither mass: nor inertia:"
    )


# faults --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (
            "kane: 1",
            "kane: 2",
            "arm.yaml:1: kane: version '2'\n    because this program reads model files of version 1",
        ),
        ("kane: 1\n", "", "arm.yaml:1: kane: the version is missing"),
        ("mass: 1", "mas: 1", "arm.yaml:8: body 'upper': unknown key 'mas'\n    fix: did you mean 'mass'?"),
        ("name: arm", "abut: arm", "arm.yaml:2: unknown key 'abut'\n    fix: did you mean 'about'?"),
        (
            "  lower:",
            "  upper:",
            "arm.yaml:9: the key 'upper' is there already, on line 8\n    because names are unique",
        ),
        ("mass: 1", "mass: -1", "arm.yaml:8: body 'upper' / mass: mass -1 kg\n    because mass is not negative"),
        ("mass: 1", "mass: nan", "arm.yaml:8: body 'upper' / mass: 'nan' is not a finite number"),
        ("mass: 1", "mass: .NaN", "arm.yaml:8: body 'upper' / mass: '.NaN' is not a finite number"),
        ("mass: 1", "mass: -.inf", "arm.yaml:8: body 'upper' / mass: '-.inf' is not a finite number"),
        ("mass: 1", "mass: 1e999", "arm.yaml:8: body 'upper' / mass: '1e999' is not a finite number"),
        ("mass: 1", "mass: [1]", "arm.yaml:8: body 'upper' / mass: expected a number or an expression, found a list"),
        ("mass: 1", "mass: ''", "arm.yaml:8: body 'upper' / mass: expected a number or an expression, found nothing"),
        (
            "mass: 1",
            "mass: m",
            "arm.yaml:8: body 'upper' / mass: cannot read the expression, column 1: unknown symbol 'm'",
        ),
        ("zz: 0.1", "zz: 0.3", "arm.yaml:8: body 'upper' / inertia: central principal moments 0, 0.1, 0.3 kg m²"),
        ("zz: 0.1", "zx: 0.3", "arm.yaml:8: body 'upper' / inertia: unknown key 'zx'"),
        ("[0, -L, 0]", "[0, -L]", "arm.yaml:8: body 'upper' / center: expected a list of 3, found a list of 2"),
        ("[0, -L, 0]", "[0, -q1, 0]", "arm.yaml:8: body 'upper' / center: cannot read the expression"),
        (
            "parent: upper",
            "parent: uper",
            "arm.yaml:12: joint 'elbow' / parent: unknown body 'uper'\n    fix: did you",
        ),
        ("parent: upper, ", "", "arm.yaml:12: joint 'elbow': 'parent' is missing\n    fix: add parent: …"),
        ("parent: upper", "parent: lower", "arm.yaml:12: joint 'elbow': body 'lower' is joined to itself"),
        (
            "parent: ground",
            "parent: lower",
            "arm.yaml:12: joint 'elbow': 'upper' hangs on 'lower', which would hang on",
        ),
        (
            "type: revolute, parent: upper",
            "type: revolut, parent: upper",
            "arm.yaml:12: joint 'elbow': unknown joint type",
        ),
        (
            "at: [",
            "axis: [1, 1, 0], at: [",
            "arm.yaml:12: joint 'elbow' / axis: axis [1.0, 1.0, 0.0] has length 1.41421",
        ),
        ("at: [", "pitch: 1, at: [", "arm.yaml:12: joint 'elbow': a revolute joint has no option 'pitch'"),
        (
            "at: [",
            "rotation: {axis: x}, at: [",
            "arm.yaml:12: joint 'elbow' / rotation: an orientation cannot be made of",
        ),
        ("speed: u2", "speed: u1", "arm.yaml:12: speed 'u1': the name 'u1' is already in use"),
        (
            "coordinate: q2",
            "coordinates: [q2, q3]",
            "arm.yaml:12: joint 'elbow': 2 coordinates given\n    because a revolute",
        ),
        ("coordinate: q2", "coordinate: g", "arm.yaml:12: coordinate 'g': the name 'g' is already in use"),
        (
            "coordinate: q2,",
            "coordinate: q2, coordinates: [q2],",
            "arm.yaml:12: joint 'elbow': coordinate: and coordinates:",
        ),
        ("-g, 0]", "-G, 0]", "arm.yaml:3: gravity: cannot read the expression, column 2: unknown symbol 'G'"),
        ("value: 0.5", "value: L", "arm.yaml:6: parameter 'L': is computed from itself: L → L"),
        ("free: true", "free: yes", "arm.yaml:6: parameter 'L' / free: 'yes' is neither true nor false"),
        ("name: arm", "name: arm\nname: leg", "arm.yaml:3: the key 'name' is there already, on line 2"),
        ("name: arm", "name: &x arm", "arm.yaml:2: the anchor '&x'\n    because a model file is plain"),
        ("name: arm", "name: *x", "arm.yaml:2: the alias '*x'\n    because a model file is plain"),
        ("name: arm", "name: !!python/name:os.system", "arm.yaml:2: the tag 'tag:yaml.org,2002:python/name:os.system'"),
        ("name: arm", "? [a, b]\n: c", "arm.yaml:2: a key that is a list or a mapping\n    because keys are words"),
        ("name: arm", "---\nname: arm", "arm.yaml:2: a second document\n    because a file holds one model"),
        ("name: arm", "name: 'arm", "arm.yaml:13: not valid YAML, column 1: found unexpected end of stream"),
        ("name: arm", "\tname: arm", "arm.yaml:2: not valid YAML, column 1: a tab\n    fix: indent by spaces"),
        ("coordinate: q2", "coordinate: φ", "arm.yaml:12: coordinate 'φ': 'φ' is not a name\n    fix: write 'phi'"),
        (
            "name: arm",
            "name: arm\nspeeds: {a: q1', b: q1'}\ninitial: {b: 1}",
            "arm.yaml:3: speeds: a, b cannot be solved",
        ),
    ],
)
def test_a_fault_is_reported_with_its_line_and_how_to_mend_it(old: str, new: str, what: str) -> None:
    found = problems(changed(old, new))
    assert found[0].startswith(what), found
    assert len(found) == 1, "one fault, one problem"


@pytest.mark.parametrize(
    ("added", "what"),
    [
        ("loads: {f: {force: [1, 0, 0], body: arm}}", "load 'f' / body: unknown body 'arm'"),
        ("loads: {f: {force: [1, 0, 0]}}", "load 'f': 'body' is missing"),
        ("loads: {f: {forse: [1, 0, 0], body: upper}}", "load 'f': a load is one of force, torque, spring"),
        (
            "loads: {f: {effort: q3, joint: elbow}}",
            "load 'f' / effort: cannot read the expression, column 1: unknown symbol",
        ),
        (
            "loads: {f: {effort: import(q1), joint: elbow}}",
            "load 'f' / effort: cannot read the expression, column 1: 'import'",
        ),
        (
            "loads: {f: {effort: q1, joint: elbow, index: 1}}",
            "load 'f': index 1\n    because joint 'elbow' has 1 speeds",
        ),
        ("loads: {f: {effort: q1, joint: elbow, index: -1}}", "load 'f' / index: '-1' is not an index"),
        ("loads: {f: {spring: [upper], stiffness: 1}}", "load 'f' / spring: expected a list of 2, found a list of 1"),
        (
            "loads: {f: {spring: [upper, lower], stiffness: q1}}",
            "load 'f' / stiffness: it depends on 'q1'",
        ),
        ("controls: {c: {u3: 1}}", "control 'c' / u3: unknown speed, rate or joint 'u3'"),
        ("controls: {c: {elbow: 1, u2: 1}}", "control 'c' / u2: two efforts along q2'"),
        ("controls: {c: 3}", "control 'c': expected efforts along speeds, rates or joints, found '3'"),
        ("initial: {q3: 1}", "initial 'q3': unknown coordinate or speed 'q3'"),
        ("initial: {q1: q2}", "initial 'q1': it depends on 'q2'"),
        ("speeds: {a: q1', b: q1'}", "speeds: a, b cannot be solved for the rates of the coordinates"),
        ("speeds: {a: q1', b: q2'*q2'}", "speed 'b': (q2' * q2') is not linear in q2'"),
        ("speeds: {a: q1'}", "speeds: 1 speeds for 2 degrees of freedom"),
        ("coordinates: [q1]", "coordinates: the order names ['q1']\n    because the coordinates are ['q1', 'q2']"),
        ("coordinates: q1", "coordinates: expected a list, found 'q1'"),
        ("frames: {F: {parent: G}}", "frame 'F' / parent: unknown frame or body 'G'"),
        (
            "frames: {F: {parent: G}, G: {parent: F}}",
            "frame 'F': is built on itself: frame 'F' → frame 'G' → frame 'F'",
        ),
        ("frames: {upper: {parent: N}}", "frame 'upper': the name 'upper' is already in use"),
        ("points: {P: {parent: O, frame: F}}", "point 'P' / frame: unknown frame or body 'F'"),
        (
            "points: {P: {parent: O, velocity: {components: [u9, 0, 0]}}}",
            "point 'P' / velocity / components: cannot read",
        ),
        ("frames: {F: {parent: N, angular_velocity: [1, 2]}}", "frame 'F' / angular_velocity: expected a list of 3"),
        ("frames: []", "frames: expected named entries, found a list"),
        ("extra_coordinates: {q1: {}}", "coordinate 'q1': the name 'q1' is already in use"),
    ],
)
def test_a_faulty_section_is_reported_with_its_line(added: str, what: str) -> None:
    found = problems(f"{ARM}{added}\n")
    assert found[0].removeprefix("arm.yaml:13: ").removeprefix("arm.yaml:11: ").startswith(what), found
    assert len(found) == 1, "one fault, one problem"


def test_a_comma_in_a_number_is_recognized() -> None:
    (found,) = problems("kane: 1\nname: x\nparameters: {g: 9,81}\n")
    assert found.startswith("arm.yaml:3: parameter '81'") and "write a decimal point" in found


def test_what_hangs_on_nothing_is_named_where_it_is_declared() -> None:
    text = "\n".join(line for line in ARM.split("\n") if "elbow" not in line)
    assert problems(text)[0].startswith("arm.yaml:9: body 'lower': is attached to nothing")
    wheel = f"{text}reaction_wheels:\n  spin: {{body: lower, axis: z, inertia: 1}}\n"
    loose, hanging = problems(wheel)
    line = wheel.count("\n")
    assert loose.startswith("arm.yaml:9: ") and hanging.startswith(f"arm.yaml:{line}: body 'spin': hangs on 'lower'")


def test_all_faults_are_reported_at_once_in_the_order_of_the_file() -> None:
    text = dedent("""\
        kane: 1
        name: arm
        gravty: [0, 0, 0]
        joints:
          a: {type: revolute, parent: ground, child: A, axis: [2, 0, 0]}
          b: {type: revolut, parent: A, child: B}
        bodies:
          A: {mass: -1}
          B: {mass: m, inertia: {xy: 1, q: 2}}
        loads:
          f: {effort: 1, joint: a}
          g: {effort: x +, joint: c}
        """)
    found = problems(text)
    assert [p.split(": ")[0] for p in found] == [f"arm.yaml:{n}" for n in (3, 5, 6, 8, 9, 9, 12, 12)]
    assert not any("load 'f'" in p for p in found), "a load on a faulty joint is not blamed for it"


def test_numbers_and_words_are_what_they_look_like_only_where_they_are_read() -> None:
    m = read_mechanism(changed("name: arm", "name: 1.50\nabout: yes"), "arm.yaml")
    assert (m.name, m.about) == ("1.50", "yes")


# files ---------------------------------------------------------------------------------------------------------------


def test_a_model_is_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(ARM, encoding="utf-8")
    assert load_mechanism(path).description() == load_mechanism(str(path)).description()
    path.write_bytes(b"\xef\xbb\xbf" + ARM.replace("\n", "\r\n").encode())
    assert load_mechanism(path).coordinates == ("q1", "q2"), "a byte-order mark and other line ends are fine"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "arm.yaml:1: the file is empty"),
        (b"# nothing\n", "arm.yaml:1: the file is empty"),
        (b"kane: 1\nname: \xff\xfe\n", "arm.yaml:2: not UTF-8 text"),
        (b"kane: 1\nname: \x00\n", "arm.yaml:2: not valid YAML"),
        (b"just a word", "arm.yaml:1: expected a mapping, found 'just a word'"),
        (b"- kane\n", "arm.yaml:1: expected a mapping, found a list"),
        (b"x" * (MAX_BYTES + 1), "arm.yaml:1: the file is too large"),
        (b"a: " + b"[" * 100_000, f"arm.yaml:1: lists and mappings are nested deeper than {MAX_DEPTH}"),
        (b"{a: " * 100_000, f"arm.yaml:1: lists and mappings are nested deeper than {MAX_DEPTH}"),
        (b"a: [" + b"0," * MAX_NODES + b"]", "arm.yaml:1: the file has more"),
        (b"a: &a [x, x]\nb: [*a, *a]\n", "arm.yaml:1: the anchor '&a'"),
        (b"kane: 1\n1: 2\n~: 3\n", "2 problems\narm.yaml:2: unknown key '1'"),
    ],
)
def test_what_is_no_model_file_is_refused_in_one_sentence(data: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_bytes(data)
    with pytest.raises(ModelError) as refused:
        load_mechanism(path)
    text = str(refused.value)
    assert what in text and str(tmp_path) not in text, text[:500]


def test_a_missing_model_gets_the_closest_built_in_name(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model 'stanford_arm': there is no such.*\n.*did you mean 'stanford-arm'"):
        load_mechanism("stanford_arm")
    with pytest.raises(ModelError, match=r"does not exist\n.*check the path"):
        load_mechanism(tmp_path / "none.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(ModelError, match="is not a file"):
        load_mechanism(tmp_path / "folder.yaml")


def test_a_mistyped_kind_of_load_is_told_which_was_meant() -> None:
    (found,) = problems(ARM + "loads: {f: {joint_sprng: elbow, stiffness: 1}}\n")
    assert found.endswith("fix: did you mean 'joint_spring' by 'joint_sprng'?")


def test_a_parameter_over_another_file_that_nothing_uses_is_remarked_upon() -> None:
    with pytest.warns(UserWarning) as told:
        read_mechanism("kane: 1\nextends: whipple-bicycle\nparameters:\n  mB: 78\n  zb: -1.0\n", "mine.yaml")
    assert [str(w.message) for w in told] == [
        "mine.yaml:5: parameter 'zb': is used nowhere\n    fix: did you mean 'zB'?"
    ]
    read_mechanism("kane: 1\nextends: pendulum\nparameters: {g: 1.62*s, s: 2}\n", "mine.yaml")  # used by another


def test_a_file_extends_a_built_in_model_or_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    (tmp_path / "heavy.yaml").write_text(
        "kane: 1\nextends: arm.yaml\nname: heavy\nparameters: {L: 2}\n", encoding="utf-8"
    )
    heavy = load_mechanism(tmp_path / "heavy.yaml")
    assert heavy.name == "heavy" and heavy.parameters["L"].value == 2 and heavy.coordinates == ("q1", "q2")
    moon = read_mechanism("kane: 1\nextends: pendulum\nname: moon\nparameters: {g: 1.62}\n", "moon.yaml")
    assert moon.parameters["g"].value == 1.62 and "bob" in moon.bodies


def test_a_fault_in_an_extended_file_names_the_file_it_stands_in(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(changed("-2*L", "-2*H"), encoding="utf-8")
    (tmp_path / "own.yaml").write_text("kane: 1\nextends: arm.yaml\nparameters: {g: nan}\n", encoding="utf-8")
    with pytest.raises(ModelError) as refused:
        load_mechanism(tmp_path / "own.yaml")
    assert sorted(p.where.split(": ")[0] for p in refused.value.problems) == ["arm.yaml:12", "own.yaml:3"]


def test_a_fault_of_an_entry_keeps_its_line_where_another_file_adds_to_its_section(tmp_path: Path) -> None:
    base = "kane: 1\nname: base\n\n\nparameters: {L: 1, bad name: 2}\n"
    (tmp_path / "base.yaml").write_text(base, encoding="utf-8")
    (tmp_path / "own.yaml").write_text("kane: 1\nextends: base.yaml\nparameters:\n  g: 1\n", encoding="utf-8")
    with pytest.raises(ModelError) as refused:
        load_mechanism(tmp_path / "own.yaml")
    assert [p.where.split(": ")[0] for p in refused.value.problems] == ["base.yaml:5"]


@pytest.mark.parametrize("name", ["../arm.yaml", "/etc/passwd", "sub/arm.yaml", "arm.txt", "none", "..", "a\\b.yaml"])
def test_a_file_extends_nothing_outside_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "own.yaml").write_text(f"kane: 1\nextends: {name}\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"own\.yaml:2: extends|does not exist"):
        load_mechanism(folder / "own.yaml")


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(tmp_path / "arm.yaml")
    (folder / "own.yaml").write_text("kane: 1\nextends: link.yaml\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"'link\.yaml' leads out of the folder of the model"):
        load_mechanism(folder / "own.yaml")


def test_files_that_extend_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kane: 1\nextends: b.yaml\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("kane: 1\nextends: a.yaml\n", encoding="utf-8")
    with pytest.raises(ModelError, match=rf"more than {MAX_EXTENDS} files extend each other"):
        load_mechanism(tmp_path / "a.yaml")


def test_a_chain_longer_than_any_stack_is_loaded() -> None:
    length = 2000
    lines = ["kane: 1", "name: chain", "joints:"]
    for k in reversed(range(length)):
        parent = f"B{k - 1}" if k else "ground"
        lines.append(f"  j{k}: {{type: revolute, parent: {parent}, child: B{k}, at: [1, 0, 0], coordinate: q{k}}}")
    lines += ["bodies:", *(f"  B{k}: {{mass: 1, inertia: {{zz: 1, yy: 1}}}}" for k in range(length))]
    lines += ["frames:", *(f"  F{k}: {{parent: {f'F{k + 1}' if k < length - 1 else 'N'}}}" for k in range(length))]
    m = read_mechanism("\n".join(lines), "chain.yaml")
    tip = m.bodies[f"B{length - 1}"].frame
    assert tip is not None and tip.depth == length and m.frames["F0"].depth == length


def test_the_documentation_shows_every_section_and_key() -> None:
    page = (ROOT / "docs" / "model-files.md").read_text(encoding="utf-8")
    blocks = [token.content for token in MarkdownIt().parse(page) if token.type == "fence" and token.info == "yaml"]
    for block in blocks:
        sections = compose(block, "model-files.md").value
        assert isinstance(sections, dict) and set(sections) <= set(SECTIONS)
    for key in (*SECTIONS, *BODY, *JOINT, *LOADS, *LENGTHS, *JOINT_TYPES):
        assert re.search(rf"\b{key}\b", page), f"docs/model-files.md does not mention '{key}'"


def test_built_in_models_are_listed() -> None:
    assert {"stanford-arm", "stanford-arm-kane", "pendulum", "double-pendulum", "cart-pole"} <= set(builtin_names())


@pytest.mark.parametrize(
    ("section", "entry", "expected"),
    [
        (
            "joints",
            "{type: revolut, parent: ground, child: rod, at: [lx, 0, ly], axis: z, initial: 20*dg, colour: red}",
            ["unknown joint type 'revolut'", "'lx'", "'ly'", "'dg'", "unknown key 'colour'"],
        ),
        (
            "constraints",
            "{type: roling, body: rood, radius: 2*ll, first: either, colour: red}",
            ["unknown type 'roling'", "unknown body 'rood'", "'ll'", "unknown key 'colour'"],
        ),
        (
            "constraints",
            "{body: rood, radius: 2*ll}",
            ["'type' is missing", "unknown body 'rood'", "'ll'"],
        ),
        (
            "loads",
            "{forse: [1, 0, 0], body: rood, colour: red}",
            ["did you mean 'force' by 'forse'?", "unknown body 'rood'", "unknown key 'colour'"],
        ),
        (
            "bodies",
            "{mass: mm, shapes: [{spher: 0.1, at: [0, 0, hh]}, {box: [1, 2, ww]}]}",
            ["'mm'", "unknown key 'spher'", "'hh'", "'ww'", "a shape is one of"],
        ),
    ],
)
def test_a_mistyped_kind_hides_no_other_fault_of_its_entry(section: str, entry: str, expected: list[str]) -> None:
    """Every fault of an entry is told at once, and none that depends on which kind was meant, as `first` does, which is
    a body here and a joint there."""
    parts = {"bodies": ["rod: {mass: 1}"], "joints": ["pin: {type: revolute, parent: ground, child: rod, axis: y}"]}
    parts[section] = [*parts.get(section, []), f"other: {entry}"]
    if section == "joints":
        parts["joints"] = [f"other: {entry}"]
    lines = [line for name, found in parts.items() for line in (f"{name}:", *(f"  {part}" for part in found))]
    with pytest.raises(ModelError) as caught:
        read_mechanism("\n".join(["kane: 1", *lines]) + "\n", "arm.yaml")
    told = [str(problem) for problem in caught.value.problems]
    for words in expected:
        assert sum(words in line for line in told) == 1, (words, told)
    assert len(told) == len(expected), told
