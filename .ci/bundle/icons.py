"""Draws the application's icon in every size: ``python icons.py FOLDER``.

Makes the tree of the hicolor theme, ``FOLDER/SIZExSIZE/apps/tritalk.png`` and
``FOLDER/scalable/apps/tritalk.svg``, and ``FOLDER/tritalk.ico`` for Windows, all from app.svg.
"""

from __future__ import annotations

import shutil
import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SOURCE = Path(__file__).resolve().parents[2] / "resources" / "icons" / "app.svg"
SIZES = (16, 22, 24, 32, 48, 64, 96, 128, 256, 512)
ICO_SIZES = (16, 24, 32, 48, 64, 256)


def draw(size: int) -> QImage:
    """The icon, ``size`` pixels square, on transparent ground."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(str(SOURCE)).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return image


def png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        raise RuntimeError("Qt cannot write PNG files")
    return bytes(buffer.data().data())


def ico() -> bytes:
    """PNG images in Microsoft's ICO container: a header of 6 bytes, 16 for each image."""
    images = [png(draw(size)) for size in ICO_SIZES]
    head = struct.pack("<HHH", 0, 1, len(images))
    offset = len(head) + 16 * len(images)
    for size, data in zip(ICO_SIZES, images, strict=True):
        edge = size % 256  # 256 is written as 0
        head += struct.pack("<BBBBHHII", edge, edge, 0, 0, 1, 32, len(data), offset)
        offset += len(data)
    return head + b"".join(images)


def make(folder: Path) -> None:
    for size in SIZES:
        place = folder / f"{size}x{size}" / "apps" / "tritalk.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(png(draw(size)))
    place = folder / "scalable" / "apps" / "tritalk.svg"
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SOURCE, place)
    (folder / "tritalk.ico").write_bytes(ico())


if __name__ == "__main__":
    make(Path(sys.argv[1]))
