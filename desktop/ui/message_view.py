"""The messages: painting, selecting text across them, their actions, their tokens."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    Signal,
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

from desktop.ui import theme
from desktop.ui.message_delegate import can_continue
from desktop.ui.message_tokens import MessageTokens
from desktop.ui.text_selection import Position, TextSelection
from desktop.ui.transcript import Message, Role, Stage

_ALTERNATIVE_KEYS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Return: 0,
    Qt.Key.Key_Enter: 0,
}


class MessageView(MessageTokens):
    """Shows a :class:`Transcript` and hears what a person does with it."""

    #: Something is to be done with a message: the action's name, the row.
    action_asked = Signal(str, int)
    #: Among the alternatives of the token that is explained: another is looked at, one is taken.
    alternative_stepped = Signal(int)
    alternative_taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        # Before anything that makes the base class ask what has the focus.
        self.selection = TextSelection()
        #: What a screen reader was given of this view.
        self.accessible: object = None
        self._dragging = False
        self._ringed = False
        self._hovered_action: tuple[int, str] | None = None
        super().__init__(parent)
        self.viewport().setMouseTracking(True)

    def rows_gone(self) -> None:
        super().rows_gone()
        self._hovered_action = None
        self.selection.clear()

    def spoken(self, message: Message) -> str:
        """A message in one line, for a screen reader."""
        who = self.tr("You") if message.role is Role.USER else message.model or "Tritalk"
        return self.tr("{0}: {1}").format(who, message.text or message.error)

    def step_message(self, step: int) -> None:
        """Give the keys' focus to the message above or below; the first step takes the last one."""
        last = len(self.rows) - 1
        at = self.focused_row()
        row = last if at is None else max(0, min(last, at + step))
        if row >= 0:
            self.leave_token()
            self.setCurrentIndex(self.transcript().index(row))
            self.reveal(row)
            self.viewport().update()

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
        ring = None
        if self._focus_token is None and (at := self.focused_row()) is not None:
            ring = QRectF(self._row_rect(at)).adjusted(8.5, 2.5, -8.5, -2.5)
        elif self._ringed:
            ring = QRectF(self.viewport().rect()).adjusted(3.5, 3.5, -3.5, -3.5)
        if ring is not None:
            painter.setPen(QPen(theme.current().color("focus"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(ring, theme.radius("control"), theme.radius("control"))
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
        """The selection; without one, the message that was stepped to."""
        text = self.selected_text()
        row = self.focused_row()
        if not text and row is not None:
            text = self.transcript().message(row).text
        if text:
            QGuiApplication.clipboard().setText(text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            point = event.position().toPoint()
            self.setCurrentIndex(QModelIndex())
            if action := self._action_at(point):
                self._act(*action)
                return
            if (charted := self._chart_token_at(point)) is not None:
                self.go_to_token(*charted)
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
        shape, found, over, charted = Qt.CursorShape.ArrowCursor, None, None, None
        if index.isValid():
            local = QPointF(point - self._row_rect(index.row()).topLeft())
            layout = self._layout(index.row())
            over = (index.row(), layout.action_at(local))
            if over[1]:
                shape = Qt.CursorShape.PointingHandCursor
            elif layout.over_text(local):
                shape = Qt.CursorShape.IBeamCursor
            charted = layout.chart_token_at(local)
            if charted is not None:
                shape = Qt.CursorShape.PointingHandCursor
            number = layout.token_at(local) if charted is None else charted
            found = None if number is None else (index.row(), number)
        self.viewport().setCursor(shape)
        if over != self._hovered_action:
            self._hovered_action = over
            self.viewport().update()
        self.hover(found, on_chart=charted is not None)

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
        row = self.focused_row()
        if row is None:
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
                add(self.tr("Regenerate the reply"), "regenerate", True)
            else:
                add(self.tr("Regenerate"), "regenerate", settled, "Ctrl+R")
                add(self.tr("Continue"), "continue", can_continue(message), "Ctrl+G")
                add(self.tr("Branch from here"), "branch", settled)
            place, count = self.transcript().branch(message)
            if count > 1:
                add(self.tr("Previous version"), "previous", place > 1, "Alt+Left")
                add(self.tr("Next version"), "next", place < count, "Alt+Right")
            menu.addSeparator()
            add(self.tr("Delete from here"), "delete", settled, self.tr("Del"))
            unsure = menu.addAction(self.tr("Next unsure passage") + "\tF8")
            unsure.triggered.connect(lambda: self.step_unsure(1))
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
        """The message that keys are about: the focused one if it is of this role, else the last one
        of this role."""
        focus = self.focused_row()
        messages = self.transcript().messages()
        if focus is not None and messages[focus].role is role:
            return focus
        return next((r for r in range(len(messages) - 1, -1, -1) if messages[r].role is role), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if control and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step_message(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif event.key() == Qt.Key.Key_Delete and (row := self.focused_row()) is not None:
            self._act("delete", row)
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() == Qt.Key.Key_Right:
            self.step_token(1)
        elif event.key() == Qt.Key.Key_Left:
            self.step_token(-1)
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
        elif event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.go_to_end(event.key() == Qt.Key.Key_Home)
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
