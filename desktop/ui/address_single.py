"""One address, parsed as it is typed: entities in the text and in a table, division, copies."""

from __future__ import annotations

import json
from dataclasses import asdict

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.addresses.answering import result_of
from desktop.addresses.writers import result_cells
from desktop.launchers.base import ServerState, ServerStatus
from desktop.triton.types import ParsedAddress
from desktop.ui import theme
from desktop.ui.address_highlight import AddressHighlight
from desktop.ui.address_legend import EntityLegend
from desktop.ui.controls import frame, label, primary_button, scrolled
from desktop.ui.division_card import DivisionCard
from desktop.ui.entity_table import EntityTable
from desktop.ui.icons import icon
from desktop.ui.session import ServerSession
from desktop.ui.tasks import Task
from desktop.ui.words import error_words

# Long enough not to ask at every key, short enough to feel immediate.
_TYPING_PAUSE_MS = 350
_WIDTH_MAX = 880
_COPIED_MS = 3000
_EXAMPLE = "上海市浦东新区世纪大道100号环球金融中心A座28楼2801室"


class SingleAddress(QWidget):
    #: Several lines were pasted: a list of addresses.
    list_pasted = Signal(list)

    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._task: Task | None = None
        self._asked = ""
        self.result: ParsedAddress | None = None
        self._pause = QTimer(self, singleShot=True, interval=_TYPING_PAUSE_MS)
        self._pause.timeout.connect(self._parse_typed)

        column = QWidget(self)
        self.column = QVBoxLayout(column)
        self.column.setContentsMargins(20, 16, 20, 24)
        self.column.setSpacing(16)
        self.column.addWidget(self._make_input())
        self.division = DivisionCard(column)
        self.column.addWidget(self.division)
        self.entities_card = self._make_entities(column)
        self.column.addWidget(self.entities_card)
        self.column.addStretch(1)
        theme.fit(column, max_width=_WIDTH_MAX + 40)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.addWidget(scrolled(self, column))

        self.field.textChanged.connect(self._typed)
        self.field.returnPressed.connect(self._parse_entered)
        self.parse_button.clicked.connect(self._parse_entered)
        self.copy_json_button.clicked.connect(self._copy_json)
        self.copy_row_button.clicked.connect(self._copy_row)
        self.example_button.clicked.connect(self._try_example)
        session.status_changed.connect(self._status_changed)
        self.setFocusProxy(self.field)
        self._show(None)
        self.retranslate()
        self._tint()

    def _make_input(self) -> QFrame:
        card = frame(self, "card")
        self.hint = label(card, "small")
        self.field = QLineEdit(card)
        self.clear_action = QAction(self.field)
        self.clear_action.triggered.connect(self.field.clear)
        self.clear_action.setVisible(False)
        self.field.addAction(self.clear_action, QLineEdit.ActionPosition.TrailingPosition)
        self.parse_button = primary_button(card)
        theme.fit(self.parse_button, height=40)
        self.example_button = QPushButton(card)
        self.error = label(card, "error")
        self.error.setWordWrap(True)
        self.error.hide()
        self.highlight = AddressHighlight(card)
        self.legend = EntityLegend(card)
        self.copy_json_button = QPushButton(card)
        self.copy_row_button = QPushButton(card)
        self.copied = label(card, "small")
        self._copied_timer = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied_timer.timeout.connect(self.copied.clear)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.copy_json_button)
        foot.addWidget(self.copy_row_button)
        foot.addWidget(self.copied, 1)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.field, 1)
        line.addWidget(self.parse_button)
        box = QVBoxLayout(card)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        box.addWidget(self.hint)
        box.addLayout(line)
        box.addWidget(self.error)
        box.addWidget(self.highlight)
        box.addWidget(self.legend)
        box.addLayout(foot)
        box.addWidget(self.example_button, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _make_entities(self, parent: QWidget) -> QFrame:
        card = frame(parent, "card")
        self.entities_title = label(card, "cardTitle")
        self.no_entities = label(card, "small")
        self.table = EntityTable(card)
        box = QVBoxLayout(card)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(8)
        box.addWidget(self.entities_title)
        box.addWidget(self.no_entities)
        box.addWidget(self.table)
        return card

    def retranslate(self) -> None:
        self.clear_action.setText(self.tr("Clear"))
        self.field.setPlaceholderText(self.tr("A Chinese address"))
        self.field.setAccessibleName(self.tr("Address"))
        self.parse_button.setText(self.tr("Parse"))
        self.example_button.setText(self.tr("Try an example"))
        self.copy_json_button.setText(self.tr("Copy as JSON"))
        self.copy_row_button.setText(self.tr("Copy as a row"))
        self.copy_row_button.setToolTip(
            self.tr("Division, candidates and entities in columns, as in an exported file")
        )
        self.copied.clear()
        self.entities_title.setText(self.tr("Entities"))
        self.no_entities.setText(self.tr("No entity was found in the text."))
        self.table.setAccessibleName(self.tr("Entities"))
        self.table.horizontalHeader().setAccessibleName(self.tr("Headings"))
        self._say_hint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.error.hide()
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self._tint()

    def _tint(self) -> None:
        self.clear_action.setIcon(icon("clear", theme.current().color("text_2"), 16))

    @property
    def busy(self) -> bool:
        return self._task is not None

    def parse(self, text: str) -> None:
        """Ask for the entities of ``text``; an answer still on its way is dropped."""
        self._pause.stop()
        if self._task is not None:
            self._session.cancel(self._task)
            self._task = None
        self._asked = text
        if self._session.status.state in (ServerState.STOPPED, ServerState.FAILED):
            self._fail(self.tr("The server is not running; see the server page."))
            return
        self._task = self._session.parse(text, succeeded=self._parsed, failed=self._failed)
        self._say_hint()

    @Slot()
    def _typed(self) -> None:
        self.error.hide()
        self.clear_action.setVisible(bool(self.field.text()))
        if self.field.text().strip():
            self._pause.start()
        else:
            self._pause.stop()
            if self._task is not None:
                self._session.cancel(self._task)
                self._task = None
            self._asked = ""
            self._show(None)

    @Slot()
    def _parse_typed(self) -> None:
        if self.field.text() != self._asked:
            self.parse(self.field.text())

    @Slot()
    def _parse_entered(self) -> None:
        if self.field.text().strip():
            self.parse(self.field.text())
        else:
            self._fail(self.tr("Type or paste an address first."))

    @Slot()
    def paste(self) -> None:
        text = QGuiApplication.clipboard().text()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            self._fail(self.tr("The clipboard holds no text."))
            return
        if len(lines) > 1:  # parsing the first and dropping the rest would look like an answer
            self.list_pasted.emit(lines)
            return
        self._enter(lines[0])

    @Slot()
    def _try_example(self) -> None:
        self._enter(_EXAMPLE)

    def _enter(self, text: str) -> None:
        self.field.setText(text)
        self.field.setFocus()
        self.parse(text)

    @Slot()
    def _copy_json(self) -> None:
        """As `tritalk parse --json` prints it."""
        if self.result is not None:
            self._copy(json.dumps(asdict(self.result), ensure_ascii=False, indent=2))

    @Slot()
    def _copy_row(self) -> None:
        if self.result is not None:
            cells = [self.result.text, *result_cells(result_of(self.result))]
            # What a cell holds must not end it.
            self._copy("\t".join(" ".join(str(cell).split()) for cell in cells))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.setText(self.tr("Copied."))
        self._copied_timer.start()

    def _parsed(self, parsed: ParsedAddress) -> None:
        self._task = None
        self.error.hide()
        self._show(parsed)

    def _failed(self, error: Exception) -> None:
        self._task = None
        self._fail(error_words(error))

    def _fail(self, sentence: str) -> None:
        self._show(None)
        self.say_error(sentence)

    def say_error(self, sentence: str) -> None:
        self.error.setText(sentence)
        self.error.show()

    def _show(self, parsed: ParsedAddress | None) -> None:
        self.result = parsed
        self.highlight.show_address(parsed)
        for widget in (
            self.highlight,
            self.legend,
            self.copy_json_button,
            self.copy_row_button,
        ):
            widget.setVisible(parsed is not None)
        self.copied.clear()
        self.example_button.setVisible(parsed is None and not self.field.text())
        self.division.show_address(parsed)
        self.division.setVisible(parsed is not None)
        self.table.show_entities(parsed.entities if parsed else ())
        self.table.setVisible(parsed is not None and bool(parsed.entities))
        self.no_entities.setVisible(parsed is not None and not parsed.entities)
        self.entities_card.setVisible(parsed is not None)
        self._say_hint()

    def _say_hint(self) -> None:
        waiting = self._session.status.state is ServerState.STARTING
        if self.busy and waiting:
            words = self.tr("The server is starting; the address is parsed as soon as it is ready.")
        elif self.busy:
            words = self.tr("Parsing…")
        else:
            words = self.tr("Type an address; it is parsed when you pause.")
        self.hint.setText(words)

    @Slot(object)
    def _status_changed(self, status: ServerStatus) -> None:
        self._say_hint()
