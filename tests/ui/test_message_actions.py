"""What can be done with a message: by its words, its menu, and the keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.triton.types import Alternative, ServerUnavailable, Token
from desktop.ui.transcript import Message, Stage
from tests.ui.conftest import Fake
from tests.ui.fakes import token
from tests.ui.keyboard import enter
from tests.ui.test_conversation import send, texts, wait_idle

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


def numbered(text: str, history: Sequence[str]) -> list[Token | Exception]:
    """A different reply each time: 一, 二, 三, … after the asked text."""
    numbered.count += 1  # type: ignore[attr-defined]
    return [token(c, 0.4) for c in "一二三四五六七八九"[numbered.count - 1] + text]  # type: ignore[attr-defined]


def begin(qtbot: QtBot, fake: Callable[..., Fake], *messages: str) -> Fake:
    numbered.count = 0  # type: ignore[attr-defined]
    one = fake(numbered)
    for text in messages:
        send(one, text)
        wait_idle(qtbot, one)
    return one


def message(fake: Fake, row: int) -> Message:
    return fake.window.chat.conversation.transcript.message(row)


def click(fake: Fake, action: str, row: int) -> None:
    """On the word below or beside a message."""
    view = fake.window.chat.view
    place = view.action_rect(action, row).center()
    assert not place.isNull(), action
    QTest.mouseMove(view.viewport(), place)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def trigger(fake: Fake, words: str, row: int) -> None:
    """In the menu of a message."""
    view = fake.window.chat.view
    point = view.visualRect(view.model().index(row, 0)).center()
    menu = view.context_menu(point)
    (action,) = [a for a in menu.actions() if a.text().split("\t")[0] == words]
    assert action.isEnabled(), words
    action.trigger()


def test_regenerating_keeps_every_version(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "问")
    click(one, "regenerate", 1)
    wait_idle(qtbot, one)
    assert texts(one) == ["问", "二问"]
    QTest.keyClick(one.window, Qt.Key.Key_R, CTRL)
    wait_idle(qtbot, one)
    assert texts(one) == ["问", "三问"]
    transcript = one.window.chat.conversation.transcript
    assert transcript.branch(message(one, 1)) == (3, 3)
    click(one, "previous", 1)
    assert texts(one) == ["问", "二问"]
    QTest.keyClick(one.window, Qt.Key.Key_Left, ALT)
    assert texts(one) == ["问", "一问"]
    assert one.window.chat.view.action_rect("previous", 1).isNull()
    trigger(one, "Next version", 1)
    assert texts(one) == ["问", "二问"]
    one.app.close()

    two = fake(numbered)
    qtbot.waitUntil(lambda: texts(two) == ["问", "二问"])  # the version that was shown
    assert two.window.chat.conversation.transcript.branch(message(two, 1)) == (2, 3)


def test_an_older_reply_is_regenerated_with_its_own_history(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲", "乙", "丙")
    trigger(one, "Regenerate", 3)
    wait_idle(qtbot, one)
    assert one.client.asked[-1] == ("乙", ("甲", "一甲"))
    assert texts(one) == ["甲", "一甲", "乙", "四乙"]
    click(one, "previous", 3)
    assert texts(one) == ["甲", "一甲", "乙", "二乙", "丙", "三丙"]


def test_edit_and_resend_makes_a_branch(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    chat = one.window.chat
    chat.composer.edit.setPlainText("a draft")
    click(one, "edit", 0)
    assert chat.edit_notice.isVisible()
    assert chat.composer.text() == "甲"
    QTest.keyClick(chat.composer.edit, Qt.Key.Key_Escape)
    assert chat.composer.text() == "a draft"
    assert not chat.edit_notice.isVisible()
    trigger(one, "Edit and resend", 0)
    chat.composer.edit.setPlainText("甲改")
    enter(chat.composer.edit)
    wait_idle(qtbot, one)
    assert texts(one) == ["甲改", "三甲改"]
    assert one.client.asked[-1] == ("甲改", ())
    assert not chat.edit_notice.isVisible()
    click(one, "previous", 0)
    assert texts(one) == ["甲", "一甲", "乙", "二乙"]
    QTest.keyClick(one.window, Qt.Key.Key_E, CTRL)
    assert chat.composer.text() == "乙"


def test_copy_takes_the_whole_message(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "问")
    click(one, "copy", 1)
    assert QGuiApplication.clipboard().text() == "一问"
    click(one, "copy", 0)
    assert QGuiApplication.clipboard().text() == "问"


def test_deleting_takes_what_follows_and_can_be_undone(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    chat = one.window.chat
    trigger(one, "Delete from here", 2)
    assert texts(one) == ["甲", "一甲"]
    assert chat.undo_notice.words.text() == "2 messages deleted."
    chat.undo_notice.action.click()
    qtbot.waitUntil(lambda: texts(one) == ["甲", "一甲", "乙", "二乙"])
    click(one, "regenerate", 1)
    wait_idle(qtbot, one)
    assert texts(one) == ["甲", "三甲"]
    trigger(one, "Delete from here", 1)
    assert texts(one) == ["甲", "一甲", "乙", "二乙"]
    assert chat.undo_notice.words.text() == "1 message deleted."


def test_a_reply_that_broke_off_goes_on_in_place(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    replies = [
        [token("好", 0.9), token("的", 0.8), ServerUnavailable("the server ended the request")],
        [token("呀", 0.7)],
    ]
    one = fake(lambda text, history: replies.pop(0))
    send(one, "你好")
    wait_idle(qtbot, one)
    assert message(one, 1).stage is Stage.FAILED
    click(one, "continue", 1)
    wait_idle(qtbot, one)
    reply = message(one, 1)
    assert (reply.text, reply.stage, reply.error) == ("好的呀", Stage.DONE, "")
    assert one.client.prefixes == ["", "好的"]
    assert reply.finished is not None
    assert reply.finished.tokens == 3
    assert one.window.chat.view.action_rect("continue", 1).isNull()
    one.app.close()
    two = fake()
    qtbot.waitUntil(lambda: texts(two) == ["你好", "好的呀"])
    qtbot.waitUntil(lambda: [t.text for t in message(two, 1).tokens] == ["好", "的", "呀"])


def test_a_regeneration_that_fails_leaves_the_old_reply(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    replies = [[token("好", 0.9)], [ServerUnavailable("the server ended the request")]]
    one = fake(lambda text, history: replies.pop(0))
    send(one, "你好")
    wait_idle(qtbot, one)
    click(one, "regenerate", 1)
    wait_idle(qtbot, one)
    chat = one.window.chat
    assert texts(one) == ["你好", "好"]
    assert chat.error.text() == "The server ended the request."
    assert chat.composer.text() == ""
    assert chat.conversation.transcript.branch(message(one, 1)) == (1, 1)


def explain(fake: Fake, row: int, number: int) -> None:
    view = fake.window.chat.view
    view.setFocus()
    view.explain_token(row, number)


def test_another_token_is_chosen_by_keys(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "问好")
    chat = one.window.chat
    explain(one, 1, 1)
    first = message(one, 1)
    QTest.keyClick(chat.view, Qt.Key.Key_Down)
    assert chat.popover is not None
    chosen = chat.popover.marked
    assert chosen is not None
    assert chosen.text != "问"
    QTest.keyClick(chat.view, Qt.Key.Key_Return)
    wait_idle(qtbot, one)
    assert one.client.prefixes[-1] == "一" + chosen.text
    assert one.client.asked[-1] == ("问好", ())
    reply = message(one, 1)
    assert reply is not first
    assert reply.text == "一" + chosen.text + "二问好"
    assert math.isnan(reply.tokens[1].confidence)
    assert reply.tokens[1].probability == chosen.probability
    assert chat.conversation.transcript.branch(reply) == (2, 2)
    assert chat.popover.token is None
    explain(one, 1, 1)
    assert chat.popover.words().startswith(f"“{chosen.text}” token 2 chosen by you")
    assert reply.finished is not None
    assert reply.finished.tokens == 5


def test_another_token_is_chosen_by_the_mouse(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "问好")
    chat = one.window.chat
    QTest.mouseMove(chat.view.viewport(), chat.view.token_rect(1, 1).center())
    qtbot.waitUntil(lambda: chat.popover is not None and chat.popover.token is not None)
    popover = chat.popover
    assert popover is not None
    rows = popover.alternatives()
    wanted = next(i for i, a in enumerate(rows) if a.text != "问")
    place = QPoint(60, 12 + 28 + 24 * wanted + 12)
    QTest.mouseMove(popover, place)
    qtbot.wait(400)  # longer than the way there may take
    assert popover.token is not None
    assert popover.marked == rows[wanted]
    QTest.mouseClick(popover, Qt.MouseButton.LeftButton, pos=place)
    wait_idle(qtbot, one)
    assert one.client.prefixes[-1] == "一" + rows[wanted].text
    assert message(one, 1).text.startswith("一" + rows[wanted].text)


def test_a_popover_below_a_resting_mouse_stays(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "问好")
    chat = one.window.chat
    explain(one, 1, 1)
    assert chat.popover is not None
    # The view says that the mouse is gone, and the popover that it is there: it opened below it.
    chat.view.token_left.emit(False)
    place = QPointF(20, 20)
    chat.popover.enterEvent(QEnterEvent(place, place, QPointF(chat.popover.mapToGlobal(place))))
    qtbot.wait(400)
    assert chat.popover.isVisible()
    assert chat.popover.token is not None


def test_the_end_can_be_chosen_and_special_tokens_cannot(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    others = (
        Alternative("[UNK]", 3, 0.5),
        Alternative("吗", 5, 0.2),
        Alternative("[SEP]", 2, 0.1),
    )
    tokens = [token("好", 0.5), Token("吗", 5, 0.3, 0.2, others)]
    one = fake(lambda text, history: list(tokens))
    send(one, "你好")
    wait_idle(qtbot, one)
    chat = one.window.chat
    explain(one, 1, 1)
    assert chat.popover is not None
    QTest.keyClick(chat.view, Qt.Key.Key_Down)
    marked = chat.popover.marked
    assert marked is not None
    assert marked.text == "[SEP]"  # neither the unknown token nor the one that was drawn
    QTest.keyClick(chat.view, Qt.Key.Key_Return)
    assert texts(one) == ["你好", "好"]
    assert len(one.client.asked) == 1
    assert message(one, 1).finished is not None
    assert chat.conversation.transcript.branch(message(one, 1)) == (2, 2)


def test_nothing_is_done_to_a_conversation_while_a_reply_streams(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(gap=0.02)
    send(one, "甲")
    wait_idle(qtbot, one)
    send(one, "字" * 200)
    conversation = one.window.chat.conversation
    qtbot.waitUntil(lambda: len(message(one, 3).tokens) > 2)
    first = message(one, 1)
    conversation.regenerate(first)
    conversation.delete_from(first)
    conversation.step_branch(first, 1)
    assert len(texts(one)) == 4
    assert len(one.client.asked) == 2
    explain(one, 1, 0)
    QTest.keyClick(one.window.chat.view, Qt.Key.Key_Down)
    assert one.window.chat.popover is not None
    assert one.window.chat.popover.marked is None
    conversation.stop()
    wait_idle(qtbot, one)


def test_a_search_leads_to_another_branch_and_one_can_go_on_there(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    click(one, "regenerate", 1)
    wait_idle(qtbot, one)
    assert texts(one) == ["甲", "三甲"]
    panel = one.window.chat.panel
    panel.search.setText("二乙")
    enter(panel.search)  # before anything can have been found
    qtbot.waitUntil(lambda: texts(one) == ["甲", "一甲", "乙", "二乙"])
    send(one, "丙")
    wait_idle(qtbot, one)
    one.app.close()
    two = fake(numbered)
    qtbot.waitUntil(lambda: texts(two) == ["甲", "一甲", "乙", "二乙", "丙", "四丙"])
