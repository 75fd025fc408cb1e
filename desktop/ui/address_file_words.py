"""What is said about a file of addresses and its progress."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from desktop.addresses.workfile import Counts


def rows_words(done: int, total: int) -> str:
    return QCoreApplication.translate("files", "{0} of {1} rows").format(f"{done:,}", f"{total:,}")


def rate_words(rate: float, seconds_left: float | None) -> str:
    """Rows a second and the time left; empty while nothing is known."""
    if rate <= 0 or seconds_left is None:
        return ""
    shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
    return QCoreApplication.translate("files", "{0} rows/s · {1} left").format(
        shown, time_words(seconds_left)
    )


def time_words(seconds: float) -> str:
    """Rounded as a person would say it."""
    translate = QCoreApplication.translate
    whole = max(1, round(seconds))
    if whole < 60:
        return translate("files", "{0} s").format(whole)
    minutes = round(whole / 60)
    if minutes < 60:
        return translate("files", "{0} min").format(minutes)
    return translate("files", "{0} h {1} min").format(minutes // 60, minutes % 60)


def size_words(size: int) -> str:
    """Bytes in decimal units."""
    if size < 1000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{size / 1000:.0f} kB"
    return f"{size / 1_000_000:.1f} MB"


def encoding_words(encoding: str) -> str:
    names = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "gb18030": "GBK / GB18030"}
    return names.get(encoding, encoding.upper())


def outcome_words(counts: Counts) -> str:
    """How a finished file came out."""
    translate = QCoreApplication.translate
    parts = [translate("files", "{0} rows").format(f"{counts.total:,}")]
    if counts.check:
        parts.append(translate("files", "{0} to check").format(f"{counts.check:,}"))
    if counts.failed:
        parts.append(translate("files", "{0} failed").format(f"{counts.failed:,}"))
    if counts.corrected:
        parts.append(translate("files", "{0} corrected").format(f"{counts.corrected:,}"))
    if not counts.check and not counts.failed:
        parts.append(translate("files", "nothing to check"))
    return " · ".join(parts)
