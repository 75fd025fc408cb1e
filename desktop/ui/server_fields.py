"""The fields of the server's settings: a name, an input, what it means, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import theme
from desktop.ui.controls import label

_NAMES_WIDTH = 128
_LINE = 30
_MOST_INSTANCES = 16
# Font size from which names stand above.
_ABOVE_FROM = 1.5


class Field(QWidget):
    """``edited``: the setting's name and its new, valid value. ``name`` is as in
    :mod:`desktop.settings`, such as ``docker.memory``."""

    edited = Signal(str, object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.title = QLabel(self)
        theme.fit(self.title, min_width=_NAMES_WIDTH, min_height=_LINE)
        self.meaning = label(self, "small", wrap=True)
        self.variable = label(self, "caption", wrap=True)
        self.wrong = label(self, "error", wrap=True)
        self.wrong.hide()
        self.variable.hide()
        self._variable = ""
        self._right = QVBoxLayout()
        self._right.setSpacing(4)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(self.title, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addLayout(self._right, 1)
        self._arrange()

    def _arrange(self) -> None:
        """The name beside the input, or above it where letters are so large that there is no room
        for both."""
        above = theme.scale() >= _ABOVE_FROM
        way = QBoxLayout.Direction
        self._row.setDirection(way.TopToBottom if above else way.LeftToRight)
        self._row.setSpacing(2 if above else 16)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._arrange()

    def _place(self, *widgets: QWidget) -> None:
        line = QHBoxLayout()
        line.setSpacing(8)
        for number, widget in enumerate(widgets):
            line.addWidget(widget, 0 if number else 1)
        self._right.addLayout(line)
        for below in (self.wrong, self.meaning, self.variable):
            self._right.addWidget(below)
        self.title.setBuddy(widgets[0])
        self.setFocusProxy(widgets[0])
        self.inputs = widgets

    def value(self) -> Any:
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Without :attr:`edited`."""
        raise NotImplementedError

    def show_words(self, title: str, meaning: str, more: Sequence[str] = ()) -> None:
        """``more``: the words within the input."""
        self.title.setText(title)
        self.meaning.setText(meaning)
        self.inputs[0].setAccessibleName(title)
        self.inputs[0].setAccessibleDescription(meaning)
        self.inputs[0].setToolTip(meaning)
        self.show_variable(self._variable)

    def show_variable(self, variable: str) -> None:
        """The variable of the environment that decides, if any; nothing can be changed then."""
        self._variable = variable
        words = self.tr("Set by the variable {0}; it cannot be changed here.").format(variable)
        self.variable.setText(words)
        self.variable.setVisible(bool(variable))
        for each in self.inputs:
            each.setEnabled(not variable)

    def _complain(self, words: str) -> None:
        self.wrong.setText(words)
        self.wrong.setVisible(bool(words))
        self.inputs[0].setProperty("wrong", bool(words))


class Options(Field):
    """One of several values."""

    def __init__(self, name: str, values: Sequence[str]) -> None:
        super().__init__(name)
        self.input = QComboBox(self)
        for value in values:
            self.input.addItem(value, value)
        self.input.installEventFilter(self)
        self._place(self.input)
        self.input.activated.connect(self._chosen)

    def value(self) -> str:
        return str(self.input.currentData())

    def show_value(self, value: Any) -> None:
        self.input.setCurrentIndex(self.input.findData(value))

    def show_words(self, title: str, meaning: str, more: Sequence[str] = ()) -> None:
        super().show_words(title, meaning, more)
        for number, words in enumerate(more):
            self.input.setItemText(number, words)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return _scrolls_the_page(watched, event)

    @Slot(int)
    def _chosen(self, number: int) -> None:
        self.edited.emit(self.name, self.value())


class Flag(Field):
    """Yes or no."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.input = QCheckBox(self)
        self.input.setMinimumHeight(_LINE)
        self._place(self.input)
        self.input.clicked.connect(self._clicked)

    def value(self) -> bool:
        return self.input.isChecked()

    def show_value(self, value: Any) -> None:
        self.input.setChecked(value)

    def show_words(self, title: str, meaning: str, more: Sequence[str] = ()) -> None:
        super().show_words(title, meaning, more)
        self.input.setText(more[0])
        self.input.setAccessibleName(more[0])

    @Slot()
    def _clicked(self) -> None:
        self.edited.emit(self.name, self.value())


class Text(Field):
    """A line. ``check`` says what is wrong with it; ``browse`` opens a dialog for it. A tuple of
    numbers is written with commas."""

    def __init__(
        self,
        name: str,
        check: Callable[[str], str],
        browse: Callable[[str, Callable[[str], None]], None] | None = None,
    ) -> None:
        super().__init__(name)
        self._check = check
        self._browse = browse
        self._shown: Any = ""
        self.input = QLineEdit(self)
        self.input.setObjectName("setting")
        self.button = QPushButton(self)
        self.button.setVisible(browse is not None)
        self._place(self.input, self.button)
        self.input.editingFinished.connect(self._finished)
        self.button.clicked.connect(self._pressed)

    def value(self) -> Any:
        text = self.input.text().strip()
        if isinstance(self._shown, tuple):
            return tuple(int(number) for number in re.findall(r"\d+", text))
        return text

    def show_value(self, value: Any) -> None:
        self._shown = value
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        if not self.wrong.isVisibleTo(self):  # what is wrong stays, to be mended
            self.input.setText(text)

    def show_words(self, title: str, meaning: str, more: Sequence[str] = ()) -> None:
        super().show_words(title, meaning, more)
        self.input.setPlaceholderText(more[0])
        if len(more) > 1:
            self.button.setText(more[1])
        if self.wrong.isVisibleTo(self):
            self._complain(self._check(self.input.text().strip()))

    def finish(self) -> None:
        """Take what was typed, as if the field had been left."""
        self._finished()

    @Slot()
    def _finished(self) -> None:
        wrong = self._check(self.input.text().strip())
        self._complain(wrong)
        if not wrong and self.value() != self._shown:
            self._shown = self.value()
            self.edited.emit(self.name, self._shown)

    @Slot()
    def _pressed(self) -> None:
        def chosen(text: str) -> None:
            self.input.setText(text)
            self._finished()

        if self._browse is not None:
            self._browse(self.input.text(), chosen)


class Secret(Text):
    """A line that is hidden until somebody asks to see it."""

    def __init__(self, name: str, check: Callable[[str], str]) -> None:
        super().__init__(name, check)
        self._words: Sequence[str] = ("", "", "")
        self.input.setEchoMode(QLineEdit.EchoMode.Password)
        self.button.setVisible(True)
        self.button.setCheckable(True)

    def show_words(self, title: str, meaning: str, more: Sequence[str] = ()) -> None:
        super().show_words(title, meaning, more)
        self._words = more
        self._say()

    def show_variable(self, variable: str) -> None:
        super().show_variable(variable)
        if variable:  # nobody has asked to see what came from elsewhere
            self.button.setChecked(False)
            self._pressed()

    def _say(self) -> None:
        self.button.setText(self._words[2 if self.button.isChecked() else 1])

    @Slot()
    def _pressed(self) -> None:
        echo = QLineEdit.EchoMode
        self.input.setEchoMode(echo.Normal if self.button.isChecked() else echo.Password)
        self._say()


class Numbers(Field):
    """A number for each of several names; those at 1, the default, are left out."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        super().__init__(name)
        self._others: dict[str, int] = {}
        grid = QWidget(self)
        lines = QGridLayout(grid)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setHorizontalSpacing(12)
        lines.setVerticalSpacing(6)
        lines.setColumnMinimumWidth(0, 200)
        lines.setColumnStretch(2, 1)
        self.spins: dict[str, QSpinBox] = {}
        for number, each in enumerate(names):
            spin = QSpinBox(grid)
            spin.setRange(1, _MOST_INSTANCES)
            spin.setKeyboardTracking(False)
            spin.setAlignment(Qt.AlignmentFlag.AlignRight)
            theme.fit(spin, width=84)
            spin.setAccessibleName(each)
            spin.installEventFilter(self)
            spin.valueChanged.connect(self._changed)
            named = label(grid, "small")
            named.setText(each)
            named.setBuddy(spin)
            lines.addWidget(named, number, 0)
            lines.addWidget(spin, number, 1)
            self.spins[each] = spin
        self._place(grid)
        self.setFocusProxy(next(iter(self.spins.values())))

    def value(self) -> dict[str, int]:
        chosen = {name: spin.value() for name, spin in self.spins.items() if spin.value() != 1}
        return self._others | chosen

    def show_value(self, value: Any) -> None:
        # Models of somebody's own repository are not shown, and stay.
        self._others = {name: n for name, n in value.items() if name not in self.spins}
        for name, spin in self.spins.items():
            spin.blockSignals(True)
            spin.setValue(value.get(name, 1))
            spin.blockSignals(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return _scrolls_the_page(watched, event)

    @Slot()
    def _changed(self) -> None:
        self.edited.emit(self.name, self.value())


def _scrolls_the_page(watched: QObject, event: QEvent) -> bool:
    """Whether a turn of the wheel over an input without focus is kept from changing it."""
    over = event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget)
    if over and not watched.hasFocus():  # type: ignore[attr-defined]
        event.ignore()
        return True
    return False
