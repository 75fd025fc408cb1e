"""Python's garbage collection, on the GUI thread and when the window has time for it.

Left alone it runs wherever memory happens to be asked for: on a worker, where it may destroy a
QObject of another thread, or in the middle of a streaming reply, where a full collection over a
long conversation costs some hundred milliseconds.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

_INTERVAL_MS = 500


class GarbageCollector(QObject):
    """Collects by a timer; a full collection waits until ``busy()`` is false."""

    def __init__(self, busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._busy = busy
        self._thresholds = gc.get_threshold()
        gc.disable()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    @Slot()
    def collect(self) -> None:
        """Do what the automatic collection would have done since the last call."""
        young, middle, old = gc.get_count()
        if old > self._thresholds[2] and not self._busy():
            gc.collect(2)
        elif middle > self._thresholds[1]:
            gc.collect(1)
        elif young > self._thresholds[0]:
            gc.collect(0)

    def stop(self) -> None:
        """Hand the collection back to Python."""
        self._timer.stop()
        gc.enable()
