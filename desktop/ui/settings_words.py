"""Words that the settings and what they open share."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from desktop.inventory import Kind


def kind_words(kind: Kind) -> str:
    return {
        Kind.CONVERSATIONS: QCoreApplication.translate("inventory", "conversations"),
        Kind.ADDRESSES: QCoreApplication.translate("inventory", "address files in work"),
        Kind.BACKUPS: QCoreApplication.translate("inventory", "backups made before restoring"),
        Kind.SETTINGS: QCoreApplication.translate("inventory", "settings"),
        Kind.LOGS: QCoreApplication.translate("inventory", "logs"),
        Kind.CACHE: QCoreApplication.translate("inventory", "what the server works on"),
        Kind.MODELS: QCoreApplication.translate("inventory", "models added by you"),
    }[kind]


def size_words(size: int) -> str:
    """Bytes as people read them: 0 B, 1.5 MiB."""
    value, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
