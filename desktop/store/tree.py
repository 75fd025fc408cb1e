"""A conversation's messages as a tree: branches are kept, one path of them is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from desktop.store.records import Message, Role, Stage


class MessageTree:
    """Messages by id. The path leads from the active first message along the active children."""

    def __init__(self, messages: Iterable[Message] = (), active_root: int | None = None) -> None:
        self.active_root = active_root
        self._messages: dict[int, Message] = {}
        self._children: defaultdict[int | None, list[int]] = defaultdict(list)
        for message in messages:
            self._messages[message.id] = message
        for message in sorted(self._messages.values(), key=lambda m: m.id):
            self._children[message.parent].append(message.id)

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, message_id: int) -> bool:
        return message_id in self._messages

    def message(self, message_id: int) -> Message:
        return self._messages[message_id]

    def messages(self) -> list[Message]:
        """All of them, each after its parent."""
        return sorted(self._messages.values(), key=lambda m: m.id)

    def path(self) -> list[Message]:
        """What is shown, oldest first."""
        shown: list[Message] = []
        at = self._active(None)
        while at is not None:
            shown.append(self._messages[at])
            at = self._active(at)
        return shown

    def siblings(self, message: Message) -> list[Message]:
        """The branches ``message`` is one of, itself among them, oldest first."""
        return [self._messages[i] for i in self._children[message.parent]]

    def add(self, message: Message) -> None:
        """Put a message below its parent and show it."""
        self._messages[message.id] = message
        children = self._children[message.parent]
        children.append(message.id)
        children.sort()
        self.activate(message)

    def activate(self, message: Message) -> None:
        """Show this branch instead of its siblings."""
        if message.parent is None:
            self.active_root = message.id
        else:
            self._messages[message.parent].active_child = message.id

    def ancestry(self, message: Message) -> list[Message]:
        """From the first message down to ``message``."""
        line = [message]
        while line[-1].parent is not None:
            line.append(self._messages[line[-1].parent])
        return line[::-1]

    def below(self, message: Message) -> list[Message]:
        """``message`` and everything that hangs on it, parents before children."""
        found = [message]
        for each in found:
            found += [self._messages[i] for i in self._children[each.id]]
        return found

    def remove(self, message: Message) -> list[Message]:
        """Take ``message`` and everything below it out; what was taken. A sibling is shown."""
        taken = self.below(message)
        for each in taken:
            del self._messages[each.id]
            self._children.pop(each.id, None)
        siblings = self._children[message.parent]
        place = siblings.index(message.id)
        siblings.remove(message.id)
        if siblings and self._pointer(message.parent) == message.id:
            self.activate(self._messages[siblings[max(0, place - 1)]])
        return taken

    def history(self, message: Message, turns: int) -> list[str]:
        """The last ``turns`` exchanges before a user's ``message``: user, reply, user, … .

        Exchanges without a reply are left out.
        """
        pairs: list[tuple[str, str]] = []
        asked: str | None = None
        for earlier in self.ancestry(message)[:-1]:
            if earlier.role is Role.USER:
                asked = earlier.text
            elif asked is not None and earlier.text and earlier.stage is not Stage.WAITING:
                pairs.append((asked, earlier.text))
                asked = None
        return [text for pair in pairs[-turns:] for text in pair] if turns > 0 else []

    def _pointer(self, parent: int | None) -> int | None:
        return self.active_root if parent is None else self._messages[parent].active_child

    def _active(self, parent: int | None) -> int | None:
        """The child to show; the newest where the pointer leads nowhere."""
        children = self._children.get(parent, [])
        pointer = self._pointer(parent)
        if pointer in children:
            return pointer
        return children[-1] if children else None
