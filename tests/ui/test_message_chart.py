"""The line of probabilities under a reply: drawn as it streams, pointed at, gone along by keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.triton.types import Token
from desktop.ui import theme
from desktop.ui.coloring import UNSURE_BELOW, Coloring
from desktop.ui.message_chart import CHART_SPACE, ProbabilityChart
from tests.ui.conftest import Fake
from tests.ui.fakes import token
from tests.ui.test_conversation import send, wait_idle
from tests.ui.test_message_view import reply

SHARES = (0.9, 0.5, 0.1, 0.95)


def wavy(text: str, history: Sequence[str]) -> list[Token]:
    return [token(c, SHARES[n % 4]) for n, c in enumerate(text)]


def part(fake: Fake, row: int, number: int) -> QPoint:
    """Where a token is on the chart, in the viewport."""
    view = fake.window.chat.view
    chart = view._layout(row).chart
    assert chart is not None
    return chart.token_rect(number).center().toPoint() + view._row_rect(row).topLeft()


def test_the_line_goes_through_the_probabilities() -> None:
    chart = ProbabilityChart([token("字", share) for share in SHARES], 10, 20, 800)
    heights = [chart.point(n).y() for n in range(4)]
    order = sorted(range(4), key=lambda n: -SHARES[n])
    assert sorted(range(4), key=lambda n: heights[n]) == order  # likelier is higher
    assert all(20 <= y <= 20 + CHART_SPACE for y in heights)
    for number in range(4):
        assert chart.token_at(chart.token_rect(number).center()) == number
    assert chart.token_at(QPointF(700, heights[0])) is None


def test_a_long_reply_fits_into_its_column() -> None:
    chart = ProbabilityChart([token("字", 0.5)] * 500, 0, 0, 300)
    assert chart.rect.width() == 300
    assert [chart.token_at(chart.token_rect(n).center()) for n in (0, 250, 499)] == [0, 250, 499]


def test_it_grows_while_a_reply_streams(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(wavy, gap=0.1)
    view = one.window.chat.view
    widths: list[float] = []

    def grown() -> None:
        chart = view._layout(1).chart
        if chart is not None:
            widths.append(chart.rect.width())

    one.window.chat.conversation.transcript.dataChanged.connect(grown)
    send(one, "一二三四五六七八九十一二")
    wait_idle(qtbot, one)
    assert widths == sorted(widths)
    assert len(set(widths)) >= 2  # it was there before the end


def test_unsure_tokens_stand_out_by_dots(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(wavy)
    chat, view = one.window.chat, one.window.chat.view
    chat.conversation.transcript.append(reply("一二三四"))
    message = chat.conversation.transcript.message(0)
    message.tokens = [token(c, p) for c, p in zip(message.text, SHARES, strict=True)]
    chat.conversation.transcript.touch(0)
    picture = view.viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    chart = view._layout(0).chart
    assert chart is not None
    top_left = view._row_rect(0).topLeft()

    def color(number: int) -> str:
        return picture.pixelColor((chart.point(number).toPoint() + top_left) * ratio).name()

    warn = theme.current().color("warn").name()
    dotted = [number for number in range(4) if color(number) == warn]
    assert dotted == [n for n, share in enumerate(SHARES) if share < UNSURE_BELOW]


def test_without_colours_there_is_no_chart(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(wavy)
    chat = one.window.chat
    send(one, "一二三四五")
    wait_idle(qtbot, one)
    tall = chat.view.rows.height(1)
    chat.header.colorings[Coloring.OFF].click()
    assert chat.view._layout(1).chart is None
    assert chat.view.rows.height(1) == tall - CHART_SPACE
    chat.header.colorings[Coloring.PERPLEXITY].click()
    assert chat.view.rows.height(1) == tall


def test_pointing_at_it_explains_the_token_there(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(wavy)
    chat = one.window.chat
    send(one, "一二三四五六七八")
    wait_idle(qtbot, one)
    viewport = chat.view.viewport()
    QTest.mouseMove(viewport, part(one, 1, 2))
    qtbot.waitUntil(lambda: chat.popover is not None and chat.popover.token is not None)
    assert chat.popover is not None
    assert chat.view.focus_token == (1, 2)
    QTest.mouseMove(viewport, part(one, 1, 6))
    qtbot.waitUntil(lambda: chat.view.focus_token == (1, 6))
    assert chat.popover.token is not None
    assert chat.popover.token.text == "七"
    assert not chat.popover.geometry().contains(viewport.mapTo(one.window, part(one, 1, 6)))


def test_a_click_brings_the_token_into_sight(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(lambda text, history: [token("很", 0.5) for _ in range(2400)])
    chat, view = one.window.chat, one.window.chat.view
    send(one, "长")
    wait_idle(qtbot, one)
    assert not view.viewport().rect().contains(view.token_rect(1, 30))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=part(one, 1, 30))
    assert view.focus_token is not None
    number = view.focus_token[1]
    assert abs(number - 30) <= 3  # several tokens share a pixel
    assert view.viewport().rect().contains(view.token_rect(1, number))
    assert chat.popover is not None
    assert chat.popover.token is not None


def test_keys_go_along_it(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake(wavy)
    view = one.window.chat.view
    send(one, "一二三四五六七八")
    wait_idle(qtbot, one)
    view.setFocus()
    for key, number in (
        (Qt.Key.Key_Right, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_End, 7),
        (Qt.Key.Key_Left, 6),
        (Qt.Key.Key_Home, 0),
    ):
        QTest.keyClick(view, key)
        assert view.focus_token == (1, number)
