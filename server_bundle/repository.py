"""Renders the model repository that a server serves: instance groups, paths and weights filled in.

The source folders say nothing about devices or about where things lie on this machine: ``KIND_GPU``
refuses to load without a GPU, and the weights may be the user's own.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from server_bundle.address import served
from server_bundle.chitchat.prompt_file import served_limits

SOURCE = Path(__file__).resolve().parent / "model_repository"

#: What a chat model may be called.
CHAT_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?")
# A model that calls another through BLS names it in a parameter of its config.
_PARAMETER_VALUE = re.compile(r'string_value:\s*"([^"]+)"')
_KINDS = {"cpu": "KIND_CPU", "gpu": "KIND_GPU"}
_ADDRESS_NETWORK = served.NETWORK
_CHAT = "ibuddha_chitchat"
_CHAT_PAIR = ("", "_stream")


@dataclass(frozen=True)
class Rendered:
    """``levels``: names of the models to load, each level after the one before it. ``problems``:
    models that cannot be served, with the reason in one sentence. ``optional``: models that may be
    loaded, and are no loss while they are not."""

    levels: list[list[str]] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)


def is_own_name(name: str) -> bool:
    """Whether a name is one of the server's own models, or would be of another's pair."""
    return name in {path.name for path in SOURCE.iterdir()} or name.endswith(("_stream", "_bls"))


@dataclass(frozen=True)
class ChatModels:
    """Chat models beside the first: each is an engine NAME and a NAME_stream.

    ``folders``: their weights by name; ``load``: which of them are loaded when the server starts.
    """

    folders: Mapping[str, Path] = field(default_factory=dict)
    load: frozenset[str] = frozenset()

    def triton_names(self) -> set[str]:
        return {f"{name}{suffix}" for name in self.folders for suffix in _CHAT_PAIR}


def render(
    target: Path,
    *,
    chat_model: Path,
    address_model: Path,
    run_dir: Path,
    address_version: int = 1,
    device: str = "cpu",
    gpus: int = 0,
    instances: Mapping[str, int] | None = None,
    precision: str = "auto",
    seen_as: Mapping[Path, str] | None = None,
    chat_models: ChatModels | None = None,
    again: bool = False,
    source: Path = SOURCE,
) -> Rendered:
    """Write a repository for Triton into ``target`` (made if missing).

    ``chat_model`` and ``address_model`` are folders of weights, ``run_dir`` a private folder that
    lives as long as the server; in each ``config.pbtxt`` they replace ``@CHAT_MODEL@``,
    ``@ADDRESS_MODEL@`` and ``@RUN_DIR@``, and what the chat model allows replaces
    ``@CONTEXT_TOKENS@`` and the like. The address weights are served as ``address_version``.
    ``device`` is ``cpu`` or ``gpu``; on GPUs the models
    that only call others stay on the CPU. ``gpus``: how many of the server's GPUs to use, 0 for
    all. ``instances``: instances a model (on each device), 1 where it is not named.
    ``precision``: what the chat engine computes in, see :mod:`server_bundle.chitchat.precision`.
    ``seen_as``: where the server, in a container, sees a folder. ``chat_models``: further ones.
    ``again``: bring these up to date and leave all others as they are, since they are being served.
    A model that cannot be served is reported in ``problems`` and does not stop the others. Raises
    ValueError for another device or a number of instances below 1, OSError where ``target`` cannot
    be written.
    """
    if device not in _KINDS:
        raise ValueError(f"device must be cpu or gpu, not {device!r}")
    for name, count in (instances or {}).items():
        if count < 1:
            raise ValueError(f"{name} cannot have {count} instances; at least 1")
    target.mkdir(parents=True, exist_ok=True)
    seen = seen_as or {}
    values = {"@PRECISION@": precision, "@NETWORK_VERSION@": str(address_version)} | {
        placeholder: seen.get(path, str(path.absolute()))
        for placeholder, path in (
            ("@CHAT_MODEL@", chat_model),
            ("@ADDRESS_MODEL@", address_model),
            ("@RUN_DIR@", run_dir),
        )
    }
    values |= {f"@{name.upper()}@": value for name, value in served_limits(chat_model).items()}
    names, problems = [], {}
    folders = sorted(p for p in source.iterdir() if p.is_dir()) if source.is_dir() else []
    for folder in folders:
        if folder.name.startswith((".", "__")):
            continue
        if again and (target / folder.name / "config.pbtxt").exists():
            names.append(folder.name)
            continue
        problem = _render_model(folder, target / folder.name, values)
        if folder.name == _ADDRESS_NETWORK and not problem:
            problem = _place_weights(address_model, target / folder.name, address_version)
        if problem:
            problems[folder.name] = problem
            shutil.rmtree(target / folder.name, ignore_errors=True)
        else:
            names.append(folder.name)
    chats = chat_models or ChatModels()
    if source.is_dir():
        _remove_others(target, {folder.name for folder in folders} | chats.triton_names())
    for name, weights in chats.folders.items():
        for suffix in _CHAT_PAIR:
            if (folder := source / f"{_CHAT}{suffix}").is_dir():
                own = values | {"@CHAT_MODEL@": seen.get(weights, str(weights.absolute()))}
                own |= {f"@{key.upper()}@": text for key, text in served_limits(weights).items()}
                own |= {f'"{_CHAT}{each}"': f'"{name}{each}"' for each in _CHAT_PAIR}
                place = target / f"{name}{suffix}"
                if not again or not place.exists() or _differs(folder, place, own):
                    _render_model(folder, place, own)
                names.append(place.name)
    calls = _calls(target, names)
    for name in names:
        kind = "KIND_CPU" if calls[name] else _KINDS[device]
        # A request that takes another back must reach the process that answers that one.
        count = 1 if name.endswith("_stream") else (instances or {}).get(name, 1)
        _place_instances(target / name, kind, count, gpus)
    optional = chats.triton_names() & set(names)
    spare = {name for name in optional if name.removesuffix("_stream") not in chats.load}
    # The server's own models come first: a large one that somebody added must not hold them up.
    ranks = [calls.keys() - optional, optional - spare]
    levels = [
        [name for name in level if name in rank] for rank in ranks for level in _levels(calls)
    ]
    return Rendered([level for level in levels if level], problems, optional)


def _remove_others(target: Path, known: set[str]) -> None:
    """Models that were rendered before and are not there any more."""
    for folder in target.iterdir():
        if folder.is_dir() and folder.name not in known:
            shutil.rmtree(folder, ignore_errors=True)


def _render_model(folder: Path, target: Path, values: dict[str, str]) -> str:
    config_file = folder / "config.pbtxt"
    if not config_file.exists():
        return "its config.pbtxt is missing"
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(folder, target, ignore=ignored, dirs_exist_ok=True)
    # Git keeps no empty folder, and Triton refuses a model without a version.
    (target / "1").mkdir(exist_ok=True)
    (target / "config.pbtxt").write_text(_config(folder, values), encoding="utf-8")
    if folder.name != _ADDRESS_NETWORK and not any((target / "1").iterdir()):
        return "its version folder 1 is empty"
    return ""


def _config(folder: Path, values: dict[str, str]) -> str:
    config = (folder / "config.pbtxt").read_text(encoding="utf-8")
    for placeholder, value in values.items():
        quoted = placeholder.startswith('"')  # a whole text, with its own marks
        config = config.replace(placeholder, value if quoted else _escape(value))
    return config


def _differs(folder: Path, target: Path, values: dict[str, str]) -> bool:
    """Whether a model was rendered with other values; one that is being served is best let be."""
    config = _config(folder, values)
    return not (target / "config.pbtxt").read_text(encoding="utf-8").startswith(config.rstrip())


def _place_instances(model: Path, kind: str, count: int, gpus: int) -> None:
    """Say where a model runs, unless its own configuration does."""
    file = model / "config.pbtxt"
    config = file.read_text(encoding="utf-8")
    if "instance_group" in config:
        return
    numbers = f" gpus: [ {', '.join(map(str, range(gpus)))} ]" if gpus and "GPU" in kind else ""
    group = f"instance_group [{{ kind: {kind} count: {count}{numbers} }}]"
    file.write_text(f"{config.rstrip()}\n{group}\n", encoding="utf-8")


def _escape(text: str) -> str:
    """As the inside of a double-quoted string of the protobuf text format."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _place_weights(address_model: Path, target: Path, version: int) -> str:
    shutil.rmtree(target / "1")
    try:
        served.place(target, address_model, version)
    except (FileNotFoundError, ValueError) as error:
        return str(error)
    return ""


def _calls(target: Path, names: list[str]) -> dict[str, set[str]]:
    """Which of the models each one calls."""
    calls = {}
    for name in names:
        config = (target / name / "config.pbtxt").read_text(encoding="utf-8")
        calls[name] = set(_PARAMETER_VALUE.findall(config)) & set(names) - {name}
    return calls


def _levels(calls: dict[str, set[str]]) -> list[list[str]]:
    """The models that are called first, then those that call them."""
    levels: list[list[str]] = []
    while waiting := [name for name in calls if not any(name in level for level in levels)]:
        free = [name for name in waiting if not calls[name] & set(waiting)]
        levels.append(free or waiting)  # a ring of callers: in whatever order
    return levels
