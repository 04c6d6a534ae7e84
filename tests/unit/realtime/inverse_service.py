"""A service like that of a Haply Inverse3, in a process of its own: a mass with a damper in the hand of nobody.

It takes turns: a state, a command, the next state. By numbers of commands it does what services do on bad days: frames
that are no states, a silence, a connection that ends. When its input ends it prints what it was told.
"""

from __future__ import annotations

import json
import sys
import threading
import time

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

MASS, DAMPING = 0.2, 2.0
BAD = {
    100: "{",
    101: "[]",
    102: '{"inverse3": []}',
    103: '{"inverse3": [{"device_id": "04BA", "state": {"cursor_position": {"x": NaN, "y": 0, "z": 0}}}]}',
    104: '{"inverse3": [{"device_id": "04BA", "state": {"cursor_position": {"x": 1e999, "y": 0, "z": 0}}}]}',
    105: '{"inverse3": [{"device_id": "04BA", "state": {"cursor_position": {"x": "0", "y": 0, "z": 0}}}]}',
    106: "[" * 5000,
}
SILENT, ENDS = 200, 300
SILENCE = 0.5  # s
TURN = 1e-3  # s at least between a command and the next state


class Service:
    """The device and what was asked of it."""

    def __init__(self) -> None:
        self.position, self.velocity, self.force = [0.0] * 3, [0.0] * 3, [0.0] * 3
        self.last = time.monotonic()
        self.commands, self.refused, self.connections = 0, 0, 0
        self.profiles: list[str] = []
        self.forces: list[float] = []

    def move(self) -> None:
        """Let the device move up to now under the force that it was told last."""
        now = time.monotonic()
        steps = max(1, round((now - self.last) / 1e-4))
        h = (now - self.last) / steps
        for _ in range(steps):
            for i in range(3):
                self.velocity[i] += h * (self.force[i] - DAMPING * self.velocity[i]) / MASS
                self.position[i] += h * self.velocity[i]
        self.last = now

    def state(self, full: bool) -> str:
        """A frame of the service."""
        self.move()
        vectors = {"cursor_position": self.position, "cursor_velocity": self.velocity}
        told = {name: dict(zip("xyz", vector, strict=True)) for name, vector in vectors.items()}
        told["body_orientation"] = {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}
        device = {"device_id": "04BA", "state": told}
        other = {"device_id": "0001", "state": {"cursor_position": {"x": 9.0, "y": 9.0, "z": 9.0}}}
        if full:
            device["config"] = {"handedness": "right", "streaming_mode": "USB"}
        return json.dumps({"session_id": self.connections, "inverse3": [other, device]})

    def obey(self, message: str | bytes) -> None:
        """Take a command."""
        self.commands += 1
        try:
            told = json.loads(message)
            (device,) = told["inverse3"]
            values = device["commands"]["set_cursor_force"]["values"]
            force = [float(values[axis]) for axis in "xyz"]
            assert device["device_id"] == "04BA" and all(abs(f) < 1e3 for f in force)
        except (ValueError, KeyError, TypeError, AssertionError):
            self.refused += 1
            return
        self.move()
        self.force = force
        self.forces.append(force[2])
        if "session" in told:
            self.profiles.append(told["session"]["configure"]["profile"]["name"])

    def talk(self, connection: ServerConnection) -> None:
        self.connections += 1
        try:
            connection.send(self.state(full=True))
            for message in connection:
                self.obey(message)
                time.sleep(TURN)
                if self.commands in (SILENT, ENDS):
                    self.move()
                    self.force = [0.0] * 3  # a device that hears nothing pulls at nobody
                if self.commands == SILENT:
                    time.sleep(SILENCE)
                if self.commands == ENDS:
                    return
                connection.send(BAD.get(self.commands) or self.state(full=False))
        except ConnectionClosed:
            pass


if __name__ == "__main__":
    service = Service()
    with serve(service.talk, "127.0.0.1", 0) as server:
        print(server.socket.getsockname()[1], flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        time.sleep(0.2)
    report = {name: getattr(service, name) for name in ("commands", "refused", "connections", "profiles", "position")}
    report |= {"least": min(service.forces), "last": service.forces[-1]}
    print(json.dumps(report), flush=True)
