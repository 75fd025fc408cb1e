"""A warning before what will not fit into memory is loaded, once; then the person decides."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from desktop import memory
from desktop.launchers.base import ServerState
from desktop.settings import Settings
from tests.ui.conftest import Fake
from tests.ui.test_conversation import send, wait_idle


def nothing_free(settings: Settings | None) -> None:
    memory.check(3 * 2**30, 700 * 2**20)


def test_a_start_is_held_up_once_with_the_figures(
    qtbot: QtBot, fake: Callable[..., Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = fake()
    session = one.app.session
    qtbot.waitUntil(lambda: session.status.state is ServerState.READY)
    monkeypatch.setattr(session, "_check", nothing_free)
    session.restart()
    qtbot.waitUntil(lambda: session.status.state is ServerState.STOPPED)
    assert session.status.message.startswith("this needs about 3.0 GB of memory, and 700 MB")
    send(one, "你好")
    assert one.window.chat.composer.text() == "你好"
    server = one.window.server
    qtbot.waitUntil(lambda: server.start_button.isEnabled() and not server.start_button.isHidden())
    server.start_button.click()
    qtbot.waitUntil(lambda: session.status.state is ServerState.READY)
    send(one, "你好")
    wait_idle(qtbot, one)
    session.restart()  # another time it is another warning
    qtbot.waitUntil(lambda: session.status.state is ServerState.STOPPED)


def test_the_real_check_lets_the_shipped_models_start(
    qtbot: QtBot, fake: Callable[..., Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 64 * 2**30)
    memory.check_launch(Settings())
    monkeypatch.setattr(memory, "available", lambda: 100 * 2**20)
    with pytest.raises(memory.MemoryShort):
        memory.check_launch(Settings())
    memory.check_launch(Settings(launcher="remote"))
    with pytest.raises(memory.MemoryShort):
        memory.check_load("ibuddha_chitchat")
    memory.check_load("ibuddha_chitchat_stream")  # takes next to nothing
