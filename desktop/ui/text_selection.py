"""A selection of text that may reach over several messages."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.ui.transcript import Message
from desktop.ui.utf16 import cut, units

Position = tuple[int, int]  # row, UTF-16 units into its text


class TextSelection:
    """From where it was begun (``anchor``) to where it was drawn (``caret``)."""

    def __init__(self) -> None:
        self.anchor: Position | None = None
        self.caret: Position | None = None

    def clear(self) -> None:
        self.anchor = self.caret = None

    def begin(self, position: Position | None, *, extend: bool = False) -> None:
        if not extend or self.anchor is None:
            self.anchor = position
        self.caret = position

    def select_all(self, messages: Sequence[Message]) -> None:
        if messages:
            self.anchor = (0, 0)
            self.caret = (len(messages) - 1, units(messages[-1].text))

    @property
    def empty(self) -> bool:
        return self.anchor is None or self.caret is None or self.anchor == self.caret

    def within(self, row: int, message: Message) -> tuple[int, int] | None:
        """The part of a row that is selected, in UTF-16 units."""
        if self.anchor is None or self.caret is None or self.anchor == self.caret:
            return None
        (first, start), (last, end) = sorted((self.anchor, self.caret))
        if not first <= row <= last:
            return None
        length = units(message.text)
        return (start if row == first else 0), (min(end, length) if row == last else length)

    def text(self, messages: Sequence[Message]) -> str:
        """What is selected, the parts of several messages on lines of their own."""
        parts = []
        for row, message in enumerate(messages):
            chosen = self.within(row, message)
            if chosen is not None and chosen[0] < chosen[1]:
                parts.append(cut(message.text, *chosen))
        return "\n".join(parts)
