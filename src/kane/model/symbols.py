"""Names and scalars of a description: parameters, coordinates, speeds, and what is written in them.

Every scalar may be a number, an expression in a string, or an expression built in Python; what comes out is an
expression of the description's graph, or a ModelError that says where the fault is.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from types import MappingProxyType
from typing import Any

from ..errors import ExpressionError, ModelError, NamedTable, Problem, excerpt, suggestion
from ..graph import Expr, Graph, evaluate, reachable
from ..graph.graph import INPUT
from ..space import rotations
from ..space.algebra import Matrix, Triple, scaled
from .expression import parse_expression
from .records import Coordinate, Parameter, Speed
from .size import MOST_COORDINATES

Quantity = Expr | float | str
_NAME_LENGTH = 200  # characters; other programs' names of links and joints are words or short phrases
_RESERVED = {"t", "pi", "deg", "and", "or", "not"}
_UNIT_TOLERANCE = rotations.UNIT_TOLERANCE
_LAST_BITS = 4e-16  # an axis that was normalised before stays as it is
_ORIENTATION = "give {axis, angle}, {euler, angles}, {quaternion: [w, x, y, z]} or {matrix: three rows}"
_LETTERS = {"x": 0, "y": 1, "z": 2}


def is_name(text: str) -> bool:
    """Whether bodies, joints and loads may be called so: printable, not blank at its ends, not too long."""
    return 0 < len(text) <= _NAME_LENGTH and text.isprintable() and text == text.strip()


def _name_hint(name: object) -> str:
    """How a name of a symbol that is none is written: letters of the Greek alphabet by their names."""
    if isinstance(name, str) and not name.isascii():
        spelled = "".join(c if c.isascii() else _GREEK_WORD.sub("", unicodedata.name(c, "?")).lower() for c in name)
        if spelled.isidentifier():
            return f"write '{spelled}'" + (f": it is shown as {name}" if len(name) == 1 else "")
    return "start with a letter; use letters of the Latin alphabet, digits and _"


_GREEK_WORD = re.compile(r"^GREEK (SMALL|CAPITAL) LETTER |^GREEK | SYMBOL$")


class _Defaults(Mapping[str, float]):
    """Parameters by name → their defaults."""

    def __init__(self, parameters: Mapping[str, Parameter]):
        self._parameters = parameters

    def __getitem__(self, name: str) -> float:
        return self._parameters[name].value

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)


class ParameterSymbols(Mapping[str, Expr]):
    """Parameters by name → their symbols."""

    def __init__(self, parameters: Mapping[str, Parameter]):
        self._parameters = parameters

    def __getitem__(self, name: str) -> Expr:
        return self._parameters[name].symbol

    def __contains__(self, name: object) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)


class _SameNames(Mapping[str, Expr]):
    """Known names as inputs of another graph, each made when it is asked for."""

    def __init__(self, graph: Graph, known: Mapping[str, Expr]):
        self._graph, self._known = graph, known

    def __getitem__(self, name: str) -> Expr:
        if name not in self._known:
            raise KeyError(name)
        return self._graph.input(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


@dataclass(frozen=True, slots=True)
class KnownRotation:
    """An orientation by its matrix, which was made of angles or a unit vector, or was judged before; whether that
    depends on parameters only, and is finite, is known as well."""

    matrix: Matrix
    fixed: bool = False


class Symbols:
    """Parameters, coordinates and speeds of one description, and expressions over them."""

    def __init__(self, name: str, about: str):
        self.name = str(name)
        self.about = about
        self.revision: int = 0  # grows with every change of the description
        self.graph = Graph()
        self.time = self.graph.input("t")
        self.zero = self.graph.const(0.0)
        self.zeros: Triple = (self.zero, self.zero, self.zero)
        self.unturned: Matrix = rotations.identity(self.graph)
        self._unit_vectors: dict[tuple[int, int, int], Triple] = {}  # nodes of an axis in numbers → the unit vector
        for e in self.unturned:
            self._unit_vectors[e[0].id, e[1].id, e[2].id] = e
        self.parameters: dict[str, Parameter] = NamedTable("parameter")
        self.coordinate_records: dict[str, Coordinate] = NamedTable("coordinate")
        self.speed_records: dict[str, Speed] = NamedTable("speed")
        self.motion_variables: dict[str, Expr] = {}
        self.variable_places: dict[str, int] = {}  # motion variable → its place among them
        self.default_speeds: dict[str, str] = {}  # motion variable → name of the speed that is equal to it by default
        self.coordinate_rates: dict[Expr, Expr] = {}  # coordinate symbol → its rate in motion variables
        self._names: dict[str, Expr] = {"t": self.time}
        self._speeds_chosen = False
        self._coordinates_declared = 0  # outside joints
        self.duration: float | None = None  # s, of a motion worth looking at; None where nothing is said

    # names -----------------------------------------------------------------------------------------------------------

    def where(self, what: str) -> str:
        return f"model '{self.name}' / {what}"

    def names(self) -> dict[str, Expr]:
        """All names an expression may use: parameters, t, coordinates, their rates (q1'), speeds."""
        return dict(self._names)

    @property
    def known_names(self) -> Mapping[str, Expr]:
        """The same names, as they are now and will be: a view, for those who look up a few."""
        return MappingProxyType(self._names)

    def new_name(self, name: str, kind: str, taken: Mapping[str, Any], symbol: bool = False) -> str:
        self.revision += 1
        fits = isinstance(name, str) and (name.isidentifier() and name.isascii() if symbol else is_name(name))
        if fits and name not in taken and not (symbol and name in _RESERVED):
            return name
        where = self.where(f"{kind} '{excerpt(name)}'")
        if not fits:
            how = _name_hint(name) if symbol else "use printable characters on one line"
            raise ModelError(Problem(where, f"'{excerpt(name)}' is not a name", fix=how))
        if symbol and name in _RESERVED:
            raise ModelError(Problem(where, f"'{name}' is reserved for expressions", fix="choose another name"))
        raise ModelError(
            Problem(where, f"the name '{name}' is already in use", "names are unique", "rename one of the two")
        )

    def find(self, kind: str, name: str, table: Mapping[str, Any], where: str) -> Any:
        if isinstance(name, str) and name in table:
            return table[name]
        raise ModelError(
            Problem(self.where(where), f"unknown {kind} '{excerpt(name)}'", fix=suggestion(str(name), table))
        )

    # scalars ---------------------------------------------------------------------------------------------------------

    def scalar(self, value: Quantity, where: str, names: Mapping[str, Expr] | None = None) -> Expr:
        """`value` as an expression of this description."""
        if type(value) is Expr and value.graph is self.graph:  # by far the most, then numbers
            return value
        if type(value) is float and math.isfinite(value):
            return self.graph.const(value) if value else self.zero
        if isinstance(value, Expr):
            return self.graph.lift(value)
        if isinstance(value, str):
            if names is None and value in self._names:  # most expressions are a name
                return self._names[value]
            try:
                return parse_expression(value, self.graph, self._names if names is None else names)
            except ExpressionError as error:
                raise ModelError(Problem(self.where(where), str(error))) from None
        return self.graph.const(self.finite(value, where))

    def finite(self, value: Any, where: str) -> float:
        """`value` as a finite number."""
        if isinstance(value, Real) and not isinstance(value, bool):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if math.isfinite(number):
                return number
        raise ModelError(
            Problem(self.where(where), f"{excerpt(value)} is not a finite number", fix="give a number or an expression")
        )

    def triple(self, values: Sequence[Quantity], where: str, names: Mapping[str, Expr] | None = None) -> Triple:
        if type(values) is tuple and len(values) == 3:  # most have been made already
            x, y, z = values
            if type(x) is type(y) is type(z) is Expr and x.graph is y.graph is z.graph is self.graph:
                return (x, y, z)
        x, y, z = (self.scalar(v, where, names) for v in self.components(values, where))
        return (x, y, z)

    def components(self, values: Sequence[Quantity], where: str) -> Sequence[Quantity]:
        """Three components as they are, which may be texts in parameters that come later."""
        if (plain := getattr(values, "tolist", None)) is not None:  # an array
            values = plain()
        if isinstance(values, (str, Expr)) or not isinstance(values, Sequence) or len(values) != 3:
            raise ModelError(
                Problem(self.where(where), f"{values!r} is not a list of three components", fix="write [x, y, z]")
            )
        return values

    def number(self, expr: Expr, where: str) -> float:
        """The value of an expression at the parameters' defaults; refuses one that depends on the motion."""
        return expr.number if expr.number is not None else self.numbers([expr], where)[0]

    def numbers(self, exprs: Sequence[Expr], where: str) -> list[float]:
        """The values of expressions at the parameters' defaults; refuses any that depends on the motion."""
        try:
            return evaluate(exprs, _Defaults(self.parameters))
        except ExpressionError as error:
            if len(exprs) > 1:
                return [self.number(e, where) for e in exprs]  # the first of them that has none says why
            moving = next((name for name in self.inputs_of(exprs) if name not in self.parameters), None)
            what = str(error) if moving is None else f"it depends on '{moving}'"
            raise ModelError(Problem(self.where(where), what, "this quantity may depend on parameters only")) from None

    def number_of_text(self, text: str, where: str) -> float:
        """The number that an expression in a string has at the parameters' defaults, as `number` gives it.

        It is read into a graph of its own: the description stays as it is, so any number of threads may ask.
        """
        try:
            expr = parse_expression(text, scratch := Graph(), _SameNames(scratch, self._names))
        except ExpressionError as error:
            raise ModelError(Problem(self.where(where), str(error))) from None
        return self.number(expr, where)

    def values_of(self, exprs: Sequence[Expr]) -> dict[str, float]:
        """Defaults of those parameters that occur in expressions."""
        return {name: self.parameters[name].value for name in self.inputs_of(exprs) if name in self.parameters}

    def inputs_of(self, exprs: Sequence[Expr]) -> list[str]:
        """Names that occur in expressions of one graph."""
        if not exprs:
            return []
        graph = exprs[0].graph
        return [graph.args[n][0] for n in reachable(graph, [e.id for e in exprs]) if graph.ops[n] == INPUT]

    def constant(self, exprs: Sequence[Expr], where: str) -> None:
        """Refuse expressions that depend on more than parameters, or are not finite at the parameters' defaults."""
        written = [e for e in exprs if e.number is None]
        for expr, value in zip(written, self.numbers(written, where) if written else (), strict=True):
            if not math.isfinite(value):
                raise ModelError(
                    Problem(
                        self.where(where), f"{expr!r} is {value:g} at the parameters' defaults", "values are finite"
                    )
                )

    def fixed_triple(self, values: Sequence[Quantity], where: str) -> Triple:
        """Three components that depend on parameters only."""
        triple = self.triple(values, where)
        self.constant(triple, where)
        return triple

    # orientations ----------------------------------------------------------------------------------------------------

    def rotation(self, spec: Mapping[str, Any] | KnownRotation | None, where: str) -> Matrix:
        """The matrix of an orientation: {axis, angle}, {euler, angles}, {quaternion} (wxyz) or {matrix} (rows)."""
        if isinstance(spec, KnownRotation):
            return spec.matrix
        if not spec:
            return self.unturned
        if not isinstance(spec, Mapping):
            raise ModelError(Problem(self.where(where), f"{spec!r} is no orientation", fix=_ORIENTATION))
        spec = dict(spec)
        keys = frozenset(spec)
        try:
            if keys == {"axis", "angle"}:
                return rotations.about(self.axis(spec["axis"], where), self.scalar(spec["angle"], where))
            if keys == {"euler", "angles"}:
                return rotations.euler(spec["euler"], [self.scalar(a, where) for a in spec["angles"]])
            if keys == {"quaternion"} and len(spec["quaternion"]) == 4:
                wxyz = [self.scalar(e, where) for e in spec["quaternion"]]
                self._check_quaternion(wxyz, where)
                return rotations.quaternion(wxyz)
            if keys == {"matrix"}:
                rows = [self.triple(row, where) for row in spec["matrix"]]
                return self._checked_matrix(rows, where)
        except (ExpressionError, TypeError) as error:
            raise ModelError(Problem(self.where(where), str(error))) from None
        raise ModelError(
            Problem(
                self.where(where),
                f"an orientation cannot be made of {sorted(spec)}",
                fix=_ORIENTATION,
            )
        )

    def fixed_rotation(self, spec: Mapping[str, Any] | KnownRotation | None, where: str) -> Matrix:
        """The matrix of an orientation that depends on parameters only."""
        matrix = self.rotation(spec, where)
        if spec and not (isinstance(spec, KnownRotation) and spec.fixed):
            self.constant([*matrix[0], *matrix[1], *matrix[2]], where)
        return matrix

    def _check_quaternion(self, wxyz: list[Expr], where: str) -> None:
        if all(e.number is not None for e in wxyz):
            norm = math.hypot(*(e.number or 0.0 for e in wxyz))
            if abs(norm - 1.0) > _UNIT_TOLERANCE:
                raise ModelError(
                    Problem(self.where(where), f"quaternion of length {norm:g}", "a rotation is a unit quaternion")
                )

    def _checked_matrix(self, rows: list[Triple], where: str) -> Matrix:
        if len(rows) != 3:
            raise ModelError(Problem(self.where(where), f"a matrix of {len(rows)} rows", "a rotation has three"))
        matrix = (rows[0], rows[1], rows[2])
        if all(e.number is not None for row in matrix for e in row):
            numbers = [[e.number or 0.0 for e in row] for row in matrix]
            if not rotations.is_rotation(numbers, _UNIT_TOLERANCE):
                raise ModelError(
                    Problem(
                        self.where(where),
                        f"the axes {numbers} are not orthonormal and right-handed",
                        "a rotation matrix satisfies RᵀR = 1 and det R = 1",
                        "use axis and angle, or normalise the rows",
                    )
                )
        return matrix

    def axis(self, axis: str | Sequence[Quantity], where: str) -> Triple:
        """A unit vector: 'x', '-y', … or three components."""
        if isinstance(axis, str):
            letter = axis.lstrip("+-")
            if letter in _LETTERS:
                e = self.unturned[_LETTERS[letter]]
                return scaled(-1.0, e) if axis.startswith("-") else e
            raise ModelError(
                Problem(self.where(where), f"'{axis}' is not an axis", fix="write x, y, z, -x, … or [x, y, z]")
            )
        e = self.triple(axis, where)
        key = e[0].id, e[1].id, e[2].id
        if (known := self._unit_vectors.get(key)) is not None:
            return known
        fixed = [n for c in e if (n := c.number) is not None]
        numbers = fixed if len(fixed) == 3 else self.numbers(e, where)
        x, y, z = numbers
        length = math.hypot(x, y, z)
        if not abs(length - 1.0) <= _UNIT_TOLERANCE:
            shown = ", ".join(f"{c / length:.9g}" for c in numbers) if length > 0 else "1, 0, 0"
            raise ModelError(
                Problem(
                    self.where(where),
                    f"axis {[round(c, 9) for c in numbers]} has length {length:g}",
                    "an axis is a unit vector",
                    f"write [{shown}]",
                )
            )
        if len(fixed) < 3:
            return e
        if abs(length - 1.0) > _LAST_BITS:
            e = rotations.triple(self.graph, (x / length, y / length, z / length))
            self._unit_vectors[e[0].id, e[1].id, e[2].id] = e
        self._unit_vectors[key] = e
        return e

    # parameters, coordinates, speeds ---------------------------------------------------------------------------------

    def parameter(self, name: str, value: float, *, free: bool = False) -> Expr:
        """Declare a parameter with its default value; returns its symbol.

        >>> m = kane.Model()
        >>> m.parameter("L", 0.5)
        L
        >>> m.parameters["L"].value
        0.5
        """
        self.new_name(name, "parameter", self._names, symbol=True)
        number = value
        if type(number) is not float or not math.isfinite(number):
            number = self.number(self.scalar(value, f"parameter '{name}'"), f"parameter '{name}'")
            if not math.isfinite(number):
                raise ModelError(Problem(self.where(f"parameter '{name}'"), f"{number:g} is not a finite number"))
        symbol = self.graph.input(name)
        self.parameters[name] = Parameter(name, number, symbol, free)
        self._names[name] = symbol
        return symbol

    def coordinate(self, name: str, initial: Quantity = 0.0, *, speed: str | None = None) -> Expr:
        """Declare a generalized coordinate outside any joint; its rate is a motion variable with speed `u_NAME`.

        >>> m = kane.Model()
        >>> q = m.coordinate("q1", initial="30*deg")
        >>> m.coordinates, m.speeds
        (('q1',), ('u_q1',))
        """
        if self._coordinates_declared >= MOST_COORDINATES:
            what = f"there are {MOST_COORDINATES} coordinates outside joints already"
            because = "equations with more cannot be written out"
            raise ModelError(Problem(self.where(f"coordinate '{name}'"), what, because, "move bodies by joints"))
        record = self._coordinate(name, initial)
        self._coordinates_declared += 1
        self._motion_variable(record.rate, speed or f"u_{name}")
        self.coordinate_rates[record.symbol] = record.rate
        return record.symbol

    def _coordinate(self, name: str, initial: Quantity) -> Coordinate:
        self.new_name(name, "coordinate", self._names, symbol=True)
        return self._add_coordinate(name, self._start(initial, f"coordinate '{name}'"))

    def _add_coordinate(self, name: str, start: tuple[float, Expr | None]) -> Coordinate:
        """Add a coordinate whose name has been judged."""
        rate_name = f"{name}'"
        record = Coordinate(name, self.graph.input(name), self.graph.input(rate_name), *start)
        self.coordinate_records[name] = record
        self._names[name] = record.symbol
        self._names[rate_name] = record.rate
        return record

    def _start(self, value: Quantity, where: str) -> tuple[float, Expr | None]:
        """The fields `initial` and `start` of a coordinate or speed."""
        if type(value) is float and math.isfinite(value):  # by far the most
            return value, None
        expr = self.scalar(value, where)
        if (number := expr.number) is not None:
            return number, None
        self.constant([expr], where)
        return self.number(expr, where), expr

    def _motion_variable(self, symbol: Expr, speed: str) -> None:
        self.new_name(speed, "speed", self._names, symbol=True)
        self._add_motion_variable(symbol, speed)

    def _add_motion_variable(self, symbol: Expr, speed: str) -> None:
        """Add a motion variable with a speed whose name has been judged."""
        name, own = self.graph.args[symbol.id][0], self.graph.input(speed)
        self.variable_places[name] = len(self.motion_variables)
        self.motion_variables[name] = symbol
        self.speed_records[speed] = Speed(speed, own, symbol)
        self.default_speeds[name] = speed
        self._names[name] = symbol
        self._names[speed] = own

    def speeds_as_variables(self, coordinates: Sequence[str], speeds: Sequence[str]) -> tuple[list[Expr], list[Expr]]:
        """Declare coordinates and, as motion variables outside any joint, speeds; their symbols. The rates of the
        coordinates are to be given next, by `set_rates`."""
        q = [self._coordinate(name, 0.0).symbol for name in coordinates]
        for name in speeds:
            self._motion_variable(self.graph.input(f"{name}'"), name)
        return q, [self.speed_records[name].definition for name in speeds]

    def set_rates(self, rates: Mapping[str, Expr]) -> None:
        """Say what the rates of coordinates are, in motion variables."""
        for name, expr in rates.items():
            self.coordinate_rates[self.coordinate_records[name].symbol] = expr
            self._names[f"{name}'"] = expr

    def set_duration(self, seconds: float) -> None:
        """Say how many seconds of motion are worth looking at: the default of `kane simulate` and `kane report`.

        >>> m = kane.load("pendulum")
        >>> m.mechanism.set_duration(20)
        """
        duration = self.finite(seconds, "duration")
        if not duration > 0.0:
            raise ModelError(
                Problem(self.where("duration"), f"{duration:g} s", "a duration is positive", "give seconds")
            )
        self.duration = duration

    def set_initial_values(self, values: Mapping[str, Quantity]) -> None:
        """Set initial values of coordinates and speeds by name."""
        first = self.revision + len(values)
        self.revision = first + 1
        for place, (name, value) in enumerate(values.items()):
            where = f"initial '{name}'"
            initial, start = self._start(value, where)
            if name in self.coordinate_records:
                self.coordinate_records[name] = replace(self.coordinate_records[name], initial=initial, start=start)
            elif name in self.speed_records:
                record = self.speed_records[name]
                self.speed_records[name] = replace(record, initial=initial, start=start, given=first - place)
            else:
                self.find("coordinate or speed", name, {**self.coordinate_records, **self.speed_records}, where)

    @property
    def speeds_chosen(self) -> bool:
        """Whether the user defined the speeds; otherwise they are the motion variables themselves."""
        return self._speeds_chosen

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of q."""
        return tuple(self.coordinate_records)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the speeds, in the order of u."""
        return tuple(self.speed_records)
