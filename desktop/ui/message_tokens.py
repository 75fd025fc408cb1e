"""The tokens of the messages: hovered in the text or on the chart, stepped through by keys."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from desktop.triton.types import Token
from desktop.ui.coloring import UNSURE_BELOW
from desktop.ui.message_rows import MessageRows
from desktop.ui.text_selection import Position
from desktop.ui.transcript import Message, Role, Transcript

_HOVER_MS = 300


class MessageTokens(MessageRows):
    """Knows which token is explained, and asks for its popover."""

    #: A token to explain: the token, its number from 1, its rectangle in the viewport.
    token_entered = Signal(object, int, QRect)
    #: The mouse left it, perhaps for the popover; or it is gone for good (true).
    token_left = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        # Before anything that makes the base class ask what has the focus.
        self._hovered: Position | None = None
        #: Whether the mouse is on the chart, not on the text.
        self._on_chart = False
        self._focus_token: Position | None = None
        #: A passage is being looked for: the direction and from where; tokens must be loaded first.
        self._unsure_wanted: tuple[int, Position] | None = None
        super().__init__(parent)
        self._hover_timer = QTimer(self, singleShot=True, interval=_HOVER_MS)
        self._hover_timer.timeout.connect(self._explain_hovered)

    def set_transcript(self, transcript: Transcript) -> None:
        super().set_transcript(transcript)
        transcript.dataChanged.connect(self._go_on_looking)

    def rows_gone(self) -> None:
        self._unsure_wanted = None

    def rows_moved(self) -> None:
        self.leave_token()

    def focused_row(self) -> int | None:
        """The row of the token that is explained, else the one that was stepped to."""
        if self._focus_token is not None:
            return self._focus_token[0]
        index = self.currentIndex()
        return index.row() if index.isValid() and self.hasFocus() else None

    @property
    def focus_token(self) -> Position | None:
        """The row and the number, from 0, of the token that is explained."""
        return self._focus_token

    def token_rect(self, row: int, number: int) -> QRect:
        """A token's rectangle in the viewport."""
        rect: QRectF = self._layout(row).token_rect(number)
        return rect.toAlignedRect().translated(self._row_rect(row).topLeft())

    @Slot()
    def _explain_hovered(self) -> None:
        if self._hovered is not None:
            self.explain_token(*self._hovered, on_chart=self._on_chart)

    def explain_token(self, row: int, number: int, *, on_chart: bool = False) -> None:
        """Give the focus to a token and ask for its popover, beside the text or the chart."""
        self._focus_token = (row, number)
        token: Token = self.transcript().message(row).tokens[number]
        self.viewport().update()
        chart = self._layout(row).chart
        rect = self.token_rect(row, number)
        if on_chart and chart is not None:
            part = chart.token_rect(number).toAlignedRect()
            rect = part.translated(self._row_rect(row).topLeft())
        self.token_entered.emit(token, number + 1, rect)

    def go_to_token(self, row: int, number: int) -> None:
        """Bring a token into sight and explain it."""
        self.reveal_within(row, self.token_rect(row, number))
        self.explain_token(row, number)

    def leave_token(self, *, for_good: bool = True) -> None:
        """Take the focus from the token that has it, and the popover away."""
        self._hover_timer.stop()
        self._hovered = None
        if for_good and self._focus_token is not None:
            self._focus_token = None
            self.viewport().update()
        self.token_left.emit(for_good)

    def step_token(self, step: int) -> None:
        """Give the focus to the next token; the first step takes the last reply's first token."""
        if self._focus_token is not None:
            row, number = self._focus_token
            number += step
        else:
            replies = [
                r for r, m in enumerate(self.transcript().messages()) if m.role is Role.REPLY
            ]
            if not replies:
                return
            at = self.focused_row()
            row, number = at if at in replies else replies[-1], 0
        message: Message = self.transcript().message(row)
        if 0 <= number < len(message.tokens):
            self.go_to_token(row, number)

    def step_unsure(self, step: int, at: Position | None = None) -> None:
        """Explain the next token, in either direction, that the model thought unlikely: one below
        :data:`UNSURE_BELOW` after one that was not. ``at``: from where, else from the focused
        token or message, else from the end. Replies that were not looked at yet are loaded."""
        messages = self.transcript().messages()
        self._unsure_wanted = None
        if at is None:
            at = self._focus_token
        if at is None:
            row = self.focused_row()
            start = (len(messages) if step < 0 else -1) if row is None else row
            at = (start, -1 if step > 0 else 0)
        rows = range(max(0, at[0]), len(messages)) if step > 0 else range(at[0], -1, -1)
        for row in rows:
            if row >= len(messages):
                continue
            if not messages[row].tokens_loaded:
                self._unsure_wanted = (step, at)
                self.transcript().tokens_wanted.emit(messages[row])
                return
            places = [(row, number) for number in _unsure(messages[row])]
            ahead = [p for p in places if p > at] if step > 0 else [p for p in places if p < at]
            if ahead:
                self.go_to_token(*ahead[0 if step > 0 else -1])
                return

    @Slot()
    def _go_on_looking(self) -> None:
        if self._unsure_wanted is not None:
            self.step_unsure(*self._unsure_wanted)

    def hover(self, found: Position | None, *, on_chart: bool) -> None:
        """The mouse is over a token, or over none."""
        if found is not None and (found, on_chart) == (self._hovered, self._on_chart):
            return
        # Along the chart of a reply that is being explained no time is lost.
        at_once = on_chart and self._on_chart and self._explains(found)
        self.leave_token(for_good=False)
        self._hovered, self._on_chart = found, on_chart
        if at_once:
            self._explain_hovered()
        elif found is not None:
            self._hover_timer.start()

    def _explains(self, position: Position | None) -> bool:
        """Whether a token of the same reply is explained."""
        focus = self._focus_token
        return focus is not None and position is not None and focus[0] == position[0]

    def _chart_token_at(self, point: QPoint) -> Position | None:
        index = self.indexAt(point)
        if not index.isValid():
            return None
        local = QPointF(point - self._row_rect(index.row()).topLeft())
        number = self._layout(index.row()).chart_token_at(local)
        return None if number is None else (index.row(), number)

    def go_to_end(self, first: bool) -> None:
        """To the first or last token of the reply that is explained, else of the conversation."""
        if self._focus_token is not None:
            row = self._focus_token[0]
            self.go_to_token(row, 0 if first else len(self.transcript().message(row).tokens) - 1)
        else:
            bar = self.verticalScrollBar()
            bar.setValue(0 if first else bar.maximum())


def _unsure(message: Message) -> list[int]:
    """Where the unsure passages of a reply begin."""
    sure = True
    found = []
    for number, token in enumerate(message.tokens):
        unsure = token.probability < UNSURE_BELOW
        if unsure and sure:
            found.append(number)
        sure = not unsure
    return found
