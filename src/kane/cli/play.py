"""`kane play`: a model in real time, touched from a page."""

from __future__ import annotations

import math
import time
import webbrowser
from argparse import Namespace

from ..errors import InputError
from . import FAILED, FINE
from .console import show
from .driving import asked_motion, drive_of, refuse_unfollowed, say_what_moves
from .given import coordinates_of, file_to_write, model_of, speeds_of
from .streams import say

LOOK = 0.1
"""Seconds between looks whether the loop goes on."""


def play(arguments: Namespace) -> int:
    """Run a model in real time until it is stopped."""
    try:
        from ..realtime.server import Play
        from ..realtime.touch import refuse_pace
    except ImportError as error:
        raise InputError(f"{error}\n    fix: pip install 'kane[viewer]'") from None
    model = model_of(arguments)
    path = file_to_write(arguments, "output", (".npz",))
    if arguments.t is not None and not (math.isfinite(arguments.t) and arguments.t > 0):
        raise InputError(f"--t {arguments.t}: give a number of seconds > 0")
    refuse_pace(arguments.rate, arguments.steps)
    q = coordinates_of(model, arguments.q) or None
    u = speeds_of(model, arguments.u) or None
    drive = drive_of(model, arguments, asked_motion(model, arguments), shown=True)
    refuse_unfollowed(drive, arguments)
    say_what_moves(drive, arguments)
    say(f"compiling {model.name} for the loop: some seconds, a minute or two the first time")
    with Play(
        model, rate=arguments.rate, steps=arguments.steps, q=q, u=u, control=drive.law, port=arguments.port
    ) as running:
        say(f"it runs, {arguments.rate:g} ticks in a second, and listens on 127.0.0.1 port {running.port} alone")
        show(running.url)
        say("open this address in a browser of this machine; Ctrl-C ends it")
        if arguments.open:
            webbrowser.open(running.url)
        end = math.inf if arguments.t is None else time.monotonic() + arguments.t
        try:
            while time.monotonic() < end and not running.touch.fault():
                time.sleep(LOOK)
        except KeyboardInterrupt:  # as it is meant to end
            pass
    session = running.session
    say(str(session.outcome))
    if path is not None:
        session.save(path)
    return FINE if session.outcome.reason in ("end", "interrupt") else FAILED
