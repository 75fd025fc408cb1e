"""Models of the person's own: imported, listed, used and removed. A module for each kind.

``chat`` and ``address`` offer the same four functions, which the command line and the window call:
``import_model(source, name, report, options)``, ``installed()``, ``use(name)`` and
``remove(name)``. All block; all raise :class:`ModelError` with one sentence for a person.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from desktop.triton.types import TritalkError

KINDS = ("chat", "address")


class ModelError(TritalkError):
    """A model cannot be imported, used or removed; one sentence that says why."""


@dataclass(frozen=True)
class Progress:
    """How far an import is: what is being done, and of how many bytes (0: not known)."""

    message: str
    done: int = 0
    total: int = 0

    def share(self) -> float | None:
        """From 0 to 1; None while nobody can know."""
        return min(1.0, self.done / self.total) if self.total else None


Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Installed:
    """A model on this machine. ``in_use``: the server serves it (from its next start on).
    ``shipped``: it came with the application and stays. ``about``: sizes and origin in words."""

    kind: str
    name: str
    folder: Path
    about: str
    in_use: bool
    shipped: bool = False
