"""The log in the window: bounded, searched, by level, following its end, copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.launchers.capture import BoundedLog
from desktop.launchers.log_reader import Level
from desktop.ui import theme
from desktop.ui.server_log import MOST, LogView
from desktop.ui.session import ServerSession
from desktop.ui.tasks import Background
from tests.ui.fakes import FakeLease

FIRST = """\
2026-11-29T22:22:55Z I 1 server.cc:604] "loading: counter:1"
2026-11-29T22:22:55Z W 1 pinned.cc:273] "no pinned memory"
2026-11-29T22:23:00Z E 1 model.cc:642] "failed to load 'relay'"
Traceback (most recent call last):
  File "relay/1/model.py", line 41, in initialize
2026-11-29T22:23:01Z I 1 model.cc:839] "successfully loaded 'counter'"
"""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[BoundedLog]:
    made = BoundedLog(tmp_path / "server.log")
    yield made
    made.close()


@pytest.fixture
def view(qtbot: QtBot, log: BoundedLog, fresh_home: Path) -> Iterator[LogView]:
    background = Background()
    session = ServerSession(background, FakeLease)
    shown = LogView(session, path=log.path)
    shown.resize(700, 400)
    qtbot.addWidget(shown)
    shown.show()
    yield shown
    shown.hide()
    session.close()


def fill(qtbot: QtBot, view: LogView, log: BoundedLog, text: str) -> None:
    log.feed(text.encode())
    wanted = len(view.lines()) + text.count("\n")
    qtbot.waitUntil(lambda: len(view.lines()) == min(wanted, MOST), timeout=20_000)


def test_an_empty_log_says_so(qtbot: QtBot, view: LogView) -> None:
    qtbot.waitUntil(lambda: "No server has printed" in view.text.placeholderText())
    assert view.shown() == []
    assert view.count.text() == ""


def test_lines_appear_as_they_are_printed(qtbot: QtBot, view: LogView, log: BoundedLog) -> None:
    fill(qtbot, view, log, FIRST)
    assert view.shown() == FIRST.splitlines()
    fill(qtbot, view, log, "tritalk: another\n")
    assert view.shown()[-1] == "tritalk: another"
    assert "7" in view.count.text()


def test_search_and_level_choose_lines(qtbot: QtBot, view: LogView, log: BoundedLog) -> None:
    fill(qtbot, view, log, FIRST)
    view.search.setFocus()
    QTest.keyClicks(view.search, "RELAY")
    qtbot.waitUntil(lambda: len(view.shown()) == 2)
    assert view.shown() == [FIRST.splitlines()[2], FIRST.splitlines()[4]]
    assert view.count.text().startswith("2 ")
    view.search.clear()
    qtbot.waitUntil(lambda: len(view.shown()) == 6)
    view.level.setCurrentIndex(view.level.findData(Level.WARNING))
    assert view.shown() == FIRST.splitlines()[1:5]
    view.level.setCurrentIndex(view.level.findData(Level.ERROR))
    assert view.shown() == FIRST.splitlines()[2:5]
    # What comes now is chosen too.
    fill(qtbot, view, log, "tritalk: fine\nRuntimeError: worn out\n")
    assert view.shown()[-1] == "RuntimeError: worn out"
    assert "tritalk: fine" not in view.shown()
    view.search.setText("no such words")
    qtbot.waitUntil(lambda: view.shown() == [])
    assert view.text.placeholderText() == view.tr("No line is like that.")


def test_what_is_searched_for_is_marked(qtbot: QtBot, view: LogView, log: BoundedLog) -> None:
    fill(qtbot, view, log, FIRST)
    view.search.setText("counter")
    view.refill()
    layout = view.text.document().firstBlock().layout()
    marked = [f for f in layout.formats() if f.format.background().style() != Qt.BrushStyle.NoBrush]
    text = view.shown()[0]
    assert [text[f.start : f.start + f.length] for f in marked] == ["counter"]
    view.search.clear()
    view.refill()
    errors = view.text.document().findBlockByNumber(3).layout().formats()
    assert errors[0].format.foreground().color() == theme.current().color("danger")


def test_it_is_bounded(qtbot: QtBot, view: LogView, log: BoundedLog) -> None:
    fill(qtbot, view, log, "".join(f"line {n}\n" for n in range(MOST - 100)))
    fill(qtbot, view, log, "".join(f"more {n}\n" for n in range(300)))
    qtbot.waitUntil(lambda: view.lines()[-1].text == "more 299")
    assert len(view.lines()) == view.text.blockCount() == MOST
    assert view.shown()[0] == "line 200"


def wheel(view: LogView, notches: int) -> None:
    at = QPointF(view.text.viewport().rect().center())
    event = QWheelEvent(
        at,
        view.text.viewport().mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.text.viewport(), event)


def test_it_follows_its_end_unless_somebody_reads(
    qtbot: QtBot, view: LogView, log: BoundedLog
) -> None:
    bar = view.text.verticalScrollBar()
    fill(qtbot, view, log, "".join(f"line {n}\n" for n in range(200)))
    assert bar.value() == bar.maximum() > 0
    wheel(view, 5)
    qtbot.waitUntil(lambda: not view.follow.isChecked())
    at = bar.value()
    fill(qtbot, view, log, "more\n" * 20)
    assert bar.value() == at < bar.maximum()
    view.follow.click()
    assert bar.value() == bar.maximum()
    wheel(view, 5)
    qtbot.waitUntil(lambda: not view.follow.isChecked())
    wheel(view, -50)
    qtbot.waitUntil(view.follow.isChecked)


def test_copy_takes_the_selection_or_what_is_shown(
    qtbot: QtBot, view: LogView, log: BoundedLog
) -> None:
    fill(qtbot, view, log, FIRST)
    view.level.setCurrentIndex(view.level.findData(Level.WARNING))
    view.copy_button.click()
    assert QGuiApplication.clipboard().text().splitlines() == FIRST.splitlines()[1:5]
    cursor = view.text.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.Start)
    cursor.movePosition(QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor, 2)
    view.text.setTextCursor(cursor)
    view.copy_button.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.splitlines() == FIRST.splitlines()[1:3]


def test_nothing_is_read_while_nobody_looks(
    qtbot: QtBot, view: LogView, log: BoundedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(qtbot, view, log, FIRST)
    qtbot.waitUntil(lambda: view._task is None)
    view.hide()
    reads: list[Any] = []
    monkeypatch.setattr(view._reader, "read", lambda: reads.append(1) or [])
    assert not view._timer.isActive()
    qtbot.wait(50)
    assert reads == []
