"""The messages: painting, selecting text across them, their actions, their tokens."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
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
    QTextLayout,
)
from PySide6.QtWidgets import QMenu, QWidget

from desktop.triton.types import Token
from desktop.ui import theme
from desktop.ui.message_delegate import can_continue
from desktop.ui.message_rows import MessageRows
from desktop.ui.text_selection import Position, TextSelection
from desktop.ui.transcript import Message, Role, Stage

_HOVER_MS = 300
#: A passage of tokens less probable than this can be stepped to.
UNSURE_BELOW = 0.3
_ALTERNATIVE_KEYS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Return: 0,
    Qt.Key.Key_Enter: 0,
}


class MessageView(MessageRows):
    """Shows a :class:`Transcript` and hears what a person does with it."""

    #: A token to explain: the token, its number from 1, its rectangle in the viewport.
    token_entered = Signal(object, int, QRect)
    #: The mouse left it, perhaps for the popover; or it is gone for good (true).
    token_left = Signal(bool)
    #: Something is to be done with a message: the action's name, the row.
    action_asked = Signal(str, int)
    #: Among the alternatives of the token that is explained: another is looked at, one is taken.
    alternative_stepped = Signal(int)
    alternative_taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        # Before anything that makes the base class ask what has the focus.
        self.selection = TextSelection()
        self._dragging = False
        self._ringed = False
        self._hovered: Position | None = None
        self._hovered_action: tuple[int, str] | None = None
        self._focus_token: Position | None = None
        super().__init__(parent)
        self.viewport().setMouseTracking(True)
        self._hover_timer = QTimer(self, singleShot=True, interval=_HOVER_MS)
        self._hover_timer.timeout.connect(self._explain_hovered)

    def rows_moved(self) -> None:
        self.leave_token()

    def rows_gone(self) -> None:
        self._hovered_action = None
        self.selection.clear()

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
        if found is None or found != self._hovered:
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

    def step_unsure(self, step: int) -> None:
        """Explain the next token, in either direction, that the model thought unlikely: one below
        :data:`UNSURE_BELOW` after one that was not. Without a token in focus, from the end."""
        messages = self.transcript().messages()
        at = self._focus_token
        if at is None:
            at = (len(messages), 0) if step < 0 else (-1, 0)
        places = [
            (row, number)
            for row, message in enumerate(messages)
            for number, token in enumerate(message.tokens)
            if token.probability < UNSURE_BELOW
            and (number == 0 or message.tokens[number - 1].probability >= UNSURE_BELOW)
        ]
        ahead = [p for p in places if p > at] if step > 0 else [p for p in places[::-1] if p < at]
        if ahead:
            self.reveal(ahead[0][0])
            self.explain_token(*ahead[0])

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
