"""How far a pull or build is, and how it is ended from outside."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from desktop.launchers.base import LaunchError


class Cancelled(LaunchError):
    """The user does not want it any more."""


@dataclass(frozen=True)
class Progress:
    """How far an image is. ``phase``: upload (of what it is built from), pull or build. Bytes are
    those known so far: an engine tells a layer's size when it begins with it."""

    phase: str
    message: str = ""
    bytes_done: int = 0
    bytes_total: int = 0
    layers_done: int = 0
    layers: int = 0
    step: int = 0
    steps: int = 0

    def __str__(self) -> str:
        if self.phase == "upload":
            return f"sending {_mib(self.bytes_done)} of {_mib(self.bytes_total)} to Docker"
        if self.phase == "pull":
            told = f"{_mib(self.bytes_done)} of {_mib(self.bytes_total)}"
            return f"pulling: {told}, {self.layers_done} of {self.layers} layers"
        return f"building: step {self.step} of {self.steps} ({self.message})"


ProgressCallback = Callable[[Progress], None]


class Cancel:
    """Ends a pull or build from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._closers: list[Callable[[], None]] = []

    def __call__(self) -> None:
        self._event.set()
        for close in list(self._closers):
            with contextlib.suppress(Exception):
                close()

    @property
    def asked(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        if self.asked:
            raise Cancelled("cancelled")

    @contextlib.contextmanager
    def closing(self, close: Callable[[], None]) -> Iterator[None]:
        """Call ``close`` when cancelled within."""
        self._closers.append(close)
        try:
            self.check()
            yield
        finally:
            self._closers.remove(close)


class Layers:
    """Adds up the progress of a pull's layers."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        self._total: dict[str, int] = {}
        self._complete: set[str] = set()

    def take(self, event: dict[str, Any]) -> Progress | None:
        layer, status = event.get("id"), event.get("status", "")
        if not layer or not status or status.startswith("Pulling from"):
            return None
        self._done.setdefault(layer, 0)
        self._total.setdefault(layer, 0)
        detail = event.get("progressDetail") or {}
        if status == "Downloading":
            self._done[layer] = int(detail.get("current") or 0)
            self._total[layer] = max(int(detail.get("total") or 0), self._done[layer])
        elif status in ("Download complete", "Pull complete", "Already exists"):
            self._done[layer] = self._total[layer]
            if status != "Download complete":
                self._complete.add(layer)
        return Progress(
            "pull",
            bytes_done=sum(self._done.values()),
            bytes_total=sum(self._total.values()),
            layers_done=len(self._complete),
            layers=len(self._done),
        )


@dataclass
class Upload:
    """The build context as it goes to the engine."""

    file: IO[bytes]
    report: ProgressCallback
    cancel: Cancel
    sent: int = 0
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = self.file.seek(0, io.SEEK_END)
        self.file.seek(0)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[bytes]:
        while block := self.read(1 << 20):
            yield block

    def read(self, size: int = -1) -> bytes:
        self.cancel.check()
        block = self.file.read(size)
        before, self.sent = self.sent, self.sent + len(block)
        if before >> 24 != self.sent >> 24 or (self.sent == self.size and block):
            self.report(Progress("upload", bytes_done=self.sent, bytes_total=self.size))
        return block


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.0f} MiB"
