"""A file of addresses as a table: columns, rows, and which column holds the addresses."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from desktop.addresses import text_files
from desktop.triton.types import InvalidInput

SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx")

Cell = Any
"""str, or in a spreadsheet also int, float, bool, datetime or None."""

_SAMPLE = 200
_CHECK_EVERY = 500
_EXACT = (
    "地址", "详细地址", "收货地址", "收件地址", "收件人地址", "收货人地址", "原始地址", "完整地址",
    "address", "full_address", "addr", "text",
)  # fmt: skip
_NAMED = re.compile(r"地址|住址|address|addr", re.IGNORECASE)
_MOST_COLUMNS = 16_384  # Excel's own
_LARGE = 200_000_000  # bytes
_MOST_SHRINKING = 150
_ADDRESS = re.compile(r"[省市区县镇乡村路街巷弄号栋幢座楼层室苑园]|街道|大道|小区")


class Cancelled(Exception):
    """Reading was given up because somebody asked for it."""


@dataclass(frozen=True)
class Table:
    """``path`` as a table. ``rows()`` reads it anew each time and holds one row at a time.

    ``header``: whether the first record names the columns, where a person has said so. Reading ends
    with :class:`Cancelled` soon after ``cancelled()`` is true.
    Raises InvalidInput, with one sentence for a person, from :meth:`open` and from reading.
    """

    path: Path
    kind: str
    encoding: str
    delimiter: str
    header: bool | None = None
    cancelled: Callable[[], bool] = lambda: False

    @classmethod
    def open(cls, path: Path, cancelled: Callable[[], bool] = lambda: False) -> Table:
        text_files.check_readable(path)
        kind = path.suffix.lower()
        if kind == ".tab":
            kind = ".tsv"
        if kind not in SUFFIXES:
            known = ", ".join(SUFFIXES)
            raise InvalidInput(f"{path} is of no known kind; known are {known} files")
        if kind == ".xlsx":
            table = cls(path, kind, "", "", None, cancelled)
        else:
            encoding = text_files.detect_encoding(path)
            delimiter = {".tsv": "\t", ".txt": ""}.get(kind)
            if delimiter is None:
                delimiter = text_files.find_delimiter(path, encoding)
            table = cls(path, kind, encoding, delimiter, None, cancelled)
        if table.total == 0:
            raise InvalidInput(f"{path} holds no rows")
        width = table._extent[1]
        if width > _MOST_COLUMNS:
            raise InvalidInput(
                f"{path} has {width:,} columns; at most {_MOST_COLUMNS:,} can be read, as many as "
                f"a spreadsheet has"
            )
        return table

    def with_header(self, header: bool) -> Table:
        """The same with its first record said to name the columns, or not to. The file is not read
        again."""
        table = replace(self, header=header)
        table.__dict__.update({k: v for k, v in self.__dict__.items() if k in ("_extent", "_head")})
        return table

    # -- reading ---------------------------------------------------------------------------------

    def _records(self) -> Iterator[list[Cell]]:
        for number, record in enumerate(self._all_records()):
            if number % _CHECK_EVERY == 0 and self.cancelled():
                raise Cancelled
            yield record

    def _all_records(self) -> Iterator[list[Cell]]:
        if self.kind == ".xlsx":
            yield from _sheet(self.path)
        elif self.kind == ".txt":
            for line in text_files.lines(self.path, self.encoding):
                yield [line]
        else:
            yield from text_files.records(self.path, self.encoding, self.delimiter)

    @cached_property
    def _extent(self) -> tuple[int, int]:
        """Records up to the last one with content, and the widest one's cells."""
        count = width = 0
        for number, record in enumerate(self._records(), 1):
            if any(plain(cell) for cell in record):
                count = number
                width = max(width, len(record))
        return count, width

    @cached_property
    def _head(self) -> list[list[Cell]]:
        return list(islice(self._records(), _SAMPLE + 1))

    @cached_property
    def has_header(self) -> bool:
        """Whether the first record names columns: short words, one of which says address; or all
        different, without digits, and none of them an address."""
        if self.header is not None:
            return self.header
        if self.kind == ".txt":
            return bool(self._head) and plain(self._head[0][0]).lower() in _EXACT
        names = [plain(cell) for cell in self._head[0]]
        filled = [name for name in names if name]
        if not filled or any(len(name) > 30 for name in filled):
            return False
        if any(_NAMED.search(name) and len(name) <= 16 for name in filled):
            return True
        return len(filled) == len(set(filled)) and not any(map(_is_value, filled))

    @cached_property
    def columns(self) -> list[str]:
        """As many names as the widest row has cells, all different."""
        width = self._extent[1]
        given = [plain(cell) for cell in self._head[0]] if self.has_header else []
        names: list[str] = []
        for i in range(width):
            name = given[i] if i < len(given) and given[i] else f"column_{i + 1}"
            if self.kind == ".txt" and not given:
                name = "address"
            base, number = name, 2
            while name in names:
                name, number = f"{base}_{number}", number + 1
            names.append(name)
        return names

    @cached_property
    def total(self) -> int:
        """Rows without the header."""
        count = self._extent[0]
        return max(0, count - 1) if count and self.has_header else count

    def rows(self) -> Iterator[list[Cell]]:
        """Each as wide as ``columns``; empty rows at the end are left out."""
        first = 1 if self.has_header else 0
        width = len(self.columns)
        for record in islice(self._records(), first, first + self.total):
            yield record[:width] + [""] * (width - len(record))

    # -- which column ----------------------------------------------------------------------------

    def column(self, wanted: str | None = None) -> int:
        """The index of the column of addresses: the one named (or numbered, from 1), else guessed
        by name and by content."""
        if wanted is not None:
            if wanted in self.columns:
                return self.columns.index(wanted)
            if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(self.columns):
                return int(wanted) - 1
            raise InvalidInput(f"no column {wanted}; there are: {', '.join(self.columns)}")
        if len(self.columns) == 1:
            return 0
        names = [name.strip().lower() for name in self.columns]
        sample = [row for row in islice(self.rows(), _SAMPLE) if any(map(plain, row))]
        shares = [_share(sample, i) for i in range(len(names))]
        for known in _EXACT:
            if known in names and shares[names.index(known)] > 0:
                return names.index(known)
        named = [i for i, name in enumerate(names) if _NAMED.search(name) and shares[i] > 0]
        best = max(named or range(len(names)), key=lambda i: shares[i])
        if shares[best] < 0.2:
            raise InvalidInput(
                "no column looks like addresses; say which with --column; "
                f"there are: {', '.join(self.columns)}"
            )
        return best


def plain(cell: Cell) -> str:
    """A cell as text: 12.0 of a spreadsheet is 12."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _is_value(text: str) -> bool:
    return any(c.isdigit() for c in text) or (len(text) > 6 and bool(_ADDRESS.search(text)))


def _share(rows: Sequence[list[Cell]], column: int) -> float:
    """The mean share of the rows whose cell reads like an address, longer ones a bit more."""
    if not rows:
        return 0.0
    found = 0.0
    for row in rows:
        text = plain(row[column])
        hits = len(_ADDRESS.findall(text))
        if len(text) >= 4 and hits:
            found += min(1.0, 0.4 + hits / 10)
    return found / len(rows)


def _check_unpacked_size(path: Path) -> None:
    """Raises InvalidInput for a workbook made to unpack into more than a machine holds: real ones
    are XML that shrinks to a tenth or a fiftieth."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    packed = max(1, path.stat().st_size)
    if unpacked > _LARGE and unpacked / packed > _MOST_SHRINKING:
        raise InvalidInput(
            f"{path} would unpack from {packed / 1e6:.1f} MB to {unpacked / 1e6:,.0f} MB; such a "
            f"file is damaged or made to do harm. Save it as CSV if it is really that large"
        )


def _sheet(path: Path) -> Iterator[list[Cell]]:
    """The rows of a workbook's first sheet: values, not formulas."""
    import openpyxl

    try:
        _check_unpacked_size(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # some programs write wrong ones
            for row in sheet.iter_rows(values_only=True):
                cells = list(row)
                while cells and cells[-1] is None:
                    cells.pop()
                yield cells
        finally:
            book.close()
    except InvalidInput:
        raise
    # Whatever zipfile, its packers, the XML reader and openpyxl meet in a broken file.
    except Exception as error:
        raise InvalidInput(f"{path} is no readable XLSX file") from error
