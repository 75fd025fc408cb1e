"""The one gateway from the window to work that blocks: a pool of threads and a bridge back.

A window starts work with :meth:`Background.run` and gets its outcome as a signal on the GUI thread;
no window owns a thread. What arrives after :meth:`Task.cancel` is dropped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

log = logging.getLogger(__name__)

# A stream, its cancellation, an address, the lease and its closing, with room to spare.
_THREADS = 8


class Task(QObject):
    """One piece of background work, seen from the GUI thread.

    ``succeeded(result)`` or ``failed(exception)`` is emitted there, at most one of them and only if
    the task was not cancelled.
    """

    succeeded = Signal(object)
    failed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._cancelled = threading.Event()
        self._on_cancel: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def cancelled(self) -> bool:
        """True from the moment somebody asked to cancel. May be read from any thread."""
        return self._cancelled.is_set()

    def on_cancel(self, action: Callable[[], None]) -> None:
        """Called by the work: run ``action`` (which may block) on a worker when cancelled."""
        with self._lock:
            if not self.cancelled:
                self._on_cancel.append(action)
                return
        action()

    def take_cancel_actions(self) -> list[Callable[[], None]]:
        """Mark as cancelled; the caller sees to the actions handed out, each once."""
        with self._lock:
            self._cancelled.set()
            actions, self._on_cancel = self._on_cancel, []
            return actions


class Background(QObject):
    """The pool. Lives on the GUI thread; :meth:`close` joins every thread."""

    # The one signal that crosses threads: emitted by a worker, received by the decorated slot.
    # It belongs to this long-lived object, so no sender is deleted while a worker emits.
    _returned = Signal(object, bool, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="background")
        self._tasks: set[Task] = set()
        self._closed = False
        self._returned.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        work: Callable[[Task], Any],
        *,
        succeeded: Callable[[Any], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> Task:
        """Start ``work(task)`` on a worker; the callbacks run on the GUI thread.

        After :meth:`close` nothing is started any more; the task comes back cancelled.
        """
        task = Task()
        if self._closed:
            task.take_cancel_actions()
            return task
        if succeeded is not None:
            task.succeeded.connect(succeeded)
        task.failed.connect(failed if failed is not None else _log_failure)
        self._tasks.add(task)
        self._pool.submit(self._run, task, work)
        return task

    def cancel(self, task: Task) -> None:
        """Drop the task's outcome and run its cancel actions on a worker. Never blocks."""
        for action in task.take_cancel_actions():
            if not self._closed:
                self._pool.submit(_guarded, action)

    def cancel_all(self) -> None:
        """Cancel what runs and start nothing more. Never blocks."""
        for task in list(self._tasks):
            self.cancel(task)
        self._closed = True

    def close(self) -> None:
        """Cancel what runs and join every thread. Blocks; called when no window is left."""
        self.cancel_all()
        self._pool.shutdown(wait=True)
        self._tasks.clear()

    def _run(self, task: Task, work: Callable[[Task], Any]) -> None:
        """Runs on the worker. Every exception is carried back; none dies in the pool."""
        ok, outcome = False, None
        try:
            if not task.cancelled:
                ok, outcome = True, work(task)
        except Exception as error:
            ok, outcome = False, error
        self._returned.emit(task, ok, outcome)

    @Slot(object, bool, object)
    def _deliver(self, task: Task, ok: bool, outcome: object) -> None:
        self._tasks.discard(task)
        if not task.cancelled:
            (task.succeeded if ok else task.failed).emit(outcome)
        task.deleteLater()


def _log_failure(error: Exception) -> None:
    log.error("background work failed", exc_info=error)


def _guarded(action: Callable[[], None]) -> None:
    try:
        action()
    except Exception:
        log.exception("cancelling failed")
