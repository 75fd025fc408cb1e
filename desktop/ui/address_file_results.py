"""The results of a file: which to look at, found by words, sorted by any column, corrected."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop.addresses.marks import Mark
from desktop.addresses.workfile import Counts, WorkFile
from desktop.ui import theme
from desktop.ui.address_file_correction import CorrectionDialog
from desktop.ui.address_file_job import FileJob, Stage
from desktop.ui.address_file_model import COLUMNS, ResultModel
from desktop.ui.address_file_table import ResultTable
from desktop.ui.controls import fit_segments, label
from desktop.ui.shortcuts import bind
from desktop.ui.words import error_words

#: What the buttons show, in their order.
FILTERS: tuple[Mark | None, ...] = (None, Mark.CHECK, Mark.FAILED, Mark.CORRECTED)
_SEARCH_PAUSE_MS = 250
_REFRESH_MS = 1000
# From this width on everything stands in one line.
_ROOMY = 860


class ResultsCard(QFrame):
    counted = Signal(object)

    def __init__(self, job: FileJob, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._job = job
        self._work: WorkFile | None = None
        self.counts: Counts | None = None
        self.dialog: CorrectionDialog | None = None
        self.model = ResultModel(job.session.background, self)
        self.table = ResultTable(self.model, self)
        self.title = label(self, "cardTitle")
        self.empty = label(self, "empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.error = label(self, "error", wrap=True)
        self.error.hide()
        self.search = QLineEdit(self)
        self.search.setObjectName("search")
        self.search.setClearButtonEnabled(True)
        theme.fit(self.search, min_width=120, max_width=400)
        self.correct_button = QPushButton(self)
        self.correct_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.buttons: dict[Mark | None, QPushButton] = {}
        self._group = QButtonGroup(self)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        for place, mark in enumerate(FILTERS):
            button = QPushButton(self)
            button.setCheckable(True)
            button.setObjectName("segment")
            ends = {0: "first", len(FILTERS) - 1: "last"}
            button.setProperty("place", ends.get(place, "middle"))
            self._group.addButton(button, place)
            self.buttons[mark] = button
            segments.addWidget(button)
        self.buttons[None].setChecked(True)
        self._top = QHBoxLayout()
        self._top.setSpacing(12)
        self._top.addWidget(self.title)
        self._top.addStretch(1)
        self._top.addLayout(segments)
        self._second = QHBoxLayout()
        self._second.setSpacing(12)
        self._narrow: bool | None = None
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(8)
        box.addLayout(self._top)
        box.addLayout(self._second)
        box.addWidget(self.error)
        box.addWidget(self.empty, 1)
        box.addWidget(self.table, 1)
        self._typing = QTimer(self, singleShot=True, interval=_SEARCH_PAUSE_MS)
        self._typing.timeout.connect(self._filter)
        self._refresh = QTimer(self, interval=_REFRESH_MS)
        self._refresh.timeout.connect(self._look_again)
        self._group.idClicked.connect(self._filter)
        self.search.textChanged.connect(self._typing.start)
        self.correct_button.clicked.connect(self._correct_current)
        self.table.correction_asked.connect(self.correct)
        self.table.selectionModel().currentChanged.connect(self._enable)
        self.model.counted.connect(self._show_counts)
        self.model.failed.connect(self._show_error)
        self.model.reordered.connect(self._enable)
        job.changed.connect(self._job_changed)
        bind(self, {"search_results": self.search.setFocus})
        self._arrange(False)
        self.retranslate()
        self._enable()

    def _arrange(self, narrow: bool) -> None:
        """Where there is no room, the search goes below, and the codes are left to the export."""
        if narrow == self._narrow:
            return
        self._narrow = narrow
        for widget in (self.search, self.correct_button):
            (self._second if not narrow else self._top).removeWidget(widget)
        if narrow:
            self._second.addWidget(self.search, 1)
            self._second.addWidget(self.correct_button)
        else:
            self._top.insertWidget(2, self.search, 2)
            self._top.addWidget(self.correct_button)
        self.table.setColumnHidden(COLUMNS.index("code"), narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.width() < theme.px(_ROOMY))

    def show_work(self, work: WorkFile | None) -> None:
        if self._work is not None and work is not None and self._work.path == work.path:
            self.model.refresh()
            return
        self._work = work
        self.counts = None
        self.error.hide()
        self.search.clear()
        self._typing.stop()
        self.buttons[None].setChecked(True)
        self.table.show_unsorted()
        self.model.show_work(work)
        self._say()

    def retranslate(self) -> None:
        self.title.setText(self.tr("Results"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(self.tr("Search the results"))
        self.table.setAccessibleName(self.tr("Results"))
        self.table.horizontalHeader().setAccessibleName(self.tr("Headings"))
        self.correct_button.setText(self.tr("Correct…"))
        self.correct_button.setToolTip(self.tr("Correct the chosen row (Enter)"))
        self._say()

    def _say(self) -> None:
        counts = self.counts or Counts(0, 0, 0, 0, 0)
        words = {
            None: (self.tr("All"), counts.answered),
            Mark.CHECK: (self.tr("To check"), counts.check),
            Mark.FAILED: (self.tr("Failed"), counts.failed),
            Mark.CORRECTED: (self.tr("Corrected"), counts.corrected),
        }
        for mark, button in self.buttons.items():
            text, number = words[mark]
            button.setText(f"{text} {number:,}")
        fit_segments(self.buttons.values())
        nothing = self.model.rowCount() == 0
        self.empty.setVisible(nothing)
        self.table.setVisible(not nothing)
        if not nothing:
            return
        if self.search.text().strip() or self._group.checkedId() > 0:
            self.empty.setText(self.tr("No row is like that."))
        elif self._job.busy:
            self.empty.setText(self.tr("The results appear here as they come."))
        else:
            self.empty.setText(self.tr("No row is done yet."))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.LanguageChange, QEvent.Type.FontChange):
            self.retranslate()

    @Slot()
    def _filter(self) -> None:
        self._typing.stop()
        self.model.filter(FILTERS[self._group.checkedId()], self.search.text().strip())

    @Slot()
    def _look_again(self) -> None:
        # A list that is sorted otherwise would move under the eyes that read it.
        if self.model.in_file_order:
            self.model.refresh()
        else:
            self.model.recount()

    @Slot()
    def _job_changed(self) -> None:
        if self._job.stage is Stage.RUNNING and self._job.work is not None:
            self._refresh.start()
        elif self._refresh.isActive():
            self._refresh.stop()
            self.model.refresh()
        self._say()

    @Slot(object)
    def _show_counts(self, counts: Counts) -> None:
        self.counts = counts
        self._say()
        self._enable()
        self.counted.emit(counts)

    @Slot(object)
    def _show_error(self, error: Exception) -> None:
        self.error.setText(error_words(error))
        self.error.show()

    @Slot()
    def _enable(self) -> None:
        self.correct_button.setEnabled(self.table.current_number() is not None)

    @Slot()
    def _correct_current(self) -> None:
        if (number := self.table.current_number()) is not None:
            self.correct(number)

    @Slot(int)
    def correct(self, number: int) -> None:
        """Open the dialog for that row."""
        if self._work is None:
            return
        self.dialog = CorrectionDialog(self._job.session, self._work, number, self)
        self.dialog.saved.connect(self._corrected)
        self.dialog.finished.connect(self.dialog.deleteLater)
        self.dialog.open()

    @Slot(int, bool)
    def _corrected(self, number: int, wants_next: bool) -> None:
        row = self.model.row_of(number)
        following = None
        if wants_next and row is not None and row + 1 < self.model.rowCount():
            following = self.model.number(row + 1)
        self.model.forget(number)
        if following is not None:
            at = self.model.row_of(following)
            if at is not None:
                self.table.setCurrentIndex(self.model.index(at, 0))
            # The dialog that asks is still open.
            QTimer.singleShot(0, self, lambda: self.correct(following))
