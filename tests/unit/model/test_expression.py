"""The expression grammar: what it reads, what it refuses and how, and that its writing reads back."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kane.errors import ExpressionError
from kane.graph import Expr, Graph, evaluate
from kane.model.expression import (
    CONSTANTS,
    FUNCTIONS,
    MAX_DEPTH,
    MAX_LENGTH,
    is_name,
    parse_expression,
    print_expression,
)
from unit.graph.trees import NAMES, built, trees
from unit.model.counting import counted_calls

POINT = {"x": 0.3, "y": -1.2, "q1'": 2.5, "arm.length": 0.75}


def read(text: str) -> Expr:
    graph = Graph()
    return parse_expression(text, graph, {name: graph.input(name) for name in POINT})


def value(text: str) -> float:
    return evaluate([read(text)], POINT)[0]


def refusal(text: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1.0),
        ("1.5", 1.5),
        ("2.", 2.0),
        (".5", 0.5),
        ("1e-3", 1e-3),
        ("2.5E+2", 250.0),
        ("pi", math.pi),
        ("30*deg", math.radians(30)),
        ("arm.length * q1'", 0.75 * 2.5),
        ("1 - 2 - 3", -4.0),
        ("8 / 4 / 2", 1.0),
        ("2 + 3 * 4", 14.0),
        ("-2**2", -4.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("(-2)^2", 4.0),
        ("2 * -3", -6.0),
        ("--2", 2.0),
        ("x**0.5", math.sqrt(0.3)),
        ("x**(1/2)", math.sqrt(0.3)),
        ("x^-2", 0.3**-2),
        ("sin(x) + cos(x) + tan(x)", math.sin(0.3) + math.cos(0.3) + math.tan(0.3)),
        ("asin(x) + acos(x)", math.pi / 2),
        ("atan2(y, x)", math.atan2(-1.2, 0.3)),
        ("exp(log(x)) + sqrt(x)", 0.3 + math.sqrt(0.3)),
        ("abs(y) + sign(y) + min(x, y) + max(x, y)", 1.2 - 1.0 - 1.2 + 0.3),
        ("select(x > 0, y, 7)", -1.2),
        ("(x < y) + 2*(x <= x) + 4*(y > x) + 8*(x >= y) + 16*(x == x)", 2.0 + 8.0 + 16.0),
        ("x > 0 and y < 0", 1.0),
        ("x > 0 and not y < 0", 0.0),
        ("x < 0 or y and 1", 1.0),
        ("not x", 0.0),
        ("1 and 0 or 1", 1.0),
        ("not 1 == 2", 1.0),
        ("\n  sin ( x )\t* 2\n", 2 * math.sin(0.3)),
    ],
)
def test_text_means_what_the_same_text_means_in_mathematics(text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("", 1, "it is empty"),
        ("   ", 1, "it is empty"),
        ("1 + ", 5, "expected a number, a name or '(', found the end of the expression"),
        ("1 + * 2", 5, "expected a number, a name or '(', found '*'"),
        ("+1", 1, "expected a number, a name or '(', found '+'"),
        ("2x", 2, "a product is written with *"),
        ("2 (x)", 3, "a product is written with *"),
        ("0x10", 2, "expected an operator, found 'x10'"),
        ("1_000", 2, "expected an operator, found '_000'"),
        ("1.2.3", 4, "expected an operator, found '.3'"),
        ("x y", 3, "expected an operator, found 'y'"),
        ("(x + 1", 1, "never closed"),
        ("sin(x", 1, "never closed"),
        ("x + 1)", 6, "nothing is open here"),
        ("(1, 2)", 3, "outside the arguments of a call"),
        ("1,5", 2, "a decimal point is '.'"),
        ("x < y < 1", 7, "comparisons do not chain; write a < b and b < c"),
        ("x = y", 3, "equality is written =="),
        ("x != y", 3, "'not equal' is written not (a == b)"),
        ("x @ y", 3, "unexpected '@'"),
        ("x + 'a'", 5, 'unexpected "\'"'),
        ("1 + not x", 5, "'not' after '+' needs parentheses"),
        ("and x", 1, "found 'and'"),
        ("x**y", 2, "the exponent must be a number"),
        ("1/0", 2, "not a finite number"),
        ("x/0", 2, "division of x by zero"),
        ("log(0)", 1, "not a finite number"),
        ("1e999", 1, "too large"),
        ("nan", 1, "unknown symbol 'nan'"),
        ("sin + 1", 1, "the function 'sin' needs its arguments in parentheses"),
        ("x(1)", 1, "is a symbol and cannot be called"),
        ("sin()", 5, "found ')'"),
        ("sin(x, y)", 1, "sin(x) was given 2 arguments"),
        ("select(x)", 1, "select(condition, then, otherwise) was given 1 argument"),
        ("x''' ", 4, "unexpected"),
    ],
)
def test_a_fault_is_shown_with_its_column_and_its_reason(text: str, column: int, reason: str) -> None:
    message = refusal(text)
    assert f"column {column}:" in message
    assert reason in message
    *_, shown, caret = message.splitlines()
    assert caret.index("^") - 4 == column - 1
    assert shown[4:].rstrip() == text.rstrip() if text.strip() else True


def test_a_fault_in_a_later_line_is_shown_with_that_line() -> None:
    message = refusal("x +\n  y +\n  zz")
    assert "line 3, column 3" in message
    assert "\n      zz\n      ^" in message


def test_a_fault_far_into_a_long_expression_is_shown_in_a_window_around_it() -> None:
    message = refusal("x + " * 500 + "zz" + " + x" * 500)
    line, caret = message.splitlines()[-2:]
    assert len(line) < 100
    assert line[caret.index("^") :].startswith("zz")


def test_an_unknown_symbol_is_answered_with_the_nearest_known_one_and_the_list() -> None:
    message = refusal("2*arm.lenght")
    assert "unknown symbol 'arm.lenght'; did you mean 'arm.length'?" in message
    assert all(name in message for name in (*POINT, *CONSTANTS))


def test_an_unknown_call_is_answered_with_the_nearest_function_and_the_list() -> None:
    message = refusal("1 + sinn(x)")
    assert "'sinn' is a call that is not in the grammar; did you mean 'sin'?" in message
    assert all(name in message for name in FUNCTIONS)


@pytest.mark.parametrize("text", ["__import__('os')", "x.__class__", "eval(x)", "(lambda: 1)()", "[1][0]", "f'{x}'"])
def test_python_is_not_the_grammar(text: str) -> None:
    refusal(text)


def test_an_expression_beyond_the_length_limit_is_refused_with_both_numbers() -> None:
    message = refusal("1+" * MAX_LENGTH + "1")
    assert f"{2 * MAX_LENGTH + 1} characters" in message
    assert f"at most {MAX_LENGTH}" in message


@pytest.mark.parametrize("opening", ["(", "sin("])
def test_parentheses_are_read_to_the_depth_limit_and_refused_beyond(opening: str) -> None:
    assert evaluate([read(opening * MAX_DEPTH + "x" + ")" * MAX_DEPTH)], POINT)
    assert f"deeper than {MAX_DEPTH}" in refusal(opening * 1900 + "x" + ")" * 1900)


@pytest.mark.parametrize("prefix", ["-", "not ", "1**-", "x*", "x-", "x<0 or "])
def test_operators_may_repeat_up_to_the_length_limit(prefix: str) -> None:
    assert isinstance(read(prefix * ((MAX_LENGTH - 1) // len(prefix)) + "1"), Expr)


def test_added_functions_are_called_with_expressions_and_listed_among_the_known() -> None:
    graph = Graph()
    x = graph.input("x")
    functions = {"half": lambda a: 0.5 * a}
    assert parse_expression("half(x)", graph, {"x": x}, functions) == 0.5 * x
    with pytest.raises(ExpressionError, match="half"):
        parse_expression("hal(x)", graph, {"x": x}, functions)
    with pytest.raises(ExpressionError, match=r"half\(a\) was given 2 arguments"):
        parse_expression("half(x, x)", graph, {"x": x}, functions)


def test_a_symbol_goes_before_a_constant_of_the_same_name() -> None:
    graph = Graph()
    assert parse_expression("2*deg", graph, {"deg": graph.input("deg")}) == 2.0 * graph.input("deg")


def test_symbols_of_another_graph_are_refused() -> None:
    with pytest.raises(ExpressionError, match="another graph"):
        parse_expression("x + 1", Graph(), {"x": Graph().input("x")})


@pytest.mark.parametrize(("text", "legal"), [("q1'", True), ("a.b_2", True), ("θ", True), ("1a", False), ("", False)])
def test_names_are_letters_digits_underscores_dots_and_primes(text: str, legal: bool) -> None:
    assert is_name(text) is legal


@pytest.mark.parametrize("word", ["and", "or", "not", "a b", "a-b", "a.", "'"])
def test_keywords_and_broken_words_are_no_names(word: str) -> None:
    assert not is_name(word)
    with pytest.raises(ExpressionError, match="not a name"):
        print_expression(Graph().input(word) + 1)


# writing


@pytest.mark.parametrize(
    "text",
    [
        "x + y + 1.0",
        "x - (y - 1.0)",
        "(x + y)*sin(x)",
        "x*y/(x + 2.0)",
        "1.0/(x/y)",
        "-x*y",
        "-(x + y)",
        "x**2",
        "(x + y)**2",
        "(x**2)**2",
        "x**1.5",
        "2.0*(x + y)**-0.3",
        "(x**1.3)**70.0",
        "(-x)**2.5",
        "x**-1.5/y",
        "x < y",
        "(x < y) < x",
        "x < 0.0 and y < 1.0 or not x == y",
        "x < 0.0 and (y < 1.0 or x == y)",
        "select(x < 0.0, x, 2.0*y)",
        "atan2(-x, y)",
        "max(x, -1.5)",
        "-1.5 - x",
        "not x",
        "not (x < 0.0 or y < 0.0)",
        "1e-05*x",
    ],
)
def test_writing_uses_only_the_parentheses_that_the_grammar_needs(text: str) -> None:
    assert print_expression(read(text)) == text


@settings(max_examples=300, deadline=None)
@given(trees(leaves=25))
def test_what_is_written_reads_back_as_the_same_node(tree: tuple) -> None:
    graph = Graph()
    expr = built(tree, graph)
    assume(expr is not None)
    assert expr is not None
    names = {name: graph.input(name) for name in NAMES}
    assert parse_expression(print_expression(expr), graph, names) == expr


def test_an_expression_too_shared_to_write_out_is_refused() -> None:
    x = Graph().input("x")
    for _ in range(60):
        x = x.sin() + x * 3.0
    with pytest.raises(ExpressionError, match=f"more than {MAX_LENGTH} characters"):
        print_expression(x)


def test_an_expression_too_deep_to_write_out_is_refused() -> None:
    x = Graph().input("x")
    for _ in range(MAX_DEPTH + 1):
        x = x.sin()
    with pytest.raises(ExpressionError, match=f"{MAX_DEPTH} nested parentheses"):
        print_expression(x)


# fuzz

WORDS = (*POINT, *FUNCTIONS, *CONSTANTS, "and", "or", "not", "(", ")", "(", ")", ",", "+", "-", "*", "/", "**", "^")
SIGNS = ("<", "<=", ">", ">=", "==", "=", "0", "1", "2.5", ".5", "1e3", "1e999", "64", " ", "\n", "'", "é", "\x00", "²")


def reads_or_refuses(text: str) -> None:
    graph = Graph()
    names = {name: graph.input(name) for name in POINT}
    try:
        expr = parse_expression(text, graph, names)
    except ExpressionError as error:
        assert "column" in str(error)
    else:
        assert parse_expression(print_expression(expr), graph, names) == expr


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    reads_or_refuses(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from((*WORDS, *SIGNS)), max_size=40).flatmap(
        lambda w: st.sampled_from([" ".join(w), "".join(w)])
    )
)
def test_arbitrary_words_of_the_grammar_are_read_or_refused(text: str) -> None:
    reads_or_refuses(text)


TABLES_GROW = 1.1  # of the work, where it should be in proportion


@pytest.mark.parametrize("word", ["and", "or"])
def test_conditions_inside_each_other_are_read_and_written_with_work_in_proportion(word: str) -> None:
    """What is known of the inner ones is not asked again: four times the depth, four times the calls."""

    def calls(depth: int) -> tuple[int, int]:
        graph = Graph()
        names = {"a": graph.input("a"), "b": graph.input("b")}
        inner = [f"(a < {k} {word} " for k in range(depth)]
        text = f"{''.join(inner)}a < b{')' * depth}"
        expr = parse_expression(text, graph, names)
        again = Graph()
        reading = counted_calls(lambda: parse_expression(text, again, {name: again.input(name) for name in names}))
        return reading, counted_calls(lambda: print_expression(expr))

    calls(60)  # what is made once
    for few, many in zip(calls(60), calls(240), strict=True):
        assert many <= 4 * TABLES_GROW * few


def test_a_power_is_made_once() -> None:
    """The second time it is looked up; its eleven products take more than forty calls."""
    graph = Graph()
    x = graph.input("x")
    power = x**63
    nodes = len(graph)
    assert counted_calls(lambda: x**63) < 20
    assert x**63 == power and len(graph) == nodes
    assert evaluate([power, x**-62], {"x": 1.5}) == pytest.approx([1.5**63, 1.5**-62], rel=1e-14)
