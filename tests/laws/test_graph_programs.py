"""Laws of programs: lowering preserves values, text reads back, stages and hoisting, what is valid, no recursion."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.errors import ExpressionError, ProgramError
from kane.graph import (
    STAGES,
    Expr,
    Graph,
    Inputs,
    Outputs,
    Program,
    evaluate,
    forward,
    hoist,
    linear_coefficients,
    lower,
    parse,
    reverse,
    substitute,
)
from kane.graph import (
    ProgramRow as Row,
)
from kane.graph.ops import COUNTED, TABLE
from seeds import examples
from unit.graph.trees import EVERY_OP, built, trees

INPUTS = (Inputs("p", ("x",), "parameters"), Inputs("q", ("y",), "q"), Inputs("u", ("z",), "u"))
POINT = {"x": 0.7, "y": -0.4, "z": 1.3}


def run(program: Program, given: Mapping[str, float]) -> dict[str, list[float]]:
    """The outputs of a program, read straight from its definition."""
    numbers = [given[label] for g in program.inputs for label in g.labels]
    numbers += program.constants
    for row in program.rows:
        numbers.append(TABLE[row.op].value(*(numbers[a] for a in row.args)))
    return {o.name: [numbers[s] for s in o.slots] for o in program.outputs}


def programs(simplify: bool = True) -> st.SearchStrategy[tuple[Program, list[Expr]]]:
    def made(formulas: list[tuple]) -> tuple[Program, list[Expr]]:
        graph = Graph()
        exprs = [e for e in (built(f, graph) for f in formulas) if e is not None]
        exprs = exprs or [graph.input("x")]
        graph.note(exprs[:1], "the first")
        outputs = {"first": ((), exprs[:1]), "all": ((len(exprs),), exprs)}
        return lower("random", INPUTS, outputs, simplify=simplify), exprs

    return st.lists(trees(EVERY_OP, leaves=20), min_size=1, max_size=4).map(made)


def same(numbers: Sequence[float], others: Sequence[float]) -> bool:
    return [repr(x + 0.0) for x in numbers] == [repr(x + 0.0) for x in others]


@settings(max_examples=examples(100))
@given(programs(simplify=False))
def test_lowering_preserves_values_to_the_last_bit(made: tuple[Program, list[Expr]]) -> None:
    program, exprs = made
    assert same(run(program, POINT)["all"], evaluate(exprs, POINT))


@settings(max_examples=examples(100))
@given(programs())
def test_the_text_of_a_program_reads_back_as_the_same_program(made: tuple[Program, list[Expr]]) -> None:
    program, _ = made
    again = parse(str(program))
    assert again == program
    assert again.comments == program.comments
    assert str(again) == str(program)


@settings(max_examples=examples(100))
@given(programs())
def test_every_row_is_used(made: tuple[Program, list[Expr]]) -> None:
    program, _ = made
    used = {a for row in program.rows for a in row.args} | {s for o in program.outputs for s in o.slots}
    slots = range(program.input_count, program.first_row + len(program.rows))
    assert used.issuperset(slots)


@settings(max_examples=examples(100))
@given(programs())
def test_no_two_rows_compute_the_same(made: tuple[Program, list[Expr]]) -> None:
    program, _ = made
    assert len(set(program.rows)) == len(program.rows)
    assert len(set(program.constants)) == len(program.constants)


@settings(max_examples=examples(100))
@given(programs(), st.sampled_from(STAGES))
def test_prelude_and_body_together_are_the_whole(made: tuple[Program, list[Expr]], stage: str) -> None:
    program, _ = made
    prelude, body = hoist(program, stage)
    results = run(prelude, POINT)["hoisted"]
    given = {**POINT, **{f"h{i + 1}": value for i, value in enumerate(results)}}
    whole, parts = run(program, POINT), run(body, given)
    assert all(same(whole[name], parts[name]) for name in whole)
    assert len(prelude.rows) + len(body.rows) == len(program.rows)


@settings(max_examples=examples(50))
@given(programs(), st.sampled_from(STAGES))
def test_a_prelude_takes_no_input_of_a_later_stage(made: tuple[Program, list[Expr]], stage: str) -> None:
    prelude, _ = hoist(made[0], stage)
    assert all(STAGES.index(g.stage) <= STAGES.index(stage) for g in prelude.inputs)


@settings(max_examples=examples(50))
@given(programs(), st.sampled_from(STAGES))
def test_hoisted_programs_read_back_too(made: tuple[Program, list[Expr]], stage: str) -> None:
    for part in hoist(made[0], stage):
        assert parse(str(part)) == part


@settings(max_examples=examples(100))
@given(programs())
def test_the_counts_of_the_stages_add_up_to_the_rows(made: tuple[Program, list[Expr]]) -> None:
    program, _ = made
    by_stage = [program.count(stage) for stage in STAGES]
    total = program.count()
    assert {kind: sum(c[kind] for c in by_stage) for kind in COUNTED} == total
    assert sum(total.values()) == len(program.rows)


def test_a_stage_is_the_latest_that_a_row_depends_on() -> None:
    graph = Graph()
    x, y, z, w = (graph.input(name) for name in "xyzw")
    exprs = [x * x, (x * y).sin(), (x * y) / z, -w, graph.const(2.0)]
    program = lower("stages", (*INPUTS, Inputs("tau", ("w",))), {"f": ((5,), exprs)})
    counts = {stage: {k: n for k, n in program.count(stage).items() if n} for stage in STAGES}
    assert counts == {
        "parameters": {"mul": 1},
        "q": {"mul": 1, "trig": 1},
        "u": {"div": 1},
        "rest": {"neg": 1},
    }


def test_a_program_without_outputs_is_refused() -> None:
    with pytest.raises(ProgramError, match="has no outputs"):
        lower("empty", INPUTS, {})


def test_an_input_that_is_not_declared_is_named() -> None:
    graph = Graph()
    with pytest.raises(ExpressionError, match="depends on 'w'"):
        lower("open", INPUTS, {"f": ((1,), [graph.input("x") + graph.input("w")])})


# what is valid

VALID = Program(
    "valid",
    (Inputs("q", ("x", "y"), "q"),),
    (2.0,),
    (Row("mul", (0, 1)), Row("add", (2, 3))),
    (Outputs("f", (2,), (3, 4)),),
)

INVALID: dict[str, tuple[dict, str]] = {
    "two inputs of one label": ({"inputs": (Inputs("q", ("x", "x"), "q"),)}, "share a label"),
    "two groups of one name": (
        {"inputs": (Inputs("q", ("x",), "q"), Inputs("q", ("y",), "q"))},
        "groups of inputs share a name",
    ),
    "two outputs of one name": (
        {"outputs": (Outputs("f", (1,), (3,)), Outputs("f", (1,), (4,)))},
        "groups of outputs share a name",
    ),
    "an unknown stage": ({"inputs": (Inputs("q", ("x", "y"), "later"),)}, "a stage is not one of"),
    "a constant that is not finite": ({"constants": (math.nan,)}, "a constant is not finite"),
    "an unknown operation": (
        {"rows": (Row("mul", (0, 1)), Row("sum", (2, 3)))},
        "unknown operation 'sum'",
    ),
    "a wrong number of arguments": (
        {"rows": (Row("mul", (0, 1)), Row("add", (2,)))},
        "add takes 2 arguments",
    ),
    "a value that comes later": (
        {"rows": (Row("mul", (0, 4)), Row("add", (2, 3)))},
        "not computed before it",
    ),
    "a value of itself": ({"rows": (Row("mul", (0, 1)), Row("add", (2, 4)))}, "not computed before it"),
    "a negative slot": ({"rows": (Row("mul", (0, -1)), Row("add", (2, 3)))}, "not computed before it"),
    "an output of the wrong shape": ({"outputs": (Outputs("f", (3,), (3, 4)),)}, r"of shape \(3,\) has 2 values"),
    "an output that does not exist": ({"outputs": (Outputs("f", (1,), (9,)),)}, "a value that does not exist"),
}


@pytest.mark.parametrize("fault", INVALID)
def test_a_program_is_refused_for(fault: str) -> None:
    change, reason = INVALID[fault]
    with pytest.raises(ProgramError, match=reason):
        dataclasses.replace(VALID, **change)


def test_an_unknown_group_is_answered_with_those_there_are() -> None:
    with pytest.raises(ProgramError, match=r"no inputs 'tau'; it has \['q'\]"):
        VALID.group("tau")


TEXT = """program pendulum
input q [q]: q1
input tau [rest]: tau1
z1 = sin(q1)  # gravity
z2 = 9.81 * z1
z3 = tau1 - z2
output udot (1): z3
"""

FAULTS: dict[str, tuple[int, str, str]] = {
    "no head": (1, "z0 = 1", "expected 'program NAME'"),
    "a line that is none": (2, "nonsense", "cannot read 'nonsense'"),
    "a row out of order": (5, "z7 = 9.81 * z1", "expected z2, found z7"),
    "an unknown operation": (4, "z1 = sinus(q1)", "unknown operation 'sinus'"),
    "an operation that cannot be read": (5, "z2 = 9.81 times z1", "cannot read '9.81 times z1'"),
    "an unknown value": (5, "z2 = 9.81 * q7", "unknown value 'q7'"),
    "a constant that is not finite": (5, "z2 = inf * z1", "not finite"),
    "a value before its time": (5, "z2 = 9.81 * z3", "'z3' is used before it is computed"),
    "an output of nothing": (7, "output udot (1): z9", "'z9' is used before it is computed"),
    "a shape that does not fit": (7, "output udot (2): z3", "of shape (2,) has 1 values"),
    "too many arguments": (4, "z1 = sin(q1, q1)", "sin takes 1 arguments"),
    "a repeated label": (3, "input tau [rest]: q1", "two inputs share the label 'q1'"),
    "a shape that is none": (7, "output udot (1 1): z3", "(1 1) is not a shape"),
    "an unknown stage": (3, "input tau [later]: tau1", "the stage 'later' is not one of"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_text_is_reported_with_its_line(fault: str) -> None:
    line, broken, reason = FAULTS[fault]
    lines = TEXT.splitlines()
    with pytest.raises(ProgramError) as caught:
        parse("\n".join([*lines[: line - 1], broken, *lines[line:]]))
    assert reason in str(caught.value)
    assert f"line {line}:" in str(caught.value)


@pytest.mark.parametrize("label", ["z1", "z2", "zz1", "h1", "q1'", "a.b"])
def test_text_and_hoisting_work_whatever_an_input_is_called(label: str) -> None:
    graph = Graph()
    x, y = graph.input(label), graph.input("y")
    inputs = [Inputs("p", (label,), "parameters"), Inputs("q", ("y", "z3"), "q")]
    program = lower("f", inputs, {"f": ((1,), [(x * x).sin() * y + 1.0])})
    for part in (program, *hoist(program, "parameters")):
        assert parse(str(part)) == part


@pytest.mark.parametrize("label", ["", "a b", "1.0", "nan", "f(x)", "a,b", "a#"])
def test_a_label_that_is_not_a_word_is_refused(label: str) -> None:
    with pytest.raises(ProgramError, match="is not a word"):
        dataclasses.replace(VALID, inputs=(Inputs("q", (label, "y"), "q"),))


def test_the_example_text_is_what_its_program_prints() -> None:
    assert str(parse(TEXT)) == TEXT


@settings(max_examples=examples(200))
@given(st.data())
def test_damaged_text_is_read_or_refused_with_a_program_error(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(TEXT)))
    stop = data.draw(st.integers(start, min(len(TEXT), start + 6)))
    damaged = TEXT[:start] + data.draw(st.text("z1 q=*()#,.:[]\ne-9\x00é", max_size=6)) + TEXT[stop:]
    try:
        program = parse(damaged)
    except ProgramError:
        return
    assert parse(str(program)) == program


# no recursion

LONG = 100_000


def chain(graph: Graph) -> Expr:
    """A nest of LONG operations that depends on x and y all the way down."""
    node, leaves = graph.input("x").id, (graph.input("x").id, graph.input("y").id)
    for i in range(LONG // 2):
        node = graph.build("mul", leaves[1], node)
        node = graph.build("add" if i % 3 else "sub", node, leaves[0])
    return graph.expr(node)


def test_every_pass_works_on_a_chain_far_deeper_than_any_stack() -> None:
    graph = Graph()
    expr = chain(graph)
    x, y = graph.input("x"), graph.input("y")
    point = {"x": 0.5, "y": 0.9}
    (value,) = evaluate([expr], point)
    assert math.isfinite(value)
    assert repr(expr)
    along, swept = forward([expr], {x: 1.0}), reverse({expr: 1.0}, [x])
    assert evaluate(along, point) == pytest.approx(evaluate(swept, point), rel=1e-9)
    ((a,),), (b,) = linear_coefficients([expr], [x])
    assert evaluate([a * x + b], point) == pytest.approx([value], rel=1e-9)
    assert evaluate(substitute([expr], {y: graph.const(0.9)}), point) == pytest.approx([value], rel=1e-9)


def test_programs_work_on_a_chain_far_deeper_than_any_stack() -> None:
    graph = Graph()
    program = lower("chain", INPUTS[:2], {"f": ((1,), [chain(graph)])}, simplify=False)
    assert len(program.rows) > 0.99 * LONG
    assert parse(str(program)) == program
    prelude, body = hoist(program, "parameters")
    assert len(prelude.rows) + len(body.rows) == len(program.rows)
    assert sum(program.count().values()) == len(program.rows)


def test_a_chain_is_simplified_and_lowered_without_recursion() -> None:
    graph = Graph()
    expr = chain(graph)
    program = lower("chain", INPUTS[:2], {"f": ((1,), [expr])})
    point = {"x": 0.5, "y": 0.9}
    assert run(program, point)["f"] == pytest.approx(evaluate([expr], point), rel=1e-9)
