"""An address in one line: official division names, then the rest as it is written, nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from server_bundle.address.entities import Span
from server_bundle.address.resolver import LEVEL_OF_TYPE, Division


def one_line(plain: str, spans: Sequence[Span], division: Division) -> str:
    """``plain`` is the normalised text of the ``spans``. Levels that the text determines stand with
    their official names, a municipality once; a level that it names without determining it stands
    as written. Notes, names, phone numbers and repetitions are left out."""
    levels = [division.province, division.city, division.district, division.town]
    if division.city == division.province:
        levels[1] = ""
    deepest = max((i + 1 for i, name in enumerate(levels) if name), default=0)
    for span in spans:
        level = LEVEL_OF_TYPE.get(span.type, 0)
        if level > deepest or (level and not deepest):
            levels[level - 1] = levels[level - 1] or _text(plain, span)
    line = "".join(levels)
    before: Span | None = None
    for span in sorted(spans):
        if span.type in LEVEL_OF_TYPE:
            continue
        text = _text(plain, span)
        if not text:
            continue  # white space alone
        if before is not None:
            line += _joint(_text(plain, before), before, text, span)
        line += text
        before = span
    return line


def _text(plain: str, span: Span) -> str:
    return "".join(plain[span.start : span.end].split())


def _joint(left: str, before: Span, right: str, span: Span) -> str:
    """与 between the roads of a crossing, - between bare numbers (6-2-1101)."""
    if before.type == span.type == "road":
        return "与"
    bare = left[-1].isascii() and right[0].isascii() and left[-1].isalnum() and right[0].isalnum()
    return "-" if bare else ""
