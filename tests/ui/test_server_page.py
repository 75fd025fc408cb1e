"""The server page on a faked server: states, buttons, progress, models, charts, diagnostics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from desktop import paths, settings
from desktop.launchers.base import Lease, Progress, ServerState, ServerStatus
from desktop.settings import RemoteSettings, Settings
from desktop.triton.control import ModelInfo
from desktop.triton.metrics import Snapshot, parse
from desktop.triton.types import Endpoint
from desktop.ui import server_charts
from desktop.ui.application import Application
from desktop.ui.server_diagnostics import diagnostics
from tests.ui.fakes import FAILED, READY, STARTING, FakeClient, FakeLease
from tests.ui.server_pictures import BUILDING, PULLING, figures
from tests.unit.test_metrics import GPU, PAGE, ZERO

KEY = "k3y-of-this-launch"


class Page:
    """A window on its server page; ``stops`` tells what the server was stopped for."""

    def __init__(self, status: ServerStatus) -> None:
        self.leases: list[FakeLease] = []
        self.built_in: list[FakeLease] = []
        self.stops: list[str] = []
        self._first = status
        self.app = Application(
            ["tritalk"],
            acquire=self._acquire,
            client=lambda endpoint: FakeClient(lambda text, history: []),
            builtin=self._acquire_builtin,
        )
        self.app.session._stop = self.stops.append
        self.told: ServerStatus | None = None
        self.app.session.status_changed.connect(self._hear)
        self.app.language.apply("en")
        self.app.theme.apply("light")
        self.app.window.show()
        self.app.window.show_page(2)
        self.page = self.app.window.server
        self.app.session.start()

    def _hear(self, status: ServerStatus) -> None:
        self.told = status  # connected last: the page has shown it by now

    def _acquire(self) -> Lease:
        self.leases.append(FakeLease(self._first))
        self._first = READY
        return self.leases[-1]

    def _acquire_builtin(self) -> Lease:
        self.built_in.append(FakeLease(READY))
        return self.built_in[-1]

    def become(self, qtbot: QtBot, status: ServerStatus) -> None:
        self.leases[-1].become(status)
        qtbot.waitUntil(lambda: self.told == status)

    def shows(self, qtbot: QtBot, state: ServerState) -> None:
        qtbot.waitUntil(lambda: self.told is not None and self.told.state is state)
        assert self.app.session.status.state is state

    def offers(self) -> set[str]:
        """The words of the buttons that can be pressed."""
        return {
            button.text()
            for button in self.page.findChildren(QAbstractButton)
            if button.isVisible() and button.isEnabled() and button.text()
        }


@pytest.fixture
def make(qapp: object, qtbot: QtBot, fresh_home: Path) -> Iterator[Callable[..., Page]]:
    made: list[Page] = []

    def make(status: ServerStatus = READY) -> Page:
        made.append(Page(status))
        qtbot.waitUntil(lambda: made[-1].told == status)
        return made[-1]

    yield make
    for one in made:
        one.app.close()
        one.app.window.deleteLater()
        assert all(lease.closed for lease in one.leases + one.built_in)


def test_a_ready_server_is_stopped_and_started(qtbot: QtBot, make: Callable[..., Page]) -> None:
    one = make()
    assert {"Stop", "Restart"} <= one.offers()
    assert "Start" not in one.offers()
    one.page.stop_button.click()
    one.shows(qtbot, ServerState.STOPPED)
    assert one.stops == ["it was stopped in the window"]
    assert one.leases[0].closed
    rows = dict(one.page.server.rows())
    assert rows["State"] == "Stopped"
    assert rows["Now"] == "Stopped: it was stopped in the window"
    assert not {"Stop", "Restart"} & one.offers()
    # What the lease that was given up still says is not told any more.
    one.leases[0].become(FAILED)
    qtbot.wait(30)
    assert one.app.session.status.state is ServerState.STOPPED
    one.page.start_button.click()
    one.shows(qtbot, ServerState.READY)
    assert len(one.leases) == 2


def test_restart_stops_and_starts(qtbot: QtBot, make: Callable[..., Page]) -> None:
    one = make()
    one.page.restart_button.click()
    qtbot.waitUntil(lambda: len(one.leases) == 2)
    one.shows(qtbot, ServerState.READY)
    assert one.stops == ["it is restarted"]
    assert one.leases[0].closed
    assert not one.leases[1].closed


def test_a_server_that_does_not_stop_says_so(qtbot: QtBot, make: Callable[..., Page]) -> None:
    one = make()

    def stuck(why: str) -> None:
        raise TimeoutError("The server does not stop within 30 seconds.")

    one.app.session._stop = stuck
    one.page.restart_button.click()
    one.shows(qtbot, ServerState.FAILED)
    assert "does not stop within 30 seconds" in dict(one.page.server.rows())["Now"]
    assert len(one.leases) == 1


def test_a_remote_server_is_only_let_go(qtbot: QtBot, make: Callable[..., Page]) -> None:
    one = make(dataclasses.replace(READY, launcher="remote", pid=0))
    assert "Disconnect" in one.offers()
    assert "Restart" not in one.offers()
    one.page.stop_button.click()
    one.shows(qtbot, ServerState.STOPPED)
    assert one.stops == []
    assert one.leases[0].closed


@pytest.mark.parametrize(
    ("status", "value", "words"),
    [
        (BUILDING, 471, "CPU image: building: step 9 of 17"),
        (PULLING, 572, "5213 MiB of 9120 MiB, 14 of 32 layers"),
    ],
)
def test_progress_is_shown_and_can_be_cancelled(
    qtbot: QtBot, make: Callable[..., Page], status: ServerStatus, value: int, words: str
) -> None:
    one = make(status)
    card, foot = one.page.progress, one.app.window.status
    assert words in card.words.text()
    for bar in (card.bar, foot.bar):
        assert bar.isVisible()
        assert bar.value() == value
        assert bar.maximum() == 1000
        assert words in bar.accessibleName()
    progress = status.progress
    assert progress is not None
    assert card.detail.full_text() == progress.detail
    assert foot.cancel_button.isVisible()
    button = foot.cancel_button if status is PULLING else card.cancel_button
    button.click()
    one.shows(qtbot, ServerState.STOPPED)
    assert one.stops == ["the start was cancelled"]
    assert not card.isVisible()
    assert not foot.cancel_button.isVisible()
    # Who did not want to wait for the image may have the built-in Triton.
    one.page.builtin_button.click()
    qtbot.waitUntil(lambda: len(one.built_in) == 1)
    one.shows(qtbot, ServerState.READY)
    # A restart keeps it, until other settings are chosen.
    one.page.restart_button.click()
    qtbot.waitUntil(lambda: len(one.built_in) == 2)
    one.shows(qtbot, ServerState.READY)
    one.app.session.restart()
    qtbot.waitUntil(lambda: len(one.leases) == 2)


def test_an_unknown_share_shows_no_bar(qtbot: QtBot, make: Callable[..., Page]) -> None:
    one = make(STARTING)
    assert one.page.progress.isVisible()
    assert not one.page.progress.bar.isVisible()
    assert not one.app.window.status.bar.isVisible()
    early = dataclasses.replace(BUILDING, progress=Progress("build"))
    one.become(qtbot, early)
    qtbot.waitUntil(one.app.window.status.cancel_button.isVisible)
    assert not one.page.progress.bar.isVisible()
    one.become(qtbot, READY)
    assert not one.page.progress.isVisible()


def test_models_show_why_they_are_not_there(qtbot: QtBot, make: Callable[..., Page]) -> None:
    states = {
        "a": "READY",
        "b": "UNAVAILABLE: its config.pbtxt is missing",
        "c": "LOADING",
        "d": "UNAVAILABLE: unloaded",
    }
    one = make(dataclasses.replace(READY, state=ServerState.DEGRADED, models=states))
    table = one.page.models
    assert table.rows() == [
        ("a", "ready"),
        ("b", "unavailable"),
        ("c", "loading"),
        ("d", "unloaded"),
    ]
    assert table.row("b").reason.text() == "its config.pbtxt is missing"
    assert table.row("b").reason.isVisible()
    assert not table.row("d").reason.isVisible()
    assert [table.row(name).button.text() for name in "abcd"] == ["Unload", "Load", "Load", "Load"]
    assert [table.row(name).button.isEnabled() for name in "abcd"] == [True, True, False, True]
    # The server does not answer, so the attempt fails, in words, and the row stays as it was.
    table.row("a").button.click()
    assert table.rows()[0] == ("a", "unloading")
    assert not table.row("a").button.isEnabled()
    reason = table.row("a").reason
    qtbot.waitUntil(reason.isVisible, timeout=20_000)
    assert "could not be unloaded: the server does not answer" in reason.text()
    assert table.rows()[0] == ("a", "ready")
    one.become(qtbot, STARTING)
    assert not table.isVisible()


def test_the_servers_own_index_comes_before_the_status(make: Callable[..., Page]) -> None:
    one = make(dataclasses.replace(READY, models={"a": "READY", "gone": "UNAVAILABLE: no file"}))
    table = one.page.models
    table._index = {
        "a": ModelInfo("a", "1, 3", "READY"),
        "gone": ModelInfo("gone", "", "UNAVAILABLE"),
        "new": ModelInfo("new", "1", "LOADING"),
    }
    table._show()
    assert [row[0] for row in table.rows()] == ["a", "gone", "new"]
    assert table.row("a").version.text() == "version 1, 3"
    assert table.row("gone").reason.text() == "no file"


METERED = dataclasses.replace(
    READY, endpoint=dataclasses.replace(READY.endpoint, metrics="unix:/nowhere/m")
)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Endpoint]:
    """Metrics pages of a busy server with a GPU, one a look."""
    made: list[Endpoint] = []

    def fetch(endpoint: Endpoint) -> Snapshot:
        made.append(endpoint)
        n = len(made)
        counted = {**ZERO, "tokens": 300 * n, "replies": n, "cpu": "0.5"}
        counted |= {"steps": 100 * n, "rows": 290 * n}
        return Snapshot(float(n), parse(PAGE % counted + GPU))

    monkeypatch.setattr(server_charts.metrics, "fetch", fetch)
    return made


def test_charts_are_drawn_only_while_somebody_looks(
    qtbot: QtBot, make: Callable[..., Page], looks: list[Endpoint]
) -> None:
    one = make(METERED)
    charts = one.page.charts
    qtbot.waitUntil(charts.isVisible)
    for _ in range(3):
        qtbot.waitUntil(lambda: charts.poller._task is None)
        charts.poller.look()
    qtbot.waitUntil(lambda: bool(charts.cards["tokens"].chart.points()))
    assert charts.cards["tokens"].values() == ["300"]
    assert charts.cards["batch"].values() == ["2.9", "–"]
    assert charts.cards["requests"].values() == ["1", "0"]
    assert charts.cards["cpu"].values() == ["50%"]
    assert charts.cards["gpu"].values() == ["–", "50%"]
    assert charts.cards["gpu_memory"].values() == ["1.0 GB", "2.0 GB"]
    assert charts.cards["gpu_memory"].chart.top() == 24e9
    assert charts.cards["tokens"].accessibleName() == "Tokens per second"
    assert "300" in charts.cards["tokens"].accessibleDescription()
    assert {e.metrics for e in looks} == {"unix:/nowhere/m"}
    one.page.segments.buttons[1].click()
    assert not charts.poller.looking
    qtbot.waitUntil(lambda: charts.poller._task is None)
    seen = len(looks)
    one.app.window.show_page(0)
    qtbot.wait(50)
    assert len(looks) == seen
    one.app.window.show_page(2)
    one.page.segments.buttons[0].click()
    qtbot.waitUntil(lambda: len(looks) > seen)
    # Another server has another past.
    other = dataclasses.replace(METERED, pid=METERED.pid + 1)
    one.become(qtbot, STARTING)
    assert not charts.isVisible()
    one.become(qtbot, other)
    qtbot.waitUntil(charts.isVisible)
    assert len(charts.cards["tokens"].chart.points()) <= 1


def test_charts_make_use_of_the_room(make: Callable[..., Page]) -> None:
    one = make(METERED)
    charts = one.page.charts
    for each in figures(gpu=True):
        charts.add(each)
    places = {}
    for width in (1280, 640):
        one.app.window.resize(width, 800)
        one.app.qt.processEvents()
        places[width] = len({card.x() for card in charts.cards.values()})
    assert places == {1280: 3, 640: 2}
    assert all(len(card.chart.points()) <= 330 for card in charts.cards.values())


def secrets_everywhere() -> tuple[ServerStatus, Settings]:
    endpoint = Endpoint(
        "127.0.0.1:1",
        "http://me:pa55word@127.0.0.1:2",
        "",
        {"triton-grpc-protocol-tritalk": KEY, "authorization": "Bearer t0ken"},
    )
    status = dataclasses.replace(
        READY, endpoint=endpoint, message=f"restarting Triton: it said {KEY}", pid=1
    )
    remote = RemoteSettings(url="grpc://me:pa55word@host:1", token='t0"ken\\2')
    wanted = Settings(remote=remote)
    wanted = settings.changed(wanted, "docker.pip_index_url", "https://me:pa55word@index.org/x")
    return status, wanted


def test_diagnostics_hold_no_secret() -> None:
    status, wanted = secrets_everywhere()
    log = [f"key={KEY}", 'token="t0\\"ken\\\\2"', "sent Bearer t0ken", "proxy http://u:pa55word@p"]
    models = [ModelInfo("relay", "1", "UNAVAILABLE", f"cannot use {KEY}")]
    text = diagnostics(status, wanted, models, log)
    for secret in (KEY, "t0ken", 't0"ken', "t0\\", "pa55word"):
        assert secret not in text, secret
    for told in ("relay", "triton-grpc-protocol-tritalk", "Python 3.", "host:1", "index.org"):
        assert told in text, told


def test_diagnostics_are_copied(qtbot: QtBot, make: Callable[..., Page]) -> None:
    status, wanted = secrets_everywhere()
    settings.save(wanted)
    one = make(status)
    log = paths.log_dir() / "server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(f"line {n} {KEY}\n" for n in range(300)))
    QGuiApplication.clipboard().clear()
    one.page.copy_button.click()
    qtbot.waitUntil(lambda: "## Log" in QGuiApplication.clipboard().text())
    text = QGuiApplication.clipboard().text()
    assert one.page.copy_button.text() == "Copied"
    assert KEY not in text
    assert "pa55word" not in text
    assert "line 299 <secret>" in text
    assert "line 199 " not in text  # bounded
    qtbot.waitUntil(lambda: one.page.copy_button.text() == "Copy diagnostics", timeout=10_000)


def test_every_part_is_reached_by_the_keyboard(qtbot: QtBot, make: Callable[..., Page]) -> None:
    one = make()
    one.app.window.activateWindow()
    qtbot.waitUntil(one.app.window.isActiveWindow)
    wanted: dict[int, list[Any]] = {
        0: [one.page.models.row(name).button for name in READY.models],
        1: [one.page.log.search, one.page.log.level, one.page.log.follow, one.page.log.text],
        2: [field.inputs[0] for field in one.page.settings.fields.values()],
    }
    wanted[2] = [w for w in wanted[2] if w.focusPolicy() & Qt.FocusPolicy.TabFocus]
    for number, widgets in wanted.items():
        one.page.show_section(number)
        one.page.segments.buttons[number].setFocus()
        reached = set()
        for _ in range(40):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            reached.add(QApplication.focusWidget())
        visible = {widget for widget in widgets if widget.isVisible()}
        assert visible
        assert visible <= reached
        assert {one.page.copy_button, one.page.stop_button, one.page.restart_button} <= reached
