"""Sums and products taken apart, factored and rebuilt: one round of `shorten`.

A node is taken apart only where it has no other use. What comes out is a new graph with the same values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .graph import CONST, INPUT, Graph
from .live import ONCE, Lateness, Live, copied, moderate

_DEEP = 40  # factors within factors: deeper only in polynomials made for it, and recursion has to end
_TRIED = 40  # terms of a sum up to which products with sums inside are tried expanded

Weights = list[float]
"""Of the factors of a term, in ascending order."""


class Term(NamedTuple):
    """sign · Π factors, factors being nodes of the new graph in ascending order, none of them negative."""

    negative: bool
    factors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A sum of terms and of products with sums inside, and the weight of its multiplications."""

    terms: tuple[Term, ...]
    cost: float
    groups: tuple[tuple[tuple[int, ...], Plan], ...] = ()


class Planner:
    """Plans sums over the nodes of one graph, which it does not change but for constants."""

    def __init__(self, out: Graph, late: Lateness):
        self.out = out
        self.late = late

    def plan(self, terms: list[Term], depth: int) -> Plan:
        """How to add up `terms`: the factor that saves most is taken out first."""
        holders: dict[int, list[int]] = {}
        for i, (_, factors) in enumerate(terms):
            if len(factors) > 1:
                before = -1
                for f in factors:
                    if f != before:  # a square holds its factor once
                        holders.setdefault(f, []).append(i)
                    before = f
        weights = self.weights(terms)
        alive = [True] * len(terms)
        # among equals numbers go last: they may still meet other numbers inside
        ops = self.out.ops
        queue = [
            (-self.gain(f, [weights[i] for i in held]), ops[f] == CONST, f)
            for f, held in holders.items()
            if len(held) > 1
        ]
        heapify(queue)
        groups: list[tuple[tuple[int, ...], Plan]] = []
        cost = 0.0
        while queue and depth < _DEEP:
            promised, last, f = heappop(queue)
            held = [i for i in holders[f] if alive[i]]
            if len(held) < 2 or promised >= 0:
                continue
            gain = self.gain(f, [weights[i] for i in held])
            if -gain > promised:  # terms went to other factors since: back into the queue
                holders[f] = held
                heappush(queue, (-gain, last, f))
                continue
            for i in held:
                alive[i] = False
            factors, inner = self.taken_out(f, [terms[i] for i in held], depth)
            groups.append((factors, inner))
            latest = max(weights[i][-1] for i in held)
            cost += inner.cost + _cost(sorted([*map(self.weight, factors), latest]))
        cost += sum(_cost(w) for w, there in zip(weights, alive, strict=True) if there)
        return Plan(tuple(t for t, there in zip(terms, alive, strict=True) if there), cost, tuple(groups))

    def taken_out(self, f: int, terms: list[Term], depth: int) -> tuple[tuple[int, ...], Plan]:
        """(factors, Σ terms / factors): f, and whatever else all terms share and is worth it."""
        outside = [f]
        inside = [_without(t, f) for t in terms]
        if set(inside[0].factors).intersection(*(t.factors for t in inside[1:])):
            shared = Counter(inside[0].factors)
            for t in inside[1:]:
                shared &= Counter(t.factors)
            for g in shared.elements():
                if self.gain(g, self.weights(inside)) > 0:
                    outside.append(g)
                    inside = [_without(t, g) for t in inside]
        one = self.out._const(1.0)
        inside = [t if t.factors else Term(t.negative, (one,)) for t in inside]
        return tuple(outside), self.plan(inside, depth + 1)

    def weight(self, node: int) -> float:
        return ONCE if self.late.stages()[node] <= 0 else 1.0

    def weights(self, terms: Sequence[Term]) -> list[Weights]:
        stage = self.late.stages()
        return [sorted([ONCE if stage[f] <= 0 else 1.0 for f in t.factors]) for t in terms]

    def gain(self, f: int, held: Sequence[Weights]) -> float:
        """What taking `f` out of terms of these weights saves, less the multiplication by it afterwards.

        All but the lightest factor cost a multiplication; without f the lightest is another one, unless f is alone.
        """
        weight = self.weight(f)
        return sum([max(weight, w[1]) for w in held if len(w) > 1]) - max([w[-1] for w in held])


class Round:
    """One pass over the live nodes into a new graph: every sum and product flattened, factored and rebuilt."""

    def __init__(self, live: Live, stages: Mapping[str, int]):
        self.live = live
        self.old = live.graph
        self.out = Graph()
        self.late = Lateness(self.out, stages)
        self.planner = Planner(self.out, self.late)
        self.new: dict[int, int] = {}
        self.uses = live.uses()
        self.absorbed = self.find_absorbed()

    def find_absorbed(self) -> set[int]:
        """Single-use nodes that their consumer takes apart: sums within sums, products within sums and products."""
        ops, args, uses, found = self.old.ops, self.old.args, self.uses, set[int]()
        for n in self.live.nodes:
            if ops[n] in ("add", "sub"):
                found.update([a for a in args[n] if uses[a] == 1 and ops[a] in ("add", "sub", "mul", "div")])
            elif ops[n] == "mul":
                found.update([a for a in args[n] if uses[a] == 1 and ops[a] == "mul"])
        return found

    def result(self) -> Live:
        old, out, new, absorbed = self.old, self.out, self.new, self.absorbed
        for n in self.live.nodes:
            op, args = old.ops[n], old.args[n]
            if n in absorbed:
                continue
            if op in (CONST, INPUT) or absorbed.isdisjoint(args):
                new[n] = copied(old, n, out, new)
            elif op == "mul":
                new[n] = self.product(self.factors(n)[0])
            else:
                new[n] = self.sum(n)
            if n in old.provenance:
                out.note([out.expr(new[n])], old.provenance[n])
        return Live(out, tuple(new[r] for r in self.live.roots))

    def factors(self, node: int) -> tuple[Term, list[int]]:
        """The product `node` taken apart, and those of its factors (old nodes) that are sums used only here."""
        ops, args, out_ops = self.old.ops, self.old.args, self.out.ops
        negative, found, sums, stack = False, [], [], [*args[node]]
        while stack:
            n = stack.pop()
            if n in self.absorbed and ops[n] == "mul":
                stack.extend(args[n])
                continue
            if self.uses[n] == 1 and ops[n] in ("add", "sub"):
                sums.append(n)
            m = self.new[n]
            if out_ops[m] == "neg":
                negative, m = not negative, self.out.args[m][0]
            found.append(m)
        return self.merged(negative, found), sums

    def merged(self, negative: bool, factors: Iterable[int]) -> Term:
        """The term with its constants multiplied into one, which is left out if it is 1."""
        ops, constant, rest = self.out.ops, 1.0, []
        for f in factors:
            if ops[f] == CONST and moderate(constant * self.out.args[f][0]):
                constant *= self.out.args[f][0]
            else:
                rest.append(f)
        if abs(constant) != 1.0 or not rest:
            rest.append(self.out._const(abs(constant)))
        rest.sort()
        return Term(negative != (constant < 0), tuple(rest))

    def product(self, term: Term) -> int:
        """The node of a term: parameters, times the number, times what is late; a number alone goes outermost."""
        out, factors = self.out, term.factors
        if len(factors) == 1:
            return out.build("neg", factors[0]) if term.negative else factors[0]
        stage = self.late.stages()
        numbers = [f for f in factors if stage[f] < 0]
        early = [f for f in factors if stage[f] == 0]
        late = [f for f in factors if stage[f] > 0]
        late.sort(key=stage.__getitem__)
        node, *rest = (*early, *numbers, *late) if early else (*late, *numbers)
        for f in rest:
            node = out.build("mul", node, f)
        return out.build("neg", node) if term.negative else node

    def by_stage(self, nodes: Iterable[int]) -> list[int]:
        """Early nodes first, whatever their sign, so that sums with the same beginning share it."""
        ops, args, stage = self.out.ops, self.out.args, self.late.stages()
        return sorted(nodes, key=lambda n: (stage[n], args[n][0] if ops[n] == "neg" else n))

    # sums

    def sum(self, node: int) -> int:
        """The sum `node` flattened, factored and added up again, products of sums expanded where that saves."""
        terms, inner = self.terms(node)
        plan = self.planner.plan(terms, 0)
        for product, n in inner[:_TRIED]:
            factor = self.unsigned(False, self.new[n]).factors[0]
            there = any(t is product for t in terms)
            if not there or factor not in product.factors or len(terms) > _TRIED:
                continue
            parts = self.terms(n)[0]
            rest = _without(product, factor).factors
            flip = product.negative != (self.out.ops[self.new[n]] == "neg")
            expanded = [t for t in terms if t is not product]
            expanded += [self.merged(flip != t.negative, (*rest, *t.factors)) for t in parts]
            other = self.planner.plan(self.collected(expanded), 0)
            if other.cost < plan.cost + self.planner.plan(parts, 0).cost:
                terms, plan = self.collected(expanded), other
        return self.added(plan)

    def terms(self, node: int) -> tuple[list[Term], list[tuple[Term, int]]]:
        """The sum `node` taken apart, and the terms with a factor (an old node) that is a sum used only there."""
        old, out = self.old, self.out
        terms: list[Term] = []
        inner: list[tuple[Term, int]] = []
        over: dict[int, list[Term]] = {}
        stack = [(False, node)]
        while stack:
            negative, n = stack.pop()
            op, args = old.ops[n], old.args[n]
            if n != node and n not in self.absorbed:
                terms.append(self.bare(negative, self.new[n]))
            elif op in ("add", "sub"):
                stack.append((negative != (op == "sub"), args[1]))
                stack.append((negative, args[0]))
            elif op == "mul":
                product, sums = self.factors(n)
                terms.append(Term(negative != product.negative, product.factors))
                inner += [(terms[-1], s) for s in sums]
            else:
                over.setdefault(self.new[args[1]], []).append(self.bare(negative, self.new[args[0]]))
        for denominator, numerators in over.items():
            quotient = out.build("div", self.added(Plan(tuple(numerators), 0.0)), denominator)
            terms.append(self.bare(False, quotient))
        return self.collected(terms), inner

    def collected(self, terms: list[Term]) -> list[Term]:
        """The terms with those that differ only by a number made one."""
        ops = self.out.ops
        alike: dict[tuple[int, ...], list[Term]] = {}
        for t in terms:
            alike.setdefault(tuple([f for f in t.factors if ops[f] != CONST]), []).append(t)
        if len(alike) == len(terms):
            return terms
        result: list[Term] = []
        for key, group in alike.items():
            total = sum([self.number(t) for t in group])
            if len(group) == 1 or not (total == 0.0 or moderate(total)):
                result += group
            elif total != 0.0:
                result.append(self.merged(False, (*key, self.out._const(total))))
        return result

    def number(self, term: Term) -> float:
        """The product of a term's constants, with its sign."""
        number = -1.0 if term.negative else 1.0
        for f in term.factors:
            if self.out.ops[f] == CONST:
                number *= self.out.args[f][0]
        return number

    def bare(self, negative: bool, node: int) -> Term:
        return self.merged(negative, [node]) if self.out.value(node) is not None else self.unsigned(negative, node)

    def unsigned(self, negative: bool, node: int) -> Term:
        if self.out.ops[node] == "neg":
            return Term(not negative, (self.out.args[node][0],))
        return Term(negative, (node,))

    def added(self, plan: Plan) -> int:
        """The node of a planned sum."""
        nodes = [self.out._const(0.0)] if not plan.terms and not plan.groups else []
        nodes += [self.product(t) for t in plan.terms]
        for factors, inner in plan.groups:
            term = self.unsigned(False, self.added(inner))
            nodes.append(self.product(self.merged(term.negative, (*factors, *term.factors))))
        node, *rest = self.by_stage(nodes) if len(nodes) > 1 else nodes
        for n in rest:
            node = self.out.build("add", node, n)
        return node


def _without(term: Term, f: int) -> Term:
    at = term.factors.index(f)
    return Term(term.negative, term.factors[:at] + term.factors[at + 1 :])


def _cost(weights: Weights) -> float:
    """The weight of multiplying factors of these weights, early ones first."""
    return sum(weights) - weights[0]
