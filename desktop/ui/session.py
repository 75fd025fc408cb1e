"""The window's side of a server: its lease, its client, and requests as background tasks.

Requests made while the server starts wait for it on a worker; when the server is replaced, the next
request gets a client of the new one. Nothing here blocks the GUI thread except :meth:`close`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from desktop import settings
from desktop.launchers import supervised
from desktop.launchers.base import Lease, ServerState, ServerStatus
from desktop.memory import MemoryShort
from desktop.settings import Settings
from desktop.triton.chat_stream import ChatStream
from desktop.triton.client import TritonClient
from desktop.triton.models import ModelLimits, stream_model
from desktop.triton.types import (
    Endpoint,
    Finished,
    InvalidInput,
    ParsedAddress,
    Sampling,
    ServerUnavailable,
    Token,
    TritalkError,
)
from desktop.ui.tasks import Background, Task

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)

# A first start compiles nothing but loads torch in several stubs; a slow disk needs its time.
_START_TIMEOUT_S = 180.0

# How long a launcher may take to notice that its server has gone.
_NOTICE_WITHIN_S = 2.0

SERVING = (ServerState.READY, ServerState.DEGRADED)
ENDED = (ServerState.STOPPED, ServerState.FAILED)


class Client(Protocol):
    """What the window needs of :class:`TritonClient`."""

    def chat(
        self,
        text: str,
        history: Sequence[str] = (),
        sampling: Sampling | None = None,
        model: str = ...,
        reply_prefix: str = ...,
        opening: Sequence[str] = ...,
    ) -> ChatStream: ...
    def limits(self, model: str) -> ModelLimits | None: ...
    def parse(self, texts: Sequence[str]) -> list[ParsedAddress]: ...
    def parse_each(self, texts: Iterable[str]) -> Iterator[ParsedAddress | TritalkError]: ...
    def close(self) -> None: ...


class Reply:
    """A reply on its way: its task, and the events that have arrived but were not shown yet."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self._events: SimpleQueue[Token | Finished] = SimpleQueue()

    def put(self, event: Token | Finished) -> None:
        self._events.put(event)

    def take(self) -> list[Token | Finished]:
        """All events since the last call; never blocks."""
        events: list[Token | Finished] = []
        while True:
            try:
                events.append(self._events.get_nowait())
            except Empty:
                return events


class ServerSession(QObject):
    """Holds one lease for the window's life and turns its status into signals."""

    status_changed = Signal(object)

    _status_arrived = Signal(object)

    def __init__(
        self,
        background: Background,
        acquire: Callable[[], Lease],
        client: Callable[[Endpoint], Client] = TritonClient,
        parent: QObject | None = None,
        builtin: Callable[[], Lease] | None = None,
        stop: Callable[[str], object] = supervised.stop_running,
        check: Callable[[Settings | None], None] | None = None,
    ) -> None:
        """``check``: raises :class:`MemoryShort` where a server will probably not fit into memory;
        the person is warned once, and the next start goes ahead."""
        super().__init__(parent)
        self._check = check
        self._warned = False
        self.background = background
        self._as_set = self._acquire = acquire
        self._builtin = builtin
        self._stop = stop
        self._settings: Settings | None = None
        self._new_client = client
        self._status = ServerStatus("", "", ServerState.STARTING)
        self._lease: Lease | None = None
        self._client: Client | None = None
        self._client_endpoint: Endpoint | None = None
        self._changed = threading.Condition()
        # Apart from the condition, which the GUI thread takes: making a client may take its time.
        self._client_lock = threading.Lock()
        self._closing = False
        # Statuses of a lease that was given up for a new attempt are not for us any more.
        self._attempt = 0
        self._status_arrived.connect(self._announce, Qt.ConnectionType.QueuedConnection)

    # On the GUI thread.

    @property
    def status(self) -> ServerStatus:
        with self._changed:
            return self._status

    def start(self) -> None:
        """Acquire a server, or try again after a failure. Returns at once."""
        with self._changed:
            self._attempt += 1
            attempt = self._attempt
        self._set_status(attempt, ServerStatus("", "", ServerState.STARTING))
        self.background.run(lambda task: self._take_lease(attempt))

    def stop(self, why: str = "it was stopped in the window") -> None:
        """Stop the server, whoever else uses it; of one that somebody else runs, let go. Also
        ends a start that is under way. Returns at once."""
        self._end(why, again=False)

    @Slot()
    def cancel_start(self) -> None:
        """End a start that takes too long for the person."""
        self.stop("the start was cancelled")

    def restart(self, *, as_set: bool = True) -> None:
        """Stop the server and start it again, as the settings have it by now (unless ``as_set`` is
        false: then as it was acquired last). Returns at once."""
        if as_set:
            self._acquire = self._as_set
        self._end("it is restarted", again=True)

    @property
    def started_with(self) -> Settings | None:
        """The settings when the server was last asked for; None before, or with a wrong file."""
        with self._changed:
            return self._settings

    def _end(self, why: str, *, again: bool) -> None:
        with self._changed:
            self._attempt += 1
            attempt = self._attempt
            before = self._status
        stopping = replace(
            before, state=ServerState.STOPPING, message=f"stopping: {why}", progress=None
        )
        self._set_status(attempt, stopping)

        def work(task: Task) -> None:
            if self._end_server(attempt, stopping, why) and again:
                self._take_lease(attempt)

        self.background.run(work)

    def can_use_builtin(self) -> bool:
        """Whether a failed server can be replaced by the built-in Triton."""
        status = self.status
        failed = status.state in (ServerState.FAILED, ServerState.STOPPED)
        return failed and self._builtin is not None and status.launcher != "embedded"

    @Slot()
    def use_builtin(self) -> None:
        """Go on with the built-in Triton, for as long as the window is open."""
        if self._builtin is not None:
            self._acquire = self._builtin
            self.start()

    def chat(
        self,
        text: str,
        history: Sequence[str],
        sampling: Sampling | None,
        *,
        model: str = "",
        reply_prefix: str = "",
        opening: Sequence[str] = (),
        succeeded: Callable[[Any], None],
        failed: Callable[[Exception], None],
    ) -> Reply:
        """Stream a reply of a chat model, by default the first, that begins with
        ``reply_prefix``, which is not repeated; the task succeeds or fails when the stream has
        ended. ``opening``: turns before the history that stay when that is shortened."""
        reply = Reply()
        arrived = False

        def ask(task: Task, client: Client) -> None:
            nonlocal arrived
            if task.cancelled:  # while the server was starting, which is ready just now
                reply.put(Finished.cancelled())
                return
            stream = client.chat(
                text,
                tuple(history),
                sampling,
                model=stream_model(model),
                reply_prefix=reply_prefix,
                opening=tuple(opening),
            )
            task.on_cancel(stream.cancel)
            for event in stream:
                arrived = True
                reply.put(event)

        def work(task: Task) -> None:
            self._ask(task, ask, lambda: not arrived)

        reply.task = self.background.run(work, succeeded=succeeded, failed=failed)
        return reply

    def parse(
        self,
        text: str,
        *,
        succeeded: Callable[[ParsedAddress], None],
        failed: Callable[[Exception], None],
    ) -> Task:
        def work(task: Task) -> ParsedAddress:
            return self._ask(task, lambda _, client: client.parse([text])[0], lambda: True)

        return self.background.run(work, succeeded=succeeded, failed=failed)

    def limits(
        self,
        model: str,
        *,
        succeeded: Callable[[ModelLimits | None], None],
        failed: Callable[[Exception], None],
    ) -> Task:
        """What may be asked of a chat model."""

        def work(task: Task) -> ModelLimits | None:
            return self._ask(
                task, lambda _, client: client.limits(stream_model(model)), lambda: True
            )

        return self.background.run(work, succeeded=succeeded, failed=failed)

    def cancel(self, task: Task) -> None:
        self.background.cancel(task)
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """End every request, then the lease. Blocks until all threads are joined."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            lease, self._lease = self._lease, None
        self.background.cancel_all()
        # A closed connection ends the calls that wait on it, so that their threads can be joined.
        self._drop_client()
        self.background.close()
        self._drop_client()
        with self._changed:
            # An acquisition that was under way has ended by now and may have left its lease.
            late, self._lease = self._lease, None
        for held in (lease, late):
            if held is not None:
                held.close()

    # On workers and on the lease's own thread.

    def open_client(self, model: str, cancelled: Callable[[], bool]) -> Client:
        """A connection of the caller's own, for long work, to the server that serves ``model``;
        waits for one as long as it takes. Raises ServerUnavailable once ``cancelled()``."""
        with self._changed:
            while not self._serves(model):
                if cancelled() or self._closing:
                    raise ServerUnavailable("the server is not running")
                self._changed.wait(0.5)
            endpoint = self._status.endpoint
        return self._new_client(endpoint)

    def serves(self, model: str) -> bool:
        with self._changed:
            return self._serves(model)

    def _serves(self, model: str) -> bool:
        return self._status.state in SERVING and self._status.models.get(model, "READY") == "READY"

    def _end_server(self, attempt: int, status: ServerStatus, why: str) -> bool:
        """Whether nothing of it is left."""
        self._drop_client()
        self._drop_lease()
        try:
            if status.launcher != "remote":
                self._stop(why)
        except Exception as error:
            log.exception("the server could not be stopped")
            failed = replace(status, state=ServerState.FAILED, message=str(error))
            self._set_status(attempt, failed)
            return False
        stopped = ServerStatus(
            status.launcher, status.reason, ServerState.STOPPED, f"stopped: {why}"
        )
        self._set_status(attempt, stopped)
        return True

    def _drop_lease(self) -> None:
        with self._changed:
            old, self._lease = self._lease, None
        if old is not None:
            old.close()

    def _warn(self, wanted: Settings | None) -> None:
        if self._check is None or self._warned:
            self._warned = False
            return
        try:
            self._check(wanted)
        except MemoryShort:
            self._warned = True
            raise

    def _take_lease(self, attempt: int) -> None:
        self._drop_lease()
        try:
            wanted = settings.load()
        except settings.SettingsError:
            wanted = None  # acquiring says so, or needs none
        with self._changed:
            self._settings = wanted
        try:
            self._warn(wanted)
        except MemoryShort as short:
            self._set_status(attempt, ServerStatus("", "", ServerState.STOPPED, str(short)))
            return
        try:
            lease = self._acquire()
        except Exception as error:
            log.exception("no server could be acquired")
            self._set_status(attempt, ServerStatus("", "", ServerState.FAILED, str(error)))
            return
        with self._changed:
            late = attempt != self._attempt
            if not late:
                self._lease = lease
        if late:  # given up for another attempt in the meantime
            lease.close()
            return
        heard = threading.Event()

        def changed(status: ServerStatus) -> None:
            heard.set()
            self._set_status(attempt, status)

        lease.subscribe(changed)
        # What it was before is told only if nothing newer has been: its thread may be first.
        self._set_status(attempt, lease.status(), unless=heard)

    def _set_status(
        self, attempt: int, status: ServerStatus, unless: threading.Event | None = None
    ) -> None:
        with self._changed:
            if attempt != self._attempt or self._closing or (unless and unless.is_set()):
                return
            self._status = status
            if status.state not in SERVING:
                # A server that comes back under the same address needs a fresh connection too: the
                # old one waits ever longer between its attempts.
                self._client_endpoint = None
            self._changed.notify_all()
            # Queued, hence quick; within the lock, so that the window hears of changes in order.
            self._status_arrived.emit(status)

    @Slot(object)
    def _announce(self, status: ServerStatus) -> None:
        self.status_changed.emit(status)

    def _ask(
        self, task: Task, ask: Callable[[Task, Client], Answer], again: Callable[[], bool]
    ) -> Answer:
        """Ask the server that serves now; if it turns out to be restarting, ask its successor,
        once, provided that ``again()`` finds nothing of the first answer shown."""
        try:
            return ask(task, self._wait_client(task))
        except InvalidInput:
            raise
        except Exception:
            # Whatever goes wrong while a server goes away is the server's fault.
            if not again() or not self._stops_serving(task):
                raise
        return ask(task, self._wait_client(task))

    def _stops_serving(self, task: Task) -> bool:
        """Whether the status says, at once or within a moment, that no server serves. A request
        learns of its server's death before the launcher does."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._status.state not in SERVING or task.cancelled or self._closing,
                _NOTICE_WITHIN_S,
            )
            return self._status.state is ServerState.STARTING and not task.cancelled

    def _wait_client(self, task: Task) -> Client:
        """A client of the server that serves now; waits for one that is starting."""
        deadline = time.monotonic() + _START_TIMEOUT_S
        with self._changed:
            while self._status.state not in SERVING:
                if self._status.state in ENDED:
                    raise ServerUnavailable(self._status.message or "the server is not running")
                left = deadline - time.monotonic()
                if task.cancelled or self._closing or left <= 0:
                    raise ServerUnavailable("the server did not become ready")
                self._changed.wait(left)
            endpoint = self._status.endpoint
        with self._client_lock:
            if self._client is None or self._client_endpoint != endpoint:
                if self._client is not None:
                    self._client.close()
                self._client, self._client_endpoint = self._new_client(endpoint), endpoint
            return self._client

    def _drop_client(self) -> None:
        with self._client_lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()
