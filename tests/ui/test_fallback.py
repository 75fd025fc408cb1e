"""Docker asked for and not there: said in the window, which then goes on with what there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop import launchers
from desktop.launchers.base import ServerState
from desktop.ui.application import Application

pytestmark = [pytest.mark.ui, pytest.mark.triton]


@pytest.mark.parametrize(
    ("language", "words"), [("en", "No Docker engine is at"), ("zh", "上没有 Docker 引擎")]
)
def test_the_window_goes_on_with_the_builtin_triton(
    qtbot: QtBot,
    fresh_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    words: str,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    app = Application(
        ["tritalk"],
        acquire=lambda: launchers.acquire("docker"),
        builtin=lambda: launchers.acquire("embedded"),
    )
    try:
        app.language.apply(language)  # type: ignore[arg-type]
        app.window.show()
        app.session.start()
        qtbot.waitUntil(lambda: app.session.status.state is ServerState.FAILED, timeout=30_000)
        app.window.show_page(2)
        page = app.window.server
        qtbot.waitUntil(page.builtin_button.isVisible)
        assert any(words in value for _, value in page.server.rows()), page.server.rows()
        page.builtin_button.click()
        qtbot.waitUntil(lambda: app.session.status.state is ServerState.READY, timeout=120_000)
        assert app.session.status.launcher == "embedded"
        qtbot.waitUntil(lambda: not page.builtin_button.isVisible())
    finally:
        app.close()
        app.window.deleteLater()
