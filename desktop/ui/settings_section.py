"""A section of the settings: cards of fields, as on the server page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QLabel, QLayout, QVBoxLayout, QWidget

from desktop.ui.controls import frame, label

if TYPE_CHECKING:
    from desktop.ui.application import Application


class Section(QWidget):
    """``name`` in the sources; :meth:`title` as the person reads it."""

    name = ""

    def __init__(self, app: Application, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.app = app
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(16)

    def title(self) -> str:
        raise NotImplementedError

    def retranslate(self) -> None:
        raise NotImplementedError

    def refresh(self) -> None:
        """Show things as they are now; called whenever the section comes on screen."""

    def card(self, *parts: QWidget | QLayout, titled: bool = False) -> QLabel:
        """A card of parts, one below the other; its title, which is seen where it is ``titled``."""
        card = frame(self, "card")
        box = QVBoxLayout(card)
        box.setContentsMargins(16, 14, 16, 16)
        box.setSpacing(12)
        title = label(card, "cardTitle")
        title.setVisible(titled)
        box.addWidget(title)
        for part in parts:
            if isinstance(part, QLayout):
                box.addLayout(part)
            else:
                box.addWidget(part)
        self._box.addWidget(card)
        return title

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
