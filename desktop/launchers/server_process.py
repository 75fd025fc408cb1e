"""What a supervisor owns: a kind of server that can be prepared, and processes of it, one after
the other. ``embedded_server`` and ``docker_server`` are the two kinds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from desktop.launchers.base import Report
from desktop.triton.types import Endpoint
from server_bundle.repository import Rendered

# How long a server that was told to stop may take before it is killed.
STOP_WITHIN = 3.5


@dataclass(frozen=True)
class ServerOptions:
    """What a server is to be like; the same options mean the same server.

    ``device``: auto, gpu or cpu. ``gpus``: the numbers of the GPUs to use, none for all.
    ``instances``: instances a model on each device. ``precision``: what the chat engine computes
    in. ``memory``: a limit such as ``8g``.
    ``engine``: a Docker engine's address, ``image``: an image to run instead of the one built after
    ``recipe`` (see :class:`desktop.launchers.docker_image.Recipe`).
    """

    launcher: str = "embedded"
    listen: str = "unix"
    device: str = "auto"
    models_source: str = ""
    gpus: tuple[int, ...] = ()
    instances: dict[str, int] = field(default_factory=dict)
    precision: str = "auto"
    memory: str = ""
    engine: str = ""
    image: str = ""
    recipe: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> ServerOptions:
        """Raises ValueError where they are no options."""
        try:
            data: dict[str, Any] = json.loads(text)
            return cls(**{**data, "gpus": tuple(data["gpus"])})
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"no options of a server: {error!r:.80}") from None


class PortTaken(Exception):
    """Somebody took the port between its choice and its use; another try may work."""


@dataclass(frozen=True)
class Outcome:
    """How a process ended: ``words`` without a full stop, such as "tritonserver was killed by
    SIGKILL". ``killed`` from outside, so that its last words explain nothing."""

    words: str
    killed: bool


class ServerProcess(Protocol):
    """A running tritonserver. ``pid`` is its number on this machine, 0 where it has none (a
    container in a virtual machine). ``adopted``: it ran before, its models are loaded."""

    pid: int
    adopted: bool

    async def pump(self, feed: Callable[[bytes], None]) -> None:
        """Hand on what it prints until it ends."""
        ...

    async def wait(self) -> Outcome:
        """Raises :class:`LaunchError` where no other process can be had either."""
        ...

    async def stop(self) -> None:
        """Ask it to end and wait a little; :meth:`kill` ends what is left."""
        ...

    async def kill(self) -> None:
        """Leave nothing of it, at once."""
        ...


class Server(Protocol):
    """A kind of server. ``launcher`` is its name; ``reason`` may say more once prepared."""

    launcher: str
    reason: str

    def prepare(self, report: Report) -> Rendered:
        """Get everything ready, in a thread of its own; ``report`` takes the progress in words.
        Raises :class:`LaunchError` where no server can be had."""
        ...

    def render(self, *, again: bool = False) -> Rendered:
        """Write the served repository; ``again``: chat models came or went while it is served."""
        ...

    def cancel(self) -> None:
        """Let a :meth:`prepare` that is under way end soon."""
        ...

    def new_endpoint(self) -> Endpoint: ...

    async def spawn(self, endpoint: Endpoint) -> ServerProcess:
        """Raises :class:`PortTaken`, or :class:`LaunchError` where another try is in vain."""
        ...

    def keep(self) -> None:
        """Let it outlive a killed supervisor too, where its kind can do that."""
        ...

    def protect(self) -> None:
        """Close to other users what the server shares on this machine; called after models were
        loaded and again and again. Quick."""
        ...

    def sweep(self) -> None:
        """Remove what killed processes have left on the machine. Blocks."""
        ...

    def close(self) -> None:
        """Nothing will be spawned any more. Blocks."""
        ...
