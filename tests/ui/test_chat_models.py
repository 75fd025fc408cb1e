"""The card of imported chat models and the import dialog."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop.models import Installed, ModelError, Progress, chat, worker
from desktop.models.worker import Cancel
from desktop.ui.chat_models import ChatModelsCard
from desktop.ui.import_dialog import ImportDialog
from tests.support.chat_models import chitchat
from tests.ui.conftest import Fake
from tests.ui.fakes import READY


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The faked server is nobody's to refresh: as if none of this user's own ran."""
    monkeypatch.setattr("desktop.launchers.supervised.connect_running", lambda: None)


@pytest.fixture
def card(fake: Callable[..., Fake], qtbot: QtBot) -> tuple[Fake, ChatModelsCard]:
    one = fake()
    one.window.show_page(2)
    qtbot.waitUntil(lambda: one.app.session.status.state == READY.state)
    return one, one.window.server.chats


def test_a_model_is_imported_served_and_removed(
    card: tuple[Fake, ChatModelsCard],
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, models = card
    assert models.rows() == []
    assert models.hint.isVisibleTo(models)
    source = chitchat(tmp_path / "Tiny GPT", "gpt2")
    qtbot.mouseClick(models.import_button, Qt.MouseButton.LeftButton)
    dialog = models.dialog
    assert dialog is not None
    assert not dialog.import_button.isEnabled()
    dialog.source.setText(str(source))
    assert dialog.name.placeholderText() == "tiny-gpt"
    qtbot.keyClick(dialog.source, Qt.Key.Key_Return)
    assert dialog.busy
    assert dialog.close_button.text() == "Cancel"
    qtbot.waitUntil(lambda: not dialog.busy, timeout=120_000)
    assert dialog.words.text().startswith("tiny-gpt is imported (0.1M, GPT2LMHeadModel, ")
    qtbot.waitUntil(lambda: models.rows() == [("tiny-gpt", "not served", "")])
    assert chat.served() == ["tiny-gpt"]
    states = {"tiny-gpt": "READY", "tiny-gpt_stream": "READY"}
    one.lease.become(replace(READY, models={**READY.models, **states}))
    qtbot.waitUntil(lambda: models.rows() == [("tiny-gpt", "served", "")])
    row = models.row("tiny-gpt")
    assert row.serve_button.text() == "Stop serving"
    qtbot.mouseClick(row.serve_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: chat.served() == [])
    monkeypatch.setattr(models, "_confirmed", lambda name: False)
    models.change("tiny-gpt", "remove")
    assert [m.name for m in chat.installed()][1:] == ["tiny-gpt"]
    monkeypatch.setattr(models, "_confirmed", lambda name: True)
    qtbot.waitUntil(row.remove_button.isEnabled)
    qtbot.mouseClick(row.remove_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models.rows() == [])
    assert len(chat.installed()) == 1


def test_why_a_model_is_not_served_is_told(card: tuple[Fake, ChatModelsCard], qtbot: QtBot) -> None:
    one, models = card
    qtbot.waitUntil(lambda: models._task is None)
    models._found([Installed("chat", "mine", Path("/nowhere"), "95.5M", True)])
    why = "prompt.toml: context must be a whole number from 32 to 512, not 4096"
    states = {"mine": f"UNAVAILABLE: {why}", "mine_stream": "UNAVAILABLE: unloaded"}
    one.lease.become(replace(READY, models={**READY.models, **states}))
    qtbot.waitUntil(lambda: models.rows() == [("mine", "not served", f"P{why[1:]}.")])


class Scripted:
    """An import that waits until the test lets it go on."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.error: Exception | None = None
        self.asked: list[tuple[str, str]] = []

    def __call__(self, source: str, name: str, report: Any, cancel: Cancel) -> Installed:
        self.asked.append((source, name))
        report(Progress("downloading model.safetensors", 250_000_000, 1_000_000_000))
        while not self.go_on.wait(0.01):
            cancel.check()
        if self.error is not None:
            raise self.error
        return Installed("chat", "mine", Path("/nowhere"), "0.1M", True)


@pytest.fixture
def dialog(fake: Callable[..., Fake], qtbot: QtBot) -> tuple[ImportDialog, Scripted]:
    one, script = fake(), Scripted()
    found = ImportDialog(one.app.session, one.window, bring_in=script)
    found.show()
    return found, script


def test_progress_and_failure_are_told(dialog: tuple[ImportDialog, Scripted], qtbot: QtBot) -> None:
    shown, script = dialog
    shown.source.setText(" owner/model ")
    shown.name.setText("mine")
    shown.start()
    assert not shown.source.isEnabled()
    words = "Downloading model.safetensors · 250 of 1,000 MB"
    qtbot.waitUntil(lambda: shown.words.text() == words)
    assert (shown.bar.value(), shown.bar.maximum()) == (250, 1000)
    script.error = ModelError("the disk is full; make room and try again")
    script.go_on.set()
    qtbot.waitUntil(lambda: not shown.busy)
    assert script.asked == [("owner/model", "mine")]
    assert shown.words.text() == "The disk is full; make room and try again."
    assert shown.words.property("level") == "danger"
    assert shown.source.text() == " owner/model "  # to be tried again
    assert shown.import_button.isEnabled()


def test_escape_cancels_and_then_closes(
    dialog: tuple[ImportDialog, Scripted], qtbot: QtBot
) -> None:
    shown, script = dialog
    shown.activateWindow()
    qtbot.waitUntil(shown.isActiveWindow)
    shown.source.setText("owner/model")
    shown.start()
    qtbot.waitUntil(lambda: bool(script.asked))
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert shown.isVisible()
    qtbot.waitUntil(lambda: not shown.busy)
    assert shown.words.text().startswith("The import was cancelled")
    assert isinstance(shown._outcome[1], worker.Cancelled)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()


def test_a_window_that_closes_ends_the_import(fake: Callable[..., Fake], qtbot: QtBot) -> None:
    one, script = fake(), Scripted()
    shown = ImportDialog(one.app.session, one.window, bring_in=script)
    shown.source.setText("owner/model")
    shown.start()
    qtbot.waitUntil(lambda: bool(script.asked))
    cancel = shown._cancel
    one.app.session.background.cancel_all()
    qtbot.waitUntil(lambda: cancel.cancelled)
