"""Method objects of SymPy's own test-suite, caught while its tests run, and their equations of motion in numbers.

SymPy comes with its tests. They describe pendulums, discs, bicycles, linkages and muscles by `KanesMethod`,
`LagrangesMethod` and `System`; what these objects derive is compared there with published or hand-made equations. Each
object is given random values here and its M x' = f solved in numbers.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef
from sympy.physics import mechanics
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, System

Array = np.ndarray[Any, np.dtype[np.float64]]
sp: Any = sympy  # its own annotations say less than is so
dynamicsymbols: Any = mechanics.dynamicsymbols
t = dynamicsymbols._t
FORMERS: tuple[tuple[Any, str], ...] = (
    (KanesMethod, "kanes_equations"),
    (LagrangesMethod, "form_lagranges_equations"),
    (System, "form_eoms"),
)


def methods_of(module: str, name: str) -> list[Any]:
    """The method objects that form their equations while one test of SymPy runs, in their order; those of no bodies,
    which have no mass matrix to compare, are left out."""
    home = importlib.import_module(f"sympy.physics.{module}")
    found: list[Any] = []
    with _caught(found), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that SymPy has deprecated and still tests
        _run(home, name)
    return [method for method in found if isinstance(method, LagrangesMethod) or method.bodies]


def _run(home: Any, name: str) -> None:
    """Run a test function, or the method of a test class with its fixtures."""
    owner, _, method = name.rpartition(".")
    if not owner:
        getattr(home, name)()
        return
    case = getattr(home, owner)()
    for fixture in (f for f in vars(type(case)).values() if type(f).__name__ == "FixtureFunctionDefinition"):
        fixture._fixture_function(case)
    getattr(case, method)()


@contextmanager
def _caught(found: list[Any]) -> Iterator[None]:
    before = [(kind, name, getattr(kind, name)) for kind, name in FORMERS]
    for kind, name, original in before:
        setattr(kind, name, _noting(original, found))
    try:
        yield
    finally:
        for kind, name, original in before:
            setattr(kind, name, original)


def _noting(original: Callable[..., Any], found: list[Any]) -> Callable[..., Any]:
    def formed(self: Any, *args: Any, **options: Any) -> Any:
        out = original(self, *args, **options)
        if not any(known is self for known in found):
            found.append(self)
        return out

    return formed


def names_of_tests(module: str) -> list[str]:
    """Names of the tests of a module of SymPy, methods of classes with a dot."""
    home = importlib.import_module(f"sympy.physics.{module}")
    names = [n for n, f in vars(home).items() if n.startswith("test") and inspect.isfunction(f)]
    for owner, kind in vars(home).items():
        if owner.startswith("Test") and inspect.isclass(kind):
            names += [f"{owner}.{n}" for n, f in vars(kind).items() if n.startswith("test") and not _arguments(f)]
    return [n for n in names if "." in n or not _arguments(getattr(home, n), 0)]


def _arguments(function: Any, own: int = 1) -> bool:
    with suppress(TypeError, ValueError):
        return len(inspect.signature(function).parameters) > own
    return True


# numbers -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """SymPy's own equations M x' = f over x = (q, u, λ) with values for all symbols."""

    values: Mapping[Any, float]
    equations: Callable[..., Any]
    q: list[Any]
    u: list[Any]

    def rates(self, time: float, q: Array, u: Array) -> Array:
        """(q̇, u̇); multipliers are solved for and left out."""
        M, f = (np.array(x, dtype=float) for x in self.equations(time, q, u))
        return np.linalg.lstsq(M, f.ravel(), rcond=None)[0][: len(self.q) + len(self.u)]


def numbers_of(method: Any, rng: np.random.Generator) -> Numbers:
    """An object's equations with random values of its symbols."""
    former: Any = method._eom_method if isinstance(method, System) else method
    q = list(former.q)
    by_lagrange = isinstance(former, LagrangesMethod)
    u = [x.diff(t) for x in q] if by_lagrange else list(former.u)
    auxiliary = [] if by_lagrange else list(former._uaux)
    still = {**{a.diff(t): 0 for a in auxiliary}, **dict.fromkeys(auxiliary, 0)}
    matrices = [sp.Matrix(m).doit().subs(still) for m in (former.mass_matrix_full, former.forcing_full)]
    states = {*q, *u}
    symbols = {s for m in matrices for s in (m.atoms(AppliedUndef) | m.free_symbols)} - states - {t}
    values = {s: float(rng.uniform(0.5, 1.5)) for s in sorted(symbols, key=str)}
    stand = {x: sp.Dummy() for x in (*u, *q)}
    inner = [m.subs(values).doit().subs({x: stand[x] for x in u}).subs({x: stand[x] for x in q}) for m in matrices]
    equations = sp.lambdify([t, [stand[x] for x in q], [stand[x] for x in u]], inner, cse=True)
    return Numbers(values, equations, q, u)
