"""The table of thresholds: every number by which a rank, a singular position or a vanishing mass is judged.

Shares are without unit and relative to what the comment names; residuals are in m and rad or their rates. Python and
compiled code read this table; a test finds thresholds that are defined elsewhere.
"""

from __future__ import annotations

# -- rank: is something said that other rows (or columns) do not say? ----------------------------------------------

REDUNDANT = 1e-9
"""Share of the largest below which a pivot or a singular value counts as zero where rows are exact but for rounding.

Rounding leaves 1e-15 times the condition of a model's geometry, up to some 1e-12; what is meant to be independent and
is not by accident is above 1e-7. In between lies nothing that a user would describe. A part of a null direction below
this share is rounding, too."""

REGULAR = 1e-12
"""Square of the volume that rows of unit length span above which their normal equations give multipliers: these lose at
most six digits then, of sixteen. Below it the singular values decide, one state after another."""

ROUNDING = 1e-12
"""Share of what a row could be, were there no cancellation, below which it is a rounding error and says nothing; a row
that is longer by as much is at a pole and has no value."""

INVOLVED = 1e-6
"""Smallest part of a row, or a speed, in a combination that is named to the user."""

FELT = 1e-6
"""Share of the largest singular value of a regressor from which on a combination of inertial parameters is felt in the
efforts: those of arms are above 1e-2, and right angles that are written with seven digits leave 1e-7."""

WEAK, GAP = 1e-2, 30.0
"""A singular value of a regressor below that share of the largest, and so many times below the one before, is what
right angles that are not quite right leave: with four digits 2e-4. None after it is felt."""

APART = 1e-2
"""What must be left of a column of a regressor beside others, in units of the longest of its kind, to be taken as
independent of them in the first place; less will do where too few are."""

# -- singular positions: rows that are independent elsewhere -------------------------------------------------------

SINGULAR = 5e-6
"""Share of the largest pivot or singular value of the rows below which they lose rank at a position.

A position is closed to CLOSED, so where the rows vanish linearly nothing below its square root is known. In
accelerations the rounding of b divided by a vanishing R_kk would drive the motion, and an adaptive step would follow it
down to nothing; where a row is given up, on the other hand, the motion is wrong for the moment of passing. Measured on
one to forty four-bars through their flat position with tolerances 1e-8 to 1e-11: from 3e-6 to 1e-5 every run passes
with an energy error of about 1e-9 or what the tolerance allows, below 1e-6 many stop there."""

FIRM = 1e-4
"""The same where a state is moved by the rows, in projections and starts that have to be regular: near a singular
position what is almost undetermined stays as it is and is not moved far."""

NEAR_SINGULAR = 1e-3
"""The same for what is reported about a whole motion: singular positions that it passes, poses in which a hand
loses a direction, a gimbal that locks. What cubics between steps leave of zero is below."""

LASTING = 0.1
"""Share of its size where constraints are judged that the determinant of the dependent speeds' columns keeps in every
position, if their choice serves in all of them; share of the largest determinant that another choice must have
there."""

LOW = 0.7
"""Share of the usual distance from a singular position below which a motion is searched for one."""

WELL_CONDITIONED = 1e3
"""Condition up to which samples of a batch share a choice of dependent speeds; beyond, each makes its own."""

INCONSISTENT = 1e-7
"""Share by which perturbations may miss the constraints before these count as singular in a linearization: its second
derivatives have half the digits."""

OFF_BRANCH = 2.0 * SINGULAR
"""Share of b that may lie outside the range of A: on a branch of the motion it is SINGULAR at most."""

BESIDE, TURNED = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1), 0.3
"""How far (m, rad) from a singular start it is checked whether its speeds stay possible, and the share of them by which
they may differ there from speeds that the constraints allow. On a branch that is about the distance, off it 1."""

SAME_BRANCH = 1e-6
"""1 − |cos| of the angle between speeds that are one direction."""

WRITTEN = 1e-2
"""Share by which speeds are turned onto a branch: that of numbers written with two digits."""

# -- mass ----------------------------------------------------------------------------------------------------------

MASS_FLOOR = 1e-6
"""Share of the mean of M_jj that every M_jj counts at least where speeds are measured by the mass they move: a massless
link must not outweigh all else. With 1e-3 to 1e-6 all motions of the built-in models take the same steps; the smaller
one leaves more of what bodies really weigh."""

MASS_SHARE = 1e-12
"""Share of the mass that every direction is given in projections, so that a massless one can be moved."""

NO_MASS = 1e-13
"""Share of the largest mass, or of its diagonal, below which a direction or a pivot of the mass matrix has none but for
rounding: some hundred units in the last place, as many as sums over the bodies and elimination leave."""

# -- residuals -----------------------------------------------------------------------------------------------------

CLOSED = 1e-12
"""Largest residual (m, rad) of a start that counts as closed, times the size of the coordinates; largest residual
(m/s², rad/s²) of accelerations that is none."""

EXACT = 1e-16
"""A residual (m, rad) that needs no further step in a projection. Near a singular position a residual moves the
coordinates by many times itself, so nothing is left that a step can take away."""

ROUGH = 1e-9
"""Above this a Newton step of a projection that does not help is halved; below, rounding is what it met."""

SATISFIED = 1e-9
"""Residual (m/s, rad/s; N, N m), absolute plus a share of the sizes of its parts, that counts as none."""

TOLERATED = 1e-3
"""m, rad and their rates, or that share, by which a state may be off: more than drift, less than a slip."""

# -- a motion that cannot go on ------------------------------------------------------------------------------------

JUMP = 0.01
"""A row whose rate, after a step as short as can be, is off by this share of its parts has no continuation there. Where
it has one, the share falls with the step."""

FURTHEST = 1e-5
"""Share of the time behind a motion that is looked ahead at most. A row that changes as a whole within that has, for
all that the motion knows, no continuation either: a pole."""

ASIDE = 0.1
"""How far aside (m, rad) a position is looked at that rows are compared with where they lose rank."""

# -- constraints that come and go ----------------------------------------------------------------------------------

TOUCHING = 1e-9
"""Gap (m, rad), absolute plus that share of the lengths it is the difference of, at which bodies touch: crossings are
found to rounding, and what is closer than this at a start is meant to touch. A deeper start is refused."""

TOUCHING_IN_STEPS = 1e-7
"""Gap (m, rad) up to which bodies touch in a time step: more contacts than a heap needs cannot all close gaps that
differ by so little, unless forces change by as much as there are."""

AT_REST = 1e-10
"""Speed (m/s, rad/s) below which a contact neither separates nor approaches, and below which nothing slips. A ball
that bounces ever less is caught by it; what is left of its bounces takes 2e-10 s at restitution 0.9."""

ON_CONE = 1e-9
"""Share of a reaction within which it is at the edge of what friction can hold, and share of the largest free
acceleration below which a reaction or an acceleration is none."""

NO_ACCELERATION = 1e-13
"""Acceleration (m/s², rad/s²) that is none: what rounding leaves of accelerations that cancel, as of balls that hang
side by side at rest."""

ALMOST_STILL = 1e-5
"""Share of the largest free acceleration below which an acceleration may be none: close to the edge of its cone a
contact problem hardly tells the two apart, and the reactions of the mode without it decide."""

SOLVED = 1e-8
"""Relative natural residual of a contact problem that counts as solved."""

WELL_SOLVED = 1e-11
"""The same of a problem that is solved as well as can be, as nearly all are: what approaches faster after an impact has
been driven together by it, and is struck in turn."""

NO_REACTION = 1e-12
"""Share of the forces that act on a system below which a reaction is none: that of bodies which move alike is the error
of their motion."""

SLACK_ROUNDINGS = 64.0
"""How many times the rounding of a reaction the one is that is none: rounding is some ten units in the last place of
the forces that act on a system, NO_REACTION 4500."""

JAMMED = 1e-6
"""Share of the normal reaction of a slipping contact that all forces which act on the system would give, where friction
jams it: what is left of its normal mobility goes to zero, and the reaction grows beyond all bounds."""

HARDLY_MOBILE = 1e-3
"""Share of the normal mobility of a contact that friction leaves to its slip, below which the slip drives it together
or, where its reaction has grown beyond all bounds, is about to."""

SIMULTANEOUS = 1e-10
"""Gap (m, rad) at which a contact counts as touching when another one changes: simultaneous contacts are."""

SLIP_ENDS = 0.25 * AT_REST
"""A slip in a plane that comes from straight ahead ends at twice this speed: where it vanishes it has no direction, and
no step may look across that place."""

GAP_ROUNDINGS = 4.0
"""Roundings of a gap below where it opened at which it has closed again: noise must not close it."""

FLIGHT_ROUNDINGS = 1e5
"""Roundings of a gap which a flight must reach for its end to be found by the gap; one that is lower ends by time."""

TOUCH_ROUNDINGS = 64.0
"""Roundings of a gap, or of a speed after a free fall for a rounding of the time, that are none where it is decided
what touches and rests."""

REST_ROUNDINGS = 32.0
"""Roundings of a gap whose free fall gives a speed that is none: twice the height times the acceleration, with room."""

SLIP_ROUNDINGS = 64.0
"""Roundings of a slip within which it has not changed its direction: one that has just begun grows like t², and noise
must not end it."""

FULL_SLIP = 1e-6
"""Speed (m/s) up to which a slip in a plane begins at least, however little friction it has."""

OPENS = 1e3
"""Reactions that are none (NO_REACTION) which a row must miss to open or to slip where slips begin: what a contact
problem leaves of accelerations that are zero is below."""

RELAXED, STRAINED = 0.5, 0.9
"""Share of its cone that each contact may use for it to be plain that friction which they share suffices, and from
which on nothing counts but what they need."""

ALL_USED = 1e-9
"""Share of the accelerations without friction above which contacts have begun to slip: what the solver leaves is far
below, and a load that is a millionth beyond friction far above."""

PIVOT = 1e-4
"""Share of the largest of the slips that begin below which one is none: the others turn about it, and it sticks."""

STILL = 1e-15
"""Speed (m/s) of a slip that has no direction of its own: a contact may yield while others keep its body at rest."""

NOISE = 10.0
"""How many times what is rounding a function of a mode may be below zero where the mode begins."""

LEAST_SHARE = 1e-12
"""Share of the largest reaction that a contact counts at least where friction is shared among contacts."""

CANCELLED = 4.0
"""Roundings of a change of a speed within which the speed is zero afterwards: what is left has cancelled."""

SAME_TIME = 64.0
"""Roundings of the time within which two transitions are at one instant."""
