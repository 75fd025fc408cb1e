"""How replies come about: the model, the persona, every sampling parameter with its meaning and
range, presets, and how much of the model's context is used."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.store.records import DEFAULT_SETTINGS, ChatSettings
from desktop.triton.models import ModelLimits
from desktop.triton.types import Sampling
from desktop.ui import theme
from desktop.ui.controls import frame, label, scrolled
from desktop.ui.dial import Dial, Range
from desktop.ui.persona import PersonaCard

_WIDTH = 264

#: The vocabulary's size and the context bound two of them; these hold until the server has told
#: those of its model.
RANGES = (
    Range("temperature", 0.0, 2.0, 0.05, 2),
    Range("top_p", 0.05, 1.0, 0.05, 2),
    Range("top_k", 0, 10_000, 1, top=100),
    Range("max_tokens", 1, 500, 1, top=500),
    Range("repetition_penalty", 0.5, 2.0, 0.05, 2),
    Range("no_repeat_ngram_size", 0, 16, 1),
    Range("history_turns", 0, 10, 1),
)

#: What a preset sets; the rest (length, seed, history) stays as the person has it.
PRESETS: dict[str, Sampling] = {
    "steady": Sampling(temperature=0.2, top_p=0.7, top_k=0, repetition_penalty=1.0),
    "natural": Sampling(temperature=0.4, top_p=0.9, top_k=0, repetition_penalty=1.0),
    "lively": Sampling(temperature=0.8, top_p=0.95, top_k=0, repetition_penalty=1.1),
}


class SamplingPanel(QFrame):
    """Shows and changes a :class:`ChatSettings`."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panelRight")
        theme.fit(self, width=_WIDTH)
        content = QWidget(self)
        self.who = PersonaCard(content)
        self.title = label(content, "cardTitle")
        self.presets: dict[str, QPushButton] = {}
        choices = QHBoxLayout()
        choices.setSpacing(0)
        for place, name in enumerate(PRESETS):
            button = QPushButton(content)
            button.setCheckable(True)
            button.setObjectName("segment")
            button.setProperty("place", ("first", "middle", "last")[place])
            button.setProperty("preset", name)
            # No button group: where no preset is the case none is checked, and Tab reaches all.
            button.clicked.connect(self._choose_preset)
            self.presets[name] = button
            choices.addWidget(button, 1)
        self.dials = {limits.name: Dial(limits, content) for limits in RANGES}
        self.seed_name = QLabel(content)
        self.seed = QLineEdit(content)
        self.seed.setObjectName("seed")
        self.seed.setMaxLength(19)
        self.seed_name.setBuddy(self.seed)
        self.seed_error = label(content, "error", wrap=True)
        self.seed_error.hide()
        self.reset_button = QPushButton(content)
        foot = frame(self, "panelFoot")
        self.context_title = label(foot, "cardTitle")
        self.context = QProgressBar(foot)
        self.context.setTextVisible(False)
        self.context.setFixedHeight(8)
        self.context_words = label(foot, "small")

        column = QVBoxLayout(content)
        column.setContentsMargins(16, 16, 15, 16)
        column.setSpacing(12)
        column.addWidget(self.who)
        column.addSpacing(8)
        column.addWidget(self.title)
        column.addLayout(choices)
        for dial in self.dials.values():
            column.addWidget(dial)
            dial.changed.connect(self._changed)
        seed_row = QHBoxLayout()
        seed_row.addWidget(self.seed_name, 1)
        seed_row.addWidget(self.seed, 1)
        column.addLayout(seed_row)
        column.addWidget(self.seed_error)
        column.addWidget(self.reset_button)
        column.addStretch(1)
        context = QVBoxLayout(foot)
        context.setContentsMargins(16, 12, 15, 12)
        context.setSpacing(8)
        for widget in (self.context_title, self.context, self.context_words):
            context.addWidget(widget)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(scrolled(self, content), 1)
        outer.addWidget(foot)
        self._settings = DEFAULT_SETTINGS
        self._defaults = DEFAULT_SETTINGS.sampling
        self._limits: ModelLimits | None = None
        self._used = 0
        self.who.changed.connect(self._changed)
        self.seed.editingFinished.connect(self._changed)
        self.reset_button.clicked.connect(self._reset)
        self.retranslate()
        self.show_settings(self._settings)

    def show_settings(self, settings: ChatSettings) -> None:
        """Without :attr:`changed`. What the settings leave to the model shows as the default."""
        self._settings = settings
        for name, dial in self.dials.items():
            if name == "history_turns":
                dial.show_value(settings.history_turns)
                continue
            value = getattr(settings.sampling, name)
            default = getattr(self._defaults, name)
            dial.show_value(default if value is None else value)
        seed = settings.sampling.seed
        self.seed.setText("" if seed is None else str(seed))
        self.who.show_choice(settings.model, settings.persona)
        self._show_preset()

    def show_limits(self, limits: ModelLimits) -> None:
        """What the model in use allows. What is set beyond it becomes the most there is, and what
        was as the last model had it becomes as this one has it."""
        self.flush()
        bounds = {"top_k": limits.vocabulary_size, "max_tokens": limits.context_tokens}
        self._limits = limits
        for name, high in bounds.items():
            self.dials[name].set_limits(replace(self.dials[name].limits, high=high))
        told = {
            name: value
            for name, value in vars(limits.defaults).items()
            if name in self.dials and value is not None
        }
        before, self._defaults = self._defaults, replace(DEFAULT_SETTINGS.sampling, **told)
        if self._settings.sampling == before:
            self._apply(replace(self._settings, sampling=self._defaults))
        elif any((getattr(self._settings.sampling, n) or 0) > high for n, high in bounds.items()):
            self._changed()
        self.retranslate()

    def flush(self) -> None:
        """Tell what is being written."""
        self.who.persona.flush()

    def show_context(self, tokens: int) -> None:
        """How many tokens the last reply and what it was given took."""
        self._used = tokens
        words = self.tr("%n token(s)", "", tokens)
        if self._limits is not None:
            self.context.setRange(0, self._limits.context_tokens)
            self.context.setValue(min(tokens, self._limits.context_tokens))
            words = self.tr("{0} of {1} tokens").format(tokens, self._limits.context_tokens)
        self.context.setVisible(self._limits is not None)
        self.context_words.setText(words)
        self.context.setAccessibleName(f"{self.context_title.text()}: {words}")

    def retranslate(self) -> None:
        self.title.setText(self.tr("Sampling"))
        names = {
            "steady": (self.tr("Steady"), self.tr("Likely tokens only; replies vary little.")),
            "natural": (self.tr("Natural"), self.tr("The model's own defaults.")),
            "lively": (self.tr("Lively"), self.tr("Rarer tokens too; replies vary a lot.")),
        }
        for name, (words, meaning) in names.items():
            self.presets[name].setText(words)
            self.presets[name].setToolTip(meaning)
        off = self.tr("off")
        self._say(
            "temperature",
            self.tr("Temperature"),
            self.tr("0 to 2. How far unlikely tokens get a chance; 0 always takes the likeliest."),
        )
        self._say(
            "top_p",
            self.tr("Top-p"),
            self.tr(
                "0.05 to 1. Only the likeliest tokens that together have this share are drawn from."
            ),
        )
        self._say(
            "top_k",
            self.tr("Top-k"),
            self.tr(
                "0 to {0}. Only so many of the likeliest tokens are drawn from; 0 is off."
            ).format(f"{self._high('top_k'):,}"),
            off,
        )
        self._say(
            "max_tokens",
            self.tr("Longest reply"),
            self.tr("1 to {0} tokens. A reply that is cut off can be continued.").format(
                f"{self._high('max_tokens'):,}"
            ),
        )
        self._say(
            "repetition_penalty",
            self.tr("Repetition penalty"),
            self.tr("0.5 to 2. Above 1, tokens that occurred become less likely; 1 is none."),
        )
        self._say(
            "no_repeat_ngram_size",
            self.tr("No repeats of"),
            self.tr(
                "0 to 16 tokens. No sequence of this length occurs twice in a reply; 0 is off."
            ),
            off,
        )
        self._say(
            "history_turns",
            self.tr("History"),
            self.tr("0 to 10 exchanges before your message that the model is given."),
            self.tr("none"),
        )
        self.seed_name.setText(self.tr("Seed"))
        meaning = self.tr(
            "0 to 9,223,372,036,854,775,807. The same seed gives the same reply; "
            "empty draws another one each time."
        )
        self.seed.setToolTip(meaning)
        self.seed_name.setToolTip(meaning)
        self.seed.setAccessibleName(self.tr("Seed"))
        self.seed.setPlaceholderText(self.tr("random"))
        self.seed_error.setText(self.tr("The seed is a whole number from 0, or empty."))
        self.reset_button.setText(self.tr("Reset"))
        self.reset_button.setToolTip(self.tr("All of these as the model has them"))
        self.context_title.setText(self.tr("Context"))
        self.context.setToolTip(
            self.tr("What the model was given and its last reply; the oldest messages drop out.")
        )
        self.show_context(self._used)

    def _high(self, name: str) -> int:
        return int(self.dials[name].limits.high)

    def _say(self, name: str, words: str, meaning: str, off: str = "") -> None:
        self.dials[name].show_words(words, meaning, off)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    @Slot()
    def _changed(self) -> None:
        text = self.seed.text().strip()
        valid = not text or (text.isascii() and text.isdigit() and int(text) < 2**63)
        self.seed_error.setVisible(not valid)
        values = {n: d.value for n, d in self.dials.items() if n != "history_turns"}
        seed = (int(text) if text else None) if valid else self._settings.sampling.seed
        sampling = replace(self._settings.sampling, **values, seed=seed)  # type: ignore[arg-type]
        turns = int(self.dials["history_turns"].value)
        self._set(ChatSettings(sampling, turns, self.who.text, self.who.model))

    def _set(self, settings: ChatSettings) -> None:
        changed = settings != self._settings
        self._settings = settings
        self._show_preset()
        if changed:
            self.changed.emit(settings)

    @Slot()
    def _choose_preset(self) -> None:
        self.flush()
        preset = PRESETS[self.sender().property("preset")]
        chosen = {k: v for k, v in vars(preset).items() if v is not None}
        self._apply(replace(self._settings, sampling=replace(self._settings.sampling, **chosen)))

    @Slot()
    def _reset(self) -> None:
        self.flush()
        turns = DEFAULT_SETTINGS.history_turns
        self._apply(replace(self._settings, sampling=self._defaults, history_turns=turns))

    def _apply(self, settings: ChatSettings) -> None:
        before = self._settings
        self.seed_error.hide()
        self.show_settings(settings)
        self._settings = before
        self._set(settings)

    def _show_preset(self) -> None:
        """Check the preset whose values these are, if any."""
        for name, button in self.presets.items():
            button.setChecked(self._matches(PRESETS[name]))

    def _matches(self, preset: Sampling) -> bool:
        mine = vars(self._settings.sampling)
        return all(mine[key] == value for key, value in vars(preset).items() if value is not None)
