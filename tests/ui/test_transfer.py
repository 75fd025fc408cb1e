"""Export and import through the window; only the file dialogs are answered for the person."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.ui.conftest import Fake
from tests.ui.test_conversation import texts
from tests.ui.test_conversations import talk, wait_titles

BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def answer(monkeypatch: pytest.MonkeyPatch, path: Path | None, kind: int = 0) -> None:
    """What the person does in the next dialog."""

    def save(*rest: object) -> tuple[str, str]:
        return ("", "") if path is None else (str(path), str(rest[3]).split(";;")[kind])

    monkeypatch.setattr(QFileDialog, "getSaveFileName", save)
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *rest: ("" if path is None else str(path), "")
    )


def test_a_conversation_goes_out_and_comes_back(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = fake()
    talk(qtbot, one, "今天天气")
    chat = one.window.chat
    file = tmp_path / "out.json"
    answer(monkeypatch, file, 2)
    QTest.keyClick(one.window, Qt.Key.Key_E, BOTH)
    qtbot.waitUntil(file.exists)
    qtbot.waitUntil(lambda: chat.store_notice.words.text() == f"Exported to {file}.")
    assert [m["text"] for m in json.loads(file.read_text("utf-8"))["messages"]] == ["今天天气"] * 2
    talk(qtbot, one, "别的")
    QTest.keyClick(one.window, Qt.Key.Key_I, BOTH)
    wait_titles(qtbot, one, ["今天天气", "别的", "今天天气"])
    qtbot.waitUntil(lambda: texts(one) == ["今天天气", "今天天气"])
    reply = chat.conversation.transcript.message(1)
    qtbot.waitUntil(lambda: len(reply.tokens) == 4)


@pytest.mark.parametrize(
    ("typed", "kind", "written"),
    [
        ("a", 0, "a.html"),
        ("a", 1, "a.md"),
        ("a.html", 1, "a.md"),
        ("a.md", 2, "a.md"),
        ("第1.5版", 2, "第1.5版.json"),
    ],
)
def test_the_kind_of_file_is_the_chosen_one(
    qtbot: QtBot,
    fake: Callable[..., Fake],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    kind: int,
    written: str,
) -> None:
    one = fake()
    talk(qtbot, one, "今天天气")
    answer(monkeypatch, tmp_path / typed, kind)
    one.window.chat.panel.export_action.trigger()
    qtbot.waitUntil((tmp_path / written).exists)
    marks = {".html": "<!doctype html>", ".md": "# ", ".json": "{"}
    text = (tmp_path / written).read_text("utf-8")
    assert text.startswith(marks[Path(written).suffix])


def test_what_fails_is_said_in_one_sentence(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = fake()
    chat = one.window.chat
    assert not chat.panel.export_action.isEnabled()
    talk(qtbot, one, "今天天气")
    answer(monkeypatch, None)
    chat.panel.export_action.trigger()
    chat.panel.import_action.trigger()
    qtbot.wait(50)
    assert not chat.store_notice.isVisible()
    answer(monkeypatch, tmp_path / "nowhere" / "x.md", 1)
    chat.panel.export_action.trigger()
    qtbot.waitUntil(chat.store_notice.isVisible)
    assert chat.store_notice.words.text().endswith("cannot be written: No such file or directory.")
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    answer(monkeypatch, bad)
    chat.panel.import_action.trigger()
    said = "The file holds no conversation exported by Tritalk."
    qtbot.waitUntil(lambda: chat.store_notice.words.text() == said)
    wait_titles(qtbot, one, ["今天天气"])
