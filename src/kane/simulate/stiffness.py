"""Which method a run goes on with: the explicit one, and the implicit one where stability keeps explicit steps short.

The compiled loop looks for stiffness now and then (`compiled.explicit.look_for_stiffness`). Under the method "auto"
the implicit method then takes over at the present state, and its pace is compared with what the explicit one would
make, by the eigenvalues of the Jacobian; whoever is faster goes on. All is counted in steps and evaluations, never in
seconds, so the same motion always goes the same way, and one that is not stiff has the bits of the explicit method.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..advice import Option
from .compiled import load_loop
from .memory import NEVER, LoopMemory
from .notice import announce_compilation
from .settings import AUTO, IMPLICIT, Settings

MOST_STATES = 250
"""States up to which the implicit method takes over: it factors matrices of that size, with n³ operations each time."""

REVIEW = 50
"""Attempted steps of the implicit method between looks at its pace."""

FACTORS = 1 / 30
"""Cost of a factorization, in evaluations, by n²: five thirds of 2 n³ operations, against some hundred n each."""

REACH = 1 / 8 - 1 / 4
"""An explicit step that stability does not bound is rtol to this power as long as an implicit one: errors are
estimated with order 7 there, with order 3 here."""

LASTING = 4
"""Looks in a row at which the explicit method would be faster before it goes on, once the implicit one was: stiffness
that has been there often comes again."""

SOON = 20
"""Accepted steps of the explicit method before stiffness is looked for again where it has been before."""

CHATTERS, MANY = 0.25, 5000
"""Where this share of the steps is rejected, of so many at least, no smooth motion is followed."""

PATIENCE = 1000
"""Accepted steps before the implicit method is tried again after it failed or was slower; twice as many each time."""


class MethodChoice:
    """The loop that a run is in, and what it knows of stiffness; all that it remembers is in the record of the loop."""

    def __init__(self, memory: LoopMemory, settings: Settings, loop: Any):
        self.memory, self.settings = memory, settings
        self.state = memory.state
        self._explicit = self.loop = loop
        self._implicit: Any = None  # loaded when it is needed
        self._known_rate = (-1, np.inf)  # which Jacobian the largest |λ| is of, and that

    def begin_again(self) -> None:
        """Be as before a run."""
        self.loop = self._explicit

    @property
    def due(self) -> int:
        """Attempted steps after which `review` is to be called."""
        return int(self.state["review"]) if self.state["implicit"] else NEVER

    def meet_stiffness(self) -> None:
        """Go on where the loop has found stiffness: with the implicit method if that may be."""
        self.state["stiff"] = 0
        if self.settings.method == AUTO and self._size <= MOST_STATES:
            self.state["takeovers"] += 1
            self.state["reviews"] = self.state["slower"] = 0
            self.state["pace"] = float(self.state["h"]) / self._stages
            self.become_implicit()
        else:
            self.state["stiff_due"] = NEVER

    def restore(self) -> None:
        """Be in the loop that the record was kept in; its arrays are still to be filled."""
        self.become_implicit()

    def become_implicit(self) -> None:
        """Go on with the implicit method from the present state, with the length of the last step."""
        state, rates, self._known_rate = self.state, self.memory.arrays["k"][0].copy(), (-1, np.inf)
        self.memory.hold_implicit()
        self.memory.arrays["f"][:] = rates
        if self._implicit is None:
            with announce_compilation("the implicit integrator"):
                self._implicit = load_loop(IMPLICIT, False)[0]
        self.loop = self._implicit
        state["implicit"], state["jacobian_current"] = 1, -1
        for name in ("extrapolates", "rejected_last", "tries", "h_before", "factored_h", "sampled_h"):
            state[name] = 0
        self._begin_review()

    def review(self) -> None:
        """Look at the pace of the implicit method; where the explicit one would be faster, it goes on."""
        state = self.state
        if not state["implicit"] or state["steps"] + state["rejected"] < state["review"]:
            return
        bound = float(state["stability"]) / max(self._largest_rate(), 1e-300)
        longer = self.settings.rtol**REACH * abs(float(state["h_before"]))
        explicit = min(bound, longer) / self._stages
        cost = max(self._cost() - float(state["review_cost"]), 1.0)
        implicit = abs(float(state["t"]) - float(state["review_t"])) / cost
        if not state["reviews"] and implicit < state["pace"]:
            self.retreat()
            return
        state["reviews"] += 1
        state["slower"] = state["slower"] + 1 if explicit > implicit else 0
        if state["slower"] == LASTING:
            self._become_explicit(SOON)
        else:
            self._begin_review()

    def retreat(self) -> bool:
        """Go back to the explicit method where the implicit one cannot go on; False if that is not at work, or is what
        was asked for."""
        state = self.state
        if not state["implicit"] or not np.all(np.isfinite(self.memory.arrays["f"][: self._size])):
            return False
        state["h"] = max(float(state["h"]), float(state["stability"]) / float(state["stiff_rate"]))
        self._become_explicit(PATIENCE << min(int(state["retreats"]), 20))
        state["retreats"] += 1
        return True

    def remark(self, names: Sequence[str], ended: bool) -> str:
        """What to add to an outcome where the motion was stiff: where, what was done, and what to do about it.

        Where the implicit method was tried once and was no faster there is nothing to do about it, if the motion has
        `ended` as it should: where stiffness lasts, it is tried again after PATIENCE steps."""
        state = self.state
        rate, at = float(state["stiff_rate"]), int(state["stiff_state"])
        if rate == 0.0:
            return self._remark_on_rejections()
        name = names[at] if at < len(names) else f"state {at}"
        found = f"stiff from t = {float(state['stiff_t']):.4g} s on (a rate of {rate:.2g} 1/s, most of all in {name})"
        implicit = Option("method", (IMPLICIT,))
        smoother = f"fix: make the loads that depend on {name.split(',')[0]} smoother or softer"
        if self.settings.method != AUTO:
            return f"{found}: stability keeps the steps short; fix: {Option('method', (AUTO, IMPLICIT))}"
        if not state["takeovers"]:
            many = f"{self._size} states are too many for '{IMPLICIT}' to take over by itself"
            return f"{found}: {many}; {smoother}, or give {implicit} and wait"
        if state["retreats"] == state["takeovers"]:
            once = state["retreats"] == 1
            return "" if once and ended else f"{found}: '{IMPLICIT}' was tried and was no faster; {smoother}"
        times = int(state["takeovers"] - state["retreats"])
        again = "" if times == 1 else f" {times} times"
        return f"{found}: '{IMPLICIT}' took over{again}; {implicit} begins with it"

    def _remark_on_rejections(self) -> str:
        """What to add to an outcome where very many steps were rejected."""
        rejected = int(self.state["rejected"])
        attempts = int(self.state["steps"]) + rejected
        if attempts < MANY or rejected < CHATTERS * attempts or self.settings.tableau is None:
            return ""
        return (
            f"{100 * rejected / attempts:.0f} % of the steps were rejected: loads that jump, as sign(u) does, keep"
            " them short; fix: make them smooth, or use constraints that come and go, which stick"
        )

    @property
    def _size(self) -> int:
        return int(self.state["n"])

    @property
    def _stages(self) -> int:
        return int(self.state["stages"])

    def _cost(self) -> float:
        """What the run has cost, in evaluations."""
        return float(self.state["evaluations"]) + FACTORS * self._size**2 * float(self.state["factorizations"])

    def _begin_review(self) -> None:
        state = self.state
        state["review"] = state["steps"] + state["rejected"] + REVIEW
        state["review_t"], state["review_cost"] = state["t"], self._cost()

    def _largest_rate(self) -> float:
        """The largest |λ| of the Jacobian that the implicit method has, 1/s; infinity where it has none."""
        number = int(self.state["jacobians"])
        if self._known_rate[0] != number:
            matrix = self.memory.arrays["jacobian_matrix"]
            rate = float(np.abs(np.linalg.eigvals(matrix)).max()) if np.all(np.isfinite(matrix)) else np.inf
            self._known_rate = number, rate
        return self._known_rate[1]

    def _become_explicit(self, after: int) -> None:
        """Go on with the explicit method, and look for stiffness again after so many steps."""
        state, rates = self.state, self.memory.arrays["f"].copy()
        self.memory.hold_explicit()
        self.memory.arrays["k"][0] = rates
        self.loop = self._explicit
        state["implicit"], state["stiff_due"], state["error"] = 0, state["steps"] + after, 1e-4
        for name in ("stiff", "stiff_signs", "clear_signs", "rejected_last", "tries", "not_finite", "sampled_h"):
            state[name] = 0


__all__ = ["MethodChoice"]
