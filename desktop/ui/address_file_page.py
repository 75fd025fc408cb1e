"""A file of addresses from its choice to its export; what it shows is what the job is at."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from desktop.addresses.workfile import WorkFile
from desktop.ui.address_file_choice import FileChoice
from desktop.ui.address_file_job import FileJob, Stage
from desktop.ui.address_file_progress import ProgressCard
from desktop.ui.address_file_results import ResultsCard
from desktop.ui.address_file_start import FileStart
from desktop.ui.controls import scrolled
from desktop.ui.words import error_words


class FilePage(QStackedWidget):
    #: A file was opened or is in work: this page should be seen.
    wanted = Signal()

    def __init__(self, job: FileJob, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.job = job
        self._resume_next = False
        self._shown: WorkFile | None = None
        self.start = FileStart(job.session, self)
        self.choice = FileChoice(self)
        self.progress = ProgressCard(job, self)
        self.results = ResultsCard(job, self)
        choosing = QWidget(self)
        box = QVBoxLayout(choosing)
        box.setContentsMargins(20, 16, 20, 24)
        box.addWidget(self.choice)
        box.addStretch(1)
        working = QWidget(self)
        box = QVBoxLayout(working)
        box.setContentsMargins(20, 16, 20, 16)
        box.setSpacing(16)
        box.addWidget(self.progress)
        box.addWidget(self.results, 1)
        self._pages = (scrolled(self, self.start), scrolled(self, choosing), working)
        for page in self._pages:
            self.addWidget(page)
        self.start.file_asked.connect(self.choose_file)
        self.start.opened.connect(self.open)
        self.start.reopened.connect(self._reopen)
        self.choice.start_asked.connect(job.start)
        self.choice.header_said.connect(job.say_header)
        self.choice.resume_asked.connect(self._resume_earlier)
        self.choice.close_asked.connect(job.close_file)
        self.progress.export_asked.connect(job.export)
        self.results.counted.connect(self.progress.show_counts)
        job.changed.connect(self._show)
        job.refused.connect(self._refused)
        self._show()
        self.start.refresh()

    @Slot()
    def choose_file(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(
            self,
            self.tr("Open a file of addresses"),
            str(Path.home()),
            self.tr("Tables and lists (*.csv *.tsv *.tab *.txt *.xlsx)"),
        )
        if chosen:
            self.open(Path(chosen))

    @Slot(object)
    def open(self, path: Path) -> None:
        self.wanted.emit()
        self.start.say("")
        self.choice.forget()
        if not self.job.busy:
            self.progress.begin()
        self.job.open(path)

    @Slot(object, bool)
    def _reopen(self, work: WorkFile, resume: bool) -> None:
        self.wanted.emit()
        self._resume_next = resume
        self.progress.begin()
        self.job.reopen(work)

    def resume_work(self, work: WorkFile) -> None:
        """Go on with a file that was not finished."""
        self._reopen(work, True)

    @Slot()
    def _resume_earlier(self) -> None:
        preview = self.job.preview
        if preview is not None and preview.earlier is not None and preview.earlier_counts:
            counts = preview.earlier_counts
            self._reopen(preview.earlier, counts.answered < counts.total)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self._show()  # the error says its words anew

    @Slot()
    def _show(self) -> None:
        job = self.job
        if job.stage is Stage.EMPTY:
            if self.currentIndex() != 0:
                self.start.refresh()
            self.setCurrentIndex(0)
            self.start.say("" if job.error is None else error_words(job.error))
        elif job.stage is Stage.CHOSEN and job.preview is not None:
            self.choice.show_preview(job.preview)
            self.choice.say("" if job.error is None else error_words(job.error))
            if self.currentIndex() != 1:
                self.setCurrentIndex(1)
                self.choice.offer_start()
        else:
            self.setCurrentIndex(2)
        self.results.setVisible(job.work is not None)
        if job.work is not self._shown:
            self._shown = job.work
            self.results.show_work(job.work)
        if self._resume_next and job.stage in (Stage.CANCELLED, Stage.FINISHED):
            self._resume_next = False
            if job.stage is Stage.CANCELLED:
                job.resume()

    @Slot(object)
    def _refused(self, error: Exception) -> None:
        if self.job.stage is Stage.EMPTY:
            self.start.say(error_words(error))
