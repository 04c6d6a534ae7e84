"""Equations: named outputs of one graph, the programs that compute them, and these written for other tools."""

# pyright: reportUnnecessaryIsInstance=false
# What callers give is judged, whatever its type was declared to be.

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..backends import SymPyProgram, mathml, to_c, to_latex, to_sympy
from ..boundary import describe_value, refuse_odd
from ..errors import ExpressionError, visible
from ..graph import Expr, Inputs, Program, hoist, lower
from ..markup import DISTRUSTED_FORMULAS, code_block, details, paragraph, scroll_bars, table
from ..model import Mechanism
from ..model.measures import MotionNames
from ..model.symbols import Quantity
from .auxiliary import auxiliary_reactions
from .expressions import MotionExpressions, Output
from .ground import Ground, find_ground
from .method import active_forces, inertia_forces, partial_velocity_outputs
from .places import place_of, pose
from .properties import central_momentum, system_inertia

if TYPE_CHECKING:
    from .motion import CompiledControl

_ALONG_SPEEDS = ("udot", "tau", "bias", "F", "F_star")
"""Outputs that have one element for each speed."""

_POSE = (*(f"R{i}{j}" for i in range(3) for j in range(3)), "x", "y", "z")
"""The orientation of a body by rows, and the place of its origin."""

_OPERATIONS = {"mul": "multiply", "add": "add", "div": "divide", "sqrt": "√", "trig": "sin, cos", "neg": "negate"}

_COUNTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
"""Programs whose operations are told where equations are shown."""

_SCROLL_BARS = f"<style>{scroll_bars('.kane-wide')}</style>"
"""Of equations in notebooks."""


def _operation_words(counts: Mapping[str, int]) -> str:
    """Operation counts in words, without those that are zero."""
    words = {
        "mul": "multiplications",
        "add": "additions",
        "div": "divisions",
        "sqrt": "roots",
        "trig": "sines and cosines",
    }
    return ", ".join(f"{count} {words.get(kind, kind)}" for kind, count in counts.items() if count) or "none"


def formulate(mechanism: Mechanism, free: Iterable[str] | str = ()) -> Equations:
    """The equations of motion of a mechanism, parameters named in `free` (or "all") kept as inputs."""
    return Equations(mechanism, free)


class Equations(MotionExpressions):
    """Equations of motion: expressions, the programs that compute them, and these written for other tools.

    `what` is a name of `SIGNATURES` or of `STEPS`: jacobian is u̇ with its derivatives by q, u and tau, regressor Y of
    tau = Y π.

    >>> e = kane.load("pendulum").equations()
    >>> print(e.program("forward_dynamics"))
    program forward_dynamics
    input q [q]: q
    input u [u]: u
    input tau [rest]: tau_u
    z1 = sin(q)
    z2 = 9.81 * z1  # a_Nbob - g, u' = 0
    z3 = tau_u - z2
    output udot (1): z3
    """

    def __init__(self, mechanism: Mechanism, free: Iterable[str] | str = ()):
        super().__init__(mechanism, free)
        self._programs: dict[str, Program] = {}
        self.writer: Callable[[Equations, str], list[str] | None] | None = None
        """Writes the efforts to be read, in "latex" or "mathml"; where there is none, the program is written."""

    # outputs -----------------------------------------------------------------------------------------------------

    def _outputs(self, name: str) -> dict[str, Output]:
        n = len(self.system.u)
        table: dict[str, Callable[[], dict[str, Output]]] = {
            "inverse_dynamics": lambda: {"tau": ((n,), self.inverse_dynamics)},
            "bias": lambda: {"bias": ((n,), self.bias)},
            "forward_dynamics": lambda: {"udot": ((n,), self.forward_dynamics)},
            "mass_matrix": lambda: {"M": ((n, n), [e for row in self.mass_matrix for e in row])},
            "kinematics": lambda: {"qdot": ((len(self.system.q),), self.system.qdot)},
            "energy": lambda: {"kinetic": ((), [self.kinetic_energy]), "potential": ((), [self.potential_energy])},
            "momentum": lambda: {
                "linear": ((3,), list(self.momentum[0])),
                "angular": ((3,), list(self.momentum[1])),
            },
            "mass_center": lambda: {"moment": self.mass_center},
            "central_momentum": lambda: central_momentum(self),
            "inertia": lambda: system_inertia(self),
            "poses": self._poses,
            "partial_velocities": lambda: partial_velocity_outputs(self),
            "generalized_active_forces": lambda: {"F": ((n,), self.generalized_active_forces)},
            "generalized_inertia_forces": lambda: {"F_star": ((n,), self.generalized_inertia_forces)},
            "constraints": self._rows,
            "auxiliary_reactions": lambda: {name: ((), [e]) for name, e in auxiliary_reactions(self).items()},
            "jacobian": self._slopes,
            "regressor": self._regressor,
            "guarded_dynamics": lambda: {
                "udot": ((n,), self.forward_dynamics),
                "pivots": ((len(self.embedding.shrunk),), self.embedding.shrunk),
                **({"denominators": ((len(self.denominators),), self.denominators)} if self.denominators else {}),
            },
        }
        if name in ("constraints", "guarded_dynamics") and not self.mechanism.constraints:
            raise ExpressionError(f"model '{self.mechanism.name}' has no constraints")
        if name == "auxiliary_reactions" and self.mechanism.auxiliary is None:
            raise ExpressionError(
                f"model '{self.mechanism.name}' has no auxiliary speeds that bring reactions into evidence"
            )
        if name not in table:
            raise self._unknown(name)
        return table[name]()

    def _rows(self) -> dict[str, Output]:
        n, m, rows = len(self.system.u), len(self.constraints), self.constraints
        return {
            "A": ((m, n), [e for row in rows.A for e in row]),
            "rate": ((m,), rows.rate),
            "b": ((m,), rows.b),
            "phi": ((m,), rows.phi),
        }

    def _slopes(self) -> dict[str, Output]:
        from .linear import acceleration_slopes  # which imports this module

        return acceleration_slopes(self)

    def _regressor(self) -> dict[str, Output]:
        from .regressor import regressor_outputs  # which imports this module

        return regressor_outputs(self)

    def _poses(self) -> dict[str, Output]:
        flat: list[Expr] = []
        for body in self.mechanism.bodies.values():
            flat += pose(self, place_of(self, body.name))
        return {"poses": ((len(self.mechanism.bodies), 12), flat)}

    def ground(self, vehicle: str, in_mode: bool = False) -> Ground:
        """Forces of the ground on the wheels of a vehicle, and how near it is to tipping over, as expressions;
        `in_mode`, of accelerations and multipliers that are given.

        >>> e = kane.load("tanner-mobile-manipulator").equations()
        >>> e.ground("vehicle").wheels
        ('front', 'left', 'right')
        """
        return find_ground(self, vehicle, in_mode)

    # programs ----------------------------------------------------------------------------------------------------

    def groups(self, names: Sequence[str]) -> list[Inputs]:
        """Groups of inputs, by name.

        >>> e = kane.load("pendulum").equations()
        >>> [group.labels for group in e.groups(["q", "u"])]
        [('q',), ('u',)]
        """
        m = self.mechanism
        known = {
            "t": Inputs("t", ("t",), "q"),
            "q": Inputs("q", m.coordinates, "q"),
            "u": Inputs("u", m.speeds, "u"),
            "udot": Inputs("udot", tuple(f"{s}'" for s in m.speeds)),
            "tau": Inputs("tau", tuple(f"tau_{s}" for s in m.speeds)),
            "work": Inputs("work", ("work",)),
            "parameters": Inputs("parameters", self.free, "parameters"),
        }
        return [known[n] for n in names]

    SIGNATURES: Mapping[str, tuple[str, ...]] = {
        "inverse_dynamics": ("q", "u", "udot"),
        "bias": ("q", "u"),
        "forward_dynamics": ("q", "u", "tau"),
        "mass_matrix": ("q",),
        "kinematics": ("q", "u"),
        "energy": ("q", "u"),
        "momentum": ("q", "u"),
        "mass_center": ("q",),
        "central_momentum": ("q", "u"),
        "inertia": ("q",),
        "poses": ("q",),
        "constraints": ("q", "u"),
        "jacobian": ("q", "u", "tau"),
        "regressor": ("q", "u", "udot"),
        "guarded_dynamics": ("q", "u", "tau"),
    }
    """What can be asked for, and the inputs each takes."""

    STEPS: Mapping[str, tuple[str, ...]] = {
        "partial_velocities": ("q",),
        "generalized_active_forces": ("q", "u", "tau"),
        "generalized_inertia_forces": ("q", "u", "udot"),
        "auxiliary_reactions": ("q", "u", "udot", "tau"),
    }
    """Steps of Kane's method that are results of their own, and the inputs each takes."""

    def _unknown(self, name: object) -> ExpressionError:
        return ExpressionError(f"no equations called {name!r}: there are {', '.join((*self.SIGNATURES, *self.STEPS))}")

    @cached_property
    def generalized_active_forces(self) -> list[Expr]:
        """F_r: efforts tau, weights and loads along the speeds (N m, N).

        >>> kane.load("pendulum").equations().generalized_active_forces
        [(tau_u - (9.81 * sin(q)))]
        """
        return active_forces(self)

    @cached_property
    def generalized_inertia_forces(self) -> list[Expr]:
        """F_r*: inertia forces and torques along the speeds (N m, N); F_r + F_r* = 0.

        >>> kane.load("pendulum").equations().generalized_inertia_forces
        [neg(u')]
        """
        return inertia_forces(self)

    @refuse_odd
    def program(self, name: str = "inverse_dynamics") -> Program:
        """The program that computes the named outputs; t and parameters are inputs only where they matter.

        >>> e = kane.load("pendulum").equations()
        >>> print(e.program("mass_matrix"))
        program mass_matrix
        input q [q]: q
        output M (1, 1): 1.0
        """
        if not isinstance(name, str):
            raise self._unknown(name)
        if name not in self._programs:
            # in a graph of its own: what was asked before leaves no trace
            alone = type(self)(self.mechanism, self.free)
            outputs = alone._outputs(name)
            groups = self.SIGNATURES.get(name) or self.STEPS[name]
            self._programs[name] = alone.lower_with_time(name, groups, outputs)
        return self._programs[name]

    @refuse_odd
    def control(self, law: str | Mapping[str, Quantity] | CompiledControl) -> Program:
        """Efforts along the speeds of a control law, as `simulate` takes it: one of the model by its name, expressions
        by what they act along, or a law of `kane.planning`; t only where it matters.

        >>> e = kane.load("cart-pole").equations()
        >>> e.control("balance").outputs[0].name
        'tau'
        """
        controls, alone = self.mechanism.controls, type(self)(self.mechanism, self.free)
        if isinstance(law, str):
            if law not in controls:
                known = ", ".join(controls) or "none"
                raise ExpressionError(f"model '{self.mechanism.name}' has no control law '{law}': there are {known}")
            efforts = alone.control_efforts(controls[law].efforts)
        elif isinstance(law, Mapping):
            given = self.mechanism.read_law(law, "control", MotionNames(self.mechanism))
            efforts = alone.control_efforts(given)
        elif hasattr(law, "efforts"):
            efforts = list(law.efforts(alone))
        else:
            raise ExpressionError(
                f"{describe_value(law)} is no control law that can be compiled\n"
                "    fix: give a name, a mapping speed → expression, or a law of kane.planning"
            )
        name = law if isinstance(law, str) else "control"
        return alone.lower_with_time(name, ("q", "u"), {"tau": ((len(efforts),), efforts)})

    def lower_with_time(self, name: str, groups: Sequence[str], outputs: Mapping[str, Output]) -> Program:
        """As `lower_outputs`, with t as the first input where something depends on it.

        >>> e = kane.load("pendulum").equations()
        >>> [group.name for group in e.lower_with_time("rates", ["q", "u"], {"qdot": ((1,), e.system.qdot)}).inputs]
        ['q', 'u']
        """
        return self.lower_outputs(name, ["t", *groups], outputs, optional=("t",))

    def lower_outputs(
        self, name: str, groups: Sequence[str], outputs: Mapping[str, Output], *, optional: Sequence[str] = ()
    ) -> Program:
        """A program of any outputs from named groups of inputs, parameters added where some are free.

        >>> e = kane.load("pendulum").equations()
        >>> print(e.lower_outputs("weight", ["q"], {"bias": ((1,), e.bias)}))
        program weight
        input q [q]: q
        z1 = sin(q)
        z2 = 9.81 * z1  # a_Nbob - g, u' = 0
        output bias (1): z2
        """
        inputs = self.groups([*groups, *(["parameters"] if self.free else [])])
        return lower(name, inputs, outputs, optional=optional)

    @refuse_odd
    def count(self, name: str = "inverse_dynamics") -> dict[str, int]:
        """Operations of one evaluation, work that depends on parameters only left out (it is done once).

        >>> count = kane.load("stanford-arm").equations().count("inverse_dynamics")
        >>> count["mul"], count["add"]
        (118, 83)
        """
        program = self.program(name)
        total, once = program.count(), program.count("parameters")
        return {k: total[k] - once[k] for k in total}

    @refuse_odd
    def hoist(self, name: str = "inverse_dynamics") -> tuple[Program, Program]:
        """(prelude, body): the work on parameters done once, and the rest.

        >>> m = kane.load("pendulum")
        >>> prelude, body = m.equations(free=["L"]).hoist("forward_dynamics")
        >>> len(prelude.rows), len(body.rows)
        (3, 4)
        """
        return hoist(self.program(name), "parameters")

    @refuse_odd
    def to_c(self, what: str | Program = "forward_dynamics", name: str | None = None) -> tuple[str, str]:
        """(header, source) in C99 without dependencies, also for C++; `what` is a name or a program, the function is
        called `name`, or as the program.

        >>> e = kane.load("pendulum").equations()
        >>> header, source = e.to_c("forward_dynamics", name="swing")
        >>> "void swing" in header
        True
        """
        return to_c(what if isinstance(what, Program) else self.program(what), name, self._elements())

    def _elements(self) -> dict[str, Sequence[Sequence[str]]]:
        """What the elements of outputs are called, along each of their dimensions."""
        from .regressor import parameter_names  # which imports this module

        m, bodies = self.mechanism, tuple(self.mechanism.bodies)
        partial = (bodies, tuple("xyz"), m.speeds)
        return {
            **dict.fromkeys(_ALONG_SPEEDS, (m.speeds,)),
            "qdot": (m.coordinates,),
            "M": (m.speeds, m.speeds),
            "poses": (bodies, _POSE),
            **dict.fromkeys(("angular", "linear"), partial),
            "Y": (m.speeds, parameter_names(self)),
        }

    @refuse_odd
    def to_latex(self, what: str | Program = "inverse_dynamics", **options: Any) -> str:
        """An align* environment: the equations of small systems, the Z list of larger ones; of a program by its name,
        or of one of this model.

        >>> e = kane.load("pendulum").equations()
        >>> "align*" in e.to_latex("bias")
        True
        """
        m, program = self.mechanism, what if isinstance(what, Program) else self.program(what)
        names = {"udot": [f"{s}'" for s in m.speeds], "tau": [f"tau_{s}" for s in m.speeds]}
        names["qdot"] = [f"{c}'" for c in m.coordinates]
        return to_latex(program, names=names, **options)

    @refuse_odd
    def to_sympy(self, what: str = "inverse_dynamics") -> SymPyProgram:
        """Symbols, replacements and outputs in SymPy.

        >>> e = kane.load("pendulum").equations()
        >>> e.to_sympy("inverse_dynamics").outputs["tau"]
        [z3]
        """
        return to_sympy(self.program(what))

    def __repr__(self) -> str:
        return f"<Equations of '{visible(self.mechanism.name)}': {self._extent()}>"

    def __str__(self) -> str:
        """The efforts along the speeds, where they are short enough to be read, and how much work programs are."""
        along = ", ".join(visible(name) for name in self.mechanism.speeds)
        lines = None if self.writer is None else self.writer(self, "text")
        shown = [f"efforts along {along}:", *(f"  {line}" for line in lines)] if lines else []
        counts = [f"  {name.replace('_', ' ')}: {_operation_words(self.count(name))}" for name in _COUNTED]
        named = f"equations of motion of {visible(self.mechanism.name)}: {self._extent()}"
        return "\n".join([named, *shown, "operations of", *counts])

    def _extent(self) -> str:
        """How many speeds and rows of constraints there are, in words."""
        speeds = f"{len(self.system.u)} speed{'' if len(self.system.u) == 1 else 's'}"
        rows = len(self.constraints) if self.mechanism.constraints else 0
        return speeds + (f", {rows} row{'' if rows == 1 else 's'} of constraints" if rows else "")

    def _repr_html_(self) -> str:
        """For notebooks: the efforts as mathematics where they can be read, operation counts, and the program."""
        counts = [self.count(name) for name in _COUNTED]
        rows = [(name.replace("_", " "), *count.values()) for name, count in zip(_COUNTED, counts, strict=True)]
        program = self.program("inverse_dynamics")
        written = None if self.writer is None else self.writer(self, "mathml")
        lines = (
            None if written is None else [f'<math display="block" style="padding: .3em 0">{x}</math>' for x in written]
        )
        small = lines or mathml.equations(program)
        boxes = [f'<div class="kane-wide" style="overflow-x: auto">{m}</div>' for m in small or ()]
        along = ", ".join(visible(name) for name in self.mechanism.speeds)
        shown = (
            "".join([paragraph(f"Efforts along {along}:"), DISTRUSTED_FORMULAS, _SCROLL_BARS, *boxes]) if boxes else ""
        )
        head = paragraph(f"Equations of motion of {visible(self.mechanism.name)}: {self._extent()}")
        words = [_OPERATIONS.get(kind, kind) for kind in counts[0]]
        listed = details(
            f"The program of inverse dynamics, {len(program.rows)} lines", code_block(str(program).rstrip("\n"))
        )
        return head + shown + table(("operations of", *words), rows) + listed

    def _repr_latex_(self) -> str | None:
        """For notebooks: the efforts, where they are short enough to be read."""
        program = self.program("inverse_dynamics")
        lines = None if self.writer is None else self.writer(self, "latex")
        if lines is None:
            return None if mathml.equations(program) is None else f"$$\n{self.to_latex(program)}\n$$"
        return "$$\n\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n$$"


__all__ = ["Equations", "formulate"]
