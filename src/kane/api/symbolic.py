"""`from_sympy`: a model from a SymPy script, and its equations given back in the symbols of that script."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..analysis import CheckReport
from ..analysis.programs import Programs, States
from ..analysis.scripts import check_script, names_of_inputs
from ..backends import SymPyProgram, to_sympy
from ..errors import ModelError, Problem, SingularError, warn
from ..formulation import Equations
from ..formulation.auxiliary import auxiliary_reactions
from ..formulation.expressions import Output
from ..formulation.mass import Rows
from ..formulation.motion import load_power
from ..formulation.starting import regular_start
from ..graph import Expr, depends_on, forward, lower, reverse, substitute
from ..model import Mechanism
from ..model.sympy import SymPySource, declare, read
from .answers import Answer, Answers
from .model import Model
from .records import Array

_OF_BODIES = ("momentum", "mass_center", "central_momentum", "inertia", "poses")


def from_sympy(
    method: Any,
    *,
    values: Mapping[Any, Any] | None = None,
    initial: Mapping[Any, Any] | None = None,
    free: Iterable[Any] | str = (),
    name: str = "model",
) -> SymPyModel:
    """The model that a SymPy `KanesMethod`, `System` or `LagrangesMethod` describes.

    `values` maps every symbol that the equations contain to a number (SI); functions of time other than coordinates and
    speeds to a number too, or to a SymPy expression in time, coordinates, speeds and symbols. Symbols in `free`, or
    "all", stay inputs of the programs. Values of what the equations do not contain are passed over: one mapping may
    serve several scripts. `initial` maps coordinates and speeds to where they start. Symbols may be named by strings. q
    and u have SymPy's order, dependent ones last. Bodies, loads and constraints are read and formulated anew; of a
    Lagrangian the equations are its derivatives. Unknown forces that auxiliary speeds bring into evidence
    need no value: `model.reactions` gives them.

    >>> import sympy.physics.mechanics as me
    >>> (q, u), N, P = me.dynamicsymbols("q u"), me.ReferenceFrame("N"), me.Point("P")
    >>> P.set_vel(N, u * N.x)
    >>> method = me.KanesMethod(N, [q], [u], [q.diff() - u])
    >>> forces = method.kanes_equations([me.Particle("ball", P, 2)], [(P, -8 * q * N.x)])
    >>> kane.from_sympy(method).linearize([0], [0]).eigenvalues.imag.round(6).tolist()
    [-2.0, 2.0]
    """
    mechanism = Mechanism(name)
    mechanism.source = source = declare(mechanism, read(method), values, initial, free)
    kind = SymPyEquations if source.lagrangian is None else LagrangianEquations
    if not all(p.has_value for p in mechanism.parameters.values()):
        _refuse_missing(kind(mechanism), values or {})
    for doubt in source.doubts:
        warn(str(doubt))
    if mechanism.constraints:
        start = regular_start(mechanism, source.given_start)
        if start is None:
            what = "no regular position on the constraints was found near zero with what `initial` gives"
            fix = "it counts as a guess, which `project` and `simulate` move; or give a position nearby"
            mechanism.remarks.append(Problem(mechanism.where("initial"), what, fix=fix))
        mechanism.set_initial(start or {})
    return SymPyModel.of(SymPyAnswers(mechanism, kind))


def _refuse_missing(equations: Equations, values: Mapping[Any, Any]) -> None:
    """Refuse symbols without a value that the equations of motion, the constraints or reactions contain; names in
    `values` that the script has not are told then, since they may be meant for these."""
    m = equations.mechanism
    exprs = [*equations.inverse_dynamics, *(e for row in equations.mass_matrix for e in row)]
    exprs += [*equations.system.qdot, load_power(equations)]
    if m.constraints:
        rows = equations.constraints
        exprs += [*(e for row in rows.A for e in row), *rows.rate, *rows.b, *rows.phi]
    exprs += auxiliary_reactions(equations).values()
    open_ = sorted(p.name for p in m.parameters.values() if not p.has_value)
    missing = [name for name in open_ if depends_on(exprs, [equations.graph.input(name)])]
    if missing:
        symbols = _source(m).symbols
        listed = ", ".join(str(symbols[name]) for name in missing)
        known = {*symbols, *map(str, symbols.values())}
        strange = [str(name) for name in values if str(name) not in known]
        told = f"; the script has no {', '.join(map(repr, strange))}" if strange else ""
        raise ModelError(
            Problem(
                m.where("values"),
                f"no value is given for {listed}{told}",
                "every symbol in the equations has a value; those that shall stay inputs also need a first one",
                "add them to `values`: numbers, or SymPy expressions in time, coordinates and speeds",
            )
        )


def _source(mechanism: Mechanism) -> SymPySource:
    """What a description remembers of the script that it was read from."""
    assert isinstance(mechanism.source, SymPySource)
    return mechanism.source


class SymPyAnswers(Answers):
    """Answers of a description from SymPy: a Lagrangian says nothing of bodies."""

    def answer(self, name: str) -> Answer:
        """What answers the question called `name`, where the description says it."""
        if name in _OF_BODIES:
            self._refuse_lagrangian(name)
        return super().answer(name)

    def refuse_without_bodies(self, what: str) -> None:
        """Refuse what is told of bodies, and of the forces on them, where there are none."""
        self._refuse_lagrangian(what)
        super().refuse_without_bodies(what)

    def _refuse_lagrangian(self, what: str) -> None:
        if _source(self.mechanism).lagrangian is not None:
            raise ModelError(_no_bodies(self.mechanism.name, what))


class SymPyModel(Model):
    """A model that was described with SymPy."""

    @property
    def sympy_symbols(self) -> Mapping[str, Any]:
        """Names of inputs → the script's own symbols."""
        return _own_symbols(self.mechanism)

    @property
    def route(self) -> str:
        """What the equations are formulated from: "bodies" or "lagrangian"."""
        return "bodies" if _source(self.mechanism).lagrangian is None else "lagrangian"

    def check(self, samples: int = 5, seed: int = 0) -> CheckReport:
        """Check of the model against the laws of mechanics and an independent second route: for bodies dense
        Newton-Euler equations, for a Lagrangian its derivatives by SymPy. Where frames have an angular velocity and no
        orientation, or speeds move no body, the rows say what was not checked, and why."""
        source, equations = _source(self.mechanism), self._answers.equations()
        if isinstance(equations, LagrangianEquations):
            statement = "d/dt ∂L/∂q̇ − ∂L/∂q − Q, L differentiated by SymPy"
            return check_script(equations, samples, seed, (statement, equations.efforts_by_sympy))
        if source.unoriented:
            what = f"no orientation says how the frames {', '.join(source.unoriented)} turn"
            return check_script(equations, samples, seed, unknown=what)
        try:
            return super().check(samples, seed)
        except SingularError:
            return check_script(equations, samples, seed, unknown="some speeds move no body")


class SymPyEquations(Equations):
    """Equations of motion that are given back in the symbols of the script that the model came from."""

    def to_sympy(self, what: str = "inverse_dynamics") -> SymPyProgram:
        """Symbols, replacements and outputs in SymPy; coordinates, speeds and parameters are the script's own."""
        return _in_own_symbols(self.mechanism, super().to_sympy(what))


def _own_symbols(mechanism: Mechanism) -> dict[str, Any]:
    """Names of inputs → the script's own symbols; those of speeds that others have replaced are not among them."""
    source = _source(mechanism)
    now = {name: s.definition for name, s in mechanism.speed_records.items()}
    replaced = [name for name, definition in source.speeds.items() if now.get(name) != definition]
    gone = {label for name in replaced for label in (name, f"{name}'", f"tau_{name}")}
    return {label: symbol for label, symbol in source.symbols.items() if label not in gone}


def _in_own_symbols(mechanism: Mechanism, program: SymPyProgram) -> SymPyProgram:
    """The program with the symbols of the script that the model came from."""
    own = _own_symbols(mechanism)
    back = {symbol: own[label] for label, symbol in program.symbols.items() if label in own}

    def use_script_symbols(expression: Any) -> Any:
        return expression.xreplace(back)

    return SymPyProgram(
        {label: use_script_symbols(symbol) for label, symbol in program.symbols.items()},
        [(z, use_script_symbols(expression)) for z, expression in program.replacements],
        {
            k: o.applyfunc(use_script_symbols) if hasattr(o, "applyfunc") else use_script_symbols(o)
            for k, o in program.outputs.items()
        },
    )


class LagrangianEquations(Equations):
    """Lagrange's equations, d/dt ∂L/∂q̇ − ∂L/∂q = Q + tau, from derivatives of L in the graph; u is q̇.

    With p = ∂L/∂u: M = ∂p/∂u, and the bias is what is left of ṗ − ∂L/∂q − Q at u̇ = 0.
    """

    def to_sympy(self, what: str = "inverse_dynamics") -> SymPyProgram:
        """Symbols, replacements and outputs in SymPy, in the script's own symbols."""
        return _in_own_symbols(self.mechanism, super().to_sympy(what))

    def efforts_by_sympy(self, states: States) -> Array:
        """Efforts (k, n) that Lagrange's equations ask for, L differentiated by SymPy, not in the graph."""
        sp: Any = importlib.import_module("sympy")
        m, names = self.mechanism, names_of_inputs(self)
        outputs: dict[str, Output] = {"L": ((), [self._lagrangian])}
        written = to_sympy(lower("lagrangian", self.groups(["t", "q", "u", "parameters"]), outputs))
        L: Any = written.inline()["L"]
        known = {label: written.symbols.get(label, sp.Symbol(label)) for label in names}
        t, q, u = (
            known["t"],
            *([known[n] for n in part] for part in (self.mechanism.coordinates, self.mechanism.speeds)),
        )
        udot = [sp.Symbol(f"{s}__dot") for s in self.mechanism.speeds]
        momenta = [sp.diff(L, x) for x in u]
        along = [*zip(q, u, strict=True), *zip(u, udot, strict=True), (t, 1)]
        efforts: list[Any] = [
            sum(sp.diff(p, x) * rate for x, rate in along) - sp.diff(L, x_r) for p, x_r in zip(momenta, q, strict=True)
        ]
        values = [m.parameters[name].value for name in self.free]
        free = [written.symbols[name] for name in self.free if name in written.symbols]
        function: Any = sp.lambdify([t, *q, *u, *udot, *free], efforts, "math")
        found: list[Any] = [
            function(*now, *a, *b, *c, *values)
            for now, a, b, c in zip(states.t, states.q, states.u, states.udot, strict=True)
        ]
        loads = self._efforts(self.system, accelerate=False)
        given = Programs(self).of("loads", ("t", "q", "u"), {"Q": ((len(loads),), loads)}, states)
        return np.array(found, dtype=float) + np.asarray(given)

    @cached_property
    def _lagrangian(self) -> Expr:
        lagrangian = _source(self.mechanism).lagrangian
        assert lagrangian is not None
        return self.system.take.one(lagrangian)

    @cached_property
    def _momenta(self) -> list[Expr]:
        return reverse({self._lagrangian: 1.0}, self.system.u)

    @cached_property
    def mass_matrix(self) -> Rows:
        """M, symmetric, over the rates of the coordinates."""
        columns = [forward(self._momenta, {u: 1.0}) for u in self.system.u]
        M = [[column[i] for column in columns] for i in range(len(columns))]
        if depends_on([e for row in M for e in row], self.system.u):
            raise ModelError(
                Problem(
                    self.mechanism.where("Lagrangian"),
                    "it is not a polynomial of second degree in the rates",
                    "the mass matrix depends on coordinates and time only",
                    "multiply it out where rates stand under roots or in functions that cancel",
                )
            )
        return [[M[max(i, j)][min(i, j)] for j in range(len(M))] for i in range(len(M))]

    @cached_property
    def bias(self) -> list[Expr]:
        """The efforts at u̇ = 0: M u̇ + bias = tau."""
        system = self.system
        rates: dict[Expr, Expr | float] = {system.t: 1.0, **dict(zip(system.q, system.qdot, strict=True))}
        convective = forward(self._momenta, rates)
        slopes = reverse({self._lagrangian: 1.0}, system.q)
        loads = self._efforts(system, accelerate=False)
        return [c - s + f for c, s, f in zip(convective, slopes, loads, strict=True)]

    @cached_property
    def inverse_dynamics(self) -> list[Expr]:
        """Efforts tau along the rates that produce u̇: M u̇ + bias."""
        efforts: list[Expr] = []
        for row, total in zip(self.mass_matrix, self.bias, strict=True):
            for entry, rate in zip(row, self.system.udot, strict=True):
                total = total + entry * rate
            efforts.append(total)
        return efforts

    @cached_property
    def kinetic_energy(self) -> Expr:
        """½ uᵀ M u (J)."""
        total = self.graph.const(0.0)
        for row, u in zip(self.mass_matrix, self.system.u, strict=True):
            for entry, w in zip(row, self.system.u, strict=True):
                total = total + 0.5 * entry * u * w
        return total

    @cached_property
    def gravity_potential(self) -> Expr:
        """−L at rest (J): all that L says of conservative forces."""
        return -substitute([self._lagrangian], dict.fromkeys(self.system.u, 0.0))[0]


def _no_bodies(model: str, what: str) -> Problem:
    return Problem(
        f"model '{model}' / {what}",
        "the model is a Lagrangian, which does not say where bodies are, nor which forces hold them",
        fix="describe it with KanesMethod, or with a System that has kinematic differential equations",
    )


__all__ = ["SymPyModel", "from_sympy"]
