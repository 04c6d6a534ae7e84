"""Every file of up to a megabyte is judged with little work and a short answer: counted, not timed."""

from __future__ import annotations

import difflib
import gc
from typing import Any

import numpy as np
import pytest

from kane.errors import ModelError, closest, suggestion
from kane.graph import evaluate
from kane.model import (
    ConfigurationEquations,
    Constraint,
    Distance,
    Mechanism,
    MotionEquations,
    read_mechanism,
)
from kane.model.constraints.shapes import WORDS
from kane.model.files.forms import CONSTRAINTS, LOADS
from kane.model.files.nodes import MAX_FAULTS
from kane.model.files.reader import SECTIONS
from kane.model.size import MOST_COORDINATES, MOST_PARTS, MOST_ROWS, MOST_SPEEDS, MOST_STEPS, TURN
from kane.model.tree import JOINT_TYPES
from kane.space import position
from unit.model.counting import counted_calls
from unit.model.large_files import (
    CHAIN,
    CONSTRAINT_KINDS,
    CONTACT_KINDS,
    DEEP,
    EQUATIONS,
    HEAD,
    HOSTILE,
    JOINT_KINDS,
    LARGE,
    LOAD_KINDS,
    PARTS,
)
from unit.model.large_options import DEEP_OPTIONS, OPTIONS
from unit.model.large_texts import FAULTY, TEXTS

GOOD = {**PARTS, **OPTIONS, **TEXTS}
NO_MODELS = {**HOSTILE, **FAULTY}
ALL = {**GOOD, **NO_MODELS}
SIZE = 12_000  # characters: what grows faster than the file shows here already
CALLS = 60  # per character of a file; a body or a joint takes some hundred calls and some twenty characters
LIMITED = 6_000_000  # calls for parts of which a model has a limited number, however long the file is
COMPARISONS = 101 * MAX_FAULTS  # of names, letter by letter: those of one suggestion, at most once for each fault
MESSAGE = 100_000  # characters


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were compared with another, one entry for each comparison."""
    seen: list[str] = []
    original = difflib.SequenceMatcher.set_seq1

    def noting(self: Any, a: str) -> None:
        seen.append(a)
        original(self, a)

    monkeypatch.setattr(difflib.SequenceMatcher, "set_seq1", noting)
    return seen


@pytest.mark.parametrize(
    "name",  # the work of files that are models is judged more strictly below
    [pytest.param(n, marks=pytest.mark.long) if n in GOOD and n not in (*DEEP, *DEEP_OPTIONS) else n for n in ALL],
)
def test_a_large_file_is_judged_with_work_in_proportion(name: str, comparisons: list[str]) -> None:
    text = ALL[name](SIZE)
    answer = ""

    def judge() -> None:
        nonlocal answer
        try:
            read_mechanism(text, "large.yaml")
        except ModelError as error:
            answer = str(error)
            assert len(error.problems) <= MAX_FAULTS + 1

    limited = name not in NO_MODELS or name.startswith("too many")  # which it is not yet at this size
    assert counted_calls(judge) <= CALLS * len(text) + LIMITED * limited
    assert len(comparisons) <= COMPARISONS
    assert len(answer) <= MESSAGE


def judge(text: str) -> None:
    """Read a file, whatever comes of it."""
    try:
        read_mechanism(text, "large.yaml")
    except ModelError:
        return


GROWING = [name for name in GOOD if name not in (*DEEP, *DEEP_OPTIONS)]


@pytest.mark.parametrize("name", GROWING)
def test_the_work_per_character_does_not_grow_with_the_file(name: str) -> None:
    """Twice the file, twice the calls; a tenth more for tables that grow."""
    small, large = GOOD[name](6_000), GOOD[name](12_000)
    judge(small)  # what is imported and made once
    assert counted_calls(lambda: judge(large)) <= 2.2 * counted_calls(lambda: judge(small)) * len(large) / (
        2 * len(small)
    )


@pytest.mark.parametrize("name", GOOD)
def test_a_file_of_every_kind_of_part_is_a_model(name: str) -> None:
    assert read_mechanism(GOOD[name](6_000), "large.yaml").speeds


def test_there_are_large_files_of_every_section_and_kind() -> None:
    texts = [make(20_000) for make in GOOD.values()]
    single = {"kane", "extends", "name", "about", "gravity", "duration"}
    found = {s for s in SECTIONS if any(f"\n{s}:" in text for text in texts)}
    assert found - single == set(SECTIONS) - single
    assert set(CONSTRAINT_KINDS) == set(CONSTRAINTS) and set(LOAD_KINDS) == set(LOADS)
    assert set(JOINT_KINDS) == set(JOINT_TYPES) and {*CONTACT_KINDS, "plane", "surface"} == set(WORDS)


def refusal(text: str) -> str:
    with pytest.raises(ModelError) as caught:
        read_mechanism(text, "large.yaml")
    (problem,) = caught.value.problems
    assert problem.where.startswith("large.yaml:") and problem.because and problem.fix
    return f"{problem.what}; {problem.because}"


TWO = "bodies: {a: {mass: 1}}\njoints: {ja: {type: free, parent: ground, child: a}}\n"


def test_more_parts_than_can_be_written_out_are_refused_before_the_work() -> None:
    """The whole refusal takes fewer calls than one constraint for each entry would."""
    count = MOST_ROWS + 1
    wheels = "".join(f"  c{k}: {{type: rolling, body: a, radius: 1}}\n" for k in range(count))
    text = f"{HEAD}{TWO}constraints:\n{wheels}"
    assert refusal(text).startswith(f"{count} constraints and contacts; equations with more than {MOST_ROWS}")
    assert counted_calls(lambda: judge(text)) < 40 * count  # reading the words
    coordinates = "".join(f"  q{k}:\n" for k in range(MOST_COORDINATES + 1))
    assert f"more than {MOST_COORDINATES}" in refusal(f"{HEAD}extra_coordinates:\n{coordinates}")
    bodies = "".join(f"  b{k}: {{mass: 1}}\n" for k in range(MOST_SPEEDS // 6 + 1))
    joints = "".join(f"  j{k}: {{type: free, parent: ground, child: b{k}}}\n" for k in range(MOST_SPEEDS // 6 + 1))
    assert f"{6 * (MOST_SPEEDS // 6 + 1)} speeds" in refusal(f"{HEAD}bodies:\n{bodies}joints:\n{joints}")


@pytest.mark.parametrize(
    ("section", "entry", "parts"),
    [
        ("bodies", "{mass: 1}", 1),
        ("frames", "{parent: N}", 1),
        ("frames", "{parent: N, rotation: {x: 1}}", 1 + TURN),
        ("joints", "{type: weld}", 1),
        ("joints", "{type: revolute, axis: x}", 2),
        ("joints", "{type: revolute, axis: [0.6, 0.8, 0]}", 2 + TURN),
        ("joints", "{type: weld, rotation: {x: 1}, child_rotation: {x: 1}}", 1 + 2 * TURN),
        ("joints", "{type: gimbal, prescribed: [t, t, t]}", 7),
        ("reaction_wheels", "{body: a, inertia: 1, axis: x}", 3),
        ("reaction_wheels", "{body: a, inertia: 1, axis: [0, 0.6, 0.8]}", 3 + TURN),
        ("dh", "{body: b, theta: 0}", 3),
    ],
)
def test_parts_are_counted_by_what_they_cost(section: str, entry: str, parts: int) -> None:
    """What is counted is the number from which on a file is refused; everything else in it is left unread."""
    indent, before = ("    ", "  convention: hd\n  rows:\n") if section == "dh" else ("  ", "")
    lines = "".join(f"{indent}k{k}: {entry}\n" for k in range(MOST_PARTS // parts + 1))
    found = f"there are {(MOST_PARTS // parts + 1) * parts} bodies, frames, joints, coordinates and rotations"
    assert refusal(f"{HEAD}{section}:\n{before}{lines}") == f"{found}; a model file has {MOST_PARTS} at most"


def test_rows_are_counted_whatever_makes_them() -> None:
    equations = ", ".join(f"{k}*q_ja_px" for k in range(1, MOST_ROWS + 2))
    text = f"{HEAD}{TWO}constraints: {{c: {{type: configuration, equations: [{equations}]}}}}\n"
    assert refusal(text).startswith(f"there would be {MOST_ROWS + 1} rows")
    boxes = ", ".join(f"{{box: [1, 1, {k}]}}" for k in range(1, MOST_ROWS // 8 + 2))
    shapes = TWO.replace("mass: 1", f"mass: 1, shapes: [{boxes}]")
    assert "rows of constraints and contacts" in refusal(f"{HEAD}{shapes}contacts: {{k: {{between: [a, ground]}}}}\n")


def test_as_many_rows_as_are_allowed_can_be_judged_again() -> None:
    """Parameters that are set later make the rows again, of which there are no more for that."""
    m = Mechanism("full")
    m.parameter("r", 1.0)
    m.coordinate("q")
    m.constrain("c", ConfigurationEquations([f"{k}*q - r" for k in range(1, MOST_ROWS + 1)]))
    with pytest.raises(ModelError, match="rows of constraints"):
        m.constrain("d", ConfigurationEquations("q - 7"))
    m.set_parameters({"r": 2.0})
    assert len(m.row_names) == MOST_ROWS


def test_constraints_far_out_on_a_chain_are_counted_by_their_frames() -> None:
    links = 140
    bodies = "".join(f"  b{k}: {{mass: 1}}\n" for k in range(links))
    joint = "  j{0}: {{type: revolute, axis: y, parent: {1}, child: b{0}, at: [1, 0, 0]}}\n"
    joints = "".join(joint.format(k, f"b{k - 1}" if k else "ground") for k in range(links))
    count = MOST_STEPS // (links - 10) + 1
    rods = "".join(
        f"  r{k}: {{type: distance, first: ground, second: b{links - 1}, first_at: [0, {k}, 1], length: 1}}\n"
        for k in range(count)
    )
    text = f"{HEAD}bodies:\n{bodies}joints:\n{joints}constraints:\n{rods}"
    assert "frames, from the ground" in refusal(text)
    allowed = text.rpartition(f"  r{count - 1}:")[0]
    assert len(read_mechanism(allowed, "large.yaml").row_names) == count - 1


def test_equations_far_out_on_a_chain_are_counted_by_the_speeds_that_they_tie() -> None:
    """Of thousands that measure positions at the end of a chain only so many are written out."""
    rows = "".join(f"  c{k}: {{type: configuration, equations: r.c139.x = {k}*t}}\n" for k in range(MOST_ROWS))
    text = f"{HEAD}{CHAIN}constraints:\n{rows}"
    assert "frames, from the ground" in refusal(text)
    allowed = text.rpartition(f"  c{EQUATIONS}:")[0]
    assert len(read_mechanism(allowed, "large.yaml").row_names) == EQUATIONS


@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind not in ("weld", "coupled")])
def test_repeated_joints_have_the_nodes_that_their_types_make(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written down after the joint before is what the construction rules make, node for node."""
    text = PARTS[f"joints: {kind}"](3_000)
    repeated = read_mechanism(text, "large.yaml").graph
    with monkeypatch.context() as patch:
        patch.setattr("kane.model.joints._REPEATED", ())
        made = read_mechanism(text, "large.yaml").graph
    assert (repeated.ops, repeated.args) == (made.ops, made.args)


def test_places_far_out_are_where_they_are_step_by_step() -> None:
    """A vector along a long chain, at random angles, against products of rotation matrices."""
    m, rng = Mechanism("chain"), np.random.default_rng(5)
    links, before = 40, "ground"
    for k in range(links):
        m.joint(f"j{k}", "revolute", before, m.body(f"b{k}", mass=1), axis="xyz"[k % 3], at=(1, 0.5, 0))
        before = f"b{k}"
    angles = rng.uniform(-1.0, 1.0, links)
    values = {f"q_j{k}": float(q) for k, q in enumerate(angles)}
    R, p, places = np.eye(3), np.zeros(3), []
    for k, q in enumerate(angles):
        p = p + R @ [1, 0.5, 0]
        i, j = (k + 1) % 3, (k + 2) % 3
        turn = np.eye(3)
        turn[[i, j], [i, j]], turn[i, j], turn[j, i] = np.cos(q), -np.sin(q), np.sin(q)
        R = R @ turn
        places.append(p)
    for k, far in ((links - 1, -1), (links - 2, 3), (30, 35), (links - 1, 0)):
        start = m.O if far < 0 else m.points[f"b{far}"]
        found = evaluate(list(position(m.points[f"b{k}"], start).express(m.N).xyz), values)
        assert found == pytest.approx(places[k] - (0.0 if far < 0 else places[far]), abs=1e-12)


def test_parameters_are_read_in_one_order_whatever_words_hash_to() -> None:
    """Each after those that it needs, else as in the file: not in the order of a set of words."""
    names = [f"p{k}" for k in range(40)]
    text = f"{HEAD}{TWO}parameters:\n  sum: {' + '.join(reversed(names))}\n" + "".join(f"  {n}: 1\n" for n in names)
    m = read_mechanism(text, "large.yaml")
    assert list(m.parameters) == ["sum", *names]
    assert [n for n in m.graph.inputs if n in m.parameters] == [*names, "sum"]


def test_a_cycle_of_parameters_is_named_from_one_to_itself() -> None:
    text = f"{HEAD}{TWO}parameters: {{d: c, a: 2*b, b: c + d, c: a, e: 1}}\n"
    with pytest.raises(ModelError, match="parameter 'c': is computed from itself: c → a → b → c\n"):
        read_mechanism(text, "large.yaml")


def test_a_direction_is_the_same_in_all_frames_of_a_chain_as_turned_step_by_step() -> None:
    """Remembered on its way from frame to frame, at random angles, against products of rotation matrices."""
    m, rng = Mechanism("chain"), np.random.default_rng(6)
    links, before = 40, "ground"
    for k in range(links):
        m.joint(f"j{k}", "revolute", before, m.body(f"b{k}", mass=1), axis="xyz"[k % 3])
        before = f"b{k}"
    angles = rng.uniform(-1.0, 1.0, links)
    values = {f"q_j{k}": float(q) for k, q in enumerate(angles)}
    R = [np.eye(3)]
    for k, q in enumerate(angles):
        i, j = (k + 1) % 3, (k + 2) % 3
        turn = np.eye(3)
        turn[[i, j], [i, j]], turn[i, j], turn[j, i] = np.cos(q), -np.sin(q), np.sin(q)
        R.append(R[-1] @ turn)
    for _ in range(2):  # made, then remembered
        for k in (links - 1, 25, 30, 5):
            frame = m.frames[f"b{k}"]
            for axis in (m.N.x, m.N.z, m.frames["b2"].y):
                inner = R[3] if axis.frame is not m.N else np.eye(3)
                expected = R[k + 1].T @ inner @ np.array([x.number for x in axis.xyz], dtype=float)
                assert evaluate(list(axis.express(frame).xyz), values) == pytest.approx(expected, abs=1e-12)


def test_reading_leaves_the_collector_as_it_was() -> None:
    text = PARTS["parameters"](2_000)
    assert gc.isenabled()
    read_mechanism(text, "large.yaml")
    assert gc.isenabled()
    judge(text.replace("p0: 1", "p0: x"))
    assert gc.isenabled()
    gc.disable()
    try:
        read_mechanism(text, "large.yaml")
        assert not gc.isenabled()
    finally:
        gc.enable()


class Walked(dict[Any, Any]):
    """A table that counts the entries that are walked through; looking one up costs nothing."""

    steps = 0

    def __iter__(self) -> Any:
        self.steps += len(self)
        return super().__iter__()

    def keys(self) -> Any:
        self.steps += len(self)
        return super().keys()

    def values(self) -> Any:
        self.steps += len(self)
        return super().values()

    def items(self) -> Any:
        self.steps += len(self)
        return super().items()


def test_a_constraint_is_declared_without_walking_through_all_coordinates() -> None:
    """Calls alone do not show it: one call copies a table of any size."""
    count = 50
    m = Mechanism("large")
    for k in range(count):
        m.coordinate(f"q{k}")
    tables = ("motion_variables", "coordinate_rates", "speed_records", "coordinate_records", "_names")
    for name in tables:
        setattr(m, name, Walked(getattr(m, name)))
    for k in range(count):
        m.constrain(f"c{k}", ConfigurationEquations(f"q{k}**2 - q{(k + 1) % count}"))
        m.constrain(f"d{k}", MotionEquations(f"q{k}' = 2*u_q{(k + 1) % count}"))
    assert {name: getattr(m, name).steps for name in tables} == dict.fromkeys(tables, 0)


def test_reading_ends_after_many_faults_and_says_so() -> None:
    with pytest.raises(ModelError) as caught:
        read_mechanism(LARGE["unknown bodies"](SIZE), "large.yaml")
    *problems, last = caught.value.problems
    assert len(problems) == MAX_FAULTS
    assert last.what == "the file is read no further" and last.where.startswith("large.yaml:")


def test_a_name_among_many_is_still_suggested(comparisons: list[str]) -> None:
    names = [f"link{i:05d}" for i in range(30_000)]
    assert closest("Link00017", names) is not None
    assert closest("elbow", [*names, "elbows"]) == "elbows"
    assert len(comparisons) <= 2 * 100
    assert suggestion("none like it", names).endswith("and 29970 more")


ROD = Distance("ground", "b", length="3 + p", first_at=(1, 0, 0))


class Watched(dict[str, Any]):
    """A table that notes how often somebody goes through all of it."""

    walks = 0

    def __iter__(self) -> Any:
        self.walks += 1
        return super().__iter__()


@pytest.mark.parametrize(
    "constraint",
    [
        ConfigurationEquations("q1**2 = q2"),
        MotionEquations("q1' = 2*q2'"),
        Distance("ground", "b", length="3 + p", first_at=(1, 0, 0)),
    ],
)
def test_a_constraint_goes_through_no_table_of_the_whole_model(constraint: Constraint) -> None:
    """Going through names in C is no call, but with as many constraints as names it is quadratic work all the same."""
    m = Mechanism("many names")
    m.parameter("p", 1.0)
    m.coordinate("q1")
    m.coordinate("q2")
    m.joint("j", "spherical", "ground", m.body("b", mass=1))
    m.motion_variables, m.parameters = Watched(m.motion_variables), Watched(m.parameters)
    m.constrain("c", constraint)
    assert (m.motion_variables.walks, m.parameters.walks) == (0, 0)
