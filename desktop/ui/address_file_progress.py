"""How far a file is, and what can be done about it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMenu,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop import paths
from desktop.addresses.workfile import Counts
from desktop.addresses.writers import FORMATS
from desktop.ui.address_file_job import FileJob, Stage
from desktop.ui.address_file_words import outcome_words, rate_words, rows_words
from desktop.ui.controls import label, primary_button, set_level
from desktop.ui.session import ENDED
from desktop.ui.status_bar import ElidedLabel
from desktop.ui.words import error_words, message_words

_STEPS = 1000
_REFUSED_MS = 6000


class ProgressCard(QFrame):
    #: Write the results: to that file, in that format.
    export_asked = Signal(object, str)

    def __init__(self, job: FileJob, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._job = job
        self._counts: Counts | None = None
        self._exported: Path | None = None
        self.name = ElidedLabel(self)
        self.name.setObjectName("cardTitle")
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        self.left = label(self, "progress", wrap=True)
        self.right = label(self, "small")
        self.pause_button = QPushButton(self)
        self.cancel_button = QPushButton(self)
        self.close_button = QPushButton(self)
        self.export_button = primary_button(self)
        self.menu = QMenu(self.export_button)
        self.formats = {name: self.menu.addAction("") for name in ("xlsx", "csv", "json")}
        assert set(self.formats) == set(FORMATS)
        for name, action in self.formats.items():
            action.setData(name)
            action.triggered.connect(self._choose_output)
        self.export_button.setMenu(self.menu)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.name, 1)
        for button in (
            self.pause_button,
            self.cancel_button,
            self.close_button,
            self.export_button,
        ):
            top.addWidget(button)
        words = QHBoxLayout()
        words.setSpacing(12)
        words.addWidget(self.left, 1)
        words.addWidget(self.right)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(8)
        box.addLayout(top)
        box.addWidget(self.bar)
        box.addLayout(words)
        self.pause_button.clicked.connect(self._pause_or_resume)
        self.cancel_button.clicked.connect(job.cancel)
        self.close_button.clicked.connect(job.close_file)
        job.changed.connect(self.show_job)
        job.progressed.connect(self.show_job)
        job.exported.connect(self._show_exported)
        job.refused.connect(self._show_refused)
        job.session.status_changed.connect(self.show_job)
        self._refused: Exception | None = None
        self._refused_timer = QTimer(self, singleShot=True, interval=_REFUSED_MS)
        self._refused_timer.timeout.connect(self._forget_refused)
        self.retranslate()

    def show_counts(self, counts: Counts | None) -> None:
        self._counts = counts
        self.show_job()

    def retranslate(self) -> None:
        self.cancel_button.setText(self.tr("Cancel"))
        self.close_button.setText(self.tr("Close"))
        self.export_button.setText(self.tr("Export"))
        self.bar.setAccessibleName(self.tr("Progress"))
        self.formats["xlsx"].setText(self.tr("Spreadsheet (XLSX)…"))
        self.formats["csv"].setText(self.tr("CSV…"))
        self.formats["json"].setText(self.tr("JSON, with every entity and candidate…"))
        self.show_job()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    @Slot()
    def show_job(self) -> None:
        job = self._job
        stage = job.stage
        self.name.show_text(job.name)
        exporting = job.exporting is not None
        running = stage is Stage.RUNNING
        reading = running and job.phase in ("", "reading") and job.work is None
        can_resume = job.work is not None and stage in (
            Stage.PAUSED,
            Stage.CANCELLED,
            Stage.FAILED,
        )
        self.pause_button.setText(self.tr("Continue") if can_resume else self.tr("Pause"))
        self.pause_button.setVisible(can_resume or (running and not reading))
        self.pause_button.setEnabled(not exporting)
        self.cancel_button.setVisible(
            exporting or stage in (Stage.OPENING, Stage.RUNNING, Stage.PAUSED)
        )
        self.close_button.setVisible(stage in (Stage.CANCELLED, Stage.FAILED, Stage.FINISHED))
        self.close_button.setEnabled(not exporting)
        self.export_button.setVisible(job.work is not None)
        self.export_button.setEnabled(not job.busy and job.done > 0)
        self._show_bar()
        level, left = self._words()
        self.left.setText(left)
        set_level(self.left, level)
        moving = running and job.phase == "parsing"
        self.right.setText(rate_words(job.rate, job.seconds_left) if moving else "")

    def _show_bar(self) -> None:
        job = self._job
        unknown = job.stage is Stage.OPENING or (job.stage is Stage.RUNNING and job.total == 0)
        if unknown:
            self.bar.setRange(0, 0)
            return
        done = job.export_done if job.exporting is not None else job.done
        self.bar.setRange(0, _STEPS)
        self.bar.setValue(_STEPS * done // max(1, job.total))

    def _words(self) -> tuple[str, str]:
        """The level of the sentence (plain, warn, danger) and the sentence."""
        job = self._job
        done = rows_words(job.done, job.total)
        if job.exporting is not None:
            return "plain", self.tr("Exporting: {0}").format(rows_words(job.export_done, job.total))
        if self._refused is not None:
            return "danger", error_words(self._refused)
        if job.stage is Stage.OPENING:
            return "plain", self.tr("Reading the file…")
        if job.stage is Stage.PAUSING:
            return "plain", self.tr("Stopping…")
        if job.stage is Stage.PAUSED:
            return "plain", self.tr("Paused: {0}").format(done)
        if job.stage is Stage.CANCELLED:
            return "plain", self.tr("Not finished: {0}. What is done is kept.").format(done)
        if job.stage is Stage.FAILED and job.error is not None:
            kept = self.tr("What is done is kept; continue once that is mended.")
            gap = "" if error_words(job.error).endswith("。") else " "
            return "danger", f"{error_words(job.error)}{gap}{kept}"
        if job.stage is Stage.FINISHED:
            if self._exported is not None:
                return "ok", self.tr("Exported to {0}.").format(self._exported)
            return "plain", outcome_words(self._counts) if self._counts is not None else done
        if job.phase == "reading":
            return "plain", self.tr("Reading: {0}").format(done)
        if job.waiting:
            return "warn", self._waiting_words()
        return "plain", done

    def _waiting_words(self) -> str:
        status = self._job.session.status
        if status.state in ENDED:
            return self.tr(
                "The server is not running; start it on the server page, and the file goes on."
            )
        if message := message_words(status):
            return self.tr("Waiting for the server ({0}); the file goes on by itself.").format(
                message
            )
        return self.tr("Waiting for the server; the file goes on by itself.")

    @Slot()
    def _pause_or_resume(self) -> None:
        self._exported = self._refused = None
        if self._job.stage is Stage.RUNNING:
            self._job.pause()
        else:
            self._job.resume()

    def begin(self) -> None:
        """Another file: nothing is said about the last one any more."""
        self._exported = self._refused = self._counts = None

    @Slot()
    def _choose_output(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        kind = str(action.data())
        source = Path(self._job.work.about.source) if self._job.work else Path.home()
        own = source.parent == paths.cache_dir()  # a pasted list
        folder = source.parent if source.parent.is_dir() and not own else Path.home()
        offered = folder / f"{source.stem}_{self.tr('parsed')}.{kind}"
        chosen, _ = QFileDialog.getSaveFileName(
            self, self.tr("Export the results"), str(offered), f"{kind.upper()} (*.{kind})"
        )
        if chosen:
            path = Path(chosen)
            if path.suffix.lower() != f".{kind}":
                path = path.with_name(f"{path.name}.{kind}")
            self._exported = self._refused = None
            self.export_asked.emit(path, kind)

    @Slot(object)
    def _show_exported(self, path: Path) -> None:
        self._exported, self._refused = path, None
        self.show_job()

    @Slot(object)
    def _show_refused(self, error: Exception) -> None:
        self._refused = error
        # How far a run is must not stay hidden behind it.
        if self._job.busy:
            self._refused_timer.start()
        self.show_job()

    @Slot()
    def _forget_refused(self) -> None:
        self._refused = None
        self.show_job()
