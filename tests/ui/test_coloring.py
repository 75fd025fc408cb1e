"""Colours by probability, by perplexity, or none."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from desktop.triton.types import Alternative, Token
from desktop.ui import theme
from desktop.ui.coloring import PERPLEXITY_STOPS, Coloring, perplexity
from tests.ui.conftest import Fake
from tests.ui.fakes import token
from tests.ui.test_conversation import send, wait_idle


def with_shares(*shares: float) -> Token:
    alternatives = tuple(Alternative("字", i, p) for i, p in enumerate(shares))
    return Token("字", 0, 1.0, shares[0], alternatives)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_perplexity_of_n_equally_likely_tokens_is_n(n: int) -> None:
    assert perplexity(with_shares(*[1 / n] * n)) == pytest.approx(n)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8))
def test_perplexity_is_between_one_and_the_number_of_outcomes(weights: list[float]) -> None:
    total = sum(weights) * 1.25  # a fifth of the mass is elsewhere
    value = perplexity(with_shares(*(w / total for w in weights)))
    assert 1.0 <= value <= len(weights) + 1 + 1e-9


def test_stronger_tints_for_more_open_choices() -> None:
    look = theme.current()
    sure, open_ = with_shares(0.999), with_shares(*[0.1] * 10)
    assert Coloring.PERPLEXITY.tint(sure) is None
    assert Coloring.PERPLEXITY.tint(open_) == look.tints()[-1]
    assert len(PERPLEXITY_STOPS) + 1 == len(look.tints())
    assert Coloring.PERPLEXITY.underlines(open_)
    assert not Coloring.PERPLEXITY.underlines(sure)
    assert Coloring.OFF.tint(open_) is None
    assert not Coloring.OFF.underlines(open_)
    assert math.isclose(perplexity(Token("字", 0, 1.0, 1.0)), 1.0)


def test_the_buttons_change_what_is_painted_and_the_legend(
    qtbot: QtBot, fake: Callable[..., Fake]
) -> None:
    one = fake(lambda text, history: [token("好", 0.05), token("的", 0.97)])
    chat = one.window.chat
    send(one, "问")
    wait_idle(qtbot, one)
    look = theme.current()

    def painted(number: int) -> str:
        chat.view.leave_token()
        picture = chat.view.viewport().grab().toImage()
        corner = chat.view.token_rect(1, number).topLeft() + QPoint(3, 2)
        return picture.pixelColor(corner).name()

    tokens = chat.conversation.transcript.message(1).tokens
    plain = look.color("window").name()
    for coloring in (Coloring.PERPLEXITY, Coloring.OFF, Coloring.PROBABILITY):
        chat.header.colorings[coloring].click()
        for number, each in enumerate(tokens):
            tint = coloring.tint(each)
            assert painted(number) == (tint.name() if tint else plain)
        assert chat.header.legend.isVisible() == (coloring is not Coloring.OFF)
    chat.header.colorings[Coloring.PERPLEXITY].click()
    assert "equally likely" in chat.header.legend.toolTip()
