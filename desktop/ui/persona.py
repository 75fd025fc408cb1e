"""Who answers in a conversation: the chat model, and the opening that the person writes for it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QVBoxLayout, QWidget

from desktop.store.records import opening_turns
from desktop.triton.models import DEFAULT, chat_models, is_ready, stream_model
from desktop.ui.controls import label
from desktop.ui.words import model_words

_LINES = 4
_WRITTEN_MS = 400


class PersonaEdit(QPlainTextEdit):
    """Says what is written when the hand rests, or leaves."""

    written = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(6)
        self._timer = QTimer(self, singleShot=True, interval=_WRITTEN_MS)
        self._timer.timeout.connect(self.written)
        self.textChanged.connect(self._timer.start)
        self.fit()

    def fit(self) -> None:
        margins = 2 * round(self.document().documentMargin()) + 2 * self.frameWidth()
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + margins)

    def show_text(self, text: str) -> None:
        """Without :attr:`written`."""
        if text != self.toPlainText():
            self.setPlainText(text)
        self._timer.stop()

    def flush(self) -> None:
        """Say now what is written."""
        if self._timer.isActive():
            self._timer.stop()
            self.written.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.flush()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.fit()


class PersonaCard(QWidget):
    """Model and persona of a conversation."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model_title = label(self, "cardTitle")
        self.models = QComboBox(self)
        self.models.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.persona_title = label(self, "cardTitle")
        self.persona = PersonaEdit(self)
        self.persona.setObjectName("persona")
        self.persona_words = label(self, "small", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.model_title)
        column.addWidget(self.models)
        column.addSpacing(8)
        column.addWidget(self.persona_title)
        column.addWidget(self.persona)
        column.addWidget(self.persona_words)
        self._states: Mapping[str, str] = {}
        self._model = ""
        self.models.activated.connect(self._choose)
        self.persona.written.connect(self._written)
        self.retranslate()

    @property
    def model(self) -> str:
        """The chosen model; empty for the first."""
        return self._model

    @property
    def text(self) -> str:
        return self.persona.toPlainText()

    def show_choice(self, model: str, persona: str) -> None:
        """Without :attr:`changed`."""
        self._model = model
        self.persona.show_text(persona)
        self._show_turns()
        self._fill()

    def show_models(self, states: Mapping[str, str]) -> None:
        """``states``: the models of the server's repository index and their states."""
        if states != self._states:
            self._states = dict(states)
            self._fill()

    def retranslate(self) -> None:
        self.model_title.setText(self.tr("Model"))
        self.models.setAccessibleName(self.tr("Model"))
        self.models.setToolTip(self.tr("Which of the chat models that the server has answers here"))
        self.persona_title.setText(self.tr("Persona"))
        self.persona.setPlaceholderText(self.tr("One line a turn, yours first"))
        meaning = self.tr(
            "An opening that stands before every message of this conversation and never drops "
            "out. Chat models of this kind know turns only: your first line, the answer to it, "
            "and so on; a missing last answer is added. The small model that comes with Tritalk "
            "follows no instructions and keeps no role; at most it picks up words and tone."
        )
        for widget in (self.persona, self.persona_title):
            widget.setToolTip(meaning)
        self.persona.setAccessibleName(self.tr("Persona"))
        self.persona.setAccessibleDescription(meaning)
        self._show_turns()
        self._fill()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    def _fill(self) -> None:
        names = chat_models(self._states) or [DEFAULT]
        chosen = self._model or names[0]
        if chosen not in names:
            names.append(chosen)
        self.models.clear()
        for name in names:
            words = name
            if self._states and stream_model(name) not in self._states:
                words = self.tr("{0} (not served)").format(name)
            elif self._states and not is_ready(self._states, name):
                state = self._states[stream_model(name)].partition(":")[0]
                if state == "READY":  # then it is the engine that is not
                    state = self._states[name].partition(":")[0]
                words = self.tr("{0} ({1})").format(name, model_words(state))
            self.models.addItem(words, name)
        self.models.setCurrentIndex(names.index(chosen))

    def _show_turns(self) -> None:
        count = len(opening_turns(self.text))
        self.persona_words.setVisible(count > 0)
        self.persona_words.setText(self.tr("%n turn(s) before every message", "", count))

    @Slot(int)
    def _choose(self, place: int) -> None:
        name = str(self.models.itemData(place))
        self._model = "" if name == DEFAULT else name
        self.changed.emit()

    @Slot()
    def _written(self) -> None:
        self._show_turns()
        self.changed.emit()
