"""Correcting a row by hand: another candidate, other names, other entities, or the address itself
mended and parsed again."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop.addresses.answering import Result, result_of
from desktop.addresses.marks import levels
from desktop.addresses.workfile import Row, WorkFile
from desktop.addresses.writers import ENTITY_TYPES
from desktop.triton.types import ParsedAddress
from desktop.ui import theme
from desktop.ui.controls import label, primary_button
from desktop.ui.phrases import sentence
from desktop.ui.session import ServerSession
from desktop.ui.tasks import Task
from desktop.ui.words import entity_name, error_words

NAMES = ("province", "city", "district", "town")
FIELDS = (*NAMES, "code")
_BAR = " | "
_ROW_HEIGHT = 32
_EMPTY: Result = {
    "entities": [],
    "division": dict.fromkeys(FIELDS, "") | {"confidence": None},
    "candidates": [],
}


class CorrectionDialog(QDialog):
    #: A correction was kept or taken away: the row's number, and whether the next one is wanted.
    saved = Signal(int, bool)

    def __init__(self, session: ServerSession, work: WorkFile, number: int, parent: QWidget):
        super().__init__(parent)
        self.number = number
        self._session = session
        self._work = work
        self._row: Row | None = None
        self._base: Result = _EMPTY
        self._task: Task | None = None
        self._saving = False
        theme.fit(self, min_width=560)
        self.title = label(self, "cardTitle")
        self.original = label(self, "small", wrap=True)
        self.original.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.address = QLineEdit(self)
        self.parse_button = QPushButton(self)
        theme.fit(self.parse_button, height=40)
        self.error = label(self, "error", wrap=True)
        self.error.hide()
        self.candidates_label = label(self, "small")
        self.candidates = QComboBox(self)
        self.candidates.setObjectName("tall")
        self.fields = {name: QLineEdit(self) for name in FIELDS}
        self.labels = {name: label(self, "small") for name in FIELDS}
        self.entities_label = label(self, "cardTitle")
        self.entities = self._make_entities()
        self.restore_button = QPushButton(self)
        self.cancel_button = QPushButton(self)
        self.next_button = QPushButton(self)
        self.save_button = primary_button(self)
        self.save_button.setDefault(True)
        self._lay_out()
        self.parse_button.clicked.connect(self._parse_again)
        self.candidates.activated.connect(self._take_candidate)
        for name in NAMES:
            # A code that belongs to other names would be worse than none.
            self.fields[name].textEdited.connect(self.fields["code"].clear)
        self.cancel_button.clicked.connect(self.reject)
        self.save_button.clicked.connect(self._save)
        self.next_button.clicked.connect(self._save_and_next)
        self.restore_button.clicked.connect(self._restore)
        self.finished.connect(self._stop)
        self.retranslate()
        self._enable(False)
        self._task = session.background.run(
            lambda task: work.row(number), succeeded=self._show_row, failed=self._fail
        )

    def _make_entities(self) -> QTableWidget:
        table = QTableWidget(len(ENTITY_TYPES), 2, self)
        table.verticalHeader().hide()
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.verticalHeader().setDefaultSectionSize(theme.px(_ROW_HEIGHT))
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for row in range(len(ENTITY_TYPES)):
            kind = QTableWidgetItem()
            kind.setFlags(Qt.ItemFlag.ItemIsEnabled)
            table.setItem(row, 0, kind)
            table.setItem(row, 1, QTableWidgetItem())
        theme.fit(table, min_height=_ROW_HEIGHT * 7)
        return table

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.address, 1)
        line.addWidget(self.parse_button)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        # Four names in two columns, the code below them.
        for place, name in enumerate(FIELDS):
            row, column = 3 * (place // 2), place % 2
            grid.addWidget(self.labels[name], row, column)
            grid.addWidget(self.fields[name], row + 1, column)
        grid.addWidget(self.candidates_label, 6, 1)
        grid.addWidget(self.candidates, 7, 1)
        for gap in (2, 5):
            grid.setRowMinimumHeight(gap, 4)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.restore_button)
        buttons.addStretch(1)
        for button in (self.cancel_button, self.next_button, self.save_button):
            buttons.addWidget(button)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 16, 20, 16)
        box.setSpacing(12)
        box.addWidget(self.title)
        box.addWidget(self.original)
        box.addLayout(line)
        box.addWidget(self.error)
        box.addLayout(grid)
        box.addWidget(self.entities_label)
        box.addWidget(self.entities, 1)
        box.addLayout(buttons)

    def retranslate(self) -> None:
        self.setWindowTitle(self.tr("Correct a row"))
        self.title.setText(self.tr("Row {0}").format(self.number))
        self.address.setAccessibleName(self.tr("Address"))
        self.parse_button.setText(self.tr("Parse again"))
        self.candidates_label.setText(self.tr("Candidates"))
        self.candidates.setAccessibleName(self.tr("Candidates"))
        self.candidates.setPlaceholderText(self.tr("Take another one"))
        words = {
            "province": self.tr("Province"),
            "city": self.tr("City"),
            "district": self.tr("District"),
            "town": self.tr("Town"),
            "code": self.tr("Official code"),
        }
        for name, text in words.items():
            self.labels[name].setText(text)
            self.fields[name].setAccessibleName(text)
        self.entities_label.setText(self.tr("Entities"))
        self.entities.setAccessibleName(self.tr("Entities"))
        self.entities.horizontalHeader().setAccessibleName(self.tr("Headings"))
        self.entities.setHorizontalHeaderLabels([self.tr("Type"), self.tr("Text")])
        for row, kind in enumerate(ENTITY_TYPES):
            if (item := self.entities.item(row, 0)) is not None:
                name = entity_name(kind)
                item.setText(name if name == kind else f"{name}  {kind}")
        self.restore_button.setText(self.tr("Take the parser's answer"))
        self.cancel_button.setText(self.tr("Cancel"))
        self.next_button.setText(self.tr("Save and next"))
        self.save_button.setText(self.tr("Save"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    def _enable(self, on: bool) -> None:
        for widget in (self.save_button, self.next_button, self.parse_button, self.restore_button):
            widget.setEnabled(on)

    # -- showing -----------------------------------------------------------------------------------

    def _show_row(self, row: Row) -> None:
        self._task = None
        self._row = row
        self.restore_button.setVisible(row.corrected is not None)
        shown = row.corrected or row.result
        self.original.setText(row.address)
        self.address.setText(shown.get("text", row.address))
        if "error" in row.result and row.corrected is None:
            self._say(sentence(row.result["error"]))
        # The candidates of the answer stay on offer after a correction.
        self._show_result({**shown, "candidates": row.result.get("candidates", [])})
        self._enable(True)
        self.fields["province"].setFocus()

    def _show_result(self, result: Result) -> None:
        self._base = {**_EMPTY, **result} if "division" in result else _EMPTY
        self._show_division(self._base["division"])
        for row, kind in enumerate(ENTITY_TYPES):
            texts = [e["text"] for e in self._base["entities"] if e["type"] == kind]
            if (item := self.entities.item(row, 1)) is not None:
                item.setText(_BAR.join(texts))
        self.candidates.clear()
        for candidate in self._base["candidates"]:
            names = " › ".join(levels(candidate).split(" "))
            self.candidates.addItem(f"{names}  {candidate['code']}", candidate)
        self.candidates.setCurrentIndex(-1)
        several = self.candidates.count() > 0
        self.candidates.setVisible(several)
        self.candidates_label.setVisible(several)

    def _show_division(self, division: dict[str, Any]) -> None:
        for name in FIELDS:
            self.fields[name].setText(division[name])

    def _say(self, words: str) -> None:
        self.error.setText(words)
        self.error.setVisible(bool(words))

    def _fail(self, error: Exception) -> None:
        self._task = None
        self._saving = False
        self._say(error_words(error))
        self._enable(self._row is not None)

    @Slot(int)
    def _take_candidate(self, place: int) -> None:
        self._show_division(self.candidates.itemData(place))

    @Slot()
    def _parse_again(self) -> None:
        if not self.address.text().strip():
            self._say(self.tr("Type an address first."))
            return
        if self._task is not None:
            self._session.cancel(self._task)
        self._say("")
        self._task = self._session.parse(
            self.address.text().strip(), succeeded=self._parsed, failed=self._fail
        )

    def _parsed(self, answer: ParsedAddress) -> None:
        self._task = None
        self._show_result(result_of(answer))

    # -- keeping -----------------------------------------------------------------------------------

    def corrected(self) -> Result:
        """What the dialog shows, as a result. Entities that were not touched keep their place and
        score; others are looked for in the text and have no score."""
        text = self.address.text().strip()
        entities = []
        for row, kind in enumerate(ENTITY_TYPES):
            item = self.entities.item(row, 1)
            shown = item.text() if item is not None else ""
            before = [e for e in self._base["entities"] if e["type"] == kind]
            if shown == _BAR.join(e["text"] for e in before):
                entities += before
                continue
            for part in filter(None, map(str.strip, shown.split("|"))):
                at = text.find(part)
                start, end = (at, at + len(part)) if at >= 0 else (None, None)
                entities.append(
                    {"type": kind, "text": part, "start": start, "end": end, "score": None}
                )
        entities.sort(key=lambda e: (e["start"] is None, e["start"] or 0))
        division: dict[str, Any] = {name: self.fields[name].text().strip() for name in FIELDS}
        result: Result = {
            "entities": entities,
            "division": {**division, "confidence": None},
            "candidates": [],
        }
        if self._row is not None and text != self._row.address:
            result["text"] = text
        return result

    @Slot()
    def _save(self) -> None:
        self._keep(self.corrected(), False)

    @Slot()
    def _save_and_next(self) -> None:
        self._keep(self.corrected(), True)

    @Slot()
    def _restore(self) -> None:
        self._keep(None, False)

    def _keep(self, result: Result | None, wants_next: bool) -> None:
        self._enable(False)
        self._saving = True

        def kept(_: object) -> None:
            self._saving = False
            self.saved.emit(self.number, wants_next)
            self.accept()

        self._session.background.run(
            lambda task: self._work.correct(self.number, result), succeeded=kept, failed=self._fail
        )

    def reject(self) -> None:
        if not self._saving:  # it is done in a moment, and the list must hear of it
            super().reject()

    @Slot()
    def _stop(self) -> None:
        if self._task is not None:
            self._session.cancel(self._task)
            self._task = None
