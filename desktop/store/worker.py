"""The store's one thread: everything runs there in order; tokens are written in batches.

Nothing here blocks its caller but :meth:`StoreWorker.close`.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from desktop import paths
from desktop.store.database import Database
from desktop.store.schema import Notice, NoticeKind, is_damage, open_file, set_aside
from desktop.triton.types import Token, TritalkError

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)

# Tokens wait at most this long for others to be written with: a sync to the disk for each would
# keep a slow disk busy, and the person is promised that a second is all a crash can cost.
_BATCH_SECONDS = 0.3
_RETRY_SECONDS = 1.0
_PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
)
_FILE = "conversations.db"


def default_path() -> Path:
    return paths.data_dir() / _FILE


class StoreWorker:
    """Opens the database on its thread and serves it until closed.

    ``on_notice`` is called on that thread with what the person must be told.
    """

    def __init__(self, path: Path, on_notice: Callable[[Notice], None]) -> None:
        self.path = path
        self._on_notice = on_notice
        self._jobs: SimpleQueue[tuple[Callable[[Database], Any], Future[Any]] | _Tokens | None]
        self._jobs = SimpleQueue()
        self._pending: list[_Tokens] = []
        self._write_at = 0.0
        self._unwritten = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="store", daemon=True)
        self._thread.start()

    def submit(self, operation: Callable[[Database], Answer]) -> Future[Answer]:
        """Run ``operation(database)`` after everything submitted before."""
        future: Future[Answer] = Future()
        self._jobs.put((operation, future))
        return future

    def append_tokens(self, message: int, position: int, tokens: list[Token]) -> None:
        """Write tokens of a reply within a second."""
        self._jobs.put(_Tokens(message, position, tokens))

    def close(self) -> None:
        """Write what waits, close the file and join the thread. Blocks."""
        self._closing.set()
        if self._thread.is_alive():
            self._jobs.put(None)
            self._thread.join()

    # On the thread.

    def _serve(self) -> None:
        self._open()
        while True:
            try:
                wait = max(0.0, self._write_at - time.monotonic()) if self._pending else None
                job = self._jobs.get(timeout=wait)
            except Empty:
                self._write_tokens()
                continue
            if isinstance(job, _Tokens):
                if not self._pending:
                    self._write_at = time.monotonic() + _BATCH_SECONDS
                self._pending.append(job)
                continue
            self._write_tokens()
            if job is None:
                break
            self._run(*job)
        self._connection.close()

    def _open(self) -> None:
        self._connection, notices = open_file(self.path)
        self._database = Database(self._connection)
        try:
            self._database.recover()
        except sqlite3.Error as error:
            log.exception("the store could not be put in order")
            notices.append(Notice(NoticeKind.UNWRITTEN, str(error)))
        for notice in notices:
            self._on_notice(notice)

    def _run(self, operation: Callable[[Database], Any], future: Future[Any]) -> None:
        """Run an operation; while the disk is full or somebody else holds the file, again and
        again, and what was submitted after it waits: nothing is skipped, nothing overtakes."""
        while True:
            try:
                answer = operation(self._database)
            except Exception as error:
                self._look_at(error)
                if _passes(error) and not self._closing.wait(_RETRY_SECONDS):
                    continue
                future.set_exception(error)
            else:
                self._unwritten = False
                future.set_result(answer)
            return

    def _write_tokens(self) -> None:
        if not self._pending:
            return
        try:
            with self._database.transaction():
                for batch in self._pending:
                    self._database.append_tokens(batch.message, batch.position, batch.tokens)
        except sqlite3.Error as error:
            self._look_at(error)
            if _passes(error):
                self._write_at = time.monotonic() + _RETRY_SECONDS
                return
            # Their message is gone (deleted, or with a damaged file): there is nowhere to write.
        self._unwritten = False
        self._pending.clear()

    def _look_at(self, error: Exception) -> None:
        """Set a file aside that turns out to be damaged while it is used."""
        if isinstance(error, TritalkError):
            return  # a sentence for whoever asked
        log.error("the store failed", exc_info=error)
        if isinstance(error, sqlite3.DatabaseError) and is_damage(error):
            self._connection.close()
            with contextlib.suppress(OSError):
                aside = set_aside(self.path, NoticeKind.DAMAGED)
                self._on_notice(Notice(NoticeKind.DAMAGED, str(aside)))
            self._open()
        elif _passes(error) and not self._unwritten:
            self._unwritten = True
            self._on_notice(Notice(NoticeKind.UNWRITTEN, str(error)))


def _passes(error: Exception) -> bool:
    """Whether the same may work later: a full disk, a file that somebody else holds."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, sqlite3.OperationalError) and (code or 0) & 0xFF in _PASSING


class _Tokens:
    def __init__(self, message: int, position: int, tokens: list[Token]) -> None:
        self.message = message
        self.position = position
        self.tokens = tokens
