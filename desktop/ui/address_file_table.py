"""The list of results: doubtful and failed rows stand out by words and colour, Enter corrects."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop.addresses.marks import Mark
from desktop.addresses.workfile import Line
from desktop.ui import theme
from desktop.ui.address_file_model import COLUMNS, LINE_ROLE, ResultModel
from desktop.ui.transcript import AnyIndex

ROW_HEIGHT = 32
_PAD = 8
_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class ResultDelegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        look = theme.current()
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        line: Line | None = index.data(LINE_ROLE)
        column = COLUMNS[index.column()]
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area, look.color("accent_soft"))
        painter.setPen(QPen(look.color("line"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        text = str(index.data() or "")
        if column == "mark":
            self._paint_mark(painter, area, line, text)
        else:
            painter.setFont(theme.font("small" if column in ("number", "code") else "body"))
            painter.setPen(_color(column, line))
            room = area.adjusted(_PAD, 0, -_PAD, 0)
            mode = Qt.TextElideMode.ElideRight
            if column == "division" and line is not None and line.division:
                mode = Qt.TextElideMode.ElideLeft  # the deepest level tells most
            shown = painter.fontMetrics().elidedText(text, mode, room.width())
            painter.drawText(room, _MIDDLE, shown)
        painter.restore()

    @staticmethod
    def _paint_mark(painter: QPainter, area: QRect, line: Line | None, text: str) -> None:
        if line is None or not text:
            return
        color = theme.current().color(
            {Mark.FAILED: "danger", Mark.CHECK: "warn", Mark.CORRECTED: "accent"}.get(
                line.mark, "text_3"
            )
        )
        painter.setFont(theme.font("small"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        middle = area.y() + area.height() // 2
        # Shapes, too: a square has failed, a ring was mended, a dot is to be checked.
        dot = QRect(area.x() + _PAD, middle - 4, 8, 8)
        if line.mark is Mark.FAILED:
            painter.drawRect(dot)
        elif line.mark is Mark.CORRECTED:
            painter.setPen(QPen(color, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(dot.adjusted(1, 1, -1, -1))
        elif line.mark is Mark.CHECK:
            painter.drawEllipse(dot)
        painter.setPen(color)
        room = area.adjusted(_PAD + 14, 0, -4, 0)
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _MIDDLE, shown)

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        text = str(index.data() or "")
        return QSize(QFontMetrics(theme.font()).horizontalAdvance(text) + 28, theme.px(ROW_HEIGHT))


def _color(column: str, line: Line | None) -> object:
    look = theme.current()
    if line is not None:
        if column == "confidence" and line.confidence is not None:
            return look.score(line.confidence)
        if column == "division" and line.error:
            return look.color("danger")
        if column == "division" and not line.division:
            return look.color("warn")
    return look.color("text_2" if column in ("number", "code") else "text")


class ResultTable(QTableView):
    #: The number of the row that a person wants to correct.
    correction_asked = Signal(int)

    def __init__(self, model: ResultModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.results = model
        self.setModel(model)
        self.setItemDelegate(ResultDelegate(self))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(48)
        self.setSortingEnabled(True)
        self._kept: int | None = None
        model.modelAboutToBeReset.connect(self._keep)
        model.reordered.connect(self._find_again)
        self.activated.connect(self._activated)
        self.show_unsorted()
        self._fit()

    def show_unsorted(self) -> None:
        """The arrow at the row's number."""
        self.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)

    def current_number(self) -> int | None:
        index = self.currentIndex()
        return self.results.number(index.row()) if index.isValid() else None

    def _fit(self) -> None:
        """Columns of fixed content as wide as it, whatever the language and the font."""
        height = theme.px(ROW_HEIGHT)
        self.verticalHeader().setDefaultSectionSize(height)
        self.horizontalHeader().setFixedHeight(height)
        small = QFontMetrics(theme.font("small"))
        arrow = 24
        widest = {
            0: ["1000000", self._heading(0)],
            3: ["330110001000", self._heading(3)],
            4: ["0.00", self._heading(4)],
            5: [*self.results.notes(), self._heading(5)],
        }
        header = self.horizontalHeader()
        for column, words in widest.items():
            width = max(map(small.horizontalAdvance, words)) + 2 * _PAD
            header.resizeSection(column, width + (16 if column == 5 else arrow))

    def _heading(self, column: int) -> str:
        return str(self.results.headerData(column, Qt.Orientation.Horizontal))

    @Slot()
    def _keep(self) -> None:
        self._kept = self.current_number()

    @Slot()
    def _find_again(self) -> None:
        if self._kept is None or (row := self.results.row_of(self._kept)) is None:
            return
        index = self.results.index(row, 0)
        self.setCurrentIndex(index)
        self.scrollTo(index)

    @Slot(QModelIndex)
    def _activated(self, index: QModelIndex) -> None:
        self.correction_asked.emit(self.results.number(index.row()))

    @Slot()
    def copy_selected(self) -> None:
        """As tab-separated rows, which are read from the disk first."""
        rows: list[int] = []
        selection = self.selectionModel().selection()
        for place in range(selection.count()):  # by ranges: all rows may be selected
            area = selection.at(place)
            rows += range(area.top(), area.bottom() + 1)
        self.results.as_text(sorted(set(rows)), QGuiApplication.clipboard().setText)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selected()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Some platforms activate with another key.
            if (number := self.current_number()) is not None:
                self.correction_asked.emit(number)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        if event.reason() is QContextMenuEvent.Reason.Keyboard or not index.isValid():
            index = self.currentIndex()
        if index.isValid():
            self.setCurrentIndex(index)
            point: QPoint = event.globalPos()
            self.make_menu().popup(point)

    def make_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        number = self.current_number()
        correct = menu.addAction(self.tr("Correct…"))
        correct.triggered.connect(lambda: self.correction_asked.emit(number))
        menu.addAction(self.tr("Copy")).triggered.connect(self.copy_selected)
        # What a click on a heading does, for the keyboard.
        sorts = menu.addMenu(self.tr("Sort by"))
        for column in range(len(COLUMNS)):
            action = sorts.addAction(self._heading(column))
            action.setData(column)
            action.triggered.connect(self._sort_by)
        return menu

    @Slot()
    def _sort_by(self) -> None:
        """By that column; backwards where it is sorted by it already."""
        action = self.sender()
        assert isinstance(action, QAction)
        header, column = self.horizontalHeader(), int(action.data())
        same = header.sortIndicatorSection() == column
        rising = header.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
        header.setSortIndicator(
            column,
            Qt.SortOrder.DescendingOrder if same and rising else Qt.SortOrder.AscendingOrder,
        )

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.LanguageChange, QEvent.Type.FontChange):
            self.results.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)
            self._fit()
            self.viewport().update()
