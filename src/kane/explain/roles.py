"""What parameters are in a mechanism, by where they occur in its description: this orders them in products, m g L."""

from __future__ import annotations

from itertools import chain

from ..graph import Expr
from ..model import Mechanism
from .algebra import GRAVITY, MASS, OTHER, Sum, Symbol, symbol_sum, symbols_of
from .reading import Reader, TooLong


def parameter_roles(mechanism: Mechanism) -> dict[str, int]:
    """Name of each parameter → MASS where it is a mass or moment of inertia, GRAVITY, or OTHER, such as a length.

    A mass or an element of inertia by itself is one; in an expression, m L²/12, it is what that is linear in and what
    no position is given by.
    """
    inertial, positions = list[Expr](), list[Expr]()
    for body in mechanism.bodies.values():
        inertial += [body.mass, *chain.from_iterable(body.inertia)]
        positions += body.center
    inertial += [rotor.inertia for rotor in mechanism.rotors.values()]
    for joint in mechanism.joints.values():
        positions += [*joint.at, *joint.child_at]
    placing, pulling = (set(mechanism.inputs_of(found)) for found in (positions, list(mechanism.gravity)))
    sums = [_read(mechanism, e) for e in dict.fromkeys(inertial) if e.number is None]
    alone = {total.terms[0].powers[0][0] for total in sums if total.size == len(total.terms) + 1 == 2}
    found = dict.fromkeys(mechanism.parameters, OTHER)
    for name in found:
        symbol = Symbol(name)
        uses = [total for total in sums if name in symbols_of(total)]
        if symbol in alone or (uses and name not in placing and all(_is_linear(total, symbol) for total in uses)):
            found[name] = MASS
        elif name in pulling:
            found[name] = GRAVITY
    return found


def _read(mechanism: Mechanism, expr: Expr) -> Sum:
    try:
        return Reader(mechanism.graph, {}, naming=False).read(expr)
    except TooLong:
        return Sum(())


def _is_linear(total: Sum, symbol: Symbol) -> bool:
    """Whether a symbol occurs as a factor of terms only, and not squared."""
    return all(
        all(n == 1 if atom == symbol else symbol.name not in symbols_of(symbol_sum(atom)) for atom, n in term.powers)
        for term in total.terms
    )
