"""What a person prefers, from one start to the next: kept beside the window's place."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import QObject, QSettings, Signal

from desktop import updates
from desktop.store.convert import read_settings, write_settings
from desktop.store.records import ChatSettings
from desktop.ui import theme
from desktop.updates import Release

#: What a backup takes along, and what a restored one may set. ``welcomed`` and the window's place
#: belong to the machine.
BACKED_UP = (
    "theme",
    "language",
    "font_size",
    "coloring",
    "send_with_ctrl",
    "new_chat",
    "close_to_tray",
    "notify",
    "updates",
    "updates_url",
)


class Preferences(QObject):
    """Whatever is unreadable is as if it had never been set. ``changed``: the name of one that has
    another value now."""

    changed = Signal(str)

    def __init__(self, settings: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    def _text(self, name: str, default: str = "") -> str:
        value = self._settings.value(name)
        return default if value is None else str(value)

    def _set(self, name: str, value: Any) -> None:
        if self._text(name, "\0") != str(value):
            self._settings.setValue(name, value)
            self.changed.emit(name)

    def _remove(self, name: str) -> None:
        if self._settings.contains(name):
            self._settings.remove(name)
            self.changed.emit(name)

    # Looks.

    @property
    def font_size(self) -> int:
        """In percent."""
        text = self._text("font_size", "100")
        percent = int(text) if text.isdigit() else 100
        return max(theme.SCALES[0], min(theme.SCALES[-1], percent))

    def set_font_size(self, percent: int) -> None:
        self._set("font_size", percent)

    # Chat.

    @property
    def send_with_ctrl(self) -> bool:
        """Ctrl+Enter sends and Enter breaks the line, rather than the other way round."""
        return self._text("send_with_ctrl") == "1"

    def set_send_with_ctrl(self, wanted: bool) -> None:
        self._set("send_with_ctrl", int(wanted))

    @property
    def new_chat(self) -> ChatSettings | None:
        """What new conversations begin with; None: with what the one before them had."""
        return read_settings(self._text("new_chat"))

    def set_new_chat(self, chat: ChatSettings | None) -> None:
        if chat is None:
            self._remove("new_chat")
        else:
            self._set("new_chat", write_settings(chat))

    # Telling.

    @property
    def notify(self) -> bool:
        """Tell of long replies and files that have ended while the window is not in use."""
        return self._text("notify", "1") != "0"

    def set_notify(self, wanted: bool) -> None:
        self._set("notify", int(wanted))

    # Updates.

    @property
    def updates(self) -> bool:
        return self._text("updates") == "1"

    def set_updates(self, wanted: bool) -> None:
        self._set("updates", int(wanted))

    @property
    def updates_url(self) -> str:
        return self._text("updates_url") or updates.default_url()

    def set_updates_url(self, url: str) -> None:
        self._set("updates_url", url)

    @property
    def updates_asked(self) -> float:
        """When the last check began, in seconds since 1970; 0 where there was none."""
        try:
            return float(self._text("updates_asked", "0"))
        except ValueError:
            return 0.0

    def set_updates_asked(self, when: float) -> None:
        self._set("updates_asked", when)

    @property
    def update(self) -> Release | None:
        """The newer release that the last check found."""
        try:
            version, page = json.loads(self._text("update", "null"))
        except (ValueError, TypeError):
            return None
        return Release(str(version), "" if updates.check_url(str(page)) else str(page))

    def set_update(self, release: Release | None) -> None:
        if release is None:
            self._remove("update")
        else:
            self._set("update", json.dumps([release.version, release.page]))

    # Backups.

    def backed_up(self) -> dict[str, str]:
        """Those that are set, as they are kept."""
        self._settings.sync()
        return {name: self._text(name) for name in BACKED_UP if self._settings.contains(name)}

    def put_back(self, values: dict[str, str]) -> None:
        """Take over what a backup holds; what it does not hold is as if never set."""
        for name in BACKED_UP:
            if name in values:
                self._set(name, values[name])
            else:
                self._remove(name)
