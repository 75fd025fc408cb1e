"""Chat models of the person's own: imported from a folder or the hub, served beside the first.

Each lies in a folder of its own below the data folder: weights as safetensors, ``prompt.toml``, the
licence and model card it came with, and ``import.json``, which tells where it came from. Which of
them are served is in ``served.json`` beside them.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.models import Installed, ModelError, Progress, Report, serving, worker
from desktop.models.worker import Cancel
from desktop.triton.models import DEFAULT
from desktop.triton.types import InvalidInput
from server_bundle.repository import CHAT_NAME, ChatModels, is_own_name

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_ABOUT = "import.json"
_SERVED = "served.json"
_STAGING = ".importing-"


def folder() -> Path:
    """Where imported chat models lie."""
    return paths.data_dir() / "models" / "chat"


def import_model(
    source: str,
    name: str,
    report: Report,
    options: Mapping[str, Any] | None = None,
    cancel: Cancel | None = None,
) -> str:
    """Import, serve, and say so in one sentence; see :func:`bring_in`."""
    model = bring_in(source, name, report, cancel or Cancel())
    said = use(model.name)
    return f"{model.name} is imported ({model.about}). {said}"


def bring_in(source: str, name: str, report: Report, cancel: Cancel) -> Installed:
    """Import a folder or a hub id, such as ``Qwen/Qwen2.5-0.5B-Instruct``. Blocks for as long as a
    download and a check take; leaves nothing behind but a begun download where it fails.

    Raises:
        ModelError: in one sentence; :class:`desktop.models.worker.Cancelled`.
    """
    given = Path(source).expanduser()
    looks_like_path = given.is_absolute() or source.startswith((".", "~"))
    if not given.is_dir() and (looks_like_path or not _HUB_ID.fullmatch(source)):
        raise InvalidInput(
            f"there is no folder {source}, and it is no name on the hub, such as "
            "Qwen/Qwen2.5-0.5B-Instruct"
        )
    name = check_name(name or suggested_name(source))
    with _staging() as stage:
        downloads = None
        if not given.is_dir():
            downloads = paths.cache_dir() / "downloads" / source.replace("/", "--")
            downloads.mkdir(parents=True, exist_ok=True)
            got = worker.run("desktop.models.hub", [source, str(downloads)], report, cancel)
            given = Path(got["folder"])
        result = worker.run(
            "server_bundle.chitchat.importing",
            [str(given.absolute()), str(stage)],
            report,
            cancel,
            HF_HUB_OFFLINE="1",
            TRANSFORMERS_VERBOSITY="error",
            HF_HUB_DISABLE_PROGRESS_BARS="1",
        )
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        about = {"source": source, "imported": when, **result}
        text = json.dumps(about, ensure_ascii=False, indent=2) + "\n"
        (stage / _ABOUT).write_text(text, encoding="utf-8")
        report(Progress("putting it in place"))
        cancel.check()
        _settle(stage, folder() / name)
        if downloads is not None:
            shutil.rmtree(downloads, ignore_errors=True)
    return next(model for model in installed() if model.name == name)


def suggested_name(source: str) -> str:
    """A model's name here, made of a folder's or a hub id's."""
    last = Path(source).expanduser().name if "/" in source or source else source
    name = re.sub(r"[^a-z0-9._-]+", "-", last.lower()).strip("-._")
    return name[:64].rstrip("-._") or "model"


def check_name(name: str) -> str:
    """``name`` where a new model may be called that. Raises :class:`InvalidInput`."""
    if not CHAT_NAME.fullmatch(name):
        raise InvalidInput(
            f"a model's name is made of 1 to 64 small letters, digits, dots and hyphens, "
            f"not {name!r}"
        )
    if is_own_name(name):
        raise InvalidInput(f"{name!r} is taken by the server itself; give it another name")
    if (folder() / name).exists():
        raise InvalidInput(
            f"there is a model {name} already; remove it first, or give this one another name"
        )
    return name


def installed() -> list[Installed]:
    """The shipped chat model and the imported ones, by name."""
    shipped = paths.resources_dir() / "models" / "chitchat-tiny"
    found = [Installed("chat", DEFAULT, shipped, "the shipped model", True, shipped=True)]
    wanted = served()
    for name, where in _folders().items():
        found.append(Installed("chat", name, where, _about(where), name in wanted))
    return found


def served() -> list[str]:
    """The imported models that are served."""
    try:
        names = json.loads((folder() / _SERVED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(names, list):
        return []
    return [name for name in _folders() if name in names]


def for_server() -> ChatModels:
    """What a server is to offer beside the shipped model."""
    return ChatModels(_folders(), frozenset(served()))


def use(name: str) -> str:
    """Serve a model from now on. Raises :class:`ModelError` where a running server cannot load it;
    it is not served then."""
    if name == DEFAULT:
        return serving.load(name)
    _mark(name, True)
    try:
        return serving.load(name)
    except ModelError:
        _mark(name, False)
        raise


def unuse(name: str) -> str:
    """Serve it no more, and free its memory."""
    if name != DEFAULT:
        _mark(name, False)
    return serving.unload(name)


def remove(name: str) -> str:
    """Delete an imported model. Raises :class:`ModelError`."""
    where = _folders().get(name)
    if where is None:
        raise InvalidInput(f"there is no imported chat model {name}")
    _mark(name, False)
    serving.unload(name)
    gone = where.with_name(f"{_STAGING}{os.getpid()}-{secrets.token_hex(4)}")
    where.rename(gone)  # whole or not at all, as it came
    shutil.rmtree(gone, ignore_errors=True)
    serving.refresh()
    return f"{name} is removed"


def _folders() -> dict[str, Path]:
    try:
        entries = sorted(folder().iterdir())
    except FileNotFoundError:
        return {}
    return {
        path.name: path
        for path in entries
        if path.is_dir() and CHAT_NAME.fullmatch(path.name) and (path / "config.json").exists()
    }


def _about(where: Path) -> str:
    """Size, kind, licence and origin, in a few words."""
    try:
        data = json.loads((where / _ABOUT).read_text(encoding="utf-8"))
        size = int(data["parameters"])
        words = [f"{size / 1e9:.1f}B" if size >= 1e9 else f"{size / 1e6:.1f}M"]
        words += [str(data["architecture"]), str(data.get("licence") or ""), str(data["source"])]
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return str(where)
    return ", ".join(word for word in words if word)


def _mark(name: str, wanted: bool) -> None:
    if name not in _folders():
        raise InvalidInput(f"there is no imported chat model {name}")
    names = [each for each in served() if each != name] + ([name] if wanted else [])
    part = folder() / f".{_SERVED}-{secrets.token_hex(4)}"
    part.write_text(json.dumps(sorted(names)) + "\n", encoding="utf-8")
    part.replace(folder() / _SERVED)


@contextlib.contextmanager
def _staging() -> Any:
    """A folder beside the models that is gone afterwards, whatever happens; what killed imports
    have left goes too."""
    try:
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in folder().glob(f"{_STAGING}*"):
            with contextlib.suppress(ValueError):
                owner = int(left.name.removeprefix(_STAGING).partition("-")[0])
                if owner != os.getpid() and not Path(f"/proc/{owner}").exists():
                    shutil.rmtree(left, ignore_errors=True)
        stage = folder() / f"{_STAGING}{os.getpid()}-{secrets.token_hex(4)}"
        stage.mkdir(mode=0o700)
    except OSError as error:
        raise ModelError(f"{folder()} cannot be written: {error.strerror}") from error
    try:
        yield stage
    except OSError as error:
        raise ModelError(f"the model cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _settle(stage: Path, target: Path) -> None:
    """Move the finished folder into place, durably: whole or not at all."""
    for path in stage.iterdir():
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    if target.exists():
        raise InvalidInput(f"there is a model {target.name} already")
    stage.rename(target)
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
