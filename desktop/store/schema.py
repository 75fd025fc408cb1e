"""Opening the database file: schema versions, and files that cannot be used.

A file that is damaged or of a newer Tritalk is renamed with everything that belongs to it, never
overwritten, and a fresh one takes its place; the notice says so.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Each entry leads from the version of its index to the next; PRAGMA user_version tells where a
#: file is. Entries are never changed once published, only added.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE conversation (
        id INTEGER PRIMARY KEY,
        title TEXT NOT NULL,
        created REAL NOT NULL,
        updated REAL NOT NULL,
        pinned INTEGER NOT NULL DEFAULT 0,
        draft TEXT NOT NULL DEFAULT '',
        settings TEXT NOT NULL DEFAULT '',
        active_root INTEGER,
        deleted REAL
    );
    CREATE INDEX conversation_order ON conversation (pinned DESC, updated DESC);
    CREATE TABLE message (
        id INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL REFERENCES conversation ON DELETE CASCADE,
        parent INTEGER REFERENCES message ON DELETE CASCADE,
        active_child INTEGER,
        role TEXT NOT NULL,
        text TEXT NOT NULL,
        stage TEXT NOT NULL,
        error TEXT NOT NULL DEFAULT '',
        finish_reason TEXT,
        input_tokens INTEGER NOT NULL DEFAULT 0,
        seconds_to_first_token REAL,
        tokens_per_second REAL,
        mean_probability REAL,
        deleted REAL
    );
    CREATE INDEX message_conversation ON message (conversation, id);
    CREATE INDEX message_parent ON message (parent);
    CREATE TABLE token (
        message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
        position INTEGER NOT NULL,
        token_id INTEGER NOT NULL,
        text TEXT NOT NULL,
        confidence REAL,
        probability REAL NOT NULL,
        alternatives TEXT NOT NULL,
        PRIMARY KEY (message, position)
    ) WITHOUT ROWID;
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    """,
    """
    ALTER TABLE conversation ADD COLUMN persona TEXT NOT NULL DEFAULT '';
    ALTER TABLE conversation ADD COLUMN model TEXT NOT NULL DEFAULT '';
    ALTER TABLE message ADD COLUMN model TEXT NOT NULL DEFAULT '';
    """,
)

# How long another program's hold on the file is waited for in one go.
_BUSY_SECONDS = 5.0
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class NoticeKind(enum.StrEnum):
    DAMAGED = "damaged"
    NEWER = "newer"
    #: Nothing can be written; conversations live in memory until the program ends.
    MEMORY = "memory"
    #: Writing failed for now (a full disk); what waits is tried again.
    UNWRITTEN = "unwritten"


@dataclass(frozen=True)
class Notice:
    """Something the person must be told. ``detail``: the file set aside, or the reason."""

    kind: NoticeKind
    detail: str


class NewerSchema(Exception):
    """The file was written by a newer version of Tritalk."""


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is no sound database, rather than busy, full or misused."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # The quick check's own finding, raised below.
        return type(error) is sqlite3.DatabaseError
    return (code & 0xFF) in _DAMAGE


def open_file(
    path: Path, migrations: Sequence[str] = MIGRATIONS
) -> tuple[sqlite3.Connection, list[Notice]]:
    """A connection with the newest schema, and what the person must be told. Never raises for
    what is wrong with the file: then it is set aside, or memory takes its place."""
    notices: list[Notice] = []
    for _ in range(2):
        try:
            return _open(path, migrations), notices
        except NewerSchema:
            kind = NoticeKind.NEWER
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                notices.append(Notice(NoticeKind.MEMORY, str(error)))
                break
            kind = NoticeKind.DAMAGED
        except OSError as error:
            notices.append(Notice(NoticeKind.MEMORY, error.strerror or str(error)))
            break
        try:
            notices.append(Notice(kind, str(set_aside(path, kind))))
        except OSError as error:
            notices.append(Notice(NoticeKind.MEMORY, error.strerror or str(error)))
            break
    connection = _connect(":memory:")
    _migrate(connection, migrations)
    return connection, notices


def set_aside(path: Path, kind: NoticeKind) -> Path:
    """Rename the file and its write-ahead log; the new name. Raises :class:`OSError`."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        suffix = f"-{number}" if number else ""
        target = path.with_name(f"{path.stem}-{kind}-{stamp}{suffix}{path.suffix}")
        if not target.exists():
            break
        number += 1
    # The log first: a database that found itself without it would lose what stands there.
    for end in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{end}").rename(f"{target}{end}")
    return target


def _open(path: Path, migrations: Sequence[str]) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Made here so that nobody else may read it; SQLite gives its log the same mode.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    had_content = path.stat().st_size > 0
    connection = _connect(str(path))
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(migrations):
            raise NewerSchema
        if had_content:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(found)
        _migrate(connection, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(where: str) -> sqlite3.Connection:
    connection = sqlite3.connect(where, timeout=_BUSY_SECONDS, isolation_level=None)
    # FULL: what was committed survives a power cut too. Deleted text is overwritten.
    for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _migrate(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    """Each step is one transaction together with its version, so that it happens whole or not."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    for number in range(version, len(migrations)):
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE; {migrations[number]};"
                f" PRAGMA user_version = {number + 1}; COMMIT;"
            )
        except BaseException:
            if connection.in_transaction:
                connection.rollback()
            raise
