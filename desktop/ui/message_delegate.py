"""Paints one message: bubbles, tinted tokens, the figures line, the error sentence."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from desktop.ui import theme
from desktop.ui.coloring import Coloring
from desktop.ui.message_layout import FOOTER_FLAGS, FootItem, MessageLayout
from desktop.ui.transcript import MESSAGE_ROLE, AnyIndex, Message, Role, Stage


class MessageDelegate(QStyledItemDelegate):
    """Knows how a message looks; the view tells it what is selected and which token has focus."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        #: Shown in place of a reply that has no token yet.
        self.waiting_words = "…"
        self.coloring = Coloring.PROBABILITY

    def lay_out(
        self, message: Message, width: int, branch: tuple[int, int] = (1, 1)
    ) -> MessageLayout:
        """``branch``: which of how many branches the message is, both from 1."""
        return MessageLayout(
            message,
            width,
            foot=self._foot(message, branch),
            error=message.error,
            waiting=self._waiting(message),
            with_chart=self.coloring.charted,
        )

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        message: Message = index.data(MESSAGE_ROLE)
        width = option.rect.width()
        return QSize(width, self.lay_out(message, width).height)

    def _waiting(self, message: Message) -> str:
        return self.waiting_words if message.stage in (Stage.WAITING, Stage.STREAMING) else ""

    def footer(self, message: Message) -> str:
        """The line under a reply in words: its figures, or what went wrong in one sentence."""
        return message.error or "    ".join(self.figures(message))

    def figures(self, message: Message) -> list[str]:
        """What is known of a reply that has ended."""
        if message.role is not Role.REPLY:
            return []
        if message.stage is Stage.INTERRUPTED:
            return [self.tr("interrupted")]
        finished = message.finished
        if finished is None:
            return []
        if finished.finish_reason == "care":  # no model made it, so there is nothing to measure
            return [self.finish_words("care")]
        parts = [self.tr("%n token(s)", "", finished.tokens)]
        if finished.seconds_to_first_token is not None:
            parts.append(
                self.tr("first after {0} ms").format(round(finished.seconds_to_first_token * 1000))
            )
        if finished.tokens_per_second is not None:
            parts.append(self.tr("{0} tokens/s").format(round(finished.tokens_per_second)))
        mean = message.mean_probability
        if mean is None and message.tokens:
            mean = sum(token.probability for token in message.tokens) / len(message.tokens)
        if mean is not None:
            parts.append(self.tr("mean probability {0}").format(f"{mean:.2f}"))
        parts.append(self.finish_words(finished.finish_reason))
        if finished.dropped_turns:
            parts.append(self.tr("%n oldest turn(s) left out", "", finished.dropped_turns))
        return parts

    def _foot(self, message: Message, branch: tuple[int, int]) -> list[FootItem]:
        """Figures and the commonest actions; all of them are in the context menu too."""
        items = []
        place, count = branch
        if count > 1:
            items = [
                FootItem("‹", "previous" if place > 1 else "", tight=True),
                FootItem(f"{place}/{count}", tight=True),
                FootItem("›", "next" if place < count else ""),
            ]
        if message.role is Role.USER:
            return [*items, FootItem(self.tr("Edit"), "edit"), FootItem(self.tr("Copy"), "copy")]
        if message.stage in (Stage.WAITING, Stage.STREAMING):
            return []
        items += [FootItem(text) for text in self.figures(message)]
        if can_continue(message):
            items.append(FootItem(self.tr("Continue"), "continue"))
        items.append(FootItem(self.tr("Regenerate"), "regenerate"))
        if message.text:
            items.append(FootItem(self.tr("Copy"), "copy"))
        return items

    def finish_words(self, reason: str) -> str:
        return {
            "stop": self.tr("finished"),
            "length": self.tr("length limit reached"),
            "cancelled": self.tr("stopped"),
            "care": self.tr("a fixed answer, not the model's"),
        }.get(reason, reason)

    def draw(
        self,
        painter: QPainter,
        message: Message,
        layout: MessageLayout,
        selection: tuple[int, int] | None = None,
        focus_token: int | None = None,
        hovered: str | None = None,
    ) -> None:
        """Paint with the painter's origin at the row's top left. ``hovered``: the action under the
        mouse, empty when the mouse is elsewhere in the row, None when it is not in it."""
        look = theme.current()
        if message.role is Role.USER:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color("user_bubble"))
            painter.drawPath(_bubble(layout.bubble))
        else:
            painter.setFont(theme.font("small"))
            painter.setPen(look.color("text_2"))
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(layout.name, flags, message.model or "Tritalk")
            self._draw_tints(painter, message, layout)
        painter.setPen(look.color("text_3" if layout.waiting else "text"))
        layout.text.draw(painter, layout.origin, _highlight(selection))
        if message.role is Role.REPLY:
            self._draw_underlines(painter, message, layout)
            if focus_token is not None:
                self._draw_focus(painter, layout.token_rect(focus_token))
            if layout.chart is not None:
                layout.chart.draw(painter, focus_token)
            if layout.error:
                painter.setFont(theme.font("small"))
                painter.setPen(look.color("danger"))
                painter.drawText(layout.error_rect, FOOTER_FLAGS, layout.error)
        self._draw_foot(painter, message, layout, hovered)

    def _draw_foot(
        self, painter: QPainter, message: Message, layout: MessageLayout, hovered: str | None
    ) -> None:
        look = theme.current()
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for item in layout.foot:
            quiet = message.role is Role.USER and item.action in ("edit", "copy")
            if quiet and hovered is None:
                continue
            under_mouse = bool(item.action) and item.action == hovered
            font = theme.font("small")
            font.setUnderline(under_mouse)
            painter.setFont(font)
            color = "accent" if under_mouse else "text_2" if item.action else "text_3"
            if item.text == self.tr("interrupted"):
                color = "warn"
            painter.setPen(look.color(color))
            painter.drawText(item.rect.adjusted(0, 0, 2, 0), flags, item.text)

    def _draw_tints(self, painter: QPainter, message: Message, layout: MessageLayout) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for box in layout.boxes:
            tint = self.coloring.tint(message.tokens[box.index])
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
            if self.coloring.underlines(message.tokens[box.index]):
                y = box.rect.bottom() - 1
                painter.drawLine(QPointF(box.rect.left() + 2, y), QPointF(box.rect.right() - 1, y))

    def _draw_focus(self, painter: QPainter, rect: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.current().color("focus"), 2))
        painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 4, 4)


def can_continue(message: Message) -> bool:
    """Whether a reply stopped before the model itself ended it."""
    if message.role is not Role.REPLY or not message.text:
        return False
    if message.stage in (Stage.FAILED, Stage.INTERRUPTED):
        return True
    finished = message.finished
    return finished is not None and finished.finish_reason in ("length", "cancelled")


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
