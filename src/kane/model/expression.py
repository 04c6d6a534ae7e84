"""The expression grammar of model files: text into the graph and back, nothing ever executed.

`parse_expression` reads numbers, names, + - * / ** (or ^), comparisons, and/or/not and the calls of `FUNCTIONS` with
an operator-precedence parser that keeps its own stack: deep nesting is refused with a sentence, never an overflow.
`print_expression` writes the shortest text of this grammar that reads back as the same node of the same graph.

  loosest  or · and · not · < <= > >= == (no chains) · + - · * / · unary - · ** (to the right)  tightest

Comparisons and and/or/not give 1 or 0; anything that is not 0 counts as true.
"""

from __future__ import annotations

import heapq
import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from ..errors import ExpressionError, closest
from ..graph.graph import CONST, INPUT, Expr, Graph
from ..graph.ops import TABLE
from ..graph.passes import reachable

MAX_LENGTH = 10_000
"""Characters of one expression: far beyond what anybody writes, small enough to read in a moment."""

MAX_DEPTH = 256
"""Parentheses and calls inside each other."""

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "deg": math.pi / 180.0})
"""Names with a value of their own; a symbol of the model with the same name goes before them."""

FUNCTIONS: Mapping[str, Callable[..., Expr]] = MappingProxyType(
    {
        "sin": lambda x: x.sin(),
        "cos": lambda x: x.cos(),
        "tan": lambda x: x.tan(),
        "asin": lambda x: x.asin(),
        "acos": lambda x: x.acos(),
        "atan2": lambda y, x: y.atan2(x),
        "exp": lambda x: x.exp(),
        "log": lambda x: x.log(),
        "sqrt": lambda x: x.sqrt(),
        "abs": lambda x: x.abs(),
        "sign": lambda x: x.sign(),
        "min": lambda x, y: x.min(y),
        "max": lambda x, y: x.max(y),
        "select": lambda condition, then, otherwise: condition.select(then, otherwise),
    }
)
"""The calls of the grammar; angles are in radians, `select(c, x, y)` is x where c is not 0, else y."""

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _MINUS, _POWER, _ATOM = range(1, 10)
_KEYWORDS = frozenset({"and", "or", "not"})
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*'{0,2}")
_WORD = re.compile(
    _NAME.pattern  # each way to begin by itself: the others are then passed over at their first character
    + r"|[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
    r"|\*\*|<=|>=|=="
    r"|\S"
)
_OPERATORS = frozenset("-+*/^<>(),")
_WINDOW = 72  # characters of the expression that an error shows
_LISTED = 40  # names that an error lists


def is_name(text: str) -> bool:
    """Whether `text` can be used as a symbol: letters, digits, `_`, dots, then at most two primes; no keyword."""
    return _NAME.fullmatch(text) is not None and text not in _KEYWORDS


def parse_expression(
    text: str,
    graph: Graph,
    names: Mapping[str, Expr],
    functions: Mapping[str, Callable[..., Expr]] | None = None,
    span: tuple[int, int] | None = None,
) -> Expr:
    """The expression of `graph` that `text` writes over `names`, with `functions` added to the calls of the grammar.

    Only the characters within `span` are read, if given; faults show where they are in the whole text.
    """
    calls = {**FUNCTIONS, **functions} if functions else FUNCTIONS
    return _ExpressionParser(text, graph, names, calls, span or (0, len(text))).expression()


# errors --------------------------------------------------------------------------------------------------------------


def _fault(text: str, position: int, why: str) -> ExpressionError:
    """The error that shows the line of `text` around `position` with a caret below it."""
    start = text.rfind("\n", 0, position) + 1
    stop = text.find("\n", position)
    line = text[start : len(text) if stop < 0 else stop]
    column = position - start
    cut = max(0, column - _WINDOW // 2)
    shown = line[cut : cut + _WINDOW]
    head, tail = "…" if cut else "", "…" if cut + _WINDOW < len(line) else ""
    shown = "".join(c if c.isprintable() else " " for c in head + shown + tail)
    where = f"column {column + 1}"
    if "\n" in text:
        where = f"line {text.count(chr(10), 0, start) + 1}, {where}"
    caret = " " * (len(head) + column - cut) + "^"
    return ExpressionError(f"cannot read the expression, {where}: {why}\n    {shown}\n    {caret}")


def _list_names(names: Iterable[str]) -> str:
    known = list(names)
    rest = len(known) - _LISTED
    return ", ".join(heapq.nsmallest(_LISTED, known)) + (f" and {rest} more" if rest > 0 else "")


def _suggest(name: str, known: Iterable[str]) -> str:
    close = closest(name, known)
    return "" if close is None else f"; did you mean '{close}'?"


# reading -------------------------------------------------------------------------------------------------------------


@cache
def _takes(function: Callable[..., Expr], count: int) -> bool:
    """Whether a function takes so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    return True


_INFIX = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(("<", "<=", ">", ">=", "=="), _COMPARE),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/"), _PRODUCT),
    **dict.fromkeys(("**", "^"), _POWER),
}
_ARITHMETIC = {word: _INFIX[word] for word in "+-*/"}
_PREFIX = {"-": _MINUS, "not": _NOT}
_PREFIXES = frozenset(_PREFIX.values())
_DIGITS = frozenset("0123456789.")


def _words(text: str, span: tuple[int, int]) -> list[str]:
    """The words of `text` within `span`, then the empty word; characters that are part of no word are one each."""
    if len(text) > MAX_LENGTH:
        raise _fault(text, 0, f"it has {len(text)} characters, at most {MAX_LENGTH} are allowed; name its parts")
    words = _WORD.findall(text, *span)
    words.append("")
    return words


def _starts(text: str, span: tuple[int, int]) -> list[int]:
    """Where each of the words of a text begins; raises the error of a character that is part of no word."""
    starts = []
    for match in _WORD.finditer(text, *span):
        word, start = match[0], match.start()
        if len(word) == 1 and word not in _OPERATORS and not "0" <= word <= "9" and not _NAME.fullmatch(word):
            hint = _CENTRE if text[start - 1 : start + 1] == "*." else _HINTS.get(word, "")
            if word == "°" and (number := re.search(r"[\d.]+\s*$", text[:start])):
                hint = f"; {number[0].strip()} degrees are written {number[0].strip()}*deg"
            raise _fault(text, start, f"unexpected {word!r}{hint}")
        starts.append(start)
    return [*starts, span[1]]


def _is_name(word: str) -> bool:
    return _NAME.fullmatch(word) is not None and word not in _KEYWORDS


def _quote(word: str) -> str:
    return f"'{word[:_WINDOW]}'" if word else "the end of the expression"


_CENTRE = "; the mass centre of a body is written BODY.center, as in v.BODY.center.x"
_HINTS = {
    "=": "; equality is written ==",
    "!": "; 'not equal' is written not (a == b)",
    "&": "; write and",
    "|": "; write or",
    "[": "; only ( ) group",
    "{": "; only ( ) group",
    "−": "; minus is written -",
    "°": "; 60 degrees are written 60*deg",
    "·": "; a product is written *",
    "×": "; a product is written *",
}


class _ExpressionParser:
    """One loop over the words, operands and pending operators on two lists. Words are known by their numbers; where
    they stand in the text is found out for an error only."""

    __slots__ = ("commas", "functions", "graph", "names", "operands", "pending", "span", "text", "truths", "words")

    def __init__(
        self,
        text: str,
        graph: Graph,
        names: Mapping[str, Expr],
        functions: Mapping[str, Callable[..., Expr]],
        span: tuple[int, int],
    ):
        self.text = text
        self.span = span
        self.graph = graph
        self.names = names
        self.functions = functions
        self.words: list[str] = []
        self.operands: list[Expr] = []
        self.pending: list[tuple[int, int]] = []  # (precedence, word) of operators; (0, word) of what is open
        self.commas: list[int] = []  # in each call or group that is open; -1 for a group
        self.truths: dict[int, bool] = {}  # nodes that were asked about → whether they can only be 0 or 1

    def fault(self, k: int, why: str) -> ExpressionError:
        """The error at a word."""
        return _fault(self.text, _starts(self.text, self.span)[k], why)

    def expression(self) -> Expr:
        words = self.words = _words(self.text, self.span)
        if len(words) == 1:
            raise _fault(self.text, self.span[0], "it is empty; write a number, a name or a formula")
        graph, operands, pending, functions = self.graph, self.operands, self.pending, self.functions
        plain = self.names if isinstance(self.names, dict) else getattr(self.names, "plain", {})
        wants_operand = True
        for k, word in enumerate(words):  # names, numbers, + - * / and calls are nearly all: dealt with here
            if wants_operand:
                symbol = plain.get(word)
                if symbol is not None and symbol.graph is graph and words[k + 1] != "(" and word not in _KEYWORDS:
                    operands.append(symbol)
                    wants_operand = False
                elif word == "(":
                    self.open(k)
                elif word[:1] in _DIGITS:
                    value = float(word) if word != "." else math.nan
                    if not math.isfinite(value):
                        raise self.fault(k, f"the number {word[:_WINDOW]} is too large for a float64")
                    operands.append(graph.const(value))
                    wants_operand = False
                elif word not in functions or words[k + 1] != "(":
                    wants_operand = self.operand(k)
            elif (precedence := _ARITHMETIC.get(word)) is not None:
                if pending and pending[-1][0] >= precedence:
                    self.reduce(precedence)
                pending.append((precedence, k))
                wants_operand = True
            elif word == ")":
                self.close(k)
            else:
                wants_operand = self.operator(k)
        return operands.pop()

    # Each step takes one word; `operand` and `operator` say whether an operand has to come next. The name of a function
    # is taken with the parenthesis after it.

    def operand(self, k: int) -> bool:
        word = self.words[k]
        if word in _PREFIX:
            precedence, before = self.pending[-1] if self.pending else (0, 0)
            if word == "not" and precedence > _NOT:
                raise self.fault(k, f"'not' after '{self.words[before]}' needs parentheses: (not …)")
            self.pending.append((_PREFIX[word], k))
            return True
        if _is_name(word):
            if self.words[k + 1] == "(":
                raise self.uncallable(k)
            self.operands.append(self.symbol(k))
            return False
        raise self.fault(k, f"expected a number, a name or '(', found {_quote(word)}")

    def operator(self, k: int) -> bool:
        word = self.words[k]
        precedence = _INFIX.get(word)
        if precedence is not None:
            self.reduce(precedence + (precedence in (_COMPARE, _POWER)))
            if precedence == _COMPARE and self.pending and self.pending[-1][0] == _COMPARE:
                raise self.fault(k, "comparisons do not chain; write a < b and b < c")
            self.pending.append((precedence, k))
            return True
        if word not in ("", ","):
            raise self.fault(k, f"expected an operator, found {_quote(word)}{self.product_hint(k)}")
        self.reduce(_OR)
        if word == ",":
            if not self.commas or self.commas[-1] < 0:
                raise self.fault(k, "unexpected ',' outside the arguments of a call; a decimal point is '.'")
            self.commas[-1] += 1
            return True
        if self.pending:
            raise self.fault(self.pending[-1][1], "what opens here is never closed by ')'")
        return False

    def product_hint(self, k: int) -> str:
        word, previous = self.words[k], self.words[k - 1]
        if _is_name(word) and previous[:1] in _DIGITS:
            return "; numbers are in SI units and carry none (0.02 for 2 cm, 30*deg), a product is written with *"
        return "" if word in _OPERATORS and word != "(" else "; a product is written with *"

    def open(self, k: int) -> None:
        if len(self.commas) >= MAX_DEPTH:
            raise self.fault(k, f"parentheses are nested deeper than {MAX_DEPTH}; name its parts")
        call = k > 0 and self.words[k - 1] in self.functions
        self.commas.append(0 if call else -1)
        self.pending.append((0, k - 1 if call else k))

    def close(self, k: int) -> None:
        pending, operands = self.pending, self.operands
        if pending and pending[-1][0]:
            self.reduce(_OR)
        if not pending:
            raise self.fault(k, "unexpected ')': nothing is open here")
        _, opened = pending.pop()
        count = self.commas.pop() + 1
        if count:
            arguments = operands[-count:]
            del operands[-count:]
            name = self.words[opened]
            function = self.functions[name]
            if not _takes(function, count):
                call = f"{name}({', '.join(inspect.signature(function).parameters)})"
                raise self.fault(opened, f"{call} was given {count} argument{'s' * (count != 1)}")
            try:
                result = function(*arguments)
                operands.append(
                    result if type(result) is Expr and result.graph is self.graph else self.graph.lift(result)
                )
            except ExpressionError as error:
                raise self.fault(opened, str(error)) from None

    def reduce(self, precedence: int) -> None:
        """Apply the pending operators that bind at least as tightly as `precedence`."""
        operands, pending = self.operands, self.pending
        while pending and pending[-1][0] >= precedence:
            binds, k = pending.pop()
            right = operands.pop()
            if binds in _PREFIXES:
                operands.append(self.apply(k, _PREFIX_MEANING[self.words[k]], right))
                continue
            if binds <= _AND:
                right = _truth(right, self.truths)
            try:
                operands[-1] = _INFIX_MEANING[self.words[k]](operands[-1], right)
            except ExpressionError as error:
                raise self.fault(k, str(error)) from None

    def apply(self, k: int, function: Callable[..., Expr], *arguments: Expr) -> Expr:
        try:
            return self.graph.lift(function(*arguments))
        except ExpressionError as error:
            raise self.fault(k, str(error)) from None

    # leaves

    def symbol(self, k: int) -> Expr:
        name = self.words[k]
        if name in self.names:
            return self.apply(k, lambda: self.names[name])
        if name in CONSTANTS:
            return self.graph.const(CONSTANTS[name])
        known = [*self.names, *CONSTANTS]
        if name in self.functions:
            raise self.fault(k, f"the function '{name}' needs its arguments in parentheses")
        raise self.fault(k, f"unknown symbol {_quote(name)}{_suggest(name, known)}\n    known are {_list_names(known)}")

    def uncallable(self, k: int) -> ExpressionError:
        """The error of a name that is called and is no function."""
        name = self.words[k]
        if name in self.names or name in CONSTANTS:
            return self.fault(k, f"{_quote(name)} is a symbol and cannot be called; a product is written with *")
        return self.fault(
            k,
            f"{_quote(name)} is a call that is not in the grammar{_suggest(name, self.functions)}"
            f"\n    the functions are {_list_names(self.functions)}",
        )


# the meaning of operators --------------------------------------------------------------------------------------------


def _power(base: Expr, exponent: Expr) -> Expr:
    if exponent.number is None:
        raise ExpressionError("the exponent must be a number")
    return base**exponent.number


def _truth(x: Expr, known: dict[int, bool]) -> Expr:
    """1 where x is not 0, else 0: x itself where it can be nothing else. `known` is as for `_is_truth`."""
    return x if _is_truth(x, known) else x.select(1.0, 0.0)


def _is_truth(x: Expr, known: dict[int, bool]) -> bool:
    """Whether x is built so that it can only be 0 or 1; what was asked before is `known`, so that conditions inside
    each other take one step each."""
    g = x.graph
    stack, seen = [x.id], set[int]()
    while stack and known.get(stack[-1], True):
        node = stack.pop()
        if node in seen or node in known or g.value(node) in (0.0, 1.0) or g.ops[node] in _COMPARISONS:
            continue
        if g.ops[node] != "select":
            stack.append(node)
            break
        seen.add(node)
        stack.extend(g.args[node][1:])
    known[x.id] = not stack
    return not stack


_COMPARISONS = frozenset({"less", "less_equal", "equal"})
_PREFIX_MEANING: Mapping[str, Callable[[Expr], Expr]] = {"-": lambda x: -x, "not": lambda x: x.select(0.0, 1.0)}
_INFIX_MEANING: Mapping[str, Callable[[Expr, Expr], Expr]] = {
    "or": lambda x, y: x.select(1.0, y),  # where y is 0 or 1
    "and": lambda x, y: x.select(y, 0.0),
    "<": lambda x, y: x.less(y),
    "<=": lambda x, y: x.less_equal(y),
    ">": lambda x, y: y.less(x),
    ">=": lambda x, y: y.less_equal(x),
    "==": lambda x, y: x.equal(y),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": _power,
    "^": _power,
}


# writing -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The text of a node, how tightly its outermost operator binds, and how deep its parentheses go."""

    text: str
    binds: int
    depth: int = 0

    def parenthesize(self, binds: int) -> _Phrase:
        """The phrase where an operator needs it to bind at least so tightly: in parentheses if it does not."""
        return self if self.binds >= binds else _Phrase(f"({self.text})", _ATOM, self.depth + 1)


def print_expression(expr: Expr) -> str:
    """The text that `parse_expression` reads back as `expr`, every input under its own name.

    Parentheses stand only where the grammar needs them. What is shared in the graph is repeated in the text, so a
    text beyond `MAX_LENGTH` or `MAX_DEPTH` is refused.
    """
    graph = expr.graph
    phrases: dict[int, _Phrase] = {}
    truths: dict[int, bool] = {}
    for node in reachable(graph, [expr.id]):
        phrase = phrases[node] = _phrase(graph, node, phrases, truths)
        if len(phrase.text) > MAX_LENGTH or phrase.depth > MAX_DEPTH:
            raise ExpressionError(
                f"the expression {expr!r} takes more than {MAX_LENGTH} characters or {MAX_DEPTH} nested parentheses "
                f"to write out; print a program of it, which names what is shared"
            )
    return phrases[expr.id].text


def _phrase(graph: Graph, node: int, phrases: Mapping[int, _Phrase], truths: dict[int, bool]) -> _Phrase:
    op, args = graph.ops[node], graph.args[node]
    if op == INPUT:
        if not is_name(args[0]):
            raise ExpressionError(f"the input {args[0]!r} cannot be written in an expression: it is not a name")
        return _Phrase(args[0], _ATOM)
    if op == CONST:
        return _Phrase(repr(args[0]), _MINUS if args[0] < 0 else _ATOM)
    parts = [phrases[a] for a in args]
    if op == "neg":
        # −(x y) and (−x) y are one node, so a product needs no parentheses
        inner = parts[0].parenthesize(_PRODUCT)
        return _Phrase(f"-{inner.text}", min(inner.binds, _MINUS), inner.depth)
    if op == "mul" and args[0] == args[1]:
        inner = parts[0].parenthesize(_ATOM)
        return _Phrase(f"{inner.text}**2", _POWER, inner.depth)
    if op == "pow":
        base = parts[0].parenthesize(_ATOM)
        return _Phrase(f"{base.text}**{parts[1].text}", _POWER, base.depth)
    if TABLE[op].infix:
        return _infix(op, *parts)
    if op == "select":
        logical = _logical(graph, args, parts, truths)
        if logical is not None:
            return logical
    return _Phrase(f"{op}({', '.join(p.text for p in parts)})", _ATOM, 1 + max(p.depth for p in parts))


def _infix(op: str, left: _Phrase, right: _Phrase) -> _Phrase:
    symbol = TABLE[op].infix
    binds = _INFIX[symbol]
    if TABLE[op].commutes and right.binds == binds != left.binds:
        left, right = right, left  # the operand that would need parentheses on the right goes to the left
    left = left.parenthesize(binds + (binds == _COMPARE))
    right = right.parenthesize(binds + 1)
    space = "" if binds == _PRODUCT else " "
    return _Phrase(f"{left.text}{space}{symbol}{space}{right.text}", binds, max(left.depth, right.depth))


def _logical(graph: Graph, args: tuple[int, ...], parts: list[_Phrase], truths: dict[int, bool]) -> _Phrase | None:
    """`select` written as and, or, not where these words read back as the same select."""
    condition, then, otherwise = parts
    values = graph.value(args[1]), graph.value(args[2])
    if values == (0.0, 1.0):
        inner = condition.parenthesize(_NOT)
        return _Phrase(f"not {inner.text}", _NOT, inner.depth)
    if values == (None, 0.0) and _is_truth(graph.expr(args[1]), truths):
        word, binds, second = "and", _AND, then
    elif values == (1.0, None) and _is_truth(graph.expr(args[2]), truths):
        word, binds, second = "or", _OR, otherwise
    else:
        return None
    first, second = condition.parenthesize(binds), second.parenthesize(binds + 1)
    return _Phrase(f"{first.text} {word} {second.text}", binds, max(first.depth, second.depth))
