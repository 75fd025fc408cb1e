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
class Progress:
    """How far an image is. ``phase``: upload (of what it is built from), pull or build; ``detail``
    is what the step under way printed last. Bytes are those known so far: an engine tells a
    layer's size when it begins with it."""

    phase: str
    message: str = ""
    bytes_done: int = 0
    bytes_total: int = 0
    layers_done: int = 0
    layers: int = 0
    step: int = 0
    steps: int = 0
    detail: str = ""

    def __str__(self) -> str:
        if self.phase == "upload":
            return f"sending {_mib(self.bytes_done)} of {_mib(self.bytes_total)} to Docker"
        if self.phase == "pull":
            told = f"{_mib(self.bytes_done)} of {_mib(self.bytes_total)}"
            return f"pulling: {told}, {self.layers_done} of {self.layers} layers"
        return f"building: step {self.step} of {self.steps} ({self.message})"

    def share(self) -> float | None:
        """From 0 to 1; None while nobody can know."""
        if self.phase == "build":
            return (self.step - 1) / self.steps if self.step and self.steps else None
        return min(1.0, self.bytes_done / self.bytes_total) if self.bytes_total else None


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.0f} MiB"


@dataclass(frozen=True)
class ServerStatus:
    """A server as seen now. ``reason`` says why this launcher was chosen; ``message`` what happens
    at the moment, in words; ``models`` maps a model's name to READY, LOADING or UNAVAILABLE (with
    its reason after a colon); ``progress`` is there while an image is built or pulled."""

    launcher: str
    reason: str
    state: ServerState
    message: str = ""
    endpoint: Endpoint = field(default_factory=lambda: Endpoint(""))
    models: dict[str, str] = field(default_factory=dict)
    pid: int = 0
    progress: Progress | None = None

    def to_json(self) -> dict[str, Any]:
        """The ``tritalk server status --json`` object: launcher, reason, state, message, grpc,
        http, metrics, headers, models, pid; with TLS also tls and ca_file, and progress while an
        image is made."""
        data = asdict(self)
        data.update(data.pop("endpoint"))
        if not data["tls"]:
            del data["tls"], data["ca_file"]
        if self.progress is None:
            del data["progress"]
        data["state"] = str(self.state)
        return data


class LaunchError(Exception):
    """A server could not be brought up: one clear sentence with what to do."""


StatusCallback = Callable[[ServerStatus], None]


class Report(Protocol):
    """Takes what a launcher does at the moment, in words, and how far an image is."""

    def __call__(self, message: str, progress: Progress | None = None) -> None: ...


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
