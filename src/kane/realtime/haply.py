"""A Haply Inverse3 as a device, through the service that its maker's software runs on this machine.

The service speaks JSON over a WebSocket, in turns: it sends the state of all devices, waits for a command, and sends
the next state. The first command also says who we are. Positions are in m, forces in N, along the axes of the device:

    {"inverse3": [{"device_id": …, "state": {"cursor_position": {"x": …, "y": …, "z": …}, …}}, …], …}
    {"inverse3": [{"device_id": …, "commands": {"set_cursor_force": {"values": {"x": …, "y": …, "z": …}}}}]}
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection, connect

from ..boundary import describe_value, refuse_odd
from ..errors import InputError
from .coupler import per_axis
from .devices import Mailbox
from .links import LOOK, mailbox_of

URL = "ws://localhost:10001"
HERE = ("localhost", "127.0.0.1", "::1")
PROFILE = "kane"
"""What the service shows of who is connected."""

LARGEST = 1 << 18
"""Bytes of a frame at most: the first one lists all devices and how they are set."""

AXES = ("x", "y", "z")

PATIENCE = 5.0
"""Seconds to wait for a connection."""

AGAIN = 0.5
"""Seconds between attempts to connect again."""


class HaplyLink:
    """An Inverse3 that moves a `Mailbox` of three axes and feels its force. `device_id` chooses one of several; `rate`
    (Hz) is that of commands, and so of positions. Frames that are no such state are counted in `bad`; where the service
    goes away the link tries to come back, and counts that in `lost`. The service must be one of this machine."""

    @refuse_odd
    def __init__(self, mailbox: Mailbox, url: str = URL, *, device_id: str | None = None, rate: float = 1000.0):
        self.mailbox = mailbox_of(mailbox)
        if self.mailbox.position.size != len(AXES):
            raise InputError(
                f"the mailbox has {self.mailbox.position.size} axes, an Inverse3 has three\n    fix: give a Mailbox(3)"
            )
        if not isinstance(url, str) or urlsplit(url).scheme != "ws" or urlsplit(url).hostname not in HERE:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"url = {describe_value(url)}: the service is one of this machine\n    fix: give {URL}")
        (often,) = per_axis("rate", rate, 1, 1.0)
        self.url, self.device_id, self.bad, self.lost = url, device_id, 0, 0
        self._period, self._over = 1.0 / often, threading.Event()
        self._socket = self._connect()
        self._thread = threading.Thread(target=self._work, name="kane Haply link", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _connect(self) -> ClientConnection:
        try:
            return connect(self.url, max_size=LARGEST, compression=None, open_timeout=PATIENCE, proxy=None)
        except (OSError, InvalidHandshake, InvalidURI, TimeoutError, ValueError) as error:
            raise InputError(
                f"no service answers at {self.url}: {error}"
                "\n    fix: start the Haply Inverse service, or name its address"
            ) from None

    def _work(self) -> None:
        while True:
            with contextlib.suppress(ConnectionClosed), self._socket:
                self._talk(self._socket)
            if self._over.is_set():
                return
            self.lost += 1
            while not self._over.wait(AGAIN):
                with contextlib.suppress(InputError):
                    self._socket = self._connect()
                    break
            if self._over.is_set():
                return

    def _talk(self, socket: ClientConnection) -> None:
        """Take turns with the service until it is over; then let go of the device."""
        device, known = self.device_id, False
        while not self._over.is_set():
            began = time.monotonic()
            with contextlib.suppress(TimeoutError):
                found = read_state(socket.recv(timeout=LOOK), self.device_id)
                if found is None:
                    self.bad += 1
                else:
                    device = found[0]
                    self.mailbox.put(found[1])
            if device is not None:  # also after a silence: the service sends nothing before it is asked
                socket.send(force_command(device, self.mailbox.force, "" if known else PROFILE))
                known = True
            self._over.wait(max(0.0, began + self._period - time.monotonic()))
        if device is not None:
            socket.send(force_command(device, (0.0, 0.0, 0.0)))


def read_state(frame: str | bytes, device_id: str | None) -> tuple[str, list[float]] | None:
    """(identity, position (m)) of a device in a frame of the service, the first one or the one asked for; None where
    the frame has none, or no finite numbers."""
    try:
        told: Any = json.loads(frame)
        for device in told["inverse3"]:
            name = device["device_id"]
            if device_id in (None, name) and isinstance(name, str):
                place: Mapping[str, float] = device["state"]["cursor_position"]
                position = [place[axis] for axis in AXES]
                numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in position)
                finite = numbers and all(math.isfinite(x) for x in position)
                return (name, [float(x) for x in position]) if finite else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return None


def force_command(device_id: str, force: Any, profile: str = "") -> str:
    """The command that lets a device exert a force (N), with the name of who asks where it is the first."""
    values = {axis: float(f) for axis, f in zip(AXES, force, strict=True)}
    told: dict[str, Any] = {
        "inverse3": [{"device_id": device_id, "commands": {"set_cursor_force": {"values": values}}}]
    }
    if profile:
        told["session"] = {"configure": {"profile": {"name": profile}}}
    return json.dumps(told)


__all__ = ["HaplyLink"]
