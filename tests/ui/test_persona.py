"""Which model answers, and what stands before every message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.store.records import DEFAULT_SETTINGS
from desktop.triton.models import ModelLimits
from desktop.triton.types import Sampling
from tests.ui.conftest import Fake
from tests.ui.fakes import MODELS, READY, FakeLease
from tests.ui.keyboard import type_text
from tests.ui.test_conversation import send, texts, wait_idle
from tests.ui.test_conversations import click, talk, wait_titles
from tests.ui.test_message_actions import begin, trigger

TWO = replace(READY, models={**MODELS, "cdial": "READY", "cdial_stream": "READY"})
SMALL = ModelLimits(300, 77, Sampling(temperature=0.3, max_tokens=40, top_p=0.8))


def entries(fake: Fake) -> list[str]:
    models = fake.window.chat.sampling.who.models
    return [models.itemText(n) for n in range(models.count())]


def choose(fake: Fake, place: int) -> None:
    models = fake.window.chat.sampling.who.models
    models.setCurrentIndex(place)
    models.activated.emit(place)


def test_a_persona_stands_before_every_message_of_its_conversation(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    chat = one.window.chat
    persona = chat.sampling.who.persona
    persona.setFocus()
    type_text(persona, "我是一只猫")
    send(one, "甲")  # at once: what was being written counts
    wait_idle(qtbot, one)
    assert one.client.openings == [("我是一只猫", "嗯，好的。")]
    assert chat.sampling.who.persona_words.text() == "2 turns before every message"
    talk(qtbot, one, "乙")
    assert one.client.openings[-1] == ()
    assert persona.toPlainText() == ""
    wait_titles(qtbot, one, ["乙", "甲"])
    click(one, "甲")
    qtbot.waitUntil(lambda: texts(one) == ["甲", "甲"])
    assert persona.toPlainText() == "我是一只猫"
    one.app.close()
    two = fake()
    qtbot.waitUntil(lambda: texts(two) == ["甲", "甲"])
    send(two, "丙")
    wait_idle(qtbot, two)
    assert two.client.openings[-1] == ("我是一只猫", "嗯，好的。")


def test_a_persona_survives_before_the_first_message(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    type_text(one.window.chat.sampling.who.persona, "我是一只猫")
    qtbot.waitUntil(lambda: one.window.chat.conversation.settings.persona == "我是一只猫")
    one.app.close()
    two = fake()
    persona = two.window.chat.sampling.who.persona
    qtbot.waitUntil(lambda: persona.toPlainText() == "我是一只猫")


def test_each_conversation_has_its_model(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(lease=FakeLease(TWO))
    one.client.model_limits["cdial_stream"] = SMALL
    chat = one.window.chat
    qtbot.waitUntil(lambda: entries(one) == ["ibuddha_chitchat", "cdial"])
    choose(one, 1)
    qtbot.waitUntil(lambda: chat.sampling.context_words.text() == "0 of 300 tokens")
    assert chat.sampling.dials["top_k"].limits.high == 77
    assert "0 to 77." in chat.sampling.dials["top_k"].toolTip()
    # What was as the first model had it is as this one has it now.
    assert chat.sampling.dials["temperature"].value == 0.3
    send(one, "甲")
    wait_idle(qtbot, one)
    assert one.client.models == ["cdial_stream"]
    assert one.client.samplings[-1].max_tokens == 40  # type: ignore[union-attr]
    assert chat.conversation.transcript.message(1).model == "cdial"
    assert chat.view.spoken(chat.conversation.transcript.message(1)) == "cdial: 甲"
    chat.sampling.dials["top_k"].number.setValue(70)
    choose(one, 0)
    qtbot.waitUntil(lambda: chat.sampling.dials["top_k"].limits.high == 13088)
    assert chat.sampling.dials["temperature"].value == 0.3  # was changed by hand: it stays
    one.app.close()
    two = fake()
    qtbot.waitUntil(lambda: len(texts(two)) == 2)
    assert two.window.chat.conversation.transcript.message(1).model == "cdial"


def test_what_a_smaller_model_cannot_take_becomes_the_most_it_can(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(lease=FakeLease(TWO))
    one.client.model_limits["cdial_stream"] = SMALL
    panel = one.window.chat.sampling
    qtbot.waitUntil(lambda: len(entries(one)) == 2)
    panel.dials["top_k"].number.setValue(900)
    choose(one, 1)
    qtbot.waitUntil(lambda: panel.dials["top_k"].value == 77)
    send(one, "甲")
    wait_idle(qtbot, one)
    assert one.client.samplings[-1].top_k == 77  # type: ignore[union-attr]


def test_a_model_that_is_not_served_any_more_is_said(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake()
    chat = one.window.chat
    qtbot.waitUntil(lambda: bool(one.app.session.status.models))
    chat.sampling.show_settings(replace(DEFAULT_SETTINGS, model="gone"))
    chat.conversation.change_settings(replace(DEFAULT_SETTINGS, model="gone"))
    QTest.qWait(1)
    assert entries(one) == ["ibuddha_chitchat", "gone (not served)"]
    send(one, "甲")
    assert chat.error.text().startswith("The model gone is not served any more")
    assert chat.composer.text() == "甲"
    assert one.client.asked == []


def test_a_model_that_is_loading_is_marked(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    loading = replace(READY, models={**MODELS, "ibuddha_chitchat": "LOADING"})
    one = fake(lease=FakeLease(loading))
    qtbot.waitUntil(lambda: entries(one) == ["ibuddha_chitchat (loading)"])


def test_branch_from_here_goes_on_from_an_older_reply(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲", "乙")
    chat = one.window.chat
    chat.composer.set_text("草稿")
    trigger(one, "Branch from here", 1)
    assert chat.composer.text() == ""
    assert "will follow the reply you chose" in chat.edit_notice.words.text()
    send(one, "丙")
    wait_idle(qtbot, one)
    assert texts(one) == ["甲", "一甲", "丙", "三丙"]
    assert one.client.asked[-1] == ("丙", ("甲", "一甲"))
    assert chat.conversation.transcript.branch(chat.conversation.transcript.message(2)) == (2, 2)
    trigger(one, "Previous version", 2)
    assert texts(one) == ["甲", "一甲", "乙", "二乙"]


def test_a_message_without_a_reply_is_answered_anew(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = begin(qtbot, fake, "甲")
    trigger(one, "Delete from here", 1)
    assert texts(one) == ["甲"]
    trigger(one, "Regenerate the reply", 0)
    wait_idle(qtbot, one)
    assert texts(one) == ["甲", "二甲"]


def test_a_message_that_fails_out_of_sight_waits_in_its_composer(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    from desktop.triton.types import InvalidInput

    one = fake(lambda text, history: [InvalidInput("no")] if text == "乙" else [], gap=0.3)
    chat = one.window.chat
    first = chat.conversation
    send(one, "乙")
    kept = first.id
    first.new()
    qtbot.waitUntil(lambda: not first.working)
    assert kept is not None
    first.open(kept)
    qtbot.waitUntil(lambda: first.id == kept)
    assert chat.composer.text() == "乙"
    assert texts(one) == []
