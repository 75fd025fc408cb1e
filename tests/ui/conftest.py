"""Real windows in an X server without a screen, on a faked session or on the real server."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from desktop.triton.types import Token
from tests.ui import xserver
from tests.ui.fakes import ADDRESSES, FakeClient, FakeLease, token

ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts" / "ui"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.ui)


@pytest.fixture(scope="session")
def display() -> str:
    if not xserver.available():
        pytest.skip("Xvfb is not installed")
    return xserver.start()


@pytest.fixture(scope="session")
def qapp_args(display: str) -> list[str]:
    """Asked for before pytest-qt makes the QApplication: the display is there by then."""
    os.environ |= {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    return ["tritalk-tests"]


@pytest.fixture(scope="session")
def qapp(environment: dict[str, str | None], qapp: QApplication) -> QApplication:
    """Qt has its connection; other tests of the session find the environment as it was."""
    for name, value in environment.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    return qapp


@pytest.fixture(scope="session")
def environment() -> dict[str, str | None]:
    """What there was before a display was made."""
    return {name: os.environ.get(name) for name in ("DISPLAY", "QT_QPA_PLATFORM")}


class Fake:
    """An application on a lease and a client of the test's own."""

    def __init__(self, lease: FakeLease, client: FakeClient) -> None:
        from desktop.ui.application import Application

        self.lease = lease
        self.client = client
        self.clients: list[FakeClient] = []
        self.acquired = False
        self.app = Application(["tritalk"], acquire=self._acquire, client=self._connect)
        self.app.language.apply("en")
        self.app.theme.apply("light")
        self.window = self.app.window
        self.window.show()
        # Shortcuts work in the active window only, and no window manager is there to make it so.
        self.window.activateWindow()
        self.app.session.start()

    def _acquire(self) -> FakeLease:
        self.acquired = True
        return self.lease

    @property
    def let_go(self) -> bool:
        """Whether the lease was given up, or never taken: a window may be closed that quickly."""
        return self.lease.closed or not self.acquired

    def _connect(self, endpoint: object) -> FakeClient:
        self.clients.append(self.client)
        return self.client


Script = Callable[[str, Sequence[str]], Sequence[Token | Exception]]


def echo(text: str, history: Sequence[str]) -> list[Token | Exception]:
    """Replies with the text itself, surer and surer."""
    return [token(c, (i + 1) / len(text)) for i, c in enumerate(text)]


@pytest.fixture
def fake(qapp: object, fresh_home: Path) -> Iterator[Callable[..., Fake]]:
    """A factory: ``fake(script=…, gap=…, lease=…)`` opens a window on a faked server, with
    conversations and settings of this test's own."""
    made: list[Fake] = []

    def make(script: Script = echo, *, gap: float = 0.0, lease: FakeLease | None = None) -> Fake:
        made.append(Fake(lease or FakeLease(), FakeClient(script, gap, ADDRESSES)))
        return made[-1]

    yield make
    for one in made:
        one.app.close()
        one.window.deleteLater()
        # No event loop runs between tests: windows would live on, and make each test slower.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    # A lease that came while its window was being closed is given up a moment later, by a thread.
    end = time.monotonic() + 15
    while time.monotonic() < end and not (all(one.let_go for one in made) and not _threads()):
        QApplication.processEvents()
        time.sleep(0.01)
    assert all(one.let_go for one in made)
    assert _threads() == []


def _threads() -> list[str]:
    ours = ("background", "store")
    return [t.name for t in threading.enumerate() if t.name.startswith(ours)]
