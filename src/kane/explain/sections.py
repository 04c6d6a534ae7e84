"""The sections of an explanation, in any notation: titles, lines and tables that a writer sets.

A line is an equation `left` = `right` with a note beside it, and lines below it that say where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..backends.mathml import text_name
from .algebra import Sum, symbols_of
from .dropping import join_words
from .names import body_letters, mark_symbols, shorten_names, symbol_names
from .notation import TEXT, Notation, write_sum, write_vector
from .records import Derivation, ForceTerm, VectorSum


@dataclass(frozen=True, slots=True)
class EquationLine:
    """An equation; `note` is words, `below` are lines that it is the sum of."""

    left: str
    right: str
    note: str = ""
    below: tuple[EquationLine, ...] = ()


@dataclass(frozen=True, slots=True)
class MathTable:
    """A table of mathematics, a first row of heads, a first column of labels."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Words:
    """What is said: a subject, and a sentence about it."""

    subject: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """Operations: name of a program, and for each choice of speeds (multiply or divide, add, sin and cos)."""

    rows: tuple[tuple[str, tuple[tuple[int, int, int], ...]], ...]


CHOICES = ("with the speeds above", "with these")
"""Heads of the operations of two choices of speeds beside each other."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A title and what stands under it."""

    title: str
    body: tuple[EquationLine | MathTable | Words | Counts, ...]


MANY = 12
"""Z's that another choice of speeds may take, if the first takes fewer, to be written out beside it."""


class Sections:
    """The sections of one derivation in one notation; numbers have `digits` significant digits."""

    def __init__(self, d: Derivation, notation: Notation, digits: int):
        self.d, self.n, self.digits = d, notation, digits
        self.letters = body_letters(d)
        self._names = {} if notation is TEXT else symbol_names(d)

    def all(self) -> Iterator[Passage]:
        """Every section that is not empty, in the order of the method."""
        yield from map(self.in_names, self._all())

    def in_names(self, passage: Passage) -> Passage:
        """A section with letters for bodies of long names, and marks about symbols in its words."""

        def say(words: str) -> str:
            return mark_symbols(shorten_names(words, self.letters), self._names)

        def in_line(line: EquationLine) -> EquationLine:
            return replace(line, note=say(line.note), below=tuple(map(in_line, line.below)))

        body = [
            in_line(x)
            if isinstance(x, EquationLine)
            else Words(say(x.subject), say(x.sentence))
            if isinstance(x, Words)
            else x
            for x in passage.body
        ]
        return Passage(say(passage.title), tuple(body))

    def _all(self) -> Iterator[Passage]:
        d = self.d
        if self.letters:
            yield Passage("Bodies", tuple(Words(letter, name) for name, letter in self.letters.items()))
        yield Passage("Generalized speeds", tuple(self.speeds()))
        yield Passage("Rates of the coordinates", tuple(self._rates()))
        yield Passage("Angular velocities, and velocities of mass centres (*), in N", tuple(self._velocities()))
        yield Passage("Partial velocities: the coefficients of the speeds", (self.partials(),))
        left = tuple(self._accelerations())
        title = "Accelerations: partial velocities times the rates of the speeds, and what is left without these"
        yield Passage(title, left or (Words("nothing is left"),))
        yield Passage("Generalized active forces", tuple(self._forces("F", d.active)))
        yield Passage("What drops out", tuple(Words(x.what, x.why) for x in d.dropped) or (Words("nothing"),))
        yield Passage(
            "Generalized inertia forces: R* = -m a*, T* = -(I·α + ω × I·ω)", tuple(self._forces("F*", d.inertia))
        )
        if d.constraints:
            yield Passage("Constraints", tuple(self.constraints()))
        yield Passage(equation_title(d), tuple(self.equations()))
        if d.reduced:
            yield Passage(independent_title(d), tuple(self.independent_equations()))
        if d.Z:
            yield Passage("Z's, and what they stand for", tuple(self.Z()))
        yield Passage("Operations of one evaluation of the programs, without those of parameters alone", (count([d]),))

    def _sum(self, total: Sum) -> str:
        return write_sum(total, self.n, self.digits)

    def _vector(self, vector: VectorSum) -> str:
        parts = ((replace(u, frame=self.letters.get(u.frame, u.frame)), e) for u, e in vector.parts)
        return write_vector(VectorSum(tuple(parts)), self.n, self.digits)

    def _quantity(self, what: str, body: str) -> str:
        return self.n.quantity(what, self.letters.get(body, body))

    def speeds(self) -> Iterator[EquationLine]:
        """Definitions of the speeds."""
        for s in self.d.speeds:
            what, body, axis = s.measure
            along = (
                f"{'ω' if what == 'w' else 'velocity of the origin'} of {body} along its {axis} axis" if what else ""
            )
            atoms = [a for term in s.value.terms if term.coefficient == 1 for a, _ in term.powers]
            own = [getattr(a, "name", "") for a in atoms] == [".".join(s.measure)]  # of a joint with a quaternion
            yield EquationLine(
                self.n.symbol(s.symbol), self.n.words(along) if own else self._sum(s.value), "" if own else along
            )

    def _rates(self) -> Iterator[EquationLine]:
        for c in self.d.coordinates:
            rate = type(c.symbol)(f"{c.symbol.name}'", c.symbol.kind, c.symbol.place)
            yield EquationLine(self.n.symbol(rate), self._sum(c.rate))

    def _velocities(self) -> Iterator[EquationLine]:
        for p in self.d.partials:
            yield EquationLine(self._quantity(p.what, p.body), self._vector(p.total))

    def partials(self) -> MathTable:
        """The table of partial velocities: a row for each ω and v, a column for each speed."""
        d, n = self.d, self.n
        rest = any(not p.rest.is_zero for p in d.partials)
        head = ("", *(n.symbol(s.symbol) for s in d.speeds), *((n.words("without speeds"),) if rest else ()))
        rows = []
        for p in d.partials:
            vectors = (*p.entries, p.rest) if rest else p.entries
            rows.append((self._quantity(p.what, p.body), *map(self._vector, vectors)))
        return MathTable(head, tuple(rows))

    def _accelerations(self) -> Iterator[EquationLine]:
        for a in self.d.accelerations:
            for letter, rest in (("α", a.angular), ("a", a.linear)):
                if not rest.is_zero:
                    yield EquationLine(self._quantity(letter, a.body), self._vector(rest), "where u' = 0")

    def _forces(self, letter: str, terms: Sequence[ForceTerm]) -> Iterator[EquationLine]:
        for r, total in enumerate(self.d.sums(tuple(terms))):
            acting = [t for t in terms if not t.values[r].is_zero]
            below = tuple(EquationLine("", self._sum(t.values[r]), _source(t, r)) for t in acting)
            alone = below[0].note if len(below) == 1 else ""
            left = self.n.quantity(letter, r=r + 1)
            yield EquationLine(left, self._sum(total), alone, below if len(below) > 1 else ())

    def constraints(self) -> Iterator[EquationLine | Words]:
        """Rows, what dependent speeds and their rates are, which speeds are independent and why."""
        d, e = self.d, self.d.embedding
        values = {} if e is None else e.values([s.symbol for s in d.speeds])
        alone = {
            c.name: s for c in d.constraints for s, v in values.items() if v.is_zero and symbols_of(c.value) == {s.name}
        }
        for c in d.constraints:
            if not c.value.is_zero and c.name not in alone:
                yield EquationLine("", f"{self._sum(c.value)}", f"= 0, {c.name}")
        if idle := [c.name for c in d.constraints if c.value.is_zero]:
            rows, say = ("row", "says") if len(idle) == 1 else ("rows", "say")
            yield Words(f"{rows} {join_words(idle)}", f"{say} nothing: every motion that the joints allow satisfies it")
        if e is None:
            yield Words("dependent speeds", "are chosen at run time")
            return
        for symbol, value in values.items():
            rows = [name for name, s in alone.items() if s == symbol]  # that say no more than this
            yield EquationLine(self.n.symbol(symbol), self._sum(value), join_words(rows) if rows else "")
        for symbol, value in d.rates:
            yield EquationLine(self.n.symbol(symbol), self._sum(value))
        names = _names(d, e.independent)
        are = "is" if len(names) == 1 else "are"
        chosen = f"{e.why}; --independent, or independent=[...] in Python, chooses others"
        yield Words(f"{join_words(names)} {are} independent", chosen)
        sums = "the sums over the dependent speeds d, D_di being the coefficient of u_i in u_d"
        said = f"F_i + Σ D_di F_d + F_i* + Σ D_di F_d* = 0, {sums}"
        yield Words("for every independent speed i", said)

    def equations(self) -> Iterator[EquationLine]:
        """F_r + F_r*, r = 1 … n."""
        for r, e in enumerate(self.d.equations):
            yield EquationLine("", self._sum(e), f"{'' if self.d.constraints else '= 0, '}r = {r + 1}")

    def independent_equations(self) -> Iterator[EquationLine]:
        """F_i + F_i* with those of dependent speeds added, times D."""
        for i, e in self.d.reduced:
            yield EquationLine("", self._sum(e), f"= 0, {_names(self.d, [i])[0]}")

    def Z(self) -> Iterator[EquationLine]:
        """Definitions of the Z's."""
        for z in self.d.Z:
            yield EquationLine(self.n.symbol(z.symbol), self._sum(z.value), z.meaning)


def equation_title(d: Derivation) -> str:
    """What the equations are."""
    if d.constraints:
        return "Active and inertia forces together, all speeds taken as independent"
    return "Equations of motion: active and inertia forces together are zero"


def independent_title(d: Derivation) -> str:
    """Which speeds the equations under constraints are written for."""
    names = _names(d, [i for i, _ in d.reduced])
    return f"Equations of motion, for the independent speed{'' if len(names) == 1 else 's'} {join_words(names)}"


def _names(d: Derivation, speeds: Sequence[int]) -> list[str]:
    return [text_name(d.speeds[i].symbol.name) for i in speeds]


def count(derivations: Sequence[Derivation]) -> Counts:
    """Operations of the programs, for one choice of speeds or several beside each other."""
    rows = []
    for name in derivations[0].counts:
        counted = [d.counts[name] for d in derivations]
        rows.append((name.replace("_", " "), tuple((c["mul"] + c["div"], c["add"], c["trig"]) for c in counted)))
    return Counts(tuple(rows))


def beside_sections(d: Derivation, other: Derivation, notation: Notation, digits: int) -> Iterator[Passage]:
    """The same with other speeds: definitions, partial velocities, equations, and what both take."""
    found = Sections(other, notation, digits)
    yield from map(found.in_names, _beside(d, found))


def _beside(d: Derivation, found: Sections) -> Iterator[Passage]:
    other = found.d
    yield Passage("The same with other speeds", tuple(found.speeds()))
    if len(other.Z) > max(MANY, len(d.Z)):
        said = Words(f"not written here, they take {len(other.Z)} Z's; choose these speeds to read them")
        yield Passage(f"{equation_title(other)}, with these", (said,))
    else:
        yield Passage("Partial velocities with these", (found.partials(),))
        if other.constraints:
            yield Passage("Constraints, with these", tuple(found.constraints()))
        yield Passage(f"{equation_title(other)}, with these", tuple(found.equations()))
        if other.reduced:
            yield Passage(f"{independent_title(other)}, with these", tuple(found.independent_equations()))
        if other.Z:
            yield Passage("Z's of these", tuple(found.Z()))
    yield Passage("Operations with the speeds above, and with these; numbers are folded", (count([d, other]),))


def _source(term: ForceTerm, r: int) -> str:
    return f"{term.source}, {term.how[r]}" if term.how[r] else term.source
