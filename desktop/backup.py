"""A backup: everything that cannot be made again, in one zip file that any tool can open.

Members: ``manifest.json`` (what it is, and each member's size and SHA-256), ``conversations.db``,
``addresses/*.addresses`` (files in work with their corrections), ``settings.json`` (without the
token of a remote server) and ``preferences.json`` (the window's). Databases are copied through
SQLite's online backup from one read transaction, so that they may be in use meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import re
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from desktop import settings as stored
from desktop.addresses import workfile
from desktop.settings import Settings
from desktop.store import worker
from desktop.triton.types import TritalkError

FORMAT = "tritalk-backup"
VERSION = 1
SUFFIX = ".zip"
MANIFEST = "manifest.json"
DATABASE = "conversations.db"
SETTINGS = "settings.json"
PREFERENCES = "preferences.json"
ADDRESSES = "addresses/"
_PAGES = 2048  # of SQLite, copied between two looks at whether to go on
_CHUNK = 1 << 20
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")

Tell = Callable[[float], None]
"""Called with how much is done, 0 to 1, from the thread that works."""


class Cancelled(TritalkError):
    """The person does not want it any more; nothing is left behind."""


@dataclass(frozen=True)
class Member:
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """``created``: seconds since 1970. ``tritalk``: the version that wrote it. ``schema``: the
    store's. The counts are for people."""

    created: float
    tritalk: str
    schema: int
    conversations: int
    messages: int
    address_files: int
    members: dict[str, Member] = field(default_factory=dict)

    def to_json(self) -> str:
        data = {"format": FORMAT, "version": VERSION, **asdict(self)}
        return json.dumps(data, ensure_ascii=False, indent=2)


def application_version() -> str:
    """Tritalk's own, such as ``0.1.0``; ``0`` where it runs without having been installed."""
    try:
        return importlib.metadata.version("tritalk")
    except importlib.metadata.PackageNotFoundError:
        return "0"


def suggested_name() -> str:
    return f"tritalk-{time.strftime('%Y%m%d-%H%M')}{SUFFIX}"


def write(
    target: Path,
    preferences: Mapping[str, str] | None = None,
    tell: Tell = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Write a backup to ``target``, whole or not at all; what was there before is replaced.

    Blocks; not for a GUI thread. Raises :class:`Cancelled`, and TritalkError with a sentence.
    """
    with _said(target):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".tritalk-") as folder:
            work = Path(folder)
            parts = _collect(work, preferences or {}, tell, cancelled)
            manifest = _describe(parts)
            whole = work / "backup.zip"
            _pack(whole, parts, manifest, tell, cancelled)
            whole.replace(target)
            _sync_folder(target.parent)
    tell(1.0)
    return manifest


def without_secrets(settings: Settings) -> Settings:
    """No token, and no name or password within an address."""
    result = replace(settings, remote=replace(settings.remote, token=""))
    for name in stored.names_of():
        value = stored.value_of(result, name)
        if isinstance(value, str):
            result = stored.changed(result, name, _CREDENTIALS.sub("", value))
    return result


# Collecting.


def _collect(
    work: Path, preferences: Mapping[str, str], tell: Tell, cancelled: Callable[[], bool]
) -> dict[str, Path]:
    """Copies of what goes into the backup by their names in it; the first half of the work."""
    sources = {DATABASE: worker.default_path()}
    for path in sorted(workfile.folder().glob(f"*{workfile.SUFFIX}")):
        sources[f"{ADDRESSES}{path.name}"] = path
    sources = {name: path for name, path in sources.items() if path.exists()}
    total = sum(path.stat().st_size for path in sources.values()) or 1
    parts, done = {}, 0
    for number, (name, source) in enumerate(sources.items()):
        copy = work / f"{number}.db"
        size = source.stat().st_size

        def told(share: float, done: int = done, size: int = size) -> None:
            tell(0.5 * (done + share * size) / total)

        _copy_database(source, copy, told, cancelled)
        done += size
        if name == DATABASE and not _drop_deleted(copy):
            continue
        parts[name] = copy
    texts = {
        SETTINGS: json.dumps(stored.to_data(without_secrets(stored.load({}))), ensure_ascii=False),
        PREFERENCES: json.dumps(dict(preferences), ensure_ascii=False),
    }
    for name, text in texts.items():
        parts[name] = work / name
        parts[name].write_text(text, encoding="utf-8")
    return parts


def _copy_database(source: Path, copy: Path, tell: Tell, cancelled: Callable[[], bool]) -> None:
    """What is committed now. Writers go on beside it: in WAL mode a reader stops nobody."""

    def progress(status: int, remaining: int, total: int) -> None:
        tell(1 - remaining / max(1, total))
        if cancelled():
            raise Cancelled("cancelled")

    with (
        contextlib.closing(sqlite3.connect(source, isolation_level=None)) as original,
        contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as written,
    ):
        # The backup would begin anew at each change by somebody else, without an end while a reply
        # streams; within a read transaction it sees none.
        original.execute("BEGIN")
        original.execute("SELECT count(*) FROM sqlite_master").fetchone()
        original.backup(written, pages=_PAGES, progress=progress)
        # A single file, without a log beside it.
        written.execute("PRAGMA journal_mode = DELETE")


def _drop_deleted(path: Path) -> bool:
    """What a person deleted, and could still take back, is in no backup. False where the file is
    so new that it has no tables yet."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        if not _one(database, "PRAGMA user_version"):
            return False
        database.execute("PRAGMA foreign_keys = ON")
        for table in ("conversation", "message"):
            database.execute(f"DELETE FROM {table} WHERE deleted IS NOT NULL")
        database.execute("VACUUM")
    return True


def _describe(parts: Mapping[str, Path]) -> Manifest:
    schema = conversations = messages = 0
    if DATABASE in parts:
        with contextlib.closing(sqlite3.connect(parts[DATABASE])) as database:
            schema = _one(database, "PRAGMA user_version")
            conversations = _one(database, "SELECT count(*) FROM conversation")
            messages = _one(database, "SELECT count(*) FROM message")
    files = sum(name.startswith(ADDRESSES) for name in parts)
    return Manifest(time.time(), application_version(), schema, conversations, messages, files)


def _one(database: sqlite3.Connection, query: str) -> int:
    return int(database.execute(query).fetchone()[0])


# Packing.


def _pack(
    whole: Path,
    parts: Mapping[str, Path],
    manifest: Manifest,
    tell: Tell,
    cancelled: Callable[[], bool],
) -> None:
    total = sum(path.stat().st_size for path in parts.values()) or 1
    done, members = 0, {}
    # Nobody else may read it where it is made; the person may send it wherever they like.
    descriptor = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in parts.items():
                digest, size = hashlib.sha256(), 0
                with path.open("rb") as part, archive.open(name, "w", force_zip64=True) as member:
                    while chunk := part.read(_CHUNK):
                        if cancelled():
                            raise Cancelled("cancelled")
                        member.write(chunk)
                        digest.update(chunk)
                        size += len(chunk)
                        done += len(chunk)
                        tell(0.5 + 0.5 * done / total)
                members[name] = Member(size, digest.hexdigest())
            archive.writestr(MANIFEST, replace(manifest, members=members).to_json())
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """The new name itself survives a power cut."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _said(path: Path) -> Iterator[None]:
    """What the disk or a database refuses, in a sentence."""
    try:
        yield
    except OSError as error:
        reason: Any = error.strerror or error
        raise TritalkError(f"{path} cannot be written: {reason}") from error
    except sqlite3.Error as error:
        raise TritalkError(f"{path} cannot be written: {error}") from error
