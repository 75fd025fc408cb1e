"""The virtual message list: geometry, selection, tokens under the mouse and the keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.store.records import DEFAULT_SETTINGS, ConversationInfo, new_id
from desktop.triton.types import Finished
from desktop.ui import theme
from desktop.ui.message_view import MessageView
from desktop.ui.transcript import Message, Role, Transcript
from tests.ui.conftest import Fake
from tests.ui.fakes import token


def reply(text: str, probability: float = 0.95) -> Message:
    message = Message(Role.REPLY, text)
    message.tokens = [token(c, probability) for c in text]
    message.finished = Finished("stop", text, len(text), 3, 0.05, 100.0)
    return message


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication) -> MessageView:
    theme.ThemeManager(qapp, "light").stop()
    view = MessageView()
    view.transcript_kept = Transcript()  # type: ignore[attr-defined]
    view.set_transcript(view.transcript_kept)  # type: ignore[attr-defined]
    view.resize(700, 500)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitExposed(view)
    return view


def test_only_what_is_in_sight_is_laid_out(view: MessageView) -> None:
    view.transcript().append(*(reply(f"第{i}条" + "字" * (i % 60)) for i in range(2000)))
    assert view.rows.measured() < 40
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum() > 50_000
    last = view.visualRect(view.transcript().index(1999))
    assert last.bottom() < view.viewport().height()


def test_stays_at_the_end_while_a_reply_grows_unless_scrolled_away(view: MessageView) -> None:
    transcript, bar = view.transcript(), view.verticalScrollBar()
    transcript.append(*(reply("字" * 30) for _ in range(50)), Message(Role.REPLY))
    for _ in range(10):
        transcript.extend_reply(50, [token("字", 0.5)] * 40)
        assert bar.value() == bar.maximum()
    bar.setValue(bar.maximum() - 400)
    place = bar.value()
    transcript.extend_reply(50, [token("字", 0.5)] * 400)
    assert bar.value() == place < bar.maximum() - 400


def test_what_is_in_sight_does_not_jump_when_rows_above_are_measured(view: MessageView) -> None:
    # Short English words make lines far shorter than the estimate for Chinese.
    view.transcript().append(*(reply("word " * (20 + i % 30)) for i in range(300)))
    bar = view.verticalScrollBar()
    for _ in range(60):
        row = view.indexAt(QPoint(100, view.viewport().height() // 2)).row()
        before, value = view.visualRect(view.transcript().index(row)).top(), bar.value()
        bar.setValue(value - 48)
        after = view.visualRect(view.transcript().index(row)).top()
        assert after == before + 48


def test_text_is_selected_across_messages_and_copied(view: MessageView) -> None:
    transcript = view.transcript()
    transcript.append(Message(Role.USER, "a😀b你好"), reply("再见😀吧"))
    first, second = view._layout(0), view._layout(1)
    top0 = view.visualRect(transcript.index(0)).topLeft()
    top1 = view.visualRect(transcript.index(1)).topLeft()
    start = (first.origin + QPoint(0, 12)).toPoint() + top0
    x = second.token_rect(3).left()
    end = QPoint(round(x), round(second.origin.y()) + 12) + top1
    viewport = view.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(viewport, end)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)
    assert view.selected_text() == "a😀b你好\n再见😀"
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "a😀b你好\n再见😀"
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert view.selected_text() == "a😀b你好\n再见😀吧"


def test_a_double_click_selects_a_word(view: MessageView) -> None:
    view.transcript().append(reply("say hello again"))
    place = view.token_rect(0, 6).center()
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.selected_text().strip() == "hello"


def test_the_context_menu_copies_the_whole_message(view: MessageView) -> None:
    view.transcript().append(Message(Role.USER, "问"), reply("答案"))
    point = view.visualRect(view.transcript().index(1)).center()
    menu = view.context_menu(point)
    copy, whole = menu.actions()[0], menu.actions()[1]
    assert not copy.isEnabled()
    whole.trigger()
    assert QGuiApplication.clipboard().text() == "答案"


def test_tokens_are_tinted_by_probability(view: MessageView) -> None:
    message = Message(Role.REPLY, "一二三四五六")
    shares = (0.95, 0.8, 0.6, 0.4, 0.25, 0.05)
    message.tokens = [token(c, p) for c, p in zip(message.text, shares, strict=True)]
    view.transcript().append(message)
    picture = view.viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    look = theme.current()
    for number, share in enumerate(shares):
        corner = view.token_rect(0, number).topLeft() + QPoint(3, 2)
        seen = picture.pixelColor(corner * ratio).name()
        assert seen == (look.tint(share) or look.color("window")).name()


def test_a_token_explains_itself_to_the_mouse_and_to_the_keys(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    chat = one.window.chat
    chat.conversation.transcript.append(Message(Role.USER, "问"), reply("泡脚", 0.1))
    view = chat.view
    qtbot.waitUntil(lambda: view.viewport().width() > 0)
    QTest.mouseMove(view.viewport(), view.token_rect(1, 0).center())
    qtbot.waitUntil(lambda: chat.popover is not None and chat.popover.token is not None)
    assert chat.popover is not None
    assert chat.popover.token == chat.conversation.transcript.message(1).tokens[0]
    assert "confidence 0.13 · probability 0.10" in chat.popover.words()
    assert "泡 10.0%" in chat.popover.words()
    for step in range(2, 6):  # a hand does not jump
        QTest.mouseMove(view.viewport(), QPoint(step, step))
    qtbot.waitUntil(lambda: chat.popover.token is None)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert chat.popover.token == chat.conversation.transcript.message(1).tokens[1]
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert chat.popover.token is None


def test_unsure_passages_are_stepped_through_by_a_key(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    chat = one.window.chat
    first, second = Message(Role.REPLY, "一二三四五"), Message(Role.REPLY, "六七八")
    for message, shares in ((first, (0.9, 0.1, 0.2, 0.9, 0.1)), (second, (0.05, 0.9, 0.25))):
        message.tokens = [token(c, p) for c, p in zip(message.text, shares, strict=True)]
    # Far apart, so that the second is out of sight from the first.
    between = [Message(Role.USER, "话\n" * 30) for _ in range(3)]
    chat.conversation.transcript.append(first, *between, second)
    view = chat.view
    qtbot.waitUntil(one.window.isActiveWindow)
    seen = []
    for _ in range(5):
        QTest.keyClick(one.window, Qt.Key.Key_F8)
        assert chat.popover is not None
        assert chat.popover.token is not None
        seen.append(chat.popover.token.text)
        assert view.focus_token is not None
        assert view.viewport().rect().contains(view.token_rect(*view.focus_token))
    assert seen == ["二", "五", "六", "八", "八"]
    QTest.keyClick(view, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert chat.popover.token.text == "六"
    assert "F8" in chat.header.unsure_button.text()
    QTest.mouseClick(chat.header.unsure_button, Qt.MouseButton.LeftButton)
    assert chat.popover.token is not None
    assert chat.popover.token.text == "八"


def test_unsure_passages_of_replies_that_were_not_looked_at_are_found(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    chat = one.window.chat
    info = ConversationInfo(new_id(), "很长")
    messages: list[Message] = []
    for number in range(60):
        asked = Message(Role.USER, "话", parent=messages[-1].id if messages else None)
        said = reply("一二三", 0.2 if number == 2 else 0.9)
        said.parent = asked.id
        messages += [asked, said]
    one.app.archive.ask(lambda d: d.adopt(info, DEFAULT_SETTINGS, messages, messages))
    chat.conversation.open(info.id)
    transcript = chat.conversation.transcript
    qtbot.waitUntil(lambda: transcript.rowCount() == 120)
    assert not transcript.message(5).tokens_loaded
    chat.view.setFocus()
    QTest.keyClick(chat.view, Qt.Key.Key_F8)
    qtbot.waitUntil(lambda: chat.view.focus_token == (5, 0))
