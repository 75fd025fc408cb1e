"""The control protocol between a supervisor and its holders: JSON lines over a Unix socket.

A holder sends ``{"do": "lease", "listen": "unix"}`` (its open connection is the lease; with
``options``, and ``launcher`` where the user insists on one, it takes no other server),
``{"do": "watch"}`` (statuses without a lease), ``{"do": "keep"}``, ``{"do": "models"}`` (chat
models were installed or removed; the answer comes when the server knows them) or
``{"do": "stop"}`` (with ``why``, which the other holders are told). The supervisor answers with
``{"status": {…}}`` on every change, ``{"ended": true}`` where it is already stopping and gives no
lease, or ``{"error": "…"}``.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from desktop.launchers.base import Progress, ServerState, ServerStatus
from desktop.triton.types import Endpoint

CONTROL = "control"
LAUNCH_FILE = "launch.json"
# The inherited connection of the launching process is called this in the supervisor's arguments.
FIRST_LEASE = "--first-lease"


def encode(message: dict[str, Any]) -> bytes:
    """ASCII: a path may hold bytes that are no UTF-8, as lone surrogates."""
    return json.dumps(message).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The inverse of :func:`encode`. Raises ValueError where it is no message."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise ValueError("a line that is no message")
    return message


def status_from_json(data: dict[str, Any]) -> ServerStatus:
    """The inverse of :meth:`ServerStatus.to_json`. Raises ValueError where it is none."""
    try:
        return _status(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no status of a server: {error!r:.80}") from None


def _status(data: dict[str, Any]) -> ServerStatus:
    return ServerStatus(
        launcher=_of(str, data["launcher"]),
        reason=_of(str, data["reason"]),
        state=ServerState(data["state"]),
        message=_of(str, data["message"]),
        endpoint=Endpoint(
            grpc=_of(str, data["grpc"]),
            http=_of(str, data["http"]),
            metrics=_of(str, data["metrics"]),
            headers=_texts(data["headers"]),
        ),
        models=_texts(data["models"]),
        pid=_of(int, data["pid"]),
        progress=_progress(data["progress"]) if data.get("progress") else None,
    )


def _progress(data: dict[str, Any]) -> Progress:
    for name, value in data.items():
        _of(str if name in ("phase", "message", "detail") else int, value)
    return Progress(**data)


def _of(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is of another type")
    return value


def _texts(data: Any) -> dict[str, str]:
    return {_of(str, name): _of(str, value) for name, value in _of(dict, data).items()}


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(encode(message))


def messages(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """The messages that arrive, until the other side closes or a time-out of the socket's own.
    Raises OSError, and ValueError where a line is no message."""
    with connection.makefile("rb") as lines:
        for line in lines:
            yield decode(line)


def connect(launch: Path, timeout: float = 5.0) -> socket.socket | None:
    """A connection to the supervisor of a launch's folder, or None where none listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.connect(str(launch / CONTROL))
    except OSError:
        connection.close()
        return None
    return connection
