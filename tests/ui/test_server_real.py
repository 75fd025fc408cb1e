"""The server page on real servers: models, figures, log, stop, restart with other settings."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop import settings
from desktop.launchers import acquire, current
from desktop.launchers.base import ServerState
from desktop.settings import Settings
from desktop.triton.client import TritonClient
from desktop.ui.application import Application
from tests.conftest import wait_until_gone
from tests.support.chat import reply, together
from tests.triton.tiny import MODELS

pytestmark = pytest.mark.triton


def ready(app: Application) -> None:
    """Wait until the server is ready and the page, which hears of it a moment later, says so."""
    end = time.monotonic() + 200
    page = app.window.server
    while time.monotonic() < end and (
        app.session.status.state is not ServerState.READY or page.stop_button.isHidden()
    ):
        QTest.qWait(20)
    assert app.session.status.state is ServerState.READY, app.session.status


def open_window(app: Application) -> Any:
    app.language.apply("en")
    app.theme.apply("light")
    app.window.show()
    app.window.show_page(2)
    app.session.start()
    ready(app)
    return app.window.server


@pytest.fixture(scope="module")
def app(qapp: object, server: Any) -> Iterator[Application]:
    """One window for the tests that leave the session's server as it was."""
    made = Application(["tritalk"], acquire=lambda: acquire("embedded"))
    open_window(made)
    yield made
    made.close()
    made.window.deleteLater()


def test_a_model_is_unloaded_and_loaded(qtbot: QtBot, app: Application) -> None:
    page = app.window.server
    page.show_section(0)
    table = page.models
    qtbot.waitUntil(lambda: dict(table.rows()).get("address_parser") == "ready", timeout=20_000)
    row = table.row("address_parser")
    qtbot.waitUntil(lambda: row.version.text() == "version 1", timeout=20_000)
    row.button.click()
    try:
        qtbot.waitUntil(lambda: dict(table.rows())["address_parser"] == "unloaded", timeout=30_000)
        # The rest goes on, and the window says what is missing.
        qtbot.waitUntil(lambda: app.session.status.state is ServerState.DEGRADED, timeout=20_000)
        qtbot.waitUntil(lambda: "address_parser" in dict(page.server.rows()).get("Now", ""))
        with TritonClient(app.session.status.endpoint) as client:
            tokens, _ = reply(client, "你好", max_tokens=5)
            assert tokens
    finally:
        qtbot.waitUntil(row.button.isEnabled, timeout=20_000)
        row.button.click()
        qtbot.waitUntil(lambda: dict(table.rows())["address_parser"] == "ready", timeout=60_000)
    ready(app)


def test_the_charts_get_the_real_figures(qtbot: QtBot, app: Application) -> None:
    page = app.window.server
    page.show_section(0)
    charts = page.charts
    qtbot.waitUntil(charts.isVisible)
    qtbot.waitUntil(lambda: bool(charts.cards["cpu"].chart.points()), timeout=20_000)

    def work(_: object) -> None:
        with TritonClient(app.session.status.endpoint) as client:
            talks = [lambda: reply(client, "给我讲个故事吧", min_tokens=60, max_tokens=60)] * 3
            together([*talks, lambda: client.parse(["杭州市余杭区文一西路969号"] * 40)])

    app.session.background.run(work)

    def most(name: str, line: int) -> float:
        values = [point.values[line] for point in charts.cards[name].chart.points()]
        return max((value for value in values if value is not None), default=0.0)

    wanted = [("tokens", 0), ("requests", 0), ("requests", 1), ("batch", 0), ("batch", 1)]
    wanted += [("queue", 1), ("cpu", 0), ("memory", 0)]
    for name, line in wanted:
        qtbot.waitUntil(lambda n=name, k=line: most(n, k) > 0, timeout=60_000)
    assert most("batch", 0) <= 3
    assert most("memory", 0) > 1e8
    assert "gpu" not in charts.cards or Path("/dev/nvidia0").exists()


def test_the_log_is_the_servers(qtbot: QtBot, app: Application) -> None:
    page = app.window.server
    page.show_section(1)
    qtbot.waitUntil(
        lambda: any("successfully loaded" in line for line in page.log.shown()), timeout=20_000
    )
    page.log.search.setText("ibuddha_chitchat_stream")
    page.log.refill()
    shown = page.log.shown()
    assert shown
    assert all("ibuddha_chitchat_stream" in line for line in shown)
    page.log.search.clear()
    page.show_section(0)


def test_it_is_stopped_started_and_restarted_as_it_is_set(
    qtbot: QtBot, qapp: object, fresh_home: Path
) -> None:
    app = Application(["tritalk"], acquire=lambda: acquire("embedded", models_source=MODELS))
    try:
        page = open_window(app)
        first = app.session.status
        assert first.endpoint.grpc.startswith("unix:")
        run = Path(first.endpoint.metrics.removeprefix("unix:")).parent
        page.stop_button.click()
        qtbot.waitUntil(lambda: app.session.status.state is ServerState.STOPPED, timeout=60_000)
        assert wait_until_gone(fresh_home, run) == []
        assert current() is None
        qtbot.waitUntil(page.start_button.isEnabled)
        page.start_button.click()
        qtbot.waitUntil(lambda: app.session.status.state is ServerState.STARTING)
        ready(app)
        # Other settings, in force after one click: loopback ports, which demand a key.
        settings.save(Settings(listen="tcp"))
        page.show_section(2)
        form = page.settings
        qtbot.waitUntil(form.restart_button.isVisible)
        before = app.session.status.pid
        form.restart_button.click()
        qtbot.waitUntil(lambda: app.session.status.pid not in (0, before), timeout=100_000)
        ready(app)
        assert not form.restart_bar.isVisible()
        endpoint = app.session.status.endpoint
        assert endpoint.grpc.startswith("127.0.0.1:")
        (key,) = endpoint.headers.values()
        # The window has the key, so it may load and unload; nobody is shown the key.
        page.show_section(0)
        qtbot.waitUntil(lambda: dict(page.models.rows()).get("relay") == "ready")
        row = page.models.row("relay")
        qtbot.waitUntil(row.button.isEnabled)
        row.button.click()
        qtbot.waitUntil(lambda: dict(page.models.rows())["relay"] == "unloaded", timeout=60_000)
        qtbot.waitUntil(row.button.isEnabled, timeout=20_000)
        row.button.click()
        qtbot.waitUntil(lambda: dict(page.models.rows())["relay"] == "ready", timeout=60_000)
        qtbot.waitUntil(lambda: bool(page.charts.cards["cpu"].chart.points()), timeout=20_000)
        QGuiApplication.clipboard().clear()
        page.copy_button.click()
        qtbot.waitUntil(lambda: "## Log" in QGuiApplication.clipboard().text())
        text = QGuiApplication.clipboard().text()
        assert key not in text
        assert json.dumps(endpoint.grpc) in text
        assert "relay  1  READY" in text
    finally:
        app.close()
        app.window.deleteLater()
