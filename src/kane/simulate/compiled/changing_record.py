"""The memory of a motion under constraints that come and go: one record of addresses and sizes, which belongs to a run.

Rows are those of all constraints: permanent ones first, then those of every changing constraint, one after another. The
program `terms` gives M u̇ = f + Aᵀ λ and A u̇ = b for all of them; a mode says which rows hold, and how friction acts in
the others. `c` is a record of type `MEMORY` wherever it occurs in this folder.
"""

from __future__ import annotations

import numpy as np

from .call import record_of

CONTACT, ONE_WAY, FRICTION, SWITCHED = range(4)
"""Types of changing constraints: a gap that may close, a rate that is never negative, dry friction with a given bound,
rows that hold between two conditions."""

OPEN, STICKS, SLIPS = range(3)
"""What a changing constraint does: nothing, holds all its rows, holds its normal while friction acts along its slip."""

CAUSES = START, IMPACT, RELEASE, STICK, SLIP, IMPOSED, FREED, TOUCH, PARADOX = range(9)
"""Why a mode ended: the motion started, something struck, a reaction would have pulled, slip ended, friction was
overcome, a condition imposed rows or let them go, a gap closed without an impact, no mode was consistent."""

GOES_ON, CYCLES, CONTRADICTS, HAS_NO_MASS, UNSOLVED, UNSOLVED_STEP, UNSETTLED, OVERLAPS, NO_CONDITION = range(9)
"""What comes of a transition: the motion goes on; too many at one instant; no mode and no impulse is consistent; the
mass matrix is singular; the impact could not be resolved; nor could the contact problem of a step; no mode is left in
which contacts push within their cones; a contact comes into force inside a body; a condition is not a number. Indices
of `FAULTS`."""

GUARDS = 3
"""Functions of a changing constraint that fall through zero where its mode ends: of its normal, of its friction, of its
condition."""

NORMAL_GUARD, FRICTION_GUARD, CONDITION_GUARD = range(GUARDS)

NOT_CLOSED, NOT_STUCK = 1, 2
"""What an element must not be chosen to do."""

LAWS = 5
"""Numbers of a law: restitution, static friction, kinetic friction, bound, duration."""

RESTITUTION, STATIC, KINETIC, BOUND, DURATION = range(LAWS)

MOTION, ENDS = np.int64(0), np.int64(1)
"""Programs of a mode that is written out: rates of the state, and what tells its end."""

OF_NOTHING, OF_MOTION, OF_FORCES = np.int64(0), np.int64(1), np.int64(2)
"""What of the rows the functions depend on that tell the end of a mode: nothing, residuals and rates, reactions too."""

STATES = 4
"""States of an element in the table of modes: open, sticks, slips forward, slips backward."""

NONE = np.int64(-1)
"""No unknown and no element. For a plain constant numba would compile what takes it once more."""

TIERS = 2
FRICTION_FIRST, THEN_NORMAL = range(TIERS)
"""What is to be least where reactions are not determined: friction, since a block in a groove must not hang on that of
its walls; then normal reactions and all others."""

PROGRAMS = ("terms", "places", "unit", "laws", "conditions", "watch", "solver")
SIZES = (
    "coordinates",
    "n",
    "rows",  # of all constraints
    "permanent",  # of these, the first ones
    "elements",  # changing constraints
    "holonomic",  # rows with a residual
    "inputs",
    "states",
    "watched",  # functions that the user's events watch
    "asks_reactions",  # 1: these or conditions read reactions
    "fixed_laws",  # 1: laws are numbers
    "impact_law",
    "q_start",  # bytes from the inputs to q
    "u_start",  # bytes from the inputs to u
    "rank",  # of the permanent rows, as last found
    "unknowns",  # reactions of the mode
    "warm",  # rows of the contact problem that solver_r is a solution of, 0 for none
    "laid",  # contacts of the problem of shared friction
    "laid_rows",  # and its rows
    "room",  # transitions that fit in
    "count",  # transitions so far
    "same_time",  # transitions at one instant
    "culprit",  # the element that a fault is about
    "possible",  # modes that were possible at the last choice, −1 if not counted
    "law_used",  # law of the impact that was resolved last, −1 for none; that of one which replaced another stays
    "evaluated",  # 1 where the outputs of terms are those at c.x
    "guarded",  # 1 where its coefficients of restitution were made equal
)
SHARED = (
    "type",  # (elements,) int64
    "first",  # (elements,) int64: first row
    "length",  # (elements,) int64: rows
    "has_when",  # (elements,) int64
    "has_until",
    "has_duration",
    "place_of",  # (rows,) int64: index among the rows with a residual, −1 without
    "table",  # (2, 4^elements) int64: programs of the modes, rates and ends, 0 for none; 0 itself without a table
)
OWN_REALS = (
    "qdot",  # outputs of terms, which begin here
    "mass",
    "f",
    "a",
    "rate",
    "wanted",
    "phi",
    "power",
    "place_phi",  # outputs of places, which begin here
    "place_rows",
    "along",
    "law",  # (elements, LAWS)
    "condition",  # (elements, 2): when, until
    "x",  # (inputs + rows,): inputs being changed, and multipliers behind them
    "x_watch",  # (inputs + rows,)
    "y",  # (states,)
    "kept",  # (coordinates,)
    "chol",  # (n, n)
    "span",  # (rows, n): rows that a basis is made of
    "aim",  # (rows,): what they are to be
    "left",  # (rows,): what is left of their lengths
    "basis",  # (n, n): orthonormal rows
    "beta",  # (n,): what z is along them
    "z_free",  # (n,)
    "z_loose",  # (n,): without changing reactions
    "z",  # (n,): in the mode
    "z_other",  # (n,)
    "rows_z",  # (rows, n): permanent rows, and changing ones freed of these
    "drift",  # (rows,): what a row of accelerations misses without changing reactions
    "held",  # (rows, n): the row of each unknown
    "held_drift",  # (rows,)
    "columns",  # (rows, n): what a unit of each unknown does
    "k",  # (rows, rows): the system for the unknowns
    "right",  # (rows,)
    "solution",  # (rows,)
    "null",  # (rows, rows)
    "swap",  # (rows,)
    "near",  # (rows,): what they are to be least away from
    "normal_near",  # (elements,): the same of normal reactions, while all that is closed sticks
    "weight",  # (rows,): of unknowns that are not determined
    "scale",  # (rows,)
    "reaction",  # (rows,): λ of the changing rows
    "slip",  # (2,)
    "direction",  # (elements, 2): of the slip that is going on
    "motion",  # (rows,): accelerations of rows where slips begin
    "balance",  # (elements, elements): sets of normal reactions that balance themselves
    "floor",  # (elements, GUARDS): what the functions of a mode began with below zero, by rounding
    "lands",  # (elements,): when a flight that is lost in rounding ends, s; 0 for none
    "falls",  # (elements,): with which acceleration of its gap, towards zero
    "imposed",  # (elements,): since when a switched constraint holds, s
    "offset",  # (rows,): residual that is kept
    "slack",  # (elements,): reaction (N, N m) below which one is rounding
    "reduced",  # (n + 1, padded_size(n)): M, and below it f, without unknowns that are eliminated
    "eliminated",  # (n, padded_size(n)): the rows by which they are
    "given",  # (n,): what these rows are to be
    "step",  # (n,)
    "shifted",  # (n,): how far positions were moved onto the mode last, along the speeds
    "before",  # (n,): speeds before a transition
    "impulse",  # (rows,)
    "solver_w",  # (rows, rows): the contact problem of a transition
    "ends",  # (4, rows): reactions, rates, residuals, and what rates are sums of, as the program of a mode writes them
    "solver_b",
    "solver_r",
    "solver_v",
    "solver_mu",  # (elements + 1,)
    "solver_e",  # (elements + 1,)
    "solver_work",
    "around",  # (3, states + functions): rates and watched functions before and after a jump in time, and in between
    "at",  # (room,): transitions
    "energy",  # (room,)
    "impulses",  # (room, rows)
    "speeds",  # (room, 2, n): before and after
    "directions",  # (room, elements, 2)
)
OWN_WHOLES = (
    "state",  # (elements,): OPEN, STICKS or SLIPS
    "present",  # (elements,): 1 in force, 0 under a condition that says otherwise
    "young",  # (elements,): 1 while a slip in a plane begins
    "shared",  # (elements,): 1 where a contact sticks and shares its friction with others
    "pressing",  # (elements,): rows of normal reactions
    "pressing_at",  # (elements,): and where these are in a system or a problem
    "tier",  # (rows,): which of them are to be least first
    "grazes",  # (elements,): 1 where a contact opens that still approaches with a speed that is none
    "owner",  # (rows,): element of each unknown
    "place_group",  # unused rows of places are skipped by this: (holonomic,) the element of a row, −1 permanent
    "unknown",  # (rows,): row of each unknown
    "order",  # (n,): unknowns as they were eliminated last
    "start",  # (n,): first column of each row of L that is not zero
    "block",  # (n,): first row of the block that a row of M is in
    "rate_rows",  # (rows,): rows whose rates are to be zero
    "pivot_row",  # (rows,)
    "pivot_column",  # (rows,)
    "barred",  # (elements,): what must not be chosen, NOT_CLOSED or NOT_STUCK; 0 nothing
    "solver_first",
    "solver_rows",
    "solver_type",
    "solver_element",  # (elements + 1,): element of each contact of the problem
    "solver_row",  # (rows,): row of each row of the problem
    "cause",  # (room,)
    "which",  # (room,): the element
    "choices",  # (room,): modes that were possible, −1 if not counted
    "laws_used",  # (room, 2): law of its impact, −1 for none, and 1 where restitutions were made equal
    "states_after",  # (room, elements)
)
OWN = (*OWN_REALS, *OWN_WHOLES)
REALS = (
    "last_t",
    "jump_t",  # where something has jumped in time, then the last time before that, s
    "residual",
    "loaded",  # how much the load on shared friction grew in the last problem that told where it is used up, 0 unknown
)

WHOLE = (*PROGRAMS, *SIZES, *SHARED, *OWN)
MEMORY = np.dtype([(name, "i8") for name in WHOLE] + [(name, "f8") for name in REALS])

record = record_of(MEMORY)
