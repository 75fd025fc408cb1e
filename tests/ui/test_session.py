"""The session's own promise: what the window is told last is how it is."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from desktop.launchers.base import ServerState, ServerStatus
from desktop.ui.session import ServerSession
from desktop.ui.tasks import Background
from tests.ui.fakes import READY, STARTING, FakeLease


class ReadyInBetween(FakeLease):
    """Becomes ready just after its earlier status was read."""

    def status(self) -> ServerStatus:
        for callback in self._callbacks:
            callback(READY)
        return STARTING


def test_an_older_status_does_not_replace_a_newer_one(qtbot: QtBot) -> None:
    background = Background()
    session = ServerSession(background, ReadyInBetween)
    told: list[ServerStatus] = []
    session.status_changed.connect(told.append)
    session.start()
    qtbot.waitUntil(lambda: READY in told)
    qtbot.wait(50)
    assert told[-1].state is ServerState.READY
    assert session.status.state is ServerState.READY
    session.close()
