"""Everything that can be asked of a mechanism, as expressions of one graph; nothing is built before it is asked for.

F_r + F_r* = 0 with the efforts tau along the speeds among the active forces, so inverse dynamics is tau = −(F_r + F_r*)
and forward dynamics M u̇ = tau − bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from ..boundary import refuse_odd
from ..constraints.diagnosis import MOVES_NO_MASS
from ..constraints.rank import choose_speeds
from ..errors import ModelError, Problem
from ..graph import Expr, Graph, forward, linear_coefficients, reachable, substitute
from ..model import Mechanism
from ..model.loads import Action
from ..space import Kinematics
from ..space.algebra import Triple, cross, dot, plus, scaled
from .constraints import Constraints, constraints
from .embedding import Embedded, evaluate_matrix
from .idle import without_idle
from .links import Axes, Link, lay_out, lay_out_cheaply
from .mass import Rows, SingularMass, general_mass_matrix, in_speeds, solve, tree_mass_matrix
from .regular import Regular, find_idle_rows, rank, regular_state
from .sweep import Mass, Power, add_actions, add_inertia, add_momentum, add_rotors, masses, rotors
from .system import System

Output = tuple[tuple[int, ...], list[Expr]]


class MotionExpressions:
    """What can be asked of a mechanism, as expressions of one graph."""

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
            load.actions()
            load.potential()

    # parts -------------------------------------------------------------------------------------------------------

    @cached_property
    def _layout(self) -> tuple[Axes, list[Link]]:
        """The axes of all links, for every question the same: what two of them need is then computed once. And the
        links on them with their inertias regrouped."""
        return lay_out_cheaply(self.mechanism, self.system.take)

    @cached_property
    def _cheapest_links(self) -> list[Link]:
        """The links with their inertias regrouped. Where speeds were chosen that describe a body directly, its inertia
        may cost less where it is: the better of the two."""
        regrouped = self._layout[1]
        if self.system.map.identity:
            return regrouped
        return min((regrouped, self.original_links), key=lambda links: self._size(self._efforts_of(self.system, links)))

    def _links(self, system: System) -> list[Link]:
        return self._cheapest_links if system is self.system else self._lay_out(system, regroup=True)

    def _lay_out(self, system: System, *, regroup: bool) -> list[Link]:
        return lay_out(self.mechanism, system.take, self._layout[0], regroup=regroup)

    @cached_property
    def original_links(self) -> list[Link]:
        """The bodies as described, parents before children, each with its joint, axes, reference point and inertia.

        >>> e = kane.load("double-pendulum").equations()
        >>> [link.body.name for link in e.original_links]
        ['upper', 'lower']
        """
        return self._lay_out(self.system, regroup=False)

    @cached_property
    def masses(self) -> list[Mass]:
        """Mass and inertia of every body as described, each with its frame and reference point.

        >>> e = kane.load("double-pendulum").equations()
        >>> len(e.masses)
        2
        """
        return masses(self.system, self.original_links)

    @cached_property
    def velocities(self) -> Kinematics:
        """Kinematics of the original bodies, without accelerations.

        >>> e = kane.load("pendulum").equations()
        >>> e.velocities.w(e.mechanism.frames["bob"])
        (0, 0, u)
        """
        return self.system.kinematics(self.original_links, accelerate=False, gravity=False)

    @cached_property
    def accelerations(self) -> Kinematics:
        """Kinematics of the original bodies with u̇, gravity left out.

        >>> e = kane.load("pendulum").equations()
        >>> e.accelerations.alpha(e.mechanism.frames["bob"])
        (0, 0, u')
        """
        return self.system.kinematics(self.original_links, gravity=False)

    @cached_property
    def _bias_kinematics(self) -> Kinematics:
        """Kinematics of the cheapest links at u̇ = 0, gravity through the base: of the bias and of constraints."""
        return self.system.kinematics(self._cheapest_links, accelerate=False)

    @refuse_odd
    def path(self, body: str) -> list[Link] | None:
        """The links from the ground to a body, or None where speeds are not the motion variables of joints.

        >>> e = kane.load("double-pendulum").equations()
        >>> [link.body.name for link in e.path("lower")]
        ['upper', 'lower']
        """
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

    def actions(self) -> list[Action]:
        """Forces, torques and efforts of all loads, in the order of the loads.

        >>> m = kane.load("pendulum")
        >>> built = m.load("push", kane.Force("bob", (1, 0, 0)))
        >>> len(m.equations().actions())
        1
        """
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
        for load in self.mechanism.loads.values():
            for action in load.actions():
                system.graph.note([system.take.one(x) for x in action.exprs()], f"load {load.name}")
        return self.without_idle(power.derivatives(system.u))

    def without_idle(self, exprs: list[Expr]) -> list[Expr]:
        """Expressions in which parameters that have no value, and make no difference there, are zero.

        >>> e = kane.load("pendulum").equations()
        >>> e.without_idle(e.bias)
        [(9.81 * sin(q))]
        """
        parameters = self.mechanism.parameters.values()
        open_ = [self.graph.input(p.name) for p in parameters if not p.has_value and p.name not in self.free]
        return without_idle(exprs, open_) if open_ else exprs

    # outputs -----------------------------------------------------------------------------------------------------

    @cached_property
    def inverse_dynamics(self) -> list[Expr]:
        """Efforts tau along the speeds (N m, N) that produce u̇.

        >>> e = kane.load("pendulum").equations()
        >>> e.inverse_dynamics
        [(u' + (9.81 * sin(q)))]
        """
        return self._efforts(self.system, accelerate=True)

    @cached_property
    def bias(self) -> list[Expr]:
        """The efforts at u̇ = 0: M u̇ + bias = tau.

        >>> e = kane.load("pendulum").equations()
        >>> e.bias
        [(9.81 * sin(q))]
        """
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
        """M, symmetric, over the speeds.

        >>> e = kane.load("double-pendulum").equations()
        >>> e.mass_matrix[1][1]
        1
        """
        M, names = self._cheapest_mass_matrix(), self.mechanism.speeds
        for one, row in zip(names, M, strict=True):
            for other, entry in zip(names, row, strict=True):
                self.graph.note([entry], f"M, {one}" + (f" and {other}" if other != one else ""))
        return M

    def _cheapest_mass_matrix(self) -> Rows:
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
        return general_mass_matrix(self.without_idle(power.derivatives(self.system.u)), self.system.u)

    def _size(self, exprs: Sequence[Expr]) -> int:
        """How many nodes expressions are computed from: what a choice between two routes goes by."""
        return len(reachable(self.graph, (e.id for e in exprs)))

    @cached_property
    def constraints(self) -> Constraints:
        """A u + c = 0, A u̇ = b and the residuals of configurations, row by row.

        >>> e = kane.load("four-bar").equations()
        >>> len(e.constraints)
        5
        """
        return constraints(self.system, self._bias_kinematics)

    def partial_constraints(self, count: int) -> Constraints:
        """The same, where b is asked for of the first rows only: it takes most of the work.

        >>> e = kane.load("four-bar").equations()
        >>> [b.is_zero for b in e.partial_constraints(1).b[1:]]
        [True, True, True, True]
        """
        return constraints(self.system, self._bias_kinematics, accelerated=count)

    @cached_property
    def spanning_rows(self) -> Constraints:
        """Rows that leave the same motion as the constraints, where they cost less; what is eliminated by.

        >>> e = kane.load("four-bar").equations()
        >>> len(e.spanning_rows)
        5
        """
        return constraints(self.system, self._bias_kinematics, spans=True)

    @cached_property
    def regular_state(self) -> Regular:
        """The state at which constraints are judged.

        >>> e = kane.load("four-bar").equations()
        >>> len(e.regular_state.seen) > 0
        True
        """
        spans = any(c.span for c in self.mechanism.constraints.values())  # which do not say where bodies are
        return regular_state(self.system, self.constraints if spans else self.spanning_rows)

    @cached_property
    def rank(self) -> int:
        """How many rows of the constraints are independent, singular positions aside.

        >>> e = kane.load("four-bar").equations()
        >>> e.rank
        2
        """
        return rank(self.spanning_rows, self.regular_state.best)

    @cached_property
    def idle_rows(self) -> tuple[bool, ...]:
        """Which rows of the constraints every motion of the mechanism satisfies, so that they restrict nothing.

        >>> e = kane.load("four-bar").equations()
        >>> dict(zip(e.mechanism.row_names, e.idle_rows, strict=True))["pin.z"]
        True
        """
        return tuple(find_idle_rows(self.constraints, self.regular_state).tolist())

    @cached_property
    def embedding(self) -> Embedded:
        """u̇_D = D u̇_I + E, the dependent speeds chosen at the initial state or a regular one near it.

        >>> e = kane.load("four-bar").equations()
        >>> e.embedding.choice.independent
        (0,)
        """
        rows, at = self.spanning_rows, self.regular_state.best
        mass = evaluate_matrix([[self.mass_matrix[i][i] for i in range(len(self.system.u))]], at)[0]
        return Embedded.of(rows, choose_speeds(evaluate_matrix(rows.A, at), mass, sizes=rows.sizes), at)

    @cached_property
    def denominators(self) -> list[Expr]:
        """What the rows of the constraints are divided by: where it vanishes they are at a pole. Zero everywhere if no
        state was found at which the choice of dependent speeds could be made.

        >>> e = kane.load("four-bar").equations()
        >>> e.denominators
        []
        """
        graph = self.graph
        if not self.regular_state.seen:
            return [graph.const(0.0)]
        nodes = reachable(graph, (e.id for row in self.spanning_rows.A for e in row))
        found = dict.fromkeys(graph.args[node][1] for node in nodes if graph.ops[node] == "div")
        return [e for e in map(graph.expr, found) if e.number is None]

    @cached_property
    def forward_dynamics(self) -> list[Expr]:
        """u̇ produced by the efforts tau, solved inside the program, by the route that takes fewer operations.

        >>> e = kane.load("pendulum").equations()
        >>> e.forward_dynamics
        [(tau_u - (9.81 * sin(q)))]
        """
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
                    *MOVES_NO_MASS,
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
        f: list[Expr] = []
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
        out: list[Expr] = []
        for r in range(n):
            total = Zdot[r]
            for j in range(n):
                total = total + Y[r][j] * sdot[j] + Ydot[r][j] * system.map.s[j]
            out.append(total)
        return out

    @cached_property
    def kinetic_energy(self) -> Expr:
        """T (J).

        >>> e = kane.load("pendulum").equations()
        >>> e.kinetic_energy
        (0.5 * (u * u))
        """
        total = self.graph.const(0.0)
        for body in self.masses:
            total = total + body.inertia.kinetic_energy(self.velocities.w(body.frame), self.velocities.v(body.ref))
        for s, inertia in rotors(self.system):
            total = total + 0.5 * inertia * s * s
        return total

    @cached_property
    def gravity_potential(self) -> Expr:
        """V of gravity alone (J); zero height at the root point.

        >>> e = kane.load("pendulum").equations()
        >>> e.gravity_potential
        neg((9.81 * cos(q)))
        """
        total = self.graph.const(0.0)
        for body in self.masses:
            down = self.velocities.turn(self.system.gravity, self.mechanism.N, body.frame)
            moment = plus(body.inertia.h, scaled(body.inertia.m, self.velocities.r(body.ref)))
            total = total - dot(down, moment)
        return total

    @cached_property
    def potential_energy(self) -> Expr:
        """V (J) of gravity and of springs; zero height at the root point.

        >>> e = kane.load("pendulum").equations()
        >>> e.potential_energy
        neg((9.81 * cos(q)))
        """
        total = self.gravity_potential
        for load in self.mechanism.loads.values():
            potential = load.potential()
            if potential is not None:
                total = total + self.system.take.one(potential)
        return total

    @cached_property
    def momentum(self) -> tuple[Triple, Triple]:
        """(p, H): linear momentum (kg m/s) and angular momentum about the root point (kg m²/s), both in N.

        >>> e = kane.load("pendulum").equations()
        >>> linear, angular = e.momentum
        >>> angular
        (0, 0, u)
        """
        zero = self.graph.const(0.0)
        linear: Triple = (zero, zero, zero)
        angular: Triple = (zero, zero, zero)
        kin = self.velocities
        for body in self.masses:
            p, H = body.inertia.momentum(kin.w(body.frame), kin.v(body.ref))
            about_root = plus(H, cross(kin.r(body.ref), p))
            linear = plus(linear, kin.turn(p, body.frame, self.mechanism.N))
            angular = plus(angular, kin.turn(about_root, body.frame, self.mechanism.N))
        return linear, angular

    @cached_property
    def mass_center(self) -> Output:
        """(m, r): total mass (kg) and m times the position of the mass centre in N (kg m).

        >>> e = kane.load("pendulum").equations()
        >>> e.mass_center
        ((4,), [1, sin(q), neg(cos(q)), 0])
        """
        kin, N = self.velocities, self.mechanism.N
        m, moment = self.graph.const(0.0), kin.zero
        for body in self.masses:
            m = m + body.inertia.m
            here = plus(body.inertia.h, scaled(body.inertia.m, kin.r(body.ref)))
            moment = plus(moment, kin.turn(here, body.frame, N))
        return (4,), [m, *moment]

    @refuse_odd
    def partial_velocities(self, body: str) -> tuple[Rows, Rows]:
        """(ω_r, v_r): partial angular velocities of a body and partial velocities of its mass centre, in its frame.

        >>> e = kane.load("pendulum").equations()
        >>> angular, linear = e.partial_velocities("bob")
        >>> linear
        [[1], [0], [0]]
        """
        record = self.mechanism.find_body(body, "partial velocities")
        assert record.frame is not None and record.origin is not None
        kin = self.velocities
        w = kin.w(record.frame)
        center = self.system.take.triple(record.center)
        v = plus(kin.turn(kin.v(record.origin), record.origin.home, record.frame), cross(w, center))
        A, _ = linear_coefficients([*w, *v], self.system.u)
        return A[:3], A[3:]

    def control_efforts(self, control: Mapping[Expr, Expr]) -> list[Expr]:
        """Efforts along the speeds of a control law that gives efforts along motion variables.

        >>> m = kane.load("pendulum")
        >>> law = m.control("damp", {"pivot": "-0.3*u"})
        >>> m.equations().control_efforts(law.efforts)
        [neg((0.3 * u))]
        """
        power = Power()
        take = self.system.take
        for variable, effort in control.items():
            power.add([take.one(variable)], [take.one(effort)])
        return power.derivatives(self.system.u)


__all__ = ["MotionExpressions", "Output"]
