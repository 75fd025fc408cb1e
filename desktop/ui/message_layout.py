"""Where everything in one message goes: measured once per width and revision, in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QTextLayout, QTextLine, QTextOption

from desktop.ui import theme
from desktop.ui.message_chart import CHART_SPACE, ProbabilityChart, has_chart
from desktop.ui.transcript import Message, Role
from desktop.ui.utf16 import units

# Running text is read in a column; wider than this, lines are hard to follow.
_COLUMN_MAX = 800
_MARGIN = 28
_BUBBLE_SHARE = 0.75
_FOOT_LINE = 20
_FOOT_GAP = 12

FOOTER_FLAGS = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft)


@dataclass(frozen=True)
class TokenBox:
    """A token's part on one line. A token that wraps has two boxes."""

    index: int
    rect: QRectF


@dataclass(frozen=True)
class FootItem:
    """A word below (a reply) or beside (a user's message) the text; with an ``action`` it can be
    clicked. ``tight``: the next one stands close by."""

    text: str
    action: str = ""
    tight: bool = False
    rect: QRectF = field(default_factory=QRectF)


def column(width: int) -> tuple[int, int]:
    """The left edge and the width of the text column in a view of this width."""
    inner = max(120, min(theme.px(_COLUMN_MAX), width - 2 * _MARGIN))
    return max(_MARGIN, (width - inner) // 2), inner


def estimate_height(message: Message, width: int, *, chart: bool = True) -> int:
    """A height good enough for a scroll bar, for a message that was not laid out yet."""
    glyph = theme.px(theme.tokens()["font"]["size"]["body"])
    lines = math.ceil(max(1, len(message.text)) * glyph / column(width)[1])
    height = lines * theme.line_height() + theme.px(44 if message.role is Role.USER else 60)
    return height + (CHART_SPACE if chart and _charted(message) else 0)


def _charted(message: Message) -> bool:
    """Whether a reply has a chart, or will when its tokens come: nothing must jump then."""
    known = len(message.tokens)
    if not message.tokens_loaded:
        known = message.finished.tokens if message.finished else len(message.text)
    return message.role is Role.REPLY and has_chart(known)


class MessageLayout:
    """Geometry of a message in a view of ``width`` pixels; the origin is the row's top left.

    ``with_chart``: whether a reply has the line of its probabilities under it.
    """

    def __init__(
        self,
        message: Message,
        width: int,
        *,
        foot: Sequence[FootItem] = (),
        error: str = "",
        waiting: str = "",
        with_chart: bool = True,
    ) -> None:
        self.width = width
        self.revision = message.revision
        self.error = error
        left, inner = column(width)
        self.left, self.inner = left, inner
        self.boxes: list[TokenBox] = []
        self.foot: list[FootItem] = []
        self.bubble = QRectF()
        self.name = QRectF()
        self.error_rect = QRectF()
        self.chart: ProbabilityChart | None = None
        self._with_chart = with_chart and _charted(message)
        self._lines: list[QTextLine] = []

        self.waiting = message.role is Role.REPLY and not message.text and bool(waiting)
        shown = waiting if self.waiting else message.text
        self.text = QTextLayout(shown.replace("\n", "\u2028"), theme.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setTextOption(option)

        if message.role is Role.USER:
            self._lay_out_user(left, inner, foot)
        else:
            self._lay_out_reply(message, left, inner, foot)

    def _lay_out_user(self, left: int, inner: int, foot: Sequence[FootItem]) -> None:
        pad_x, pad_y, top = theme.space(3), theme.space(1), theme.space(3)
        height = self._break_lines(inner * _BUBBLE_SHARE - 2 * pad_x)
        text_width = math.ceil(max((line.naturalTextWidth() for line in self._lines), default=0))
        bubble_width = text_width + 2 * pad_x
        x = left + inner - bubble_width
        self.bubble = QRectF(x, top, bubble_width, height + 2 * pad_y)
        self.origin = QPointF(x + pad_x, top + pad_y)
        self.height = int(self.bubble.bottom()) + theme.space(0)
        # In the free space left of the bubble, from its edge outwards; what has no room is left
        # to the context menu.
        metrics = QFontMetricsF(theme.font("small"))
        right, line = (
            self.bubble.left() - theme.px(_FOOT_GAP),
            self.bubble.bottom() - theme.px(_FOOT_LINE) - 4,
        )
        for item in reversed(foot):
            wide = metrics.horizontalAdvance(item.text)
            if right - wide < left:
                break
            rect = QRectF(right - wide, line, wide, theme.px(_FOOT_LINE))
            self.foot.insert(0, replace(item, rect=rect))
            right -= wide + theme.px(_FOOT_GAP)

    def _lay_out_reply(
        self, message: Message, left: int, inner: int, foot: Sequence[FootItem]
    ) -> None:
        top, name_height = theme.space(3), theme.px(20)
        self.name = QRectF(left, top, inner, name_height)
        self.origin = QPointF(left, top + name_height)
        bottom = self.origin.y()
        if self.text.text():
            bottom += self._break_lines(inner)
        self._box_tokens(message)
        if self._with_chart:
            if has_chart(len(message.tokens)):
                self.chart = ProbabilityChart(message.tokens, left, bottom, inner)
            bottom += CHART_SPACE
        metrics = QFontMetricsF(theme.font("small"))
        if self.error:
            wrapped = metrics.boundingRect(QRectF(0, 0, inner, 1e6), FOOTER_FLAGS, self.error)
            lines = max(1, round(wrapped.height() / metrics.lineSpacing()))
            self.error_rect = QRectF(
                left, bottom + theme.space(0), inner, lines * theme.px(_FOOT_LINE)
            )
            bottom = self.error_rect.bottom()
        if foot:
            x, line = float(left), bottom + theme.space(0)
            for item in foot:
                wide = metrics.horizontalAdvance(item.text)
                if x + wide > left + inner and x > left:
                    x, line = float(left), line + theme.px(_FOOT_LINE)
                self.foot.append(replace(item, rect=QRectF(x, line, wide, theme.px(_FOOT_LINE))))
                x += wide + (theme.px(_FOOT_GAP) // 2 if item.tight else theme.px(_FOOT_GAP))
            bottom = line + theme.px(_FOOT_LINE)
        self.height = int(bottom) + theme.space(0)

    def _break_lines(self, width: float) -> float:
        """Break the text into lines on the grid; the height they take."""
        step = theme.line_height()
        y = 0.0
        self.text.beginLayout()
        while (line := self.text.createLine()).isValid():
            line.setLineWidth(width)
            # A fallback font (emoji) may be taller than the grid's line.
            height = max(step, math.ceil(line.height() / 4) * 4)
            line.setPosition(QPointF(0, y + (height - line.height()) / 2))
            self._lines.append(line)
            y += height
        self.text.endLayout()
        return y

    def _box_tokens(self, message: Message) -> None:
        if self.waiting:
            return
        position, number = 0, 0
        for index, token in enumerate(message.tokens):
            end = position + units(token.text)
            while position < end and number < len(self._lines):
                line = self._lines[number]
                line_end = line.textStart() + line.textLength()
                stop = min(end, line_end)
                x0, x1 = _x(line, position), _x(line, stop)
                middle = line.y() + line.height() / 2
                rect = QRectF(x0, middle - theme.px(22) / 2, x1 - x0, theme.px(22))
                self.boxes.append(TokenBox(index, rect.translated(self.origin)))
                position = stop
                if stop == line_end:
                    number += 1
            position = end

    def position_at(self, point: QPointF) -> int:
        """The text position (UTF-16 units) nearest to a point of the row."""
        local = point - self.origin
        if not self._lines:
            return 0
        if local.y() < 0:
            return 0
        for line in self._lines:
            if local.y() < line.y() + line.height() + 2:
                return line.xToCursor(local.x())
        return units(self.text.text())

    def token_at(self, point: QPointF) -> int | None:
        """The index of the token under a point of the row."""
        for box in self.boxes:
            if box.rect.contains(point):
                return box.index
        return None

    def chart_token_at(self, point: QPointF) -> int | None:
        """The index of the token whose part of the chart is under a point of the row."""
        return self.chart.token_at(point) if self.chart is not None else None

    def action_at(self, point: QPointF) -> str:
        """The action whose word is under a point of the row."""
        for item in self.foot:
            if item.action and item.rect.adjusted(-4, -2, 4, 2).contains(point):
                return item.action
        return ""

    def token_rect(self, index: int) -> QRectF:
        """The first box of a token."""
        return next((box.rect for box in self.boxes if box.index == index), QRectF())

    def over_text(self, point: QPointF) -> bool:
        if not self._lines:
            return False
        first, last = self._lines[0], self._lines[-1]
        area = QRectF(0, first.y(), self.inner, last.y() + last.height() - first.y())
        return area.translated(self.origin).contains(point)


def _x(line: QTextLine, position: int) -> float:
    """``cursorToX`` answers with a pair in Python: the x and the position it settled on."""
    answer = line.cursorToX(position)
    return float(answer[0]) if isinstance(answer, tuple) else float(answer)  # type: ignore[arg-type]
