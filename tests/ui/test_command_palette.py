"""Every command has a name and works; the palette finds it by either language; keys never clash."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from desktop.ui.fuzzy import match
from desktop.ui.shortcuts import CATALOGUE, Command, commands
from tests.ui.conftest import Fake


@pytest.fixture
def one(qtbot: QtBot, fake: Callable[..., Fake]) -> Fake:
    made = fake()
    qtbot.waitUntil(made.window.isActiveWindow)
    return made


def found(one: Fake, typed: str) -> list[str]:
    palette = one.app.palette
    palette.field.setText(typed)
    rows = [palette.model.row(n) for n in range(palette.model.rowCount())]
    return [row.command.objectName() for row in rows]


def test_every_command_is_bound_and_keys_do_not_clash(one: Fake) -> None:
    assert [each.objectName() for each in commands(one.window)] == list(CATALOGUE)
    pages = [one.window.pages.widget(number) for number in range(one.window.pages.count())]
    for page in pages:  # those of other pages sleep meanwhile
        awake = [
            each
            for each in commands(one.window)
            if each.owner in (page, one.window) or page.isAncestorOf(each.owner)
        ]
        keys = Counter(keys.toString() for each in awake for keys in each.shortcuts())
        assert [key for key, count in keys.items() if count > 1] == []
    assert all(QKeySequence(k).toString() for e in CATALOGUE.values() for k in e.keys.split())


def test_there_is_no_key_that_the_sheet_does_not_tell(one: Fake) -> None:
    assert one.window.findChildren(QShortcut) == []
    strangers = [
        action.shortcut().toString()
        for action in one.window.findChildren(QAction)
        if not isinstance(action, Command) and not action.shortcut().isEmpty()
    ]
    assert strangers == []


@pytest.mark.parametrize("keys", ["Ctrl+K", "Ctrl+Shift+P"])
def test_the_keys_open_it_also_from_the_composer(qtbot: QtBot, one: Fake, keys: str) -> None:
    edit = one.window.chat.composer.edit
    edit.setPlainText("一句没写完的话")
    edit.setFocus()
    palette = one.app.palette
    QTest.keySequence(one.window, QKeySequence(keys))
    assert palette.isVisible()
    assert palette.field.hasFocus()
    assert edit.toPlainText() == "一句没写完的话"
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert edit.hasFocus()


def test_letters_find_commands_in_either_language(one: Fake) -> None:
    one.app.palette.open()
    assert found(one, "dark")[0] == "dark"
    assert found(one, "nc")[0] == "new"
    assert found(one, "新对")[0] == "new"  # the window speaks English
    assert "export" in found(one, "导出")
    assert found(one, "ctrl+b")[0] == "list"
    assert found(one, "qqqq") == []
    assert one.app.palette.nothing.isVisible()
    one.app.language.apply("zh")
    QApplication.processEvents()
    assert found(one, "深色")[0] == "dark"
    assert found(one, "dark")[0] == "dark"
    assert one.app.palette.model.row(0).words == "深色主题"
    assert one.app.palette.model.row(0).places == ()
    found(one, "深主")
    assert one.app.palette.model.row(0).places == (0, 2)


def test_what_cannot_be_done_is_not_offered(qtbot: QtBot, one: Fake) -> None:
    one.app.palette.open()
    assert "stop_server" in found(one, "server")
    assert "start_server" not in found(one, "server")
    assert "tray" not in found(one, "")  # there is none
    one.app.palette.dismiss()
    one.window.carry_out("stop_server")
    qtbot.waitUntil(lambda: one.app.session.status.state == "stopped")
    one.app.palette.open()
    assert "start_server" in found(one, "server")
    assert "stop_server" not in found(one, "server")


def test_enter_carries_out_the_chosen_one(qtbot: QtBot, one: Fake) -> None:
    palette = one.app.palette
    palette.open()
    QTest.keyClicks(palette.field, "theme")
    names = found(one, "theme")
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible()
    wanted = {"light": "light", "dark": "dark", "system_theme": "system"}[names[1]]
    assert one.app.theme.choice == wanted


def test_a_command_of_another_page_goes_there(qtbot: QtBot, one: Fake) -> None:
    one.window.show_page(2)
    one.app.palette.open()
    found(one, "search all")
    palette = one.app.palette
    QTest.mouseClick(
        palette.list.viewport(),
        Qt.MouseButton.LeftButton,
        pos=palette.list.visualRect(palette.model.index(0, 0)).center(),
    )
    assert one.window.pages.currentIndex() == 0
    assert one.window.chat.panel.search.hasFocus()


def test_the_menu_of_settings_offers_help(qtbot: QtBot, one: Fake) -> None:
    actions = {a.objectName(): a for a in one.window.rail.menu.actions() if a.objectName()}
    assert list(actions)[-3:] == ["palette", "sheet", "welcome"]
    assert actions["sheet"].text() == "Keyboard shortcuts"
    one.app.language.apply("zh")
    QApplication.processEvents()
    assert actions["sheet"].text() == "键盘快捷键"
    actions["welcome"].trigger()
    assert one.app.onboarding.isVisible()


def test_the_sheet_tells_every_key(qtbot: QtBot, one: Fake) -> None:
    QTest.keySequence(one.window, QKeySequence("F1"))
    sheet = one.app.sheet
    assert sheet.isVisible()
    shown = {label.text() for label in sheet.findChildren(QLabel) if label.isVisibleTo(sheet)}
    for command in commands(one.window):
        if command.shortcuts():
            assert {command.words(), *command.key_names()} <= shown
    one.app.language.apply("zh")
    QApplication.processEvents()
    chinese = {label.text() for label in sheet.findChildren(QLabel) if label.isVisibleTo(sheet)}
    same = {text for text in shown & chinese if re.search("[a-z]{4}", text)}
    assert same <= {key for command in commands(one.window) for key in command.key_names()}
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert not sheet.isVisible()


@pytest.mark.parametrize(
    ("typed", "better", "worse"),
    [
        ("ser", "Stop the server", "Search all conversations"),
        ("exp", "Export the conversation", "Next version by paragraph"),
        ("n c", "New conversation", "Undo action"),
    ],
)
def test_rows_of_letters_and_beginnings_of_words_come_first(
    typed: str, better: str, worse: str
) -> None:
    first, second = match(typed, better), match(typed, worse)
    assert first is not None
    assert second is None or first.score > second.score


def test_letters_out_of_order_do_not_match() -> None:
    assert match("ba", "abc") is None
    assert match("", "abc") == (0, ())
    found = match("SERVER", "Stop the server")
    assert found is not None
    assert found.places == (9, 10, 11, 12, 13, 14)
