"""The list of conversations, or what a search found, as a list model with group headings."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt, Signal

from desktop.store.records import ConversationInfo, SearchHit
from desktop.ui.archive import Archive
from desktop.ui.transcript import AnyIndex

_PAGE = 100


class Group(enum.StrEnum):
    PINNED = "pinned"
    TODAY = "today"
    YESTERDAY = "yesterday"
    WEEK = "week"
    EARLIER = "earlier"
    FOUND = "found"


@dataclass(frozen=True)
class Entry:
    """A conversation's row; ``message`` is where a search found something in it."""

    info: ConversationInfo
    line: str
    message: int | None = None


Row = Group | Entry

ROW_ROLE = Qt.ItemDataRole.UserRole + 1


class ConversationModel(QAbstractListModel):
    """Reads a page at a time. Headings are rows that can be neither chosen nor edited."""

    #: A new title for a conversation: its id, the title.
    renamed = Signal(object, str)
    #: Rows were read from the store.
    loaded = Signal()

    def __init__(self, archive: Archive, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._archive = archive
        self._rows: list[Row] = []
        self._infos: list[ConversationInfo] = []
        self._query = ""
        self._shown_query = ""
        self._more = False
        self._asked = 0

    # What views ask.

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.info.title if isinstance(row, Entry) else self.group_words(row)
        if role == Qt.ItemDataRole.AccessibleTextRole and isinstance(row, Entry):
            pinned = self.tr("pinned") if row.info.pinned else ""
            return ", ".join(part for part in (row.info.title, row.line, pinned) if part)
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, Entry):
            return row.info.title
        return None

    def setData(self, index: AnyIndex, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self._rows[index.row()]
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not isinstance(row, Entry) or not title:
            return False
        if title != row.info.title:
            self._rows[index.row()] = replace(row, info=replace(row.info, title=title))
            self.dataChanged.emit(index, index)
            self.renamed.emit(row.info.id, title)
        return True

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        if not index.isValid() or not isinstance(self._rows[index.row()], Entry):
            return Qt.ItemFlag.NoItemFlags
        flag = Qt.ItemFlag
        return flag.ItemIsEnabled | flag.ItemIsSelectable | flag.ItemIsEditable

    def canFetchMore(self, parent: AnyIndex) -> bool:
        return self._more

    def fetchMore(self, parent: AnyIndex) -> None:
        if self._more:
            self._more = False
            self._read(len(self._infos) + _PAGE)

    def entry(self, conversation: int) -> QModelIndex:
        """The first row of a conversation; an invalid index where it has none."""
        for number, row in enumerate(self._rows):
            if isinstance(row, Entry) and row.info.id == conversation:
                return self.index(number)
        return QModelIndex()

    def entries(self) -> list[Entry]:
        return [row for row in self._rows if isinstance(row, Entry)]

    @property
    def query(self) -> str:
        """What the rows are an answer to; they lag behind :meth:`search` for a moment."""
        return self._shown_query

    # What the panel does.

    def refresh(self) -> None:
        """Read anew what is shown."""
        self._read(max(_PAGE, len(self._infos)))

    def search(self, query: str) -> None:
        """Show what contains every word of ``query``; everything where it is empty."""
        self._query = query.strip()
        self._infos = []
        self.refresh()

    def _read(self, count: int) -> None:
        query = self._query
        self._asked += 1
        number = self._asked
        if query:
            self._archive.ask(
                lambda database: database.search(query),
                lambda hits: self._show_hits(hits, number),
            )
        else:
            self._archive.ask(
                lambda database: database.conversations(count),
                lambda infos: self._show_infos(infos, number, len(infos) == count),
            )

    def _show_hits(self, hits: Sequence[SearchHit], number: int) -> None:
        if number != self._asked:
            return  # something else was asked for since
        self._shown_query = self._query
        self._more = False
        rows: list[Row] = [
            Entry(hit.info, hit.snippet or hit.info.preview, hit.message) for hit in hits
        ]
        self._set_rows([Group.FOUND, *rows] if rows else [])

    def _show_infos(self, infos: Sequence[ConversationInfo], number: int, more: bool) -> None:
        if number != self._asked:
            return
        self._shown_query = ""
        self._more = more
        self._infos = list(infos)
        rows: list[Row] = []
        today = datetime.date.today()
        last: Group | None = None
        for info in infos:
            group = group_of(info, today)
            if group is not last:
                rows.append(group)
                last = group
            rows.append(Entry(info, info.preview))
        self._set_rows(rows)

    def _set_rows(self, rows: list[Row]) -> None:
        """Change only the rows between what stays the same above and below."""
        old = self._rows
        if rows == old:
            self.loaded.emit()
            return
        shared = min(len(old), len(rows))
        head = next((i for i in range(shared) if old[i] != rows[i]), shared)
        tail = 0
        while tail < shared - head and old[-1 - tail] == rows[-1 - tail]:
            tail += 1
        gone, come = len(old) - tail - head, len(rows) - tail - head
        kept = min(gone, come)
        if kept:
            self._rows[head : head + kept] = rows[head : head + kept]
            self.dataChanged.emit(self.index(head), self.index(head + kept - 1))
        if gone > kept:
            self.beginRemoveRows(QModelIndex(), head + kept, head + gone - 1)
            del self._rows[head + kept : head + gone]
            self.endRemoveRows()
        elif come > kept:
            self.beginInsertRows(QModelIndex(), head + kept, head + come - 1)
            self._rows[head + kept : head + kept] = rows[head + kept : head + come]
            self.endInsertRows()
        self.loaded.emit()

    def group_words(self, group: Group) -> str:
        return {
            Group.PINNED: self.tr("Pinned"),
            Group.TODAY: self.tr("Today"),
            Group.YESTERDAY: self.tr("Yesterday"),
            Group.WEEK: self.tr("Last seven days"),
            Group.EARLIER: self.tr("Earlier"),
            Group.FOUND: self.tr("Found"),
        }[group]


def group_of(info: ConversationInfo, today: datetime.date) -> Group:
    """The heading a conversation stands under."""
    if info.pinned:
        return Group.PINNED
    days = (today - datetime.date.fromtimestamp(info.updated)).days
    if days <= 0:
        return Group.TODAY
    if days == 1:
        return Group.YESTERDAY
    return Group.WEEK if days < 7 else Group.EARLIER
