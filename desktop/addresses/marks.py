"""What is made of a result in a list: how sure it is, and the few values that are shown."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from desktop.addresses.answering import Result

#: Below it a division or an entity is to be checked by a person.
LOW = 0.6


class Mark(enum.IntEnum):
    """How a row stands, surest first."""

    SURE = 0
    CORRECTED = 1
    CHECK = 2
    FAILED = 3
    BLANK = 4


@dataclass(frozen=True)
class Summary:
    """See :class:`desktop.addresses.workfile.Line`."""

    mark: Mark
    division: str = ""
    code: str = ""
    confidence: float | None = None
    score: float | None = None
    candidates: int = 0
    error: str = ""

    def as_row(self) -> tuple[Any, ...]:
        return (
            int(self.mark),
            self.division,
            self.code,
            self.confidence,
            self.score,
            self.candidates,
            self.error,
        )


def levels(division: dict[str, Any]) -> str:
    """The known names, outermost first, with spaces between."""
    names = (division[k] for k in ("province", "city", "district", "town"))
    return " ".join(name for name in names if name)


def summary(result: Result) -> Summary:
    """A row without a division, or with a division or an entity below ``LOW``, is to be checked;
    one with ``corrected`` was."""
    if "division" not in result:
        if "error" in result:
            return Summary(Mark.FAILED, error=result["error"])
        return Summary(Mark.BLANK)
    division = result["division"]
    names = levels(division)
    confidence: float | None = division["confidence"] if names else None
    scores = [e["score"] for e in result["entities"] if e["score"] is not None]
    score = min(scores, default=None)
    if result.get("corrected"):
        mark = Mark.CORRECTED
    elif confidence is None or min(confidence, 1.0 if score is None else score) < LOW:
        mark = Mark.CHECK
    else:
        mark = Mark.SURE
    return Summary(mark, names, division["code"], confidence, score, len(result["candidates"]))
