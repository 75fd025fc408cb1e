"""The list of conversations: begin, open, search, rename, pin, delete, and where one was."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from desktop import paths
from desktop.store.database import Database
from desktop.store.records import ConversationInfo, Message, Role, new_id
from desktop.store.schema import open_file
from desktop.ui.conversation_model import ROW_ROLE, Entry, Group, group_of
from desktop.ui.transcript import Stage
from tests.ui.conftest import Fake
from tests.ui.keyboard import enter, type_text
from tests.ui.test_conversation import send, texts, wait_idle

CTRL = Qt.KeyboardModifier.ControlModifier


def titles(fake: Fake) -> list[str]:
    return [entry.info.title for entry in fake.window.chat.panel.model.entries()]


def wait_titles(qtbot: QtBot, fake: Fake, wanted: list[str]) -> None:
    def there() -> None:
        assert titles(fake) == wanted

    qtbot.waitUntil(there)


def index_of(fake: Fake, title: str) -> QModelIndex:
    model = fake.window.chat.panel.model
    for row in range(model.rowCount()):
        index = model.index(row)
        if isinstance(index.data(ROW_ROLE), Entry) and index.data() == title:
            return index
    raise AssertionError(title)


def click(fake: Fake, title: str) -> None:
    view = fake.window.chat.panel.list
    place = view.visualRect(index_of(fake, title)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def talk(qtbot: QtBot, fake: Fake, *messages: str) -> None:
    """A conversation of its own for each message."""
    for text in messages:
        QTest.keyClick(fake.window, Qt.Key.Key_N, CTRL)
        send(fake, text)
        wait_idle(qtbot, fake)


def stored(home: Path) -> list[tuple[str, int]]:
    """What another program would find in the file: titles, and how many messages each has."""
    connection, notices = open_file(home / "data" / "conversations.db")
    assert notices == []
    database = Database(connection)
    found = []
    for info in database.conversations():
        conversation = database.load(info.id)
        assert conversation is not None
        found.append((info.title, len(conversation.messages)))
    connection.close()
    return found


def test_a_conversation_is_named_after_its_first_message(
    qtbot: QtBot, fake: Callable[..., Fake], fresh_home: Path
) -> None:
    one = fake()
    chat = one.window.chat
    assert chat.panel.nothing.isVisible()
    assert chat.header.title.full_text() == "New conversation"
    send(one, "周末去哪里玩\n好呢")
    wait_idle(qtbot, one)
    wait_titles(qtbot, one, ["周末去哪里玩 好呢"])
    assert not chat.panel.nothing.isVisible()
    assert chat.header.title.full_text() == "周末去哪里玩 好呢"
    assert index_of(one, "周末去哪里玩 好呢").data(ROW_ROLE).line.startswith("周末去哪里玩")
    one.app.close()
    assert stored(fresh_home) == [("周末去哪里玩 好呢", 2)]


def test_conversations_are_opened_and_go_on_where_they_were(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    talk(qtbot, one, "甲", "乙")
    wait_titles(qtbot, one, ["乙", "甲"])
    click(one, "甲")
    qtbot.waitUntil(lambda: texts(one) == ["甲", "甲"])
    send(one, "再来")
    wait_idle(qtbot, one)
    assert one.client.asked[-1] == ("再来", ("甲", "甲"))
    wait_titles(qtbot, one, ["甲", "乙"])  # the latest is on top
    shown = one.window.chat.conversation.transcript.message(1)
    qtbot.waitUntil(lambda: [t.text for t in shown.tokens] == ["甲"])
    assert shown.tokens[0].alternatives


def test_search_finds_messages_and_opens_their_branch(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    talk(qtbot, one, "养猫的烦恼", "考试没考好", "最近工作压力大")
    chat = one.window.chat
    QTest.keyClick(one.window, Qt.Key.Key_F, CTRL)
    assert chat.panel.search.hasFocus()
    type_text(chat.panel.search, "考试")
    qtbot.waitUntil(lambda: chat.panel.model.query == "考试" and titles(one)[:1] == ["考试没考好"])
    assert set(titles(one)) == {"考试没考好"}
    assert chat.panel.model.index(0).data(ROW_ROLE) == Group.FOUND
    enter(chat.panel.search)
    qtbot.waitUntil(lambda: texts(one) == ["考试没考好", "考试没考好"])
    chat.panel.search.setText("没有这样的话")
    qtbot.waitUntil(chat.panel.nothing.isVisible)
    assert chat.panel.nothing.text() == "Nothing was found."
    QTest.keyClick(chat.panel.search, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: len(titles(one)) == 3)


def test_rename_pin_and_delete_with_undo(
    qtbot: QtBot, fake: Callable[..., Fake], fresh_home: Path
) -> None:
    one = fake()
    talk(qtbot, one, "甲", "乙", "丙")
    chat = one.window.chat
    view = chat.panel.list
    wait_titles(qtbot, one, ["丙", "乙", "甲"])

    click(one, "甲")
    qtbot.waitUntil(lambda: chat.conversation.title == "甲")
    QTest.keyClick(one.window, Qt.Key.Key_F2)
    editor = view.viewport().findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    type_text(editor, "new name")
    enter(editor)
    qtbot.waitUntil(lambda: chat.header.title.full_text() == "new name")

    pin = chat.panel.context_menu(index_of(one, "乙")).actions()[1]
    assert pin.text() == "Pin"
    pin.trigger()
    wait_titles(qtbot, one, ["乙", "丙", "new name"])
    assert chat.panel.model.index(0).data(ROW_ROLE) == Group.PINNED
    assert chat.panel.context_menu(index_of(one, "乙")).actions()[1].text() == "Unpin"

    view.setFocus()
    view.setCurrentIndex(index_of(one, "new name"))
    QTest.keyClick(view, Qt.Key.Key_Delete)
    wait_titles(qtbot, one, ["乙", "丙"])
    assert chat.conversation.id is None
    assert texts(one) == []
    assert chat.undo_notice.isVisible()
    assert chat.undo_notice.words.text() == "“new name” was deleted."
    chat.panel.list.setFocus()
    QTest.keyClick(one.window, Qt.Key.Key_Z, CTRL)
    wait_titles(qtbot, one, ["乙", "丙", "new name"])
    qtbot.waitUntil(lambda: texts(one) == ["甲", "甲"])
    assert not chat.undo_notice.isVisible()
    one.app.close()
    assert stored(fresh_home) == [("乙", 2), ("丙", 2), ("new name", 2)]


def test_the_list_is_walked_by_keys(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    talk(qtbot, one, "甲", "乙", "丙")
    wait_titles(qtbot, one, ["丙", "乙", "甲"])
    panel = one.window.chat.panel
    panel.search.setFocus()
    QTest.keyClick(panel.search, Qt.Key.Key_Down)
    assert panel.list.hasFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: texts(one) == ["乙", "乙"])
    QTest.keyClick(panel.list, Qt.Key.Key_End)
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: texts(one) == ["甲", "甲"])


def test_a_long_list_is_read_as_it_is_scrolled(
    qtbot: QtBot, fake: Callable[..., Fake], fresh_home: Path
) -> None:
    connection, _ = open_file(paths.data_dir() / "conversations.db")
    database = Database(connection)
    with database.transaction():
        for number in range(350):
            info = ConversationInfo(new_id(), f"第{number}个", created=1e9, updated=1e9 + number)
            database.create(info)
            database.add_message(info.id, Message(Role.USER, "问"))
            database._set(info.id, "updated", 1e9 + number)
    connection.close()
    one = fake()
    panel = one.window.chat.panel
    qtbot.waitUntil(lambda: len(titles(one)) == 100)
    bar = panel.list.verticalScrollBar()
    for _ in range(20):
        bar.setValue(bar.maximum())
        qtbot.wait(30)
        if len(titles(one)) == 350:
            break
    assert len(titles(one)) == 350
    assert titles(one)[-1] == "第0个"


def test_groups_by_day() -> None:
    today = datetime.date(2026, 3, 10)

    def when(*day: int, pinned: bool = False) -> Group:
        at = datetime.datetime(*day, 12).timestamp()  # type: ignore[arg-type]
        return group_of(ConversationInfo(1, "", updated=at, pinned=pinned), today)

    assert when(2026, 3, 10) is Group.TODAY
    assert when(2026, 3, 9) is Group.YESTERDAY
    assert when(2026, 3, 4) is Group.WEEK
    assert when(2026, 3, 3) is Group.EARLIER
    assert when(2025, 3, 10, pinned=True) is Group.PINNED


def test_a_reply_goes_on_while_another_conversation_is_on_screen(
    qtbot: QtBot, fake: Callable[..., Fake], fresh_home: Path
) -> None:
    one = fake(gap=0.01)
    chat = one.window.chat
    send(one, "字" * 60)
    qtbot.waitUntil(lambda: len(chat.conversation.transcript.message(1).tokens) > 2)
    QTest.keyClick(one.window, Qt.Key.Key_N, CTRL)
    assert texts(one) == []
    assert not chat.conversation.busy
    assert chat.conversation.working
    send(one, "另一个")
    qtbot.waitUntil(lambda: texts(one)[1:] == ["另一个"])
    wait_titles(qtbot, one, ["另一个", "字" * 40])
    click(one, "字" * 40)
    qtbot.waitUntil(lambda: len(texts(one)) == 2 and texts(one)[1].startswith("字"))
    qtbot.waitUntil(lambda: not chat.conversation.working)
    assert texts(one) == ["字" * 60, "字" * 60]
    one.app.close()
    connection, _ = open_file(fresh_home / "data" / "conversations.db")
    database = Database(connection)
    replies = [
        (m.text, m.stage, len(database.tokens(m.id)))
        for info in database.conversations()
        for m in database.load(info.id).messages  # type: ignore[union-attr]
        if m.role is Role.REPLY
    ]
    connection.close()
    assert sorted(replies) == [("另一个", Stage.DONE, 3), ("字" * 60, Stage.DONE, 60)]


def test_the_window_reopens_where_it_was(
    qtbot: QtBot, fake: Callable[..., Fake], fresh_home: Path
) -> None:
    one = fake()
    talk(qtbot, one, "甲", "乙")
    wait_titles(qtbot, one, ["乙", "甲"])
    click(one, "甲")
    qtbot.waitUntil(lambda: texts(one) == ["甲", "甲"])
    chat = one.window.chat
    type_text(chat.composer.edit, "half a thought")
    chat.header.panel_button.click()
    chat.header.colorings[list(chat.header.colorings)[1]].click()
    one.window.resize(900, 600)
    one.app.close()

    two = fake()
    chat = two.window.chat
    qtbot.waitUntil(lambda: texts(two) == ["甲", "甲"])
    assert chat.composer.text() == "half a thought"
    assert chat.sampling.isHidden()
    assert not chat.panel.isHidden()
    assert chat.view.delegate.coloring == "perplexity"
    assert (two.window.width(), two.window.height()) == (900, 600)
    click(two, "乙")
    qtbot.waitUntil(lambda: texts(two) == ["乙", "乙"])
    assert chat.composer.text() == ""


def test_a_draft_is_kept_before_and_after_a_first_message(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    type_text(one.window.chat.composer.edit, "not sent yet")
    qtbot.wait(600)
    one.app.archive.close()  # as if it had been killed: nothing is saved at the end

    two = fake()
    chat = two.window.chat
    qtbot.waitUntil(lambda: chat.composer.text() == "not sent yet")
    enter(chat.composer.edit)
    wait_idle(qtbot, two)
    two.app.close()

    three = fake()
    qtbot.waitUntil(lambda: texts(three) == ["not sent yet", "not sent yet"])
    assert three.window.chat.composer.text() == ""


@pytest.mark.parametrize("damage", [lambda p: bytes(len(p)), lambda p: p[:5000]])
def test_a_damaged_file_is_told_and_work_goes_on(
    qtbot: QtBot, fake: Callable[..., Fake], fresh_home: Path, damage: Callable[[bytes], bytes]
) -> None:
    one = fake()
    talk(qtbot, one, "甲")
    one.app.close()
    file = fresh_home / "data" / "conversations.db"
    file.write_bytes(damage(file.read_bytes()))
    two = fake()
    notice = two.window.chat.store_notice
    qtbot.waitUntil(notice.isVisible)
    (aside,) = file.parent.glob("conversations-damaged-*.db")
    assert str(aside) in notice.words.text()
    talk(qtbot, two, "乙")
    wait_titles(qtbot, two, ["乙"])
    notice.dismiss.click()
    assert not notice.isVisible()


def test_narrow_windows_hide_the_panels_until_asked(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    chat = one.window.chat
    assert chat.panel.isVisible()
    assert chat.sampling.isVisible()
    one.window.resize(640, 480)
    qtbot.wait(200)  # the X server confirms the size
    assert not chat.panel.isVisible()
    assert not chat.sampling.isVisible()
    QTest.keyClick(one.window, Qt.Key.Key_F, CTRL)
    assert chat.panel.isVisible()
    assert chat.panel.search.hasFocus()
    one.window.resize(1280, 800)
    qtbot.waitUntil(chat.sampling.isVisible)
    QTest.keyClick(one.window, Qt.Key.Key_Period, CTRL)
    assert not chat.sampling.isVisible()
    QTest.keyClick(one.window, Qt.Key.Key_B, CTRL)
    assert not chat.panel.isVisible()


def test_a_click_on_a_menu_entry_is_what_the_keys_do(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    talk(qtbot, one, "甲", "乙")
    wait_titles(qtbot, one, ["乙", "甲"])
    panel = one.window.chat.panel
    panel._show_menu(QPoint(5, 5))  # a heading has no menu
    began = time.monotonic()
    panel.context_menu(index_of(one, "甲")).actions()[-1].trigger()
    wait_titles(qtbot, one, ["乙"])
    assert texts(one) == ["乙", "乙"]  # the one on screen stays there
    one.window.chat.undo_notice.action.click()
    wait_titles(qtbot, one, ["乙", "甲"])
    assert time.monotonic() - began < 30
