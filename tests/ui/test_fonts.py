"""What is written shows as characters, not as squares."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QApplication

from desktop.ui import theme

SAMPLES = ("最近工作压力有点大，晚上总是睡不着。", "杭州市余杭区文一西路969号3幢", "‹ 2/3 › · … “”")


@pytest.mark.parametrize("size", ["small", "body", "title"])
@pytest.mark.parametrize("text", SAMPLES)
def test_every_character_has_a_glyph(qapp: QApplication, size: str, text: str) -> None:
    layout = QTextLayout(text, theme.font(size))
    layout.beginLayout()
    layout.createLine().setLineWidth(10_000)
    layout.endLayout()
    glyphs = [glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes()]
    assert len(glyphs) == len(text)
    assert 0 not in glyphs  # the font's square
