"""Line icons from ``resources/icons``, drawn in a colour of the theme, sharp on any screen."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop.ui.theme import RESOURCES

# Enough for a 20-pixel icon on a screen of triple density.
_SCALES = (1, 2, 3)


def icon(name: str, color: QColor, size: int = 20) -> QIcon:
    """The icon ``name`` with its black strokes drawn in ``color``."""
    svg = (RESOURCES / "icons" / f"{name}.svg").read_text("utf-8").replace("#000", color.name())
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    result = QIcon()
    for scale in _SCALES:
        pixmap = QPixmap(QSize(size, size) * scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(pixmap.rect()))
        painter.end()
        pixmap.setDevicePixelRatio(scale)
        result.addPixmap(pixmap)
    return result


def app_icon() -> QIcon:
    return icon("app", QColor("#000000"), 64)
