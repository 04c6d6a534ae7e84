"""A piano key: every phase of a stroke by its energy or the law of its impact."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import kane

CLOSE = 1e-9  # of times (s) and speeds


def stroke(**changed: float) -> tuple[kane.Model, kane.Trajectory, SimpleNamespace]:
    model = kane.load("piano-key")
    model.set_parameters(**changed)
    run = model.simulate(0.8, rtol=1e-11, atol=1e-13)
    assert run.outcome.success, run.outcome
    p = SimpleNamespace(**{name: parameter.value for name, parameter in model.parameters.items()})
    p.Jh, p.pull = p.mh * p.lh**2, p.mk * p.g * p.xk
    return model, run, p


def only(run: kane.Trajectory, cause: str, part: str, number: int = 0) -> Any:
    return [x for x in run.transitions if x.cause == cause and part in x.constraints][number]


def lifting_speed(p: SimpleNamespace, k: float) -> float:
    """Key and hammer together: ½ (J + r² Jh) wk² = F a k − mk g xk sin k − mh g lh sin(r k)."""
    work = p.F * p.a * k - p.pull * math.sin(k) - p.mh * p.g * p.lh * math.sin(p.r * k)
    return math.sqrt(2 * work / (p.J + p.r**2 * p.Jh))


def test_the_jack_lifts_the_hammer_until_it_lets_off() -> None:
    _, run, p = stroke()
    off = only(run, "freed", "jack")
    k = p.letoff / p.r
    assert off.u_after == pytest.approx([lifting_speed(p, k), p.r * lifting_speed(p, k)], rel=CLOSE)
    # k = s² takes the root out of the integral of 1/w
    time, _ = quad(lambda s: 2 * s / lifting_speed(p, s * s), 0.0, math.sqrt(k), epsabs=1e-13, epsrel=1e-12)
    assert off.t == pytest.approx(time, abs=CLOSE)


def test_the_hammer_flies_to_the_string_and_is_caught_by_the_check() -> None:
    """wh² falls by 2 g (sin h1 − sin h0)/lh; the string reverses it by e; the check takes what is left."""
    _, run, p = stroke()
    off, struck, caught = only(run, "freed", "jack"), only(run, "impact", "string"), only(run, "imposed", "check")
    at_string = math.sqrt(off.u_after[1] ** 2 - 2 * p.g * (math.sin(p.string) - math.sin(p.letoff)) / p.lh)
    assert [struck.u_before[1], struck.u_after[1]] == pytest.approx([at_string, -p.e * at_string], rel=CLOSE)
    down = math.sqrt((p.e * at_string) ** 2 + 2 * p.g * (math.sin(p.string) - math.sin(p.check)) / p.lh)
    assert caught.u_before[1] == pytest.approx(-down, rel=CLOSE) and not caught.u_after[1]
    assert caught.energy_change == pytest.approx(-p.Jh * down**2 / 2, rel=CLOSE)

    def time(start: float, speed: float, end: float) -> float:
        def slowness(h: float) -> float:
            return 1 / math.sqrt(speed**2 - 2 * p.g * (math.sin(h) - math.sin(start)) / p.lh)

        return abs(quad(slowness, start, end, epsabs=1e-13, epsrel=1e-12)[0])

    assert struck.t - off.t == pytest.approx(time(p.letoff, off.u_after[1], p.string), abs=CLOSE)
    assert caught.t - struck.t == pytest.approx(time(p.string, p.e * at_string, p.check), abs=CLOSE)


def test_the_key_goes_on_to_its_bed_and_back_where_the_finger_is_lighter_than_its_weight() -> None:
    _, run, p = stroke()
    off, down, up = only(run, "freed", "jack"), only(run, "impact", "key.upper"), only(run, "release", "key.upper")
    k = p.letoff / p.r
    work = p.F * p.a * (p.bed - k) - p.pull * (math.sin(p.bed) - math.sin(k))
    speed = math.sqrt(off.u_after[0] ** 2 + 2 * work / p.J)
    assert [down.u_before[0], down.u_after[0]] == pytest.approx([speed, 0.0], rel=CLOSE)
    lifted = p.hold + p.lift * (1 - p.pull * math.cos(p.bed) / (p.F * p.a))
    assert up.t == pytest.approx(lifted, abs=CLOSE)


def test_the_jack_takes_the_hammer_over_and_both_come_to_rest() -> None:
    """Plastic: (J + r² Jh) wk = J wk + r Jh wh; then both fall, and the key stops dead at its rest."""
    model, run, p = stroke()
    freed, taken, rest = only(run, "freed", "check"), only(run, "imposed", "jack"), only(run, "impact", "key.lower")
    assert freed.t < taken.t < rest.t
    wk, wh = taken.u_before
    after = (p.J * wk + p.r * p.Jh * wh) / (p.J + p.r**2 * p.Jh)
    assert taken.u_after == pytest.approx([after, p.r * after], rel=CLOSE)
    assert np.abs(run.u[-1]).max() < 1e-12 and np.abs(run.q[-1]).max() < 1e-12
    jack = [row for part in model.changing.values() for row in part.row_names()].index("jack")
    pressing = run.multipliers[:, jack]
    assert pressing.min() > -1e-12 and pressing.max() > 0.0  # it never pulls
    assert run.check().passed


def test_a_finger_that_is_too_weak_does_not_move_the_key() -> None:
    """F a has to exceed the torques of both weights, which are largest at the start."""
    _, _, p = stroke()
    least = (p.pull + p.r * p.mh * p.g * p.lh) / p.a
    for force, reaches in ((0.999 * least, False), (1.05 * least, True)):
        _, run, _ = stroke(F=force, hold=2.0)
        assert any(x.cause == "freed" and "jack" in x.constraints for x in run.transitions) == reaches
        assert (np.abs(run.q).max() > 1e-15) == reaches


def test_the_key_can_be_struck_again() -> None:
    """From the state in which it comes to rest the same stroke follows."""
    model, run, _ = stroke()
    again = model.simulate(0.8, q=run.q[-1], u=run.u[-1], rtol=1e-11, atol=1e-13)
    assert [x.t for x in again.transitions] == pytest.approx([x.t for x in run.transitions], abs=CLOSE)
