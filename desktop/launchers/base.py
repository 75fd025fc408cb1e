"""What every launcher offers: a server's status in words, and a lease that keeps it alive."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from desktop.triton.types import Endpoint


class ServerState(enum.StrEnum):
    """``DEGRADED``: the server runs but at least one model is not ready."""

    STARTING = "starting"
    READY = "ready"
    DEGRADED = "degraded"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class ServerStatus:
    """A server as seen now. ``reason`` says why this launcher was chosen; ``message`` what happens
    at the moment, in words; ``models`` maps a model's name to READY, LOADING or UNAVAILABLE (with
    its reason after a colon)."""

    launcher: str
    reason: str
    state: ServerState
    message: str = ""
    endpoint: Endpoint = field(default_factory=lambda: Endpoint(""))
    models: dict[str, str] = field(default_factory=dict)
    pid: int = 0

    def to_json(self) -> dict[str, Any]:
        """The ``tritalk server status --json`` object: launcher, reason, state, message, grpc,
        http, metrics, headers, models, pid; with TLS also tls and ca_file."""
        data = asdict(self)
        data.update(data.pop("endpoint"))
        if not data["tls"]:
            del data["tls"], data["ca_file"]
        data["state"] = str(self.state)
        return data


class LaunchError(Exception):
    """A server could not be brought up: one clear sentence with what to do."""


StatusCallback = Callable[[ServerStatus], None]


class Lease(Protocol):
    """Keeps a server alive until closed. The holder's death, however it dies, closes it too."""

    def status(self) -> ServerStatus:
        """The last known status; never blocks."""
        ...

    def wait_ready(self, timeout: float = 120.0) -> ServerStatus:
        """Block until READY or DEGRADED. Raises :class:`LaunchError` on failure or time-out."""
        ...

    def subscribe(self, callback: StatusCallback) -> None:
        """Call ``callback`` on every change, from a thread of the lease's own."""
        ...

    def close(self) -> None: ...


class Launcher(Protocol):
    """One way a Triton server comes to be."""

    name: str

    def acquire(self) -> Lease:
        """Find the running server of this user or start one; returns at once, in STARTING."""
        ...
