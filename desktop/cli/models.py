"""``tritalk models import | list | use | unuse | remove``: chat and address models of one's own."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from typing import Any

from desktop.models import KINDS, Installed, ModelError, Progress
from desktop.triton.types import InvalidInput


def add_parser(subparsers: Any) -> None:
    """Add ``models`` with its commands; each sets ``func``, which returns the exit code."""
    parser = subparsers.add_parser("models", help="import, list, use and remove models")
    commands = parser.add_subparsers(dest="models_command", required=True, metavar="COMMAND")

    command = commands.add_parser(
        "import",
        help="bring in a model from a folder or, for chats, from the Hugging Face hub",
        description="Check a model, convert its weights to safetensors and copy it into the data "
        "folder. Nothing of the source is changed, none of its code is run.",
    )
    command.add_argument("--kind", choices=KINDS, required=True)
    command.add_argument("--name", default="", help="what it is called here (default: its own)")
    command.add_argument("source", metavar="DIR_OR_HUB_ID")
    command.set_defaults(func=import_model)
    for kind in KINDS:
        _module(kind, "add_import_options", lambda *_: None)(command)

    command = commands.add_parser("list", help="the models on this machine")
    command.add_argument("--kind", choices=KINDS, default="")
    command.add_argument("--json", action="store_true", help="one JSON object a model")
    command.set_defaults(func=show)

    for name, words in (
        ("use", "serve a model from now on; a running server need not be restarted"),
        ("unuse", "serve it no more; it stays on this machine"),
        ("remove", "delete an imported model"),
    ):
        command = commands.add_parser(name, help=words)
        command.add_argument("name", metavar="NAME")
        command.add_argument("--kind", choices=KINDS, default="", help="where a name is in two")
        command.set_defaults(func=change, action=name)


def import_model(arguments: argparse.Namespace) -> int:
    show_progress = ProgressLine()
    try:
        found = _module(arguments.kind, "import_model")(
            arguments.source, arguments.name, show_progress, vars(arguments)
        )
    finally:
        show_progress.end()
    print(found)
    return 0


def show(arguments: argparse.Namespace) -> int:
    for model in _installed(arguments.kind):
        if arguments.json:
            data = {**vars(model), "folder": str(model.folder)}
            print(json.dumps(data, ensure_ascii=False))
        else:
            mark = "*" if model.in_use else " "
            print(f"{mark} {model.kind:8} {model.name:28} {model.about}")
    return 0


def change(arguments: argparse.Namespace) -> int:
    found = [m for m in _installed(arguments.kind) if m.name == arguments.name]
    if not found:
        raise InvalidInput(f"there is no model {arguments.name!r} here; see: tritalk models list")
    if len(found) > 1:
        raise InvalidInput(f"{arguments.name} is an address and a chat model; say which by --kind")
    if found[0].shipped and arguments.action == "remove":
        raise InvalidInput(f"{arguments.name} came with the application and stays")
    print(_module(found[0].kind, arguments.action)(arguments.name))
    return 0


class ProgressLine:
    """On standard error: redrawn in place on a terminal, else a line a change of message."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._said = ""
        self._shown = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.message == self._said and (not self._live or now - self._shown < 0.1):
            return
        self._said, self._shown = progress.message, now
        words = progress.message
        if progress.total and self._live:
            words += f"  {progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} MB"
        sys.stderr.write(f"\r\x1b[2K{words}" if self._live else f"{words}\n")
        sys.stderr.flush()

    def end(self) -> None:
        if self._live and self._said:
            sys.stderr.write("\n")


def _installed(kind: str) -> list[Installed]:
    return [m for each in ([kind] if kind else KINDS) for m in _module(each, "installed", list)()]


def _module(kind: str, function: str, default: Any = None) -> Any:
    """A function of ``desktop.models.KIND``; ``default`` where it offers none."""
    try:
        module = importlib.import_module(f"desktop.models.{kind}")
    except ModuleNotFoundError as error:
        if error.name != f"desktop.models.{kind}":
            raise
        module = None
    found = getattr(module, function, default)
    if found is None:
        raise ModelError(f"{kind} models cannot do that")
    return found
