"""The icon in a real tray: what the X server shows of it, its menu, closing into it, notices."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QSystemTrayIcon, QWidget
from pytestqt.qtbot import QtBot

from desktop.launchers import acquire
from desktop.launchers.base import ServerState
from desktop.ui import theme
from desktop.ui.address_file_job import FileFinished
from desktop.ui.application import Application
from desktop.ui.tray import TrayState, tray_icon, tray_state
from tests.ui import xserver
from tests.ui.conftest import Fake
from tests.ui.fakes import FAILED, READY, STARTING, FakeLease

STATUSES = {
    TrayState.STARTING: STARTING,
    TrayState.READY: READY,
    TrayState.DEGRADED: replace(READY, state=ServerState.DEGRADED),
    TrayState.STOPPED: replace(READY, state=ServerState.STOPPED),
    TrayState.FAILED: FAILED,
}


@pytest.fixture
def host(qtbot: QtBot, display: str) -> Iterator[subprocess.Popen[bytes]]:
    with xserver.tray_host(display) as process:
        qtbot.waitUntil(QSystemTrayIcon.isSystemTrayAvailable, timeout=20_000)
        yield process
    qtbot.waitUntil(lambda: not QSystemTrayIcon.isSystemTrayAvailable(), timeout=20_000)


@pytest.fixture
def one(qtbot: QtBot, host: subprocess.Popen[bytes], fake: Callable[..., Fake]) -> Iterator[Fake]:
    made = fake(gap=0.05)
    # No window manager keeps the window off the panel.
    made.window.setGeometry(0, 60, 1280, 700)
    qtbot.waitUntil(lambda: in_tray() is not None, timeout=20_000)
    qtbot.waitUntil(lambda: made.app.tray.state is TrayState.READY)
    yield made
    QGuiApplication.setQuitOnLastWindowClosed(True)


def in_tray() -> QWidget | None:
    """The window that Qt has put into the tray."""
    for widget in QApplication.topLevelWidgets():
        if widget.metaObject().className() == "QSystemTrayIconSys" and widget.isVisible():
            return widget
    return None


def tray_widget() -> QWidget:
    widget = in_tray()
    assert widget is not None
    return widget


def seen(one: Fake) -> QImage:
    """The icon's pixels, as the X server has them."""
    area = one.app.tray.icon.geometry()
    screen = QGuiApplication.primaryScreen()
    picture = screen.grabWindow(0, area.x(), area.y(), area.width(), area.height())
    return picture.toImage().convertToFormat(QImage.Format.Format_RGB32)


def wanted(state: TrayState, panel: QColor, side: int) -> QImage:
    image = QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(panel)
    painter = QPainter(image)
    painter.drawPixmap(0, 0, tray_icon(state).pixmap(side, side))
    painter.end()
    return image


def differing(one: QImage, other: QImage) -> int:
    """How many pixels are plainly not the same."""
    return sum(
        abs(QColor(one.pixel(x, y)).lightness() - QColor(other.pixel(x, y)).lightness()) > 24
        or abs(QColor(one.pixel(x, y)).red() - QColor(other.pixel(x, y)).red()) > 24
        for x in range(one.width())
        for y in range(one.height())
    )


def shows(one: Fake, state: TrayState) -> bool:
    image = seen(one)
    if image.width() != image.height():
        return False
    return differing(image, wanted(state, image.pixelColor(0, 0), image.width())) == 0


def test_the_icon_shows_each_state(qtbot: QtBot, one: Fake) -> None:
    tray = one.app.tray
    pictures = {}
    for state, status in STATUSES.items():
        one.lease.become(status)
        qtbot.waitUntil(lambda: tray.state is state)  # noqa: B023
        qtbot.waitUntil(lambda: shows(one, state))  # noqa: B023
        pictures[state] = seen(one)
    one.lease.become(READY)
    qtbot.waitUntil(lambda: tray.state is TrayState.READY)
    one.window.chat.conversation.send("一二三四五六七八九十" * 3)
    qtbot.waitUntil(lambda: tray.state is TrayState.BUSY)
    qtbot.waitUntil(lambda: shows(one, TrayState.BUSY))
    pictures[TrayState.BUSY] = seen(one)
    assert "Computing" in tray.icon.toolTip()
    one.window.chat.conversation.stop()
    qtbot.waitUntil(lambda: shows(one, TrayState.READY))
    assert tray.icon.toolTip() == "Tritalk · Ready · embedded Triton"
    # Without colour, too, no two states look alike.
    grey = {k: v.convertToFormat(QImage.Format.Format_Grayscale8) for k, v in pictures.items()}
    marks = {k: shape(v) for k, v in grey.items()}
    for first in TrayState:
        for second in TrayState:
            if first < second:
                assert len(marks[first] ^ marks[second]) > 20, (first, second)


@pytest.mark.triton
def test_the_icon_follows_a_real_server(
    qtbot: QtBot, host: subprocess.Popen[bytes], fresh_home: Path
) -> None:
    app = Application(["tritalk"], acquire=lambda: acquire("embedded"))
    tray, conversation = app.tray, app.window.chat.conversation
    try:
        states = [tray.state]
        tray.state_changed.connect(states.append)
        app.window.setGeometry(0, 60, 1280, 700)
        app.session.start()
        qtbot.waitUntil(lambda: tray.state is TrayState.READY, timeout=120_000)
        conversation.change_settings(
            replace(
                conversation.settings,
                sampling=replace(conversation.settings.sampling, min_tokens=60, max_tokens=60),
            )
        )
        conversation.send("今天好累啊")
        qtbot.waitUntil(lambda: not conversation.busy, timeout=120_000)
        tray.server_action.trigger()
        qtbot.waitUntil(lambda: tray.state is TrayState.STOPPED, timeout=60_000)
        # Stopping looks like starting: on its way.
        assert states == [
            TrayState.STARTING,
            TrayState.READY,
            TrayState.BUSY,
            TrayState.READY,
            TrayState.STARTING,
            TrayState.STOPPED,
        ]
    finally:
        app.close()
        app.window.deleteLater()


def shape(image: QImage) -> set[tuple[int, int]]:
    """Where something is drawn, whatever its colour."""
    return {
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if QColor(image.pixel(x, y)).lightness() < 200
    }


def test_each_colour_reads_on_light_and_dark_panels() -> None:
    for state in TrayState:
        color = QColor(theme.tokens()["tray"][str(state)])
        for panel in ("#FFFFFF", "#000000", "#222222"):
            assert theme.contrast(color, QColor(panel)) >= 3.0, (state, panel)


def test_a_degraded_server_that_computes_stays_degraded() -> None:
    status = STATUSES[TrayState.DEGRADED]
    assert tray_state(status, busy=True) is TrayState.DEGRADED
    assert tray_state(replace(READY, state=ServerState.STOPPING), False) is TrayState.STARTING


def test_a_click_hides_and_shows_the_window(qtbot: QtBot, one: Fake) -> None:
    tray = one.app.tray
    QTest.mouseClick(tray_widget(), Qt.MouseButton.LeftButton)
    assert not one.window.isVisible()
    qtbot.waitUntil(lambda: tray.show_action.text() == "Show Tritalk")
    QTest.mouseClick(tray_widget(), Qt.MouseButton.LeftButton)
    assert one.window.isVisible()
    qtbot.waitUntil(lambda: tray.show_action.text() == "Hide Tritalk")


def test_a_file_is_busy_and_its_end_is_told(qtbot: QtBot, one: Fake) -> None:
    job, tray = one.window.address.job, one.app.tray
    job.busy_changed.emit(True)
    assert tray.state is TrayState.BUSY
    one.window.chat.conversation.send("一二三")
    qtbot.waitUntil(lambda: not one.window.chat.conversation.busy)
    assert tray.state is TrayState.BUSY  # the reply has ended, the file has not
    one.window.hide()
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is None)
    job.busy_changed.emit(False)
    assert tray.state is TrayState.READY
    job.finished.emit(FileFinished("客户.xlsx", 12345, 67, 8, 90.0))
    qtbot.waitUntil(lambda: balloon() == "The file of addresses is done")
    assert "客户.xlsx: 12,345 rows, 67 to check, 8 failed" in balloon_texts()
    hide_balloon()


def test_the_menu_opens_and_does_what_it_says(qtbot: QtBot, one: Fake) -> None:
    tray, window = one.app.tray, one.window
    QTest.mouseClick(tray_widget(), Qt.MouseButton.RightButton, pos=QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert menu is tray.menu
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert texts == [
        "Ready · embedded Triton",
        "Hide Tritalk",
        "New conversation",
        "Parse the address in the clipboard",
        "Stop the server",
        "Keep running when the window is closed",
        "Quit",
    ]
    menu.close()
    one.app.language.apply("zh")
    QApplication.processEvents()
    assert menu.actions()[0].text().startswith("就绪")
    assert not {a.text() for a in menu.actions() if not a.isSeparator()} & set(texts)
    one.app.language.apply("en")

    window.chat.conversation.send("问")
    qtbot.waitUntil(lambda: not window.chat.conversation.busy)
    window.hide()
    window.show_page(2)
    tray.new_action.trigger()
    assert window.isVisible()
    assert window.pages.currentIndex() == 0
    assert window.chat.conversation.id is None

    window.hide()
    QGuiApplication.clipboard().setText("鼓楼区湖南路18号")
    tray.clipboard_action.trigger()
    assert window.isVisible()
    assert window.pages.currentIndex() == 1
    qtbot.waitUntil(lambda: window.address.result is not None)
    assert window.address.field.text() == "鼓楼区湖南路18号"

    tray.server_action.trigger()
    qtbot.waitUntil(lambda: tray.state is TrayState.STOPPED)
    assert one.lease.closed
    qtbot.waitUntil(lambda: tray.server_action.text() == "Start the server")
    tray.server_action.trigger()
    qtbot.waitUntil(lambda: tray.state is TrayState.READY)

    asked = []
    window.quit_asked.disconnect(one.app.qt.quit)
    window.quit_asked.connect(lambda: asked.append("quit"))
    tray.quit_action.trigger()
    assert asked == ["quit"]


def test_closing_ends_unless_the_person_wants_the_tray(qtbot: QtBot, one: Fake) -> None:
    window, tray = one.window, one.app.tray
    assert not tray.close_to_tray
    assert window.close()
    tray.show_window()
    tray.keep_action.trigger()
    assert tray.close_to_tray
    assert not window.close()
    assert not window.isVisible()
    assert balloon() == "Tritalk goes on in the tray"
    assert not QGuiApplication.quitOnLastWindowClosed()
    tray.show_window()
    assert window.isVisible()
    hide_balloon()
    assert not window.close()
    assert balloon() == ""  # said once
    # A second start of the program asks for the same as the menu.
    tray.show_window()
    assert QGuiApplication.quitOnLastWindowClosed()


def test_the_window_comes_back_when_the_tray_goes(
    qtbot: QtBot, host: subprocess.Popen[bytes], one: Fake
) -> None:
    one.app.tray.set_close_to_tray(True)
    assert not one.window.close()
    hide_balloon()
    host.kill()
    qtbot.waitUntil(one.window.isVisible, timeout=20_000)
    assert one.window.close()  # nothing to close into any more


def test_without_a_tray_closing_closes(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(lease=FakeLease(READY))
    one.app.tray.set_close_to_tray(True)
    assert not QSystemTrayIcon.isSystemTrayAvailable()
    QApplication.processEvents()
    one.app.tray.set_busy("nothing", False)
    assert not one.app.tray.show_action.isEnabled()
    assert one.window.close()
    QGuiApplication.setQuitOnLastWindowClosed(True)


def balloon() -> str:
    """The title of the notice that is on screen."""
    for widget in QApplication.topLevelWidgets():
        if widget.metaObject().className() == "QBalloonTip" and widget.isVisible():
            return next(each.text() for each in widget.findChildren(QLabel) if each.text())
    return ""


def balloon_texts() -> set[str]:
    return {
        label.text()
        for widget in QApplication.topLevelWidgets()
        if widget.metaObject().className() == "QBalloonTip"
        for label in widget.findChildren(QLabel)
    }


def hide_balloon() -> None:
    for widget in QApplication.topLevelWidgets():
        if widget.metaObject().className() == "QBalloonTip":
            widget.close()
    QApplication.processEvents()


def test_a_long_reply_that_ends_in_the_background_is_told(
    qtbot: QtBot, one: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    from desktop.ui import application

    conversation = one.window.chat.conversation
    monkeypatch.setattr(application, "_LONG_REPLY_S", 0.2)
    qtbot.waitUntil(one.window.isActiveWindow)
    conversation.send("一二三四五六")
    qtbot.waitUntil(lambda: not conversation.busy)
    assert balloon() == ""  # the person was looking
    one.window.hide()
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is None)
    conversation.send("七八九十一二")
    first = conversation.id
    conversation.new()
    qtbot.waitUntil(lambda: balloon() == "The reply is there")
    widget = next(
        w for w in QApplication.topLevelWidgets() if w.metaObject().className() == "QBalloonTip"
    )
    assert "七八九十一二" in balloon_texts()
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
    assert one.window.isVisible()
    qtbot.waitUntil(lambda: conversation.id == first)
    assert one.window.pages.currentIndex() == 0
