"""A small line chart of the last minutes, drawn in the colours of the theme."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from desktop.ui import theme

#: How much of the past is kept and shown, in seconds; one look a second.
SPAN = 300.0
_MOST = 330
# Colours by name and dash pattern: told apart without colour too.
_LINES: tuple[tuple[str, list[float]], ...] = (
    ("accent", []),
    ("warn", [3, 2]),
    ("danger", [1, 2]),
    ("ok", [6, 2, 1, 2]),
    ("text_2", [8, 3]),
)
_TOP = 6
_BOTTOM = 18
_CORNERS = 2.0


def line_pen(number: int, width: float = 1.6) -> QPen:
    """How the ``number``-th line of a chart is drawn."""
    name, dashes = _LINES[number % len(_LINES)]
    pen = QPen(theme.current().color(name), width)
    if dashes:
        pen.setDashPattern(dashes)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def nice_ceiling(value: float) -> float:
    """The smallest of 1, 2, 2.5 or 5 times a power of ten that is not below ``value``."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= value * (1 - 1e-9))


@dataclass(frozen=True)
class Point:
    """Values of all lines at a time in seconds of the monotonic clock; None is a gap."""

    at: float
    values: tuple[float | None, ...]


class LineChart(QWidget):
    """``say`` puts a value into words; ``when`` tells how many seconds ago. ``least``: the top of
    the scale is never lower."""

    def __init__(
        self,
        say: Callable[[float], str],
        when: Callable[[float], str],
        least: float,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._say = say
        self._when = when
        self._least = least
        self._ceiling: float | None = None
        self._points: deque[Point] = deque(maxlen=_MOST)
        self._names: Sequence[str] = ()
        self._empty = ""
        self._hovered: float | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(220), theme.px(96))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(120), theme.px(84))

    def points(self) -> list[Point]:
        return list(self._points)

    def show_names(self, names: Sequence[str], empty: str) -> None:
        """Names of the lines, for the tooltip, and what is said while there is nothing."""
        self._names, self._empty = names, empty
        self.update()

    def add(self, point: Point, ceiling: float | None = None) -> None:
        """``ceiling``: the top of the scale where it is known."""
        if self._points and point.at < self._points[-1].at:
            self._points.clear()
        self._points.append(point)
        self._ceiling = ceiling
        self.update()

    def clear(self) -> None:
        self._points.clear()
        self.update()

    def top(self) -> float:
        """The value at the top of the scale."""
        if self._ceiling is not None:
            return self._ceiling
        values = [v for p in self._points for v in p.values if v is not None]
        return max(self._least, nice_ceiling(max(values, default=0.0)))

    # -- drawing ------------------------------------------------------------------------------

    def _plot(self) -> QRectF:
        return QRectF(self.rect()).adjusted(0.5, _TOP + 0.5, -0.5, -theme.px(_BOTTOM) - 0.5)

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = self._plot()
        painter.setPen(QPen(look.color("line"), 1))
        for share in (0.0, 0.5, 1.0):
            y = round(plot.bottom() - share * plot.height()) + 0.5
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setFont(theme.font("caption"))
        painter.setPen(look.color("text_3"))
        below = QRectF(plot.left(), plot.bottom() + 2, plot.width(), theme.px(_BOTTOM) - 2)
        bottom = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | bottom, self._when(SPAN))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight | bottom, self._when(0.0))
        if not any(value is not None for point in self._points for value in point.values):
            painter.drawText(plot, Qt.AlignmentFlag.AlignCenter, self._empty)
            painter.end()
            return
        top = self.top()
        painter.setClipRect(QRectF(plot.left(), 0, plot.width(), plot.bottom() + 2))
        for number in reversed(range(len(self._points[-1].values))):
            self._draw_line(painter, plot, number, top)
        painter.setClipping(False)
        self._draw_scale(painter, plot, top)
        if self._hovered is not None and (point := self._nearest(self._hovered)):
            self._draw_hovered(painter, plot, point, top)
        painter.end()

    def _draw_scale(self, painter: QPainter, plot: QRectF, top: float) -> None:
        """The top of the scale, on the ground of the card so that lines do not cross it."""
        look = theme.current()
        words = self._say(top)
        metrics = painter.fontMetrics()
        box = QRectF(
            plot.left(), plot.top() + 2, metrics.horizontalAdvance(words) + 6, theme.px(14)
        )
        ground = look.color("surface")
        ground.setAlphaF(0.8)
        painter.fillRect(box, ground)
        painter.setPen(look.color("text_3"))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)

    def _position(self, plot: QRectF, at: float, value: float, top: float) -> QPointF:
        age = self._points[-1].at - at
        x = plot.right() - age / SPAN * plot.width()
        return QPointF(x, plot.bottom() - min(1.0, value / top) * plot.height())

    def _draw_line(self, painter: QPainter, plot: QRectF, number: int, top: float) -> None:
        painter.setPen(line_pen(number))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for run in self._runs(number):
            line = [self._position(plot, at, value, top) for at, value in run]
            if len(line) == 1:
                painter.setBrush(painter.pen().color())
                painter.drawEllipse(line[0], _CORNERS / 2, _CORNERS / 2)
                painter.setBrush(Qt.BrushStyle.NoBrush)
            else:
                painter.drawPolyline(QPolygonF(line))

    def _runs(self, number: int) -> list[list[tuple[float, float]]]:
        """The line in pieces: where a value is missing or nobody looked there is none."""
        runs: list[list[tuple[float, float]]] = []
        last: float | None = None
        for point in self._points:
            value = point.values[number] if number < len(point.values) else None
            if value is None:
                last = None
                continue
            if last is None or point.at - last > 4.0:
                runs.append([])
            runs[-1].append((point.at, value))
            last = point.at
        return runs

    def _draw_hovered(self, painter: QPainter, plot: QRectF, point: Point, top: float) -> None:
        look = theme.current()
        x = self._position(plot, point.at, 0.0, top).x()
        painter.setPen(QPen(look.color("text_3"), 1))
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        for number, value in enumerate(point.values):
            if value is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(line_pen(number).color())
                painter.drawEllipse(self._position(plot, point.at, value, top), 3, 3)

    # -- looking closer -----------------------------------------------------------------------

    def _nearest(self, x: float) -> Point | None:
        if not self._points:
            return None
        plot = self._plot()
        at = self._points[-1].at - (plot.right() - x) / plot.width() * SPAN
        return min(self._points, key=lambda point: abs(point.at - at))

    def words_at(self, x: float) -> str:
        """What the tooltip says at a place: the values, and how long ago they were."""
        point = self._nearest(x)
        if point is None:
            return ""
        lines = [self._when(self._points[-1].at - point.at)]
        for number, value in enumerate(point.values):
            name = self._names[number] if number < len(self._names) else ""
            said = "–" if value is None else self._say(value)
            lines.append(f"{name} {said}".strip())
        return "\n".join(lines)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hovered = event.position().x()
        self.update()
        QToolTip.showText(event.globalPosition().toPoint(), self.words_at(self._hovered), self)

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.update()
