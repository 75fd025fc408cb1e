"""The lines between a supervisor and those who hold its server."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from desktop.launchers import wire
from desktop.launchers.base import Progress, ServerState, ServerStatus
from desktop.launchers.server_process import ServerOptions
from desktop.triton.types import Endpoint
from tests.fuzz.harness import allowed, json_or_deep, text

mutate = json_or_deep


def seeds() -> Iterable[bytes]:
    endpoint = Endpoint("unix:/run/g:1", "unix:/run/h", "", {"k": "v"})
    for progress in (None, Progress("pull", "x", 1, 2, 3, 4)):
        status = ServerStatus(
            "embedded", "why", ServerState.READY, "", endpoint, {"m": "READY"}, 7, progress
        )
        yield wire.encode({"status": status.to_json()})
    yield ServerOptions().to_json().encode()
    yield b'{"ended": true}\n{"error": "x"}\n{"kept": true}\n'


def one(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, allowed(ValueError):
        theirs.sendall(data[:60_000])
        theirs.shutdown(socket.SHUT_WR)
        for message in wire.messages(ours):
            assert isinstance(message, dict)
            if "status" in message:
                status = wire.status_from_json(message["status"])
                assert wire.status_from_json(status.to_json()) == status
    with allowed(ValueError):
        options = ServerOptions.from_json(text(data))
        assert ServerOptions.from_json(options.to_json()) == options
