"""Looking ahead, in the loop that keeps time: the next tick is worked out before it is due.

Between two ticks most of the time is left over. In it the loop takes the step of the next tick for the position in
which it expects the device then: gaps, rates and conditions say which constraints come and go, factors are made,
impulses are found. All that this changes is taken back at once. Where the device is as expected when the tick is due,
the results are taken over, and the force is there at once. Where it is not, the tick is worked out as ever, with code
and numbers that are still at hand. Not a bit of the motion depends on it.
"""

from __future__ import annotations

from ...simulate.compiled.call import part, reals, wholes
from ..words import GRIP, HOLDING
from .clock import load, now
from .coupler import advance
from .device import READ, read_mail
from .record import MAILBOX

ROOM_FOR = 4
"""Transitions of each constraint in a tick that there has to be room for, or nothing is looked ahead at."""


@part
def keep(k, target):
    """Copy all that a tick changes to memory at an address."""
    pieces, kept, at = wholes(k.pieces), wholes(target), 0
    for i in range(k.piece_count):
        piece, length = wholes(pieces[2 * i]), pieces[2 * i + 1]
        for j in range(length):
            kept[at + j] = piece[j]
        at += length


@part
def put_back(k, source):
    """The other way round."""
    pieces, kept, at = wholes(k.pieces), wholes(source), 0
    for i in range(k.piece_count):
        piece, length = wholes(pieces[2 * i]), pieces[2 * i + 1]
        for j in range(length):
            piece[j] = kept[at + j]
        at += length


@part
def expect_device(k):
    """Where the device will be at the next tick: where its mail says that it is, or else straight on, and at first
    where the model is. Whether the coupler will hold."""
    expected, position, rate = reals(k.expected), reals(k.position), reals(k.expected_velocity)
    period = k.period * 1e-9
    if k.source == MAILBOX:
        if k.holds == 0 or load(k.control + 8 * HOLDING) == 0 or read_mail(k, k.expected) != READ:
            return False
        for i in range(k.axes):
            expected[i] += reals(k.offset)[i]
    else:
        for i in range(k.axes):
            expected[i] = reals(k.grip)[i] if k.tick == 0 else position[i] + period * reals(k.velocity)[i]
    for i in range(k.axes):
        rate[i] = 0.0 if k.tick == 0 else (expected[i] - reals(k.stepped_from)[i]) / (k.every * period)
    return True


@part
def name_changes(c, first):
    """The transitions from number `first` on as one number, 0 for none."""
    found = 0
    for i in range(first, c.count):
        found = 1_000_003 * found + 16 * (wholes(c.which)[i] + 2) + wholes(c.cause)[i]
    return found


@part
def look_ahead(k, m, c, s):
    """Work out the next tick for the position that is expected of the device, and take it back."""
    k.ahead = 0
    if k.tick % k.every != 0:
        return
    if load(k.control + 8 * GRIP) != k.grip_now or c.count + ROOM_FOR * k.steps * c.elements >= c.room:
        return
    began, first = now(k), c.count
    holds = expect_device(k)
    keep(k, k.kept)
    code = advance(k, m, c, s, holds, k.expected, k.expected_velocity)
    k.ahead, k.ahead_holds, k.ahead_changes = 1 if code == 0 else 0, 1 if holds else 0, name_changes(c, first)
    keep(k, k.kept + 8 * k.words)
    put_back(k, k.kept)
    k.cost = now(k) - began


@part
def is_as_expected(k, holds):
    """Whether the tick that was worked out is the one that has come."""
    if not k.ahead or holds != (k.ahead_holds != 0):
        return False
    if holds:
        for i in range(k.axes):
            if reals(k.position)[i] != reals(k.expected)[i]:
                return False
    return True


@part
def adopt(k):
    """Take over the tick that was worked out."""
    put_back(k, k.kept + 8 * k.words)
    k.prepared += 1


@part
def note_foresight(k, c, first):
    """Count a tick with transitions, and whether they were expected."""
    found = name_changes(c, first)
    if found != 0:
        k.changes += 1
        if k.looks_ahead and found == k.ahead_changes:
            k.foreseen += 1
    k.ahead, k.ahead_changes = 0, 0
