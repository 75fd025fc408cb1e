"""How far an image is, as a bar with words, and a way to end it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from desktop.launchers.base import ServerState, ServerStatus
from desktop.ui.controls import label
from desktop.ui.status_bar import ElidedLabel, show_share
from desktop.ui.words import message_words


class StartCard(QFrame):
    """Visible while a server starts."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.words = label(self, "cardTitle", wrap=True)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        self.detail = ElidedLabel(self)
        self.detail.setObjectName("mono")
        self.cancel_button = QPushButton(self)
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self.words, 1)
        head.addWidget(self.cancel_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 14)
        box.setSpacing(8)
        box.addLayout(head)
        box.addWidget(self.bar)
        box.addWidget(self.detail)
        self.cancel_button.clicked.connect(self.cancelled)
        self.retranslate()
        self.hide()

    def retranslate(self) -> None:
        self.cancel_button.setText(self.tr("Cancel"))
        self.cancel_button.setToolTip(self.tr("Start no server; what was downloaded is kept"))

    @Slot(object)
    def show_status(self, status: ServerStatus) -> None:
        self.setVisible(status.state is ServerState.STARTING)
        self.words.setText(message_words(status))
        show_share(self.bar, status)
        detail = status.progress.detail if status.progress else ""
        self.detail.show_text(detail)
        self.detail.setVisible(bool(detail))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
