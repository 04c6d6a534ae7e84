"""Equations: everything that can be asked of a mechanism, as named outputs of one graph.

`formulate` gives an `Equations`; nothing is built before it is asked for. F_r + F_r* = 0 with the efforts tau along the
speeds among the active forces, so inverse dynamics is tau = −(F_r + F_r*) and forward dynamics M u̇ = tau − bias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from ..constraints.rank import choose_speeds
from ..errors import ExpressionError, ModelError, Problem
from ..graph import (
    Expr,
    Graph,
    Inputs,
    Program,
    forward,
    hoist,
    linear_coefficients,
    lower,
    reachable,
    substitute,
)
from ..model import Mechanism
from ..space import Kinematics
from ..space.algebra import Triple, cross, dot, plus, scaled
from .constraints import Constraints, constraints
from .embedding import Embedded, evaluate_matrix
from .links import Link, lay_out
from .mass import Rows, SingularMass, general_mass_matrix, in_speeds, solve, tree_mass_matrix
from .places import place_of, pose
from .properties import central_momentum, system_inertia
from .regular import Regular, find_idle_rows, rank, regular_state
from .sweep import Mass, Power, add_actions, add_inertia, add_momentum, add_rotors, masses, rotors
from .system import System

Output = tuple[tuple[int, ...], list[Expr]]


def formulate(mechanism: Mechanism, free: Iterable[str] | str = ()) -> Equations:
    """The equations of motion of a mechanism, parameters named in `free` (or "all") kept as inputs."""
    return Equations(mechanism, free)


class Equations:
    """Named outputs of one graph, and the programs that compute them."""

    def __init__(self, mechanism: Mechanism, free: Iterable[str] | str = ()):
        mechanism.validate()
        names = list(mechanism.parameters) if free == "all" else list(free)
        for name in names:
            mechanism.find("parameter", name, mechanism.parameters, "free parameters")
        self.mechanism = mechanism
        self.free = tuple(p.name for p in mechanism.parameters.values() if p.free or p.name in names)
        self.graph = Graph()
        self.system = System(mechanism, self.graph, self.free)
        self.tau = [self.graph.input(f"tau_{s}") for s in mechanism.speeds]
        for load in mechanism.loads.values():  # in one order, whatever is asked: they build in the description's graph
            load.actions(), load.potential()
        self._programs: dict[str, Program] = {}

    # parts -------------------------------------------------------------------------------------------------------

    @cached_property
    def _cheapest_links(self) -> list[Link]:
        """The links with their inertias regrouped. Where speeds were chosen that describe a body directly, its inertia
        may cost less where it is: the better of the two."""
        regrouped = lay_out(self.mechanism, self.system.take, regroup=True)
        if self.system.map.identity:
            return regrouped
        return min((regrouped, self.original_links), key=lambda links: self._size(self._efforts_of(self.system, links)))

    def _links(self, system: System) -> list[Link]:
        return self._cheapest_links if system is self.system else lay_out(self.mechanism, system.take, regroup=True)

    @cached_property
    def original_links(self) -> list[Link]:
        return lay_out(self.mechanism, self.system.take, regroup=False)

    @cached_property
    def masses(self) -> list[Mass]:
        """Mass and inertia of every body as described, each with its frame and reference point."""
        return masses(self.system, self.original_links)

    @cached_property
    def velocities(self) -> Kinematics:
        """Kinematics of the original bodies, without accelerations."""
        return self.system.kinematics(self.original_links, accelerate=False, gravity=False)

    @cached_property
    def accelerations(self) -> Kinematics:
        """Kinematics of the original bodies with u̇, gravity left out."""
        return self.system.kinematics(self.original_links, gravity=False)

    @cached_property
    def _bias_kinematics(self) -> Kinematics:
        """Kinematics of the cheapest links at u̇ = 0, gravity through the base: of the bias and of constraints."""
        return self.system.kinematics(self._cheapest_links, accelerate=False)

    def path(self, body: str) -> list[Link] | None:
        """The links from the ground to a body, or None where speeds are not the motion variables of joints."""
        if not (self._is_tree and self.system.map.identity):
            return None
        link = next((k for k in self.original_links if k.body.name == body), None)
        links: list[Link] = []
        while link is not None:
            links.append(link)
            link = link.parent
        return links[::-1]

    @cached_property
    def _is_tree(self) -> bool:
        return all(b.joint is not None for b in self.mechanism.bodies.values())

    def actions(self) -> list:
        return [a for load in self.mechanism.loads.values() for a in load.actions()]

    def _efforts(self, system: System, *, accelerate: bool) -> list[Expr]:
        """−(F_r + F_r*) without tau: inverse dynamics, or the bias where u̇ is zero."""
        return self._efforts_of(system, self._links(system), accelerate=accelerate)

    def _efforts_of(self, system: System, links: Sequence[Link], *, accelerate: bool = True) -> list[Expr]:
        if system is self.system and not accelerate:
            kin = self._bias_kinematics
        else:
            kin = system.kinematics(links, accelerate=accelerate)
        power = Power()
        add_inertia(power, kin, masses(system, links))
        add_rotors(power, system, kin)
        add_actions(power, system, kin, -1.0, self.actions())
        return power.derivatives(system.u)

    # outputs -----------------------------------------------------------------------------------------------------

    @cached_property
    def inverse_dynamics(self) -> list[Expr]:
        """Efforts tau along the speeds (N m, N) that produce u̇."""
        return self._efforts(self.system, accelerate=True)

    @cached_property
    def bias(self) -> list[Expr]:
        """The efforts at u̇ = 0: M u̇ + bias = tau."""
        return self._efforts(self.system, accelerate=False)

    @cached_property
    def _joint_system(self) -> System:
        """The same mechanism with the motion variables of the joints as speeds; itself, where it has no others."""
        if self.system.map.identity:
            return self.system
        return System(self.mechanism, self.graph, self.free, joint_speeds=True)

    @cached_property
    def _joint_mass_matrix(self) -> Rows:
        """M over the motion variables, in their order, of a tree."""
        system = self._joint_system
        links = self._links(system)
        kin = self._bias_kinematics if system is self.system else system.kinematics(links, accelerate=False)
        return tree_mass_matrix(system, kin, links)

    @cached_property
    def mass_matrix(self) -> Rows:
        """M, symmetric, over the speeds."""
        if self._is_tree and self.system.map.identity:
            place = [self.system.map.s.index(u) for u in self.system.u]
            return [[self._joint_mass_matrix[r][c] for c in place] for r in place]
        if not self._is_tree:
            return self._mass_matrix_by_sweep
        W = linear_coefficients(self.system.map.s, self.system.u)[0]
        by_joints = in_speeds(self.graph, self._joint_mass_matrix, W)
        return min(by_joints, self._mass_matrix_by_sweep, key=lambda M: self._size([e for row in M for e in row]))

    @cached_property
    def _mass_matrix_by_sweep(self) -> Rows:
        """M from the generalized momenta ∂T/∂u_r: any system, any speeds."""
        power = Power()
        add_momentum(power, self._bias_kinematics, masses(self.system, self._cheapest_links))
        for s, inertia in rotors(self.system):
            power.add([s], [inertia * s])
        return general_mass_matrix(power.derivatives(self.system.u), self.system.u)

    def _size(self, exprs: Sequence[Expr]) -> int:
        """How many nodes expressions are computed from: what a choice between two routes goes by."""
        return len(reachable(self.graph, (e.id for e in exprs)))

    @cached_property
    def constraints(self) -> Constraints:
        """A u + c = 0, A u̇ = b and the residuals of configurations, row by row."""
        return self._constraints(spans=False)

    def _constraints(self, *, spans: bool) -> Constraints:
        return constraints(self.system, self._bias_kinematics, spans=spans)

    @cached_property
    def _spans(self) -> Constraints:
        return self._constraints(spans=True)

    @cached_property
    def _regular_state(self) -> Regular:
        """The state at which constraints are judged."""
        return regular_state(self.system, self._spans)

    @cached_property
    def rank(self) -> int:
        """How many rows of the constraints are independent, singular positions aside."""
        return rank(self._spans, self._regular_state.best)

    @cached_property
    def idle_rows(self) -> tuple[bool, ...]:
        """Which rows of the constraints every motion of the mechanism satisfies, so that they restrict nothing."""
        return tuple(find_idle_rows(self.constraints, self._regular_state).tolist())

    @cached_property
    def embedding(self) -> Embedded:
        """u̇_D = D u̇_I + E, the dependent speeds chosen at the initial state or a regular one near it."""
        rows, at = self._spans, self._regular_state.best
        mass = evaluate_matrix([[self.mass_matrix[i][i] for i in range(len(self.system.u))]], at)[0]
        return Embedded.of(rows, choose_speeds(evaluate_matrix(rows.A, at), mass, sizes=rows.sizes), at)

    @cached_property
    def _denominators(self) -> list[Expr]:
        """What the rows of the constraints are divided by: where it vanishes they are at a pole. Zero everywhere if no
        state was found at which the choice of dependent speeds could be made."""
        graph = self.graph
        if not self._regular_state.seen:
            return [graph.const(0.0)]
        nodes = reachable(graph, (e.id for row in self._spans.A for e in row))
        found = dict.fromkeys(graph.args[node][1] for node in nodes if graph.ops[node] == "div")
        return [e for e in map(graph.expr, found) if e.number is None]

    @cached_property
    def forward_dynamics(self) -> list[Expr]:
        """u̇ produced by the efforts tau, solved inside the program, by the route that takes fewer operations."""
        f = [t - b for t, b in zip(self.tau, self.bias, strict=True)]
        if self.mechanism.constraints:
            return self._solve_constrained(f)
        direct = self._solve_mass(self.mass_matrix, f, self._speeds_outward(), self.mechanism.speeds)
        if self.system.map.identity or not self._is_tree:
            return direct
        return min(direct, self._forward_by_joints(), key=self._size)

    def _solve_constrained(self, f: Sequence[Expr]) -> list[Expr]:
        """u̇ with the constraints embedded: independent speeds solved for, dependent ones following."""
        embedded = self.embedding
        M, mixed = embedded.mass_matrix(self.mass_matrix)
        names = [self.mechanism.speeds[i] for i in embedded.choice.independent]
        udot = self._solve_mass(M, embedded.forces(f, mixed), range(len(names)), names)
        return embedded.all_speeds(udot, self.graph)

    def _solve_mass(self, M: Rows, f: Sequence[Expr], outward: Sequence[int], names: Sequence[str]) -> list[Expr]:
        """M⁻¹ f; a speed that moves no mass at all is refused by name."""
        try:
            return solve(M, f, outward)
        except SingularMass as error:
            raise ModelError(
                Problem(
                    self.mechanism.where(f"speed '{names[error.index]}'"),
                    "moves bodies without mass only, so no effort determines its rate",
                    "the mass matrix is positive definite",
                    "give the body mass or inertia, or weld it",
                )
            ) from None

    def _speeds_outward(self) -> list[int]:
        """Indices of the speeds, those of parents before those of children where speeds are motion variables."""
        if not (self._is_tree and self.system.map.identity):
            return list(range(len(self.system.u)))
        place = {e: i for i, e in enumerate(self.system.u)}
        ordered = [place[self.system.take.one(s)] for link in self._cheapest_links for s in link.joint.rates]
        return ordered + [i for i in range(len(self.system.u)) if i not in ordered]

    def _forward_by_joints(self) -> list[Expr]:
        """Solve for the motion variables, where M is sparse, and differentiate the definitions: u̇ = Y ṡ + (Ẏ s + Ż)."""
        system, joints = self.system, self._joint_system
        bias = self._efforts(joints, accelerate=False)
        s = dict(zip(joints.u, system.map.s, strict=True))
        bias = substitute(bias, s)
        Y = system.map.Y
        n = len(bias)
        f = []
        for j in range(n):
            total = -bias[j]
            for r in range(n):
                total = total + Y[r][j] * self.tau[r]
            f.append(total)
        place = {v: i for i, v in enumerate(joints.variables)}
        outward = [place[v] for link in self._cheapest_links for v in link.joint.rates]
        sdot = self._solve_mass(self._joint_mass_matrix, f, outward, [repr(v) for v in joints.variables])
        rates: dict[Expr, Expr | float] = {system.t: 1.0, **dict(zip(system.q, system.qdot, strict=True))}
        Ydot = [forward(row, rates) for row in Y]
        Zdot = forward(system.map.Z, rates)
        out = []
        for r in range(n):
            total = Zdot[r]
            for j in range(n):
                total = total + Y[r][j] * sdot[j] + Ydot[r][j] * system.map.s[j]
            out.append(total)
        return out

    @cached_property
    def kinetic_energy(self) -> Expr:
        """T (J)."""
        total = self.graph.const(0.0)
        for body in self.masses:
            total = total + body.inertia.kinetic_energy(self.velocities.w(body.frame), self.velocities.v(body.ref))
        for s, inertia in rotors(self.system):
            total = total + 0.5 * inertia * s * s
        return total

    @cached_property
    def gravity_potential(self) -> Expr:
        """V of gravity alone (J); zero height at the root point."""
        total = self.graph.const(0.0)
        for body in self.masses:
            down = self.velocities.turn(self.system.gravity, self.mechanism.N, body.frame)
            moment = plus(body.inertia.h, scaled(body.inertia.m, self.velocities.r(body.ref)))
            total = total - dot(down, moment)
        return total

    @cached_property
    def potential_energy(self) -> Expr:
        """V (J) of gravity and of springs; zero height at the root point."""
        total = self.gravity_potential
        for load in self.mechanism.loads.values():
            potential = load.potential()
            if potential is not None:
                total = total + self.system.take.one(potential)
        return total

    @cached_property
    def momentum(self) -> tuple[Triple, Triple]:
        """(p, H): linear momentum (kg m/s) and angular momentum about the root point (kg m²/s), both in N."""
        zero = self.graph.const(0.0)
        p_N: Triple = (zero, zero, zero)
        H_N: Triple = (zero, zero, zero)
        kin = self.velocities
        for body in self.masses:
            p, H = body.inertia.momentum(kin.w(body.frame), kin.v(body.ref))
            H = plus(H, cross(kin.r(body.ref), p))
            p_N = plus(p_N, kin.turn(p, body.frame, self.mechanism.N))
            H_N = plus(H_N, kin.turn(H, body.frame, self.mechanism.N))
        return p_N, H_N

    @cached_property
    def mass_center(self) -> Output:
        """(m, r): total mass (kg) and m times the position of the mass centre in N (kg m)."""
        kin, N = self.velocities, self.mechanism.N
        m, moment = self.graph.const(0.0), kin.zero
        for body in self.masses:
            m = m + body.inertia.m
            here = plus(body.inertia.h, scaled(body.inertia.m, kin.r(body.ref)))
            moment = plus(moment, kin.turn(here, body.frame, N))
        return (4,), [m, *moment]

    def partial_velocities(self, body: str) -> tuple[Rows, Rows]:
        """(ω_r, v_r): partial angular velocities of a body and partial velocities of its mass centre, in its frame."""
        record = self.mechanism.find_body(body, "partial velocities")
        assert record.frame is not None and record.origin is not None
        kin = self.velocities
        w = kin.w(record.frame)
        center = self.system.take.triple(record.center)
        v = plus(kin.turn(kin.v(record.origin), record.origin.home, record.frame), cross(w, center))
        A, _ = linear_coefficients([*w, *v], self.system.u)
        return A[:3], A[3:]

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
            "constraints": self._rows,
            "guarded_dynamics": lambda: {
                "udot": ((n,), self.forward_dynamics),
                "pivots": ((len(self.embedding.shrunk),), self.embedding.shrunk),
                **({"denominators": ((len(self._denominators),), self._denominators)} if self._denominators else {}),
            },
        }
        if name in ("constraints", "guarded_dynamics") and not self.mechanism.constraints:
            raise ExpressionError(f"model '{self.mechanism.name}' has no constraints")
        if name not in table:
            raise ExpressionError(f"no equations called '{name}': there are {', '.join(self.SIGNATURES)}")
        return table[name]()

    def _rows(self) -> dict[str, Output]:
        n, m, rows = len(self.system.u), len(self.constraints), self.constraints
        return {
            "A": ((m, n), [e for row in rows.A for e in row]),
            "rate": ((m,), rows.rate),
            "b": ((m,), rows.b),
            "phi": ((m,), rows.phi),
        }

    def _poses(self) -> dict[str, Output]:
        flat: list[Expr] = []
        for body in self.mechanism.bodies.values():
            flat += pose(self, place_of(self, body.name))
        return {"poses": ((len(self.mechanism.bodies), 12), flat)}

    # programs ----------------------------------------------------------------------------------------------------

    def groups(self, names: Sequence[str]) -> list[Inputs]:
        """Groups of inputs, by name."""
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
        "guarded_dynamics": ("q", "u", "tau"),
    }
    """What can be asked for, and the inputs each takes."""

    def program(self, name: str = "inverse_dynamics") -> Program:
        """The program that computes the named outputs; t and parameters are inputs only where they matter."""
        if not isinstance(name, str):
            raise ExpressionError(f"no equations called {name!r}: there are {', '.join(self.SIGNATURES)}")
        if name not in self._programs:
            # in a graph of its own: what was asked before leaves no trace
            alone = type(self)(self.mechanism, self.free)
            outputs = alone._outputs(name)
            self._programs[name] = alone.lower_with_time(name, self.SIGNATURES[name], outputs)
        return self._programs[name]

    def lower_with_time(self, name: str, groups: Sequence[str], outputs: Mapping[str, Output]) -> Program:
        """As `lower_outputs`, with t as the first input where something depends on it."""
        return self.lower_outputs(name, ["t", *groups], outputs, optional=("t",))

    def lower_outputs(
        self, name: str, groups: Sequence[str], outputs: Mapping[str, Output], *, optional: Sequence[str] = ()
    ) -> Program:
        """A program of any outputs from named groups of inputs, parameters added where some are free."""
        inputs = self.groups([*groups, *(["parameters"] if self.free else [])])
        return lower(name, inputs, outputs, optional=optional)

    def control_efforts(self, control: Mapping[Expr, Expr]) -> list[Expr]:
        """Efforts along the speeds of a control law that gives efforts along motion variables."""
        power = Power()
        take = self.system.take
        for variable, effort in control.items():
            power.add([take.one(variable)], [take.one(effort)])
        return power.derivatives(self.system.u)

    def count(self, name: str = "inverse_dynamics") -> dict[str, int]:
        """Operations of one evaluation, work that depends on parameters only left out (it is done once)."""
        program = self.program(name)
        total, once = program.count(), program.count("parameters")
        return {k: total[k] - once[k] for k in total}

    def hoist(self, name: str = "inverse_dynamics") -> tuple[Program, Program]:
        """(prelude, body): the work on parameters done once, and the rest."""
        return hoist(self.program(name), "parameters")

    def __repr__(self) -> str:
        return f"<Equations of '{self.mechanism.name}': {len(self.system.u)} speeds, {len(self.graph)} nodes so far>"


__all__ = ["Equations", "formulate"]
