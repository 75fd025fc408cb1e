"""The message view to a screen reader: a list with an item a message, whose name is what it says.

Qt has such a description for its own lists only, not for a view that derives from
``QAbstractItemView``.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPoint, QRect, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
    QColor,
    QWindow,
)
from PySide6.QtWidgets import QAccessibleWidget

from desktop.ui.message_view import MessageView
from desktop.ui.transcript import Message


class MessageItem(QAccessibleInterface):
    """One message; it stays the same item while rows come and go above it."""

    def __init__(self, view: MessageView, message: Message) -> None:
        super().__init__()
        self._view = view
        self.message = message

    @property
    def row(self) -> int | None:
        return self._view.transcript().row_of(self.message)

    def isValid(self) -> bool:
        return self.row is not None

    def object(self) -> QObject | None:  # type: ignore[override]
        return None

    def window(self) -> QWindow | None:  # type: ignore[override]
        return self._view.window().windowHandle()

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        return QAccessible.queryAccessibleInterface(self._view)

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = True
        row = self.row
        state.focused = row is not None and row == self._view.focused_row()
        state.offscreen = not self._view.viewport().rect().intersects(self._area())
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._view.spoken(self.message)
        if kind == QAccessible.Text.Description:
            return self._view.delegate.footer(self.message)
        return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """What was said cannot be changed here."""

    def rect(self) -> QRect:
        area = self._area()
        return area.translated(self._view.viewport().mapToGlobal(area.topLeft()) - area.topLeft())

    def foregroundColor(self) -> QColor:
        return QColor()

    def backgroundColor(self) -> QColor:
        return QColor()

    def _area(self) -> QRect:
        row = self.row
        if row is None:
            return QRect()
        return self._view.visualRect(self._view.transcript().index(row))


class MessageItems:
    """The items of one view by their messages' ids. Qt knows each until it is deleted here."""

    def __init__(self) -> None:
        self._items: dict[int, MessageItem] = {}

    def get(self, view: MessageView, message: Message) -> MessageItem:
        item = self._items.get(message.id)
        if item is None or item.message is not message:
            if item is not None:
                self._delete(message.id)
            item = self._items[message.id] = MessageItem(view, message)
            QAccessible.registerAccessibleInterface(item)
        return item

    def clear_gone(self) -> None:
        for key in [key for key, item in self._items.items() if item.row is None]:
            self._delete(key)

    def clear_all(self, *_: object) -> None:
        for key in list(self._items):
            self._delete(key)

    def _delete(self, key: int) -> None:
        QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(self._items[key]))
        del self._items[key]


class MessageList(QAccessibleWidget):
    """The view. Items are made when they are asked for."""

    def __init__(self, view: MessageView) -> None:
        super().__init__(view, QAccessible.Role.List, "")
        self._view = view
        self.items = MessageItems()

    def item(self, row: int) -> MessageItem | None:
        transcript = self._view.transcript()
        if not 0 <= row < transcript.rowCount():
            return None
        return self.items.get(self._view, transcript.message(row))

    def childCount(self) -> int:
        return self._view.transcript().rowCount()

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return self.item(index)

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        row = child.row if isinstance(child, MessageItem) else None
        return -1 if row is None else row

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        view = self._view
        return self.item(view.indexAt(view.viewport().mapFromGlobal(QPoint(x, y))).row())

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]
        row = self._view.focused_row()
        return None if row is None else self.item(row)

    def forget_gone(self) -> None:
        """Items of messages that are not on screen any more; a reader asks for new ones."""
        self.items.clear_gone()


class MessageReader(QObject):
    """Tells a screen reader what happens in the view: where the keys are, and a finished reply."""

    def __init__(self, view: MessageView) -> None:
        super().__init__(view)
        self._view = view
        install()
        view.selectionModel().currentRowChanged.connect(self._moved)
        view.transcript().rowsRemoved.connect(self._rows_gone)

    def announce(self, message: Message) -> None:
        """Read a reply that has ended, where somebody listens."""
        if QAccessible.isActive() and self._view.transcript().row_of(message) is not None:
            event = QAccessibleAnnouncementEvent(self._view, self._view.spoken(message))
            QAccessible.updateAccessibility(event)

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, now: QModelIndex, before: QModelIndex) -> None:
        if QAccessible.isActive() and now.isValid() and self._view.hasFocus():
            event = QAccessibleEvent(self._view, QAccessible.Event.Focus)
            event.setChild(now.row())
            QAccessible.updateAccessibility(event)

    @Slot()
    def _rows_gone(self) -> None:
        made = self._view.accessible
        if isinstance(made, MessageList):
            made.forget_gone()


_installed = False


def install() -> None:
    """Have Qt ask here for descriptions of message views; once is enough."""
    global _installed
    if not _installed:
        _installed = True
        QAccessible.installFactory(_make)


def _make(key: str, thing: QObject) -> QAccessibleInterface | None:
    if not isinstance(thing, MessageView):
        return None
    made = MessageList(thing)
    # Qt deletes it with the view; Python must not do so before.
    thing.accessible = made
    thing.destroyed.connect(made.items.clear_all)
    return made
