"""Cells as text and back, so that a row leaves as it came."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

from desktop.addresses.tables import Cell


def dump_cells(row: Sequence[Cell]) -> str:
    """JSON, ASCII only: lone surrogates, which stand for broken bytes, survive escaped."""
    return json.dumps(list(row), separators=(",", ":"), default=_dump_time)


def _dump_time(value: Any) -> dict[str, Any]:
    for kind in ("datetime", "date", "time"):
        if type(value) is getattr(datetime, kind):
            return {"kind": kind, "value": value.isoformat()}
    if isinstance(value, datetime.timedelta):
        return {"kind": "timedelta", "value": value.total_seconds()}
    return {"kind": "str", "value": str(value)}


def load_cells(text: str) -> list[Cell]:
    return [_load_cell(cell) if isinstance(cell, dict) else cell for cell in json.loads(text)]


def _load_cell(cell: dict[str, Any]) -> Cell:
    kind, value = cell["kind"], cell["value"]
    if kind == "str":
        return value
    if kind == "timedelta":
        return datetime.timedelta(seconds=value)
    restored: Cell = getattr(datetime, kind).fromisoformat(value)
    return restored
