"""The line chart: its scale, its gaps, its bounds, and what is seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.ui import theme
from desktop.ui.line_chart import LineChart, Point, line_pen, nice_ceiling
from desktop.ui.server_charts import say_bytes, say_milliseconds, say_number, say_percent


def when(seconds: float) -> str:
    return f"{seconds:.0f} s"


@pytest.fixture(params=["light", "dark"])
def scheme(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[str]:
    manager = theme.ThemeManager(qapp, request.param)
    yield request.param
    manager.apply("light")
    manager.stop()


@pytest.fixture
def chart(qtbot: QtBot, scheme: str) -> LineChart:
    made = LineChart(say_number, when, 1.0)
    made.resize(301, 120)
    made.show_names(("Chat", "Addresses"), "nothing yet")
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 1), (0.03, 0.05), (1, 1), (1.01, 2), (2.4, 2.5), (7, 10), (250, 250), (251, 500)],
)
def test_the_scale_ends_at_round_numbers(value: float, top: float) -> None:
    assert nice_ceiling(value) == pytest.approx(top)


def colours(picture: QImage) -> set[str]:
    return {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    }


def seen(picture: QImage, color: QColor) -> int:
    """Pixels of about this colour: lines are smoothed."""
    return sum(
        abs(c.red() - color.red()) + abs(c.green() - color.green()) + abs(c.blue() - color.blue())
        < 60
        for x in range(picture.width())
        for y in range(picture.height())
        if (c := picture.pixelColor(x, y)).isValid()
    )


def test_both_lines_are_seen_in_the_colours_of_the_theme(chart: LineChart) -> None:
    for second in range(300):
        chart.add(Point(float(second), (80.0, 20.0)))
    picture = chart.grab().toImage()
    assert seen(picture, line_pen(0).color()) > 200  # a whole line
    assert 80 < seen(picture, line_pen(1).color()) < 260  # a dashed one
    surface = theme.current().color("surface")
    for number in (0, 1):
        assert theme.contrast(line_pen(number).color(), surface) >= 3


def test_nothing_is_said_in_words(chart: LineChart) -> None:
    empty = colours(chart.grab().toImage())
    chart.show_names(("", ""), "")
    assert len(colours(chart.grab().toImage())) < len(empty)


def test_gaps_stay_gaps(chart: LineChart) -> None:
    for at, value in ((0, 1.0), (1, 2.0), (2, None), (3, 4.0), (4, 5.0), (60, 6.0)):
        chart.add(Point(float(at), (value, None)))
    assert chart._runs(0) == [[(0.0, 1.0), (1.0, 2.0)], [(3.0, 4.0), (4.0, 5.0)], [(60.0, 6.0)]]
    assert chart._runs(1) == []
    chart.grab()


def test_the_past_is_bounded(chart: LineChart) -> None:
    for second in range(5000):
        chart.add(Point(float(second), (float(second % 7), 0.0)))
    points = chart.points()
    assert len(points) <= 330
    assert points[-1].at == 4999.0
    chart.add(Point(1.0, (1.0, 1.0)))  # another clock: the machine was started anew
    assert [point.at for point in chart.points()] == [1.0]


def test_the_scale_is_given_or_found(chart: LineChart) -> None:
    assert chart.top() == 1.0
    chart.add(Point(0.0, (7.0, None)))
    assert chart.top() == 10.0
    chart.add(Point(1.0, (7.0, None)), ceiling=25.3)
    assert chart.top() == 25.3


def test_the_mouse_asks_for_values(qtbot: QtBot, chart: LineChart) -> None:
    for second in range(301):
        chart.add(Point(float(second), (float(second), None)))
    assert chart.words_at(300.5) == "0 s\nChat 300\nAddresses –"
    assert chart.words_at(0.5) == "300 s\nChat 0\nAddresses –"
    chart.show()
    before = chart.grab().toImage()
    for x in (20, 150):  # it may be there already
        QTest.mouseMove(chart, QPoint(x, 40))
    qtbot.waitUntil(lambda: chart.grab().toImage() != before)


def test_numbers_are_said_short() -> None:
    assert [say_number(v) for v in (0, 3, 2.345, 1234.5)] == ["0", "3", "2.3", "1,234"]
    assert say_percent(0.256) == "26%"
    assert say_bytes(25276059648) == "25.3 GB"
    assert say_milliseconds(0.31) == "0.3 ms"
