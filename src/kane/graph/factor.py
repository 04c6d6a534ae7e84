"""Sums and products taken apart, factored and rebuilt: one round of `shorten`.

A node is taken apart only where it has no other use. What comes out is a new graph with the same values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .graph import CONST, INPUT, ONE, Graph
from .live import ONCE, Lateness, Live, copy_node, moderate

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
    """A sum of terms and of products with sums inside."""

    terms: Sequence[Term]
    groups: Sequence[tuple[tuple[int, ...], Plan]] = ()


class Planner:
    """Plans sums over the nodes of one graph."""

    def __init__(self, out: Graph, late: Lateness):
        self.out = out
        self.late = late
        self.stage = late.stages()

    def plan(self, terms: list[Term]) -> Plan:
        """How to add up `terms`: the factor that saves most is taken out first."""
        self.stage = self.late.stages()  # nothing is built while planning
        return self._plan(terms, 0)

    def _plan(self, terms: list[Term], depth: int) -> Plan:
        factors = [f for t in terms if len(t.factors) > 1 for f in t.factors]
        if depth == _DEEP or len(set(factors)) == len(factors):
            return Plan(terms)
        holders: dict[int, list[int]] = {}
        for i, term in enumerate(terms):
            if len(term.factors) > 1:
                for f in dict.fromkeys(term.factors):
                    holders.setdefault(f, []).append(i)
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
        while queue:
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
            groups.append(self.take_out(f, [terms[i] for i in held], depth))
        return Plan([t for t, there in zip(terms, alive, strict=True) if there], groups)

    def take_out(self, f: int, terms: list[Term], depth: int) -> tuple[tuple[int, ...], Plan]:
        """(factors, Σ terms / factors): f, and whatever else all terms share and is worth it."""
        outside = [f]
        inside = [_remove_factor(t, f) for t in terms]
        if set(inside[0].factors).intersection(*(t.factors for t in inside[1:])):
            shared = Counter(inside[0].factors)
            for t in inside[1:]:
                shared &= Counter(t.factors)
            for g in shared.elements():
                if self.gain(g, self.weights(inside)) > 0:
                    outside.append(g)
                    inside = [_remove_factor(t, g) for t in inside]
        inside = [t if t.factors else Term(t.negative, (ONE,)) for t in inside]
        return tuple(outside), self._plan(inside, depth + 1)

    def weight(self, node: int) -> float:
        return ONCE if self.stage[node] <= 0 else 1.0

    def weights(self, terms: Iterable[Term]) -> list[Weights]:
        stage = self.stage
        return [sorted([ONCE if stage[f] <= 0 else 1.0 for f in t.factors]) for t in terms]

    def gain(self, f: int, held: Sequence[Weights]) -> float:
        """What taking `f` out of terms of these weights saves, less the multiplication by it afterwards.

        All but the lightest factor cost a multiplication; without f the lightest is another one, unless f is alone.
        """
        weight = self.weight(f)
        return sum([max(weight, w[1]) for w in held if len(w) > 1]) - max([w[-1] for w in held])

    def cost(self, plan: Plan) -> float:
        """The weight of a plan's multiplications."""
        return self._cost(plan)[0]

    def _cost(self, plan: Plan) -> tuple[float, float]:
        """(the weight of the multiplications, the weight of a product with the sum)."""
        weights = self.weights(plan.terms)
        total, heaviest = sum([_product(w) for w in weights]), max([w[-1] for w in weights], default=ONCE)
        for factors, inner in plan.groups:
            inside, weight = self._cost(inner)
            outside = [self.weight(f) for f in factors]
            heaviest = max(heaviest, weight, *outside)
            total += inside + _product(sorted([*outside, max(weight, *outside)]))
        return total, heaviest


class Round:
    """One pass over the live nodes into a new graph: every sum and product flattened, factored and rebuilt."""

    def __init__(self, live: Live, stages: Mapping[str, int]):
        self.live = live
        self.old = live.graph
        self.out = Graph()
        self.late = Lateness(self.out, stages)
        self.planner = Planner(self.out, self.late)
        self.new: dict[int, int] = {}
        self.uses = live.uses
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
                new[n] = copy_node(old, n, out, new)
            elif op == "mul":
                new[n] = self.product(self.factors(n)[0])
            else:
                new[n] = self.sum(n)
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
        return self.merge_constants(negative, found), sums

    def merge_constants(self, negative: bool, factors: Iterable[int]) -> Term:
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
        """The node of a term."""
        node = self.size(term.factors)
        return self.out.build("neg", node) if term.negative else node

    def size(self, factors: tuple[int, ...]) -> int:
        """Π factors: parameters, times the number, times what is late; a number alone goes outermost."""
        build = self.out.build
        if len(factors) < 3:
            return factors[0] if len(factors) == 1 else build("mul", *factors)
        stage = self.late.stages()
        numbers = [f for f in factors if stage[f] < 0]
        early = [f for f in factors if stage[f] == 0]
        late = [f for f in factors if stage[f] > 0]
        late.sort(key=stage.__getitem__)
        node, *rest = (*early, *numbers, *late) if early else (*late, *numbers)
        for f in rest:
            node = build("mul", node, f)
        return node

    # sums

    def sum(self, node: int) -> int:
        """The sum `node` flattened, factored and added up again, products of sums expanded where that saves."""
        terms, inner = self.terms(node)
        planner = self.planner
        plan = planner.plan(terms)
        for product, n in inner[:_TRIED]:
            factor = self.pull_sign(False, self.new[n]).factors[0]
            there = any(t is product for t in terms)
            if not there or factor not in product.factors or len(terms) > _TRIED:
                continue
            parts = self.terms(n)[0]
            rest = _remove_factor(product, factor).factors
            if not self.may_share_factor(rest, parts, (t for t in terms if t is not product)):
                continue
            flip = product.negative != (self.out.ops[self.new[n]] == "neg")
            expanded = [t for t in terms if t is not product]
            expanded += [self.merge_constants(flip != t.negative, (*rest, *t.factors)) for t in parts]
            expanded = self.collect_like_terms(expanded)
            other = planner.plan(expanded)
            if planner.cost(other) < planner.cost(plan) + planner.cost(planner.plan(parts)):
                terms, plan = expanded, other
        return self.build_sum(plan)

    def may_share_factor(self, rest: tuple[int, ...], parts: list[Term], others: Iterable[Term]) -> bool:
        """Whether rest · Σ parts, expanded, could share a factor with other terms of the sum, or merge numbers."""
        ops = self.out.ops
        known = {f for t in others for f in t.factors}
        if not known.isdisjoint(rest) or any(ops[f] == CONST for f in rest):
            return True
        return any(not known.isdisjoint(t.factors) for t in parts)

    def terms(self, node: int) -> tuple[list[Term], list[tuple[Term, int]]]:
        """The sum `node` taken apart, and the terms with a factor (an old node) that is a sum used only there."""
        ops, args, new, absorbed = self.old.ops, self.old.args, self.new, self.absorbed
        terms: list[Term] = []
        inner: list[tuple[Term, int]] = []
        over: dict[int, list[Term]] = {}
        first, second = args[node]
        stack = [(ops[node] == "sub", second), (False, first)]
        while stack:
            negative, n = stack.pop()
            op = ops[n]
            if n not in absorbed:
                terms.append(self.term_of(negative, new[n]))
            elif op in ("add", "sub"):
                first, second = args[n]
                stack.append((negative != (op == "sub"), second))
                stack.append((negative, first))
            elif op == "mul":
                product, sums = self.factors(n)
                terms.append(Term(negative != product.negative, product.factors) if negative else product)
                inner += [(terms[-1], s) for s in sums]
            else:
                over.setdefault(new[args[n][1]], []).append(self.term_of(negative, new[args[n][0]]))
        for denominator, numerators in over.items():
            quotient = self.out.build("div", self.build_sum(Plan(numerators)), denominator)
            terms.append(self.term_of(False, quotient))
        return self.collect_like_terms(terms), inner

    def collect_like_terms(self, terms: list[Term]) -> list[Term]:
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
                result.append(self.merge_constants(False, (*key, self.out._const(total))))
        return result

    def number(self, term: Term) -> float:
        """The product of a term's constants, with its sign."""
        number = -1.0 if term.negative else 1.0
        for f in term.factors:
            if self.out.ops[f] == CONST:
                number *= self.out.args[f][0]
        return number

    def term_of(self, negative: bool, node: int) -> Term:
        return self.merge_constants(negative, [node]) if self.out.ops[node] == CONST else self.pull_sign(negative, node)

    def pull_sign(self, negative: bool, node: int) -> Term:
        if self.out.ops[node] == "neg":
            return Term(not negative, self.out.args[node])
        return Term(negative, (node,))

    def build_sum(self, plan: Plan) -> int:
        """The node of a planned sum: early terms first, so that sums with the same beginning share it."""
        signed = [self.build_product(t) for t in plan.terms]
        for factors, inner in plan.groups:
            term = self.pull_sign(False, self.build_sum(inner))
            signed.append(self.build_product(self.merge_constants(term.negative, (*factors, *term.factors))))
        if not signed:
            return self.out._const(0.0)
        build, stage = self.out.build, self.late.stages()
        signed.sort(key=lambda s: (stage[s[1]], s[1]))
        negative, node = signed[0]
        if negative:
            node = build("neg", node)
        for negative, n in signed[1:]:
            node = build("sub" if negative else "add", node, n)
        return node

    def build_product(self, term: Term) -> tuple[bool, int]:
        """(negative, Π factors); a difference that is there the other way round is taken as it is."""
        node = self.size(term.factors)
        if term.negative and self.out.ops[node] == "sub":
            turned = self.pull_sign(False, self.out.build("neg", node))
            return turned.negative, turned.factors[0]
        return term.negative, node


def _remove_factor(term: Term, f: int) -> Term:
    at = term.factors.index(f)
    return Term(term.negative, term.factors[:at] + term.factors[at + 1 :])


def _product(weights: Weights) -> float:
    """The weight of multiplying factors of these weights, early ones first."""
    return sum(weights) - weights[0]
