"""The sentences that a program may say, read out of its source: what is between its parts is what
a translation must know."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

#: Calls whose first argument, or that of this name, is told to a person.
SAYING = {
    "LaunchError": "",
    "PortTaken": "",
    "SettingsError": "",
    "ServerUnavailable": "",
    "report": "",
    "_report": "",
    "_fail": "",
    "_end": "",
    "publish": "message",
    "_progress": "",
    "Choice": "3",
}


def sentences(path: Path) -> Iterator[str]:
    """Every sentence that ``path`` hands to one of :data:`SAYING`, or returns from a function that
    says so in its name, with ``X1``, ``X2``… for what is put in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if name in SAYING and (said := _argument(node, SAYING[name])) is not None:
                yield from texts(said, constants)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.JoinedStr | ast.Constant):
            yield from (text for text in texts(node.value, constants) if " " in text)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What is assigned once, to a name of the module or of a function, and is written down."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return {
        name: values[0]
        for name, values in found.items()
        if len(values) == 1 and isinstance(values[0], ast.Constant | ast.JoinedStr)
    }


def _argument(call: ast.Call, which: str) -> ast.expr | None:
    if which.isdigit():
        return call.args[int(which)] if len(call.args) > int(which) else None
    if not which:
        return call.args[0] if call.args else None
    return next((k.value for k in call.keywords if k.arg == which), None)


def texts(node: ast.expr, constants: dict[str, ast.expr] | None = None) -> list[str]:
    """What an expression may be, as far as it is written down; nothing where it is not."""
    constants = constants or {}
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        return texts(node.body, constants) + texts(node.orelse, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return texts(constants[node.id], constants)
    if not isinstance(node, ast.JoinedStr):
        return []
    number = itertools.count(1)
    parts: list[list[str]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            known = texts(part.value, constants) if isinstance(part.value, ast.Name) else []
            parts.append(known or [f"X{next(number)}"])
        else:
            parts.append(texts(part, constants))
    return ["".join(each) for each in itertools.product(*parts)]
