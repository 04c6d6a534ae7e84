"""Bad input is refused with what is wrong and how to fix it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kane.errors import InputError
from kane.simulate import Event, Events, integrate
from unit.simulate.systems import flat, oscillator, van_der_pol

BAD = [
    ({"y0": [1.0, math.nan]}, r"y0\[1\] = nan is not finite"),
    ({"y0": [[1.0, 0.0]]}, r"y0 has shape \(1, 2\)"),
    ({"y0": []}, "y0 is empty"),
    ({"t": (0.0, math.inf)}, r"t\[1\] = inf is not finite"),
    ({"t": [1.0]}, r"give \(t0, t1\) or an array of output times"),
    ({"t": [0.0, 1.0, 1.0, 2.0]}, r"t\[1\] = 1.0 and t\[2\] = 1.0: .* strictly increasing.*numpy.unique"),
    ({"t": [0.0, 2.0, 1.0]}, r"t\[1\] = 2.0 and t\[2\] = 1.0"),
    ({"t": [2.0, 0.0, 1.0]}, r"t\[1\] = 0.0 and t\[2\] = 1.0"),
    ({"t": [0.0, 1.0, 0.0]}, "strictly increasing or strictly decreasing"),
    ({"rtol": 1e-16}, r"rtol = 1e-16 is outside .*1e-6 to 1e-11 are usual"),
    ({"rtol": 2.0}, "rtol = 2.0 is outside"),
    ({"rtol": math.nan}, "rtol = nan is outside"),
    ({"atol": 0.0}, "atol = 0.0 must be positive"),
    ({"atol": [1e-6, -1e-6]}, "must be positive"),
    ({"atol": [1e-6]}, r"atol has shape \(1,\); give one number or one per state, \(2,\)"),
    ({"method": "euler"}, "method 'euler' is not known; choose one of auto, dop853, rk45, rk23, rk4, radau"),
    ({"method": "rk4"}, "has a fixed step: give step="),
    ({"step": 0.1}, "chooses its own step: leave out step=0.1"),
    ({"method": "rk4", "step": -0.1}, "step = -0.1 is not a positive number of seconds"),
    ({"max_step": 0.0}, "max_step = 0.0 is not a positive"),
    ({"first_step": math.nan}, "first_step = nan is not a positive"),
    ({"max_steps": 0}, "max_steps = 0 is not a positive whole number"),
    ({"parameters": [math.inf]}, r"parameters\[0\] = inf is not finite"),
    ({"parameters": [1.0]}, r"reads 3 numbers, but t, y0 and parameters are 1 \+ 2 \+ 1 = 4"),
    ({"y0": [1.0]}, r"reads 3 numbers, but t, y0 and parameters are 1 \+ 1 \+ 0 = 2"),
    ({"rhs": None}, "rhs = None is neither a kernel nor the address"),
    ({"rhs": "sin"}, "rhs = 'sin' is neither a kernel nor the address"),
    ({"extra_outputs": -1}, "extra_outputs = -1 is negative"),
]


@pytest.mark.parametrize(("change", "text"), BAD)
def test_bad_input_is_named(change, text):
    arguments = {"rhs": oscillator(), "y0": [1.0, 0.0], "t": (0.0, 1.0), **change}
    with pytest.raises(InputError, match=text):
        integrate(**arguments)


def test_programs_that_do_not_fit_are_refused_before_they_run():
    one = flat(lambda t, y, p: [y[0]], 2)
    with pytest.raises(InputError, match="rhs: program 'flat' writes 1 numbers, 2 are needed"):
        integrate(one, [1.0, 0.0], (0.0, 1.0))
    with pytest.raises(InputError, match="events: program 'flat' writes 1 numbers, 2 are needed"):
        integrate(oscillator(), [1.0, 0.0], (0.0, 1.0), events=Events(one, (Event("a"), Event("b"))))
    with pytest.raises(InputError, match="project_address: program 'flat' reads 4 numbers"):
        integrate(oscillator(), [1.0, 0.0], (0.0, 1.0), project_address=van_der_pol())


def test_the_arrays_of_the_caller_are_left_alone():
    start, times = np.array([1.0, 0.0]), np.linspace(0.0, 1.0, 5)
    solution = integrate(oscillator(), start, times)
    solution.y[0, 0] = 7.0
    solution.t[0] = 7.0
    assert start.tolist() == [1.0, 0.0]
    assert times[0] == 0.0
