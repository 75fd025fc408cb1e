"""A file before it is parsed: what was detected, which column holds the addresses, and its first
rows."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import theme
from desktop.ui.address_file_job import Preview
from desktop.ui.address_file_words import encoding_words, rows_words, size_words
from desktop.ui.controls import label, primary_button
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.status_bar import ElidedLabel
from desktop.ui.table_model import TableModel
from desktop.ui.transcript import AnyIndex

_ROW_HEIGHT = 32
_WIDEST = 320


class PreviewModel(TableModel):
    """The first rows, the chosen column in bold."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns: list[str] = []
        self._rows: list[list[str]] = []
        self.chosen = -1

    def show_preview(self, columns: list[str], rows: list[list[str]]) -> None:
        self.beginResetModel()
        self._columns, self._rows = columns, rows
        self.endResetModel()

    def choose(self, column: int) -> None:
        self.chosen = column
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self._columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._columns)

    def headings(self) -> list[str]:
        return self._columns

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> str | QFont | None:
        chosen = index.column() == self.chosen
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return " ".join(self._rows[index.row()][index.column()].split())
        if role == Qt.ItemDataRole.FontRole and chosen:
            return theme.font(bold=True)
        return None


class PreviewTable(QTableView):
    #: A column's heading was clicked, or Enter pressed in it.
    column_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.preview = PreviewModel(self)
        self.setModel(self.preview)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.sectionClicked.connect(self.column_chosen)
        self.clicked.connect(self._clicked)

    def show_preview(self, columns: list[str], rows: list[list[str]]) -> None:
        self.preview.show_preview(columns, rows)
        self._fit()

    def _fit(self) -> None:
        """As high as its rows, with room for a horizontal scroll bar."""
        height, rows = theme.px(_ROW_HEIGHT), self.preview.rowCount()
        header = self.horizontalHeader()
        header.setFixedHeight(height)
        self.verticalHeader().setDefaultSectionSize(height)
        header.setStretchLastSection(False)
        self.resizeColumnsToContents()
        for column in range(self.preview.columnCount()):
            width = min(theme.px(_WIDEST), header.sectionSize(column) + 24)
            header.resizeSection(column, width)
        header.setStretchLastSection(True)
        self.setMinimumHeight(height * (1 + min(rows, 4)) + 14)
        self.setMaximumHeight(height * (1 + max(1, rows)) + 14)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    @Slot(object)
    def _clicked(self, index: AnyIndex) -> None:
        self.column_chosen.emit(index.column())

    def sizeHint(self) -> QSize:
        return QSize(600, self.maximumHeight())


class FileChoice(QFrame):
    #: Parse, with the addresses in that column.
    start_asked = Signal(int)
    header_said = Signal(bool)
    resume_asked = Signal()
    close_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._preview: Preview | None = None
        self.name = ElidedLabel(self)
        self.name.setObjectName("cardTitle")
        self.facts = label(self, "small", wrap=True)
        self.notice = NoticeBar(self)
        self.notice.dismiss.hide()
        self.column_label = label(self, "small")
        self.column = QComboBox(self)
        self.column.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.column.setMinimumContentsLength(12)
        self.header = QCheckBox(self)
        self.hint = label(self, "small", wrap=True)
        self.error = label(self, "error", wrap=True)
        self.error.hide()
        self.table = PreviewTable(self)
        self.start_button = primary_button(self)
        self.start_button.setAutoDefault(True)  # outside a dialog Enter would press nothing
        self.close_button = QPushButton(self)
        choice = QHBoxLayout()
        choice.setSpacing(12)
        choice.addWidget(self.column_label)
        choice.addWidget(self.column, 1)
        choice.addWidget(self.header)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.hint, 1)
        buttons.addWidget(self.close_button)
        buttons.addWidget(self.start_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        box.addWidget(self.name)
        box.addWidget(self.facts)
        box.addWidget(self.notice)
        box.addWidget(self.error)
        box.addLayout(choice)
        box.addWidget(self.table, 1)
        box.addLayout(buttons)
        self.column.currentIndexChanged.connect(self._column_changed)
        self.table.column_chosen.connect(self.column.setCurrentIndex)
        self.header.clicked.connect(self.header_said)
        self.start_button.clicked.connect(self._start)
        self.close_button.clicked.connect(self.close_asked)
        self.notice.acted.connect(self.resume_asked)
        self.retranslate()

    def show_preview(self, preview: Preview) -> None:
        # Clicking the heading's box keeps the column that a person chose.
        again = self._preview is not None and self._preview.table.path == preview.table.path
        kept = self.column.currentIndex() if again else -1
        self._preview = preview
        columns = preview.table.columns
        self.column.clear()
        self.column.addItems(columns)
        if kept < 0:
            kept = -1 if preview.guess is None else preview.guess
        self.column.setCurrentIndex(kept)
        self.header.setChecked(preview.table.has_header)
        self.table.show_preview(columns, preview.rows)
        self._column_changed()
        self._say()

    def retranslate(self) -> None:
        self.column_label.setText(self.tr("Column of addresses"))
        self.column.setAccessibleName(self.tr("Column of addresses"))
        self.column.setPlaceholderText(self.tr("Choose a column"))
        self.header.setText(self.tr("The first row names the columns"))
        self.table.setAccessibleName(self.tr("The first rows of the file"))
        self.table.horizontalHeader().setAccessibleName(self.tr("Headings"))
        self.start_button.setText(self.tr("Parse"))
        self.close_button.setText(self.tr("Close"))
        self._say()

    def _say(self) -> None:
        preview = self._preview
        if preview is None:
            return
        table = preview.table
        self.name.show_text(table.path.name)
        facts = [
            table.kind.removeprefix(".").upper(),
            size_words(preview.size),
            self.tr("{0} rows").format(f"{table.total:,}"),
            self.tr("{0} columns").format(len(table.columns)),
        ]
        if table.encoding:
            facts.append(encoding_words(table.encoding))
        self.facts.setText(" · ".join(facts))
        self._say_hint()
        counts = preview.earlier_counts
        if counts is None:
            self.notice.hide()
            return
        if counts.answered < counts.total:
            self.notice.show_notice(
                lambda: self.tr("This file was begun before: {0} are done.").format(
                    rows_words(counts.answered, counts.total)
                ),
                lambda: self.tr("Continue"),
            )
        else:
            self.notice.show_notice(
                lambda: self.tr(
                    "This file was parsed before. Parsing it again replaces the results and "
                    "corrections."
                ),
                lambda: self.tr("Show the results"),
            )
        self.notice.dismiss.hide()

    def _say_hint(self) -> None:
        unknown = self._preview is not None and self.column.currentIndex() < 0
        self.hint.setText(self.tr("No column looks like addresses; choose one.") if unknown else "")

    @Slot()
    def _column_changed(self) -> None:
        column = self.column.currentIndex()
        self.table.preview.choose(column)
        total = 0 if self._preview is None else self._preview.table.total
        self.start_button.setEnabled(column >= 0 and total > 0)
        self._say_hint()

    @Slot()
    def _start(self) -> None:
        self.start_asked.emit(self.column.currentIndex())

    def offer_start(self) -> None:
        """Enter starts at once where the column is known, and chooses it where it is not."""
        ready = self.start_button.isEnabled()
        (self.start_button if ready else self.column).setFocus()

    def say(self, words: str) -> None:
        self.error.setText(words)
        self.error.setVisible(bool(words))

    def forget(self) -> None:
        """The next file begins with its own guess."""
        self._preview = None

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self.table.viewport().update()
