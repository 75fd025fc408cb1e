"""Sentences about backups and the update check, for :mod:`desktop.ui.phrases`."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP

SOURCES = (
    QT_TRANSLATE_NOOP("phrases", "the file is no backup made by Tritalk"),
    QT_TRANSLATE_NOOP("phrases", "the backup was made by a newer Tritalk"),
    QT_TRANSLATE_NOOP("phrases", "the backup is damaged ({0})"),
    QT_TRANSLATE_NOOP("phrases", "a file is missing or twice there"),
    QT_TRANSLATE_NOOP("phrases", "{0} has another size"),
    QT_TRANSLATE_NOOP("phrases", "{0} has another checksum"),
    QT_TRANSLATE_NOOP("phrases", "{0} has other tables"),
    QT_TRANSLATE_NOOP("phrases", "the backup holds a file that does not belong there: {0}"),
    QT_TRANSLATE_NOOP("phrases", "restoring takes {0} MiB; {1} MiB are free"),
    QT_TRANSLATE_NOOP("phrases", "the address begins with https:// or http:// and names a server"),
    QT_TRANSLATE_NOOP("phrases", "the address holds no name and no password"),
    QT_TRANSLATE_NOOP("phrases", "{0} answered with status {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} does not answer"),
    QT_TRANSLATE_NOOP("phrases", "{0} answered something that is no list of releases"),
)
