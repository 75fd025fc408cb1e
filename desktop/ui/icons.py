"""Line icons from ``resources/icons``, drawn in a colour of the theme, sharp on any screen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop.ui.theme import RESOURCES

# Enough for a screen of triple density, and for icons beside text of twice the size: a pixmap is
# made smaller where it has to be, never larger.
_SCALES = (1, 2, 3)
_SIZES = (1, 2)


def _renderer(name: str, color: QColor) -> QSvgRenderer:
    svg = (RESOURCES / "icons" / f"{name}.svg").read_text("utf-8").replace("#000", color.name())
    return QSvgRenderer(QByteArray(svg.encode()))


def _drawn(renderer: QSvgRenderer, side: int) -> QPixmap:
    pixmap = QPixmap(QSize(side, side))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(pixmap.rect()))
    painter.end()
    return pixmap


def icon(name: str, color: QColor, size: int = 20) -> QIcon:
    """The icon ``name`` with its black strokes drawn in ``color``."""
    renderer = _renderer(name, color)
    result = QIcon()
    for times in _SIZES:
        for scale in _SCALES:
            pixmap = _drawn(renderer, size * times * scale)
            pixmap.setDevicePixelRatio(scale)
            result.addPixmap(pixmap)
    return result


def sized_icon(name: str, color: QColor, sizes: Sequence[int]) -> QIcon:
    """The icon drawn in each of the sizes, in pixels: for those who pick one themselves."""
    renderer = _renderer(name, color)
    result = QIcon()
    for size in sizes:
        result.addPixmap(_drawn(renderer, size))
    return result


def app_icon() -> QIcon:
    return icon("app", QColor("#000000"), 64)
