"""An address with its entities marked by colour and short name, wrapped like text."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.triton.types import Entity, ParsedAddress
from desktop.ui import theme
from desktop.ui.words import entity_name

_PAD = 2
_GAP = 4


@dataclass(frozen=True)
class Segment:
    """A stretch of the text; ``entity`` is ``None`` between entities."""

    text: str
    entity: Entity | None


def segments(parsed: ParsedAddress) -> list[Segment]:
    """The whole text in order. Of entities that overlap the surer one is marked."""
    chosen: list[Entity] = []
    for entity in sorted(parsed.entities, key=lambda e: -e.score):
        if all(entity.end <= c.start or entity.start >= c.end for c in chosen):
            chosen.append(entity)
    result, at = [], 0
    for entity in sorted(chosen, key=lambda e: e.start):
        if entity.start > at:
            result.append(Segment(parsed.text[at : entity.start], None))
        result.append(Segment(parsed.text[entity.start : entity.end], entity))
        at = entity.end
    if at < len(parsed.text):
        result.append(Segment(parsed.text[at:], None))
    return result


@dataclass(frozen=True)
class _Piece:
    """What is painted at one place: a run of text, and after an entity's last run its name."""

    text: str
    entity: Entity | None
    rect: QRect
    name: str
    name_rect: QRect


class AddressHighlight(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._segments: list[Segment] = []
        self._pieces: list[_Piece] = []

    def show_address(self, parsed: ParsedAddress | None) -> None:
        self._segments = [] if parsed is None else segments(parsed)
        spoken = ", ".join(
            f"{s.text} ({entity_name(s.entity.type)})" if s.entity else s.text
            for s in self._segments
        )
        self.setAccessibleName(spoken)
        self._place()

    def shown(self) -> list[tuple[str, str]]:
        """What is on screen: (text, entity type or "")."""
        return [(s.text, s.entity.type if s.entity else "") for s in self._segments]

    def _place(self) -> None:
        self._pieces, height = self._flow(self.width())
        self.setFixedHeight(height)
        self.updateGeometry()
        self.update()

    def _flow(self, width: int) -> tuple[list[_Piece], int]:
        big = QFontMetrics(theme.font("page"))
        small = QFontMetrics(theme.font("caption"))
        line, chip = theme.px(36), theme.px(28)
        pieces: list[_Piece] = []
        x, y = 0, 0
        for segment in self._segments:
            name = entity_name(segment.entity.type) if segment.entity else ""
            name_width = small.horizontalAdvance(name) + _GAP if name else 0
            rest = segment.text
            while rest:
                pad = _PAD if segment.entity else 0
                whole = big.horizontalAdvance(rest) + 2 * pad
                room = width - x
                if whole + name_width <= room:
                    run = rest
                elif x > 0 and whole + name_width <= width:
                    x, y = 0, y + line
                    continue
                else:
                    run = _fit(big, rest, room - 2 * pad - (name_width if x == 0 else 0))
                    if not run:
                        if x > 0:
                            x, y = 0, y + line
                            continue
                        run = rest[0]
                rest = rest[len(run) :]
                run_width = big.horizontalAdvance(run) + 2 * pad
                rect = QRect(x, y + (line - chip) // 2, run_width, chip)
                last = not rest
                label = name if last else ""
                name_rect = QRect(
                    rect.right() + 3, rect.y() + chip // 4, name_width, chip - chip // 4
                )
                pieces.append(_Piece(run, segment.entity, rect, label, name_rect))
                x += run_width + (name_width + 2 * _GAP if label else 0)
                if rest:
                    x, y = 0, y + line
        return pieces, (y + line if pieces else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.LanguageChange, QEvent.Type.FontChange):
            self._place()

    def sizeHint(self) -> QSize:
        return QSize(400, max(theme.px(36), self.height()))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            point: QPoint = event.pos()  # type: ignore[attr-defined]
            self.setToolTip(self._tip(point))
        return super().event(event)

    def _tip(self, point: QPoint) -> str:
        for piece in self._pieces:
            if piece.entity is not None and piece.rect.contains(point):
                entity = piece.entity
                return f"{entity_name(entity.type)} · {entity.type} · {entity.score:.2f}"
        return ""

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for piece in self._pieces:
            pad = 0
            if piece.entity is not None:
                pad = _PAD
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(look.entity(piece.entity.type))
                painter.drawRoundedRect(piece.rect, 4, 4)
            painter.setFont(theme.font("page"))
            painter.setPen(look.color("text"))
            painter.drawText(piece.rect.adjusted(pad, 0, pad, 0), left, piece.text)
            if piece.name:
                painter.setFont(theme.font("caption"))
                painter.setPen(look.color("text_2"))
                painter.drawText(piece.name_rect, left, piece.name)
        painter.end()


def _fit(metrics: QFontMetrics, text: str, room: int) -> str:
    """The longest beginning of ``text`` that is no wider than ``room``."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if metrics.horizontalAdvance(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]
