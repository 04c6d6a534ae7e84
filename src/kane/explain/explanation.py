"""`Explanation`: a derivation, another one beside it, and the forms that both are written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..boundary import check_choice, describe_value
from ..errors import InputError
from ..markup import DISTRUSTED_FORMULAS
from .latex import write_latex, write_latex_document
from .page import write_document, write_html
from .reading import Definition
from .records import Derivation, Dropped, ForceTerm, PartialVelocity, SpeedDefinition
from .text import WIDE, write_text

MOST_DIGITS = 17
"""Significant digits after which a number says nothing new."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Kane's method on a model, step by step: `print` it, or write it with `to_latex` and `to_html`.

    `derivation` has all steps as records; `beside` is the same with other speeds, or None. Parameters are symbols,
    vectors are written along the axes of bodies and of N (`D.x` is a unit vector), v(B*) is the velocity of the mass
    centre of B. What is too long is written with Z's, which `Z` defines.

    >>> print(kane.load("pendulum").explain().equations[0])
    -m L² u' - m g L sin(q) + τ_u = 0
    """

    derivation: Derivation
    beside: Derivation | None = None

    @property
    def speeds(self) -> tuple[SpeedDefinition, ...]:
        """Definitions of the speeds.

        >>> kane.load("pendulum").explain().speeds[0].symbol.name
        'u'
        """
        return self.derivation.speeds

    @property
    def partial_velocities(self) -> tuple[PartialVelocity, ...]:
        """The table of partial velocities: for ω of each body and v of its mass centre one vector for each speed.

        >>> [(p.what, p.body) for p in kane.load("pendulum").explain().partial_velocities]
        [('ω', 'bob'), ('v', 'bob')]
        """
        return self.derivation.partials

    @property
    def active_forces(self) -> tuple[ForceTerm, ...]:
        """Terms of F_r, by what they come from.

        >>> [term.source for term in kane.load("pendulum").explain().active_forces]
        ['weight of bob', 'effort along u']
        """
        return self.derivation.active

    @property
    def inertia_forces(self) -> tuple[ForceTerm, ...]:
        """Terms of F_r*, by body.

        >>> [term.source for term in kane.load("pendulum").explain().inertia_forces]
        ['inertia of bob']
        """
        return self.derivation.inertia

    @property
    def noncontributing_forces(self) -> tuple[Dropped, ...]:
        """Forces that contribute to no F_r, or not to those that are named, and why.

        >>> kane.load("pendulum").explain().noncontributing_forces[0].what
        'joint pivot, force, and torque across its axis'
        """
        return self.derivation.dropped

    @property
    def equations(self) -> tuple[str, ...]:
        """F_r + F_r* as texts, "= 0" where there are no constraints.

        >>> kane.load("pendulum").explain().equations
        ("-m L² u' - m g L sin(q) + τ_u = 0",)
        """
        from .notation import TEXT, write_sum

        zero = "" if self.derivation.constraints else " = 0"
        return tuple(f"{write_sum(e, TEXT)}{zero}" for e in self.derivation.equations)

    @property
    def Z(self) -> tuple[Definition, ...]:
        """The Z's and what they stand for; none for small systems.

        >>> len(kane.load("pendulum").explain().Z)
        0
        """
        return self.derivation.Z

    def to_text(self, digits: int = 6, *, width: int = WIDE) -> str:
        """All sections in plain text, numbers with `digits` significant digits; the table of partial velocities in
        blocks of columns that fit into `width` characters.

        >>> "Partial velocities" in kane.load("pendulum").explain().to_text()
        True
        """
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise InputError(f"width = {describe_value(width)}\n    fix: give a whole number of characters, such as 80")
        return write_text(self.derivation, self.beside, _checked_digits(digits), width)

    def to_latex(self, digits: int = 6, *, document: bool = False) -> str:
        """All sections in LaTeX, for a document with amsmath and graphicx, or as a document of its own.

        >>> told = kane.load("pendulum").explain()
        >>> "align*" in told.to_latex(), "documentclass" in told.to_latex(document=True)
        (True, True)
        """
        check_choice("document", document)
        write = write_latex_document if document else write_latex
        return write(self.derivation, self.beside, _checked_digits(digits))

    def to_html(self, digits: int = 6) -> str:
        """One HTML file, equations in MathML, without links to the outside.

        >>> kane.load("pendulum").explain().to_html().startswith("<!doctype html>")
        True
        """
        return write_document(self.derivation, self.beside, _checked_digits(digits))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Explanation of '{self.derivation.model}': {len(self.speeds)} speeds, {len(self.Z)} Z's>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return DISTRUSTED_FORMULAS + write_html(self.derivation, self.beside)

    def _repr_latex_(self) -> str:
        """For notebooks that set LaTeX alone: the equations."""
        from .notation import LATEX, write_sum

        zero = "" if self.derivation.constraints else " &= 0"
        lines = " \\\\\n".join(f"{write_sum(e, LATEX)}{zero}" for e in self.derivation.equations)
        return f"$$\n\\begin{{align*}}\n{lines}\n\\end{{align*}}\n$$"


def _checked_digits(digits: Any) -> int:
    """How many digits numbers are written with, if that is what was given."""
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise InputError(f"digits = {describe_value(digits)}\n    fix: give a whole number from 1 to {MOST_DIGITS}")
    return digits
