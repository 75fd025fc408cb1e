"""Size, place, page and panels from one start to the next, also when a screen has gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QByteArray, QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSplitterHandle
from pytestqt.qtbot import QtBot

from desktop.ui import window_state
from desktop.ui.window_state import fitted
from tests.ui.conftest import Fake


def end(one: Fake) -> None:
    one.app.close()
    one.app.settings.sync()


def drag(handle: QSplitterHandle, by: int) -> None:
    middle = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseMove(handle, middle + QPoint(by, 0))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=middle + QPoint(by, 0))


def test_place_size_page_and_panels_come_back(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    first = fake()
    first.window.setGeometry(40, 30, 1180, 700)
    drag(first.window.chat.splitter.handle(1), 70)
    width = first.window.chat.panel.width()
    assert width > 300
    first.window.show_page(1)
    end(first)
    second = fake()
    assert second.window.geometry() == QRect(40, 30, 1180, 700)
    assert second.window.pages.currentIndex() == 1
    second.window.show_page(0)
    assert second.window.chat.panel.width() == width


def test_maximised_comes_back_maximised(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    first = fake()
    first.window.setGeometry(40, 30, 900, 600)
    first.window.showMaximized()
    qtbot.waitUntil(first.window.isMaximized)
    end(first)
    second = fake()
    assert second.window.isMaximized()


def test_what_is_kept_does_not_wait_for_the_end(
    qtbot: QtBot, fake: Callable[..., Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_state, "_KEEP_MS", 10)
    one = fake()
    before = one.app.settings.value("geometry")
    one.window.setGeometry(60, 50, 1000, 640)
    qtbot.waitUntil(lambda: one.app.settings.value("geometry") not in (None, before))
    one.window.show_page(2)
    qtbot.waitUntil(lambda: one.app.settings.value("page") == "server")


def test_a_window_of_a_screen_that_has_gone_is_brought_back(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    window, settings = one.window, one.app.settings
    screen = QGuiApplication.primaryScreen().availableGeometry()
    for gone in (
        QRect(3000, 200, 1180, 700),  # on a screen at the right
        QRect(-2500, -900, 1180, 700),  # at the left and above
        QRect(900, 500, 1180, 700),  # half beyond the edge
        QRect(0, 0, 3800, 2100),  # larger than the screen that is left
    ):
        window.setGeometry(gone)
        window_state.save(window, settings)
        window.setGeometry(0, 0, 800, 600)
        window_state.restore(window, settings)
        assert screen.contains(window.geometry()), gone


def test_nonsense_in_the_file_changes_nothing(fake: Callable[..., Fake]) -> None:
    first = fake()
    for key in ("geometry", "splitter/chat", "page", "list", "coloring"):
        first.app.settings.setValue(key, QByteArray(b"\x00nonsense"))
    window_state.restore(first.window, first.app.settings)
    assert first.window.pages.currentIndex() == 0
    assert first.window.width() > 600


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        (QRect(10, 10, 50, 50), QRect(10, 10, 50, 50)),
        (QRect(90, -20, 50, 50), QRect(50, 0, 50, 50)),
        (QRect(-500, 500, 300, 20), QRect(0, 80, 100, 20)),
    ],
)
def test_as_little_as_possible_is_changed(place: QRect, wanted: QRect) -> None:
    assert fitted(place, QRect(0, 0, 100, 100)) == wanted
