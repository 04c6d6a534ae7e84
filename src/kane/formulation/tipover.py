"""The force-angle measure of tip-over of Papadopoulos and Rey (1996), [TK01, Eq. 9] with its lever arms.

For every edge of the support polygon, the angle between the net force on the platform and the line from its mass centre
to the edge; net force and moment are minus the sum of the forces of the ground and of their moments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..constraints.thresholds import ROUNDING
from ..graph import Expr
from ..space.algebra import Triple, cross, dot, minus, plus, scaled


class Measures:
    """The force-angle measure for every edge of the support polygon."""

    def __init__(
        self,
        contacts: Sequence[Triple],
        forces: Sequence[Triple],
        edges: Sequence[tuple[int, int]],
        least: float | None = None,
    ):
        """Of forces at contacts, from the platform's mass centre and in its axes; `edges` are pairs of contacts. Where
        forces may vanish, `least` is what their square counts at least."""
        self.contacts, self.edges, self.least = contacts, edges, least
        zero = contacts[0][0].graph.const(0.0)
        f: Triple = (zero, zero, zero)
        n: Triple = (zero, zero, zero)
        for contact, force in zip(contacts, forces, strict=True):
            f, n = minus(f, force), minus(n, cross(contact, force))
        self.f, self.n = f, n
        self.size = dot(f, f).sqrt()

    def all(self) -> tuple[list[Expr], list[Expr], list[Expr], list[Expr]]:
        """Of all edges: angles (rad), moments (N m), angle × force (N rad), angle × distance × force (N m rad)."""
        found = [self._edge(i, j) for i, j in self.edges]
        angles, moments, betas = ([x[k] for x in found] for k in range(3))
        return angles, moments, [angle * self.size for angle in angles], betas

    def _edge(self, i: int, j: int) -> tuple[Expr, Expr, Expr]:
        """Angle (rad), moment (N m) and the measure with distance (N m rad) of the edge from one wheel to the next."""
        p, q = self.contacts[i], self.contacts[j]
        a = minus(q, p)
        a = scaled(1.0 / dot(a, a).sqrt(), a)
        l = minus(q, scaled(dot(a, q), a))
        f = minus(self.f, scaled(dot(a, self.f), a))
        n = scaled(dot(a, self.n), a)
        f = plus(f, scaled(1.0 / dot(l, l), cross(l, n)))
        moment, along = dot(cross(l, f), a), dot(l, f)
        angle = moment.atan2(along)
        square = dot(f, f)
        d = minus(scaled(along / (square if self.least is None else square.max(self.least)), f), l)
        return angle, moment, angle * (dot(d, d) * square).sqrt()


def hull_edges(points: Sequence[Sequence[float]], up: Sequence[float]) -> list[tuple[int, int]]:
    """Edges of the convex hull of points in a plane, as pairs of indices, counter-clockwise about `up`."""
    n = np.array(up)
    x = np.cross([0.0, 1.0, 0.0], n)
    x /= np.linalg.norm(x)
    flat = np.array(points) @ np.stack([x, np.cross(n, x)], axis=1)
    order = sorted(range(len(points)), key=lambda k: (flat[k, 0], flat[k, 1]))

    def turn(o: int, a: int, b: int) -> float:
        u, v = flat[a] - flat[o], flat[b] - flat[o]
        return float(u[0] * v[1] - u[1] * v[0])

    chain: list[int] = []
    for half in (order, order[::-1]):
        start = len(chain)
        for k in half:
            while len(chain) >= start + 2 and turn(chain[-2], chain[-1], k) <= ROUNDING:
                chain.pop()
            chain.append(k)
        chain.pop()
    if len(chain) < 3:
        return []
    first = chain.index(min(chain))
    chain = chain[first:] + chain[:first]
    return list(zip(chain, [*chain[1:], chain[0]], strict=True))


__all__ = ["Measures", "hull_edges"]
