"""A sampling parameter as a control: its name, its number, and a slider for it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import theme


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


class Dial(QWidget):
    changed = Signal()

    def __init__(self, limits: Range, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = QLabel(self)
        self.number: QSpinBox | QDoubleSpinBox
        if limits.decimals:
            self.number = QDoubleSpinBox(self)
            self.number.setDecimals(limits.decimals)
        else:
            self.number = QSpinBox(self)
        self.number.setSingleStep(limits.step)  # type: ignore[arg-type]
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.number.setKeyboardTracking(False)
        theme.fit(self.number, width=84)
        self.name.setBuddy(self.number)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.set_limits(limits)
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

    def set_limits(self, limits: Range) -> None:
        """A value beyond them becomes the nearest, without :attr:`changed`."""
        self.limits = limits
        end = min(limits.top or limits.high, limits.high)
        for widget in (self.number, self.slider):
            widget.blockSignals(True)
        self.number.setRange(limits.low, limits.high)  # type: ignore[arg-type]
        self.slider.setRange(self._ticks(limits.low), self._ticks(end))
        for widget in (self.number, self.slider):
            widget.blockSignals(False)

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
