"""Work in a step of time stepping, and the impulses of all steps, for whoever checks the motion afterwards.

With ū the mean of the speeds at both ends and v those that the step moves with (ū, or u⁺ where impulses act),

    ΔT = ū · (M a h + Aᵀ P),   M a = f + Aᵀ λ of the permanent constraints,   work of forces along the motion = h v · f

so that contacts, permanent constraints and the way in which the step moves do the work

    ū · Aᵀ P + h ū · (M a − f) + h (ū − v) · f

which for a body at rest on another is zero, and for a driven constraint what its drive does. f, M and a are those of
the middle of the step, where forces of inertia do the work that the change of M takes. The notation is that of
`stepping_problem`.

What loads and drives give is kept apart, in `s.given`: a row A u + c has a rate c of its own, and its impulse P takes
the work −P c from what moves it. Contacts pass impulses on to permanent constraints; the drives of these do their share
of the work too.
"""

from __future__ import annotations

from .call import call, part, reals, wholes
from .mass_metric import along_speeds, inner
from .step import copy_numbers
from .stepping_motion import look_halfway

ROUNDING = 1e-12
"""Share of what a rate is the sum of that is nothing but rounding."""


@part
def set_mean_speeds(c, s):
    """The mean of the speeds at both ends of the step, to s.change."""
    mean, now, then = reals(s.change), reals(c.x + c.u_start), reals(s.after)
    for j in range(c.n):
        mean[j] = 0.5 * (now[j] + then[j])


@part
def set_impulse_work(c, s):
    """Work of the impulses just found (J), and of permanent constraints that take them, to s.impulse_work."""
    set_mean_speeds(c, s)
    s.impulse_work = along_speeds(c, s.change, c.z_other) if s.size > 0 else 0.0


@part
def load_work(c, s, h):
    """Work (J) of tau and of all loads but gravity along the motion of the step."""
    if s.idle:
        return h * inner(c.n, c.x + s.tau_start, s.moving)
    look_halfway(c, s, h, s.moving)
    return h * reals(c.power + s.kept - c.qdot)[0]


@part
def own_rate(c, row):
    """The rate that a row has by itself, without the speeds at the beginning of the step."""
    own, size = reals(c.rate)[row], 0.0
    a, u = reals(c.a + 8 * row * c.n), reals(c.x + c.u_start)
    for j in range(c.n):
        own -= a[j] * u[j]
        size += abs(a[j] * u[j])
    return own if abs(own) > ROUNDING * size else 0.0


@part
def drive_work(c, s, held):
    """Work (J) of what drives constraints in the step, of which permanent ones did `held`, impulses left out. With the
    mean speeds in s.change: what impulses and the permanent constraints that take them do along these, less what
    impulses do alone, is done by the drives of the latter."""
    work, taken = 0.0, s.impulse_work
    for i in range(s.size):
        row = wholes(c.solver_row)[i]
        work -= reals(c.solver_r)[i] * own_rate(c, row)
        taken -= reals(c.solver_r)[i] * inner(c.n, c.a + 8 * row * c.n, s.change)
    for row in range(c.permanent):
        if own_rate(c, row) != 0.0:
            return work + held + taken
    return work


@part
def step_work(c, s, h):
    """Work (J) of everything but gravity in the step, when its speeds are known and its state has not moved yet."""
    n, given, held = c.n, load_work(c, s, h), 0.0
    work = given + s.impulse_work
    shift = 0 if s.steady else s.kept - c.qdot
    f, mass = c.f + shift, c.mass + shift
    set_mean_speeds(c, s)
    work += h * (inner(n, s.change, f) - inner(n, s.moving, f))
    if c.permanent > 0:
        for i in range(n):
            held += h * reals(s.change)[i] * (inner(n, mass + 8 * i * n, s.midway) - reals(f)[i])
    s.given = given + drive_work(c, s, held)
    return work + held


@part
def shift_work(c, s):
    """Work (J) that moves the state onto the constraints at the end of a step: against all forces, those of loads along
    it being work of their own."""
    n, shift = c.n, s.shift
    if inner(n, shift, shift) == 0.0:
        return 0.0
    given = inner(n, c.x + s.tau_start, shift)
    if not s.idle:
        copy_numbers(c.inputs, c.x, c.x_watch)
        copy_numbers(n, shift, c.x_watch + c.u_start)
        call(c.terms, c.x_watch, s.kept)
        given = reals(c.power + s.kept - c.qdot)[0]
    s.given += given
    return given - inner(n, c.f, shift)


@part
def keep_impulses(c, s):
    """Keep the impulses of the step that are not zero."""
    impulse = reals(s.impulse)
    for r in range(c.rows):
        if impulse[r] != 0.0:
            wholes(s.hit_row)[s.hits] = r
            reals(s.hit_impulse)[s.hits] = impulse[r]
            s.hits += 1
    wholes(s.hit_end)[s.kept_steps] = s.hits
    s.kept_steps += 1


@part
def has_step_room(c, s):
    """Whether the impulses of one more step fit in where they are kept."""
    return not s.keeps or (s.kept_steps < s.step_room and s.hits + c.rows <= s.hit_room)
