"""The text of a program, and back: `parse(str(program)) == program`.

program pendulum
input q [q]: q1
input tau [rest]: tau1
z1 = sin(q1)  # gravity
z2 = 9.81 * z1
z3 = tau1 - z2
output udot (1): z3

Where an input is itself called z1, say, the rows are zz1, zz2 and so on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ..errors import ProgramError
from .ops import TABLE
from .program import STAGES, Inputs, Outputs, Program, ProgramRow, free_prefix

_INFIX = {op.infix: op.name for op in TABLE.values() if op.infix}
_INPUT = re.compile(r"input (\S+) \[(\w+)\]:(.*)$")
_OUTPUT = re.compile(r"output (\S+) \(([^()]*)\):(.*)$")
_ROW = re.compile(r"(z+[0-9]{1,9}) = (.*)$")
_SHAPE = re.compile(r"(?:[0-9]{1,9}(?:, ?[0-9]{1,9})*,?)?")
_CALL = re.compile(r"(\w+)\((.*)\)$")


def program_text(program: Program) -> str:
    """The program as text: inputs, one z per line with its provenance, outputs."""
    names = [label for g in program.inputs for label in g.labels]
    z = free_prefix("z", names)
    names += [repr(c) for c in program.constants]
    lines = [f"program {program.name}"]
    lines += [f"input {g.name} [{g.stage}]: {' '.join(g.labels)}".rstrip() for g in program.inputs]
    infix = {op.name: op.infix for op in TABLE.values()}
    for i, row in enumerate(program.rows, start=1):
        shown = [names[a] for a in row.args]
        sign = infix[row.op]
        right = f"{shown[0]} {sign} {shown[1]}" if sign else f"{row.op}({', '.join(shown)})"
        comment = program.comments.get(len(names))
        name = f"{z}{i}"
        names.append(name)
        lines.append(f"{name} = {right}  # {' '.join(comment.split())}" if comment else f"{name} = {right}")
    for out in program.outputs:
        shape = ", ".join(str(n) for n in out.shape)
        lines.append(f"output {out.name} ({shape}): {' '.join(names[s] for s in out.slots)}".rstrip())
    return "\n".join(lines) + "\n"


def parse(text: str) -> Program:
    """The program that `text` prints."""
    return _ProgramReader(text).program()


class _ProgramReader:
    """One pass over the lines. Constants take slots before all rows, so rows are placed when all lines are read."""

    def __init__(self, text: str):
        self.lines = text.splitlines()
        self.groups: list[Inputs] = []
        self.slots: dict[str, int] = {}
        self.constants: dict[float, int] = {}
        self.rows: list[tuple[str, list[str], int]] = []
        self.outputs: list[tuple[str, tuple[int, ...], list[str], int]] = []
        self.comments: dict[int, str] = {}
        self.z = "z"

    def is_row(self, name: str) -> bool:
        return name.startswith(self.z) and name[len(self.z) :].isdecimal()

    def refuse(self, number: int, why: str) -> ProgramError:
        return ProgramError(f"program text, line {number}: {why}")

    def program(self) -> Program:
        if not self.lines or not self.lines[0].startswith("program "):
            raise self.refuse(1, "expected 'program NAME'")
        for number, line in enumerate(self.lines[1:], start=2):
            if line.strip() and not line.startswith("#"):
                self.line(number, line)
        inputs = len(self.slots)
        for _, args, number in self.rows:
            self.collect_constants(args, number)
        for _, _, values, number in self.outputs:
            self.collect_constants(dict.fromkeys(values), number)  # a matrix has many zeros
        base = inputs + len(self.constants)
        for value, i in self.constants.items():
            self.slots[repr(value)] = inputs + i
        rows = []
        for i, (op, args, number) in enumerate(self.rows):
            rows.append(ProgramRow(op, tuple([self.slot(a, number) for a in args])))
            self.slots[f"{self.z}{i + 1}"] = base + i
        outputs = tuple(
            Outputs(name, shape, self.output_slots(values, number)) for name, shape, values, number in self.outputs
        )
        comments = {base + i: c for i, c in self.comments.items()}
        name = self.lines[0][len("program ") :].strip()
        return Program(name, tuple(self.groups), tuple(self.constants), tuple(rows), outputs, comments)

    def line(self, number: int, line: str) -> None:
        right, _, comment = line.partition("  # ")
        if match := _ROW.match(right):
            expected = f"{self.z}{len(self.rows) + 1}"
            if match[1] != expected:
                raise self.refuse(number, f"expected {expected}, found {match[1]}")
            if comment:
                self.comments[len(self.rows)] = comment
            op, args = self.operation(number, match[2])
            if len(args) != TABLE[op].arity:
                raise self.refuse(number, f"{op} takes {TABLE[op].arity} arguments, {len(args)} given")
            self.rows.append((op, args, number))
        elif match := _INPUT.match(line):
            if match[2] not in STAGES:
                raise self.refuse(number, f"the stage '{match[2]}' is not one of {', '.join(STAGES)}")
            labels = tuple(match[3].split())
            self.groups.append(Inputs(match[1], labels, match[2]))
            for label in labels:
                if label in self.slots:
                    raise self.refuse(number, f"two inputs share the label '{label}'")
                self.slots[label] = len(self.slots)
            self.z = free_prefix("z", self.slots)
        elif match := _OUTPUT.match(line):
            if not _SHAPE.fullmatch(match[2]):
                raise self.refuse(number, f"({match[2]}) is not a shape")
            shape = tuple(int(n) for n in match[2].split(",") if n.strip())
            values = match[3].split()
            if math.prod(shape) != len(values):
                raise self.refuse(number, f"output '{match[1]}' of shape {shape} has {len(values)} values")
            self.outputs.append((match[1], shape, values, number))
        else:
            raise self.refuse(number, f"cannot read {line!r}")

    def operation(self, number: int, text: str) -> tuple[str, list[str]]:
        words = text.split(" ")
        if len(words) == 3 and words[1] in _INFIX:
            return _INFIX[words[1]], [words[0], words[2]]
        if call := _CALL.match(text):
            if call[1] not in TABLE:
                raise self.refuse(number, f"unknown operation '{call[1]}'")
            return call[1], [a.strip() for a in call[2].split(",")]
        raise self.refuse(number, f"cannot read {text!r}")

    def output_slots(self, names: list[str], number: int) -> tuple[int, ...]:
        places = {name: self.slot(name, number) for name in dict.fromkeys(names)}
        return tuple(map(places.__getitem__, names))

    def collect_constants(self, names: Iterable[str], number: int) -> None:
        for name in names:
            if name in self.slots or self.is_row(name):
                continue
            try:
                value = float(name) + 0.0  # -0.0 and 0.0 are one constant
            except ValueError:
                raise self.refuse(number, f"unknown value '{name}'") from None
            if not math.isfinite(value):
                raise self.refuse(number, f"the constant {name} is not finite")
            self.constants.setdefault(value, len(self.constants))

    def slot(self, name: str, number: int) -> int:
        place = self.slots.get(name)
        if place is None and not self.is_row(name):
            place = self.slots.get(repr(float(name) + 0.0))
        if place is None:
            raise self.refuse(number, f"'{name}' is used before it is computed")
        return place
