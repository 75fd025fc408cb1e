"""Where Tritalk keeps its files: data, configuration, cache, logs, and the private runtime folder.

``TRITALK_HOME`` puts everything below one folder (tests, portable use). Otherwise platformdirs
decides. Nothing is created by asking, except the runtime folder, which must be checked to be ours.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path

import platformdirs

_APPLICATION = "tritalk"
# A Unix socket's path holds at most 108 bytes with its NUL; below the runtime folder stand a
# launch's folder (10 characters with the slash) and the socket's own name.
_LONGEST_RUNTIME_DIR = 80
# Triton starts its stubs through a shell without quotes, and they read paths as ASCII.
_PLAIN = re.compile(r"[A-Za-z0-9._/+-]+")


class UnsafeFolder(Exception):
    """The runtime folder belongs to somebody else or others may enter it: one clear sentence."""


def home() -> Path | None:
    """The folder of ``TRITALK_HOME``, absolute, or None where it is not set."""
    value = os.environ.get("TRITALK_HOME")
    return Path(value).expanduser().absolute() if value else None


def data_dir() -> Path:
    """Conversations and models."""
    root = home()
    return root / "data" if root else Path(platformdirs.user_data_dir(_APPLICATION))


def config_dir() -> Path:
    """Settings."""
    root = home()
    return root / "config" if root else Path(platformdirs.user_config_dir(_APPLICATION))


def cache_dir() -> Path:
    """What can be made again, among it the served model repository of a running launch."""
    root = home()
    return root / "cache" if root else Path(platformdirs.user_cache_dir(_APPLICATION))


def log_dir() -> Path:
    """Logs of the server, kept after it has gone."""
    root = home()
    return root / "logs" if root else Path(platformdirs.user_log_dir(_APPLICATION))


def resources_dir() -> Path:
    """What ships with the application: starter weights, translations, icons, sample files."""
    return Path(__file__).resolve().parent.parent / "resources"


def runtime_dir() -> Path:
    """The folder of the sockets, made with mode 0700 where it is missing.

    Raises :class:`UnsafeFolder` where it belongs to another user or others may enter it.
    """
    path = _runtime_path()
    if path.parent.name == f"{_APPLICATION}-{os.getuid()}":
        _private(path.parent)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    _private(path)
    return path


def _runtime_path() -> Path:
    temporary = Path(tempfile.gettempdir()) / f"{_APPLICATION}-{os.getuid()}"
    root = home()
    if root:
        path = root / "run"
        return path if _fits(path) else _elsewhere(root)
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given and Path(given).is_dir() and _fits(Path(given) / _APPLICATION):
        return Path(given) / _APPLICATION
    return temporary if _fits(temporary) else Path("/tmp") / temporary.name


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= _LONGEST_RUNTIME_DIR and is_plain(path)


def is_plain(path: Path) -> bool:
    """Whether a path can be handed to Triton: ASCII, and nothing that a shell would take apart."""
    return bool(_PLAIN.fullmatch(str(path)))


def _elsewhere(root: Path) -> Path:
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
    return Path("/tmp") / f"{_APPLICATION}-{os.getuid()}" / name


def launches_dir() -> Path:
    """Where the served model repositories of running launches are made: in the cache, or in a
    private folder below /tmp where the cache's path is none for Triton."""
    path = cache_dir() / "launches"
    if is_plain(path):
        return path
    fallback = _elsewhere(cache_dir())
    fallback.parent.mkdir(exist_ok=True)
    _private(fallback.parent)
    _private(fallback)
    return fallback / "launches"


def _private(path: Path) -> None:
    """Make ``path`` as a folder only its owner enters; an existing one is checked, not mended: in
    a shared /tmp somebody else may have put it there."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise UnsafeFolder(f"Cannot make the folder {path}: {error.strerror}.") from error
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeFolder(f"{path} should be a folder but is not; remove it.")
    if found.st_uid != os.getuid():
        raise UnsafeFolder(f"{path} belongs to another user; remove it or set XDG_RUNTIME_DIR.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise UnsafeFolder(f"Others may enter {path}; run: chmod 700 {path}")
