"""A screen reader reaches every message, and the keys do."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.ui.message_view import MessageView
from desktop.ui.transcript import Message, Role
from tests.ui.conftest import Fake
from tests.ui.test_conversation import texts
from tests.ui.test_message_actions import begin, trigger
from tests.ui.test_message_view import reply

NAME, DESCRIPTION = QAccessible.Text.Name, QAccessible.Text.Description


def described(view: MessageView) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(view)
    assert found is not None
    return found


def names(view: MessageView) -> list[str]:
    one = described(view)
    return [one.child(n).text(NAME) for n in range(one.childCount())]


def test_each_message_is_an_item_that_says_who_and_what(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    view = one.window.chat.view
    whole = described(view)
    assert whole.role() == QAccessible.Role.List
    assert names(view) == ["You: 甲", "Tritalk: 一甲", "You: 乙", "Tritalk: 二乙"]
    item = whole.child(3)
    assert item.role() == QAccessible.Role.ListItem
    assert "mean probability 0.40" in item.text(DESCRIPTION)
    assert whole.indexOfChild(item) == 3
    place = item.rect().center()
    assert whole.childAt(place.x(), place.y()).text(NAME) == "Tritalk: 二乙"
    assert whole.child(4) is None


def test_items_of_messages_that_are_gone_are_no_more(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    view = one.window.chat.view
    assert len(names(view)) == 4
    trigger(one, "Delete from here", 2)
    assert names(view) == ["You: 甲", "Tritalk: 一甲"]
    QTest.keyClick(one.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(texts(one)) == 4)
    assert names(view)[3] == "Tritalk: 二乙"
    for _ in range(20):  # made and forgotten many times
        one.window.chat.conversation.transcript.append(Message(Role.USER, "丙"), reply("丁"))
        assert names(view)[-2:] == ["You: 丙", "Tritalk: 丁"]
        one.window.chat.conversation.transcript.remove_from(4)


def test_keys_go_from_message_to_message(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    view = one.window.chat.view
    qtbot.waitUntil(one.window.isActiveWindow)
    view.setFocus()
    control = Qt.KeyboardModifier.ControlModifier
    assert view.focused_row() is None
    for rows in (3, 2, 1, 0, 0):
        QTest.keyClick(view, Qt.Key.Key_Up, control)
        assert view.focused_row() == rows
    assert described(view).focusChild().text(NAME) == "You: 甲"
    assert bool(described(view).child(0).state().focused)
    QTest.keyClick(view, Qt.Key.Key_Down, control)
    QTest.keyClick(view, Qt.Key.Key_C, control)
    assert QGuiApplication.clipboard().text() == "一甲"
    QTest.keyClick(view, Qt.Key.Key_Right)  # into its tokens
    assert view.focus_token == (1, 0)
    QTest.keyClick(view, Qt.Key.Key_Escape)
    # What keys do is done to the message one is at, here the first reply.
    QTest.keyClick(view, Qt.Key.Key_R, control)
    qtbot.waitUntil(lambda: not one.window.chat.conversation.busy)
    assert texts(one) == ["甲", "三甲"]
    QTest.keyClick(view, Qt.Key.Key_Down, control)
    assert view.focused_row() == 1
    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert texts(one) == ["甲", "一甲", "乙", "二乙"]  # the other version is shown again


def test_a_view_can_go_while_its_items_are_known(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "甲")
    assert len(names(one.window.chat.view)) == 2
    one.app.close()
    one.window.deleteLater()
    QApplication.processEvents()
