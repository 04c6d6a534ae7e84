"""Programs to be read: as SymPy expressions, and as LaTeX.

`to_sympy` gives symbols, one replacement per row and the outputs, the form of `sympy.cse`. `to_latex` writes a small
program as one equation per output, and a long one as the Z list: one line per row, then the outputs.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
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
    "mul": (r"{0} \, {1}", (_PRODUCT, _PRODUCT), _PRODUCT),
    "div": (r"\frac{{{0}}}{{{1}}}", (_SUM, _SUM), _POWER),
    "pow": (r"{0}^{{{1}}}", (_ATOM, _SUM), _POWER),
    "neg": (r"-{0}", (_PRODUCT,), _SUM),
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
"""For each operation: template, how tightly each argument has to hold, how tightly the result holds."""


def to_latex(program: Program, *, inline: bool | None = None, digits: int = 6) -> str:
    """`program` as an `align*` environment: equations of the outputs if `inline`, else the Z list and the outputs.

    With `inline` None, outputs are inlined when the longest of them shows at most `SMALL` operations. Constants are
    rounded to `digits` significant digits. Comparisons are brackets that are 1 where they hold, else 0.
    """
    pieces: list[tuple[str, int]] = [(latex_name(label), _ATOM) for g in program.inputs for label in g.labels]
    pieces += [_latex_number(c, digits) for c in program.constants]
    slots = [s for o in program.outputs for s in o.slots]
    if inline is None:
        sizes = _sizes(program)
        inline = max((sizes[s] for s in slots), default=0) <= SMALL
    lines = []
    for i, row in enumerate(program.rows):
        piece = _latex_row(row.op, [pieces[a] for a in row.args], same=len(set(row.args)) == 1)
        if inline:
            pieces.append(piece)
        else:
            lines.append(f"Z_{{{i + 1}}} &= {piece[0]}")
            pieces.append((f"Z_{{{i + 1}}}", _ATOM))
    for out in program.outputs:
        lines += [
            f"{name} &= {pieces[s][0]}" for name, s in zip(_latex_elements(out.name, out.shape), out.slots, strict=True)
        ]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


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


def _latex_row(op: str, args: list[tuple[str, int]], *, same: bool) -> tuple[str, int]:
    if op == "mul" and same:
        return f"{_parenthesize(args[0], _ATOM)}^{{2}}", _POWER
    if op == "mul" and re.match(r"-[\d.]", args[0][0]):
        positive, holds = args[0][0][1:], _PRODUCT
        return "-" + _latex_row("mul", [(positive, holds), args[1]], same=False)[0], _SUM
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
    stem = latex_name(name)
    if not shape:
        return [stem]
    if "_" in stem:
        stem = f"{{{stem}}}"
    index = [""]
    for n in shape:
        index = [f"{head} {i + 1}".strip() for head in index for i in range(n)]
    return [f"{stem}_{{{i}}}" for i in index]
