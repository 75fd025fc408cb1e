"""How far a pull or build is, and how it is ended from outside."""

from __future__ import annotations

import contextlib
import io
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from desktop.launchers.base import LaunchError, Progress, Report


class Cancelled(LaunchError):
    """The user does not want it any more."""


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


class Throttled:
    """Hands an image's progress on to ``report``, its target before it: every new step at once,
    the bytes in between a few times a second, since an engine tells of each layer ten times."""

    def __init__(self, report: Report, target: str, seconds: float = 0.2) -> None:
        self._report = report
        self._target = target
        self._seconds = seconds
        self._told: tuple[str, int, int] | None = None
        self._at = 0.0

    def __call__(self, progress: Progress) -> None:
        place = (progress.phase, progress.step, progress.layers_done)
        now = time.monotonic()
        if place == self._told and now - self._at < self._seconds:
            return
        self._told, self._at = place, now
        self._report(f"{self._target.upper()} image: {progress}", progress)


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
