"""What the model thought at one token: its probabilities, the likeliest alternatives as bars."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGraphicsDropShadowEffect, QWidget

from desktop.triton.types import Alternative, Token
from desktop.ui import theme
from desktop.ui.alternatives import END_TOKEN, choosable

_WIDTH = 320
_PAD = 12
_HEADER = 28
_ROW = 24
_NAME_WIDTH = 64
_SHARE_WIDTH = 56
_HINT = 24
_SHOWN = 8


class TokenPopover(QWidget):
    """Floats over the window beside the token. An alternative can be chosen by the mouse, or by
    the keys that the message view passes on: the focus stays there."""

    chosen = Signal(object)
    #: The mouse moves on it, or has left it.
    reached = Signal()
    left = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("popover")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(24)
        shadow.setOffset(0, 4)
        shadow.setColor(Qt.GlobalColor.black)
        self.setGraphicsEffect(shadow)
        self._shadow = shadow
        self._token: Token | None = None
        self._number = 0
        self._can_choose = False
        self._marked: int | None = None
        self.hide()

    @property
    def token(self) -> Token | None:
        return self._token if self.isVisible() else None

    def show_for(
        self, token: Token, number: int, anchor: QRect, *, can_choose: bool = False
    ) -> None:
        """Show the ``number``-th token of a reply beside ``anchor`` (window coordinates)."""
        self._token, self._number = token, number
        self._can_choose, self._marked = can_choose, None
        rows = min(_SHOWN, len(token.alternatives))
        hint = theme.px(_HINT) if can_choose else 0
        self.resize(
            theme.px(_WIDTH), _PAD + theme.px(_HEADER) + rows * theme.px(_ROW) + hint + _PAD
        )
        bounds = self._window.rect().adjusted(8, 8, -8, -8)
        x = min(max(bounds.left(), anchor.left() - 40), bounds.right() - self.width())
        below = anchor.bottom() + 8
        y = below if below + self.height() <= bounds.bottom() else anchor.top() - 8 - self.height()
        self.move(QPoint(x, max(bounds.top(), y)))
        color = theme.current().color("text")
        color.setAlpha(50 if theme.current().scheme == "light" else 0)
        self._shadow.setColor(color)
        self.setAccessibleName(self.words())
        self.raise_()
        self.show()
        self.update()

    def alternatives(self) -> tuple[Alternative, ...]:
        """What is shown, likeliest first."""
        return self._token.alternatives[:_SHOWN] if self._token is not None else ()

    @property
    def marked(self) -> Alternative | None:
        """The alternative that keys or mouse are on."""
        return self.alternatives()[self._marked] if self._marked is not None else None

    def step(self, by: int) -> None:
        """Mark the next alternative that can be chosen, in either direction."""
        if not self._can_choose:
            return
        count = len(self.alternatives())
        at = self._marked if self._marked is not None else (-1 if by > 0 else count)
        at += by
        while 0 <= at < count and not self._is_choice(at):
            at += by
        if 0 <= at < count:
            self._mark(at)

    def take(self) -> None:
        """Choose the marked alternative."""
        if self.marked is not None:
            self.chosen.emit(self.marked)

    def _is_choice(self, row: int) -> bool:
        assert self._token is not None
        one = self.alternatives()[row]
        return self._can_choose and choosable(one) and one.token_id != self._token.token_id

    def _mark(self, row: int | None) -> None:
        if row != self._marked:
            self._marked = row
            if self.marked is not None:
                self.setAccessibleName(
                    f"{self.spell(self.marked.text)} {self.marked.probability:.1%}"
                )
            self.update()

    def _row_at(self, y: float) -> int | None:
        row = int(y - _PAD - theme.px(_HEADER)) // theme.px(_ROW)
        found = 0 <= row < len(self.alternatives()) and self._is_choice(row)
        return row if found else None

    def enterEvent(self, event: QEnterEvent) -> None:
        """Also where the popover opens below a mouse that rests."""
        super().enterEvent(event)
        self.reached.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.reached.emit()
        row = self._row_at(event.position().y())
        self._mark(row)
        shape = Qt.CursorShape.ArrowCursor if row is None else Qt.CursorShape.PointingHandCursor
        self.setCursor(shape)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()  # not for the window below
        self._mark(self._row_at(event.position().y()))
        if event.button() == Qt.MouseButton.LeftButton:
            self.take()

    def leaveEvent(self, event: QEvent) -> None:
        self._mark(None)
        self.left.emit()

    def words(self) -> str:
        """The same in one line, for a screen reader."""
        if self._token is None:
            return ""
        head = f"{self._title()} {self._figures()}"
        rest = "; ".join(
            f"{self.spell(a.text)} {a.probability:.1%}" for a in self._token.alternatives[:_SHOWN]
        )
        return f"{head}: {rest}"

    def spell(self, text: str) -> str:
        """A token as a person can see it."""
        if text in (END_TOKEN, ""):
            return self.tr("(end)")
        return text.replace("\n", "↵").replace(" ", "␣")

    def _title(self) -> str:
        assert self._token is not None
        return self.tr("“{0}” token {1}").format(self.spell(self._token.text), self._number)

    def _figures(self) -> str:
        assert self._token is not None
        if math.isnan(self._token.confidence):
            return self.tr("chosen by you · probability {0}").format(
                f"{self._token.probability:.2f}"
            )
        return self.tr("confidence {0} · probability {1}").format(
            f"{self._token.confidence:.2f}", f"{self._token.probability:.2f}"
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._token is None:
            return
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(look.color("line"), 1))
        painter.setBrush(look.color("surface"))
        radius = theme.radius("card")
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

        line = QRect(_PAD, _PAD - 4, self.width() - 2 * _PAD, theme.px(_HEADER) - 4)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font("small"))
        painter.setPen(look.color("text_2"))
        painter.drawText(line, right, self._figures())
        taken = painter.fontMetrics().horizontalAdvance(self._figures()) + 8
        painter.setFont(theme.font("small", bold=True))
        painter.setPen(look.color("text"))
        title = painter.fontMetrics().elidedText(
            self._title(), Qt.TextElideMode.ElideMiddle, line.width() - taken
        )
        painter.drawText(line, left, title)
        self._paint_bars(painter)
        painter.end()

    def _paint_bars(self, painter: QPainter) -> None:
        assert self._token is not None
        look = theme.current()
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        shown = self._token.alternatives[:_SHOWN]
        longest = max((a.probability for a in shown), default=0.0) or 1.0
        y = _PAD + theme.px(_HEADER)
        for row, alternative in enumerate(shown):
            if row == self._marked:
                painter.setPen(QPen(look.color("focus"), 1))
                painter.setBrush(look.color("accent_soft"))
                marked = QRectF(_PAD - 6, y + 1, self.width() - 2 * _PAD + 12, theme.px(_ROW) - 2)
                painter.drawRoundedRect(marked, theme.radius("control"), theme.radius("control"))
            chosen = alternative.token_id == self._token.token_id
            painter.setFont(theme.font("body", bold=chosen))
            painter.setPen(look.color("accent" if chosen else "text"))
            name = QRect(_PAD, y, theme.px(_NAME_WIDTH), theme.px(_ROW))
            elide = Qt.TextElideMode.ElideRight
            spelt = painter.fontMetrics().elidedText(
                self.spell(alternative.text), elide, theme.px(_NAME_WIDTH)
            )
            painter.drawText(name, left, spelt)
            x0 = _PAD + theme.px(_NAME_WIDTH) + 8
            room = self.width() - _PAD - theme.px(_SHARE_WIDTH) - 8 - x0
            bar = QRectF(
                x0,
                y + (theme.px(_ROW) - 8) / 2,
                max(2.0, room * alternative.probability / longest),
                8,
            )
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color("accent"))
            painter.setOpacity(1.0 if chosen else 0.55)
            painter.drawRoundedRect(bar, 3, 3)
            painter.setOpacity(1.0)
            painter.setFont(theme.font("small"))
            painter.setPen(look.color("text_2"))
            share = QRect(
                self.width() - _PAD - theme.px(_SHARE_WIDTH),
                y,
                theme.px(_SHARE_WIDTH),
                theme.px(_ROW),
            )
            painter.drawText(share, right, f"{alternative.probability:.1%}")
            y += theme.px(_ROW)
        if self._can_choose:
            painter.setFont(theme.font("small"))
            painter.setPen(look.color("text_3"))
            hint = QRect(_PAD, y, self.width() - 2 * _PAD, theme.px(_HINT))
            words = painter.fontMetrics().elidedText(
                self.tr("Choose one to go on from here"), Qt.TextElideMode.ElideRight, hint.width()
            )
            painter.drawText(hint, left, words)
