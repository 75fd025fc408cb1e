"""The virtual list of messages: only what is on screen is laid out and painted.

A view of its own rather than a QListView: a streaming reply changes its height many times a second,
and QListView would ask every row for its size each time. Text can be selected across messages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QTextLayout,
)
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget

from desktop.triton.types import Token
from desktop.ui.message_delegate import MessageDelegate
from desktop.ui.message_layout import MessageLayout, estimate_height
from desktop.ui.transcript import AnyIndex, Message, Role, Transcript
from desktop.ui.utf16 import cut, units

_KEPT_LAYOUTS = 64
_HOVER_MS = 300
_BOTTOM_PAD = 16

Position = tuple[int, int]  # row, UTF-16 units into its text


class MessageView(QAbstractItemView):
    """Shows a :class:`Transcript`. Stays at the end while a reply grows, unless scrolled away."""

    #: A token to explain: the token, its number from 1, its rectangle in the viewport.
    token_entered = Signal(object, int, QRect)
    token_left = Signal()
    #: The text column moved: the viewport's new width.
    width_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Before anything that makes the base class ask for geometry.
        self._heights: list[int] = []
        self._measured: list[bool] = []
        self._tops: list[int] = [0]
        self._layouts: OrderedDict[int, MessageLayout] = OrderedDict()
        self._at_end = True
        self._settling = False
        self._anchor: Position | None = None
        self._caret: Position | None = None
        self._dragging = False
        self._hovered: Position | None = None
        self._focus_token: Position | None = None
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.delegate = MessageDelegate(self)
        self.setItemDelegate(self.delegate)
        self._hover_timer = QTimer(self, singleShot=True, interval=_HOVER_MS)
        self._hover_timer.timeout.connect(self._explain_hovered)
        self.verticalScrollBar().setSingleStep(24)

    # The model.

    def transcript(self) -> Transcript:
        model = self.model()
        assert isinstance(model, Transcript)
        return model

    def set_transcript(self, transcript: Transcript) -> None:
        self.setModel(transcript)
        transcript.rowsInserted.connect(self._rows_added)
        transcript.rowsRemoved.connect(self._rows_gone)
        transcript.dataChanged.connect(self._row_changed)
        self.forget_layouts()

    @Slot(QModelIndex, int, int)
    def _rows_added(self, parent: QModelIndex, first: int, last: int) -> None:
        for row in range(first, last + 1):
            message = self.transcript().message(row)
            self._heights.insert(row, estimate_height(message, self.viewport().width()))
            self._measured.insert(row, False)
        self._at_end = True
        self.leave_token()
        self._settle()

    @Slot(QModelIndex, int, int)
    def _rows_gone(self, parent: QModelIndex, first: int, last: int) -> None:
        del self._heights[first : last + 1]
        del self._measured[first : last + 1]
        self._anchor = self._caret = self._focus_token = None
        self.leave_token()
        self._settle()

    @Slot(QModelIndex, QModelIndex)
    def _row_changed(self, top_left: QModelIndex, bottom_right: QModelIndex) -> None:
        for row in range(top_left.row(), bottom_right.row() + 1):
            # Out of sight the estimate must do until somebody scrolls there.
            message = self.transcript().message(row)
            self._heights[row] = estimate_height(message, self.viewport().width())
            self._measured[row] = False
        self._settle()

    def forget_layouts(self) -> None:
        """Measure anew: another width, font or language."""
        width = self.viewport().width()
        messages = self.transcript().messages() if self.model() is not None else ()
        self._layouts.clear()
        self._heights = [estimate_height(message, width) for message in messages]
        self._measured = [False] * len(messages)
        self._settle()

    # Geometry.

    def _layout(self, row: int) -> MessageLayout:
        message = self.transcript().message(row)
        width = self.viewport().width()
        layout = self._layouts.get(message.id)
        if layout is None or layout.revision != message.revision or layout.width != width:
            layout = self.delegate.lay_out(message, width)
            self._layouts[message.id] = layout
            while len(self._layouts) > _KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        self._layouts.move_to_end(message.id)
        return layout

    def _measure(self, row: int) -> None:
        if not self._measured[row]:
            self._heights[row] = self._layout(row).height
            self._measured[row] = True

    def _settle(self) -> None:
        """Measure what is in sight and set the scroll bar, so that nothing in sight jumps."""
        if self._settling:
            return
        self._settling = True
        bar, view = self.verticalScrollBar(), self.viewport().height()
        before = bar.value()
        try:
            rows = len(self._heights)
            if self._at_end:
                seen, row = 0, rows
                while row > 0 and seen < view:
                    row -= 1
                    self._measure(row)
                    seen += self._heights[row]
                self._stack()
                self._set_range(self._tops[-1] + _BOTTOM_PAD - view)
                bar.setValue(bar.maximum())
            else:
                top = bar.value()
                row = self._row_at(top)
                # The first row in sight whose height is known keeps its place.
                held = row
                while held < rows - 1 and not self._measured[held]:
                    held += 1
                offset = self._tops[held] - top if rows else 0
                bottom = top + view
                while row < rows and self._tops[row] < bottom:
                    self._measure(row)
                    row += 1
                self._stack()
                self._set_range(self._tops[-1] + _BOTTOM_PAD - view)
                if rows:
                    bar.setValue(self._tops[held] - offset)
        finally:
            self._settling = False
        if bar.value() != before:
            self.leave_token()  # what was explained is no longer under its popover
        self.viewport().update()

    def _stack(self) -> None:
        self._tops = list(accumulate(self._heights, initial=0))

    def _set_range(self, maximum: int) -> None:
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, maximum))
        bar.setPageStep(self.viewport().height())

    def _row_at(self, y: int) -> int:
        """The row at a height of the whole document, clamped to the rows there are."""
        return max(0, min(bisect_right(self._tops, y) - 1, len(self._heights) - 1))

    def _row_rect(self, row: int) -> QRect:
        top = self._tops[row] - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self._heights[row])

    # What QAbstractItemView asks of a view.

    def visualRect(self, index: AnyIndex) -> QRect:
        row = index.row()
        return self._row_rect(row) if 0 <= row < len(self._heights) else QRect()

    def scrollTo(
        self,
        index: AnyIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        rect = self.visualRect(index)
        if rect.top() < 0 or rect.bottom() > self.viewport().height():
            self.verticalScrollBar().setValue(self._tops[index.row()])

    def indexAt(self, point: QPoint) -> QModelIndex:
        y = point.y() + self.verticalScrollBar().value()
        if not self._heights or not 0 <= y < self._tops[-1]:
            return QModelIndex()
        return self.model().index(self._row_at(y), 0)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        return self.currentIndex()

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def isIndexHidden(self, index: AnyIndex) -> bool:
        return False

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Text is selected here, not rows."""

    def visualRegionForSelection(self, selection: object) -> QRegion:
        return QRegion()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self._settle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.forget_layouts()
            self.width_changed.emit(event.size().width())
        else:
            self._settle()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if not self._settling:
            bar = self.verticalScrollBar()
            self._at_end = bar.value() >= bar.maximum()
            self.leave_token()
            self._settle()
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.LanguageChange, QEvent.Type.FontChange):
            self.forget_layouts()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows = len(self._heights)
        row = self._row_at(event.rect().top() + self.verticalScrollBar().value())
        while row < rows:
            rect = self._row_rect(row)
            if rect.top() > event.rect().bottom():
                break
            focus = self._focus_token
            painter.save()
            painter.translate(rect.topLeft())
            self.delegate.draw(
                painter,
                self.transcript().message(row),
                self._layout(row),
                self._selection_in(row),
                focus[1] if focus is not None and focus[0] == row else None,
            )
            painter.restore()
            row += 1
        painter.end()

    # Selecting and copying text.

    def _position_at(self, point: QPoint) -> Position | None:
        if not self._heights:
            return None
        row = self._row_at(max(0, point.y() + self.verticalScrollBar().value()))
        local = QPointF(point - self._row_rect(row).topLeft())
        return row, self._layout(row).position_at(local)

    def _selection_in(self, row: int) -> tuple[int, int] | None:
        if self._anchor is None or self._caret is None or self._anchor == self._caret:
            return None
        (first, start), (last, end) = sorted((self._anchor, self._caret))
        if not first <= row <= last:
            return None
        length = units(self.transcript().message(row).text)
        return (start if row == first else 0), (min(end, length) if row == last else length)

    def selected_text(self) -> str:
        """What is selected, the parts of several messages on lines of their own."""
        if self._anchor is None or self._caret is None:
            return ""
        (first, _), (last, _) = sorted((self._anchor, self._caret))
        parts = []
        for row in range(first, last + 1):
            chosen = self._selection_in(row)
            if chosen is not None and chosen[0] < chosen[1]:
                parts.append(cut(self.transcript().message(row).text, *chosen))
        return "\n".join(parts)

    def select_all(self) -> None:
        rows = len(self._heights)
        if rows:
            self._anchor = (0, 0)
            self._caret = (rows - 1, units(self.transcript().message(rows - 1).text))
            self.viewport().update()

    def copy(self) -> None:
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            position = self._position_at(event.position().toPoint())
            shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            if not shift or self._anchor is None:
                self._anchor = position
            self._caret = position
            self._dragging = True
            self._focus_token = None
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if self._dragging:
            self._caret = self._position_at(point)
            beyond = point.y() - max(0, min(point.y(), self.viewport().height()))
            if beyond:
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + beyond)
            self.leave_token()
            self.viewport().update()
            return
        index = self.indexAt(point)
        over_text, found = False, None
        if index.isValid():
            local = QPointF(point - self._row_rect(index.row()).topLeft())
            layout = self._layout(index.row())
            over_text = layout.over_text(local)
            number = layout.token_at(local)
            found = None if number is None else (index.row(), number)
        shape = Qt.CursorShape.IBeamCursor if over_text else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)
        if found != self._hovered:
            self.leave_token()
            self._hovered = found
            if found is not None:
                self._hover_timer.start()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self._dragging:
            return
        self._dragging = False
        clipboard = QGuiApplication.clipboard()
        if clipboard.supportsSelection() and (text := self.selected_text()):
            clipboard.setText(text, QClipboard.Mode.Selection)
        if self._anchor == self._caret and self._hovered is not None:
            self._explain_hovered()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        position = self._position_at(event.position().toPoint())
        if position is None:
            return
        row, at = position
        text = self._layout(row).text
        words = QTextLayout.CursorMode.SkipWords
        self._anchor = (row, text.previousCursorPosition(text.nextCursorPosition(at), words))
        self._caret = (row, text.nextCursorPosition(at, words))
        self.viewport().update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.context_menu(event.pos())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def context_menu(self, point: QPoint) -> QMenu:
        """Copy what is selected, the message under ``point``, or select everything."""
        menu = QMenu(self)
        copy = menu.addAction(self.tr("Copy"))
        copy.setEnabled(bool(self.selected_text()))
        copy.triggered.connect(self.copy)
        index = self.indexAt(point)
        whole = menu.addAction(self.tr("Copy message"))
        message = self.transcript().message(index.row()) if index.isValid() else None
        whole.setEnabled(message is not None and bool(message.text))
        if message is not None:
            whole.triggered.connect(lambda: QGuiApplication.clipboard().setText(message.text))
        menu.addSeparator()
        everything = menu.addAction(self.tr("Select all"))
        everything.triggered.connect(self.select_all)
        return menu

    # Tokens: hovered by the mouse, stepped through by the arrow keys.

    def token_rect(self, row: int, number: int) -> QRect:
        """A token's rectangle in the viewport."""
        rect: QRectF = self._layout(row).token_rect(number)
        return rect.toAlignedRect().translated(self._row_rect(row).topLeft())

    @Slot()
    def _explain_hovered(self) -> None:
        if self._hovered is not None:
            self.explain_token(*self._hovered)

    def explain_token(self, row: int, number: int) -> None:
        """Give the focus to a token and ask for its popover."""
        self._focus_token = (row, number)
        token: Token = self.transcript().message(row).tokens[number]
        self.viewport().update()
        self.token_entered.emit(token, number + 1, self.token_rect(row, number))

    def leave_token(self) -> None:
        """Take the focus from the token that has it, and the popover away."""
        self._hover_timer.stop()
        self._hovered = None
        if self._focus_token is not None:
            self._focus_token = None
            self.viewport().update()
        self.token_left.emit()

    def _step_token(self, step: int) -> None:
        """Give the focus to the next token; the first step takes the last reply's first token."""
        if self._focus_token is not None:
            row, number = self._focus_token
            number += step
        else:
            replies = [
                r for r, m in enumerate(self.transcript().messages()) if m.role is Role.REPLY
            ]
            if not replies:
                return
            row, number = replies[-1], 0
        message: Message = self.transcript().message(row)
        if 0 <= number < len(message.tokens):
            self.explain_token(row, number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() == Qt.Key.Key_Right:
            self._step_token(1)
        elif event.key() == Qt.Key.Key_Left:
            self._step_token(-1)
        elif event.key() == Qt.Key.Key_Up:
            bar.setValue(bar.value() - bar.singleStep())
        elif event.key() == Qt.Key.Key_Down:
            bar.setValue(bar.value() + bar.singleStep())
        elif event.key() == Qt.Key.Key_PageUp:
            bar.setValue(bar.value() - bar.pageStep())
        elif event.key() == Qt.Key.Key_PageDown:
            bar.setValue(bar.value() + bar.pageStep())
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() == Qt.Key.Key_End:
            bar.setValue(bar.maximum())
        else:
            event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.leave_token()

    def focusOutEvent(self, event: object) -> None:
        self.leave_token()
        self.viewport().update()
