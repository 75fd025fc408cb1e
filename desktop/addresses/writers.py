"""Writing results: the original columns and the parser's behind them, as CSV, XLSX or JSON.

A file comes to be whole or not at all: it is written beside its place, synced, and moved there.
"""

from __future__ import annotations

import csv
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from desktop.addresses.answering import Result
from desktop.addresses.tables import Cell, plain
from desktop.triton.types import InvalidInput

FORMATS = ("csv", "xlsx", "json")
ENTITY_TYPES = (
    "prov", "city", "district", "town", "community", "road", "roadno", "poi", "subpoi", "houseno",
    "cellno", "floorno", "roomno",
)  # fmt: skip
DIVISION_COLUMNS = ("province", "city", "district", "town", "code", "confidence", "candidates")
# Behind them where results may have been corrected by hand.
CORRECTED_COLUMN = "corrected"
RESULT_COLUMNS = (
    *DIVISION_COLUMNS, *(f"entity_{t}" for t in ENTITY_TYPES), "name", "phone", "one_line", "error"
)  # fmt: skip

# What a spreadsheet would take for a formula (OWASP's list, and the full-width forms); a plain
# number, signed or not, is none.
_FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*%?")
_SEPARATOR = " | "
EXCEL_ROWS = 1_048_576


def format_of(output: Path, wanted: str | None) -> str:
    """The format named, else the one of the file's suffix. Raises InvalidInput."""
    found = wanted or output.suffix.lower().removeprefix(".")
    if found not in FORMATS:
        raise InvalidInput(
            f"{output} does not say what to write; name it .csv, .xlsx or .json, or give --format"
        )
    return found


def result_columns(original: Sequence[str], corrections: bool = False) -> list[str]:
    """The names of the added columns; one that the file has already gets ``parsed_`` before it."""
    names = []
    for name in (*RESULT_COLUMNS, CORRECTED_COLUMN) if corrections else RESULT_COLUMNS:
        while name in original:
            name = f"parsed_{name}"  # noqa: PLW2901
        names.append(name)
    return names


def result_cells(result: Result) -> list[str | float]:
    """One cell for each of ``RESULT_COLUMNS``; several entities of a type are joined by a bar."""
    if "division" not in result:
        empty: list[str | float] = [""] * (len(RESULT_COLUMNS) - 1)
        return [*empty, result.get("error", "")]
    division = result["division"]
    others = [c for c in result["candidates"] if c != division]
    cells: list[str | float] = [division[k] for k in ("province", "city", "district", "town")]
    cells.append(division["code"])
    cells.append(division["confidence"] if division["province"] else "")
    cells.append(_SEPARATOR.join(map(_levels, others)))
    for type_ in ENTITY_TYPES:
        cells.append(_SEPARATOR.join(e["text"] for e in result["entities"] if e["type"] == type_))
    for type_ in ("name", "phone"):
        found = (c["text"] for c in result.get("contacts", ()) if c["type"] == type_)
        cells.append(_SEPARATOR.join(found))
    cells.append(result.get("one_line", ""))
    cells.append("")
    return cells


def _levels(division: dict[str, Any]) -> str:
    names = (division[k] for k in ("province", "city", "district", "town"))
    return " ".join(name for name in names if name)


def printable(text: str) -> str:
    """Without lone surrogates, which stand for broken bytes and cannot be written."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Writer(ABC):
    """Writes rows to a file of its own beside ``output``; :meth:`commit` moves it there. Left
    without a commit, it removes it. ``corrections``: results with ``corrected`` are told apart."""

    def __init__(self, output: Path, columns: Sequence[str], corrections: bool = False) -> None:
        self.output = output
        self.columns = list(columns)
        self.corrections = corrections
        self.partial = output.with_name(f".{output.name}.writing")
        self._committed = False

    @abstractmethod
    def write(self, row: Sequence[Cell], result: Result) -> None: ...

    def names(self) -> list[str]:
        """The heading."""
        return [*self.columns, *result_columns(self.columns, self.corrections)]

    def cells(self, row: Sequence[Cell], result: Result) -> list[Cell]:
        """A row and its result under that heading."""
        cells = [*row, *result_cells(result)]
        if self.corrections:
            cells.append("yes" if result.get("corrected") else "")
        return cells

    @abstractmethod
    def _finish(self) -> None:
        """Everything written is in ``partial`` and on the disk."""

    def commit(self) -> None:
        self._finish()
        self.partial.replace(self.output)
        self._committed = True

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._committed:
            self._abandon()
            self.partial.unlink(missing_ok=True)

    @abstractmethod
    def _abandon(self) -> None: ...


class _TextWriter(Writer):
    encoding = "utf-8"

    def __init__(self, output: Path, columns: Sequence[str], corrections: bool = False) -> None:
        super().__init__(output, columns, corrections)
        self.stream: IO[str] = self.partial.open("w", encoding=self.encoding, newline="")

    def _finish(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.stream.close()

    def _abandon(self) -> None:
        self.stream.close()


class CsvWriter(_TextWriter):
    """UTF-8 with a mark, which Excel needs to see that it is. Cells that a spreadsheet would
    compute get an apostrophe."""

    encoding = "utf-8-sig"

    def __init__(self, output: Path, columns: Sequence[str], corrections: bool = False) -> None:
        super().__init__(output, columns, corrections)
        self._csv = csv.writer(self.stream)
        self._csv.writerow([self._safe(name) for name in self.names()])

    def write(self, row: Sequence[Cell], result: Result) -> None:
        self._csv.writerow([self._safe(cell) for cell in self.cells(row, result)])

    @staticmethod
    def _safe(cell: Cell) -> str:
        text = printable(cell if isinstance(cell, str) else plain(cell))
        return f"'{text}" if is_formula(text) else text


def is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


class JsonWriter(_TextWriter):
    """An array; each element has ``row`` (the original cells by column), and ``entities``,
    ``division``, ``candidates`` or ``error``."""

    def __init__(self, output: Path, columns: Sequence[str], corrections: bool = False) -> None:
        super().__init__(output, columns, corrections)
        self._separator = "[\n"

    def write(self, row: Sequence[Cell], result: Result) -> None:
        cells = {
            name: cell if isinstance(cell, int | float | None) else str(cell)
            for name, cell in zip(self.columns, row, strict=True)
        }
        text = json.dumps({"row": cells, **result}, ensure_ascii=False)
        self.stream.write(self._separator + printable(text))
        self._separator = ",\n"

    def _finish(self) -> None:
        self.stream.write("\n]\n" if self._separator == ",\n" else "[]\n")
        super()._finish()


class XlsxWriter(Writer):
    """One sheet, written row by row. Text is stored as text, so that nothing is computed."""

    def __init__(self, output: Path, columns: Sequence[str], corrections: bool = False) -> None:
        super().__init__(output, columns, corrections)
        import openpyxl

        self._book = openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("addresses")
        self._sheet.freeze_panes = "A2"
        self._sheet.append([self._cell(name) for name in self.names()])

    def write(self, row: Sequence[Cell], result: Result) -> None:
        self._sheet.append([self._cell(cell) for cell in self.cells(row, result)])

    def _cell(self, value: Cell) -> Any:
        if not isinstance(value, str):
            return value
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        text = ILLEGAL_CHARACTERS_RE.sub("\ufffd", printable(value))
        if not is_formula(text):
            return text
        cell = WriteOnlyCell(self._sheet, text)
        cell.data_type = "s"
        cell.quotePrefix = True
        return cell

    def _finish(self) -> None:
        self._book.save(self.partial)
        with self.partial.open("rb") as stream:
            os.fsync(stream.fileno())

    def _abandon(self) -> None:
        self._sheet.close()  # openpyxl removes its own temporary file when the program ends


WRITERS: dict[str, type[Writer]] = {"csv": CsvWriter, "xlsx": XlsxWriter, "json": JsonWriter}
