"""The introduction: once by itself, three steps, skipped or gone through, and again on demand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.ui.onboarding import SAMPLE_FILE, SAMPLE_MESSAGE
from tests.ui.conftest import Fake


@pytest.fixture
def one(qtbot: QtBot, fake: Callable[..., Fake]) -> Fake:
    made = fake()
    qtbot.waitUntil(made.window.isActiveWindow)
    return made


def start(one: Fake, check: Callable[[], None]) -> None:
    """Run the application as a person does, until ``check`` was made."""

    def look() -> None:
        check()
        QCoreApplication.quit()

    QTimer.singleShot(300, look)
    assert one.app.run() == 0


def test_it_comes_once_by_itself(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    shown = []
    first = fake()

    def skip() -> None:
        shown.append(first.app.onboarding.isVisible())
        QTest.keyClick(first.app.onboarding, Qt.Key.Key_Escape)
        shown.append(first.app.onboarding.isVisible())

    start(first, skip)
    second = fake()
    start(second, lambda: shown.append(second.app.onboarding.isVisible()))
    assert shown == [True, False, False]


def test_three_steps_back_and_forth_by_the_keyboard(qtbot: QtBot, one: Fake) -> None:
    one.window.carry_out("welcome")
    welcome = one.app.onboarding
    assert welcome.isVisible()
    assert welcome.steps.count() == 3
    assert not welcome.back_button.isEnabled()
    for step in (1, 2):
        QTest.keyClick(welcome, Qt.Key.Key_Return)
        assert welcome.steps.currentIndex() == step
        assert welcome.dots.accessibleName() == f"Step {step + 1} of 3"
    welcome.back_button.click()
    assert welcome.steps.currentIndex() == 1
    welcome.next_button.click()
    assert welcome.next_button.text() == "Begin"
    assert not welcome.skip_button.isVisible()
    welcome.next_button.click()
    assert not welcome.isVisible()
    one.window.carry_out("welcome")
    assert welcome.steps.currentIndex() == 0


def test_the_sample_message_is_sent(qtbot: QtBot, one: Fake) -> None:
    one.window.show_page(2)
    one.window.carry_out("welcome")
    welcome = one.app.onboarding
    welcome.steps.setCurrentIndex(2)
    QTest.mouseClick(welcome.message_button, Qt.MouseButton.LeftButton)
    assert not welcome.isVisible()
    assert one.window.pages.currentIndex() == 0
    conversation = one.window.chat.conversation
    qtbot.waitUntil(lambda: not conversation.busy)
    assert conversation.title == SAMPLE_MESSAGE
    assert one.client.asked == [(SAMPLE_MESSAGE, ())]


def test_a_file_that_is_brought_along_comes_first(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("地址\n鼓楼区湖南路18号\n", "utf-8")
    one = fake()
    one.app.open_file(table)
    shown = []
    start(one, lambda: shown.append(one.app.onboarding.isVisible()))
    assert shown == [False]


def test_it_stays_in_front_when_the_window_is_asked_for(qtbot: QtBot, one: Fake) -> None:
    one.window.carry_out("welcome")
    one.app.tray.show_window()
    qtbot.waitUntil(one.app.onboarding.isActiveWindow)
    one.app.open_file(SAMPLE_FILE)
    assert not one.app.onboarding.isVisible()
    assert one.window.pages.currentIndex() == 1
