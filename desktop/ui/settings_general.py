"""Settings: appearance, chat, tray and notifications. Each is in force as soon as it is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider

from desktop.store.records import DEFAULT_SETTINGS, ChatSettings
from desktop.ui import theme
from desktop.ui.coloring import Coloring
from desktop.ui.sampling_panel import PRESETS
from desktop.ui.server_fields import Field, Flag, Options
from desktop.ui.settings_section import Section

if TYPE_CHECKING:
    from desktop.ui.application import Application

# The window is laid out anew with each size; not for every step that a slider passes.
_SETTLE_MS = 250


class _Slider(QSlider):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the page scrolls


class FontSize(Field):
    """A slider in percent. A line shows the size while the slider is held; the window follows when
    it is let go, so that it does not move away under the mouse."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.slider = _Slider(Qt.Orientation.Horizontal, self)
        self.slider.setRange(theme.SCALES[0], theme.SCALES[-1])
        self.slider.setSingleStep(theme.SCALES.step)
        self.slider.setPageStep(2 * theme.SCALES.step)
        self.percent = QLabel(self)
        self.percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        theme.fit(self.percent, min_width=52)
        self.normal = QPushButton(self)
        self.sample = QLabel(self)
        self.sample.setObjectName("sample")
        self.sample.setIndent(0)  # its own style sheet makes Qt add half a letter
        self._place(self.slider, self.percent, self.normal)
        self._right.insertWidget(1, self.sample)
        self._settle = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settle.timeout.connect(self._tell)
        self.slider.valueChanged.connect(self._moved)
        self.slider.sliderReleased.connect(self._tell)
        self.normal.clicked.connect(lambda: self.slider.setValue(100))

    def value(self) -> int:
        return round(self.slider.value() / theme.SCALES.step) * theme.SCALES.step

    def show_value(self, value: Any) -> None:
        self.slider.blockSignals(True)
        self.slider.setValue(value)
        self.slider.blockSignals(False)
        self._show()

    def _show(self) -> None:
        self.percent.setText(f"{self.value()} %")
        size = round(theme.tokens()["font"]["size"]["body"] * self.value() / 100)
        self.sample.setStyleSheet(f"font-size: {size}px")
        self.normal.setEnabled(self.value() != 100)

    @Slot()
    def _moved(self) -> None:
        self._show()
        if not self.slider.isSliderDown():
            self._settle.start()

    @Slot()
    def _tell(self) -> None:
        self._settle.stop()
        self.show_value(self.value())
        self.edited.emit(self.name, self.value())


class AppearanceSection(Section):
    name = "appearance"

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self.theme = Options("theme", ("system", "light", "dark"))
        self.language = Options("language", ("system", "zh", "en"))
        self.font_size = FontSize("font_size")
        self.card(self.theme, self.language, self.font_size)
        self._box.addStretch(1)
        rail = app.window.rail
        self.theme.edited.connect(lambda _, value: rail.theme_actions[value].trigger())
        self.language.edited.connect(lambda _, value: rail.language_actions[value].trigger())
        self.font_size.edited.connect(lambda _, value: app.set_font_size(value))
        app.preferences.changed.connect(self.refresh)
        rail.theme_chosen.connect(self.refresh)
        rail.language_chosen.connect(self.refresh)
        self.retranslate()

    def title(self) -> str:
        return self.tr("Appearance")

    @Slot()
    def refresh(self) -> None:
        self.theme.show_value(self.app.theme.choice)
        self.language.show_value(self.app.language.choice)
        self.font_size.show_value(self.app.preferences.font_size)

    def retranslate(self) -> None:
        system = self.tr("Follow the system")
        self.theme.show_words(
            self.tr("Theme"),
            self.tr("Light or dark; the system's choice is followed as it changes."),
            (system, self.tr("Light"), self.tr("Dark")),
        )
        self.language.show_words(
            self.tr("Language"),
            self.tr("Of the window; what the models understand does not depend on it."),
            (system, "中文", "English"),
        )
        self.font_size.show_words(
            self.tr("Font size"), self.tr("80 to 200 %. Ctrl++ and Ctrl+- change it anywhere.")
        )
        self.font_size.normal.setText(self.tr("Normal"))
        self.font_size.normal.setToolTip(self.tr("Back to 100 %"))
        self.font_size.sample.setText(self.tr("Text will be this large."))


class ChatSection(Section):
    name = "chat"

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self.send_key = Options("send_key", ("enter", "ctrl"))
        self.coloring = Options("coloring", [str(each) for each in Coloring])
        self._title = self.card(self.send_key, self.coloring, titled=True)
        self.new_chat = Options("new_chat", ("last", *PRESETS, "own"))
        self.take_button = QPushButton(self)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.take_button)
        self._new_title = self.card(self.new_chat, row, titled=True)
        self._box.addStretch(1)
        self.send_key.edited.connect(
            lambda _, value: app.preferences.set_send_with_ctrl(value == "ctrl")
        )
        self.coloring.edited.connect(lambda _, value: app.window.chat.set_coloring(Coloring(value)))
        self.new_chat.edited.connect(self._new_chat_chosen)
        self.take_button.clicked.connect(self._take_over)
        app.preferences.changed.connect(self.refresh)
        self.retranslate()

    def title(self) -> str:
        return self.tr("Chat")

    @Slot()
    def refresh(self) -> None:
        preferences = self.app.preferences
        self.send_key.show_value("ctrl" if preferences.send_with_ctrl else "enter")
        self.coloring.show_value(str(self.app.window.chat.view.delegate.coloring))
        own = preferences.new_chat
        self.new_chat.show_value("last" if own is None else _preset_of(own))

    def _new_chat_chosen(self, name: str, value: str) -> None:
        if value == "last":
            self.app.preferences.set_new_chat(None)
        elif value in PRESETS:
            chosen = {k: v for k, v in vars(PRESETS[value]).items() if v is not None}
            sampling = replace(DEFAULT_SETTINGS.sampling, **chosen)
            self.app.preferences.set_new_chat(ChatSettings(sampling))
        else:
            self._take_over()

    @Slot()
    def _take_over(self) -> None:
        """Begin all conversations as the one on screen is set now, but for whom it is with."""
        shown = self.app.window.chat.conversation.settings
        self.app.preferences.set_new_chat(replace(shown, persona="", model=""))
        self.refresh()

    def retranslate(self) -> None:
        self._title.setText(self.tr("Messages"))
        self.send_key.show_words(
            self.tr("Send with"),
            self.tr("While an input method composes, Enter never sends."),
            (
                self.tr("Enter; Shift+Enter breaks the line"),
                self.tr("Ctrl+Enter; Enter breaks the line"),
            ),
        )
        self.coloring.show_words(
            self.tr("Colours"),
            self.tr("What the tokens of replies are tinted by."),
            (self.tr("Probability"), self.tr("Perplexity"), self.tr("No colours")),
        )
        self._new_title.setText(self.tr("New conversations"))
        self.new_chat.show_words(
            self.tr("Begin with"),
            self.tr("Each conversation keeps its own values once it has begun."),
            (
                self.tr("The sampling of the conversation before"),
                self.tr("Steady"),
                self.tr("Natural"),
                self.tr("Lively"),
                self.tr("Sampling of your own"),
            ),
        )
        self.take_button.setText(self.tr("Take over from the conversation on screen"))
        self.take_button.setToolTip(
            self.tr("All values of its sampling panel, for every conversation begun from now on")
        )


def _preset_of(chat: ChatSettings) -> str:
    """The preset whose values these are, with everything else at its default; else ``own``."""
    for name, preset in PRESETS.items():
        chosen = {k: v for k, v in vars(preset).items() if v is not None}
        if chat == ChatSettings(replace(DEFAULT_SETTINGS.sampling, **chosen)):
            return name
    return "own"


class TraySection(Section):
    name = "tray"

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self.closing = Flag("close_to_tray")
        self.notify = Flag("notify")
        self._title = self.card(self.closing, titled=True)
        self._notify_title = self.card(self.notify, titled=True)
        self._box.addStretch(1)
        self.closing.edited.connect(lambda _, value: app.tray.set_close_to_tray(value))
        self.notify.edited.connect(lambda _, value: app.preferences.set_notify(value))
        app.preferences.changed.connect(self.refresh)
        self.retranslate()

    def title(self) -> str:
        return self.tr("Tray and notifications")

    @Slot()
    def refresh(self) -> None:
        self.closing.show_value(self.app.tray.close_to_tray)
        self.notify.show_value(self.app.preferences.notify)
        tray = self.app.tray.available()
        self.closing.setEnabled(tray)
        self.closing.meaning.setText(
            self.tr("The icon's menu brings the window back, or quits.")
            if tray
            else self.tr("This desktop shows no tray, so closing the window quits.")
        )

    def retranslate(self) -> None:
        self._title.setText(self.tr("Tray"))
        self._notify_title.setText(self.tr("Notifications"))
        self.closing.show_words(
            self.tr("Closing"),
            "",
            (self.tr("Keep running in the tray when the window is closed"),),
        )
        self.notify.show_words(
            self.tr("When done"),
            self.tr("Only while the window is not in use."),
            (self.tr("Tell me when a long reply or a file of addresses has ended"),),
        )
        self.refresh()
