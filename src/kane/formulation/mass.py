"""The mass matrix of a tree by composite bodies, its LᵀDL factors, and the solution of M u̇ = f inside the program.

Composite bodies: the inertia of everything outboard of a joint, as one rigid body. A column of M is the force that
gives this body unit acceleration along the joint, at the joint itself and at all inboard of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Expr, Graph, linear_coefficients
from ..space import Frame, Kinematics
from ..space.algebra import Triple, cross, dot, plus
from .inertia import Inertia
from .links import Link
from .system import System

Rows = list[list[Expr]]


def tree_mass_matrix(system: System, kin: Kinematics, links: Sequence[Link]) -> Rows:
    """M over the motion variables of the joints, in their order."""
    graph = system.graph
    zero = graph.const(0.0)
    place = {v: i for i, v in enumerate(system.variables)}
    n = len(place)
    M: Rows = [[zero] * n for _ in range(n)]
    per_link = {id(link): columns(system, kin, link) for link in links}
    composite = {id(link): link.inertia for link in links}
    for rotor in system.mechanism.rotors.values():
        k = place[rotor.variable]
        M[k][k] = M[k][k] + system.take.one(rotor.inertia)
    for link in reversed(links):
        body = composite[id(link)]
        own = [place[s] for s in link.joint.moved_by]
        for a, (k, (w, v)) in enumerate(zip(own, per_link[id(link)], strict=True)):
            F, N = body.momentum(w, v)
            M[k][k] = M[k][k] + (dot(w, N) + dot(v, F))
            for j, (w_j, v_j) in list(zip(own, per_link[id(link)], strict=True))[:a]:
                _add(M, k, j, dot(w_j, N) + dot(v_j, F))
            _pass_inward(kin, link, F, N, k, place, per_link, M)
        if link.parent is not None:
            composite[id(link.parent)] = composite[id(link.parent)] + _composite_in_parent(kin, link, link.parent, body)
    return M


def columns(system: System, kin: Kinematics, link: Link) -> list[tuple[Triple, Triple]]:
    """(ω, v) per unit of each motion variable that moves the link's joint, in the link's axes."""
    moved_by = link.joint.moved_by
    if not moved_by:
        return []
    A, _ = linear_coefficients([*link.w, *kin.turn(link.v.xyz, link.v.frame, link.frame)], system.take(moved_by))
    return [((A[0][k], A[1][k], A[2][k]), (A[3][k], A[4][k], A[5][k])) for k in range(len(moved_by))]


def _add(M: Rows, k: int, j: int, x: Expr) -> None:
    """Add what two different columns of joints share to M; twice to the diagonal, where one variable moves both."""
    if k == j:
        x = 2.0 * x
    M[k][j] = M[k][j] + x
    M[j][k] = M[k][j]


def _offset(kin: Kinematics, link: Link, parent: Link) -> Triple:
    """From the parent's reference point to the link's, in the parent's axes."""
    inner = link.point.parent
    assert inner is not None
    p = kin.turn(kin.offset(link.point)[0], link.point.offset.frame, parent.frame)
    if inner is not parent.point:
        p = plus(p, kin.turn(kin.offset(inner)[0], inner.offset.frame, parent.frame))
    return p


def _pass_inward(
    kin: Kinematics,
    link: Link,
    F: Triple,
    N: Triple,
    k: int,
    place: dict[Expr, int],
    per_link: dict[int, list[tuple[Triple, Triple]]],
    M: Rows,
) -> None:
    while link.parent is not None:
        outer, link = link, link.parent
        F = kin.turn(F, outer.frame, link.frame)
        N = plus(kin.turn(N, outer.frame, link.frame), cross(_offset(kin, outer, link), F))
        for s, (w, v) in zip(link.joint.moved_by, per_link[id(link)], strict=True):
            _add(M, k, place[s], dot(w, N) + dot(v, F))


def _composite_in_parent(kin: Kinematics, link: Link, parent: Link, body: Inertia) -> Inertia:
    """The composite body of a link about its parent's reference point, in the parent's axes."""
    frame: Frame | None = link.frame
    while frame is not None and frame is not parent.frame:
        body = body.rotate(kin.R(frame))
        frame = frame.parent
    return body.shift(_offset(kin, link, parent))


def general_mass_matrix(momenta: Sequence[Expr], u: Sequence[Expr]) -> Rows:
    """M from the generalized momenta ∂T/∂u_r, which are linear in u; one triangle computed, the other mirrored."""
    M = linear_coefficients(momenta, u)[0]
    return [[M[min(i, j)][max(i, j)] for j in range(len(u))] for i in range(len(u))]


def in_speeds(graph: Graph, M: Rows, W: Rows) -> Rows:
    """Wᵀ M W."""
    n = len(M)

    def times(a: Rows, b: Rows) -> Rows:
        out = []
        for i in range(n):
            row = []
            for j in range(n):
                total = graph.const(0.0)
                for k in range(n):
                    total = total + a[i][k] * b[k][j]
                row.append(total)
            out.append(row)
        return out

    return times([list(r) for r in zip(*W, strict=True)], times(M, W))


class SingularMass(Exception):
    """The speed with this index moves no mass, whatever the configuration."""

    def __init__(self, index: int):
        super().__init__(index)
        self.index = index


def solve(M: Rows, f: Sequence[Expr], outward: Sequence[int]) -> list[Expr]:
    """u̇ with M u̇ = f by M = LᵀDL, eliminating from the outermost speed inwards: no fill-in on a tree.

    `outward` lists the indices of the speeds, parents before children.
    """
    M = [list(row) for row in M]
    x = list(f)
    inverse: dict[int, Expr] = {}
    L: dict[tuple[int, int], Expr] = {}
    for position in range(len(outward) - 1, -1, -1):
        k = outward[position]
        inner = [i for i in outward[:position] if not M[k][i].is_zero]
        if M[k][k].is_zero:
            raise SingularMass(k)
        inverse[k] = 1.0 / M[k][k]
        for i in inner:
            L[k, i] = M[k][i] * inverse[k]
        for a, i in enumerate(inner):
            for j in inner[: a + 1]:
                M[i][j] = M[j][i] = M[i][j] - L[k, i] * M[k][j]
            x[i] = x[i] - L[k, i] * x[k]
    for k in outward:
        x[k] = x[k] * inverse[k]
        for i in outward:
            if (k, i) in L:
                x[k] = x[k] - L[k, i] * x[i]
    return x


__all__ = ["SingularMass", "columns", "general_mass_matrix", "in_speeds", "solve", "tree_mass_matrix"]
