"""The settings: each takes effect at once, is there at the next start, and can be reached."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from desktop import inventory, launchers, paths
from desktop import settings as stored
from desktop.inventory import Kind
from desktop.launchers.base import ServerState
from desktop.store.records import DEFAULT_SETTINGS
from desktop.ui import theme
from desktop.ui.application import Application
from desktop.ui.preferences import Preferences
from desktop.ui.settings_data import DataSection
from desktop.ui.settings_dialog import SettingsDialog
from desktop.ui.settings_updates import UpdatesSection
from desktop.ui.update_checker import UpdateChecker
from tests.ui.conftest import Fake
from tests.ui.test_accessible import controls
from tests.ui.test_conversation import texts
from tests.ui.test_message_actions import begin
from tests.unit.test_updates import Releases, releases

__all__ = ["releases"]


@pytest.fixture(autouse=True)
def normal_size() -> Iterator[None]:
    """The font size belongs to the whole process."""
    yield
    theme._scale = 1.0


def open_settings(fake: Callable[..., Fake]) -> tuple[Fake, SettingsDialog]:
    one = fake()
    one.app.open_settings()
    return one, one.app.settings_dialog


def choose(box: QComboBox, value: str) -> None:
    """As a person does: with the keyboard."""
    box.setFocus()
    wanted, at = box.findData(value), box.currentIndex()
    key = Qt.Key.Key_Down if wanted > at else Qt.Key.Key_Up
    for _ in range(abs(wanted - at)):
        QTest.keyClick(box, key)


def again(one: Fake) -> Preferences:
    """The preferences as the next start reads them."""
    one.app.settings.sync()
    return Preferences(one.app.settings)


def test_ctrl_comma_opens_it_and_escape_closes_it(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    qtbot.waitUntil(one.window.isActiveWindow)
    QTest.keyClick(one.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = one.app.settings_dialog
    qtbot.waitUntil(dialog.isActiveWindow)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialog.isVisible())
    first = one.window.rail.menu.actions()[0]
    assert first.text() == "Settings"
    first.trigger()
    assert dialog.isVisible()


def test_theme_and_language_change_at_once_and_agree_with_the_menu(
    fake: Callable[..., Fake],
) -> None:
    one, dialog = open_settings(fake)
    section = dialog.sections["appearance"]
    choose(section.theme.input, "dark")
    assert theme.current().scheme == "dark"
    assert one.window.rail.theme_actions["dark"].isChecked()
    choose(section.language.input, "zh")
    QApplication.processEvents()
    assert dialog.windowTitle() == "设置"
    assert dialog.list.item(0).text() == "外观"
    one.window.rail.language_actions["en"].trigger()
    one.window.rail.theme_actions["light"].trigger()
    QApplication.processEvents()
    assert section.language.value() == "en"
    assert section.theme.value() == "light"
    assert one.app.settings.value("theme") == "light"


def test_the_font_size_reaches_everything_and_stays(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one, dialog = open_settings(fake)
    row, send = one.window.chat.header, one.window.chat.composer.send_button
    before = (row.height(), send.fontMetrics().height(), theme.line_height())
    slider = dialog.sections["appearance"].font_size.slider
    slider.setFocus()
    for _ in range(10):
        QTest.keyClick(slider, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: one.app.theme.percent == 200)
    assert theme.font().pixelSize() == 28
    assert theme.line_height() > 1.8 * before[2]
    qtbot.waitUntil(lambda: send.fontMetrics().height() > 1.8 * before[1])
    qtbot.waitUntil(lambda: row.height() > 1.8 * before[0])
    assert again(one).font_size == 200
    one.window.carry_out("smaller")
    assert one.app.theme.percent == 190
    assert dialog.sections["appearance"].font_size.value() == 190
    one.window.carry_out("normal_size")
    assert one.app.theme.percent == 100
    qtbot.waitUntil(
        lambda: (row.height(), send.fontMetrics().height(), theme.line_height()) == before
    )
    for _ in range(9):
        one.window.carry_out("smaller")
    assert one.app.theme.percent == 80


def test_messages_are_measured_anew_with_the_font_size(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "问一个不短的问题")
    view = one.window.chat.view
    before = view.rows.total
    one.app.set_font_size(200)
    qtbot.waitUntil(lambda: view.rows.total > 1.5 * before)
    one.app.set_font_size(100)
    qtbot.waitUntil(lambda: view.rows.total == before)


def test_ctrl_enter_sends_where_that_was_chosen(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one, dialog = open_settings(fake)
    choose(dialog.sections["chat"].send_key.input, "ctrl")
    edit = one.window.chat.composer.edit
    assert "Ctrl+Enter sends" in edit.placeholderText()
    QTest.keyClicks(edit, "a")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    QTest.keyClicks(edit, "b")
    assert edit.toPlainText() == "a\nb"
    qtbot.waitUntil(lambda: bool(one.clients))
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not one.window.chat.conversation.busy and len(texts(one)) == 2)
    assert texts(one)[0] == "a\nb"
    assert again(one).send_with_ctrl


def test_new_conversations_begin_as_chosen(fake: Callable[..., Fake]) -> None:
    one, dialog = open_settings(fake)
    section, conversation = dialog.sections["chat"], one.window.chat.conversation
    choose(section.new_chat.input, "lively")
    assert conversation.settings.sampling.temperature == 0.8
    conversation.change_settings(
        replace(DEFAULT_SETTINGS, sampling=replace(DEFAULT_SETTINGS.sampling, temperature=0.3))
    )
    conversation.new()
    assert conversation.settings.sampling.temperature == 0.8
    conversation.change_settings(
        replace(conversation.settings, history_turns=7, persona="我是小明\n你好小明")
    )
    section.take_button.click()
    assert section.new_chat.value() == "own"
    own = again(one).new_chat
    assert own is not None
    assert (own.history_turns, own.persona) == (7, "")
    choose(section.new_chat.input, "last")
    assert again(one).new_chat is None


def test_notices_can_be_switched_off(
    monkeypatch: pytest.MonkeyPatch, fake: Callable[..., Fake]
) -> None:
    one, dialog = open_settings(fake)
    told: list[str] = []
    monkeypatch.setattr(one.app.tray, "notify", lambda title, *rest: told.append(title))
    one.app.notify_finished("first", "")
    dialog.sections["tray"].notify.input.click()
    one.app.notify_finished("second", "")
    assert told == ["first"]
    assert not again(one).notify


def test_the_server_section_writes_the_settings_file(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one, dialog = open_settings(fake)
    dialog.open_at("server")
    form = dialog.sections["server"].form
    choose(form.fields["launcher"].input, "embedded")
    qtbot.waitUntil(lambda: stored.load({}).launcher == "embedded")
    assert one.window.isVisible()


def test_every_control_has_a_name_in_both_languages(fake: Callable[..., Fake]) -> None:
    one, dialog = open_settings(fake)
    shown: dict[str, set[str]] = {}
    for language in ("en", "zh"):
        one.app.language.apply(language)  # type: ignore[arg-type]
        shown[language] = set()
        for name in dialog.sections:
            dialog.open_at(name)
            QApplication.processEvents()
            nameless = [
                (type(widget).__name__, widget.objectName())
                for widget in controls(dialog)
                if not widget.accessibleName()
                and not (isinstance(widget, QAbstractButton) and widget.text())
            ]
            assert nameless == [], name
            for kind in (QLabel, QAbstractButton):
                shown[language] |= {w.text() for w in dialog.sections[name].findChildren(kind)}
    # What reads the same in both: names, numbers and paths.
    same = {text for text in shown["en"] & shown["zh"] if " " in text.strip()}
    allowed = {text for text in same if any(c.isdigit() for c in text) or "License" in text}
    assert same - allowed <= {"LGPL-3.0-only OR GPL-2.0-only OR GPL-3.0-only", "Public domain"}


def test_tab_reaches_every_control(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    _, dialog = open_settings(fake)
    qtbot.waitUntil(dialog.isActiveWindow)
    for name, section in dialog.sections.items():
        dialog.open_at(name)
        QApplication.processEvents()
        wanted = {w for w in controls(section) if w.isEnabled() and w.focusPolicy()}
        dialog.list.setFocus()
        reached = set()
        for _ in range(60):
            focus = QApplication.focusWidget()
            assert focus is not None
            reached.add(focus)
            QTest.keyClick(focus, Qt.Key.Key_Tab)
        assert wanted - reached == set(), name


# Data.


def data_section(dialog: SettingsDialog) -> DataSection:
    dialog.open_at("data")
    section = dialog.sections["data"]
    assert isinstance(section, DataSection)
    return section


def titles(one: Fake) -> set[str]:
    return {entry.info.title for entry in one.window.chat.panel.model.entries()}


def test_the_data_folder_and_its_sizes_are_shown(
    qtbot: QtBot, fake: Callable[..., Fake], fresh_home: Path
) -> None:
    _, dialog = open_settings(fake)
    section = data_section(dialog)
    qtbot.waitUntil(lambda: any(e.kind == "conversations" for e in section.entries))
    assert section.path.text() == str(fresh_home / "data")


def test_a_backup_is_made_and_restored_from_the_window(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = begin(qtbot, fake, "备份之前")
    one.app.settings.setValue("theme", "light")
    one.app.open_settings("data")
    section = data_section(one.app.settings_dialog)
    target = tmp_path / "b.zip"
    section.back_up(target)
    qtbot.waitUntil(lambda: not section.job.busy)
    assert section.words.text() == f"Backed up to {target}"
    one.window.carry_out("new")
    one.window.chat.composer.submitted.emit("备份之后")
    qtbot.waitUntil(lambda: titles(one) == {"备份之前", "备份之后"})
    qtbot.waitUntil(lambda: not one.window.chat.conversation.working)
    one.window.rail.theme_actions["dark"].trigger()

    section.restore(target)
    qtbot.waitUntil(lambda: section.question is not None)
    assert section.question is not None
    assert "Conversations: 1, messages: 2" in section.question.informativeText()
    cancel, restore = sorted(section.question.buttons(), key=lambda b: b.text())
    assert (cancel.text(), restore.text()) == ("Cancel", "Restore")
    restore.click()
    qtbot.waitUntil(lambda: section.words.text().startswith("Restored"))
    qtbot.waitUntil(lambda: titles(one) == {"备份之前"})
    assert theme.current().scheme == "light"
    assert one.window.chat.isEnabled()
    assert texts(one) == []
    # What was there is kept, and can itself be restored.
    [aside] = (paths.data_dir() / "backups").glob("*.zip")
    assert str(aside) in section.words.text()
    one.window.chat.conversation.send("接着聊")
    qtbot.waitUntil(lambda: not one.window.chat.conversation.working)
    qtbot.waitUntil(lambda: titles(one) == {"备份之前", "接着聊"})


def test_a_wrong_file_is_refused_with_one_sentence(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    _, dialog = open_settings(fake)
    section = data_section(dialog)
    wrong = tmp_path / "x.zip"
    wrong.write_text("something else")
    section.restore(wrong)
    qtbot.waitUntil(lambda: bool(section.words.text()))
    assert section.words.text() == "The file is no backup made by Tritalk."
    assert section.question is None
    assert section.backup_button.isEnabled()


def test_all_data_go_after_the_word_was_typed(
    qtbot: QtBot,
    fake: Callable[..., Fake],
    fresh_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = begin(qtbot, fake, "要删除的话")
    one.app.open_settings("data")
    section = data_section(one.app.settings_dialog)
    qtbot.waitUntil(lambda: bool(section.entries))
    section.delete_button.click()
    dialog = section.delete_dialog
    assert dialog is not None
    assert not dialog.delete_button.isEnabled()
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.isVisible()
    QTest.keyClicks(dialog.field, " Delete ")
    assert dialog.delete_button.isEnabled()
    dialog.delete_button.click()
    assert not one.window.isEnabled()
    one.app.close()
    assert one.app.removal is not None
    assert (one.app.removal.failed, one.app.removal.stayed) == ([], [])
    assert inventory.entries() == []
    assert not (fresh_home / "data").exists()
    assert not (fresh_home / "config").exists()
    said: list[str] = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: said.append(box.text()))
    one.app.language.choice = "zh"
    one.app._tell_removal()
    assert said == ["数据已全部删除。"]


# Updates.


def updates_section(dialog: SettingsDialog) -> UpdatesSection:
    dialog.open_at("updates")
    section = dialog.sections["updates"]
    assert isinstance(section, UpdatesSection)
    return section


def test_nothing_is_asked_before_the_check_is_switched_on(
    qtbot: QtBot, fake: Callable[..., Fake], releases: Releases
) -> None:
    one, dialog = open_settings(fake)
    releases.say([{"tag_name": "v999.0", "html_url": "https://example.org/999"}])
    section = updates_section(dialog)
    section.url.input.setText(releases.url)
    section.url.finish()
    one.app.updates._due()
    assert not one.app.updates.busy
    assert releases.asked == []
    with qtbot.waitSignal(one.app.updates.told) as told:
        section.check.input.click()
    assert told.args[0].version == "999.0"
    assert len(releases.asked) == 1
    assert section.result.text().startswith("Version 999.0 is there; this is")
    assert section.page_button.isVisible()
    # Once a day, and told of once.
    one.app.updates._due()
    assert not one.app.updates.busy
    one.app.preferences.set_updates_asked(one.app.preferences.updates_asked - 90_000)
    with qtbot.assertNotEmitted(one.app.updates.told), qtbot.waitSignal(one.app.updates.ended):
        one.app.updates._due()
    assert len(releases.asked) == 2
    # The release that is installed by now is no news.
    one.app.updates.version = "999.0"
    section.refresh()
    assert not section.page_button.isVisible()


def test_offline_is_quiet_unless_the_button_was_pressed(
    qtbot: QtBot, fake: Callable[..., Fake], releases: Releases
) -> None:
    one, dialog = open_settings(fake)
    section = updates_section(dialog)
    releases.status = 500
    section.url.input.setText(releases.url)
    section.url.finish()
    with qtbot.waitSignal(one.app.updates.ended) as ended:
        section.check.input.click()
    assert ended.args == [None]
    assert "status" not in section.result.text()
    section.check_button.click()
    qtbot.waitUntil(lambda: section.result.text() == "127.0.0.1 answered with status 500.")
    assert section.check_button.isEnabled()


def test_a_wrong_address_is_not_kept(fake: Callable[..., Fake]) -> None:
    one, dialog = open_settings(fake)
    section = updates_section(dialog)
    section.url.input.setText("file:///etc/passwd")
    section.url.finish()
    assert section.url.wrong.isVisible()
    assert one.app.preferences.updates_url == ""


def test_what_was_written_by_another_version_is_as_if_never_set(
    fake: Callable[..., Fake],
) -> None:
    one = fake()
    for name, value in (
        ("font_size", "huge"),
        ("new_chat", "[1"),
        ("update", json.dumps({"version": 1})),
        ("updates_asked", "yesterday"),
    ):
        one.app.settings.setValue(name, value)
    read = again(one)
    assert (read.font_size, read.new_chat, read.update, read.updates_asked) == (100, None, None, 0)
    assert isinstance(one.app.updates, UpdateChecker)


# About.


def test_components_and_model_cards_are_told(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    _, dialog = open_settings(fake)
    dialog.open_at("about")
    section = dialog.sections["about"]
    qtbot.waitUntil(lambda: bool(section._components))
    licences = {each.name: each.licence for each in section._components}
    assert licences["Qt"] == "LGPL-3.0-only"
    assert all(text and text != "–" for text in licences.values()), licences
    assert [b.text() for b in section.model_buttons] == ["address-tiny", "chitchat-tiny"]
    section.model_buttons[1].click()
    assert section.reader is not None
    assert len(section.reader.text.toPlainText()) > 500
    section.reader.close()
    section.copy_button.click()
    assert "numpy" in QApplication.clipboard().text()


# On the real server.


@pytest.mark.triton
def test_all_data_go_while_a_real_server_runs(
    qtbot: QtBot, qapp: QApplication, fresh_home: Path
) -> None:
    app = Application(["tritalk"], acquire=lambda: launchers.acquire("embedded"))
    app.window.show()
    app.session.start()
    qtbot.waitUntil(lambda: app.session.status.state is ServerState.READY, timeout=240_000)
    assert {Kind.CACHE, Kind.LOGS} <= {entry.kind for entry in inventory.entries()}
    assert inventory.served()
    app.delete_data(set(Kind))
    qtbot.waitUntil(lambda: app.session.status.state is ServerState.STOPPED, timeout=60_000)
    app.close()
    app.window.deleteLater()
    assert app.removal is not None
    assert (app.removal.failed, app.removal.stayed) == ([], [])
    assert inventory.entries() == []
    left = {path.name for path in fresh_home.iterdir()}
    assert left <= {"run"}  # the sockets' folder, which is in memory on most systems
