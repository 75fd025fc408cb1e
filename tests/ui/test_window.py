"""The window on the real server: what a person types goes through Triton and comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.launchers import acquire
from desktop.launchers.base import ServerState
from desktop.store.records import ChatSettings
from desktop.triton.types import Sampling, Token
from desktop.ui.application import Application
from desktop.ui.transcript import Message, Stage
from tests.support.chat import metric
from tests.ui.conftest import ARTIFACTS
from tests.ui.keyboard import enter, type_text

pytestmark = pytest.mark.triton

ADDRESS = "浙江省杭州市余杭区仓前街道文一西路969号"


@pytest.fixture(scope="module")
def app(qapp: object, server: Any) -> Iterator[Application]:
    """One window for these tests, on a lease of its own on the session's server."""
    app = Application(["tritalk"], acquire=lambda: acquire("embedded"))
    app.language.apply("en")
    app.theme.apply("light")
    app.window.show()
    app.window.activateWindow()
    app.session.start()
    end = time.monotonic() + 120
    while app.session.status.state is not ServerState.READY and time.monotonic() < end:
        QTest.qWait(20)
    assert app.session.status.state is ServerState.READY, app.session.status
    yield app
    app.close()
    app.window.deleteLater()


@pytest.fixture
def chat(app: Application) -> Iterator[Any]:
    app.window.show_page(0)
    page = app.window.chat
    page.conversation.new()
    page.sampling.reset_button.click()
    page.composer.clear()
    yield page
    page.sampling.reset_button.click()


def shoot(app: Application, name: str) -> list[Path]:
    """The window in both themes and both languages, and back."""
    saved = []
    for scheme in ("dark", "light"):
        for language in ("zh", "en"):
            app.theme.apply(scheme)  # type: ignore[arg-type]
            app.language.apply(language)  # type: ignore[arg-type]
            QTest.qWait(80)
            path = ARTIFACTS / f"real_{name}_{scheme}_{language}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            assert app.window.grab().save(str(path))
            saved.append(path)
    return saved


def draw_with(chat: Any, sampling: Sampling) -> None:
    chat.conversation.change_settings(ChatSettings(sampling))


def last(chat: Any) -> Message:
    transcript = chat.conversation.transcript
    message: Message = transcript.message(transcript.rowCount() - 1)
    return message


def test_a_typed_message_streams_back_with_its_probabilities(
    qtbot: QtBot, app: Application, chat: Any
) -> None:
    draw_with(chat, Sampling(seed=7, temperature=1.0))
    type_text(chat.composer.edit, "最近工作压力有点大 ok")
    enter(chat.composer.edit)
    assert chat.composer.text() == ""
    qtbot.waitUntil(lambda: last(chat).stage is Stage.STREAMING, timeout=20_000)
    qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=60_000)
    message = last(chat)
    assert message.stage is Stage.DONE, message.error
    assert message.text == "".join(t.text for t in message.tokens) != ""
    for token in message.tokens:
        assert 0 < token.probability <= 1
        assert 0 < token.confidence <= 1
        assert len(token.alternatives) >= 5
        assert token.token_id in [a.token_id for a in token.alternatives]
    assert message.finished is not None
    assert message.finished.tokens == len(message.tokens)
    footer = chat.view.delegate.footer(message)
    assert f"{len(message.tokens)} token" in footer
    assert "tokens/s" in footer
    assert len(shoot(app, "chat")) == 4
    assert_tinted(chat)


def assert_tinted(chat: Any) -> None:
    """Each token stands on the colour of its probability, in the pixels of the window."""
    from desktop.ui import theme

    view, row = chat.view, chat.conversation.transcript.rowCount() - 1
    chat.view.leave_token()
    picture = view.viewport().grab().toImage()
    for number, token in enumerate(last(chat).tokens):
        rect = view.token_rect(row, number)
        if rect.width() < 8 or rect.top() < 0:
            continue
        tint = theme.current().tint(token.probability) or theme.current().color("window")
        seen = picture.pixelColor(rect.topLeft() + QPoint(3, 2))
        assert seen.name() == tint.name(), (token, seen.name())


def test_a_token_shows_its_alternatives(qtbot: QtBot, app: Application, chat: Any) -> None:
    type_text(chat.composer.edit, "你好")
    enter(chat.composer.edit)
    qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=60_000)
    row = chat.conversation.transcript.rowCount() - 1
    QTest.mouseMove(chat.view.viewport(), chat.view.token_rect(row, 0).center())
    qtbot.waitUntil(lambda: chat.popover is not None and chat.popover.token is not None)
    token: Token = chat.popover.token
    assert token == last(chat).tokens[0]
    assert f"probability {token.probability:.2f}" in chat.popover.words()
    chat.view.leave_token()


def test_an_address_is_parsed_and_shown(qtbot: QtBot, app: Application) -> None:
    app.window.show_page(1)
    page = app.window.address.single
    type_text(page.field, ADDRESS)
    enter(page.field)
    qtbot.waitUntil(lambda: page.result is not None or page.error.isVisible(), timeout=60_000)
    assert page.error.text() == "" or not page.error.isVisible(), page.error.text()
    shown = page.highlight.shown()
    assert "".join(text for text, _ in shown) == ADDRESS
    assert ("余杭区", "district") in shown
    model = page.table.entities
    texts = [model.index(row, 1).data() for row in range(model.rowCount())]
    assert "余杭区" in texts
    names = page.division.row.names.text()
    assert names.startswith("浙江省  ›  杭州市  ›  余杭区")
    assert page.division.row.code.text().startswith("330110")
    shoot(app, "address")


@pytest.mark.parametrize("text", ["长" * 10_000, "\u0001\u0002", "😀😀", "㐀𠀀"])
def test_strange_addresses_lose_nothing(qtbot: QtBot, app: Application, text: str) -> None:
    app.window.show_page(1)
    page = app.window.address.single
    page.field.setText(text)
    enter(page.field)
    qtbot.waitUntil(lambda: not page.busy, timeout=60_000)
    assert page.field.text() == text
    if page.result is None:
        assert page.error.isVisible()
        assert page.error.text().count(".") == 1
    else:
        assert "".join(part for part, _ in page.highlight.shown()) == text
    page.field.clear()


def test_the_server_page_shows_the_models(app: Application) -> None:
    app.window.show_page(2)
    page = app.window.server
    rows = dict(page.models.rows())
    assert rows["ibuddha_chitchat_stream"] == "ready"
    assert app.window.status.words.full_text().startswith("Ready · embedded Triton")
    assert app.window.status.reason.full_text() != ""
    shoot(app, "server")


def test_stop_ends_the_computation(qtbot: QtBot, app: Application, chat: Any, server: Any) -> None:
    def made() -> float:
        return metric(server.endpoint, "tritalk_generated_tokens")

    before = made()
    draw_with(
        chat,
        Sampling(
            max_tokens=480, min_tokens=480, temperature=1.0, top_p=1.0, no_repeat_ngram_size=0
        ),
    )
    type_text(chat.composer.edit, "给我讲个故事吧")
    enter(chat.composer.edit)
    qtbot.waitUntil(lambda: len(last(chat).tokens) >= 5, timeout=60_000)
    QTest.mouseClick(chat.composer.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not chat.conversation.busy)
    time.sleep(0.2)
    after = made()
    time.sleep(0.5)
    assert made() == after
    assert after - before < 480
    message = last(chat)
    assert message.finished is not None
    assert message.finished.finish_reason == "cancelled"
    assert message.finished.tokens == len(message.tokens)


STRANGE = ["长" * 10_000, "\u0007\u0001 \u200b", "😀😀😀", "\ud7ff㐀𠀀𠀁"]


@pytest.mark.parametrize("text", STRANGE, ids=["long", "control", "emoji", "unknown"])
def test_strange_messages_lose_nothing(qtbot: QtBot, chat: Any, text: str) -> None:
    """Either the model answers, or one sentence is shown and the text is back in the field."""
    chat.composer.edit.setPlainText(text)
    typed = chat.composer.text()
    enter(chat.composer.edit)
    qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=60_000)
    if chat.conversation.transcript.rowCount():
        assert last(chat).stage is Stage.DONE, last(chat).error
        assert chat.conversation.transcript.message(0).text == typed.strip()
    else:
        assert chat.composer.text() == typed
        assert chat.error.isVisible()
        assert chat.error.text().count(".") == 1
        assert "\n" not in chat.error.text()


def test_ten_thousand_characters_are_refused_in_words(qtbot: QtBot, chat: Any) -> None:
    chat.composer.edit.setPlainText("长" * 10_000)
    enter(chat.composer.edit)
    qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=60_000)
    assert "10,000 characters" in chat.error.text()
    assert chat.composer.text() == "长" * 10_000


def test_the_second_message_knows_the_first(
    qtbot: QtBot, app: Application, chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    real: Callable[..., Any] = app.session.chat

    def watch(text: str, history: Any, *rest: Any, **named: Any) -> Any:
        asked.append((text, tuple(history)))
        return real(text, history, *rest, **named)

    monkeypatch.setattr(app.session, "chat", watch)
    for text in ("你好", "你喜欢猫吗"):
        type_text(chat.composer.edit, text)
        enter(chat.composer.edit)
        qtbot.waitUntil(lambda: not chat.conversation.busy, timeout=60_000)
    reply = chat.conversation.transcript.message(1)
    assert asked == [("你好", ()), ("你喜欢猫吗", ("你好", reply.text))]
    assert last(chat).stage is Stage.DONE
