"""A lease on the server of a supervisor: a connection held open, read by a thread of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import socket
import threading
from collections.abc import Callable
from types import TracebackType

from desktop.launchers import wire
from desktop.launchers.base import LaunchError, ServerState, ServerStatus, StatusCallback
from desktop.triton.types import Endpoint

_ENDED = frozenset({ServerState.STOPPED, ServerState.FAILED})


class SupervisorLease:
    """Keeps a server alive until closed; the end of the process closes the connection too.

    ``connect`` finds or starts a supervisor and returns a connection on which a lease has been
    asked for; it runs in the lease's thread, since it may have to wait for an older server to stop.
    It is given a function to report what it waits for, in words.
    """

    def __init__(
        self, first: ServerStatus, connect: Callable[[Callable[[str], None]], socket.socket]
    ) -> None:
        self._status = first
        self._connect = connect
        self._changed = threading.Condition()
        self._callbacks: list[StatusCallback] = []
        self._answers: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()
        self._connection: socket.socket | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="server-lease", daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> Endpoint:
        return self.status().endpoint

    def status(self) -> ServerStatus:
        """The last known status; never blocks."""
        return self._status

    def wait_ready(self, timeout: float = 120.0) -> ServerStatus:
        """Block until READY or DEGRADED. Raises LaunchError on failure or time-out."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._status.state in _ENDED | {ServerState.READY, ServerState.DEGRADED}
                    or self._closed
                ),
                timeout,
            )
            status = self._status
        if status.state in (ServerState.READY, ServerState.DEGRADED):
            return status
        if status.state is ServerState.FAILED:
            raise LaunchError(status.message)
        if status.state is ServerState.STOPPED or self._closed:
            raise LaunchError(f"The server {status.message or 'was stopped'}.")
        raise LaunchError(
            f"The server was not ready within {timeout:.0f} seconds (still {status.message}); "
            "see: tritalk server logs"
        )

    def subscribe(self, callback: StatusCallback) -> None:
        """Call ``callback`` on every later change, from the lease's thread."""
        self._callbacks.append(callback)

    def keep(self, timeout: float = 10.0) -> None:
        """Let the server outlive this lease, until ``tritalk server stop``. Call it when ready."""
        if self._connection is None:
            raise LaunchError("The server is not running.")
        try:
            wire.send(self._connection, {"do": "keep"})
            self._answers.get(timeout=timeout)
        except (OSError, queue.Empty) as error:
            raise LaunchError("The server ended before it could be kept.") from error

    def close(self) -> None:
        """End the lease; returns at once. ``status()`` no longer changes."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
        if threading.current_thread() is not self._thread:
            self._thread.join(2)

    def __enter__(self) -> SupervisorLease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self) -> None:
        try:
            connection = self._connect(self._report)
        except (LaunchError, OSError) as error:
            self._change(
                dataclasses.replace(self._status, state=ServerState.FAILED, message=str(error))
            )
            return
        with connection:
            self._connection = connection
            if not self._closed:
                self._read(connection)
            self._connection = None
        if not self._closed and self._status.state not in _ENDED:
            self._change(
                dataclasses.replace(
                    self._status,
                    state=ServerState.STOPPED,
                    message="ended: its supervisor was killed",
                    models={},
                    pid=0,
                )
            )

    def _read(self, connection: socket.socket) -> None:
        try:
            for message in wire.messages(connection):
                if "status" in message:
                    self._change(wire.status_from_json(message["status"]))
                else:
                    self._answers.put(message)
        except (OSError, ValueError):
            return  # the supervisor is gone; the status says so

    def _report(self, message: str) -> None:
        self._change(dataclasses.replace(self._status, message=message))

    def _change(self, status: ServerStatus) -> None:
        with self._changed:
            if self._closed:
                return
            self._status = status
            self._changed.notify_all()
        for callback in list(self._callbacks):
            callback(status)
