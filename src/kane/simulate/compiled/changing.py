"""Motion under constraints that come and go, as a loop asks for it: rates, projection, watched functions and
reactions in the mode that holds now. What changes the mode is in `transitions`.
"""

from __future__ import annotations

from numba import types

from ...constraints.thresholds import EXACT
from .call import part, reals, wholes
from .changing_record import MOTION, record
from .equation_modes import recombine_rates
from .mode_ends import write_event_functions
from .mode_forces import mode_program, write_rates, write_reactions
from .mode_projection import project_state
from .step import copy_numbers
from .store import program

TASKS = RATES, PROJECTION, WATCH, REACTIONS = range(4)
"""Rates of the state, the state on the constraints of the mode, functions that tell its end, reactions of all rows."""


@part
def same_inputs(c, source):
    """Whether the inputs at `source` are those in c.x."""
    given, kept, same = reals(source), reals(c.x), True
    for i in range(c.inputs):
        same = same and given[i] == kept[i]
    return same


@program(types.void(types.int64, types.int64, types.int64))
def changing_program(source, target, memory):
    """Do a task: at `memory` is which, and behind it the address of the run's record, which all tasks share."""
    task, c = wholes(memory)[0], record(wholes(memory)[1])
    evaluated, c.evaluated = c.evaluated, 0
    if task == RATES:
        written = mode_program(c, MOTION) != 0
        known = evaluated != 0 and not written and same_inputs(c, source)
        if written or not recombine_rates(c, source, target, known):
            write_rates(c, source, target)
    elif task == WATCH:
        write_event_functions(c, source, target)
    elif task == REACTIONS:
        write_reactions(c, source, target)
    else:
        copy_numbers(c.inputs, source, c.x)
        c.evaluated = 1 if project_state(c, EXACT) else 0
        copy_numbers(c.states, c.x + c.q_start, target)
