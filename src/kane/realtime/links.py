"""Links: programs and hardware that move a `Mailbox` from outside, each in a thread of its own.

A link never holds up the loop: it puts positions into the mailbox as they come and sends the force of the moment back.
What listens, listens on this machine alone and wants a token; what it does not understand is counted and left.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
import socket
import struct
import threading
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..boundary import describe_value, refuse_odd
from ..errors import InputError
from .coupler import per_axis
from .devices import Mailbox

HOST = "127.0.0.1"
LARGEST = 4096
"""Bytes of a datagram at most."""

LOOK = 0.2
"""Seconds between looks whether a link is to end."""

EVENT = struct.Struct("<IhBB")
"""An event of Linux's joystick interface: time (ms), value, type, number."""

AXIS_EVENT, FULL_SCALE = 2, 32767.0


class UdpLink:
    """Positions by datagrams of JSON, {"token": …, "position": [x, y, …]} (m, rad), each answered by {"force": […]}
    (N, N m). It listens on 127.0.0.1 only; datagrams without the token, and whatever else is wrong, are counted in
    `bad` and not answered.

    >>> from kane.realtime import Mailbox, UdpLink
    >>> with UdpLink(Mailbox(2)) as link:
    ...     link.address[0]
    '127.0.0.1'
    """

    @refuse_odd
    def __init__(self, mailbox: Mailbox, port: int = 0, token: str | None = None):
        if token is not None and not (isinstance(token, str) and token):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"token = {describe_value(token)}: give a text, or none to have one made")
        self.mailbox, self.bad = mailbox_of(mailbox), 0
        self.token = secrets.token_urlsafe(16) if token is None else token
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((HOST, port))
        except (OSError, OverflowError, TypeError) as error:
            self._socket.close()
            raise InputError(
                f"port = {describe_value(port)} cannot be used: {error}\n    fix: give another one, or 0"
            ) from None
        self._socket.settimeout(LOOK)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="kane UDP link", daemon=True)

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        return self._socket.getsockname()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                datagram, sender = self._socket.recvfrom(LARGEST + 1)
            except TimeoutError:
                continue
            except OSError:  # the one who sent is gone
                continue
            position = read_position(datagram, self.token, self.mailbox.position.size)
            if position is None:
                self.bad += 1
                continue
            self.mailbox.put(position)
            answer = json.dumps({"force": self.mailbox.force.tolist()}).encode()
            try:
                self._socket.sendto(answer, sender)
            except OSError:
                continue


def read_position(message: bytes, token: str, axes: int) -> list[float] | None:
    """The position in a message of so many axes; None where it is not a right one or has not the token."""
    if len(message) > LARGEST:
        return None
    try:
        told: Any = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not hmac.compare_digest(_bytes(str(told.get("token"))), _bytes(token)):
        return None
    position = told.get("position")
    if not isinstance(position, list) or len(position) != axes:
        return None
    if not all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in position):
        return None
    try:
        numbers = [float(x) for x in position]
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return numbers if all(map(math.isfinite, numbers)) else None


def _bytes(text: str) -> bytes:
    """Text as UTF-8, also half a pair of UTF-16, which JSON can spell."""
    return text.encode("utf-8", "surrogatepass")


def mailbox_of(given: Mailbox) -> Mailbox:
    """What was given, where it is a mailbox."""
    if not isinstance(given, Mailbox):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{describe_value(given)} is no Mailbox\n    fix: give the one that the loop reads")
    return given


class GamepadLink:
    """The sticks of a gamepad as a device: full deflection of the axis number `axes[i]` moves the device's axis i by
    `scale` (m, rad). `path` is that of Linux's joystick interface."""

    @refuse_odd
    def __init__(
        self, mailbox: Mailbox, axes: tuple[int, ...] = (0, 1), scale: float = 0.1, path: str = "/dev/input/js0"
    ):
        self.mailbox, count = mailbox_of(mailbox), mailbox.position.size
        if len(axes) != count or not all(isinstance(a, int) for a in axes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"axes = {describe_value(axes)}: give a number for each of {count} axes of the device")
        (self._scale,) = per_axis("scale", scale, 1, -math.inf)
        self._axes = tuple(axes)
        try:
            self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115  # closed by the thread that reads
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}\n    fix: connect a gamepad, or name its path") from None
        self._thread = threading.Thread(target=self._read, name="kane gamepad link", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def join(self) -> None:
        """Wait until the gamepad is gone."""
        self._thread.join()

    def _read(self) -> None:
        position = np.zeros(self.mailbox.position.size)
        self.mailbox.put(position)
        with self._file as file:
            while True:
                event = file.read(EVENT.size)
                if len(event) < EVENT.size:
                    return
                _, value, kind, number = EVENT.unpack(event)
                if kind & AXIS_EVENT and number in self._axes:
                    position[self._axes.index(number)] = self._scale * value / FULL_SCALE
                    self.mailbox.put(position)


__all__ = ["LOOK", "GamepadLink", "UdpLink", "mailbox_of"]
