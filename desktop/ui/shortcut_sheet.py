"""All keys of the window on one sheet."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.controls import label
from desktop.ui.shortcuts import GROUPS, Command, commands


class ShortcutSheet(QDialog):
    """All keys on one sheet. What has none is reached through the palette."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setModal(False)
        self._body = QWidget(self)
        self._body.setObjectName("scrolled")
        self._columns = QHBoxLayout(self._body)
        self._columns.setContentsMargins(24, 16, 24, 24)
        self._columns.setSpacing(48)
        self.title = label(self, "pageTitle")
        self.hint = label(self, "small", wrap=True)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self._body)
        self.area = area
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 20, 0, 0)
        box.setSpacing(4)
        for words in (self.title, self.hint):
            words.setContentsMargins(24, 0, 24, 0)
            box.addWidget(words)
        box.addWidget(area, 1)
        self.retranslate()

    def show_sheet(self) -> None:
        self._fill()
        room = self._window.size()
        wanted = self._body.sizeHint()
        self.resize(
            min(wanted.width() + 20, room.width() - 40),
            min(wanted.height() + 90, room.height() - 40),
        )
        self.move(
            self._window.frameGeometry().center() - self.rect().center()
            if self._window.isVisible()
            else self.pos()
        )
        self.show()
        self.raise_()
        self.activateWindow()
        self.area.setFocus()

    def retranslate(self) -> None:
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.title.setText(self.tr("Keyboard shortcuts"))
        self.area.setAccessibleName(self.tr("Keyboard shortcuts"))
        self.hint.setText(
            self.tr("Everything else is in the command palette: {0}").format(
                QKeySequence("Ctrl+Shift+P").toString(QKeySequence.SequenceFormat.NativeText)
            )
        )
        if self.isVisible():
            self._fill()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    def _fill(self) -> None:
        while (item := self._columns.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        groups: dict[str, list[Command]] = {name: [] for name in GROUPS}
        for each in commands(self._window):
            if each.shortcuts():
                groups[each.entry.group].append(each)
        used = [members for members in groups.values() if members]
        total = sum(len(members) + 2 for members in used)
        column, height = self._add_column(), 0
        for members in used:
            if (
                height
                and height + (len(members) + 2) / 2 > total / 2
                and self._columns.count() == 1
            ):
                column.setRowStretch(column.rowCount(), 1)
                column = self._add_column()
            height += len(members) + 2
            self._add_group(column, members)
        column.setRowStretch(column.rowCount(), 1)

    def _add_column(self) -> QGridLayout:
        holder = QWidget(self._body)
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(0, 1)
        self._columns.addWidget(holder, 1, Qt.AlignmentFlag.AlignTop)
        return grid

    @staticmethod
    def _add_group(grid: QGridLayout, members: list[Command]) -> None:
        row = grid.rowCount()
        title = label(grid.parentWidget(), "cardTitle")
        title.setText(members[0].group_words())
        title.setContentsMargins(0, 12 if row > 1 else 0, 0, 2)
        grid.addWidget(title, row, 0, 1, 2)
        for each in members:
            row += 1
            name = QLabel(each.words(), grid.parentWidget())
            grid.addWidget(name, row, 0)
            caps = QHBoxLayout()
            caps.setSpacing(4)
            caps.addStretch(1)
            for keys in each.key_names():
                cap = label(grid.parentWidget(), "key")
                cap.setText(keys)
                caps.addWidget(cap)
            grid.addLayout(caps, row, 1)
