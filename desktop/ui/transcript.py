"""The conversation on screen: messages as a list model. Lives on the GUI thread."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.triton.types import Finished, Token

AnyIndex = QModelIndex | QPersistentModelIndex

MESSAGE_ROLE = Qt.ItemDataRole.UserRole + 1

_ids = itertools.count(1)


class Role(enum.StrEnum):
    USER = "user"
    REPLY = "reply"
    #: A line across: the messages before it are not given to the model as history.
    BREAK = "break"


class Stage(enum.StrEnum):
    WAITING = "waiting"
    STREAMING = "streaming"
    DONE = "done"
    FAILED = "failed"


@dataclass
class Message:
    """One row. A reply's text is what its tokens spell; ``revision`` grows with each change."""

    role: Role
    text: str = ""
    stage: Stage = Stage.DONE
    tokens: list[Token] = field(default_factory=list)
    finished: Finished | None = None
    error: str = ""
    id: int = field(default_factory=lambda: next(_ids))
    revision: int = 0


class Transcript(QAbstractListModel):
    """The rows in order of time. Only the last reply ever changes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._messages: list[Message] = []

    # What views ask.

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._messages)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        message = self._messages[index.row()]
        if role == MESSAGE_ROLE:
            return message
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return message.text or message.error
        return None

    # What the chat page does.

    def message(self, row: int) -> Message:
        return self._messages[row]

    def messages(self) -> Sequence[Message]:
        return tuple(self._messages)

    def append(self, *messages: Message) -> None:
        row = len(self._messages)
        self.beginInsertRows(QModelIndex(), row, row + len(messages) - 1)
        self._messages.extend(messages)
        self.endInsertRows()

    def remove_from(self, row: int) -> None:
        """Remove ``row`` and all after it."""
        if row < len(self._messages):
            self.beginRemoveRows(QModelIndex(), row, len(self._messages) - 1)
            del self._messages[row:]
            self.endRemoveRows()

    def extend_reply(self, row: int, tokens: Sequence[Token]) -> None:
        """Add the tokens that arrived since the last call: one change, one repaint."""
        message = self._messages[row]
        message.tokens.extend(tokens)
        message.text += "".join(token.text for token in tokens)
        message.stage = Stage.STREAMING
        self._touch(row)

    def end_reply(self, row: int, finished: Finished | None, error: str = "") -> None:
        message = self._messages[row]
        message.finished = finished
        message.error = error
        message.stage = Stage.FAILED if error else Stage.DONE
        self._touch(row)

    def history(self, turns: int) -> list[str]:
        """The last ``turns`` exchanges before the open message, oldest first: user, reply, user, …

        Exchanges before a break and those without a reply are left out.
        """
        pairs: list[tuple[str, str]] = []
        asked: str | None = None
        for message in self._messages:
            if message.role is Role.BREAK:
                pairs.clear()
                asked = None
            elif message.role is Role.USER:
                asked = message.text
            elif asked is not None and message.text and message.stage is not Stage.WAITING:
                pairs.append((asked, message.text))
                asked = None
        return [text for pair in pairs[-turns:] for text in pair] if turns > 0 else []

    def _touch(self, row: int) -> None:
        self._messages[row].revision += 1
        index = self.index(row)
        self.dataChanged.emit(index, index)
