"""A line above the composer that says something and may offer one thing to do about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from desktop.ui.controls import label

Words = Callable[[], str]


def _nothing() -> str:
    return ""


class NoticeBar(QFrame):
    """Hidden until :meth:`show_notice`; stays until it is closed, acted on, or its time is up."""

    acted = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self._asked: tuple[Words, Words, Words] = (_nothing, _nothing, _nothing)
        self.words = label(self, "noticeText", wrap=True)
        self.action = QPushButton(self)
        self.dismiss = QPushButton(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(8)
        row.addWidget(self.words, 1)
        row.addWidget(self.action)
        row.addWidget(self.dismiss)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.hide)
        self.action.clicked.connect(self._act)
        self.dismiss.clicked.connect(self._close)
        self.retranslate()
        self.hide()

    def show_notice(
        self, words: Words, action: Words = _nothing, *, keys: Words = _nothing, seconds: float = 0
    ) -> None:
        """The words are asked for again when the language changes. ``keys``: told in the tooltip.
        ``seconds``: 0 stays."""
        self._asked = (words, action, keys)
        self._say()
        self._timer.stop()
        if seconds:
            self._timer.start(int(seconds * 1000))
        self.show()

    def act(self) -> None:
        """As if the button had been pressed, where it is offered."""
        if self.isVisible() and self.action.text():
            self._act()

    def retranslate(self) -> None:
        self.dismiss.setText(self.tr("Close"))
        self._say()

    def _say(self) -> None:
        words, action, keys = (ask() for ask in self._asked)
        self.words.setText(words)
        self.setAccessibleName(words)
        self.action.setText(action)
        self.action.setToolTip(keys)
        self.action.setVisible(bool(action))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    @Slot()
    def _act(self) -> None:
        self.hide()
        self.acted.emit()

    @Slot()
    def _close(self) -> None:
        self.hide()
        self.closed.emit()
