"""Sums and products taken apart, factored and rebuilt: one round of `shorten`.

A node is taken apart only where it has no other use. What comes out is a new graph with the same values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from .graph import CONST, INPUT, Graph
from .live import ONCE, Lateness, Live, copied, moderate

_DEEP = 40  # factors within factors: deeper only in polynomials made for it, and recursion has to end
_TRIED = 40  # terms of a sum up to which products with sums inside are tried expanded


@dataclass(frozen=True, slots=True)
class Term:
    """sign · Π factors, factors being nodes of the new graph, none of them negative."""

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
        for i, term in enumerate(terms):
            if len(term.factors) > 1:
                for f in dict.fromkeys(term.factors):
                    holders.setdefault(f, []).append(i)
        alive = [True] * len(terms)
        # among equals numbers go last: they may still meet other numbers inside
        last = {f: self.out.value(f) is not None for f in holders}
        queue = [(-self.gain(f, terms, held), last[f], f) for f, held in holders.items() if len(held) > 1]
        heapify(queue)
        groups: list[tuple[tuple[int, ...], Plan]] = []
        cost = 0.0
        while queue and depth < _DEEP:
            promised, _, f = heappop(queue)
            held = [i for i in holders[f] if alive[i]]
            if len(held) < 2 or promised >= 0:
                continue
            gain = self.gain(f, terms, held)
            if -gain > promised:  # terms went to other factors since: back into the queue
                holders[f] = held
                heappush(queue, (-gain, last[f], f))
                continue
            for i in held:
                alive[i] = False
            factors, inner = self.taken_out(f, [terms[i] for i in held], depth)
            groups.append((factors, inner))
            latest = max(self.weight(n) for i in held for n in terms[i].factors)
            cost += inner.cost + _cost([*(self.weight(n) for n in factors), latest])
        rest = tuple(t for i, t in enumerate(terms) if alive[i])
        cost += sum(_cost([self.weight(n) for n in t.factors]) for t in rest)
        return Plan(rest, cost, tuple(groups))

    def taken_out(self, f: int, terms: list[Term], depth: int) -> tuple[tuple[int, ...], Plan]:
        """(factors, Σ terms / factors): f, and whatever else all terms share and is worth it."""
        outside = [f]
        inside = [_without(t, f) for t in terms]
        shared = Counter(inside[0].factors)
        for t in inside[1:]:
            shared &= Counter(t.factors)
        for g in shared.elements():
            if self.gain(g, inside, range(len(inside))) > 0:
                outside.append(g)
                inside = [_without(t, g) for t in inside]
        one = self.out._const(1.0)
        inside = [t if t.factors else Term(t.negative, (one,)) for t in inside]
        return tuple(outside), self.plan(inside, depth + 1)

    def weight(self, node: int) -> float:
        return self.late.weight(self.out, node)

    def gain(self, f: int, terms: Sequence[Term], held: Iterable[int]) -> float:
        """What taking `f` out of the terms `held` saves, less the multiplication by it afterwards."""
        saved, latest = 0.0, ONCE
        for i in held:
            weights = [self.weight(n) for n in terms[i].factors]
            latest = max(latest, *weights)
            whole = _cost(weights)
            del weights[terms[i].factors.index(f)]
            saved += whole - _cost(weights)
        return saved - latest


class Round:
    """One pass over the live nodes into a new graph: every sum and product flattened, factored and rebuilt."""

    def __init__(self, live: Live, late: Lateness):
        self.live = live
        self.old = live.graph
        self.out = Graph()
        self.late = late
        self.planner = Planner(self.out, late)
        self.new: dict[int, int] = {}
        nodes = live.nodes()
        self.uses = live.uses(nodes)
        self.absorbed = self.find_absorbed(nodes)
        self.nodes = nodes

    def find_absorbed(self, nodes: Sequence[int]) -> set[int]:
        """Single-use nodes that their consumer takes apart: sums within sums, products within sums and products."""
        ops, found = self.old.ops, set[int]()
        for n in nodes:
            if ops[n] in ("add", "sub"):
                found.update(a for a in self.old.args[n] if ops[a] in ("add", "sub", "mul", "div"))
            elif ops[n] == "mul":
                found.update(a for a in self.old.args[n] if ops[a] == "mul")
        return {n for n in found if self.uses[n] == 1}

    def result(self) -> Live:
        old, out, new = self.old, self.out, self.new
        for n in self.nodes:
            op, args = old.ops[n], old.args[n]
            if n in self.absorbed:
                continue
            if op in (CONST, INPUT) or not any(a in self.absorbed for a in args):
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
        negative, found, sums, stack = False, [], [], [node]
        while stack:
            n = stack.pop()
            if self.old.ops[n] == "mul" and (n in self.absorbed or n == node):
                stack.extend(self.old.args[n])
                continue
            if self.uses[n] == 1 and self.old.ops[n] in ("add", "sub"):
                sums.append(n)
            m = self.new[n]
            if self.out.ops[m] == "neg":
                negative, m = not negative, self.out.args[m][0]
            found.append(m)
        return self.merged(negative, found), sums

    def merged(self, negative: bool, factors: Iterable[int]) -> Term:
        """The term with its constants multiplied into one, which is left out if it is 1."""
        constant, rest = 1.0, []
        for f in factors:
            value = self.out.value(f)
            if value is None or not moderate(constant * value):
                rest.append(f)
            else:
                constant *= value
        negative = negative != (constant < 0)
        if abs(constant) != 1.0 or not rest:
            rest.append(self.out._const(abs(constant)))
        return Term(negative, tuple(sorted(rest)))

    def product(self, term: Term) -> int:
        """The node of a term: parameters, times the number, times what is late; a number alone goes outermost."""
        out, stage = self.out, self.late.stage
        if len(term.factors) == 1:
            return out.build("neg", term.factors[0]) if term.negative else term.factors[0]
        factors = self.by_stage(term.factors)
        numbers = [f for f in factors if stage(out, f) < 0]
        early = [f for f in factors if stage(out, f) == 0]
        late = [f for f in factors if stage(out, f) > 0]
        node, *rest = (*early, *numbers, *late) if early else (*late, *numbers)
        for f in rest:
            node = out.build("mul", node, f)
        return out.build("neg", node) if term.negative else node

    def by_stage(self, nodes: Iterable[int]) -> list[int]:
        """Early nodes first, whatever their sign, so that sums and products with the same beginning share it."""
        out = self.out
        return sorted(nodes, key=lambda n: (self.late.stage(out, n), out.args[n][0] if out.ops[n] == "neg" else n))

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
        sums: dict[tuple[int, ...], float] = {}
        alike: dict[tuple[int, ...], list[Term]] = {}
        for t in terms:
            number, rest = 1.0, []
            for f in t.factors:
                value = self.out.value(f)
                if value is None:
                    rest.append(f)
                else:
                    number *= value
            key = tuple(rest)
            sums[key] = sums.get(key, 0.0) + (-number if t.negative else number)
            alike.setdefault(key, []).append(t)
        result: list[Term] = []
        for key, group in alike.items():
            if len(group) == 1 or not (sums[key] == 0.0 or moderate(sums[key])):
                result += group
            elif sums[key] != 0.0:
                result.append(self.merged(False, (*key, self.out._const(sums[key]))))
        return result

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
        node, *rest = self.by_stage(nodes)
        for n in rest:
            node = self.out.build("add", node, n)
        return node


def _without(term: Term, f: int) -> Term:
    at = term.factors.index(f)
    return Term(term.negative, term.factors[:at] + term.factors[at + 1 :])


def _cost(weights: list[float]) -> float:
    """The weight of multiplying factors of these weights, early ones first."""
    return sum(sorted(weights)[1:])
