"""`Play`: a model that goes on in a loop of this machine, seen and touched in a page of a browser beside it.

The page and the WebSocket through which it talks have one address of this machine, 127.0.0.1, with a token in it. A
request without the token, or from a page of somebody else, is refused. Physics never waits for the page: the loop has
a thread of its own, and every page that is open is sent what there is, some sixty times a second.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import numpy as np
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from ..api import Model
from ..api.pages import coupler_frequency, describe_page, laws_of, scene_kernel
from ..api.simulation import ControlLaw
from ..boundary import FAULTS
from ..errors import InputError
from ..page import remote_page
from ..simulate import Routine
from .devices import Mailbox
from .marks import ForceMarks, Pull
from .touch import Touch

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
FRAME = 1.0 / 60.0
"""Seconds between two looks that are sent to a page."""

FRAMED = 4.0
"""Seconds of the motion that the camera is placed for."""

LARGEST = 4096
"""Bytes of a message from a page at most."""

LISTED = 200
"""Transitions that are sent at once at most: the last ones."""


class Play:
    """A model in a loop at a `rate` (Hz), and the page that shows and touches it, at `url`. It moves under `control`,
    as for `simulate`; the page can change to the model's other laws and to none, from the state that it is in then.

    >>> from kane.realtime.server import Play
    >>> with Play(kane.load("pendulum")) as play:
    ...     play.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        model: Model,
        *,
        rate: float = 1000.0,
        steps: int = 1,
        q: Any = None,
        u: Any = None,
        control: ControlLaw | None = None,
        port: int = 0,
    ):
        self.model = model
        named, others = laws_of(model.mechanism, control)
        self._laws: list[tuple[str, ControlLaw | None]] = [(named, control), *others.items()]
        self._law, self._runs = 0, 0
        self.token = secrets.token_urlsafe(16)
        self._options: dict[str, Any] = {"rate": rate, "steps": steps}
        self._start = q, u
        self._lock, self._marking = threading.Lock(), threading.Lock()
        self._holder: ServerConnection | None = None
        self._over = threading.Event()
        answers = model._answers  # pyright: ignore[reportPrivateUsage]
        self._frequency = coupler_frequency(answers)
        kernel = scene_kernel(answers)
        self._scene = Routine(kernel.address, kernel.program.output_count)
        self._kernel, self._values = kernel, answers.values
        self._bodies = list(model.bodies)
        self._begin(q, u)
        self._page = self._make_page()
        try:
            self._server: Server = serve(
                self._talk, HOST, port, process_request=self._answer, max_size=LARGEST, compression=None
            )
        except (OSError, OverflowError) as error:
            raise InputError(f"port = {port}: {error}\n    fix: give another one, or 0") from None
        self._thread = threading.Thread(target=self._server.serve_forever, name="kane play", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens, on this machine alone."""
        return int(self._server.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """The page, for a browser of this machine."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def __enter__(self) -> Self:
        self.touch.start()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._thread.join()
        with self._lock:
            self.session = self.touch.stop()

    def _begin(self, q: Any, u: Any) -> None:
        _, control = self._laws[self._law]
        self.mailbox = Mailbox(3, silence=1e9)
        self.touch = Touch(self.model, self.mailbox, None, **self._options, q=q, u=u, control=control)
        self._marks = ForceMarks(self.model, control)
        self._runs += 1

    def _make_page(self) -> str:
        answers = self.model._answers  # pyright: ignore[reportPrivateUsage]
        q, u = self._start
        run = self.model.simulate(FRAMED, q=q, u=u, control=self._laws[0][1], rtol=1e-6)
        described = describe_page(answers, self._kernel, run.t, run.q, run.u)
        sources = ["'self'", "ws://127.0.0.1:*", "ws://localhost:*"]
        names = [name for name, _ in self._laws if name]
        told = (tuple(self.touch.mode), self._marks.places, self._marks.wheels)
        return remote_page(described, *told, "/touch", sources, laws=names)

    # requests --------------------------------------------------------------------------------------------------------

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The answer to a request: the page, a refusal, or None for a WebSocket that may be opened."""
        asked = urlsplit(request.path)
        hosts = {f"{name}:{self.port}" for name in NAMES}
        token = parse_qs(asked.query).get("token", [""])[0]
        if request.headers.get("Host") not in hosts:
            return _reply(HTTPStatus.FORBIDDEN, "not a name of this machine")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            return _reply(HTTPStatus.FORBIDDEN, "a page from elsewhere")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return _reply(HTTPStatus.FORBIDDEN, "the token is missing or wrong")
        if asked.path == "/touch":
            return None
        if asked.path == "/":
            return _reply(HTTPStatus.OK, self._page, "text/html")
        return _reply(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _talk(self, connection: ServerConnection) -> None:
        """Send a page what it is to show, and do what it asks for."""
        seen = 0
        try:
            while not self._over.is_set():
                began = time.monotonic()
                frame, seen = self._frame(seen)
                connection.send(json.dumps(frame))
                self._listen(connection, began + FRAME)
        except ConnectionClosed:
            pass
        finally:
            with self._lock:
                self._let_go(connection)

    def _let_go(self, connection: ServerConnection) -> None:
        """Release what a page has hold of, if it is the one that has."""
        if self._holder is connection:
            self._holder = None
            self.touch.release()

    def _listen(self, connection: ServerConnection, until: float) -> None:
        while True:
            try:
                message = connection.recv(timeout=max(0.0, until - time.monotonic()))
            except TimeoutError:
                return
            try:
                told: Any = json.loads(message)
                with self._lock:
                    self._obey(told, connection)
            except (*FAULTS, InputError):
                continue  # what a page of ours would not say

    def _obey(self, told: Mapping[str, Any], connection: ServerConnection) -> None:
        """Do what a page asks for. One page at a time has hold of a body: the last one that took it."""
        if "grab" in told:
            body = list(self.model.bodies)[int(told["grab"])]
            target, point = _triple(told["target"]), _triple(told["point"])
            self.mailbox.put(target)
            self._holder = connection
            self.touch.hold(body, point, self._frequency)
        elif "pull" in told:
            if self._holder is connection:
                self.mailbox.put(_triple(told["pull"]))
        elif "release" in told:
            self._let_go(connection)
        elif "play" in told:
            if told["play"] and not self.touch.alive:
                self.touch.start()
            elif not told["play"] and self.touch.alive:
                self.touch.stop()
        elif "reset" in told:
            self.touch.stop()
            self._holder = None
            self._begin(*self._start)
            self.touch.start()
        elif "law" in told:
            self._change_law(int(told["law"]))

    def _change_law(self, index: int) -> None:
        """Move under another law from the present state on, in a session of its own."""
        if not 0 <= index < len(self._laws) or index == self._law:
            return
        alive, (q, u) = self.touch.alive, self._state()
        self.touch.stop()
        self._holder, self._law = None, index
        self._begin(q, u)
        if alive:
            self.touch.start()

    def _state(self) -> tuple[Any, Any]:
        """q and u of the last tick; those of the start before the first."""
        state, layout = self.touch.state(), self.touch.coupling.constraints.layout
        y = state["y"] if state["t"][0] else self.touch.coupling.start
        return y[layout.state["q"].place].copy(), y[layout.state["u"].place].copy()

    def _frame(self, seen: int) -> tuple[dict[str, Any], int]:
        """What a page is to show now, and how many transitions it has been told of then."""
        with self._lock:
            touch = self.touch
            state, transitions, held = touch.state(), touch.transitions(), touch.held_body
            layout, stopped, law, run = touch.coupling.constraints.layout, touch.fault(), self._law, self._runs
        mode = touch.mode_in(state)
        y = state["y"]
        q, u = y[layout.state["q"].place], y[layout.state["u"].place]
        if not state["t"][0]:  # before its first tick
            q, u = (touch.coupling.start[layout.state[name].place] for name in ("q", "u"))
        inputs = np.concatenate([state["t"], q, u, [0.0], np.zeros(len(u)), self._values])
        poses, jacobians, energies = np.split(self._scene(inputs), np.cumsum([12, 6 * len(u)]) * len(self._bodies))
        new = transitions[max(seen, len(transitions) - LISTED) :] if seen <= len(transitions) else transitions[-LISTED:]
        told = [{"t": x.t, "cause": x.cause, "which": ", ".join(x.constraints)} for x in new]
        frame: dict[str, Any] = {"t": float(state["t"][0]), "q": q.tolist(), "u": u.tolist(), "poses": poses.tolist()}
        frame |= {"states": list(mode.values()), "transitions": told, "stopped": stopped, "playing": touch.alive}
        kinetic, height = energies.tolist()  # potential of gravity alone: springs are among the loads that do work
        frame["energy"] = {"kinetic": kinetic, "potential": height, "work": float(y[layout.state["work"].start])}
        frame |= {"stiffness": float(touch.stiffness), "law": law, "run": run}
        pull = Pull(self._bodies.index(held) if held else -1, -state["force"], state["place"])
        inputs[layout.inputs["tau"].place] = _efforts(pull, poses.reshape(-1, 12), jacobians.reshape(-1, 6, len(u)))
        with self._marking:
            frame["marks"] = self._marks(inputs, mode, pull, poses.reshape(-1, 12))
        return frame, len(transitions)


def _efforts(pull: Pull, poses: Any, jacobians: Any) -> Any:
    """Efforts along the speeds of a force on a body, with Jacobians (bodies, 6, n) of bodies at poses (bodies, 12)."""
    if pull.body < 0:
        return 0.0
    arm = pull.place - poses[pull.body, 9:]
    return np.concatenate([np.cross(arm, pull.force), pull.force]) @ jacobians[pull.body]


def _triple(values: Any) -> list[float]:
    """Three finite numbers."""
    x, y, z = (float(v) for v in values)
    if not all(map(math.isfinite, (x, y, z))):
        raise ValueError("not finite")
    return [x, y, z]


def _reply(status: HTTPStatus, text: str, kind: str = "text/plain") -> Response:
    body = text.encode()
    headers = Headers(
        {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Connection": "close",
        }
    )
    return Response(status.value, status.phrase, headers, body)


__all__ = ["Play"]
