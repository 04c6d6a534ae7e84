"""Programs to be read: as SymPy expressions, and as LaTeX.

`to_sympy` gives symbols, one replacement per row and the outputs, the form of `sympy.cse`. `to_latex` writes a small
program as one equation per output, and a long one as the Z list: one line per row, then the outputs.
"""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..graph import Program

# SymPy ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SymPyProgram:
    """A program in SymPy: symbols by label, replacements (z, expression) in order, outputs by name.

    An output of shape () is an expression, any other a `sympy.Array` of its shape.
    """

    symbols: dict[str, Any]
    replacements: list[tuple[Any, Any]]
    outputs: dict[str, Any]

    def inline(self) -> dict[str, Any]:
        """The outputs as expressions of the symbols alone; for small programs, since they can grow without bound."""
        known: dict[Any, Any] = {}
        for z, expression in self.replacements:
            known[z] = expression.xreplace(known)

        def expand(expression: Any) -> Any:
            return expression.xreplace(known)

        return {
            name: output.applyfunc(expand) if hasattr(output, "applyfunc") else expand(output)
            for name, output in self.outputs.items()
        }


def to_sympy(program: Program) -> SymPyProgram:
    """`program` as SymPy symbols, replacements and outputs. Constants are Floats of 53 bits."""
    import sympy as sp  # heavy, and needed only here

    one, zero = sp.Float(1), sp.Float(0)

    def truth(condition: Any) -> Any:
        return sp.Piecewise((one, condition), (zero, True))

    table = {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "pow": lambda x, y: x**y,
        "neg": lambda x: -x,
        "sqrt": sp.sqrt,
        "sin": sp.sin,
        "cos": sp.cos,
        "tan": sp.tan,
        "asin": sp.asin,
        "acos": sp.acos,
        "atan2": sp.atan2,
        "exp": sp.exp,
        "log": sp.log,
        "abs": sp.Abs,
        "sign": sp.sign,
        "min": sp.Min,
        "max": sp.Max,
        "less": lambda x, y: truth(sp.Lt(x, y)),
        "less_equal": lambda x, y: truth(sp.Le(x, y)),
        "equal": lambda x, y: truth(sp.Eq(x, y)),
        "select": lambda c, x, y: sp.Piecewise((x, sp.Ne(c, 0)), (y, True)),
    }
    symbols = {label: sp.Symbol(label, real=True) for g in program.inputs for label in g.labels}
    values: list[Any] = [*symbols.values(), *(sp.Float(c) for c in program.constants)]
    replacements = []
    for i, row in enumerate(program.rows):
        z = sp.Symbol(f"z{i + 1}", real=True) if f"z{i + 1}" not in symbols else sp.Dummy(f"z{i + 1}", real=True)
        replacements.append((z, table[row.op](*(values[a] for a in row.args))))
        values.append(z)
    outputs = {
        o.name: sp.Array([values[s] for s in o.slots], o.shape) if o.shape else values[o.slots[0]]
        for o in program.outputs
    }
    return SymPyProgram(symbols, replacements, outputs)


_PYTHON = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "pow": "{0} ** {1}",
    "neg": "-{0}",
    "abs": "sp.Abs({0})",
    "min": "sp.Min({0}, {1})",
    "max": "sp.Max({0}, {1})",
    "less": "sp.Piecewise((1.0, sp.Lt({0}, {1})), (0.0, True))",
    "less_equal": "sp.Piecewise((1.0, sp.Le({0}, {1})), (0.0, True))",
    "equal": "sp.Piecewise((1.0, sp.Eq({0}, {1})), (0.0, True))",
    "select": "sp.Piecewise(({1}, sp.Ne({0}, 0)), ({2}, True))",
}
"""How operations are written in Python with SymPy as sp; the others are functions that it has under their own name."""


def to_sympy_text(program: Program) -> str:
    """`program` as Python that runs: `inputs` and `outputs` by name, and `replacements`, the form of `sympy.cse`.

    Names of inputs that are no names in Python are written as ones that are; their symbols keep them.
    """
    labels = [label for group in program.inputs for label in group.labels]
    names = python_names(labels, {f"z{i + 1}" for i in range(len(program.rows))} | {"sp", "inputs", "outputs"})
    shown = [*names, *(repr(c) if c >= 0 else f"({c!r})" for c in program.constants)]
    lines = [
        f'"""{_one_line(program.name)}: {len(program.rows)} operations, in SymPy."""',
        "",
        "import sympy as sp",
        "",
    ]
    lines += [f"{name} = sp.Symbol({label!r}, real=True)" for name, label in zip(names, labels, strict=True)]
    rows = [f"z{i + 1}" for i in range(len(program.rows))]
    lines += [f"{z} = sp.Symbol({z!r}, real=True)" for z in rows]
    lines += ["", "replacements = ["]
    for z, row in zip(rows, program.rows, strict=True):
        words = _PYTHON.get(row.op, f"sp.{row.op}({', '.join('{' + str(k) + '}' for k in range(len(row.args)))})")
        lines.append(f"    ({z}, {words.format(*(shown[a] for a in row.args))}),")
        shown.append(z)
    lines += ["]", f"inputs = {{{', '.join(f'{label!r}: {name}' for label, name in zip(labels, names, strict=True))}}}"]
    lines.append("outputs = {")
    for out in program.outputs:
        flat = ", ".join(shown[slot] for slot in out.slots)
        value = f"sp.Array([{flat}], {out.shape!r})" if out.shape else f"sp.sympify({flat})"
        lines.append(f"    {out.name!r}: {value},")
    return "\n".join([*lines, "}", ""])


def python_names(labels: Sequence[str], taken: set[str]) -> list[str]:
    """Labels as names in Python, each once: q1' becomes q1_dot, pin.x becomes pin_x."""
    found: list[str] = []
    used = set(taken) | {"replacements", *keyword.kwlist}
    for label in labels:
        name = re.sub(r"\W", "_", label.replace("'", "_dot"), flags=re.ASCII) or "_"
        name = f"_{name}" if name[0].isdigit() else name
        while name in used:
            name += "_"
        used.add(name)
        found.append(name)
    return found


def _one_line(text: str) -> str:
    """`text` so that it can stand in a docstring."""
    return " ".join(text.split()).replace("\\", "/").replace('"', "'")


# LaTeX ---------------------------------------------------------------------------------------------------------------

SMALL = 60
"""Operations that one inlined equation may show; a longer one cannot be read, so the Z list is printed."""

_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega|"
    "Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_SUM, _PRODUCT, _POWER, _ATOM = range(4)  # how tightly a piece of LaTeX holds together

_INFIX = {
    "add": (r"{0} + {1}", (_SUM, _SUM), _SUM),
    "sub": (r"{0} - {1}", (_SUM, _PRODUCT), _SUM),
    "pow": (r"{0}^{{{1}}}", (_ATOM, _SUM), _POWER),
    "sqrt": (r"\sqrt{{{0}}}", (_SUM,), _ATOM),
    "abs": (r"\left|{0}\right|", (_SUM,), _ATOM),
    "min": (r"\min\left({0}, {1}\right)", (_SUM, _SUM), _ATOM),
    "max": (r"\max\left({0}, {1}\right)", (_SUM, _SUM), _ATOM),
    "less": (r"\left[{0} < {1}\right]", (_SUM, _SUM), _ATOM),
    "less_equal": (r"\left[{0} \le {1}\right]", (_SUM, _SUM), _ATOM),
    "equal": (r"\left[{0} = {1}\right]", (_SUM, _SUM), _ATOM),
    "select": (
        r"\begin{{cases}} {1} & \text{{if }} {0} \ne 0 \\ {2} & \text{{else}} \end{{cases}}",
        (_SUM, _SUM, _SUM),
        _PRODUCT,
    ),
    "sign": (r"\operatorname{{sgn}}\left({0}\right)", (_SUM,), _POWER),
    "exp": (r"e^{{{0}}}", (_SUM,), _POWER),
    "log": (r"\ln\left({0}\right)", (_SUM,), _POWER),
    "atan2": (r"\operatorname{{atan2}}\left({0}, {1}\right)", (_SUM, _SUM), _ATOM),
    "asin": (r"\arcsin\left({0}\right)", (_SUM,), _POWER),
    "acos": (r"\arccos\left({0}\right)", (_SUM,), _POWER),
    "sin": (r"\sin\left({0}\right)", (_SUM,), _POWER),
    "cos": (r"\cos\left({0}\right)", (_SUM,), _POWER),
    "tan": (r"\tan\left({0}\right)", (_SUM,), _POWER),
}
"""For each operation but products: template, how tightly each argument has to hold, how tightly the result holds."""


def to_latex(
    program: Program,
    *,
    inline: bool | None = None,
    digits: int = 6,
    names: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """`program` as an `align*` environment: equations of the outputs if `inline`, else the Z list and the outputs.

    With `inline` None, outputs are inlined when the longest of them shows at most `SMALL` operations. Products have
    numbers first, which are multiplied, then parameters, functions, sums and speeds, each factor once, with its power.
    Constants are rounded to `digits` significant digits. Comparisons are brackets that are 1 where they hold, else 0.
    `names` are labels of the elements of outputs, where these have some: of udot, u1' and so on.
    """
    slots = [s for o in program.outputs for s in o.slots]
    if inline is None:
        sizes = _sizes(program)
        inline = max((sizes[s] for s in slots), default=0) <= SMALL
    writer = _LatexWriter(program, digits)
    lines = []
    for i, row in enumerate(program.rows):
        piece = writer.write_row(program.first_row + i, row.op, row.args)
        if not inline:
            lines.append(f"Z_{{{i + 1}}} &= {piece[0]}")
            writer.name_row(program.first_row + i, f"Z_{{{i + 1}}}")
    for out in program.outputs:
        labels = (names or {}).get(out.name, ())
        known = len(labels) == len(out.slots)
        left = [latex_name(label) for label in labels] if known else _latex_elements(out.name, out.shape)
        lines += [f"{name} &= {writer.pieces[s][0]}" for name, s in zip(left, out.slots, strict=True)]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


@dataclass(frozen=True, slots=True)
class _Product:
    """A number times powers of slots, over slots."""

    number: float = 1.0
    above: tuple[int, ...] = ()
    below: tuple[int, ...] = ()

    def times(self, other: _Product) -> _Product:
        return _Product(self.number * other.number, self.above + other.above, self.below + other.below)


_GROUPS = {"parameters": 0, "u": 5, "udot": 6}
_FUNCTION, _OTHER = 2, 3  # between them; other inputs before functions, sums and the rest behind
_POWERS = ("sin", "cos", "tan")  # whose powers stand behind their names


class _LatexWriter:
    """Pieces of LaTeX by slot: (text, how tightly it holds together)."""

    def __init__(self, program: Program, digits: int):
        self.digits = digits
        labels = [(label, _GROUPS.get(g.name, 1)) for g in program.inputs for label in g.labels]
        self.pieces = [(latex_name(label), _ATOM) for label, _ in labels]
        self.pieces += [_latex_number(c, digits) for c in program.constants]
        self._order = [order for _, order in labels] + [0] * len(program.constants)
        self._products: dict[int, _Product] = {
            len(labels) + k: _Product(c) for k, c in enumerate(program.constants) if math.isfinite(c)
        }
        self._powered: dict[int, str] = {}  # functions whose power stands behind their name, by what follows that

    def write_row(self, slot: int, op: str, args: tuple[int, ...]) -> tuple[str, int]:
        """The piece of a row."""
        product = self._product(op, args)
        if product is not None:
            self._products[slot] = product
            piece = self._write_product(product)
        else:
            piece = _latex_row(op, [self.pieces[a] for a in args])
            if op in _POWERS:
                self._powered[slot] = piece[0].removeprefix(f"\\{op}")
        self.pieces.append(piece)
        self._order.append(_FUNCTION if op in _INFIX and _INFIX[op][2] != _SUM and len(args) == 1 else _OTHER)
        return piece

    def name_row(self, slot: int, name: str) -> None:
        """From here on a row is what it is called."""
        self.pieces[slot] = (name, _ATOM)
        self._products.pop(slot, None)
        self._powered.pop(slot, None)

    def _product(self, op: str, args: tuple[int, ...]) -> _Product | None:
        """What is multiplied in a row; None where nothing is."""
        if op == "neg":
            return _Product(-1.0).times(self._factors(args[0]))
        if op == "mul":
            return self._factors(args[0]).times(self._factors(args[1]))
        if op == "div":
            return self._factors(args[0]).times(_Product(1.0, (), (args[1],)))
        return None

    def _factors(self, slot: int) -> _Product:
        return self._products.get(slot, _Product(1.0, (slot,)))

    def _write_product(self, product: _Product) -> tuple[str, int]:
        number, above = abs(product.number), self._write_factors(product.above)
        shown, _ = _latex_number(number, self.digits)
        if not above or (number != 1.0 and shown != "1"):
            above = [(shown, _PRODUCT), *above]
        top = above[0] if len(above) == 1 else (r" \, ".join(_parenthesize(p, _PRODUCT) for p in above), _PRODUCT)
        if product.below:
            below = self._write_factors(product.below)
            bottom = below[0][0] if len(below) == 1 else r" \, ".join(_parenthesize(p, _PRODUCT) for p in below)
            top = (rf"\frac{{{top[0]}}}{{{bottom}}}", _POWER)
        return top if product.number >= 0.0 else (f"-{_parenthesize(top, _PRODUCT)}", _SUM)

    def _write_factors(self, slots: tuple[int, ...]) -> list[tuple[str, int]]:
        """Factors in the order of a textbook, each once."""
        counts = Counter(slots)
        return [self._power(slot, counts[slot]) for slot in sorted(counts, key=lambda slot: self._order[slot])]

    def _power(self, slot: int, n: int) -> tuple[str, int]:
        text, holds = self.pieces[slot]
        if n == 1:
            return text, holds
        if slot in self._powered:
            return f"{text.removesuffix(self._powered[slot])}^{{{n}}}{self._powered[slot]}", _POWER
        return f"{_parenthesize((text, holds), _ATOM)}^{{{n}}}", _POWER


def latex_name(label: str) -> str:
    """A label as a symbol: greek letters, digits and what follows `_` as index, a dot for each `'` or for `dot`; primes
    after a name of several letters, since a dot would stand over one of them."""
    match = re.fullmatch(r"([A-Za-z]+?)(d?dot)?_?(\d*)((?:_\w+)*)('{0,2})", label, flags=re.ASCII)
    if match is None:
        escaped = re.sub(r"([_#$%&{}])", r"\\\1", label.replace("\\", "").replace("^", "").replace("~", ""))
        return rf"\mathrm{{{escaped}}}"
    letters, dot, number, rest, primes = match.groups()
    stem = f"\\{letters}" if _GREEK.fullmatch(letters) else letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
    word = stem.startswith(r"\mathrm")
    dots = dot or ("", "dot", "ddot")[len(primes)]
    if dots and not word:
        stem = rf"\{dots}{{{stem}}}"
    index = [number] if number else []
    index += [_latex_index(part) for part in rest.split("_")[1:]]
    after = {"": "", "dot": "'", "ddot": "''"}[dots] if word else ""
    return stem + (f"_{{{', '.join(index)}}}" if index else "") + after


def _latex_index(part: str) -> str:
    if _GREEK.fullmatch(part):
        return f"\\{part}"
    return part if len(part) == 1 or part.isdigit() else rf"\mathrm{{{part}}}"


def _sizes(program: Program) -> list[int]:
    """For each slot the number of operations that its inlined equation shows, counted no further than needed."""
    sizes = [0] * program.first_row
    for row in program.rows:
        sizes.append(min(1 + sum(sizes[a] for a in row.args), SMALL + 1))
    return sizes


def _latex_row(op: str, args: list[tuple[str, int]]) -> tuple[str, int]:
    if op == "add" and args[1][0].startswith("-"):
        return f"{args[0][0]} - {args[1][0][1:]}", _SUM
    template, needed, holds = _INFIX[op]
    return template.format(*(_parenthesize(a, n) for a, n in zip(args, needed, strict=True))), holds


def _parenthesize(piece: tuple[str, int], needed: int) -> str:
    text, holds = piece
    return text if holds >= needed else rf"\left({text}\right)"


def _latex_number(value: float, digits: int) -> tuple[str, int]:
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    text, holds = mantissa, _ATOM
    if exponent:
        text, holds = rf"{mantissa} \cdot 10^{{{int(exponent)}}}", _PRODUCT
    return (text, holds) if value >= 0 else (text, _SUM)


def _latex_elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """The elements of an output, row by row, counted from 1 as in print."""
    letter = name.removesuffix("_star")
    stem, star = latex_name(letter), "" if letter == name else "^{*}"
    if not shape:
        return [f"{stem}{star}"]
    if "_" in stem:
        stem = f"{{{stem}}}"
    index = [""]
    for n in shape:
        index = [f"{head} {i + 1}".strip() for head in index for i in range(n)]
    return [f"{stem}_{{{i}}}{star}" for i in index]
