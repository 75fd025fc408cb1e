"""Where imported models lie: ``models/KIND/NAME`` in the data folder, each with a manifest.

``models/KIND/in-use`` names the chosen one; without it the model that ships is served.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from desktop import paths
from desktop.triton.types import InvalidInput

BUILT_IN = "address-tiny"
_MANIFEST = "manifest.json"
_IN_USE = "in-use"
_NAME = re.compile(r"\w[\w.-]{0,63}")


@dataclass(frozen=True)
class Model:
    """``version``: its number in the served repository; ``facts``: what a list shows of it, such as
    ``areas``; ``imported``: ISO date; ``folder``: where it lies."""

    kind: str
    name: str
    version: int
    folder: Path
    imported: str = ""
    facts: dict[str, str | int | float] | None = None


def kind_dir(kind: str) -> Path:
    return paths.data_dir() / "models" / kind


def check_name(name: str) -> str:
    """The name itself. Raises InvalidInput where it cannot name a folder of ours."""
    if name == BUILT_IN or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot name a model; use letters, digits, dots, hyphens and underscores, 64 "
            f"at most and not {BUILT_IN!r}"
        )
    return name


def imported(kind: str) -> list[Model]:
    """By version. A folder without a readable manifest is none of ours and is left out."""
    found = []
    root = kind_dir(kind)
    for folder in root.iterdir() if root.is_dir() else ():
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        with contextlib.suppress(
            OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError
        ):
            data = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
            if not isinstance(data["facts"], dict):
                continue
            found.append(
                Model(
                    kind,
                    folder.name,
                    int(data["version"]),
                    folder,
                    str(data["imported"]),
                    data["facts"],
                )
            )
    return sorted(found, key=lambda model: model.version)


def find(kind: str, name: str) -> Model:
    """Raises InvalidInput where there is none of that name."""
    for model in imported(kind):
        if model.name == name:
            return model
    names = ", ".join([BUILT_IN, *(model.name for model in imported(kind))])
    raise InvalidInput(f"there is no {kind} model {name!r}; there are: {names}")


def in_use(kind: str) -> str:
    """The name of the chosen model; ``built-in`` where none is chosen or it has gone."""
    try:
        name = (kind_dir(kind) / _IN_USE).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return BUILT_IN
    return name if any(model.name == name for model in imported(kind)) else BUILT_IN


def set_in_use(kind: str, name: str) -> None:
    file = kind_dir(kind) / _IN_USE
    if name == BUILT_IN:
        file.unlink(missing_ok=True)
        return
    part = file.with_name(f".{_IN_USE}.part")
    part.write_text(f"{name}\n", encoding="utf-8")
    part.replace(file)


def next_version(kind: str) -> int:
    """1 is the model that ships."""
    return 1 + max([1, *(model.version for model in imported(kind))])


@contextlib.contextmanager
def changing(kind: str) -> Iterator[None]:
    """One process at a time imports, chooses or removes; another waits."""
    import fcntl  # not on Windows, where the rest of this module works

    root = kind_dir(kind)
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def new_folder(kind: str) -> Iterator[Path]:
    """A folder to build a model in; what is left of it afterwards is removed."""
    folder = Path(tempfile.mkdtemp(prefix=".import-", dir=kind_dir(kind)))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def add(model: Model, built: Path) -> None:
    """Move what was built to the model's folder, in place of an older one of that name."""
    data = {k: v for k, v in asdict(model).items() if k in ("version", "imported", "facts")}
    (built / _MANIFEST).write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")
    older = built.with_name(f"{built.name}-older")
    if model.folder.exists():
        model.folder.rename(older)
    built.rename(model.folder)
    shutil.rmtree(older, ignore_errors=True)


def remove(model: Model) -> None:
    """Raises OSError."""
    gone = model.folder.with_name(f".{model.name}.removed")
    shutil.rmtree(gone, ignore_errors=True)
    model.folder.rename(gone)  # at once, so that nobody finds half of it
    shutil.rmtree(gone)
