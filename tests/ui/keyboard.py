"""A person at the keyboard: real key and input-method events."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget


def type_text(widget: QWidget, text: str) -> None:
    """ASCII by the keys, everything else as an input method commits it."""
    for character in text:
        if character.isascii():
            QTest.keyClicks(widget, character)
        else:
            commit(widget, character)


def compose(widget: QWidget, preedit: str) -> None:
    """What an input method shows before a candidate is chosen."""
    QCoreApplication.sendEvent(widget, QInputMethodEvent(preedit, []))


def commit(widget: QWidget, text: str) -> None:
    event = QInputMethodEvent("", [])
    event.setCommitString(text)
    QCoreApplication.sendEvent(widget, event)


def enter(widget: QWidget) -> None:
    QTest.keyClick(widget, Qt.Key.Key_Return)
