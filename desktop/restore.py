"""Reading a backup back: looked through completely before anything here is touched.

A zip file may come from anywhere. Only members that a backup has are read, of the size and the
SHA-256 that its manifest gives, into a private folder beside the data; databases must be sound and
have exactly the tables of their schema (a trigger or a view would run in our own queries). Then
:func:`keep_present` puts what is here now aside, and only after that is it replaced.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import re
import shutil
import sqlite3
import struct
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from desktop import backup, paths
from desktop import settings as stored
from desktop.addresses import workfile
from desktop.addresses.workfile import WorkFile
from desktop.backup import ADDRESSES, DATABASE, MANIFEST, PREFERENCES, SETTINGS, Manifest, Member
from desktop.settings import Settings, SettingsError
from desktop.store import schema
from desktop.triton.types import InvalidInput, TritalkError

_CHUNK = 1 << 20
_MANIFEST_MAX = 1 << 20
_TEXT_MAX = 1 << 20
# Deflate cannot pack better than 1032 to 1; what people and databases write stays far below this.
_RATIO_MAX = 400
_SPARE = 64 << 20
_NAME = re.compile(re.escape(ADDRESSES) + r"[A-Za-z0-9_-]{1,120}" + re.escape(workfile.SUFFIX))
# What zipfile raises where a file was changed by accident or on purpose; RuntimeError: encrypted.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    EOFError,
)
_NO_BACKUP = "the file is no backup made by Tritalk"
_NEWER = "the backup was made by a newer Tritalk"
_DAMAGED = "the backup is damaged ({0})"


@dataclass(frozen=True)
class Checked:
    """A backup that may be restored, unpacked in ``folder``; :meth:`discard` removes that."""

    manifest: Manifest
    folder: Path
    settings: Settings
    preferences: dict[str, str]

    @property
    def database(self) -> Path | None:
        """A database of the newest schema, or None where the backup has none."""
        path = self.folder / DATABASE
        return path if path.exists() else None

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def check(
    path: Path,
    tell: backup.Tell = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Checked:
    """Look through the backup and unpack it. Blocks; changes nothing that is in use.

    Raises InvalidInput with a sentence where it cannot be used, TritalkError where it cannot be
    read or unpacked, and :class:`desktop.backup.Cancelled`.
    """
    home = paths.data_dir()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = Path(tempfile.mkdtemp(dir=home, prefix=".restore-"))
    except OSError as error:
        raise TritalkError(f"{home} cannot be written: {error.strerror}") from error
    try:
        with path.open("rb") as file:
            return _check(file, folder, tell, cancelled)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise TritalkError(f"{path} cannot be read: {error.strerror}") from error
        raise


def keep_present(preferences: Mapping[str, str]) -> Path:
    """Put everything that is here now into a backup in the data folder; its path. Blocks."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = paths.data_dir() / "backups" / f"before-restore-{stamp}{backup.SUFFIX}"
    number = 1
    while target.exists():
        target = target.with_name(f"before-restore-{stamp}-{number}{backup.SUFFIX}")
        number += 1
    backup.write(target, preferences)
    return target


def put_back(checked: Checked, replace_store: Callable[[Path], object]) -> None:
    """Replace what is here: the store's content first, through ``replace_store(path)``
    (:meth:`desktop.store.database.Database.replace_with`), then files of addresses, then settings.
    Files in work that the backup does not have stay. Blocks.

    Raises InvalidInput where a file is being worked on (nothing was changed then), TritalkError.
    """
    folder = workfile.folder()
    parts = sorted((checked.folder / ADDRESSES).glob(f"*{workfile.SUFFIX}"))
    with contextlib.ExitStack() as locks:
        for part in parts:
            present = folder / part.name
            if present.exists():
                locks.enter_context(WorkFile(present, WorkFile.open(part).about).lock())
        try:
            if checked.database is not None:
                replace_store(checked.database)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for part in parts:
                for end in ("-wal", "-shm"):
                    (folder / f"{part.name}{end}").unlink(missing_ok=True)
                part.replace(folder / part.name)
            stored.save(_with_token(checked.settings))
        except OSError as error:
            raise TritalkError(f"{folder} cannot be written: {error.strerror}") from error
        except sqlite3.OperationalError as error:  # a full disk
            raise TritalkError(f"{paths.data_dir()} cannot be written: {error}") from error


def _with_token(settings: Settings) -> Settings:
    """The token that is here stays, but is never sent to another server than its own."""
    try:
        present = stored.load({}).remote
    except SettingsError:
        return settings
    if present.url != settings.remote.url:
        return settings
    return replace(settings, remote=replace(settings.remote, token=present.token))


# Looking through.


def _check(
    file: IO[bytes], folder: Path, tell: backup.Tell, cancelled: Callable[[], bool]
) -> Checked:
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive)
            _unpack(archive, manifest, folder, tell, cancelled)
    except _BROKEN as error:
        if not zipfile.is_zipfile(file):
            raise InvalidInput(_NO_BACKUP) from error
        raise InvalidInput(_DAMAGED.format(error)) from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # a place before the file's beginning
            raise InvalidInput(_DAMAGED.format(error.strerror)) from error
        raise
    if DATABASE in manifest.members:
        _check_store(folder / DATABASE)
    for name in manifest.members:
        if name.startswith(ADDRESSES):
            _check_work(folder / name)
    settings = _json(folder / SETTINGS, {})
    try:
        found = stored.from_data(settings)
    except SettingsError as error:
        raise InvalidInput(_DAMAGED.format(error)) from error
    preferences = _json(folder / PREFERENCES, {})
    if not all(isinstance(value, str) for value in preferences.values()):
        raise InvalidInput(_DAMAGED.format(PREFERENCES))
    tell(1.0)
    return Checked(manifest, folder, backup.without_secrets(found), preferences)


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    try:
        info = archive.getinfo(MANIFEST)
    except KeyError:
        raise InvalidInput(_NO_BACKUP) from None
    if info.file_size > _MANIFEST_MAX:
        raise InvalidInput(_NO_BACKUP)
    try:
        with archive.open(info) as member:
            data = json.loads(member.read(_MANIFEST_MAX + 1))
    except ValueError:
        raise InvalidInput(_NO_BACKUP) from None
    if not isinstance(data, dict) or data.get("format") != backup.FORMAT:
        raise InvalidInput(_NO_BACKUP)
    version, layout = data.get("version"), data.get("schema")
    if not isinstance(version, int) or not isinstance(layout, int):
        raise InvalidInput(_DAMAGED.format(MANIFEST))
    if version > backup.VERSION or layout > len(schema.MIGRATIONS):
        raise InvalidInput(_NEWER)
    try:
        members = {
            str(name): Member(int(each["size"]), str(each["sha256"]))
            for name, each in data["members"].items()
        }
        return Manifest(
            float(data["created"]),
            str(data["tritalk"])[:40],
            layout,
            int(data["conversations"]),
            int(data["messages"]),
            int(data["address_files"]),
            members,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidInput(_DAMAGED.format(MANIFEST)) from None


def _allowed(name: str) -> bool:
    return name in (DATABASE, SETTINGS, PREFERENCES) or bool(_NAME.fullmatch(name))


def _unpack(
    archive: zipfile.ZipFile,
    manifest: Manifest,
    folder: Path,
    tell: backup.Tell,
    cancelled: Callable[[], bool],
) -> None:
    """By our own hand, not by ``extract``: names, sizes and contents are as the manifest says."""
    infos = [info for info in archive.infolist() if info.filename != MANIFEST]
    names = [info.filename for info in infos]
    for name in names:
        if not _allowed(name):
            raise InvalidInput(f"the backup holds a file that does not belong there: {name[:80]}")
    if sorted(names) != sorted(manifest.members):
        raise InvalidInput(_DAMAGED.format("a file is missing or twice there"))
    total = sum(member.size for member in manifest.members.values())
    for info in infos:
        member = manifest.members[info.filename]
        small = info.filename in (SETTINGS, PREFERENCES)
        if (
            info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            or info.file_size != member.size
            or member.size > _RATIO_MAX * max(1, info.compress_size)
            or (small and member.size > _TEXT_MAX)
        ):
            raise InvalidInput(_DAMAGED.format(f"{info.filename} has another size"))
    free = shutil.disk_usage(folder).free
    # Unpacked once, and once more in the data folder's own database.
    if 2 * total + _SPARE > free:
        raise TritalkError(f"restoring takes {2 * total >> 20} MiB; {free >> 20} MiB are free")
    (folder / ADDRESSES).mkdir(mode=0o700)
    done = 0
    for info in infos:
        member = manifest.members[info.filename]
        digest, size = hashlib.sha256(), 0
        with archive.open(info) as packed, (folder / info.filename).open("xb") as file:
            while chunk := packed.read(_CHUNK):
                if cancelled():
                    raise backup.Cancelled("cancelled")
                size += len(chunk)
                if size > member.size:
                    raise InvalidInput(_DAMAGED.format(f"{info.filename} has another size"))
                digest.update(chunk)
                file.write(chunk)
                tell(0.9 * (done + size) / max(1, total))
        if digest.hexdigest() != member.sha256:
            raise InvalidInput(_DAMAGED.format(f"{info.filename} has another checksum"))
        done += size


def _json(path: Path, default: dict[str, Any]) -> dict[str, Any]:
    if not path.exists():
        return default
    try:
        data = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidInput(_DAMAGED.format(path.name)) from None
    if not isinstance(data, dict):
        raise InvalidInput(_DAMAGED.format(path.name))
    return data


# Databases.


def _check_store(path: Path) -> None:
    """Sound, of our schema, and brought to the newest one."""
    version = _look_into(path, schema.MIGRATIONS)
    if version < 1:
        raise InvalidInput(_DAMAGED.format(path.name))
    connection, notices = schema.open_file(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    if notices:
        raise InvalidInput(_DAMAGED.format(notices[0].detail))


def _check_work(path: Path) -> None:
    _look_into(path, (workfile.SCHEMA,))
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")  # as files in work are
    WorkFile.open(path)


def _look_into(path: Path, migrations: tuple[str, ...]) -> int:
    """The schema's version. Raises InvalidInput where the database is not what it should be."""
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON"):
                database.execute(f"PRAGMA {pragma}")
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            if version > len(migrations):
                raise InvalidInput(_NEWER)
            if _objects(database) != _wanted(migrations[:version]):
                raise InvalidInput(_DAMAGED.format(f"{path.name} has other tables"))
            (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise InvalidInput(_DAMAGED.format(path.name))
            if database.execute("PRAGMA foreign_key_check").fetchone():
                raise InvalidInput(_DAMAGED.format(path.name))
            return version
    except sqlite3.Error as error:
        raise InvalidInput(_DAMAGED.format(f"{path.name}: {error}")) from error


def _objects(database: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = database.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return {(kind, name, " ".join(sql.split())) for kind, name, sql in rows}


def _wanted(migrations: tuple[str, ...]) -> set[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as model:
        for each in migrations:
            model.executescript(each)
        return _objects(model)
