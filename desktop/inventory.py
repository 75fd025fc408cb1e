"""What Tritalk keeps on this machine: where, how much, and how to be rid of it.

Only what Tritalk made is counted and removed, by its names; anything else in the folders stays, and
so does a folder that something else is in.
"""

from __future__ import annotations

import contextlib
import enum
import os
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from desktop import paths


class Kind(enum.StrEnum):
    """In the order in which they are removed: what says most about a person goes first."""

    CONVERSATIONS = "conversations"
    ADDRESSES = "addresses"
    BACKUPS = "backups"
    SETTINGS = "settings"
    LOGS = "logs"
    CACHE = "cache"
    MODELS = "models"


@dataclass(frozen=True)
class Entry:
    """``size`` in bytes, as the files say."""

    kind: Kind
    size: int


@dataclass
class Removal:
    """``failed``: what is still there although it should not be, with the system's reason.
    ``stayed``: folders that hold something that is not Tritalk's."""

    failed: list[tuple[Path, str]] = field(default_factory=list)
    stayed: list[Path] = field(default_factory=list)


def entries() -> list[Entry]:
    """Every kind that there is, with its size. Blocks; not for a GUI thread."""
    found = []
    for kind in Kind:
        paths_of = list(_paths(kind))
        if kind is Kind.CACHE:
            paths_of += served()  # goes with its server
        if paths_of:
            found.append(Entry(kind, sum(map(_size, paths_of))))
    return found


def remove(kinds: Collection[Kind]) -> Removal:
    """Remove these kinds. Nothing of Tritalk may run: the store is closed, the server stopped.

    Goes on where something cannot be removed, and says so. Blocks.
    """
    result = Removal()
    for kind in Kind:
        if kind in kinds:
            for path in list(_paths(kind)):
                _remove(path, result)
    for folder in _folders():
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            result.stayed.append(folder)
    return result


def _folders() -> list[Path]:
    """Inner ones first: some systems keep logs within the cache."""
    return [paths.log_dir(), paths.cache_dir(), paths.config_dir(), paths.data_dir()]


def _paths(kind: Kind) -> Iterator[Path]:
    data, config, cache = paths.data_dir(), paths.config_dir(), paths.cache_dir()
    match kind:
        case Kind.CONVERSATIONS:
            # Also those that were set aside as damaged or newer, and what a crash left unpacked.
            yield from data.glob("conversations*.db*")
            yield from data.glob(".restore-*")
        case Kind.ADDRESSES:
            yield from data.glob("addresses")
            yield from cache.glob("pasted_addresses.txt")
        case Kind.BACKUPS:
            yield from data.glob("backups")
        case Kind.SETTINGS:
            yield from config.glob("settings.json*")
            yield from config.glob("window.ini*")
        case Kind.LOGS:
            for name in ("server.log*", "supervisor.log*"):
                yield from paths.log_dir().glob(name)
        case Kind.CACHE:
            # What a server started elsewhere still serves is not touched.
            yield from _launches()[1]
        case Kind.MODELS:
            yield from data.glob("models")
            yield from cache.glob("downloads")


def served() -> list[Path]:
    """Repositories of launches whose server still runs."""
    running, _ = _launches()
    return running


def _launches() -> tuple[list[Path], list[Path]]:
    """Running and ended ones; none where it cannot be known which is which."""
    running: list[Path] = []
    ended: list[Path] = []
    with contextlib.suppress(paths.UnsafeFolder, FileNotFoundError):
        folder, run = paths.launches_dir(), paths.runtime_dir()
        for each in folder.iterdir():
            (running if (run / each.name).exists() else ended).append(each)
        if not running:
            ended = [folder]
    return running, ended


def _size(path: Path) -> int:
    """Of a file, or of everything below a folder; what cannot be read counts nothing."""
    total = 0
    with contextlib.suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            return path.lstat().st_size
        for folder, _, names in os.walk(path):
            for name in names:
                with contextlib.suppress(OSError):
                    total += (Path(folder) / name).lstat().st_size
    return total


def _remove(path: Path, result: Removal) -> None:
    """A link is removed, never what it leads to."""

    def failed(function: object, name: str, error: BaseException) -> None:
        if not isinstance(error, FileNotFoundError):
            reason = getattr(error, "strerror", None) or str(error)
            result.failed.append((Path(name), str(reason)))

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=lambda f, name, info: failed(f, name, info[1]))
        return
    try:
        path.unlink()
    except OSError as error:
        failed(path.unlink, str(path), error)
