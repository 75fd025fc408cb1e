"""Small makers of widgets with the object names that ``app.qss`` styles."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QWidget

from desktop.ui import theme

# Ten pixels at either side and a line, as app.qss has it.
_SEGMENT_PADDING = 24


def label(parent: QWidget | None, style: str, *, wrap: bool = False) -> QLabel:
    result = QLabel(parent)
    result.setObjectName(style)
    result.setWordWrap(wrap)
    return result


def frame(parent: QWidget | None, style: str) -> QFrame:
    result = QFrame(parent)
    result.setObjectName(style)
    return result


def primary_button(parent: QWidget | None) -> QPushButton:
    """The one button of a page in the accent colour."""
    result = QPushButton(parent)
    result.setObjectName("primary")
    return result


def scrolled(parent: QWidget, content: QWidget) -> QScrollArea:
    """``content`` in an area that scrolls but takes no focus of its own."""
    content.setObjectName("scrolled")
    area = QScrollArea(parent)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    area.setWidget(content)
    return area


def fit_segments(buttons: Iterable[QPushButton]) -> None:
    """Room for the words of each button in bold, which they are while it is checked."""
    metrics = QFontMetrics(theme.font("small", bold=True))
    for button in buttons:
        button.setMinimumWidth(metrics.horizontalAdvance(button.text()) + _SEGMENT_PADDING)


def set_level(widget: QWidget, level: str) -> None:
    """Set the ``level`` that the style sheet colours by, and have it looked at again."""
    widget.setProperty("level", level)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
