"""A Program is the Z list ready to run: inputs, constants, one operation per row, named outputs.

Values live in numbered slots: first the inputs in order of their groups, then the constants, then one slot per row.
A row uses only slots before its own. `verify` is the executable definition of a valid program; `str(program)` prints
it and `parse` (module `text`) reads it back as the same program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, NoReturn

from ..advice import values_to_give
from ..errors import ExpressionError, ProgramError
from ..markup import code_block, details, paragraph
from .comments import comments_of
from .graph import CONST, INPUT, Expr
from .live import Live
from .ops import COUNTED, TABLE
from .simplify import shorten

STAGES = ("parameters", "q", "u", "rest")
"""What a value depends on: parameters only → also coordinates and time → also speeds → also anything else."""

_SHOWN = 60  # lines of a program that a notebook shows unfolded


@dataclass(frozen=True, slots=True)
class Inputs:
    """A named group of inputs: `q` with one label per coordinate, say."""

    name: str
    labels: tuple[str, ...]
    stage: str = "rest"

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Outputs:
    """A named output: an array of `shape`, flattened row by row into `slots`."""

    name: str
    shape: tuple[int, ...]
    slots: tuple[int, ...]


class ProgramRow(NamedTuple):
    """One operation on slots."""

    op: str
    args: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """A straight-line program over float64."""

    name: str
    inputs: tuple[Inputs, ...]
    constants: tuple[float, ...]
    rows: tuple[ProgramRow, ...]
    outputs: tuple[Outputs, ...]
    comments: Mapping[int, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        verify(self)

    @property
    def input_count(self) -> int:
        return sum(len(g) for g in self.inputs)

    @property
    def first_row(self) -> int:
        """The slot of the first row."""
        return self.input_count + len(self.constants)

    @property
    def output_count(self) -> int:
        return sum(len(o.slots) for o in self.outputs)

    def group(self, name: str) -> Inputs:
        for g in self.inputs:
            if g.name == name:
                return g
        raise ProgramError(f"program '{self.name}' has no inputs '{name}'; it has {[g.name for g in self.inputs]}")

    def stages(self) -> tuple[int, ...]:
        """For each row the index in STAGES of the latest stage it depends on."""
        slot_stage: list[int] = []
        for g in self.inputs:
            slot_stage += [STAGES.index(g.stage)] * len(g)
        slot_stage += [0] * len(self.constants)
        for row in self.rows:
            slot_stage.append(max(slot_stage[a] for a in row.args))
        return tuple(slot_stage[self.first_row :])

    def count(self, stage: str | None = None) -> dict[str, int]:
        """How many operations of each kind one evaluation takes, in all or in one stage."""
        table = dict.fromkeys(COUNTED, 0)
        wanted = None if stage is None else STAGES.index(stage)
        for row, s in zip(self.rows, self.stages(), strict=True):
            if wanted is None or s == wanted:
                table[TABLE[row.op].kind] += 1
        return table

    def __str__(self) -> str:
        return self._text

    def count_text(self) -> str:
        """How many lines and operations there are, in words."""
        found = ", ".join(f"{n} {kind}" for kind, n in self.count().items() if n)
        return f"{self.name}: {len(self.rows)} lines, {found or 'nothing to compute'}"

    def _repr_html_(self) -> str:
        """For notebooks: the count, and the text, folded where it is long."""
        written = code_block(str(self).rstrip("\n"))
        long = len(self.rows) > _SHOWN
        return paragraph(self.count_text()) + (details("all lines", written) if long else written)

    @cached_property
    def _text(self) -> str:
        """Printed once: it is also what compiled code is remembered by."""
        from .text import program_text  # the text of a program is its own module; it builds programs, so it comes after

        return program_text(self)


def verify(program: Program) -> None:
    """Raise ProgramError unless `program` is valid: known operations, right arity, earlier slots, unique names."""

    def refuse(why: str) -> NoReturn:
        raise ProgramError(f"program '{program.name}' is not valid: {why}")

    _verify_names(program, refuse)
    if not all(math.isfinite(c) for c in program.constants):
        refuse("a constant is not finite")
    slot = program.first_row
    for row in program.rows:
        op = TABLE.get(row.op)
        if op is None:
            refuse(f"z{slot} uses the unknown operation '{row.op}'")
        if len(row.args) != op.arity:
            refuse(f"{row.op} takes {op.arity} arguments, z{slot} gives {len(row.args)}")
        if min(row.args) < 0 or max(row.args) >= slot:
            refuse(f"z{slot} uses a value that is not computed before it")
        slot += 1
    for out in program.outputs:
        if math.prod(out.shape) != len(out.slots) or any(n < 0 for n in out.shape):
            refuse(f"output '{out.name}' of shape {out.shape} has {len(out.slots)} values")
        if not all(0 <= s < slot for s in out.slots):
            refuse(f"output '{out.name}' names a value that does not exist")


def _verify_names(program: Program, refuse: Callable[[str], NoReturn]) -> None:
    """Refuse names that are not unique, labels that are not words, and unknown stages."""
    labels = [label for g in program.inputs for label in g.labels]
    if len(set(labels)) != len(labels):
        refuse("two inputs share a label")
    for what, names in (("inputs", [g.name for g in program.inputs]), ("outputs", [o.name for o in program.outputs])):
        if len(set(names)) != len(names):
            refuse(f"two groups of {what} share a name")
    for label in labels:
        if not _is_word(label):
            refuse(f"the label {label!r} is not a word: letters, digits and signs without blanks, commas, ( ) or #")
    if any(g.stage not in STAGES for g in program.inputs):
        refuse(f"a stage is not one of {STAGES}")


def _is_word(label: str) -> bool:
    """Whether a label can stand in the text of a program without being taken for a number or for several words."""
    if not label or any(c.isspace() or c in ",()#" for c in label):
        return False
    try:
        float(label)
    except ValueError:
        return True
    return False


def free_prefix(letter: str, labels: Iterable[str]) -> str:
    """`letter`, repeated until none of `labels` is that and a number."""
    prefix = letter
    taken = set(labels)
    while any(label.startswith(prefix) and label[len(prefix) :].isdecimal() for label in taken):
        prefix += letter
    return prefix


def lower(
    name: str,
    inputs: Sequence[Inputs],
    outputs: Mapping[str, tuple[tuple[int, ...], Sequence[Expr]]],
    *,
    simplify: bool = True,
    optional: Container[str] = (),
) -> Program:
    """The program that computes `outputs` (name → shape, flat expressions) from `inputs`, dead code removed; groups of
    inputs named in `optional` are left out where nothing depends on them."""
    exprs = [e for _, flat in outputs.values() for e in flat]
    if not exprs:
        raise ProgramError(f"program '{name}' has no outputs")
    noted = exprs
    if simplify:
        exprs = shorten(
            exprs, {label: STAGES.index(g.stage) for g in inputs if g.stage in STAGES for label in g.labels}
        )
    graph = exprs[0].graph
    ops, args = graph.ops, graph.args
    nodes = Live(graph, tuple(e.id for e in exprs)).nodes
    used = {args[n][0] for n in nodes if ops[n] == INPUT}
    inputs = [g for g in inputs if g.name not in optional or not used.isdisjoint(g.labels)]
    slot: dict[int, int] = {}
    for label in (label for g in inputs for label in g.labels):
        place = len(slot)
        slot[graph.inputs[label] if label in graph.inputs else -1 - place] = place
    for label in used:
        if graph.inputs[label] not in slot:
            raise ExpressionError(
                f"program '{name}' depends on '{label}', which is not among its inputs and has no value\n"
                f"    fix: give it a value, by {values_to_give([label])}, or make it an input (free)"
            )
    made = [n for n in nodes if ops[n] not in (CONST, INPUT)]
    constants = dict.fromkeys([a for n in made for a in args[n] if ops[a] == CONST])  # in order of first use
    constants.update((e.id, None) for e in exprs if ops[e.id] == CONST)
    for n in (*constants, *made):
        slot[n] = len(slot)
    rows = tuple([ProgramRow(ops[n], tuple([slot[a] for a in args[n]])) for n in made])
    placed, start = [], 0
    for out, (shape, flat) in outputs.items():
        stop = start + len(flat)
        placed.append(Outputs(out, shape, tuple(slot[e.id] for e in exprs[start:stop])))
        start = stop
    comments = {slot[n]: note for n, note in comments_of(noted, exprs).items()}
    return Program(name, tuple(inputs), tuple(args[n][0] for n in constants), rows, tuple(placed), comments)


def _assemble(
    name: str,
    groups: tuple[Inputs, ...],
    constants: Sequence[float],
    rows: Sequence[ProgramRow],
    outputs: Sequence[Outputs],
    comments: Mapping[int, str],
) -> Program:
    """The program with unused constants dropped and the others in order of first use, as its text has them."""
    low = sum(len(g) for g in groups)
    high = low + len(constants)
    used: dict[int, None] = {}
    for slots in (*(r.args for r in rows), *(o.slots for o in outputs)):
        used.update((s, None) for s in slots if low <= s < high)
    place = {s: low + i for i, s in enumerate(used)}
    shift = len(constants) - len(used)

    def new_slot(s: int) -> int:
        return s if s < low else place[s] if s < high else s - shift

    return Program(
        name,
        groups,
        tuple(constants[s - low] for s in used),
        tuple(ProgramRow(r.op, tuple(new_slot(a) for a in r.args)) for r in rows),
        tuple(Outputs(o.name, o.shape, tuple(new_slot(s) for s in o.slots)) for o in outputs),
        {new_slot(s): c for s, c in comments.items()},
    )


def hoist(program: Program, stage: str) -> tuple[Program, Program]:
    """(prelude, body): the work of all stages up to `stage` done once, its results an input `hoisted` of the body.

    The prelude takes the inputs of those stages; the body takes all inputs and the prelude's results.
    """
    limit = STAGES.index(stage)
    early = [s <= limit for s in program.stages()]
    base = program.first_row
    is_early = [False] * base + early
    needed: dict[int, None] = {}
    for i, row in enumerate(program.rows):
        if not early[i]:
            needed.update((a, None) for a in row.args if is_early[a])
    for out in program.outputs:
        needed.update((s, None) for s in out.slots if is_early[s])
    kept = tuple(needed)
    groups = tuple(g for g in program.inputs if STAGES.index(g.stage) <= limit)
    prelude = _select(program, f"{program.name}.{stage}", groups, (), early, (Outputs("hoisted", (len(kept),), kept),))
    late = [not e for e in early]
    body = _select(program, program.name, program.inputs, kept, late, program.outputs)
    return prelude, body


def _select(
    program: Program,
    name: str,
    groups: tuple[Inputs, ...],
    given: tuple[int, ...],
    keep: Sequence[bool],
    outputs: tuple[Outputs, ...],
) -> Program:
    """The rows marked in `keep` as a program of their own; slots in `given` come in as the inputs `hoisted`."""
    place: dict[int, int] = {}
    offset = 0
    for g in program.inputs:
        if g in groups:
            for k in range(len(g)):
                place[offset + k] = len(place)
        offset += len(g)
    if given:
        h = free_prefix("h", [label for g in groups for label in g.labels])
        groups += (Inputs("hoisted", tuple(f"{h}{i + 1}" for i in range(len(given))), "parameters"),)
        for s in given:
            place[s] = len(place)
    base = program.first_row
    for s in range(program.input_count, base):
        place[s] = len(place)
    rows = []
    for i, row in enumerate(program.rows):
        if keep[i]:
            rows.append(ProgramRow(row.op, tuple(place[a] for a in row.args)))
            place[base + i] = len(place)
    comments = {place[s]: c for s, c in program.comments.items() if s in place and s not in given}
    out = [Outputs(o.name, o.shape, tuple(place[s] for s in o.slots)) for o in outputs]
    return _assemble(name, groups, program.constants, rows, out, comments)
