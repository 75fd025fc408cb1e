"""A file of addresses while it is worked on: its rows, the answers and the corrections by hand, in
a database of Tritalk's own, so that a run can be resumed although the file was moved or changed.

Whatever is asked for is read from the disk; in memory are, at most, row numbers. Every method
blocks, and may be called from any thread but a GUI thread.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.addresses.answering import EMPTY, Result, not_text
from desktop.addresses.cells import dump_cells, load_cells
from desktop.addresses.journal import fingerprint
from desktop.addresses.marks import Mark, summary
from desktop.addresses.tables import Cell, Table, plain
from desktop.addresses.text_files import is_broken
from desktop.addresses.writers import EXCEL_ROWS, WRITERS, format_of, printable
from desktop.triton.types import InvalidInput, TritalkError

SUFFIX = ".addresses"
_VERSION = 1
_BATCH = 2000
_BUSY_SECONDS = 30.0
SCHEMA = """
CREATE TABLE about (data TEXT NOT NULL);
-- Small, for lists: sorting 100,000 of them must not read the answers. mark NULL: not answered.
CREATE TABLE rows (
    number INTEGER PRIMARY KEY, address TEXT NOT NULL, mark INTEGER, division TEXT, code TEXT,
    confidence REAL, score REAL, candidates INTEGER, error TEXT
);
CREATE TABLE cells (number INTEGER PRIMARY KEY, cells TEXT NOT NULL);
CREATE TABLE results (number INTEGER PRIMARY KEY, result TEXT NOT NULL, corrected TEXT);
"""
_SET = (
    "UPDATE rows SET mark = ?, division = ?, code = ?, confidence = ?, score = ?, candidates = ?,"
    " error = ? WHERE number = ?"
)
#: What a list can be sorted by.
SORTS = ("number", "address", "division", "code", "confidence", "score", "mark")


@dataclass(frozen=True)
class About:
    """What is worked on. ``column``: index of the addresses; ``created``: seconds since 1970."""

    source: str
    fingerprint: str
    kind: str
    encoding: str
    header: bool
    columns: list[str]
    column: int
    total: int
    created: float

    @property
    def name(self) -> str:
        return Path(self.source).name


@dataclass(frozen=True)
class Counts:
    total: int
    answered: int
    check: int
    failed: int
    corrected: int


@dataclass(frozen=True)
class Line:
    """A row of the list. ``confidence`` of the division and ``score`` of the least certain entity
    in [0, 1], None where there is none; ``division``: its levels with spaces between."""

    number: int
    address: str
    mark: Mark
    division: str
    code: str
    confidence: float | None
    score: float | None
    candidates: int
    error: str


@dataclass(frozen=True)
class Row:
    """All of one row. ``corrected`` is the result as a person mended it."""

    number: int
    address: str
    cells: list[Cell]
    result: Result
    corrected: Result | None


def folder() -> Path:
    """Where the files in work are kept."""
    return paths.data_dir() / "addresses"


class WorkFile:
    def __init__(self, path: Path, about: About) -> None:
        self.path = path
        self.about = about

    # -- making and finding ----------------------------------------------------------------------

    @classmethod
    def create(
        cls, table: Table, column: int, tell: Callable[[int], None] = lambda rows: None
    ) -> WorkFile:
        """Reads the whole table. An unfinished one of the same rows is replaced.

        Raises InvalidInput, TritalkError where the disk is full, and what the table raises."""
        about = About(
            str(table.path.absolute()),
            fingerprint(table.path),
            table.kind,
            table.encoding,
            table.has_header,
            table.columns,
            column,
            table.total,
            time.time(),
        )
        home = folder()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = home / f"{about.fingerprint[:24]}-{column}-{int(about.header)}{SUFFIX}"
        partial = path.with_suffix(".reading")
        partial.unlink(missing_ok=True)
        try:
            with _said(partial), contextlib.closing(sqlite3.connect(partial)) as database:
                database.execute("PRAGMA synchronous = OFF")
                database.executescript(SCHEMA)
                database.execute(
                    "INSERT INTO about VALUES (?)", (json.dumps(asdict(about), ensure_ascii=False),)
                )
                _fill(database, table, column, tell)
                database.execute(f"PRAGMA user_version = {_VERSION}")
                database.commit()
                database.execute("PRAGMA journal_mode = WAL")
            for old in _files(path):
                old.unlink(missing_ok=True)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        return cls(path, about)

    @classmethod
    def open(cls, path: Path) -> WorkFile:
        """Raises InvalidInput where it is damaged or of another version."""
        try:
            with contextlib.closing(_connect(path)) as database:
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version != _VERSION:
                    raise InvalidInput(f"{path} was written by another Tritalk")
                (data,) = database.execute("SELECT data FROM about").fetchone()
            return cls(path, About(**json.loads(data)))
        except (sqlite3.Error, TypeError, ValueError, OSError) as error:
            raise InvalidInput(f"{path} is damaged ({error})") from error

    @classmethod
    def all(cls) -> list[WorkFile]:
        """Those that can be opened, newest first."""
        found = []
        for path in sorted(folder().glob(f"*{SUFFIX}"), key=_modified, reverse=True):
            with contextlib.suppress(InvalidInput):
                found.append(cls.open(path))
        return found

    @classmethod
    def earlier(cls, source: Path) -> WorkFile | None:
        """The newest one made of a file with the same content."""
        mark = fingerprint(source)[:24]
        return next((w for w in cls.all() if w.path.name.startswith(mark)), None)

    def remove(self) -> None:
        for path in _files(self.path):
            path.unlink(missing_ok=True)

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Held while a run adds answers. Raises InvalidInput where another program holds it."""
        return _lock(self.path.with_suffix(".lock"), self.about.name)

    # -- what a run does -------------------------------------------------------------------------

    def unanswered(self, after: int = 0) -> Iterator[tuple[int, str]]:
        """Number and address, in order. No transaction is held open in between."""
        while True:
            with contextlib.closing(_connect(self.path)) as database:
                found = database.execute(
                    "SELECT number, address FROM rows WHERE mark IS NULL AND number > ?"
                    " ORDER BY number LIMIT 500",
                    (after,),
                ).fetchall()
            if not found:
                return
            yield from found
            after = found[-1][0]

    def add(self, answers: Sequence[tuple[int, Result]]) -> None:
        """Keeps results by row number, in one transaction."""
        with _said(self.path), contextlib.closing(_connect(self.path)) as database, database:
            _answer(database, answers)

    # -- what a person does ----------------------------------------------------------------------

    def correct(self, number: int, corrected: Result | None) -> None:
        """Keeps a result by hand beside the parser's; None takes it away again."""
        with _said(self.path), contextlib.closing(_connect(self.path)) as database, database:
            if corrected is None:
                (text,) = database.execute(
                    "SELECT result FROM results WHERE number = ?", (number,)
                ).fetchone()
                found = summary(json.loads(text))
            else:
                found = summary({**corrected, "corrected": True})
            database.execute(_SET, (*found.as_row(), number))
            database.execute(
                "UPDATE results SET corrected = ? WHERE number = ?",
                (None if corrected is None else _dump(corrected), number),
            )

    def counts(self) -> Counts:
        with contextlib.closing(_connect(self.path)) as database:
            found = dict(
                database.execute("SELECT mark, count(*) FROM rows GROUP BY mark").fetchall()
            )
        return Counts(
            self.about.total,
            self.about.total - found.get(None, 0),
            found.get(Mark.CHECK, 0),
            found.get(Mark.FAILED, 0),
            found.get(Mark.CORRECTED, 0),
        )

    def order(
        self,
        mark: Mark | None = None,
        search: str = "",
        sort: str = "number",
        descending: bool = False,
    ) -> array[int]:
        """The numbers of the answered rows with that mark whose address, division, code or error
        holds ``search``. Rows without a value come last."""
        if sort not in SORTS:
            raise ValueError(sort)
        where, values = ["mark IS NOT NULL"], list[Any]()
        if mark is not None:
            where.append("mark = ?")
            values.append(int(mark))
        for word in search.split():
            pattern = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            where.append(
                "(address LIKE ? ESCAPE '\\' OR division LIKE ? ESCAPE '\\'"
                " OR code LIKE ? ESCAPE '\\' OR error LIKE ? ESCAPE '\\')"
            )
            values += [f"%{pattern}%"] * 4
        by = f"{sort} {'DESC' if descending else 'ASC'}"
        query = f"SELECT number FROM rows WHERE {' AND '.join(where)} ORDER BY "
        query += by if sort == "number" else f"{sort} IS NULL OR {sort} = '', {by}, number"
        numbers = array("I")
        with contextlib.closing(_connect(self.path)) as database:
            for (number,) in database.execute(query, values):
                numbers.append(number)
        return numbers

    def lines(self, numbers: Sequence[int]) -> list[Line]:
        """In the order of ``numbers``; at most some hundred at a time."""
        marks = ",".join("?" * len(numbers))
        with contextlib.closing(_connect(self.path)) as database:
            found = database.execute(
                "SELECT number, address, mark, division, code, confidence, score, candidates, error"
                f" FROM rows WHERE number IN ({marks})",
                list(numbers),
            ).fetchall()
        by_number = {
            n: Line(n, address, Mark(mark), division, code, confidence, score, candidates, error)
            for n, address, mark, division, code, confidence, score, candidates, error in found
        }
        return [by_number[n] for n in numbers]

    def row(self, number: int) -> Row:
        with contextlib.closing(_connect(self.path)) as database:
            address, cells, result, corrected = database.execute(
                "SELECT address, cells, result, corrected FROM rows JOIN cells USING (number)"
                " LEFT JOIN results USING (number) WHERE number = ?",
                (number,),
            ).fetchone()
        return Row(
            number,
            address,
            load_cells(cells),
            json.loads(result or "{}"),
            json.loads(corrected) if corrected else None,
        )

    # -- export ----------------------------------------------------------------------------------

    def export(
        self,
        output: Path,
        format: str | None = None,
        tell: Callable[[int], None] = lambda rows: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> bool:
        """All rows with their original columns and the results, corrected where a person did; False
        after a cancellation, which leaves no file.

        Raises InvalidInput, and TritalkError where it cannot be written."""
        kind = format_of(output, format)
        source = Path(self.about.source)
        if output.exists() and source.exists() and output.samefile(source):
            raise InvalidInput(f"{output} is the file that is read; write to another one")
        if kind == "xlsx" and self.about.total >= EXCEL_ROWS:
            raise InvalidInput(
                f"{self.about.total:,} rows do not fit into a spreadsheet; choose csv or json"
            )
        with (
            _said(output),
            contextlib.closing(_connect(self.path)) as database,
            WRITERS[kind](output, self.about.columns, corrections=True) as writer,
        ):
            query = (
                "SELECT number, cells, coalesce(corrected, result, '{}'), corrected IS NOT NULL"
                " FROM cells LEFT JOIN results USING (number) ORDER BY number"
            )
            for number, cells, result, corrected in database.execute(query):
                shown = json.loads(result)
                if corrected:
                    shown["corrected"] = True
                writer.write(load_cells(cells), shown)
                if number % 500 == 0:
                    tell(number)
                    if cancelled():
                        return False
            writer.commit()
        return True


def _connect(path: Path) -> sqlite3.Connection:
    # Generators may be closed by another thread than the one that read from them.
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=_BUSY_SECONDS,
        check_same_thread=False,
    )
    # A power cut may cost the last answers, which are asked for again; never the file.
    database.execute("PRAGMA synchronous = NORMAL")
    return database


@contextlib.contextmanager
def _said(path: Path) -> Iterator[None]:
    """A full disk and the like in a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise TritalkError(f"{path} cannot be written: {error}") from error
    except OSError as error:
        raise TritalkError(f"{path} cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def _lock(path: Path, name: str) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidInput(f"another Tritalk is working on {name}; wait for it") from None
        yield


def _files(path: Path) -> list[Path]:
    return [
        path,
        *(path.with_name(path.name + end) for end in ("-wal", "-shm")),
        path.with_suffix(".lock"),
    ]


def _modified(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _fill(
    database: sqlite3.Connection, table: Table, column: int, tell: Callable[[int], None]
) -> None:
    rows: list[tuple[int, str]] = []
    cells: list[tuple[int, str]] = []
    known: list[tuple[int, Result]] = []

    def write() -> None:
        database.executemany("INSERT INTO rows (number, address) VALUES (?, ?)", rows)
        database.executemany("INSERT INTO cells VALUES (?, ?)", cells)
        _answer(database, known)
        for batch in (rows, cells, known):
            batch.clear()

    number = 0
    for number, row in enumerate(table.rows(), 1):
        text = plain(row[column])
        rows.append((number, printable(text)))
        cells.append((number, dump_cells(row)))
        if not any(map(plain, row)):
            known.append((number, {}))
        elif not text:
            known.append((number, {"error": EMPTY}))
        elif is_broken(text):
            known.append((number, {"error": not_text(table.encoding)}))
        if number % _BATCH == 0:
            write()
            tell(number)
    write()
    if number != table.total:
        raise InvalidInput(f"{table.path} was changed while it was read; open it again")


def _answer(database: sqlite3.Connection, answers: Sequence[tuple[int, Result]]) -> None:
    found = [(*summary(result).as_row(), number) for number, result in answers]
    database.executemany(_SET, found)
    database.executemany(
        "INSERT OR REPLACE INTO results (number, result) VALUES (?, ?)",
        [(number, _dump(result)) for number, result in answers],
    )


def _dump(result: Result) -> str:
    # Escaped, since a lone surrogate cannot be stored.
    return json.dumps(result, separators=(",", ":"))
