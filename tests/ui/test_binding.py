"""The Qt binding itself, where a release of it was found to be unusable."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject


def test_methods_without_a_result_keep_none_alive() -> None:
    """PySide6 6.12.0 gives None away on Python 3.11: after some thousand calls the process dies."""
    thing = QObject()
    thing.setObjectName("x")
    before = sys.getrefcount(None)
    for _ in range(1000):
        thing.setObjectName("x")
    assert sys.getrefcount(None) > before - 100
