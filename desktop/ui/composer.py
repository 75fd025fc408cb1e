"""The field one types messages into: grows with its text, Enter sends, Shift+Enter breaks."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QWidget

from desktop.ui import theme
from desktop.ui.controls import primary_button
from desktop.ui.icons import icon

_LINES_MAX = 8


class MessageEdit(QPlainTextEdit):
    """Plain text. Emits ``submitted`` on Enter, but never while an input method composes."""

    submitted = Signal()
    focused = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preedit = ""
        #: Ctrl+Enter sends and Enter breaks the line, rather than the other way round.
        self.send_with_ctrl = False
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(4)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    @property
    def composing(self) -> bool:
        return bool(self._preedit)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._preedit = event.preeditString()
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if enter and self.composing:
            # Some input methods pass on the Enter that confirms their candidate.
            event.accept()
        elif enter and (ctrl or not (shift or self.send_with_ctrl)):
            event.accept()
            self.submitted.emit()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._preedit = ""
        super().focusOutEvent(event)
        self.focused.emit(False)

    @Slot()
    def _fit(self) -> None:
        """As high as the text, up to eight lines; from there it scrolls."""
        # A plain text document measures its height in lines.
        lines = max(1, min(_LINES_MAX, round(self.document().size().height())))
        margins = 2 * round(self.document().documentMargin())
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + margins + 2)
        policy = Qt.ScrollBarPolicy
        full = self.document().size().height() > _LINES_MAX
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if full else policy.ScrollBarAlwaysOff
        )


class Composer(QFrame):
    """The card at the foot of the chat page. One button: Send, or Stop while a reply streams."""

    submitted = Signal(str)
    stopped = Signal()
    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.edit = MessageEdit(self)
        self.send_button = primary_button(self)
        self.stop_button = QPushButton(self)
        for button in (self.send_button, self.stop_button):
            theme.fit(button, icon=16)
        self.stop_button.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        row.addWidget(self.edit, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.stop_button, 0, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(self.send_button, 0, Qt.AlignmentFlag.AlignBottom)

        self.edit.submitted.connect(self._submit)
        self.edit.focused.connect(self._show_focus)
        self.edit.textChanged.connect(self.edited)
        self.send_button.clicked.connect(self._submit)
        self.stop_button.clicked.connect(self.stopped)
        self.setFocusProxy(self.edit)
        self.retranslate()
        self._tint()

    def text(self) -> str:
        return self.edit.toPlainText()

    def clear(self) -> None:
        self.edit.clear()

    def set_text(self, text: str) -> None:
        """Show ``text`` with the cursor at its end."""
        if text != self.text():
            self.edit.setPlainText(text)
            cursor = self.edit.textCursor()
            cursor.movePosition(cursor.MoveOperation.End)
            self.edit.setTextCursor(cursor)

    def give_back(self, text: str) -> None:
        """Put a message that was not sent back in front of what was typed since."""
        typed = self.text()
        if typed and typed != text:
            text = f"{text}\n{typed}"
        self.set_text(text)

    def set_send_with_ctrl(self, wanted: bool) -> None:
        self.edit.send_with_ctrl = wanted
        self.retranslate()

    def set_busy(self, busy: bool) -> None:
        had_focus = self.send_button.hasFocus() or self.stop_button.hasFocus()
        self.stop_button.setVisible(busy)
        self.send_button.setVisible(not busy)
        if had_focus:
            self.edit.setFocus()

    def retranslate(self) -> None:
        self.edit.setPlaceholderText(
            self.tr("Say something…   Ctrl+Enter sends, Enter breaks the line")
            if self.edit.send_with_ctrl
            else self.tr("Say something…   Enter sends, Shift+Enter breaks the line")
        )
        self.edit.setAccessibleName(self.tr("Message"))
        self.send_button.setText(self.tr("Send"))
        self.stop_button.setText(self.tr("Stop"))
        self.stop_button.setToolTip(self.tr("Stop the computation (Esc)"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self._tint()

    def _tint(self) -> None:
        look = theme.current()
        self.send_button.setIcon(icon("send", look.color("on_accent"), 16))
        self.stop_button.setIcon(icon("stop", look.color("text"), 16))

    @Slot()
    def _submit(self) -> None:
        if not self.edit.composing and self.send_button.isVisibleTo(self):
            self.submitted.emit(self.text())

    @Slot(bool)
    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)
