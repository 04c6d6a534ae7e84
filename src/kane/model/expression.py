"""The expression grammar of model files: text into the graph and back, nothing ever executed.

`parse_expression` reads numbers, names, + - * / ** (or ^), comparisons, and/or/not and the calls of `FUNCTIONS` with
an operator-precedence parser that keeps its own stack: deep nesting is refused with a sentence, never an overflow.
`print_expression` writes the shortest text of this grammar that reads back as the same node of the same graph.

  loosest  or · and · not · < <= > >= == (no chains) · + - · * / · unary - · ** (to the right)  tightest

Comparisons and and/or/not give 1 or 0; anything that is not 0 counts as true.
"""

from __future__ import annotations

import difflib
import heapq
import inspect
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from ..errors import ExpressionError
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
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*"
    rf"|(?P<name>{_NAME.pattern})\s*"
    r"|(?P<op>\*\*|<=|>=|==|[-+*/^<>(),])\s*"
    r"|(?P<space>\s+)"
)
_WINDOW = 72  # characters of the expression that an error shows
_LISTED = 40  # names that an error lists
_COMPARED = 100  # names that an unknown one is compared with letter by letter, some 50 µs each
_LETTERS = 2  # by which a name may be longer or shorter where there are more
_ALIKE = 0.65  # share of letters in common from which on one name was meant by another: 'radius' is not by 'axis'


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


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: the same in other letters, small or capital, or one much like it.

    Letters are compared with at most `_COMPARED` names: among more, with those that begin alike and are about as long.
    """
    names, wanted = list(known), name[:_WINDOW]
    folded = wanted.casefold()
    if len(names) > _COMPARED:
        first = (wanted[:1].lower(), wanted[:1].upper())
        near = (k for k in names if k[:1] in first and -_LETTERS <= len(k) - len(wanted) <= _LETTERS)
        names = list(itertools.islice(near, _COMPARED))
    alike = next((k for k in names if k.casefold() == folded), None)
    if alike is not None:
        return alike
    return next(iter(difflib.get_close_matches(wanted, names, n=1, cutoff=_ALIKE)), None)


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


class _Token(NamedTuple):
    kind: str  # "number", "name", "op" or "end"
    text: str
    start: int

    def __str__(self) -> str:
        return "the end of the expression" if self.kind == "end" else f"'{self.text[:_WINDOW]}'"


@dataclass(slots=True)
class _Pending:
    """What waits on the stack for its right-hand side: an operator, an open parenthesis or an open call."""

    kind: str  # "infix", "prefix", "group" or "call"
    token: _Token
    precedence: int = 0
    arguments: int = 0


_INFIX = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(("<", "<=", ">", ">=", "=="), _COMPARE),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/"), _PRODUCT),
    **dict.fromkeys(("**", "^"), _POWER),
}
_ARITHMETIC = frozenset("+-*/")
_PREFIX = {"-": _MINUS, "not": _NOT}


def _tokens(text: str, span: tuple[int, int]) -> list[tuple[str, str, int]]:
    """The words of `text` within `span` as the fields of a `_Token` each, ended by one of kind "end"."""
    if len(text) > MAX_LENGTH:
        raise _fault(text, 0, f"it has {len(text)} characters, at most {MAX_LENGTH} are allowed; name its parts")
    words: list[tuple[str, str, int]] = []
    position, stop = span
    for match in _TOKEN.finditer(text, position, stop):
        start, end = match.span()
        if start != position:
            break
        position, kind = end, match.lastgroup
        if kind is not None and kind != "space":
            words.append((kind, match[kind], start))
    if position < stop:
        raise _fault(text, position, f"unexpected {text[position]!r}{_HINTS.get(text[position], '')}")
    words.append(("end", "", stop))
    return words


_HINTS = {
    "=": "; equality is written ==",
    "!": "; 'not equal' is written not (a == b)",
    "&": "; write and",
    "|": "; write or",
    "[": "; only ( ) group",
    "{": "; only ( ) group",
    "−": "; minus is written -",
    "·": "; a product is written *",
    "×": "; a product is written *",
}


class _ExpressionParser:
    """One loop over the words, operands and pending operators on two lists."""

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
        self.operands: list[Expr] = []
        self.pending: list[_Pending] = []
        self.depth = 0

    def fault(self, token: _Token, why: str) -> ExpressionError:
        return _fault(self.text, token.start, why)

    def expression(self) -> Expr:
        words = _tokens(self.text, self.span)
        if len(words) == 1:
            raise _fault(self.text, self.span[0], "it is empty; write a number, a name or a formula")
        graph, operands, pending = self.graph, self.operands, self.pending
        plain = self.names if isinstance(self.names, dict) else getattr(self.names, "plain", {})
        wants_operand = True
        for k, (kind, word, start) in enumerate(words):
            if wants_operand:  # names and + - * / are nearly all of a long expression: dealt with here
                symbol = plain.get(word) if kind == "name" and words[k + 1][1] != "(" else None
                if symbol is not None and symbol.graph is graph and word not in _KEYWORDS:
                    operands.append(symbol)
                    wants_operand = False
                    continue
            elif word in _ARITHMETIC:
                precedence = _INFIX[word]
                if pending and pending[-1].precedence >= precedence:
                    self.reduce(precedence)
                pending.append(_Pending("infix", _Token(kind, word, start), precedence))
                wants_operand = True
                continue
            token = _Token(kind, word, start)
            if not wants_operand:
                wants_operand = self.operator(token, _Token(*words[k - 1]))
            elif word == "(":
                self.open(token, _Token(*words[k - 1]))
            else:
                wants_operand = self.operand(token, _Token(*words[min(k + 1, len(words) - 1)]))
        return operands.pop()

    # Each step takes one word; `operand` and `operator` say whether an operand has to come next.

    def operand(self, token: _Token, following: _Token) -> bool:
        if token.kind == "number":
            self.operands.append(self.number(token))
            return False
        if token.text in _PREFIX:
            top = self.pending[-1] if self.pending else None
            if token.text == "not" and top is not None and top.precedence > _NOT:
                raise self.fault(token, f"'not' after '{top.token.text}' needs parentheses: (not …)")
            self.pending.append(_Pending("prefix", token, _PREFIX[token.text]))
            return True
        if token.kind == "name" and token.text not in _KEYWORDS:
            if following.text == "(":
                self.check_call(token)
                return True
            self.operands.append(self.symbol(token))
            return False
        raise self.fault(token, f"expected a number, a name or '(', found {token}")

    def operator(self, token: _Token, previous: _Token) -> bool:
        precedence = _INFIX.get(token.text)
        if precedence is not None:
            self.reduce(precedence + (precedence in (_COMPARE, _POWER)))
            if precedence == _COMPARE and self.pending and self.pending[-1].precedence == _COMPARE:
                raise self.fault(token, "comparisons do not chain; write a < b and b < c")
            self.pending.append(_Pending("infix", token, precedence))
            return True
        if token.text not in (",", ")") and token.kind != "end":
            hint = "" if token.kind == "op" and token.text != "(" else "; a product is written with *"
            if token.kind == "name" and previous.kind == "number":
                hint = "; numbers are in SI units and carry none (0.02 for 2 cm, 30*deg), a product is written with *"
            raise self.fault(token, f"expected an operator, found {token}{hint}")
        self.reduce(_OR)
        if token.text == ",":
            if not self.pending or self.pending[-1].kind != "call":
                raise self.fault(token, "unexpected ',' outside the arguments of a call; a decimal point is '.'")
            self.pending[-1].arguments += 1
            return True
        if token.text == ")":
            self.close(token)
        elif self.pending:
            raise self.fault(self.pending[-1].token, "what opens here is never closed by ')'")
        return False

    def open(self, token: _Token, previous: _Token) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fault(token, f"parentheses are nested deeper than {MAX_DEPTH}; name its parts")
        if previous.kind == "name" and previous.text not in _KEYWORDS:
            self.pending.append(_Pending("call", previous))
        else:
            self.pending.append(_Pending("group", token))

    def close(self, token: _Token) -> None:
        if not self.pending:
            raise self.fault(token, "unexpected ')': nothing is open here")
        opened = self.pending.pop()
        self.depth -= 1
        if opened.kind == "call":
            count = opened.arguments + 1
            arguments = self.operands[-count:]
            del self.operands[-count:]
            function = self.functions[opened.token.text]
            if not _takes(function, count):
                call = f"{opened.token.text}({', '.join(inspect.signature(function).parameters)})"
                raise self.fault(opened.token, f"{call} was given {count} argument{'s' * (count != 1)}")
            self.operands.append(self.apply(opened.token, function, *arguments))

    def reduce(self, precedence: int) -> None:
        """Apply the pending operators that bind at least as tightly as `precedence`."""
        while self.pending and self.pending[-1].precedence >= precedence:
            top = self.pending.pop()
            right = self.operands.pop()
            if top.kind == "prefix":
                self.operands.append(self.apply(top.token, _PREFIX_MEANING[top.token.text], right))
            else:
                left = self.operands.pop()
                try:
                    self.operands.append(_INFIX_MEANING[top.token.text](left, right))
                except ExpressionError as error:
                    raise self.fault(top.token, str(error)) from None

    def apply(self, token: _Token, function: Callable[..., Expr], *arguments: Expr) -> Expr:
        try:
            return self.graph.lift(function(*arguments))
        except ExpressionError as error:
            raise self.fault(token, str(error)) from None

    # leaves

    def number(self, token: _Token) -> Expr:
        value = float(token.text)
        if not math.isfinite(value):
            raise self.fault(token, f"the number {token.text[:_WINDOW]} is too large for a float64")
        return self.graph.const(value)

    def symbol(self, token: _Token) -> Expr:
        if token.text in self.names:
            return self.apply(token, lambda: self.names[token.text])
        if token.text in CONSTANTS:
            return self.graph.const(CONSTANTS[token.text])
        known = [*self.names, *CONSTANTS]
        if token.text in self.functions:
            raise self.fault(token, f"the function '{token.text}' needs its arguments in parentheses")
        raise self.fault(
            token, f"unknown symbol {token}{_suggest(token.text, known)}\n    known are {_list_names(known)}"
        )

    def check_call(self, token: _Token) -> None:
        if token.text in self.functions:
            return
        if token.text in self.names or token.text in CONSTANTS:
            raise self.fault(token, f"{token} is a symbol and cannot be called; a product is written with *")
        raise self.fault(
            token,
            f"{token} is a call that is not in the grammar{_suggest(token.text, self.functions)}"
            f"\n    the functions are {_list_names(self.functions)}",
        )


# the meaning of operators --------------------------------------------------------------------------------------------


def _power(base: Expr, exponent: Expr) -> Expr:
    if exponent.number is None:
        raise ExpressionError("the exponent must be a number")
    return base**exponent.number


def _truth(x: Expr) -> Expr:
    """1 where x is not 0, else 0: x itself where it can be nothing else."""
    return x if _is_truth(x) else x.select(1.0, 0.0)


def _is_truth(x: Expr) -> bool:
    """Whether x is built so that it can only be 0 or 1."""
    g = x.graph
    stack, seen = [x.id], set[int]()
    while stack:
        node = stack.pop()
        if node in seen or g.value(node) in (0.0, 1.0) or g.ops[node] in _COMPARISONS:
            continue
        if g.ops[node] != "select":
            return False
        seen.add(node)
        stack.extend(g.args[node][1:])
    return True


_COMPARISONS = frozenset({"less", "less_equal", "equal"})
_PREFIX_MEANING: Mapping[str, Callable[[Expr], Expr]] = {"-": lambda x: -x, "not": lambda x: x.select(0.0, 1.0)}
_INFIX_MEANING: Mapping[str, Callable[[Expr, Expr], Expr]] = {
    "or": lambda x, y: x.select(1.0, _truth(y)),
    "and": lambda x, y: x.select(_truth(y), 0.0),
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
    for node in reachable(graph, [expr.id]):
        phrase = phrases[node] = _phrase(graph, node, phrases)
        if len(phrase.text) > MAX_LENGTH or phrase.depth > MAX_DEPTH:
            raise ExpressionError(
                f"the expression {expr!r} takes more than {MAX_LENGTH} characters or {MAX_DEPTH} nested parentheses "
                f"to write out; print a program of it, which names what is shared"
            )
    return phrases[expr.id].text


def _phrase(graph: Graph, node: int, phrases: Mapping[int, _Phrase]) -> _Phrase:
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
        logical = _logical(graph, args, parts)
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


def _logical(graph: Graph, args: tuple[int, ...], parts: list[_Phrase]) -> _Phrase | None:
    """`select` written as and, or, not where these words read back as the same select."""
    condition, then, otherwise = parts
    values = graph.value(args[1]), graph.value(args[2])
    if values == (0.0, 1.0):
        inner = condition.parenthesize(_NOT)
        return _Phrase(f"not {inner.text}", _NOT, inner.depth)
    if values == (None, 0.0) and _is_truth(graph.expr(args[1])):
        word, binds, second = "and", _AND, then
    elif values == (1.0, None) and _is_truth(graph.expr(args[2])):
        word, binds, second = "or", _OR, otherwise
    else:
        return None
    first, second = condition.parenthesize(binds), second.parenthesize(binds + 1)
    return _Phrase(f"{first.text} {word} {second.text}", binds, max(first.depth, second.depth))
