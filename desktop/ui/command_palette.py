"""The command palette: type a few letters, in Chinese or English, and do what they name."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTranslator,
    Slot,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import fuzzy, theme
from desktop.ui.controls import label
from desktop.ui.main_window import MainWindow
from desktop.ui.shortcuts import Command, commands

_WIDTH = 560
_ROW = 40
_ROWS_MAX = 9
# The column of the keys.
_KEYS = 108
_ROW_ROLE = Qt.ItemDataRole.UserRole
_OTHER_LANGUAGE = -4
_GROUP = -6

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Row:
    """A command as it is shown. ``places``: the letters of ``words`` that were typed."""

    command: Command
    words: str
    group: str
    keys: tuple[str, ...]
    places: tuple[int, ...] = ()


class PaletteModel(QAbstractListModel):
    """The commands that fit what was typed, best first."""

    def __init__(self, window: MainWindow, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._rows: list[Row] = []
        # Whoever reads English may type Chinese, so the Chinese names are there in either language.
        self._chinese = QTranslator(self)
        self._chinese.load(str(theme.RESOURCES / "translations" / "tritalk_zh_CN.qm"))

    def search(self, typed: str) -> None:
        found: list[tuple[int, int, Row]] = []
        for number, command in enumerate(commands(self._window)):
            if command.objectName() != "palette" and command.available():
                row = Row(
                    command, command.words(), command.group_words(), tuple(command.key_names())
                )
                if (fit := self._fit(typed, row)) is not None:
                    found.append((-fit[0], number, fit[1]))
        found.sort(key=lambda each: each[:2])
        self.beginResetModel()
        self._rows = [row for _, _, row in found]
        self.endResetModel()

    def _fit(self, typed: str, row: Row) -> tuple[int, Row] | None:
        shown = Row(row.command, row.words, row.group, row.keys, ())
        candidates: list[tuple[int, Row]] = []
        if (found := fuzzy.match(typed, row.words)) is not None:
            places = Row(row.command, row.words, row.group, row.keys, found.places)
            candidates.append((found.score, places))
        chinese = self._chinese.translate("commands", row.command.source)
        for name in {row.command.source, chinese or row.command.source} - {row.words}:
            if (found := fuzzy.match(typed, name)) is not None:
                candidates.append((found.score + _OTHER_LANGUAGE, shown))
        for name in (row.group, *row.keys):
            if (found := fuzzy.match(typed, name)) is not None:
                candidates.append((found.score + _GROUP, shown))
        return max(candidates, key=lambda each: each[0], default=None)

    def row(self, number: int) -> Row:
        return self._rows[number]

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join([row.words, row.group, *row.keys])
        return row if role == _ROW_ROLE else None


class PaletteDelegate(QStyledItemDelegate):
    """Name with the typed letters marked, group, and keys at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(0, max(theme.px(_ROW), QFontMetrics(theme.font()).height() + 16))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        look, row = theme.current(), index.data(_ROW_ROLE)
        area: QRect = option.rect.adjusted(4, 1, -4, -1)
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color("accent_soft"))
            painter.drawRoundedRect(area, theme.radius("control"), theme.radius("control"))
        area.adjust(12, 0, -12, 0)
        self._draw_keys(painter, area, row.keys)
        area.setRight(area.right() - theme.px(_KEYS))
        small = theme.font("small")
        group_width = QFontMetrics(small).horizontalAdvance(row.group)
        self._draw_name(painter, area.adjusted(0, 0, -group_width - 12, 0), row)
        painter.setFont(small)
        painter.setPen(look.color("text_2"))
        painter.drawText(
            area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.group
        )
        painter.restore()

    @staticmethod
    def _draw_keys(painter: QPainter, area: QRect, keys: tuple[str, ...]) -> None:
        look, font = theme.current(), theme.font("caption")
        painter.setFont(font)
        for key in keys[:1]:
            width = QFontMetrics(font).horizontalAdvance(key) + 14
            cap = QRectF(
                area.right() - width, area.center().y() - theme.px(21) / 2, width, theme.px(21)
            )
            painter.setPen(look.color("line"))
            painter.setBrush(look.color("sunken"))
            painter.drawRoundedRect(cap, 4, 4)
            painter.setPen(look.color("text_2"))
            painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key)

    @staticmethod
    def _draw_name(painter: QPainter, area: QRect, row: Row) -> None:
        look = theme.current()
        plain, bold = theme.font(), theme.font(bold=True)
        x, middle = area.left(), Qt.AlignmentFlag.AlignVCenter
        for number, character in enumerate(row.words):
            marked = number in row.places
            font: QFont = bold if marked else plain
            width = QFontMetrics(font).horizontalAdvance(character)
            if x + width > area.right():
                painter.setFont(plain)
                painter.drawText(QRect(x, area.top(), 20, area.height()), middle, "…")
                return
            painter.setFont(font)
            painter.setPen(look.color("accent" if marked else "text"))
            painter.drawText(QRect(x, area.top(), width + 4, area.height()), middle, character)
            x += width


class CommandPalette(QFrame):
    """Lies over the window's upper half; Esc or a click elsewhere closes it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.setObjectName("palette")
        self._window = window
        self._before: QWidget | None = None
        self.field = QLineEdit(self)
        self.field.setObjectName("paletteField")
        self.model = PaletteModel(window, self)
        self.list = QListView(self)
        self.list.setObjectName("paletteList")
        self.list.setModel(self.model)
        self.list.setItemDelegate(PaletteDelegate(self.list))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.nothing = label(self, "empty")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.fit(self.nothing, height=_ROW)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.setSpacing(6)
        for widget in (self.field, self.list, self.nothing):
            box.addWidget(widget)
        self.field.textChanged.connect(self._search)
        self.list.clicked.connect(self._carry_out)
        self.list.entered.connect(self.list.setCurrentIndex)
        self.field.installEventFilter(self)
        window.installEventFilter(self)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._focus_changed)
        self.retranslate()
        self.hide()

    def retranslate(self) -> None:
        self.field.setPlaceholderText(self.tr("What do you want to do?"))
        self.field.setAccessibleName(self.tr("Command"))
        self.list.setAccessibleName(self.tr("Commands"))
        self.nothing.setText(self.tr("No command fits."))
        if self.isVisible():
            self._search()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    def open(self) -> None:
        """Show it, empty; once more closes it."""
        if self.isVisible():
            self.dismiss()
            return
        self._before = QApplication.focusWidget()
        self.field.clear()
        self._search()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def dismiss(self) -> None:
        """Close it; the keyboard goes back to where it was."""
        before, self._before = self._before, None
        had_focus = self.field.hasFocus()
        self.hide()
        if had_focus and before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

    @Slot()
    def _search(self) -> None:
        self.model.search(self.field.text())
        count = self.model.rowCount()
        self.list.setVisible(count > 0)
        self.nothing.setVisible(count == 0)
        if count:
            self.list.setCurrentIndex(self.model.index(0, 0))
            self.list.scrollToTop()
        self._place()

    def _place(self) -> None:
        room = self._window.rect()
        rows = min(_ROWS_MAX, self.model.rowCount())
        self.list.setFixedHeight(rows * max(1, self.list.sizeHintForRow(0)) + 2)
        width = min(theme.px(_WIDTH), room.width() - 48)
        height = self.sizeHint().height()
        top = max(24, room.height() // 8)
        self.setGeometry((room.width() - width) // 2, top, width, min(height, room.height() - top))

    @Slot(QModelIndex)
    def _carry_out(self, index: QModelIndex) -> None:
        if index.isValid():
            command = self.model.row(index.row()).command
            self.dismiss()
            self._window.carry_out(command.objectName())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window:
            if event.type() == QEvent.Type.Resize and self.isVisible():
                self._place()
            return False
        if watched is self.field and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride:
                # What is typed here is for the palette, not for the page behind it.
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                return self._key(event)
        elif self._is_opening_key(event):
            # Text fields take Ctrl+K for "delete to the end of the line" before it can be a
            # shortcut; this hands it on.
            return True
        return False

    @staticmethod
    def _is_opening_key(event: QEvent) -> bool:
        return (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() == Qt.Key.Key_K
            and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        )

    def _key(self, event: QKeyEvent) -> bool:
        key, row, count = event.key(), self.list.currentIndex().row(), self.model.rowCount()
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        steps = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Tab: 1,
            Qt.Key.Key_Backtab: -1,
            Qt.Key.Key_PageDown: _ROWS_MAX,
            Qt.Key.Key_PageUp: -_ROWS_MAX,
        }
        if key == Qt.Key.Key_Escape or (control and key in (Qt.Key.Key_K, Qt.Key.Key_P)):
            self.dismiss()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._carry_out(self.list.currentIndex())
        elif key in steps and count:
            step = steps[Qt.Key(key)]
            to = (row + step) % count if abs(step) == 1 else min(count - 1, max(0, row + step))
            self.list.setCurrentIndex(self.model.index(to, 0))
        else:
            return key in steps
        return True

    @Slot(QWidget, QWidget)
    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if isinstance(new, QLineEdit | QPlainTextEdit | QTextEdit) and new is not self.field:
            new.installEventFilter(self)
        if self.isVisible() and new is not None and new is not self.field:
            self.dismiss()
