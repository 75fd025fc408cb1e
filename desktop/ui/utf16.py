"""Positions in Qt's texts: QTextLayout counts UTF-16 units, Python counts code points."""

from __future__ import annotations


def units(text: str) -> int:
    """The length of ``text`` in UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)


def cut(text: str, start: int, end: int) -> str:
    """``text`` between two positions in UTF-16 units; half a surrogate pair is left out."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "ignore")
