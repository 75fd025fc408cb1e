"""The messages on screen as a list model: one path through a conversation's branches."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from desktop.store.records import Message, Role, Stage
from desktop.store.tree import MessageTree
from desktop.triton.types import Finished, Token

__all__ = ["MESSAGE_ROLE", "AnyIndex", "Message", "Role", "Stage", "Transcript"]

AnyIndex = QModelIndex | QPersistentModelIndex

MESSAGE_ROLE = Qt.ItemDataRole.UserRole + 1


class Transcript(QAbstractListModel):
    """The rows in order of time. Lives on the GUI thread."""

    #: A stored reply comes into sight whose tokens were not loaded yet.
    tokens_wanted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._messages: list[Message] = []
        #: Where the rows' branches are looked up.
        self.tree = MessageTree()

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

    def message(self, row: int) -> Message:
        return self._messages[row]

    def messages(self) -> Sequence[Message]:
        return tuple(self._messages)

    def row_of(self, message: Message) -> int | None:
        """The row of a message, searched from the end; None when it is on another branch."""
        for row in range(len(self._messages) - 1, -1, -1):
            if self._messages[row].id == message.id:
                return row
        return None

    def branch(self, message: Message) -> tuple[int, int]:
        """Which of how many branches the message is, both from 1."""
        if message.id not in self.tree:
            return 1, 1
        siblings = self.tree.siblings(message)
        return siblings.index(message) + 1, len(siblings)

    # What the conversation does.

    def show_tree(self, tree: MessageTree) -> None:
        """Show the tree's active path; rows that stay the same are not touched."""
        self.tree = tree
        path = tree.path()
        same = 0
        while (
            same < min(len(path), len(self._messages)) and path[same].id == self._messages[same].id
        ):
            same += 1
        self.remove_from(same)
        if path[same:]:
            self.append(*path[same:])

    def append(self, *messages: Message) -> None:
        row = len(self._messages)
        self.beginInsertRows(QModelIndex(), row, row + len(messages) - 1)
        self._messages.extend(messages)
        self.endInsertRows()

    def remove_from(self, row: int) -> None:
        """Remove ``row`` and all after it from the screen."""
        if row < len(self._messages):
            self.beginRemoveRows(QModelIndex(), row, len(self._messages) - 1)
            del self._messages[row:]
            self.endRemoveRows()

    def extend_reply(self, row: int, tokens: Sequence[Token]) -> None:
        """Add the tokens that arrived since the last call: one change, one repaint."""
        extend(self._messages[row], tokens)
        self.touch(row)

    def end_reply(self, row: int, finished: Finished | None, error: str = "") -> None:
        end(self._messages[row], finished, error)
        self.touch(row)

    def touch(self, row: int) -> None:
        """Have a changed row measured and painted anew."""
        self._messages[row].revision += 1
        index = self.index(row)
        self.dataChanged.emit(index, index)


def extend(message: Message, tokens: Sequence[Token]) -> None:
    message.tokens.extend(tokens)
    message.text += "".join(token.text for token in tokens)
    message.stage = Stage.STREAMING


def end(message: Message, finished: Finished | None, error: str = "") -> None:
    message.finished = finished
    message.error = error
    message.stage = Stage.FAILED if error else Stage.DONE
    if message.tokens:
        shares = [token.probability for token in message.tokens]
        message.mean_probability = sum(shares) / len(shares)
