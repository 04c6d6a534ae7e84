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

from collections.abc import Mapping, Sequence

from .factor import Round
from .graph import CONST, INPUT, Expr, Graph
from .live import Live, copy_node, moderate

_ROUNDS = 8  # each round exposes factors to the next; counts settle after two to four
_WORTH = 4000  # a round that saves less than one operation in so many is the last: the next would find even less
_LONG, _SETTLED = 800, 12  # the same for long programs: later rounds found 2 of 12 000 operations there, and 8 of 920

_SCALE = {"add": "all", "sub": "all", "neg": "all", "div": "first", "mul": "any"}
_SIGN = {
    **dict.fromkeys(("sub", "neg"), "itself"),
    "select": "both",
    **dict.fromkeys(("add", "mul", "div", "sin", "tan", "asin", "sign"), "any"),
}
"""Which arguments of an operation have to take a scale or a sign up, that it does: see `_takers`."""


def shorten(exprs: Sequence[Expr], stages: Mapping[str, int] | None = None) -> list[Expr]:
    """`exprs` rewritten with fewer operations, same values up to rounding.

    `stages` gives for inputs by name the index of their stage (0: parameters); an input that is not named is late.
    """
    if not exprs:
        return []
    best = _repeat_rounds(Live(exprs[0].graph, tuple(e.id for e in exprs)), stages or {})
    best = _absorb_signs(best)
    return [best.graph.expr(r) for r in best.roots]


def _repeat_rounds(live: Live, stages: Mapping[str, int]) -> Live:
    """Rounds until nothing is gained any more, in all or after the first stage, or next to nothing."""
    work = live.work(stages)
    for _ in range(_ROUNDS):
        other = _spread_constants(Round(live, stages).result())
        late, total = work[0] - (after := other.work(stages))[0], work[1] - after[1]
        if min(late, total) < 0 or not (late or total):
            break
        live, work = other, after
        if max(late, total) * (_SETTLED if work[1] > _LONG else _WORTH) < work[1]:
            break
    return live


def _spread_constants(live: Live) -> Live:
    """c x → x scaled inside, where x, used only here, has constants that take c up."""
    graph, out = live.graph, Graph()
    nodes = live.nodes
    takes = _takers(live, _SCALE)
    scale: dict[int, float] = {}
    shares: dict[int, tuple[float, ...]] = {}  # by how much each argument of a node is scaled
    dropped: set[int] = set()
    for n in reversed(nodes):
        op, args, s = graph.ops[n], graph.args[n], scale.get(n, 1.0)
        c = graph.value(args[0]) if op == "mul" else None
        if c is not None and args[1] in takes and moderate(c * s):
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
            new[n] = copy_node(graph, n, out, new)
    return Live(out, tuple(new[r] for r in live.roots))


def _absorb_signs(live: Live) -> Live:
    """−x → x with the sign changed inside, where x, used only here, has a difference or a constant that takes it up.

    The construction rules pull signs outwards, so the nodes are made as they stand.
    """
    graph, out = live.graph, Graph()
    nodes = live.nodes
    takes = _takers(live, _SIGN)
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
        if n in inside:
            turned.update([args[k] for k in inside[n] if graph.ops[args[k]] != CONST])
    if not inside:
        return live
    new: dict[int, int] = {}
    for n in nodes:
        op, args = graph.ops[n], graph.args[n]
        if op == CONST:
            new[n] = out._const(args[0])
        elif op == INPUT:
            new[n] = out.input(args[0]).id
        elif n not in inside and n not in turned:
            new[n] = out._node(op, tuple([new[a] for a in args]))
        else:
            change = inside.get(n, ())
            given = [
                out._const(-graph.args[a][0]) if k in change and graph.ops[a] == CONST else new[a]
                for k, a in enumerate(args)
            ]
            new[n] = _build_unsimplified(out, op, given, change, n in turned)
    return Live(out, tuple(new[r] for r in live.roots))


def _build_unsimplified(out: Graph, op: str, args: list[int], change: tuple[int, ...], turned: bool) -> int:
    """The node `op(args)` or, if `turned`, its negative, the arguments in `change` being negatives already."""
    if op == "neg" and (turned or change):
        return args[0]
    if turned and op == "sub":
        return out._node("sub", (args[1], args[0]))
    if turned and op == "add":  # −(x + y) = (−x) − y
        k = change[0]
        return out._node("sub", (args[k], args[1 - k]))
    return out._node(op, tuple(args))


def _takers(live: Live, rule: Mapping[str, str]) -> set[int]:
    """Constants, and the nodes used once that take a factor up without another operation: those of an operation that
    `rule` has, where "all", "any" or the "first" of its arguments do, "both" values of a selection, or "itself"."""
    graph, uses, takes = live.graph, live.uses, set[int]()
    for n in live.nodes:
        op, args = graph.ops[n], graph.args[n]
        if op == CONST:
            if moderate(args[0]) or args[0] == 0.0:
                takes.add(n)
            continue
        needed = rule.get(op)
        if needed is None or uses[n] != 1:
            continue
        if (
            (needed == "any" and not takes.isdisjoint(args))
            or (needed == "all" and takes.issuperset(args))
            or (needed == "first" and args[0] in takes)
            or (needed == "both" and takes.issuperset(args[1:]))
            or needed == "itself"
        ):
            takes.add(n)
    return takes
