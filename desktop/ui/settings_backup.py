"""Backing up and restoring from the window: in the background, one at a time, told as it goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QObject, QTimer, Signal, Slot

from desktop import backup, restore
from desktop.backup import Manifest
from desktop.restore import Checked
from desktop.store.database import Database
from desktop.triton.types import TritalkError
from desktop.ui.phrases import sentence
from desktop.ui.tasks import Task

if TYPE_CHECKING:
    from desktop.ui.application import Application

_LOOK_MS = 100


class BackupJob(QObject):
    """``progressed``: 0 to 1. ``ended``: what to tell, and its level (ok, danger, or nothing where
    the person cancelled). ``found``: a backup that may be restored; :meth:`put_back` or
    :meth:`leave` answers it."""

    progressed = Signal(float)
    ended = Signal(str, str)
    found = Signal(object)

    def __init__(self, app: Application, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._task: Task | None = None
        self._replacing = False
        self._share = 0.0
        self._cancelled = False
        self._checked: Checked | None = None
        # The work only leaves a number; nothing of Qt is touched from its thread.
        self._timer = QTimer(self, interval=_LOOK_MS)
        self._timer.timeout.connect(lambda: self.progressed.emit(self._share))

    @property
    def busy(self) -> bool:
        return self._task is not None or self._replacing

    @property
    def can_cancel(self) -> bool:
        return self._task is not None

    def write(self, target: Path) -> None:
        preferences = self._app.preferences.backed_up()

        def work(task: Task) -> Manifest:
            return backup.write(
                target, preferences, self._tell, lambda: task.cancelled or self._cancelled
            )

        def done(manifest: Manifest) -> None:
            self._end(self.tr("Backed up to {0}").format(target), "ok")

        self._begin()
        background = self._app.session.background
        self._task = background.run(work, succeeded=done, failed=self._failed)

    def check(self, path: Path) -> None:
        """Look a backup through; :attr:`found` tells of it."""

        def work(task: Task) -> Checked:
            return restore.check(path, self._tell, lambda: task.cancelled or self._cancelled)

        def done(checked: Checked) -> None:
            self._stop()
            self._checked = checked
            self.found.emit(checked)

        self._begin()
        background = self._app.session.background
        self._task = background.run(work, succeeded=done, failed=self._failed)

    def put_back(self) -> None:
        """Replace what is here by the backup that was found, after keeping it aside."""
        checked, app = self._checked, self._app
        if checked is None:
            return
        if app.window.chat.conversation.working:
            self._end(self.tr("A reply is streaming; restore when it has ended."), "danger")
            return
        preferences = app.preferences.backed_up()

        def replace(database: Database) -> Path:
            # All on the store's thread: nothing can be written between keeping and replacing.
            aside = restore.keep_present(preferences)
            restore.put_back(checked, database.replace_with)
            return aside

        def done(aside: Path) -> None:
            app.window.chat.setEnabled(True)
            app.restored(checked.preferences)
            self._end(self.tr("Restored. What was here before is in {0}").format(aside), "ok")

        def failed(error: BaseException) -> None:
            app.window.chat.setEnabled(True)
            self._failed(error)

        self._replacing = True
        app.window.chat.save_draft()
        app.window.chat.setEnabled(False)
        self._share = 1.0
        self._timer.start()
        app.archive.ask(replace, done, failed)

    def leave(self) -> None:
        """The backup that was found is not wanted."""
        self._end("", "")

    @Slot()
    def cancel(self) -> None:
        self._cancelled = True

    def _tell(self, share: float) -> None:
        self._share = share

    def _begin(self) -> None:
        self._cancelled, self._share = False, 0.0
        self._timer.start()
        self.progressed.emit(0.0)

    def _stop(self) -> None:
        self._task, self._replacing = None, False
        self._timer.stop()

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, backup.Cancelled):
            self._end("", "")
            return
        self._end(
            sentence(str(error) if isinstance(error, TritalkError) else repr(error)), "danger"
        )

    def _end(self, words: str, level: str) -> None:
        self._stop()
        checked, self._checked = self._checked, None
        if checked is not None:
            self._app.session.background.run(lambda task: checked.discard())
        self.ended.emit(words, level)


def described(manifest: Manifest) -> tuple[str, int, int, int]:
    """When it was made, in words of this place, and what it holds."""
    when = QDateTime.fromSecsSinceEpoch(int(manifest.created)).toString("yyyy-MM-dd HH:mm")
    return when, manifest.conversations, manifest.messages, manifest.address_files
