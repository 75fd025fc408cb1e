"""Everything that a person can do in the window: its group, keys and name, in one table.

Pages say what carries a command out (:func:`bind`); the keys, the palette and the sheet of keys all
read the same table, so that they cannot disagree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

#: In the order of the sheet.
GROUPS = {
    "window": QT_TRANSLATE_NOOP("commands", "Window"),
    "conversation": QT_TRANSLATE_NOOP("commands", "Conversation"),
    "messages": QT_TRANSLATE_NOOP("commands", "Messages"),
    "addresses": QT_TRANSLATE_NOOP("commands", "Addresses"),
    "server": QT_TRANSLATE_NOOP("commands", "Server"),
    "appearance": QT_TRANSLATE_NOOP("commands", "Appearance"),
}


class Entry(NamedTuple):
    """``keys``: as :class:`QKeySequence` reads them, none, or several parted by a blank."""

    group: str
    keys: str
    name: object


CATALOGUE: dict[str, Entry] = {
    "palette": Entry(
        "window", "Ctrl+Shift+P Ctrl+K", QT_TRANSLATE_NOOP("commands", "Command palette")
    ),
    "sheet": Entry("window", "F1 Ctrl+/", QT_TRANSLATE_NOOP("commands", "Keyboard shortcuts")),
    "settings": Entry("window", "Ctrl+,", QT_TRANSLATE_NOOP("commands", "Settings")),
    "chat_page": Entry("window", "Ctrl+1", QT_TRANSLATE_NOOP("commands", "Go to the chat")),
    "address_page": Entry("window", "Ctrl+2", QT_TRANSLATE_NOOP("commands", "Go to the addresses")),
    "server_page": Entry("window", "Ctrl+3", QT_TRANSLATE_NOOP("commands", "Go to the server")),
    "welcome": Entry("window", "", QT_TRANSLATE_NOOP("commands", "Show the introduction")),
    "tray": Entry(
        "window", "", QT_TRANSLATE_NOOP("commands", "Keep running in the tray when closed: on, off")
    ),
    "close": Entry("window", "Ctrl+W", QT_TRANSLATE_NOOP("commands", "Close the window")),
    "quit": Entry("window", "Ctrl+Q", QT_TRANSLATE_NOOP("commands", "Quit")),
    "new": Entry("conversation", "Ctrl+N", QT_TRANSLATE_NOOP("commands", "New conversation")),
    "search": Entry(
        "conversation", "Ctrl+F", QT_TRANSLATE_NOOP("commands", "Search all conversations")
    ),
    "rename": Entry("conversation", "F2", QT_TRANSLATE_NOOP("commands", "Rename the conversation")),
    "export": Entry(
        "conversation", "Ctrl+Shift+E", QT_TRANSLATE_NOOP("commands", "Export the conversation")
    ),
    "import": Entry(
        "conversation", "Ctrl+Shift+I", QT_TRANSLATE_NOOP("commands", "Import a conversation")
    ),
    "list": Entry(
        "conversation", "Ctrl+B", QT_TRANSLATE_NOOP("commands", "Show or hide the conversations")
    ),
    "sampling": Entry(
        "conversation", "Ctrl+.", QT_TRANSLATE_NOOP("commands", "Show or hide the sampling panel")
    ),
    "escape": Entry(
        "messages", "Esc", QT_TRANSLATE_NOOP("commands", "Stop the reply, or leave what is open")
    ),
    "regenerate": Entry(
        "messages", "Ctrl+R", QT_TRANSLATE_NOOP("commands", "Regenerate the reply")
    ),
    "continue": Entry("messages", "Ctrl+G", QT_TRANSLATE_NOOP("commands", "Continue the reply")),
    "edit": Entry("messages", "Ctrl+E", QT_TRANSLATE_NOOP("commands", "Edit the last message")),
    "previous_version": Entry(
        "messages", "Alt+Left", QT_TRANSLATE_NOOP("commands", "Previous version")
    ),
    "next_version": Entry("messages", "Alt+Right", QT_TRANSLATE_NOOP("commands", "Next version")),
    "undo": Entry("messages", "Ctrl+Z", QT_TRANSLATE_NOOP("commands", "Undo deleting")),
    "next_unsure": Entry("messages", "F8", QT_TRANSLATE_NOOP("commands", "Next unsure passage")),
    "previous_unsure": Entry(
        "messages", "Shift+F8", QT_TRANSLATE_NOOP("commands", "Previous unsure passage")
    ),
    "parse_clipboard": Entry(
        "addresses", "Ctrl+Shift+A", QT_TRANSLATE_NOOP("commands", "Parse the clipboard")
    ),
    "open_file": Entry(
        "addresses", "Ctrl+O", QT_TRANSLATE_NOOP("commands", "Open a file of addresses")
    ),
    "search_results": Entry(
        "addresses", "Ctrl+F", QT_TRANSLATE_NOOP("commands", "Search the results")
    ),
    "start_server": Entry("server", "", QT_TRANSLATE_NOOP("commands", "Start the server")),
    "stop_server": Entry("server", "", QT_TRANSLATE_NOOP("commands", "Stop the server")),
    "search_log": Entry("server", "Ctrl+F", QT_TRANSLATE_NOOP("commands", "Search the log")),
    "larger": Entry("appearance", "Ctrl++ Ctrl+=", QT_TRANSLATE_NOOP("commands", "Larger text")),
    "smaller": Entry("appearance", "Ctrl+-", QT_TRANSLATE_NOOP("commands", "Smaller text")),
    "normal_size": Entry(
        "appearance", "Ctrl+0", QT_TRANSLATE_NOOP("commands", "Text at its normal size")
    ),
    "light": Entry("appearance", "", QT_TRANSLATE_NOOP("commands", "Light theme")),
    "dark": Entry("appearance", "", QT_TRANSLATE_NOOP("commands", "Dark theme")),
    "system_theme": Entry(
        "appearance", "", QT_TRANSLATE_NOOP("commands", "Follow the system's theme")
    ),
    "chinese": Entry("appearance", "", QT_TRANSLATE_NOOP("commands", "Language: Chinese")),
    "english": Entry("appearance", "", QT_TRANSLATE_NOOP("commands", "Language: English")),
    "system_language": Entry(
        "appearance", "", QT_TRANSLATE_NOOP("commands", "Language: follow the system")
    ),
}


class Command(QAction):
    """An entry of the catalogue, carried out by a widget.

    Its keys work while the widget is on screen. ``available``: asked when the palette or a menu
    opens; what cannot be done now is not offered there.
    """

    def __init__(
        self,
        owner: QWidget,
        name: str,
        run: Callable[[], object],
        available: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(owner)
        self.owner = owner
        self.entry = CATALOGUE[name]
        #: The name as it stands in the sources, in English.
        self.source = str(self.entry.name)
        self.setObjectName(name)
        self._run = run
        self._available = available
        self.setShortcuts([QKeySequence(each) for each in self.entry.keys.split()])
        self.triggered.connect(self._carry_out)
        self.retranslate()
        owner.addAction(self)

    def retranslate(self) -> None:
        self.setText(self.words())

    def available(self) -> bool:
        return self._available is None or self._available()

    @Slot()
    def _carry_out(self) -> None:
        self._run()

    def words(self) -> str:
        return QCoreApplication.translate("commands", self.source)

    def group_words(self) -> str:
        return QCoreApplication.translate("commands", str(GROUPS[self.entry.group]))

    def key_names(self) -> list[str]:
        """As they are written on the keys of this system, in every language."""
        form = QKeySequence.SequenceFormat
        if sys.platform == "darwin":
            return [each.toString(form.NativeText) for each in self.shortcuts()]
        names = [each.toString(form.PortableText) for each in self.shortcuts()]
        return [name.replace("Left", "←").replace("Right", "→") for name in names]


def bind(owner: QWidget, actions: Mapping[str, Callable[[], object]]) -> dict[str, Command]:
    """Commands of ``owner`` by their names in the catalogue."""
    return {name: Command(owner, name, run) for name, run in actions.items()}


def commands(window: QWidget) -> list[Command]:
    """Every command in the window, in the order of the catalogue."""
    found = [each for each in window.findChildren(QAction) if isinstance(each, Command)]
    order = {name: number for number, name in enumerate(CATALOGUE)}
    return sorted(found, key=lambda each: order[each.objectName()])
