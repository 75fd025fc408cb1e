"""A server for the time of one command: the running one, or one of the command's own."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from desktop.launchers import acquire, current
from desktop.launchers.base import ServerState, ServerStatus
from desktop.triton.client import TritonClient


@contextlib.contextmanager
def server_session(*, quiet: bool = False) -> Iterator[TritonClient]:
    """Lease a server, wait until it is ready, and hand out a client of it.

    Progress goes to stderr unless ``quiet``. Raises :class:`desktop.launchers.base.LaunchError`.
    """
    lease = acquire()
    try:
        if not quiet:
            lease.subscribe(_Progress())
        status = lease.wait_ready()
        with TritonClient(status.endpoint, recover=lambda: lease.wait_ready().endpoint) as client:
            yield client
    finally:
        lease.close()


def wait_until_stopped(seconds: float = 15.0) -> None:
    """Wait for a server that nobody leases any more to be gone.

    One that somebody else still uses does not begin to stop within a second and is left alone.
    """
    begun = time.monotonic()
    stopping = False
    while (status := current()) is not None:
        stopping = stopping or status.state == ServerState.STOPPING
        if time.monotonic() - begun > (seconds if stopping else 1.0):
            return
        time.sleep(0.05)


class _Progress:
    """Prints each new message of a server that is starting; a ready one needs no words."""

    def __init__(self) -> None:
        self._last = ""
        self._started = False

    def __call__(self, status: ServerStatus) -> None:
        self._started = self._started or status.state == "starting"
        if self._started and status.message and status.message != self._last:
            self._last = status.message
            print(f"[{status.launcher}] {status.message}", file=sys.stderr, flush=True)
