"""Sending, streaming, stopping and failing, on a server that does as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.launchers.base import ServerState, ServerStatus
from desktop.triton.types import Endpoint, InvalidInput, ParsedAddress, ServerUnavailable, Token
from desktop.ui.transcript import Stage
from tests.ui.conftest import Fake
from tests.ui.fakes import FAILED, READY, STARTING, FakeLease, token
from tests.ui.keyboard import enter, type_text


def send(fake: Fake, text: str) -> None:
    edit = fake.window.chat.composer.edit
    edit.setPlainText(text)
    enter(edit)


def texts(fake: Fake) -> list[str]:
    return [m.text for m in fake.window.chat.conversation.transcript.messages()]


def wait_idle(qtbot: QtBot, fake: Fake) -> None:
    qtbot.waitUntil(lambda: not fake.window.chat.conversation.busy)


def test_a_reply_streams_in_and_ends_with_its_figures(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(gap=0.02)
    chat = one.window.chat
    send(one, "今天天气不错")
    assert chat.composer.stop_button.isVisible()
    assert not chat.composer.send_button.isVisible()
    transcript = chat.conversation.transcript
    qtbot.waitUntil(lambda: 0 < len(transcript.message(1).tokens) < 6)
    assert transcript.message(1).stage is Stage.STREAMING
    wait_idle(qtbot, one)
    assert texts(one) == ["今天天气不错", "今天天气不错"]
    assert chat.composer.send_button.isVisible()
    footer = chat.view.delegate.footer(transcript.message(1))
    assert footer.startswith("6 tokens    first after 20 ms    ")
    assert footer.endswith("mean probability 0.58    finished")


def test_history_is_the_last_two_exchanges_of_this_conversation(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    for text in ("甲", "乙", "丙", "丁"):
        send(one, text)
        wait_idle(qtbot, one)
    assert one.client.asked[-1] == ("丁", ("乙", "乙", "丙", "丙"))
    one.window.chat.panel.new_button.click()
    send(one, "戊")
    wait_idle(qtbot, one)
    assert one.client.asked[-1] == ("戊", ())
    assert texts(one) == ["戊", "戊"]


def test_stop_cancels_the_stream_and_keeps_what_came(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(gap=0.01)
    send(one, "字" * 500)
    transcript = one.window.chat.conversation.transcript
    qtbot.waitUntil(lambda: len(transcript.message(1).tokens) > 3)
    QTest.mouseClick(one.window.chat.composer.stop_button, Qt.MouseButton.LeftButton)
    wait_idle(qtbot, one)
    assert one.client.streams[0].cancelled.is_set()
    reply = transcript.message(1)
    assert reply.finished is not None
    assert reply.finished.finish_reason == "cancelled"
    assert reply.finished.tokens == len(reply.tokens) < 500
    assert one.window.chat.view.delegate.footer(reply).endswith("stopped")


def test_stop_frees_the_window_when_the_server_hangs(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    hang = threading.Event()

    def script(text: str, history: Sequence[str]) -> object:
        def events() -> object:
            yield token("好", 0.5)
            hang.wait(20)

        return events()

    one = fake(script)
    send(one, "在吗")
    transcript = one.window.chat.conversation.transcript
    qtbot.waitUntil(lambda: bool(transcript.message(1).tokens))
    QTest.keyClick(one.window.chat.composer.edit, Qt.Key.Key_Escape)
    wait_idle(qtbot, one)
    assert transcript.message(1).text == "好"
    send(one, "还在吗")
    assert one.window.chat.conversation.busy
    one.window.chat.conversation.stop()
    wait_idle(qtbot, one)
    hang.set()


def test_a_refused_message_comes_back_with_one_sentence(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    def script(text: str, history: Sequence[str]) -> list[Token | Exception]:
        return [InvalidInput("the message has 10,000 characters; this model reads at most 492")]

    one = fake(script)
    chat = one.window.chat
    send(one, "长" * 10_000)
    type_text(chat.composer.edit, "next")
    wait_idle(qtbot, one)
    assert chat.error.text() == ("The message has 10,000 characters; this model reads at most 492.")
    assert chat.error.isVisible()
    assert chat.composer.text() == "长" * 10_000 + "\nnext"
    assert chat.conversation.transcript.rowCount() == 0


def test_a_reply_that_breaks_off_keeps_its_tokens_and_says_why(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    def script(text: str, history: Sequence[str]) -> list[Token | Exception]:
        return [
            token("好", 0.9),
            token("的", 0.8),
            ServerUnavailable("the server ended the request"),
        ]

    one = fake(script)
    send(one, "你好")
    wait_idle(qtbot, one)
    reply = one.window.chat.conversation.transcript.message(1)
    assert (reply.text, reply.stage) == ("好的", Stage.FAILED)
    assert one.window.chat.view.delegate.footer(reply) == "The server ended the request."
    assert one.window.chat.composer.text() == ""


def test_a_fault_of_ours_is_shown_too(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(lambda text, history: [KeyError("logprobs")])
    send(one, "你好")
    wait_idle(qtbot, one)
    assert one.window.chat.error.text() == "Something went wrong: 'logprobs'."
    assert one.window.chat.composer.text() == "你好"


def test_a_message_sent_while_the_server_starts_waits_for_it(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(lease=FakeLease(STARTING))
    chat = one.window.chat
    qtbot.waitUntil(lambda: "Loading ibuddha_chitchat (2 of 5)" in one.window.status.words.text())
    send(one, "你好")
    qtbot.wait(100)
    assert chat.conversation.busy
    assert chat.view.delegate.waiting_words == "Waiting for the server to start…"
    one.lease.become(READY)
    wait_idle(qtbot, one)
    assert texts(one) == ["你好", "你好"]


def test_stop_while_waiting_gives_the_text_back(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(lease=FakeLease(STARTING))
    send(one, "你好")
    one.window.chat.conversation.stop()
    wait_idle(qtbot, one)
    assert one.window.chat.composer.text() == "你好"
    one.lease.become(READY)
    qtbot.wait(100)
    assert one.client.asked == []


def test_a_start_that_fails_gives_the_text_back_and_can_be_tried_again(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(lease=FakeLease(STARTING))
    qtbot.waitUntil(lambda: one.app.session.status.message == STARTING.message)
    send(one, "你好")
    one.lease.become(FAILED)
    wait_idle(qtbot, one)
    chat, server = one.window.chat, one.window.server
    assert chat.composer.text() == "你好"
    assert chat.error.text() == (
        "Triton failed 3 times in a row: the process of the model multitask_model was killed."
    )
    enter(chat.composer.edit)
    assert chat.error.text() == "The server is not running; see the server page."
    assert server.start_button.isEnabled()
    one.lease = FakeLease(READY)
    one.app.session._acquire = lambda: one.lease
    server.start_button.click()
    qtbot.waitUntil(lambda: one.app.session.status.state is ServerState.READY)
    enter(chat.composer.edit)
    wait_idle(qtbot, one)
    assert texts(one) == ["你好", "你好"]


def test_a_restarted_server_gets_a_new_client(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    send(one, "甲")
    wait_idle(qtbot, one)
    send(one, "乙")
    wait_idle(qtbot, one)
    assert len(one.clients) == 1
    one.lease.become(STARTING)
    moved = ServerStatus("embedded", "", ServerState.READY, endpoint=Endpoint("unix:/elsewhere"))
    one.lease.become(moved)
    qtbot.waitUntil(lambda: one.app.session.status == moved)
    send(one, "丙")
    wait_idle(qtbot, one)
    assert len(one.clients) == 2
    assert one.client.closed


def test_a_server_back_under_its_old_address_gets_a_new_client(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    send(one, "甲")
    wait_idle(qtbot, one)
    one.lease.become(STARTING)
    one.lease.become(READY)
    send(one, "乙")
    wait_idle(qtbot, one)
    assert len(one.clients) == 2


def test_a_message_that_meets_a_restart_is_asked_again(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    def script(text: str, history: Sequence[str]) -> list[Token | Exception]:
        if len(one.client.asked) == 1:
            return [ServerUnavailable("the Triton server does not answer; it may be restarting")]
        return [token("好", 0.9)]

    one = fake(script)
    send(one, "你好")
    qtbot.waitUntil(lambda: len(one.client.asked) == 1)
    one.lease.become(STARTING)
    qtbot.wait(100)
    assert one.window.chat.conversation.busy
    one.lease.become(READY)
    wait_idle(qtbot, one)
    assert texts(one) == ["你好", "好"]


def test_closing_does_not_wait_for_a_call_that_hangs(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    asked, closed = threading.Event(), threading.Event()

    def hang(texts: Sequence[str]) -> list[ParsedAddress]:
        asked.set()
        assert closed.wait(20)
        raise ServerUnavailable("the server ended the request")

    one.client.parse = hang  # type: ignore[method-assign]
    one.client.close = closed.set  # type: ignore[method-assign]
    one.window.address.parse("上海市")
    qtbot.waitUntil(asked.is_set)
    one.app.close()
    assert closed.is_set()


def test_closing_in_mid_reply_joins_every_thread(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(gap=0.01)
    send(one, "字" * 5000)
    qtbot.waitUntil(lambda: len(one.client.streams) == 1)
    one.app.close()
    assert one.client.streams[0].cancelled.is_set()
    assert one.lease.closed
    assert not [t for t in threading.enumerate() if t.name.startswith("background")]
