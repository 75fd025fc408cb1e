"""Typing a message: Enter, Shift+Enter, input methods, growth."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.ui.conftest import Fake
from tests.ui.keyboard import commit, compose, enter, type_text


def test_enter_sends_and_shift_enter_breaks(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    chat = fake().window.chat
    edit = chat.composer.edit
    type_text(edit, "one")
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    type_text(edit, "两")
    assert chat.composer.text() == "one\n两"
    assert chat.conversation.transcript.rowCount() == 0
    enter(edit)
    assert chat.composer.text() == ""
    assert chat.conversation.transcript.message(0).text == "one\n两"
    qtbot.waitUntil(lambda: not chat.conversation.busy)


def test_enter_does_not_send_while_an_input_method_composes(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    chat = fake().window.chat
    edit = chat.composer.edit
    type_text(edit, "a")
    compose(edit, "ni hao")
    enter(edit)
    chat.composer.send_button.click()
    assert chat.conversation.transcript.rowCount() == 0
    commit(edit, "你好")
    assert chat.composer.text() == "a你好"
    enter(edit)
    assert chat.conversation.transcript.message(0).text == "a你好"
    qtbot.waitUntil(lambda: not chat.conversation.busy)


def test_grows_with_its_text_up_to_eight_lines(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    edit = fake().window.chat.composer.edit
    heights = []
    for lines in (1, 2, 8, 30):
        edit.setPlainText("\n".join("字" * lines))
        qtbot.wait(10)
        heights.append(edit.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]


@pytest.mark.parametrize("text", ["", "   ", "\n\t "])
def test_nothing_to_send_is_said_and_kept(fake: Callable[..., Fake], text: str) -> None:
    chat = fake().window.chat
    chat.composer.edit.setPlainText(text)
    enter(chat.composer.edit)
    assert chat.error.isVisible()
    assert chat.error.text() == "Type a message first."
    assert chat.composer.text() == text
    assert chat.conversation.transcript.rowCount() == 0
    type_text(chat.composer.edit, "a")
    assert not chat.error.isVisible()
