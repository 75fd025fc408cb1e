"""The official division of an address: breadcrumb, code, confidence, and the other candidates."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from desktop.triton.types import Division, ParsedAddress
from desktop.ui import theme
from desktop.ui.controls import label, set_level

_CANDIDATES_MAX = 8
_ARROW = "  ›  "


def breadcrumb(division: Division) -> str:
    """The levels that are known, outermost first."""
    levels = (division.province, division.city, division.district, division.town)
    return _ARROW.join(level for level in levels if level)


def _level(confidence: float) -> str:
    return "ok" if confidence >= 0.9 else "plain" if confidence >= 0.6 else "warn"


class DivisionRow(QWidget):
    """One division on a line: names, code, confidence at the right."""

    def __init__(self, parent: QWidget, *, main: bool) -> None:
        super().__init__(parent)
        self.names = label(self, "crumb" if main else "candidate")
        self.names.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.names.setWordWrap(True)
        self.code = label(self, "code")
        self.code.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.confidence = label(self, "score")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.names, 1)
        row.addWidget(self.code)
        row.addWidget(self.confidence)
        # Wide enough for the longest words, so that the rows of a card line up.
        theme.fit(self.code, min_width=92)
        self.code.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.fit(self.confidence, min_width=96)
        self.confidence.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def show_division(self, division: Division, words: str, level: str) -> None:
        self.names.setText(breadcrumb(division))
        self.code.setText(division.code)
        self.code.setVisible(bool(division.code))
        self.confidence.setText(words.format(f"{division.confidence:.2f}"))
        set_level(self.confidence, level)


class DivisionCard(QFrame):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.title = label(self, "cardTitle")
        self.row = DivisionRow(self, main=True)
        self.none = label(self, "small")
        self.others_title = label(self, "small")
        self.candidates = [DivisionRow(self, main=False) for _ in range(_CANDIDATES_MAX)]
        self.more = label(self, "small")
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(8)
        for widget in (
            self.title,
            self.row,
            self.none,
            self.others_title,
            *self.candidates,
            self.more,
        ):
            box.addWidget(widget)
        self._parsed: ParsedAddress | None = None
        self.retranslate()

    def show_address(self, parsed: ParsedAddress | None) -> None:
        self._parsed = parsed
        known = parsed is not None and bool(breadcrumb(parsed.division))
        others = [] if parsed is None else [c for c in parsed.candidates if c != parsed.division]
        self.row.setVisible(known)
        self.none.setVisible(not known)
        self.none.setText(
            self.tr("Several divisions fit the text equally well.")
            if others
            else self.tr("The text does not determine a division.")
        )
        self.others_title.setText(
            self.tr("Other candidates") if known else self.tr("Candidates, best first")
        )
        self.others_title.setVisible(bool(others))
        left_out = len(others) - _CANDIDATES_MAX
        self.more.setVisible(left_out > 0)
        self.more.setText(self.tr("and {0} more, in the copies").format(left_out))
        if parsed is not None:
            words, level = self.tr("confidence {0}"), _level(parsed.division.confidence)
            self.row.show_division(parsed.division, words, level)
        for number, row in enumerate(self.candidates):
            row.setVisible(number < len(others))
            if number < len(others):
                row.show_division(others[number], "{0}", "plain")

    def retranslate(self) -> None:
        self.title.setText(self.tr("Administrative division"))
        self.show_address(self._parsed)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
