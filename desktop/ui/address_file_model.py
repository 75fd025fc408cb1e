"""The results of a file as a table: row numbers and a few pages in memory, the rest on disk."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal

from desktop.addresses.marks import LOW, Mark
from desktop.addresses.workfile import Counts, Line, WorkFile
from desktop.ui.phrases import sentence
from desktop.ui.table_model import TableModel
from desktop.ui.tasks import Background, Task
from desktop.ui.transcript import AnyIndex

LINE_ROLE = Qt.ItemDataRole.UserRole + 1
COLUMNS = ("number", "address", "division", "code", "confidence", "mark")
_PAGE = 100
# Twenty screens' worth: what is further away is asked for again.
_PAGES = 24


class ResultModel(TableModel):
    """Cells whose page is on its way are empty; ``dataChanged`` tells when they have come."""

    #: How many rows there are of each kind: :class:`Counts`.
    counted = Signal(object)
    #: The list was filtered, sorted or begun anew: rows may stand elsewhere.
    reordered = Signal()
    #: The work file cannot be read: the exception.
    failed = Signal(object)

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._work: WorkFile | None = None
        self._order = array("I")
        self._pages: OrderedDict[int, list[Line]] = OrderedDict()
        self._asked: set[int] = set()
        # Answers of an earlier order, filter or file are not for us any more.
        self._generation = 0
        self._listing = False
        self._again = False
        self.mark: Mark | None = None
        self.search = ""
        self.sorted_by = "number"
        self.descending = False

    # -- what is shown -----------------------------------------------------------------------------

    def show_work(self, work: WorkFile | None) -> None:
        self._work = work
        self.mark, self.search, self.sorted_by, self.descending = None, "", "number", False
        self._replace(array("I"))
        self._relist()

    def filter(self, mark: Mark | None, search: str) -> None:
        if (mark, search) != (self.mark, self.search):
            self.mark, self.search = mark, search
            self._relist()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        # A header without an indicator says -1.
        name = COLUMNS[column] if column >= 0 else "number"
        descending = order == Qt.SortOrder.DescendingOrder and column >= 0
        if (name, descending) != (self.sorted_by, self.descending):
            self.sorted_by, self.descending = name, descending
            self._relist()

    def refresh(self) -> None:
        """Look for rows that were answered in the meantime."""
        if self._listing:
            self._again = True
        else:
            self._list()

    def recount(self) -> None:
        """Like :meth:`refresh`, but the list stays as it is."""
        work, generation = self._work, self._generation
        if work is not None:

            def counted(counts: Counts) -> None:
                if generation == self._generation:
                    self.counted.emit(counts)

            self._background.run(lambda task: work.counts(), succeeded=counted)

    @property
    def in_file_order(self) -> bool:
        """Whether new rows come at the end of the list."""
        return self.sorted_by == "number" and not self.descending

    def as_text(self, rows: list[int], then: Callable[[str], None]) -> None:
        """``then(text)`` with those rows of the list, tab-separated."""
        work = self._work
        if work is None:
            return
        numbers = array("I", (self._order[row] for row in rows))

        def read(task: Task) -> list[Line]:
            found: list[Line] = []
            for first in range(0, len(numbers), _PAGE):
                if task.cancelled:
                    break
                found += work.lines(numbers[first : first + _PAGE])
            return found

        def join(lines: list[Line]) -> None:
            then("\n".join("\t".join(self.cell(line, c) for c in COLUMNS) for line in lines))

        self._background.run(read, succeeded=join, failed=self.failed.emit)

    def forget(self, number: int) -> None:
        """A row was changed: read its line again, and see where it belongs now."""
        for page, lines in list(self._pages.items()):
            if any(line.number == number for line in lines):
                del self._pages[page]
        self.refresh()

    def row_of(self, number: int) -> int | None:
        """Where in the list that row stands."""
        try:
            return self._order.index(number)
        except ValueError:
            return None

    def number(self, row: int) -> int:
        return self._order[row]

    def line(self, row: int) -> Line | None:
        """None while its page is on its way."""
        page = row // _PAGE
        if page in self._pages:
            self._pages.move_to_end(page)
            lines = self._pages[page]
            return lines[row % _PAGE] if row % _PAGE < len(lines) else None
        self._fetch(page)
        return None

    # -- fetching ----------------------------------------------------------------------------------

    def _relist(self) -> None:
        self._generation += 1
        self._listing = self._again = False
        self._list()

    def _list(self) -> None:
        work, generation = self._work, self._generation
        if work is None:
            return
        self._listing = True
        asked = (self.mark, self.search, self.sorted_by, self.descending)

        def listed(found: tuple[array[int], Counts]) -> None:
            if generation != self._generation:
                return
            self._listing = False
            order, counts = found
            self._show_order(order)
            self.counted.emit(counts)
            if self._again:
                self._again = False
                self._list()

        def failed(error: Exception) -> None:
            if generation == self._generation:
                self._listing = False
                self.failed.emit(error)

        self._background.run(
            lambda task: (work.order(*asked), work.counts()), succeeded=listed, failed=failed
        )

    def _show_order(self, order: array[int]) -> None:
        old = len(self._order)
        if order == self._order:
            if old:
                self.dataChanged.emit(self.index(0, 0), self.index(old - 1, len(COLUMNS) - 1))
        elif old and order[:old] == self._order:
            self.beginInsertRows(QModelIndex(), old, len(order) - 1)
            self._order = order
            # The last page was not full.
            self._drop_page(old // _PAGE)
            self.endInsertRows()
        else:
            self._replace(order)

    def _replace(self, order: array[int]) -> None:
        self.beginResetModel()
        self._generation += 1
        self._order = order
        self._pages.clear()
        self._asked.clear()
        self.endResetModel()
        self.reordered.emit()

    def _drop_page(self, page: int) -> None:
        self._pages.pop(page, None)
        self._asked.discard(page)

    def _fetch(self, page: int) -> None:
        work, generation = self._work, self._generation
        if work is None or page in self._asked:
            return
        self._asked.add(page)
        numbers = self._order[page * _PAGE : (page + 1) * _PAGE]

        def come(lines: list[Line]) -> None:
            if generation != self._generation or page not in self._asked:
                return
            self._asked.discard(page)
            self._pages[page] = lines
            while len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
            first = page * _PAGE
            last = min(first + len(lines), len(self._order)) - 1
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

        def failed(error: Exception) -> None:
            if generation == self._generation:
                self.failed.emit(error)  # the page stays asked for, else each repaint would ask

        self._background.run(lambda task: work.lines(numbers), succeeded=come, failed=failed)

    # -- Qt's questions ----------------------------------------------------------------------------

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._order)

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        return len(COLUMNS)

    def headings(self) -> tuple[str, ...]:
        return (
            self.tr("Row"),
            self.tr("Address"),
            self.tr("Division"),
            self.tr("Code"),
            self.tr("Confidence"),
            self.tr("Note"),
        )

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role not in (
            LINE_ROLE,
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        ):
            return None
        line = self.line(index.row())
        if role == LINE_ROLE:
            return line
        if line is None:
            return str(self._order[index.row()]) if index.column() == 0 else ""
        return self.cell(line, COLUMNS[index.column()])

    def cell(self, line: Line, column: str) -> str:
        """What a column says of a row."""
        if column == "number":
            return str(line.number)
        if column == "address":
            return line.address
        if column == "division":
            return self._division(line)
        if column == "code":
            return line.code
        if column == "confidence":
            return "" if line.confidence is None else f"{line.confidence:.2f}"
        return self._note(line)

    def _division(self, line: Line) -> str:
        if line.division:
            return " › ".join(line.division.split(" "))
        if line.error:
            return sentence(line.error)
        if line.candidates > 1:
            return self.tr("{0} candidates").format(line.candidates)
        return self.tr("not determined") if line.mark is Mark.CHECK else ""

    def notes(self) -> list[str]:
        """The longest notes, for the width of their column."""
        return [self.tr("Check division"), self.tr("Check entities")]

    def _note(self, line: Line) -> str:
        if line.mark is Mark.CHECK:
            unsure = line.confidence is None or line.confidence < LOW
            return self.tr("Check division") if unsure else self.tr("Check entities")
        return {
            Mark.FAILED: self.tr("Failed"),
            Mark.CORRECTED: self.tr("Corrected"),
            Mark.BLANK: self.tr("Empty row"),
        }.get(line.mark, "")
