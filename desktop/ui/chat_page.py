"""The chat page: header with legend, messages, composer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from desktop.launchers.base import ServerState, ServerStatus
from desktop.triton.types import Token
from desktop.ui import theme
from desktop.ui.composer import Composer
from desktop.ui.controls import frame, label
from desktop.ui.conversation import Conversation
from desktop.ui.icons import icon
from desktop.ui.legend import ProbabilityLegend
from desktop.ui.message_layout import column
from desktop.ui.message_view import MessageView
from desktop.ui.session import ServerSession
from desktop.ui.token_popover import TokenPopover


class ChatPage(QWidget):
    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.conversation = Conversation(session, self)
        self.view = MessageView(self)
        self.view.set_transcript(self.conversation.transcript)
        self.composer = Composer(self)
        self.error = label(self, "error")
        self.error.setWordWrap(True)
        self.error.hide()
        self.empty = label(self.view, "empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self.empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.popover: TokenPopover | None = None

        foot = QWidget(self)
        self._foot = QVBoxLayout(foot)
        self._foot.setContentsMargins(28, 8, 28, 16)
        self._foot.setSpacing(8)
        self._foot.addWidget(self.error)
        self._foot.addWidget(self.composer)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._make_header())
        page.addWidget(self.view, 1)
        page.addWidget(foot)

        self.composer.submitted.connect(self._send)
        self.composer.stopped.connect(self.conversation.stop)
        self.composer.edited.connect(self.error.hide)
        self.conversation.busy_changed.connect(self._busy_changed)
        self.conversation.refused.connect(self._refused)
        self.conversation.transcript.rowsInserted.connect(self._show_empty)
        self.conversation.transcript.rowsRemoved.connect(self._show_empty)
        self.view.width_changed.connect(self._align_foot)
        self.view.token_entered.connect(self._explain)
        self.view.token_left.connect(self._hide_popover)
        session.status_changed.connect(self._status_changed)
        QShortcut(QKeySequence(QKeySequence.StandardKey.New), self, self.new_button.click)
        QShortcut(Qt.Key.Key_Escape, self, self._escape)
        self.setFocusProxy(self.composer)
        self._status = session.status
        self.retranslate()
        self._tint()

    def _make_header(self) -> QFrame:
        header = frame(self, "header")
        header.setFixedHeight(52)
        self.title = label(header, "pageTitle")
        self.legend = ProbabilityLegend(header)
        self.new_button = QPushButton(header)
        self.new_button.setIconSize(QSize(16, 16))
        self.new_button.clicked.connect(self._start_anew)
        row = QHBoxLayout(header)
        row.setContentsMargins(20, 0, 20, 0)
        row.setSpacing(16)
        row.addWidget(self.title)
        row.addStretch(1)
        row.addWidget(self.legend)
        row.addWidget(self.new_button)
        return header

    def retranslate(self) -> None:
        self.title.setText(self.tr("Chat"))
        self.view.setAccessibleName(self.tr("Messages"))
        self.new_button.setText(self.tr("New conversation"))
        self.new_button.setToolTip(
            self.tr("Draw a line: the model no longer sees the messages above it (Ctrl+N)")
        )
        self.empty.setText(
            self.tr(
                "Say something to begin.\n"
                "Each token of a reply is tinted by how probable it was to the model."
            )
        )
        self._status_changed(self._status)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.error.hide()
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self._tint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_empty()

    @Slot(int)
    def _align_foot(self, width: int) -> None:
        """Keep the composer in line with the messages above it."""
        left, inner = column(width)
        self._foot.setContentsMargins(left, 8, self.width() - left - inner, 16)

    def _tint(self) -> None:
        self.new_button.setIcon(icon("new", theme.current().color("text"), 16))

    def _place_empty(self) -> None:
        self.empty.setGeometry(self.view.rect().adjusted(32, 0, -32, 0))

    @Slot()
    def _show_empty(self) -> None:
        self.empty.setVisible(self.conversation.transcript.rowCount() == 0)

    @Slot(str)
    def _send(self, text: str) -> None:
        self.error.hide()
        if self.conversation.send(text):
            self.composer.clear()

    @Slot()
    def _escape(self) -> None:
        """Stop what runs; with nothing running, close the popover."""
        if self.conversation.busy:
            self.conversation.stop()
        else:
            self.view.leave_token()

    @Slot()
    def _start_anew(self) -> None:
        self.conversation.start_anew()
        self.composer.edit.setFocus()

    @Slot(bool)
    def _busy_changed(self, busy: bool) -> None:
        self.composer.set_busy(busy)
        self.new_button.setEnabled(not busy)

    @Slot(str, str)
    def _refused(self, sentence: str, text: str) -> None:
        self.composer.give_back(text)
        self.error.setText(sentence)
        self.error.show()

    @Slot(object)
    def _status_changed(self, status: ServerStatus) -> None:
        self._status = status
        starting = status.state is ServerState.STARTING
        self.view.delegate.waiting_words = (
            self.tr("Waiting for the server to start…") if starting else "…"
        )
        if self.conversation.busy:
            self.view.forget_layouts()

    @Slot(object, int, QRect)
    def _explain(self, token: Token, number: int, rect: QRect) -> None:
        if self.popover is None:
            self.popover = TokenPopover(self.window())
        corner = self.view.viewport().mapTo(self.window(), QPoint(0, 0))
        self.popover.show_for(token, number, rect.translated(corner))

    @Slot()
    def _hide_popover(self) -> None:
        if self.popover is not None:
            self.popover.hide()
