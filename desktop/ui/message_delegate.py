"""Paints one message: bubbles, tinted tokens, the figures line, the error sentence."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from desktop.ui import theme
from desktop.ui.message_layout import FOOTER_FLAGS, MessageLayout
from desktop.ui.transcript import MESSAGE_ROLE, AnyIndex, Message, Role, Stage


class MessageDelegate(QStyledItemDelegate):
    """Knows how a message looks; the view tells it what is selected and which token has focus."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        #: Shown in place of a reply that has no token yet.
        self.waiting_words = "…"

    def lay_out(self, message: Message, width: int) -> MessageLayout:
        return MessageLayout(
            message, width, footer=self.footer(message), waiting=self._waiting(message)
        )

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        message: Message = index.data(MESSAGE_ROLE)
        width = option.rect.width()
        return QSize(width, self.lay_out(message, width).height)

    def _waiting(self, message: Message) -> str:
        return self.waiting_words if message.stage in (Stage.WAITING, Stage.STREAMING) else ""

    def footer(self, message: Message) -> str:
        """The line under a reply: its figures, or what went wrong in one sentence."""
        if message.role is not Role.REPLY:
            return ""
        if message.error:
            return message.error
        finished = message.finished
        if finished is None:
            return ""
        parts = [self.tr("%n token(s)", "", finished.tokens)]
        if finished.seconds_to_first_token is not None:
            parts.append(
                self.tr("first after {0} ms").format(round(finished.seconds_to_first_token * 1000))
            )
        if finished.tokens_per_second is not None:
            parts.append(self.tr("{0} tokens/s").format(round(finished.tokens_per_second)))
        if message.tokens:
            mean = sum(token.probability for token in message.tokens) / len(message.tokens)
            parts.append(self.tr("mean probability {0}").format(f"{mean:.2f}"))
        parts.append(self.finish_words(finished.finish_reason))
        return "    ".join(parts)

    def finish_words(self, reason: str) -> str:
        return {
            "stop": self.tr("finished"),
            "length": self.tr("length limit reached"),
            "cancelled": self.tr("stopped"),
        }.get(reason, reason)

    def draw(
        self,
        painter: QPainter,
        message: Message,
        layout: MessageLayout,
        selection: tuple[int, int] | None = None,
        focus_token: int | None = None,
    ) -> None:
        """Paint with the painter's origin at the row's top left."""
        look = theme.current()
        if message.role is Role.BREAK:
            self._draw_break(painter, layout)
            return
        if message.role is Role.USER:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color("user_bubble"))
            painter.drawPath(_bubble(layout.bubble))
        else:
            painter.setFont(theme.font("small"))
            painter.setPen(look.color("text_2"))
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(layout.name, flags, "Tritalk")
            self._draw_tints(painter, message, layout)
        painter.setPen(look.color("text_3" if layout.waiting else "text"))
        layout.text.draw(painter, layout.origin, _highlight(selection))
        if message.role is Role.REPLY:
            self._draw_underlines(painter, message, layout)
            if focus_token is not None:
                self._draw_focus(painter, layout.token_rect(focus_token))
            if layout.footer:
                painter.setFont(theme.font("small"))
                painter.setPen(look.color("danger" if message.error else "text_3"))
                painter.drawText(layout.footer_rect, FOOTER_FLAGS, layout.footer)

    def _draw_break(self, painter: QPainter, layout: MessageLayout) -> None:
        look = theme.current()
        words = self.tr("New conversation")
        painter.setFont(theme.font("small"))
        area = QRectF(layout.left, 0, layout.inner, layout.height)
        text_width = painter.fontMetrics().horizontalAdvance(words) + 2 * theme.space(2)
        middle = round(area.center().y()) + 0.5
        painter.setPen(look.color("line"))
        gap_left = area.center().x() - text_width / 2
        painter.drawLine(QPointF(area.left(), middle), QPointF(gap_left, middle))
        painter.drawLine(QPointF(gap_left + text_width, middle), QPointF(area.right(), middle))
        painter.setPen(look.color("text_2"))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, words)

    def _draw_tints(self, painter: QPainter, message: Message, layout: MessageLayout) -> None:
        look = theme.current()
        painter.setPen(Qt.PenStyle.NoPen)
        for box in layout.boxes:
            tint = look.tint(message.tokens[box.index].probability)
            if tint is not None:
                painter.setBrush(tint)
                painter.drawRoundedRect(box.rect, 3, 3)

    def _draw_underlines(
        self,
        painter: QPainter,
        message: Message,
        layout: MessageLayout,
    ) -> None:
        pen = theme.dotted_pen()
        painter.setPen(pen)
        for box in layout.boxes:
            if message.tokens[box.index].probability < theme.UNDERLINE_BELOW:
                y = box.rect.bottom() - 1
                painter.drawLine(QPointF(box.rect.left() + 2, y), QPointF(box.rect.right() - 1, y))

    def _draw_focus(self, painter: QPainter, rect: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.current().color("focus"), 2))
        painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 4, 4)


def _bubble(rect: QRectF) -> QPainterPath:
    """Rounded, but square where the speaker is."""
    r = theme.radius("bubble")
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRoundedRect(rect, r, r)
    corner = QRectF(rect.right() - r, rect.bottom() - r, r, r)
    path.addRoundedRect(corner, 4, 4)
    return path


def _highlight(selection: tuple[int, int] | None) -> list[QTextLayout.FormatRange]:
    if selection is None or selection[0] == selection[1]:
        return []
    look = theme.current()
    style = QTextCharFormat()
    style.setBackground(look.color("accent"))
    style.setForeground(QColor(look.color("on_accent")))
    chosen = QTextLayout.FormatRange()
    chosen.start, chosen.length = selection[0], selection[1] - selection[0]
    chosen.format = style
    return [chosen]
