"""The small line under a reply: how probable each of its tokens was to the model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from desktop.triton.types import Token
from desktop.ui import theme
from desktop.ui.coloring import UNSURE_BELOW

#: What the chart takes under the text of a reply, with the space above it, in pixels.
CHART_SPACE = 40
_HEIGHT = 28
# A token's share of the width where there is room; long replies are drawn closer.
_STEP = 8.0
_DOT = 2.25


def has_chart(tokens: int) -> bool:
    """A line needs two ends."""
    return tokens >= 2


class ProbabilityChart:
    """Where the line goes: probability 0 to 1 upwards, tokens in order to the right.

    ``left``, ``top``, ``room``: where the chart's space begins and how wide it may be, in pixels.
    """

    def __init__(self, tokens: Sequence[Token], left: float, top: float, room: float) -> None:
        self._step = min(_STEP, room / len(tokens))
        y = top + CHART_SPACE - _HEIGHT
        self.rect = QRectF(left, y, self._step * len(tokens), _HEIGHT)
        self._points = [
            QPointF(left + (i + 0.5) * self._step, self._y(token.probability))
            for i, token in enumerate(tokens)
        ]
        self._unsure = [
            point
            for point, token in zip(self._points, tokens, strict=True)
            if token.probability < UNSURE_BELOW
        ]

    def token_at(self, point: QPointF) -> int | None:
        """The number, from 0, of the token whose part of the chart a point is in."""
        if not self.rect.adjusted(-2, -6, 2, 4).contains(point):
            return None
        number = int((point.x() - self.rect.left()) / self._step)
        return max(0, min(len(self._points) - 1, number))

    def token_rect(self, number: int) -> QRectF:
        """A token's part of the chart."""
        left = self.rect.left() + number * self._step
        return QRectF(left, self.rect.top(), self._step, self.rect.height())

    def point(self, number: int) -> QPointF:
        return self._points[number]

    def draw(self, painter: QPainter, focus: int | None = None) -> None:
        """``focus``: the token that is explained."""
        look = theme.current()
        left, right = self.rect.left(), self.rect.right()
        under = QPolygonF(
            [
                QPointF(self._points[0].x(), self.rect.bottom()),
                *self._points,
                QPointF(self._points[-1].x(), self.rect.bottom()),
            ]
        )
        # Painted anew with every handful of tokens: the line, smoothed, lies over the area's edge.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("accent_soft"))
        painter.drawPolygon(under)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(look.color("line"), 1))
        painter.drawLine(QPointF(left, self.rect.bottom()), QPointF(right, self.rect.bottom()))
        bound = QPen(look.color("text_3"), 1, Qt.PenStyle.DotLine)
        painter.setPen(bound)
        painter.drawLine(
            QPointF(left, self._y(UNSURE_BELOW)), QPointF(right, self._y(UNSURE_BELOW))
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        line = QPen(look.color("accent"), 1)
        line.setCosmetic(True)  # several times quicker than a wider one
        painter.setPen(line)
        painter.drawPolyline(QPolygonF(self._points))
        painter.setPen(
            QPen(look.color("warn"), 2 * _DOT, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        )
        painter.drawPoints(QPolygonF(self._unsure))
        if focus is not None and focus < len(self._points):
            at = self._points[focus]
            painter.setPen(QPen(look.color("focus"), 1))
            painter.drawLine(
                QPointF(at.x(), self.rect.top() - 2), QPointF(at.x(), self.rect.bottom())
            )
            painter.setPen(QPen(look.color("focus"), 2))
            painter.setBrush(look.color("surface"))
            painter.drawEllipse(at, 3.5, 3.5)

    def _y(self, probability: float) -> float:
        return self.rect.bottom() - probability * (self.rect.height() - 2) - 1
