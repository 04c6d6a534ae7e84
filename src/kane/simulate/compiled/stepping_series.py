"""Many motions by time steps, one after the other in the first lane, as in `series`. `w` as in `member_memory`."""

from __future__ import annotations

from .call import part, wholes
from .changing_record import record
from .member_memory import aim, count_crossings, end_member, lane, place_member
from .records import FULL, RUNNING
from .stepping import continue_steps
from .stepping_motion import stepping
from .store import loop


@part
def continue_member(w, budget):
    """Continue the present member, the next one if there is none, by up to `budget` time steps; why it came back."""
    if wholes(w.member)[0] < 0:
        w.next += 1
        place_member(w, 0, w.next - 1)
        aim(w, 0)
    m = lane(w, 0)
    reason = continue_steps(m, min(budget, w.budget - m.steps))
    if reason == FULL:
        count_crossings(w, 0)
        m.crossings, m.transitions = 0, 0
        record(stepping(m.transition_memory).changing).count = 0
        return RUNNING
    return FULL if reason == RUNNING and m.steps >= w.budget else reason


@loop
def stepping_series_loop(memory, budget):
    """Advance the members by about `budget` steps; whether all are done."""
    w = memory[0]
    left = budget
    while left > 0 and w.done < w.members:
        before = lane(w, 0).steps if wholes(w.member)[0] >= 0 else 0
        reason = continue_member(w, left)
        left -= 1 + lane(w, 0).steps - before
        if reason != RUNNING:
            end_member(w, 0, reason)
    return w.done == w.members
