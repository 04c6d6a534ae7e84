"""Many motions of one kind, one after the other in the first lane: modes that are embedded at run time, the implicit
method, programs that have no form for LANES samples.

A motion is continued by what continues it alone, from memory that is as it begins with alone. Nothing of a member is
made by Python: that would take longer than most motions between a few contacts. `w` as in `member_memory`.
"""

from __future__ import annotations

from .call import part, wholes
from .explicit import continue_motion
from .member_memory import aim, end_member, lane, make_room, start_member
from .radau import continue_implicitly
from .records import FULL, REACHED, RUNNING
from .store import loop


@part
def attempts(w):
    """Steps that the present member has attempted."""
    m = lane(w, 0)
    return m.steps + m.rejected


@part
def has_member(w):
    """Whether a member is under way: the next one if there was none, unless it ended where it began."""
    if wholes(w.member)[0] >= 0:
        return True
    w.next += 1
    reason = start_member(w, 0, w.next - 1)
    if reason != RUNNING:
        end_member(w, 0, reason)
    return reason == RUNNING


@part
def go_on(w, reason):
    """See to it that the present member goes on where its loop came back for a reason, or ends."""
    m = lane(w, 0)
    if reason == FULL:
        make_room(w, 0)
        reason = RUNNING
    elif reason == REACHED and m.t != m.t_last:
        reason = aim(w, 0)
    elif reason == RUNNING and attempts(w) >= w.budget:
        reason = FULL
    if reason != RUNNING:
        end_member(w, 0, reason)


@loop
def series_loop(memory, budget):
    """Advance the members by about `budget` attempted steps; whether all are done."""
    w = memory[0]
    left = budget
    while left > 0 and w.done < w.members:
        left -= 1
        if has_member(w):
            before = attempts(w)
            reason = continue_motion(lane(w, 0), min(left + 1, w.budget - before))
            left -= attempts(w) - before
            go_on(w, reason)
    return w.done == w.members


@loop
def implicit_series_loop(memory, budget):
    """The same by the implicit method."""
    w = memory[0]
    left = budget
    while left > 0 and w.done < w.members:
        left -= 1
        if has_member(w):
            before = attempts(w)
            reason = continue_implicitly(lane(w, 0), min(left + 1, w.budget - before))
            left -= attempts(w) - before
            go_on(w, reason)
    return w.done == w.members
