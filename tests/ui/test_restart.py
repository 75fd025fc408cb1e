"""A model that dies under the window: the reply breaks off in words, and the next one works."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.launchers import acquire
from desktop.launchers.base import ServerState
from desktop.store.records import DEFAULT_SETTINGS, ChatSettings
from desktop.triton.types import Sampling
from desktop.ui.application import Application
from desktop.ui.transcript import Stage
from tests.ui.keyboard import enter, type_text


@pytest.mark.triton
@pytest.mark.slow
def test_a_killed_model_breaks_off_and_comes_back(
    qtbot: QtBot, fresh_server: Callable[..., Any]
) -> None:
    server = fresh_server()
    app = Application(["tritalk"], acquire=lambda: acquire("embedded"))
    app.language.apply("en")
    try:
        app.window.show()
        app.session.start()
        qtbot.waitUntil(lambda: app.session.status.state is ServerState.READY, timeout=120_000)
        chat = app.window.chat
        transcript = chat.conversation.transcript
        endless = Sampling(max_tokens=480, min_tokens=480, temperature=1.0)
        chat.conversation.change_settings(ChatSettings(endless))
        type_text(chat.composer.edit, "tell me a story")
        enter(chat.composer.edit)
        qtbot.waitUntil(
            lambda: transcript.rowCount() == 2 and len(transcript.message(1).tokens) > 5,
            timeout=60_000,
        )
        (pid,) = server.stub_pids("ibuddha_chitchat")
        os.kill(pid, signal.SIGKILL)
        qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=20_000)
        broken = transcript.message(1)
        assert broken.stage is Stage.FAILED
        assert len(broken.tokens) > 5
        assert broken.error.endswith(".")
        chat.conversation.change_settings(DEFAULT_SETTINGS)
        type_text(chat.composer.edit, "hello again")
        enter(chat.composer.edit)
        qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=120_000)
        assert transcript.message(3).stage is Stage.DONE, chat.error.text()
        assert transcript.message(3).tokens
    finally:
        app.close()
        app.window.deleteLater()
