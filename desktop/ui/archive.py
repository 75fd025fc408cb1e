"""The window's side of the store: operations go to its thread, answers come back as calls here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from desktop.store.database import Database
from desktop.store.schema import Notice
from desktop.store.worker import StoreWorker, default_path
from desktop.triton.types import Token

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class Archive(QObject):
    """Lives on the GUI thread; only :meth:`close` blocks."""

    #: Something about the file that the person must be told: a :class:`Notice`.
    noticed = Signal(object)

    # Emitted by the store's thread, received by decorated slots of this long-lived object.
    _answered = Signal(object, object)
    _notice_arrived = Signal(object)

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._closed = False
        queued = Qt.ConnectionType.QueuedConnection
        self._answered.connect(self._deliver, queued)
        self._notice_arrived.connect(self._tell, queued)
        self._worker = StoreWorker(path or default_path(), self._notice_arrived.emit)

    @property
    def path(self) -> Path:
        return self._worker.path

    def ask(
        self,
        operation: Callable[[Database], Answer],
        then: Callable[[Answer], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Run ``operation(database)`` on the store's thread, then ``then(answer)`` or
        ``failed(exception)`` on this one."""
        if self._closed:
            return
        future = self._worker.submit(operation)
        if then is not None or failed is not None:
            future.add_done_callback(lambda done: self._answered.emit((then, failed), done))

    def append_tokens(self, message: int, position: int, tokens: list[Token]) -> None:
        if not self._closed:
            self._worker.append_tokens(message, position, tokens)

    def close(self) -> None:
        """Write what waits and join the thread."""
        self._closed = True
        self._worker.close()

    @Slot(object, object)
    def _deliver(self, callbacks: tuple[Any, Any], done: Future[Any]) -> None:
        # The worker has logged a failure and raised a notice where the person can do something.
        if self._closed:
            return
        then, failed = callbacks
        error = done.exception()
        if error is None and then is not None:
            then(done.result())
        elif error is not None and failed is not None:
            failed(error)

    @Slot(object)
    def _tell(self, notice: Notice) -> None:
        self.noticed.emit(notice)
