"""Shorter programs of equal value: common factors taken out, constants merged, sign changes absorbed.

Comes in: live expressions of a graph. Goes out: the same values, up to rounding, from fewer operations, as expressions
of a graph of their own. A rule takes apart only nodes that have no other use, so the number of operations never grows.

  a b + d ± a c       → a (b ± c) + d          sums are flattened first; the factor that saves most goes first
  c (a b + d) + a e   → a (c b + e) + c d      a product with a sum is expanded where factors then save more
  x/d ± y/d           → (x ± y)/d
  c1 (x (c2 y))       → (c1 c2) (x y)          constants of a product meet
  c (c1 x ± c2 y)     → (c c1) x ± (c c2) y    a constant goes where there are constants already
  −(a − b), −(c x)    → b − a, (−c) x          a sign change ends in a difference, a constant, or nowhere

Operations of the first stage (parameters only) are done once, so they weigh next to nothing against the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from .graph import CONST, INPUT, Expr, Graph
from .passes import reachable

_ROUNDS = 8  # each round exposes factors to the next; counts settle after two to four
_ONCE = 1.0 / 1024.0  # weight of an operation on parameters only, which a hoisted program does once
_DEEP = 40  # factors within factors: deeper only in polynomials made for it, and recursion has to end
_TRIED = 40  # terms of a sum up to which products with sums inside are tried expanded
_ODD = ("sin", "tan", "asin", "sign")


def shorten(exprs: Sequence[Expr], stages: Mapping[str, int] | None = None) -> list[Expr]:
    """`exprs` rewritten with fewer operations, same values up to rounding.

    `stages` gives for inputs by name the index of their stage (0: parameters); an input that is not named is late.
    """
    if not exprs:
        return []
    late = _Lateness(stages or {})
    best = _settled(_Live(exprs[0].graph, tuple(e.id for e in exprs)), late)
    best = _signs_absorbed(best)
    return [best.graph.expr(r) for r in best.roots]


def _settled(live: _Live, late: _Lateness) -> _Live:
    """Rounds until nothing is gained any more."""
    for _ in range(_ROUNDS):
        after = _shorter(live, _constants_spread(_Round(live, late).result()), late)
        if after is live:
            break
        live = after
    return live


def _shorter(live: _Live, other: _Live, late: _Lateness) -> _Live:
    """`other` if it takes fewer operations than `live`, both in all and after the first stage; else `live`."""
    before, after = late.work(live), late.work(other)
    return other if after != before and after[0] <= before[0] and after[1] <= before[1] else live


@dataclass(frozen=True, slots=True)
class _Live:
    """A graph and the nodes of it that are asked for."""

    graph: Graph
    roots: tuple[int, ...]

    def nodes(self) -> list[int]:
        return reachable(self.graph, self.roots)

    def uses(self, nodes: Iterable[int]) -> Counter[int]:
        """How many arguments and roots each node is."""
        uses: Counter[int] = Counter(self.roots)
        for n in nodes:
            if self.graph.ops[n] not in (CONST, INPUT):
                uses.update(self.graph.args[n])
        return uses


class _Lateness:
    """Which nodes of a graph come late: −1 constants, then the index of the stage; kept up as the graph grows."""

    def __init__(self, stages: Mapping[str, int]):
        self.stages = stages
        self.of: list[int] = []
        self.graph: Graph | None = None

    def stage(self, graph: Graph, node: int) -> int:
        if graph is not self.graph:
            self.graph, self.of = graph, []
        for n in range(len(self.of), len(graph)):
            op, args = graph.ops[n], graph.args[n]
            if op == CONST:
                self.of.append(-1)
            elif op == INPUT:
                self.of.append(self.stages.get(args[0], 1))
            else:
                self.of.append(max(self.of[a] for a in args))
        return self.of[node]

    def weight(self, graph: Graph, node: int) -> float:
        return _ONCE if self.stage(graph, node) <= 0 else 1.0

    def work(self, live: _Live) -> tuple[int, int]:
        """(operations after the first stage, operations in all)."""
        graph = live.graph
        rows = [n for n in live.nodes() if graph.ops[n] not in (CONST, INPUT)]
        return sum(self.stage(graph, n) > 0 for n in rows), len(rows)


# factors -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Term:
    """sign · Π factors, factors being nodes of the new graph, none of them negative."""

    negative: bool
    factors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A sum of terms and of products with sums inside, and the weight of its multiplications."""

    terms: tuple[_Term, ...]
    cost: float
    groups: tuple[tuple[tuple[int, ...], _Plan], ...] = ()


class _Round:
    """One pass over the live nodes into a new graph: every sum and product flattened, factored and rebuilt."""

    def __init__(self, live: _Live, late: _Lateness):
        self.live = live
        self.old = live.graph
        self.out = Graph()
        self.late = late
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

    def result(self) -> _Live:
        old, out, new = self.old, self.out, self.new
        for n in self.nodes:
            op, args = old.ops[n], old.args[n]
            if n in self.absorbed:
                continue
            if op in (CONST, INPUT) or not any(a in self.absorbed for a in args):
                new[n] = _copied(old, n, out, new)
            elif op == "mul":
                new[n] = self.product(self.factors(n)[0])
            else:
                new[n] = self.sum(n)
            if n in old.provenance:
                out.note([out.expr(new[n])], old.provenance[n])
        return _Live(out, tuple(new[r] for r in self.live.roots))

    def factors(self, node: int) -> tuple[_Term, list[int]]:
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

    def merged(self, negative: bool, factors: Iterable[int]) -> _Term:
        """The term with its constants multiplied into one, which is left out if it is 1."""
        constant, rest = 1.0, []
        for f in factors:
            value = self.out.value(f)
            if value is None or not _moderate(constant * value):
                rest.append(f)
            else:
                constant *= value
        negative = negative != (constant < 0)
        if abs(constant) != 1.0 or not rest:
            rest.append(self.out._const(abs(constant)))
        return _Term(negative, tuple(sorted(rest)))

    def product(self, term: _Term) -> int:
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
        plan = self.plan(terms, 0)
        for product, n in inner[:_TRIED]:
            factor = self.unsigned(False, self.new[n]).factors[0]
            if product not in terms or factor not in product.factors or len(terms) > _TRIED:
                continue
            parts = self.terms(n)[0]
            rest = _without(product, factor).factors
            flip = product.negative != (self.out.ops[self.new[n]] == "neg")
            expanded = [t for t in terms if t is not product]
            expanded += [self.merged(flip != t.negative, (*rest, *t.factors)) for t in parts]
            other = self.plan(self.collected(expanded), 0)
            if other.cost < plan.cost + self.plan(parts, 0).cost:
                terms, plan = self.collected(expanded), other
        return self.added(plan)

    def terms(self, node: int) -> tuple[list[_Term], list[tuple[_Term, int]]]:
        """The sum `node` taken apart, and the terms with a factor (an old node) that is a sum used only there."""
        old, out = self.old, self.out
        terms: list[_Term] = []
        inner: list[tuple[_Term, int]] = []
        over: dict[int, list[_Term]] = {}
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
                terms.append(_Term(negative != product.negative, product.factors))
                inner += [(terms[-1], s) for s in sums]
            else:
                over.setdefault(self.new[args[1]], []).append(self.bare(negative, self.new[args[0]]))
        for denominator, numerators in over.items():
            quotient = out.build("div", self.added(_Plan(tuple(numerators), 0.0)), denominator)
            terms.append(self.bare(False, quotient))
        return self.collected(terms), inner

    def collected(self, terms: list[_Term]) -> list[_Term]:
        """The terms with those that differ only by a number made one."""
        sums: dict[tuple[int, ...], float] = {}
        alike: dict[tuple[int, ...], list[_Term]] = {}
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
        result: list[_Term] = []
        for key, group in alike.items():
            if len(group) == 1 or not (sums[key] == 0.0 or _moderate(sums[key])):
                result += group
            elif sums[key] != 0.0:
                result.append(self.merged(False, (*key, self.out._const(sums[key]))))
        return result

    def bare(self, negative: bool, node: int) -> _Term:
        return self.merged(negative, [node]) if self.out.value(node) is not None else self.unsigned(negative, node)

    def unsigned(self, negative: bool, node: int) -> _Term:
        if self.out.ops[node] == "neg":
            return _Term(not negative, (self.out.args[node][0],))
        return _Term(negative, (node,))

    def added(self, plan: _Plan) -> int:
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

    def plan(self, terms: list[_Term], depth: int) -> _Plan:
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
        groups: list[tuple[tuple[int, ...], _Plan]] = []
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
        return _Plan(rest, cost, tuple(groups))

    def taken_out(self, f: int, terms: list[_Term], depth: int) -> tuple[tuple[int, ...], _Plan]:
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
        inside = [t if t.factors else _Term(t.negative, (one,)) for t in inside]
        return tuple(outside), self.plan(inside, depth + 1)

    def weight(self, node: int) -> float:
        return self.late.weight(self.out, node)

    def gain(self, f: int, terms: Sequence[_Term], held: Iterable[int]) -> float:
        """What taking `f` out of the terms `held` saves, less the multiplication by it afterwards."""
        saved, latest = 0.0, _ONCE
        for i in held:
            weights = [self.weight(n) for n in terms[i].factors]
            latest = max(latest, *weights)
            whole = _cost(weights)
            del weights[terms[i].factors.index(f)]
            saved += whole - _cost(weights)
        return saved - latest


def _without(term: _Term, f: int) -> _Term:
    at = term.factors.index(f)
    return _Term(term.negative, term.factors[:at] + term.factors[at + 1 :])


def _cost(weights: list[float]) -> float:
    """The weight of multiplying factors of these weights, early ones first."""
    return sum(sorted(weights)[1:])


def _moderate(value: float) -> bool:
    """Whether a number is so far from overflow and underflow that products with it are safe to regroup."""
    return 1e-120 < abs(value) < 1e120


# constants and signs -------------------------------------------------------------------------------------------------


def _copied(graph: Graph, node: int, out: Graph, new: Mapping[int, int]) -> int:
    """The node of `graph` built in `out`, where `new` says what became of its arguments."""
    op, args = graph.ops[node], graph.args[node]
    if op == CONST:
        return out._const(args[0])
    return out.input(args[0]).id if op == INPUT else out.build(op, *(new[a] for a in args))


def _constants_spread(live: _Live) -> _Live:
    """c x → x scaled inside, where x, used only here, has constants that take c up."""
    graph, out = live.graph, Graph()
    nodes = live.nodes()
    takes = _takers(live, nodes, _takes_scale)
    scale: dict[int, float] = {}
    shares: dict[int, tuple[float, ...]] = {}  # by how much each argument of a node is scaled
    dropped: set[int] = set()
    for n in reversed(nodes):
        op, args, s = graph.ops[n], graph.args[n], scale.get(n, 1.0)
        c = graph.value(args[0]) if op == "mul" else None
        if c is not None and args[1] in takes and _moderate(c * s):
            dropped.add(n)
            share = (1.0, c * s)
        elif s == 1.0:
            continue
        elif op in ("add", "sub", "neg"):
            share = (s,) * len(args)
        else:
            share = (s, 1.0) if op == "div" or args[0] in takes else (1.0, s)
        shares[n] = share
        scale.update((a, w) for a, w in zip(args, share, strict=True) if w != 1.0 and graph.ops[a] != CONST)
    if not dropped:
        return live
    new: dict[int, int] = {}
    for n in nodes:
        op, args = graph.ops[n], graph.args[n]
        if n in shares:
            pairs = zip(args, shares[n], strict=True)
            given = [new[a] if graph.ops[a] != CONST else out._const(graph.args[a][0] * w) for a, w in pairs]
            new[n] = given[1] if n in dropped else out.build(op, *given)
        else:
            new[n] = _copied(graph, n, out, new)
        if n in graph.provenance:
            out.note([out.expr(new[n])], graph.provenance[n])
    return _Live(out, tuple(new[r] for r in live.roots))


def _signs_absorbed(live: _Live) -> _Live:
    """−x → x with the sign changed inside, where x, used only here, has a difference or a constant that takes it up.

    The construction rules pull signs outwards, so the nodes are made as they stand.
    """
    graph, out = live.graph, Graph()
    nodes = live.nodes()
    takes = _takers(live, nodes, _takes_sign)
    turned: set[int] = set()  # nodes to be replaced by their negative
    inside: dict[int, tuple[int, ...]] = {}  # which arguments of a node are replaced by their negatives
    for n in reversed(nodes):
        op, args = graph.ops[n], graph.args[n]
        if op == "neg" and n not in turned and args[0] in takes:
            inside[n] = (0,)
        elif n in turned and op == "select":
            inside[n] = (1, 2)
        elif n in turned and op not in ("sub", "neg"):
            inside[n] = (next(k for k, a in enumerate(args) if a in takes),)
        turned.update(args[k] for k in inside.get(n, ()) if graph.ops[args[k]] != CONST)
    if not inside:
        return live
    new: dict[int, int] = {}
    for n in nodes:
        op, args = graph.ops[n], graph.args[n]
        if op == CONST:
            new[n] = out._const(args[0])
        elif op == INPUT:
            new[n] = out.input(args[0]).id
        else:
            change = inside.get(n, ())
            given = [
                out._const(-graph.args[a][0]) if k in change and graph.ops[a] == CONST else new[a]
                for k, a in enumerate(args)
            ]
            new[n] = _as_it_stands(out, op, given, change, n in turned)
        if n in graph.provenance:
            out.note([out.expr(new[n])], graph.provenance[n])
    return _Live(out, tuple(new[r] for r in live.roots))


def _as_it_stands(out: Graph, op: str, args: list[int], change: tuple[int, ...], turned: bool) -> int:
    """The node `op(args)` or, if `turned`, its negative, the arguments in `change` being negatives already."""
    if op == "neg" and (turned or change):
        return args[0]
    if turned and op == "sub":
        return out._node("sub", (args[1], args[0]))
    if turned and op == "add":  # −(x + y) = (−x) − y
        k = change[0]
        return out._node("sub", (args[k], args[1 - k]))
    return out._node(op, tuple(args))


def _takers(live: _Live, nodes: Sequence[int], rule: Callable[[str, list[bool]], bool]) -> set[int]:
    """Constants, and the nodes used once that take a factor up without another operation, by `rule`."""
    graph, uses, takes = live.graph, live.uses(nodes), set[int]()
    for n in nodes:
        op, args = graph.ops[n], graph.args[n]
        if op == CONST:
            if _moderate(args[0]) or args[0] == 0.0:
                takes.add(n)
        elif op != INPUT and uses[n] == 1 and rule(op, [a in takes for a in args]):
            takes.add(n)
    return takes


def _takes_scale(op: str, args: list[bool]) -> bool:
    if op in ("add", "sub", "neg"):
        return all(args)
    return args[0] if op == "div" else op == "mul" and any(args)


def _takes_sign(op: str, args: list[bool]) -> bool:
    if op in ("sub", "neg"):
        return True
    if op == "select":
        return args[1] and args[2]
    return op in ("add", "mul", "div", *_ODD) and any(args)
