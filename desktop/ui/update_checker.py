"""The update check: in the background, once a day at most, and only where it was switched on."""

from __future__ import annotations

import logging
import time

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop import backup, updates
from desktop.ui.preferences import Preferences
from desktop.ui.tasks import Background, Task
from desktop.updates import Release

log = logging.getLogger(__name__)

# After a start there is better to do; and a window may be open for weeks.
_FIRST_MS = 15_000
_LOOK_MS = 3600_000


class UpdateChecker(QObject):
    """``told``: a release newer than this Tritalk, which nobody was told of before. ``ended``: a
    check has; with the error, or None."""

    told = Signal(object)
    ended = Signal(object)

    def __init__(
        self, preferences: Preferences, background: Background, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._background = background
        self._task: Task | None = None
        self._asked_by_hand = False
        self.version = backup.application_version()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._due)
        preferences.changed.connect(self._preference_changed)
        self._wait(_FIRST_MS)

    @property
    def busy(self) -> bool:
        return self._task is not None

    def found(self) -> Release | None:
        """The newer release that is known of; one that is installed by now is none."""
        release = self._preferences.update
        return release if release and updates.newer(release.version, self.version) else None

    @Slot()
    def check(self) -> None:
        """Ask now, whatever was chosen: the person pressed a button."""
        self._asked_by_hand = True
        self._ask()

    def stop(self) -> None:
        self._timer.stop()

    def _wait(self, milliseconds: int) -> None:
        if self._preferences.updates:
            self._timer.start(milliseconds)
        else:
            self._timer.stop()

    @Slot(str)
    def _preference_changed(self, name: str) -> None:
        if name in ("updates", "updates_url"):
            # Another address may be typed; the switch itself is a wish to know.
            self._wait(0 if name == "updates" else _FIRST_MS)
        if name == "updates_url":
            self._preferences.set_update(None)

    @Slot()
    def _due(self) -> None:
        since = time.time() - self._preferences.updates_asked
        # A clock that was set back is no reason to wait for years.
        if self._preferences.updates and not 0 <= since < updates.INTERVAL:
            self._asked_by_hand = False
            self._ask()
        self._wait(_LOOK_MS)

    def _ask(self) -> None:
        url = self._preferences.updates_url
        if self.busy or not url:
            return
        # Counted from here, so that a server that never answers is asked no more often.
        self._preferences.set_updates_asked(time.time())
        self._task = self._background.run(
            lambda task: updates.latest(url), succeeded=self._answered, failed=self._failed
        )

    def _answered(self, release: Release | None) -> None:
        self._task = None
        known = self.found()
        newer = release is not None and updates.newer(release.version, self.version)
        self._preferences.set_update(release if newer else None)
        self.ended.emit(None)
        if newer and release != known:
            self.told.emit(release)

    def _failed(self, error: Exception) -> None:
        """Offline is no news: only who pressed the button is told, by :attr:`ended`."""
        self._task = None
        log.info("the update check failed: %s", error)
        self.ended.emit(error if self._asked_by_hand else None)
