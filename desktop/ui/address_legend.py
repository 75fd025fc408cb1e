"""The legend of the entity colours: five families, in words."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.ui import theme
from desktop.ui.words import entity_name

_SWATCH = QSize(16, 12)


class EntityLegend(QWidget):
    """Swatches with the family's name; the tooltip names its types. Wraps where it is narrow."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._items: list[tuple[str, str]] = []
        self.retranslate()

    def retranslate(self) -> None:
        self._items = [
            ("prov", self.tr("division")),
            ("community", self.tr("community")),
            ("road", self.tr("road and number")),
            ("poi", self.tr("place")),
            ("houseno", self.tr("building and room")),
        ]
        families = theme.ENTITY_FAMILY
        tips = []
        for kind, words in self._items:
            own = [k for k in families if families[k] == families[kind]]
            tips.append(f"{words}: " + ", ".join(f"{entity_name(k)} ({k})" for k in own))
        self.setToolTip("\n".join(tips))
        self.setAccessibleName(self.tr("Colours of the entities"))
        self.setAccessibleDescription(self.toolTip())
        self._place()

    def _boxes(self) -> list[tuple[QRectF, str, str]]:
        metrics = QFontMetrics(theme.font("small"))
        line = theme.px(20)
        boxes = []
        x = y = 0
        for kind, words in self._items:
            width = _SWATCH.width() + 6 + metrics.horizontalAdvance(words) + 2
            if x > 0 and x + width > self.width():
                x, y = 0, y + line
            boxes.append((QRectF(x, y, width, line), kind, words))
            x += width + 16
        return boxes

    def _place(self) -> None:
        boxes = self._boxes()
        self.setFixedHeight(int(boxes[-1][0].bottom()))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.FontChange:
            self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("small"))
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for box, kind, words in self._boxes():
            swatch = QRectF(
                box.x(),
                box.y() + (box.height() - _SWATCH.height()) / 2,
                _SWATCH.width(),
                _SWATCH.height(),
            )
            painter.setPen(QPen(look.color("line"), 1))
            painter.setBrush(look.entity(kind))
            painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            painter.setPen(look.color("text_2"))
            painter.drawText(box.adjusted(_SWATCH.width() + 6, 0, 0, 0), middle, words)
        painter.end()
