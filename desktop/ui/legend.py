"""The legend of the token colours."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.ui import theme
from desktop.ui.coloring import PERPLEXITY_STOPS, UNDERLINE_FROM, Coloring

_SWATCH = QSize(20, 12)
_GAP = 4


class ProbabilityLegend(QWidget):
    """Swatches from unsure to sure, the unsure one underlined as its tokens are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._words: tuple[str, str] = ("", "")
        self._coloring = Coloring.PROBABILITY
        self.retranslate()

    def show_coloring(self, coloring: Coloring) -> None:
        self._coloring = coloring
        self.retranslate()

    def retranslate(self) -> None:
        if self._coloring is Coloring.PERPLEXITY:
            self._words = (self.tr("high"), self.tr("low"))
            self.setToolTip(
                self.tr(
                    "How many equally likely tokens the choice of each token was like; below {0} "
                    "it has no tint, from {1} up it is also underlined with dots."
                ).format(PERPLEXITY_STOPS[0], f"{UNDERLINE_FROM:.0f}")
            )
        else:
            self._words = (self.tr("low"), self.tr("high"))
            stops = theme.tokens()["confidence"]["stops"]
            self.setToolTip(
                self.tr(
                    "The probability of each token; from {0} up it has no tint, "
                    "below {1} it is also underlined with dots."
                ).format(stops[0], theme.UNDERLINE_BELOW)
            )
        self.setAccessibleName(self.toolTip())
        self.updateGeometry()
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.LanguageChange, QEvent.Type.FontChange):
            self.retranslate()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.font("small"))
        words = sum(metrics.horizontalAdvance(word) for word in self._words) + 3 * 8
        count = len(theme.current().tints())
        return QSize(words + count * (_SWATCH.width() + _GAP), theme.px(24))

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font("small"))
        metrics = painter.fontMetrics()
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        x = 0.0

        def word(text: str, color: str) -> None:
            nonlocal x
            width = metrics.horizontalAdvance(text)
            painter.setPen(look.color(color))
            painter.drawText(QRectF(x, 0, width + 2, self.height()), middle, text)
            x += width + 8

        unsure, sure = self._words
        word(unsure, "text_3")
        for number, tint in enumerate(reversed(look.tints())):
            y = (self.height() - _SWATCH.height()) / 2
            swatch = QRectF(x, y, _SWATCH.width(), _SWATCH.height())
            painter.setPen(QPen(look.color("line"), 1))
            painter.setBrush(tint if tint is not None else look.color("surface"))
            painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            if number == 0:
                painter.setPen(theme.dotted_pen())
                line = swatch.bottom() - 3
                painter.drawLine(
                    QPointF(swatch.left() + 3, line), QPointF(swatch.right() - 3, line)
                )
            x += _SWATCH.width() + _GAP
        x += _GAP
        word(sure, "text_3")
        painter.end()
