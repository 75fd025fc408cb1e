"""A server for the time of one command: the running one, or one of the command's own."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from desktop.launchers import acquire
from desktop.launchers.base import ServerStatus
from desktop.triton.client import TritonClient


@contextlib.contextmanager
def server_session(*, quiet: bool = False) -> Iterator[TritonClient]:
    """Lease a server, wait until it is ready, and hand out a client of it.

    Progress goes to stderr unless ``quiet``. Raises :class:`desktop.launchers.base.LaunchError`.
    """
    lease = acquire("auto")
    try:
        if not quiet:
            lease.subscribe(_Progress())
        status = lease.wait_ready()
        with TritonClient(status.endpoint) as client:
            yield client
    finally:
        lease.close()


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
