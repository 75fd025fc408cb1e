"""Everything has a name for a screen reader and can be reached by the keyboard."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.ui.conftest import Fake
from tests.ui.test_conversation import texts
from tests.ui.test_message_actions import begin

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QLineEdit,
    QPlainTextEdit,
)


def controls(window: QWidget) -> list[QWidget]:
    """What a person can do something with, without the parts that controls are made of."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if isinstance(widget, CONTROLS)
        and widget.isVisible()
        and not isinstance(widget, QScrollBar)
        and not isinstance(widget.parent(), QAbstractSpinBox | QLineEdit)
    ]


def test_every_control_has_a_name(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "问")
    for language in ("en", "zh"):
        one.app.language.apply(language)  # type: ignore[arg-type]
        QApplication.processEvents()
        for page in range(3):
            one.window.show_page(page)
            nameless = [
                (type(widget).__name__, widget.objectName())
                for widget in controls(one.window)
                if not widget.accessibleName()
                and not (isinstance(widget, QAbstractButton) and widget.text())
            ]
            assert nameless == []


def test_tab_reaches_every_control_of_the_chat(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = begin(qtbot, fake, "问")
    qtbot.waitUntil(one.window.isActiveWindow)
    wanted = {widget for widget in controls(one.window) if widget.isEnabled()}
    reached = set()
    one.window.chat.composer.edit.setFocus()
    for _ in range(80):
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.add(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    # Tab reaches one button of a group, the arrows its neighbours.
    for button in [w for w in reached if isinstance(w, QAbstractButton) and w.group() is not None]:
        button.setFocus()
        for key in [Qt.Key.Key_Right] * 2 + [Qt.Key.Key_Left] * 2 + [Qt.Key.Key_Down] * 2:
            QTest.keyClick(QApplication.focusWidget(), key)
            reached.add(QApplication.focusWidget())
    missed = {
        f"{type(w).__name__} {w.accessibleName()} {w.property('text')}" for w in wanted - reached
    }
    assert missed == set()


def test_the_menu_key_opens_the_menu_of_the_last_reply(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    view = one.window.chat.view
    view.setFocus()
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), view.mapToGlobal(QPoint(0, 0))
    )
    QApplication.sendEvent(view.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    (delete,) = [a for a in menu.actions() if a.text().split("\t")[0] == "Delete from here"]
    delete.trigger()
    menu.close()
    assert texts(one) == ["甲", "一甲", "乙"]
