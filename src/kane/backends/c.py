"""C export: a program as one pair of files, C99, with no dependency but `math.h`; and the backend that compiles it.

The function is `void name(const double *in, double *out)`: all inputs in the order of the groups, all outputs in their
order; `in` and `out` do not overlap. The header, for C and C++, has the places of all of them by name. The function
allocates nothing and keeps no state, so it can be called from an interrupt or from several threads.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..errors import KaneError
from ..graph import Program
from .kernel import Floats, Kernel
from .native import BATCH_FUNCTION, run_batch

C_OPERATIONS: dict[str, str] = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "pow": "pow({0}, {1})",
    "neg": "-{0}",
    "sqrt": "sqrt({0})",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "tan": "tan({0})",
    "asin": "asin({0})",
    "acos": "acos({0})",
    "atan2": "atan2({0}, {1})",
    "exp": "exp({0})",
    "log": "log({0})",
    "abs": "fabs({0})",
    "sign": "fabs({0}) > 0.0 ? copysign(1.0, {0}) : {0}",
    "min": "{1} < {0} ? {1} : {0}",
    "max": "{0} < {1} ? {1} : {0}",
    "less": "{0} < {1} ? 1.0 : 0.0",
    "less_equal": "{0} <= {1} ? 1.0 : 0.0",
    "equal": "{0} == {1} ? 1.0 : 0.0",
    "select": "{0} != 0.0 ? {1} : {2}",
}
"""How each operation is written in C."""

_TAKEN = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|"
    "restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while|main|"
    "sqrt|sin|cos|tan|asin|acos|atan2|exp|log|fabs|copysign|acosh|asinh|atan|atanh|cbrt|ceil|cosh|erf|erfc|exp2|expm1|"
    "fdim|floor|fma|fmax|fmin|fmod|frexp|hypot|ilogb|ldexp|lgamma|llrint|llround|log10|log1p|log2|logb|lrint|lround|"
    "modf|nan|nearbyint|nextafter|nexttoward|pow|remainder|remquo|rint|round|scalbln|scalbn|sinh|tanh|tgamma|trunc|"
    "fpclassify|isfinite|isinf|isnan|isnormal|signbit|isgreater|isless|isunordered"
)
"""Words of C, and what <math.h> declares."""

_LOADED = "kane_program"
"""Name of a function that is loaded into this process, whatever its program is called: a function `random` or `index`
would give way to the one of the C library when the function over a batch calls it."""

_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared")


def to_c(
    program: Program, name: str | None = None, elements: Mapping[str, Sequence[Sequence[str]]] | None = None
) -> tuple[str, str]:
    """(header, source) of `void name(const double *in, double *out)`; `name` is made from the program's if not given.

    The source includes `name.h`. Comments say which element is which input or output. `elements` names those of
    outputs, by the output, along each of its dimensions.
    """
    known = elements or {}
    named = {o.name: x for o in program.outputs if tuple(map(len, x := known.get(o.name, ()))) == o.shape}
    name = _function_name(program, name)
    macro = name.upper()
    header = [
        f"/* {_escape_comment(program.name)}: {len(program.rows)} operations on {program.input_count} inputs.",
        "",
        "   in:",
        *_places((g.name, g.labels) for g in program.inputs),
        "   out, row by row:",
        *_places((o.name, _element_names(o.name, o.shape, named.get(o.name, ()))) for o in program.outputs),
        "*/",
        f"#ifndef {macro}_H",
        f"#define {macro}_H",
        "",
        f"#define {macro}_INPUTS {program.input_count}",
        f"#define {macro}_OUTPUTS {program.output_count}",
        "",
        *_offsets(f"{macro}_IN", [(g.name, (len(g),), (g.labels,)) for g in program.inputs]),
        *_offsets(f"{macro}_OUT", [(o.name, o.shape, named.get(o.name, ())) for o in program.outputs]),
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        f"void {name}(const double *in, double *out);",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
        "",
    ]
    return "\n".join(header), _source(program, name)


def _offsets(stem: str, parts: Sequence[tuple[str, tuple[int, ...], Sequence[Sequence[str]]]]) -> list[str]:
    """Macros with the place of the first element of each group, how many it has and, of a matrix, how many in a row;
    then the places of its elements, of a matrix those of its rows, or of the parts of an array, and the numbers of its
    columns, unless a group is so called: `udot_u` is the derivative by u."""
    lines, place = list[str](), 0
    used = {f"{part}{end}" for part, _, _ in parts for end in ("", "_SIZE", "_COLUMNS")}
    for part, shape, labels in parts:
        size = math.prod(shape)
        own = [(part, place), (f"{part}_SIZE", size)]
        own += [(f"{part}_COLUMNS", shape[-1])] if len(shape) > 1 else []
        lines += [f"#define {stem}_{name} {number}" for name, number in own]
        names: list[tuple[str, int]] = []
        if labels:
            step = math.prod(shape[1:])
            names += [(f"{part}_{_as_word(label)}", place + k * step) for k, label in enumerate(labels[0])]
        if len(labels) > 1:
            names += [(f"{part}_COLUMN_{_as_word(label)}", k) for k, label in enumerate(labels[-1])]
        for name, number in names:
            if name not in used:
                lines.append(f"#define {stem}_{name} {number}")
                used.add(name)
        place += size
    return lines


def _source(program: Program, name: str) -> str:
    labels = [label for g in program.inputs for label in g.labels]
    shown = [f"in[{k}]" for k in range(len(labels))] + [_number(c) for c in program.constants]
    used = {a for row in program.rows for a in row.args if a < len(labels)}
    lines = [f'#include "{name}.h"', "", "#include <math.h>", "", f"void {name}(const double *in, double *out)", "{"]
    for k in sorted(used):
        shown[k] = f"x{k}"
        lines.append(f"    const double x{k} = in[{k}]; /* {_escape_comment(labels[k])} */")
    for i, row in enumerate(program.rows):
        comment = program.comments.get(program.first_row + i)
        shown.append(f"z{i + 1}")
        right = C_OPERATIONS[row.op].format(*(shown[a] for a in row.args))
        lines.append(
            f"    const double z{i + 1} = {right};" + (f" /* {_escape_comment(comment)} */" if comment else "")
        )
    if not program.input_count:
        lines.append("    (void)in;")
    elements = [(s, e) for o in program.outputs for s, e in zip(o.slots, _element_names(o.name, o.shape), strict=True)]
    lines += [f"    out[{k}] = {shown[s]}; /* {_escape_comment(e)} */" for k, (s, e) in enumerate(elements)]
    return "\n".join([*lines, "}", ""])


def _as_word(label: str) -> str:
    """A name of an element as part of a name in C."""
    return re.sub(r"[^A-Za-z0-9_]", "_", label.replace("'", "_dot"))


def _function_name(program: Program, name: str | None) -> str:
    if name is None:
        name = re.sub(r"\W+", "_", program.name, flags=re.ASCII).strip("_") or "program"
        if name[0].isdigit() or _TAKEN.fullmatch(name):
            name = f"program_{name}"
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII) or _TAKEN.fullmatch(name):
        raise KaneError(
            f"'{name}' cannot name a function in C\n    fix: use letters, digits and _, no word of C itself"
        )
    return name


def _number(value: float) -> str:
    """A constant that reads back to the same bits; in brackets if negative, so that a sign change stays legible."""
    return repr(value) if value >= 0 else f"({value!r})"


def _escape_comment(text: str) -> str:
    """`text` so that it cannot end the comment it stands in."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")


def _places(parts: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    lines, place = [], 0
    for part, labels in parts:
        for label in labels:
            lines.append(f"     [{place}] {_escape_comment(part)}: {_escape_comment(label)}")
            place += 1
    return lines


def _element_names(name: str, shape: tuple[int, ...], labels: Sequence[Sequence[str]] = ()) -> list[str]:
    """`name`, or `name[i, j]` for each element of an array, row by row, by the labels of its dimensions or else counted
    from 0; elements of a row with labels have these alone."""
    if len(labels) == 1:
        return list(labels[0])
    names = [""]
    for along in labels or [list(map(str, range(n))) for n in shape]:
        names = [f"{head}, {label}" if head else label for head in names for label in along]
    return [f"{name}[{index}]" for index in names] if shape else [name]


_BATCH = """
#include <stdint.h>
#include <stdlib.h>

int64_t NAME_batch(int64_t n, const double *const *in, const int64_t *in_stride, double *const *out)
{
    static const int64_t in_size[] = {IN_SIZES 0}, out_size[] = {OUT_SIZES 0};
    double *x = malloc(sizeof(double) * (NAME_INPUTS + NAME_OUTPUTS + 1)), *y = x + NAME_INPUTS;
    double seen = 0.0;
    for (int64_t i = 0; i < n; i++) {
        int64_t p = 0;
        for (int64_t g = 0; g < GROUPS; g++)
            for (int64_t k = 0; k < in_size[g]; k++) {
                x[p] = in[g][i * in_stride[g] + k];
                seen += x[p] * 0.0;
                p++;
            }
        FUNCTION(x, y);
        p = 0;
        for (int64_t o = 0; o < RESULTS; o++)
            for (int64_t k = 0; k < out_size[o]; k++)
                out[o][i * out_size[o] + k] = y[p++];
    }
    free(x);
    return seen != seen;
}
"""


class CCode:
    """A program compiled by the system's C compiler and loaded."""

    def __init__(self, program: Program):
        self._program = program
        name = _LOADED
        header, source = to_c(program, name)
        sizes = {
            "NAME_batch": f"{name}_batch",
            "NAME_INPUTS": str(program.input_count),
            "NAME_OUTPUTS": str(program.output_count),
            "IN_SIZES": "".join(f"{len(g)}, " for g in program.inputs),
            "OUT_SIZES": "".join(f"{len(o.slots)}, " for o in program.outputs),
            "GROUPS": str(len(program.inputs)),
            "RESULTS": str(len(program.outputs)),
            "FUNCTION": name,
        }
        batch = re.sub("|".join(sizes), lambda match: sizes[match[0]], _BATCH)
        self._library = _build_library(name, header, source + batch)
        self._flat = self._library[name]
        self._batch = BATCH_FUNCTION((f"{name}_batch", self._library))

    @property
    def address(self) -> int:
        return ctypes.cast(self._flat, ctypes.c_void_p).value or 0

    @property
    def batch_address(self) -> int:
        return ctypes.cast(self._batch, ctypes.c_void_p).value or 0

    def run(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        return run_batch(self._program, self._batch, arrays, batch, workers=1)


def _build_library(name: str, header: str, source: str) -> ctypes.CDLL:
    compiler = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise KaneError(
            "the backend 'c' needs a C compiler and found none\n"
            "    fix: install one, name it in the environment variable CC, or use backend='llvm', which needs none"
        )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / f"{name}.h").write_text(header, encoding="utf-8")
        (place / f"{name}.c").write_text(source, encoding="utf-8")
        target = place / f"{name}.so"
        command = [compiler, *_FLAGS, "-o", str(target), str(place / f"{name}.c"), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise KaneError(f"the C compiler {compiler} refused the program '{name}':\n{done.stderr}")
        return ctypes.CDLL(str(target))


def compile_c(program: Program) -> Kernel:
    """The kernel of `program` compiled by the system's C compiler."""
    return Kernel(program, "c", CCode(program))
