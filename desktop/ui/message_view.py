"""The virtual list of messages: only what is on screen is laid out and painted.

A view of its own rather than a QListView: a streaming reply changes its height many times a second,
and QListView would ask every row for its size each time. Text can be selected across messages.
"""

from __future__ import annotations

from collections import OrderedDict

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
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QTextLayout,
)
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget

from desktop.triton.types import Token
from desktop.ui import theme
from desktop.ui.message_delegate import MessageDelegate, can_continue
from desktop.ui.message_layout import MessageLayout, estimate_height
from desktop.ui.row_stack import RowStack
from desktop.ui.text_selection import Position, TextSelection
from desktop.ui.transcript import AnyIndex, Message, Role, Stage, Transcript

_KEPT_LAYOUTS = 64
_HOVER_MS = 300
_BOTTOM_PAD = 16
_ALTERNATIVE_KEYS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Return: 0,
    Qt.Key.Key_Enter: 0,
}


class MessageView(QAbstractItemView):
    """Shows a :class:`Transcript`. Stays at the end while a reply grows, unless scrolled away."""

    #: A token to explain: the token, its number from 1, its rectangle in the viewport.
    token_entered = Signal(object, int, QRect)
    #: The mouse left it, perhaps for the popover; or it is gone for good (true).
    token_left = Signal(bool)
    #: Something is to be done with a message: the action's name, the row.
    action_asked = Signal(str, int)
    #: Among the alternatives of the token that is explained: another is looked at, one is taken.
    alternative_stepped = Signal(int)
    alternative_taken = Signal()
    #: The text column moved: the viewport's new width.
    width_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Before anything that makes the base class ask for geometry.
        self.rows = RowStack()
        self.selection = TextSelection()
        self._layouts: OrderedDict[int, MessageLayout] = OrderedDict()
        self._at_end = True
        self._settling = False
        self._dragging = False
        self._ringed = False
        self._hovered: Position | None = None
        self._hovered_action: tuple[int, str] | None = None
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
        added = self.transcript().messages()[first : last + 1]
        width = self.viewport().width()
        self.rows.insert(first, [estimate_height(message, width) for message in added])
        self._at_end = True
        self.leave_token()
        self._settle()

    @Slot(QModelIndex, int, int)
    def _rows_gone(self, parent: QModelIndex, first: int, last: int) -> None:
        self.rows.remove(first, last)
        self._hovered_action = None
        self.selection.clear()
        self.leave_token()
        self._settle()

    @Slot(QModelIndex, QModelIndex)
    def _row_changed(self, top_left: QModelIndex, bottom_right: QModelIndex) -> None:
        for row in range(top_left.row(), bottom_right.row() + 1):
            # Out of sight the estimate must do until somebody scrolls there.
            message = self.transcript().message(row)
            self.rows.estimate(row, estimate_height(message, self.viewport().width()))
        self._settle(top_left.row() if top_left == bottom_right else None)

    def forget_layouts(self) -> None:
        """Measure anew: another width, font or language."""
        width = self.viewport().width()
        messages = self.transcript().messages() if self.model() is not None else ()
        self._layouts.clear()
        self.rows.reset([estimate_height(message, width) for message in messages])
        self._settle()

    # Geometry.

    def _layout(self, row: int) -> MessageLayout:
        message = self.transcript().message(row)
        width = self.viewport().width()
        layout = self._layouts.get(message.id)
        if layout is None or layout.revision != message.revision or layout.width != width:
            branch = self.transcript().branch(message)
            layout = self.delegate.lay_out(message, width, branch)
            self._layouts[message.id] = layout
            while len(self._layouts) > _KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        self._layouts.move_to_end(message.id)
        if not message.tokens_loaded:
            self.transcript().tokens_wanted.emit(message)
        return layout

    def _measure(self, row: int) -> None:
        if not self.rows.is_measured(row):
            self.rows.measure(row, self._layout(row).height)

    def _settle(self, changed: int | None = None) -> None:
        """Measure what is in sight and set the scroll bar, so that nothing in sight jumps.

        ``changed`` is the only row to paint anew if nothing else moved.
        """
        if self._settling:
            return
        self._settling = True
        bar = self.verticalScrollBar()
        before = bar.value()
        try:
            if self._at_end:
                self._settle_at_end()
            else:
                # Measured heights may bring other rows into sight; they settle at once or the
                # next scroll sees to them.
                for _ in range(3):
                    if not self._settle_in_place():
                        break
        finally:
            self._settling = False
        if bar.value() != before:
            self.leave_token()  # what was explained is no longer under its popover
        elif changed is not None:
            self.viewport().update(self._row_rect(changed))
            return
        self.viewport().update()

    def _settle_at_end(self) -> None:
        bar, view = self.verticalScrollBar(), self.viewport().height()
        seen, row = 0, len(self.rows)
        while row > 0 and seen < view:
            row -= 1
            self._measure(row)
            seen += self.rows.height(row)
        self.rows.stack()
        self._set_range(self.rows.total + _BOTTOM_PAD - view)
        bar.setValue(bar.maximum())

    def _settle_in_place(self) -> bool:
        """Measure the rows in sight; whether any was not measured before."""
        bar, view, rows = self.verticalScrollBar(), self.viewport().height(), len(self.rows)
        top = bar.value()
        row = self.rows.at(top)
        # The first row in sight whose height is known keeps its place.
        held = row
        while held < rows - 1 and not self.rows.is_measured(held):
            held += 1
        offset = self.rows.top(held) - top if rows else 0
        y, found = self.rows.top(max(row, 0)), False
        while row < rows and y < top + view:
            found = found or not self.rows.is_measured(row)
            self._measure(row)
            y += self.rows.height(row)
            row += 1
        self.rows.stack()
        self._set_range(self.rows.total + _BOTTOM_PAD - view)
        if rows:
            bar.setValue(self.rows.top(held) - offset)
        return found

    def _set_range(self, maximum: int) -> None:
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, maximum))
        bar.setPageStep(self.viewport().height())

    def _row_rect(self, row: int) -> QRect:
        top = self.rows.top(row) - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self.rows.height(row))

    # What QAbstractItemView asks of a view.

    def visualRect(self, index: AnyIndex) -> QRect:
        row = index.row()
        return self._row_rect(row) if 0 <= row < len(self.rows) else QRect()

    def scrollTo(
        self,
        index: AnyIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        rect = self.visualRect(index)
        if rect.top() < 0 or rect.bottom() > self.viewport().height():
            self.verticalScrollBar().setValue(self.rows.top(index.row()))

    def indexAt(self, point: QPoint) -> QModelIndex:
        y = point.y() + self.verticalScrollBar().value()
        if not self.rows or not 0 <= y < self.rows.total:
            return QModelIndex()
        return self.model().index(self.rows.at(y), 0)

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
        rows = len(self.rows)
        row = self.rows.at(event.rect().top() + self.verticalScrollBar().value())
        while row < rows:
            rect = self._row_rect(row)
            if rect.top() > event.rect().bottom():
                break
            focus, over = self._focus_token, self._hovered_action
            message = self.transcript().message(row)
            painter.save()
            painter.translate(rect.topLeft())
            self.delegate.draw(
                painter,
                message,
                self._layout(row),
                self.selection.within(row, message),
                focus[1] if focus is not None and focus[0] == row else None,
                over[1] if over is not None and over[0] == row else None,
            )
            painter.restore()
            row += 1
        if self._ringed:
            painter.setPen(QPen(theme.current().color("focus"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            inside = QRectF(self.viewport().rect()).adjusted(3.5, 3.5, -3.5, -3.5)
            painter.drawRoundedRect(inside, theme.radius("control"), theme.radius("control"))
        painter.end()

    # Selecting and copying text.

    def _position_at(self, point: QPoint) -> Position | None:
        if not self.rows:
            return None
        row = self.rows.at(max(0, point.y() + self.verticalScrollBar().value()))
        local = QPointF(point - self._row_rect(row).topLeft())
        return row, self._layout(row).position_at(local)

    def selected_text(self) -> str:
        return self.selection.text(self.transcript().messages())

    def select_all(self) -> None:
        self.selection.select_all(self.transcript().messages())
        self.viewport().update()

    def copy(self) -> None:
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            point = event.position().toPoint()
            if action := self._action_at(point):
                self._act(*action)
                return
            self.selection.begin(self._position_at(point), extend=shift)
            self._dragging = True
            self._focus_token = None
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if self._dragging:
            self.selection.caret = self._position_at(point)
            beyond = point.y() - max(0, min(point.y(), self.viewport().height()))
            if beyond:
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + beyond)
            self.leave_token()
            self.viewport().update()
            return
        index = self.indexAt(point)
        shape, found, over = Qt.CursorShape.ArrowCursor, None, None
        if index.isValid():
            local = QPointF(point - self._row_rect(index.row()).topLeft())
            layout = self._layout(index.row())
            over = (index.row(), layout.action_at(local))
            if over[1]:
                shape = Qt.CursorShape.PointingHandCursor
            elif layout.over_text(local):
                shape = Qt.CursorShape.IBeamCursor
            number = layout.token_at(local)
            found = None if number is None else (index.row(), number)
        self.viewport().setCursor(shape)
        if over != self._hovered_action:
            self._hovered_action = over
            self.viewport().update()
        if found != self._hovered:
            self.leave_token(for_good=False)
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
        if self.selection.empty and self._hovered is not None:
            self._explain_hovered()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        position = self._position_at(event.position().toPoint())
        if position is None:
            return
        row, at = position
        text = self._layout(row).text
        words = QTextLayout.CursorMode.SkipWords
        self.selection.anchor = (
            row,
            text.previousCursorPosition(text.nextCursorPosition(at), words),
        )
        self.selection.caret = (row, text.nextCursorPosition(at, words))
        self.viewport().update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        point = event.pos()
        row = self.current_row(Role.REPLY)
        if event.reason() == QContextMenuEvent.Reason.Keyboard and row is not None:
            point = self._row_rect(row).center()
        menu = self.context_menu(point)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def context_menu(self, point: QPoint) -> QMenu:
        """What can be done with the message under ``point`` and with the selection."""
        menu = QMenu(self)
        copy = menu.addAction(self.tr("Copy"))
        copy.setEnabled(bool(self.selected_text()))
        copy.triggered.connect(self.copy)
        index = self.indexAt(point)
        row = index.row()
        message = self.transcript().message(row) if index.isValid() else None

        def add(text: str, action: str, enabled: bool, keys: str = "") -> None:
            entry = menu.addAction(f"{text}\t{keys}" if keys else text)
            entry.setEnabled(message is not None and enabled)
            entry.triggered.connect(lambda: self._act(action, row))

        add(self.tr("Copy message"), "copy", message is not None and bool(message.text))
        if message is not None:
            menu.addSeparator()
            settled = message.stage not in (Stage.WAITING, Stage.STREAMING)
            if message.role is Role.USER:
                add(self.tr("Edit and resend"), "edit", True, "Ctrl+E")
            else:
                add(self.tr("Regenerate"), "regenerate", settled, "Ctrl+R")
                add(self.tr("Continue"), "continue", can_continue(message), "Ctrl+G")
            place, count = self.transcript().branch(message)
            if count > 1:
                add(self.tr("Previous version"), "previous", place > 1, "Alt+Left")
                add(self.tr("Next version"), "next", place < count, "Alt+Right")
            menu.addSeparator()
            add(self.tr("Delete from here"), "delete", settled)
        menu.addSeparator()
        everything = menu.addAction(self.tr("Select all"))
        everything.triggered.connect(self.select_all)
        return menu

    def _action_at(self, point: QPoint) -> tuple[str, int] | None:
        index = self.indexAt(point)
        if not index.isValid():
            return None
        local = QPointF(point - self._row_rect(index.row()).topLeft())
        action = self._layout(index.row()).action_at(local)
        return (action, index.row()) if action else None

    def _act(self, action: str, row: int) -> None:
        """Copying is done here; for the rest somebody else must be asked."""
        if row >= len(self.rows):
            return
        if action == "copy":
            QGuiApplication.clipboard().setText(self.transcript().message(row).text)
        else:
            self.action_asked.emit(action, row)

    def action_rect(self, action: str, row: int) -> QRect:
        """Where a message's action can be clicked, in the viewport; empty where it cannot."""
        for item in self._layout(row).foot:
            if item.action == action:
                return item.rect.toAlignedRect().translated(self._row_rect(row).topLeft())
        return QRect()

    def current_row(self, role: Role) -> int | None:
        """The message that keys are about: the focused token's if it is of this role, else the
        last one of this role."""
        focus = self._focus_token
        messages = self.transcript().messages()
        if focus is not None and messages[focus[0]].role is role:
            return focus[0]
        return next((r for r in range(len(messages) - 1, -1, -1) if messages[r].role is role), None)

    @property
    def focus_token(self) -> Position | None:
        """The row and the number, from 0, of the token that is explained."""
        return self._focus_token

    def reveal(self, row: int) -> None:
        """Bring a row into sight and stay there."""
        if 0 <= row < len(self.rows):
            self._at_end = row == len(self.rows) - 1
            if self._at_end:
                self._settle()
            else:
                self.scrollTo(self.model().index(row, 0))

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

    def leave_token(self, *, for_good: bool = True) -> None:
        """Take the focus from the token that has it, and the popover away."""
        self._hover_timer.stop()
        self._hovered = None
        if for_good and self._focus_token is not None:
            self._focus_token = None
            self.viewport().update()
        self.token_left.emit(for_good)

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
        elif self._focus_token is not None and event.key() in _ALTERNATIVE_KEYS:
            step = _ALTERNATIVE_KEYS[Qt.Key(event.key())]
            if step:
                self.alternative_stepped.emit(step)
            else:
                self.alternative_taken.emit()
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
        self._hovered_action = None
        self.viewport().update()
        self.leave_token(for_good=False)

    def focusInEvent(self, event: QFocusEvent) -> None:
        # A ring for those who came by keyboard; a click needs none.
        reasons = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self._ringed = event.reason() in reasons
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._ringed = False
        self.leave_token()
        self.viewport().update()
