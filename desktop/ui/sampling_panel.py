"""How replies are drawn: every sampling parameter with its meaning and range, presets, and how
much of the model's context is used."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from desktop.store.records import DEFAULT_SETTINGS, ChatSettings
from desktop.triton.types import Sampling
from desktop.ui.controls import label, scrolled

_WIDTH = 264
#: Longest sequence of prompt and reply that the shipped model reads, in tokens.
CONTEXT_TOKENS = 512


@dataclass(frozen=True)
class Range:
    """A parameter's bounds; ``decimals`` 0 is a whole number, ``top`` the slider's end where the
    number may go further."""

    name: str
    low: float
    high: float
    step: float
    decimals: int = 0
    top: float | None = None


RANGES = (
    Range("temperature", 0.0, 2.0, 0.05, 2),
    Range("top_p", 0.05, 1.0, 0.05, 2),
    Range("top_k", 0, 13088, 1, top=100),
    Range("max_tokens", 1, 500, 1),
    Range("repetition_penalty", 0.5, 2.0, 0.05, 2),
    Range("no_repeat_ngram_size", 0, 16, 1),
    Range("history_turns", 0, 10, 1),
)

#: What a preset sets; the rest (length, seed, history) stays as the person has it.
PRESETS: dict[str, Sampling] = {
    "steady": Sampling(temperature=0.4, top_p=0.7, top_k=0, repetition_penalty=1.0),
    "natural": Sampling(temperature=0.7, top_p=0.9, top_k=0, repetition_penalty=1.0),
    "lively": Sampling(temperature=1.0, top_p=0.95, top_k=0, repetition_penalty=1.1),
}


class Dial(QWidget):
    """A parameter: its name, its number, and a slider for it."""

    changed = Signal()

    def __init__(self, limits: Range, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.limits = limits
        self.name = QLabel(self)
        self.number: QSpinBox | QDoubleSpinBox
        if limits.decimals:
            self.number = QDoubleSpinBox(self)
            self.number.setDecimals(limits.decimals)
        else:
            self.number = QSpinBox(self)
        self.number.setRange(limits.low, limits.high)  # type: ignore[arg-type]
        self.number.setSingleStep(limits.step)  # type: ignore[arg-type]
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.number.setKeyboardTracking(False)
        self.number.setFixedWidth(84)
        self.name.setBuddy(self.number)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(
            round(limits.low / limits.step), self._ticks(limits.top or limits.high)
        )
        row = QHBoxLayout()
        row.addWidget(self.name, 1)
        row.addWidget(self.number)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self.slider)
        self.number.valueChanged.connect(self._number_changed)
        self.slider.valueChanged.connect(self._slider_changed)

    @property
    def value(self) -> float | int:
        value = self.number.value()
        return round(value, self.limits.decimals) if self.limits.decimals else int(value)

    def show_value(self, value: float) -> None:
        """Without :attr:`changed`."""
        for widget in (self.number, self.slider):
            widget.blockSignals(True)
        self.number.setValue(value)  # type: ignore[arg-type]
        self.slider.setValue(self._ticks(value))
        for widget in (self.number, self.slider):
            widget.blockSignals(False)

    def show_words(self, name: str, meaning: str, off: str = "") -> None:
        """``off``: what is shown in place of the lowest number."""
        self.name.setText(name)
        self.number.setSpecialValueText(off)
        for widget in (self, self.name, self.number, self.slider):
            widget.setToolTip(meaning)
        for widget in (self.number, self.slider):
            widget.setAccessibleName(name)
            widget.setAccessibleDescription(meaning)

    def _ticks(self, value: float) -> int:
        return round(value / self.limits.step)

    @Slot()
    def _number_changed(self) -> None:
        self.slider.blockSignals(True)
        self.slider.setValue(self._ticks(self.number.value()))
        self.slider.blockSignals(False)
        self.changed.emit()

    @Slot(int)
    def _slider_changed(self, ticks: int) -> None:
        self.number.setValue(ticks * self.limits.step)  # type: ignore[arg-type]


class SamplingPanel(QFrame):
    """Shows and changes a :class:`ChatSettings`."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panelRight")
        self.setFixedWidth(_WIDTH)
        content = QWidget(self)
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
        self.context_title = label(content, "cardTitle")
        self.context = QProgressBar(content)
        self.context.setRange(0, CONTEXT_TOKENS)
        self.context.setTextVisible(False)
        self.context.setFixedHeight(8)
        self.context_words = label(content, "small")

        column = QVBoxLayout(content)
        column.setContentsMargins(16, 16, 15, 16)
        column.setSpacing(12)
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
        column.addSpacing(8)
        column.addWidget(self.context_title)
        column.addWidget(self.context)
        column.addWidget(self.context_words)
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scrolled(self, content))
        self._settings = DEFAULT_SETTINGS
        self._used = 0
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
            default = getattr(DEFAULT_SETTINGS.sampling, name)
            dial.show_value(default if value is None else value)
        seed = settings.sampling.seed
        self.seed.setText("" if seed is None else str(seed))
        self._show_preset()

    def show_context(self, tokens: int) -> None:
        """How many tokens the last reply and what it was given took."""
        self._used = tokens
        self.context.setValue(min(tokens, CONTEXT_TOKENS))
        words = self.tr("{0} of {1} tokens").format(tokens, CONTEXT_TOKENS)
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
            self.tr("0 to 13,088. Only so many of the likeliest tokens are drawn from; 0 is off."),
            off,
        )
        self._say(
            "max_tokens",
            self.tr("Longest reply"),
            self.tr("1 to 500 tokens. A reply that is cut off can be continued."),
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
        self._set(ChatSettings(sampling, int(self.dials["history_turns"].value)))

    def _set(self, settings: ChatSettings) -> None:
        changed = settings != self._settings
        self._settings = settings
        self._show_preset()
        if changed:
            self.changed.emit(settings)

    @Slot()
    def _choose_preset(self) -> None:
        preset = PRESETS[self.sender().property("preset")]
        chosen = {k: v for k, v in vars(preset).items() if v is not None}
        self._apply(replace(self._settings, sampling=replace(self._settings.sampling, **chosen)))

    @Slot()
    def _reset(self) -> None:
        self._apply(DEFAULT_SETTINGS)

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
