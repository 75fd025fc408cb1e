"""The table of an address's entities: type, text, place in the text, score."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop.triton.types import Entity
from desktop.ui import theme
from desktop.ui.table_model import TableModel
from desktop.ui.transcript import AnyIndex
from desktop.ui.words import entity_name

ROW_HEIGHT = 32
_ENTITY_ROLE = Qt.ItemDataRole.UserRole + 1


class EntityModel(TableModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entities: tuple[Entity, ...] = ()

    def show_entities(self, entities: Sequence[Entity]) -> None:
        self.beginResetModel()
        self._entities = tuple(entities)
        self.endResetModel()

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._entities)

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        return 4

    def headings(self) -> tuple[str, ...]:
        return (self.tr("Type"), self.tr("Text"), self.tr("Span"), self.tr("Score"))

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entity = self._entities[index.row()]
        if role == _ENTITY_ROLE:
            return entity
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 1:
            return entity.text
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return (
            entity_name(entity.type),
            entity.text,
            f"{entity.start}–{entity.end}",
            f"{entity.score:.2f}",
        )[index.column()]


class EntityDelegate(QStyledItemDelegate):
    """The type as a chip of its colour, the score in the colour of its certainty."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        look = theme.current()
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        entity: Entity = index.data(_ENTITY_ROLE)
        text = str(index.data())
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area, look.color("accent_soft"))
        painter.setPen(QPen(look.color("line"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.color("text"))
        if index.column() == 0:
            painter.setFont(theme.font("small"))
            width = painter.fontMetrics().horizontalAdvance(text) + 12
            height = theme.px(22)
            top = area.y() + (area.height() - height) // 2
            chip = QRect(area.x() + 8, top, min(width, area.width() - 8), height)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.entity(entity.type))
            painter.drawRoundedRect(chip, 4, 4)
            painter.setPen(look.color("text"))
            painter.drawText(chip.adjusted(6, 0, 0, 0), left, text)
            if text != entity.type:
                painter.setPen(look.color("text_3"))
                code = area.adjusted(chip.right() - area.x() + 8, 0, 0, 0)
                painter.drawText(code, left, entity.type)
        else:
            painter.setFont(theme.font())
            if index.column() == 3:
                painter.setPen(look.score(entity.score))
            room = area.adjusted(8, 0, -4, 0)
            shown = painter.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideRight, room.width()
            )
            painter.drawText(room, left, shown)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        text = str(index.data())
        return QSize(QFontMetrics(theme.font()).horizontalAdvance(text) + 28, theme.px(ROW_HEIGHT))


class EntityTable(QTableView):
    """As high as its rows; the page scrolls, the table does not."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entities = EntityModel(self)
        self.setModel(self.entities)
        self.setItemDelegate(EntityDelegate(self))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.show_entities(())

    def show_entities(self, entities: Sequence[Entity]) -> None:
        self.entities.show_entities(entities)
        self._fit()

    def _fit(self) -> None:
        height = theme.px(ROW_HEIGHT)
        self.verticalHeader().setDefaultSectionSize(height)
        header = self.horizontalHeader()
        header.setFixedHeight(height)
        for column, width in ((0, 176), (2, 104), (3, 88)):
            header.resizeSection(column, theme.px(width))
        self.setFixedHeight(height * (1 + self.entities.rowCount()) + 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = sorted({index.row() for index in self.selectedIndexes()})
            lines = [
                "\t".join(str(self.entities.index(row, column).data()) for column in range(4))
                for row in rows
            ]
            QGuiApplication.clipboard().setText("\n".join(lines))
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.entities.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, 3)
            self.viewport().update()
        elif event.type() == QEvent.Type.FontChange:
            self._fit()
