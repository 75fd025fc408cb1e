"""The sampling panel: what is set there is what the server is asked with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.store.records import DEFAULT_SETTINGS, ChatSettings
from desktop.triton.types import Sampling
from desktop.ui.sampling_panel import RANGES, SamplingPanel
from server_bundle.chitchat.parameters import SamplingParameters, parse
from tests.ui.conftest import Fake
from tests.ui.keyboard import type_text
from tests.ui.test_conversation import send, texts, wait_idle
from tests.ui.test_conversations import click, talk, wait_titles


@pytest.fixture
def panel(qtbot: QtBot) -> SamplingPanel:
    panel = SamplingPanel()
    panel.resize(264, 700)
    qtbot.addWidget(panel)
    panel.show()
    return panel


@pytest.mark.parametrize("limits", RANGES, ids=lambda limits: limits.name)
@pytest.mark.parametrize("end", ["low", "high"])
def test_the_server_takes_the_ends_of_every_range(limits: object, end: str) -> None:
    name, value = limits.name, getattr(limits, end)  # type: ignore[attr-defined]
    if name != "history_turns":
        whole = limits.decimals == 0  # type: ignore[attr-defined]
        sampling = Sampling(**{name: int(value) if whole else value})
        parse(sampling.to_json(), SamplingParameters(), vocab_size=13088, context=512)


def test_every_control_tells_its_meaning_and_range(panel: SamplingPanel) -> None:
    for dial in panel.dials.values():
        for widget in (dial.number, dial.slider):
            assert widget.accessibleName()
            assert " to " in widget.toolTip()
            assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        high = dial.limits.high
        assert f"{high:,.0f}" in dial.number.toolTip()


def test_numbers_and_sliders_go_together(panel: SamplingPanel) -> None:
    heard: list[ChatSettings] = []
    panel.changed.connect(heard.append)
    dial = panel.dials["temperature"]
    QTest.keyClick(dial.slider, Qt.Key.Key_Right)
    assert heard[-1].sampling.temperature == dial.value == 0.45
    dial.number.setFocus()
    dial.number.selectAll()
    type_text(dial.number, "1.3")
    QTest.keyClick(dial.number, Qt.Key.Key_Return)
    assert heard[-1].sampling.temperature == 1.3
    assert dial.slider.value() == 26
    top_k = panel.dials["top_k"]
    assert top_k.number.text() == "off"
    top_k.number.setValue(5000)
    assert heard[-1].sampling.top_k == 5000  # further than the slider goes
    assert top_k.slider.value() == 100
    assert not any(button.isChecked() for button in panel.presets.values())


def test_presets_reset_and_seed(panel: SamplingPanel) -> None:
    heard: list[ChatSettings] = []
    panel.changed.connect(heard.append)
    assert panel.presets["natural"].isChecked()
    panel.dials["max_tokens"].number.setValue(30)
    type_text(panel.seed, "7")
    panel.seed.editingFinished.emit()
    panel.presets["lively"].click()
    sampling = heard[-1].sampling
    assert (sampling.temperature, sampling.top_p, sampling.max_tokens) == (0.8, 0.95, 30)
    assert sampling.seed == 7
    assert panel.dials["temperature"].value == 0.8
    for text in ("-1", "x", "9" * 19, "１２"):
        panel.seed.setText(text)
        panel.seed.editingFinished.emit()
        assert panel.seed_error.isVisible()
        assert heard[-1].sampling.seed == 7
    panel.reset_button.click()
    assert heard[-1] == DEFAULT_SETTINGS
    assert not panel.seed_error.isVisible()
    assert panel.seed.text() == ""
    assert panel.presets["natural"].isChecked()


def test_each_conversation_has_its_own(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    panel = one.window.chat.sampling
    panel.presets["steady"].click()
    talk(qtbot, one, "甲")
    sampling = one.client.samplings[-1]
    assert sampling is not None
    assert sampling.temperature == 0.2
    talk(qtbot, one, "乙")
    panel.presets["lively"].click()
    panel.dials["history_turns"].number.setValue(0)
    send(one, "乙二")
    wait_idle(qtbot, one)
    assert one.client.asked[-1] == ("乙二", ())
    wait_titles(qtbot, one, ["乙", "甲"])
    click(one, "甲")
    qtbot.waitUntil(lambda: texts(one) == ["甲", "甲"])
    assert panel.presets["steady"].isChecked()
    assert panel.dials["history_turns"].value == 2
    one.app.close()
    two = fake()
    qtbot.waitUntil(lambda: texts(two) == ["甲", "甲"])
    click(two, "乙")
    qtbot.waitUntil(lambda: len(texts(two)) == 4)
    assert two.window.chat.sampling.presets["lively"].isChecked()


def test_the_context_in_use_is_shown(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    panel = one.window.chat.sampling
    qtbot.waitUntil(lambda: panel.context_words.text() == "0 of 512 tokens")
    send(one, "今天天气")
    wait_idle(qtbot, one)
    # The faked server says that it was given twelve tokens.
    assert panel.context_words.text() == "16 of 512 tokens"
    assert panel.context.value() == 16
