"""A real engine pulls an image slowly: the window shows how far it is, and Cancel ends it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.launchers import acquire, docker_image
from desktop.launchers.base import ServerState
from desktop.launchers.docker_engine import Engine
from desktop.settings import DockerSettings, Settings
from desktop.ui.application import Application
from tests.docker.conftest import engine
from tests.docker.registry import Registry

__all__ = ["engine"]

pytestmark = pytest.mark.docker


@pytest.mark.parametrize("where", ["page", "status bar"])
def test_a_pull_is_shown_and_cancelled(
    qtbot: QtBot, qapp: object, fresh_home: Path, engine: Engine, where: str
) -> None:
    if not engine.shares_sockets:
        pytest.skip("the engine does not see this machine's ports")
    with Registry() as registry:
        reference = registry.offer("tritalk-test", layers=3, size=64 << 20, slowly=True)
        wanted = Settings(launcher="docker", docker=DockerSettings(image=reference))
        app = Application(["tritalk"], acquire=lambda: acquire("docker", settings=wanted))
        try:
            app.language.apply("en")
            app.window.show()
            app.window.show_page(2)
            app.session.start()
            page, foot = app.window.server, app.window.status
            qtbot.waitUntil(lambda: page.progress.bar.value() > 0, timeout=60_000)
            assert page.progress.bar.isVisible()
            assert page.progress.bar.value() < page.progress.bar.maximum()
            assert page.progress.words.text().startswith("CPU image: pulling: ")
            assert "of 3 layers" in page.progress.words.text()
            assert foot.bar.isVisible()
            assert "pulling" in foot.words.full_text()
            first = page.progress.bar.value()
            qtbot.waitUntil(lambda: page.progress.bar.value() != first, timeout=60_000)
            button = page.progress.cancel_button if where == "page" else foot.cancel_button
            button.click()
            qtbot.waitUntil(lambda: app.session.status.state is ServerState.STOPPED, timeout=60_000)
            qtbot.waitUntil(lambda: not page.progress.isVisible())
            assert not foot.bar.isVisible()
            assert "cancelled" in dict(page.server.rows())["Now"]
        finally:
            app.close()
            app.window.deleteLater()
    assert docker_image.exists(engine.api, reference) == ""
