"""kill -9 in the middle of a reply, on the real server: what came is there after the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.launchers import acquire
from desktop.store.records import ChatSettings
from desktop.triton.types import Sampling
from desktop.ui.application import Application
from desktop.ui.transcript import Stage
from tests.ui.keyboard import enter

ROOT = Path(__file__).resolve().parents[2]

# A window that a person types into; each token shown is told with its time.
WINDOW = """
import sys, time
from desktop.launchers import acquire
from desktop.store.records import ChatSettings
from desktop.triton.types import Sampling
from desktop.ui.application import Application
from tests.ui.keyboard import enter, type_text

app = Application(["tritalk"], acquire=lambda: acquire("embedded"))
app.language.apply("en")
chat = app.window.chat
endless = Sampling(max_tokens=480, min_tokens=480, temperature=1.0, top_p=1.0)
chat.conversation.change_settings(ChatSettings(endless))
chat.conversation.transcript.dataChanged.connect(
    lambda *_: print(len(chat.conversation.transcript.message(1).tokens), time.time(), flush=True)
)
app.window.show()
app.session.start()
type_text(chat.composer.edit, "tell me a story")
enter(chat.composer.edit)
sys.exit(app.qt.exec())
"""


@pytest.mark.triton
def test_kill_9_in_mid_reply_loses_at_most_a_second_and_continues(
    qtbot: QtBot, display: str, server: Any
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WINDOW],
        cwd=ROOT,
        env=os.environ | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    shown: list[tuple[int, float]] = []
    # Long enough for a first batch to be written, and before the reply can have ended.
    while not shown or (shown[-1][1] - shown[0][1] < 0.9 and shown[-1][0] < 300):
        count, when = child.stdout.readline().split()
        shown.append((int(count), float(when)))
    child.send_signal(signal.SIGKILL)
    killed = time.time()
    for line in child.stdout:
        count, when = line.split()
        shown.append((int(count), float(when)))
    child.wait()
    old_enough = max((count for count, when in shown if when < killed - 1.0), default=0)

    app = Application(["tritalk"], acquire=lambda: acquire("embedded"))
    app.language.apply("en")
    try:
        chat = app.window.chat
        app.window.show()
        app.session.start()
        transcript = chat.conversation.transcript
        qtbot.waitUntil(lambda: transcript.rowCount() == 2, timeout=20_000)
        reply = transcript.message(1)
        assert transcript.message(0).text == "tell me a story"
        assert reply.stage is Stage.INTERRUPTED
        qtbot.waitUntil(lambda: bool(reply.tokens) or not reply.text, timeout=20_000)
        before = list(reply.tokens)
        assert old_enough <= len(before) < 480
        assert before, "the reply was killed before anything was saved"
        assert reply.text == "".join(token.text for token in before)
        assert chat.view.delegate.figures(reply) == ["interrupted"]

        chat.conversation.change_settings(ChatSettings(Sampling(max_tokens=12, min_tokens=12)))
        place = chat.view.action_rect("continue", 1).center()
        QTest.mouseClick(chat.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.waitUntil(
            lambda: reply.finished is not None and not chat.conversation.busy, timeout=60_000
        )
        assert reply.tokens[: len(before)] == before
        assert len(reply.tokens) == len(before) + 12
        assert reply.finished is not None
        assert reply.finished.tokens == len(reply.tokens)
    finally:
        app.close()
        app.window.deleteLater()


@pytest.mark.triton
def test_choosing_another_token_regenerates_from_there(
    qtbot: QtBot, qapp: object, server: Any
) -> None:
    app = Application(["tritalk"], acquire=lambda: acquire("embedded"))
    app.language.apply("en")
    try:
        chat = app.window.chat
        app.window.show()
        app.session.start()
        chat.conversation.new()
        chat.conversation.change_settings(ChatSettings(Sampling(temperature=0.0, max_tokens=20)))
        chat.composer.edit.setPlainText("最近工作压力有点大")
        enter(chat.composer.edit)
        transcript = chat.conversation.transcript
        qtbot.waitUntil(
            lambda: transcript.rowCount() == 2 and not chat.conversation.busy, timeout=120_000
        )
        first = transcript.message(1)
        assert first.stage is Stage.DONE, first.error
        chat.view.setFocus()
        chat.view.explain_token(1, 2)
        QTest.keyClick(chat.view, Qt.Key.Key_Down)
        assert chat.popover is not None
        chosen = chat.popover.marked
        assert chosen is not None
        QTest.keyClick(chat.view, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=60_000)
        second = transcript.message(1)
        assert transcript.branch(second) == (2, 2)
        assert second.tokens[:2] == first.tokens[:2]
        assert second.tokens[2].token_id == chosen.token_id
        assert second.stage is Stage.DONE, second.error
        assert len(second.tokens) > 3
        assert second.text != first.text
        # Greedy and with the same beginning, the model says the same again.
        chat.conversation.regenerate(second, second.tokens[:3])
        qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=60_000)
        assert transcript.message(1).text == second.text
    finally:
        app.close()
        app.window.deleteLater()
