"""The look in one place: what ``resources/style/tokens.json`` says, as Qt takes it."""

from __future__ import annotations

import json
import re
import string
from functools import cache
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette, QPen
from PySide6.QtWidgets import QApplication, QWidget

RESOURCES = Path(__file__).resolve().parents[2] / "resources"

SchemeName = Literal["light", "dark"]
ThemeChoice = Literal["system", "light", "dark"]

#: Below this probability a token is underlined with dots, so that it reads without colour.
UNDERLINE_BELOW = 0.2

#: The 13 entity types of the address network in their five families of colour.
ENTITY_FAMILY = {
    "prov": "division",
    "city": "division",
    "district": "division",
    "town": "division",
    "community": "community",
    "road": "road",
    "roadno": "road",
    "poi": "place",
    "subpoi": "place",
    "houseno": "building",
    "cellno": "building",
    "floorno": "building",
    "roomno": "building",
}


@cache
def tokens() -> dict[str, Any]:
    """The design tokens, as the file has them."""
    data: dict[str, Any] = json.loads((RESOURCES / "style" / "tokens.json").read_text("utf-8"))
    return data


def space(step: int) -> int:
    """The ``step``-th distance of the 4-pixel grid: 4, 8, 12, 16, 24, 32."""
    return int(tokens()["space"][step])


def radius(name: str) -> int:
    return int(tokens()["radius"][name])


#: The font sizes that can be chosen, in percent.
SCALES = range(80, 201, 10)
_scale = 1.0
_LENGTHS = "tritalk_lengths"


def scale() -> float:
    """The font size in force, 0.8 to 2."""
    return _scale


def px(length: float) -> int:
    """A length in pixels that belongs to text, at the font size in force: a row's height, the width
    of a column of words. Asked for each time, as colours are. Gaps and lines stay as they are."""
    return round(length * _scale)


def fit(widget: QWidget, **lengths: int) -> None:
    """Give a widget lengths that go with the font size, now and whenever that changes: ``width``,
    ``height`` (fixed), ``min_width``, ``min_height``, ``max_width``, ``max_height``, ``icon``."""
    kept = dict(widget.property(_LENGTHS) or {}) | lengths
    widget.setProperty(_LENGTHS, kept)
    _set_lengths(widget, lengths)


def _set_lengths(widget: QWidget, lengths: dict[str, int]) -> None:
    for name, length in lengths.items():
        if name == "icon":
            widget.setIconSize(QSize(px(length), px(length)))  # type: ignore[attr-defined]
        else:
            _SETTERS[name](widget, px(length))


_SETTERS = {
    "width": QWidget.setFixedWidth,
    "height": QWidget.setFixedHeight,
    "min_width": QWidget.setMinimumWidth,
    "min_height": QWidget.setMinimumHeight,
    "max_width": QWidget.setMaximumWidth,
    "max_height": QWidget.setMaximumHeight,
}


def _luminance(color: QColor) -> float:
    """Relative luminance of WCAG 2.2."""

    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    r, g, b = (linear(c) for c in (color.redF(), color.greenF(), color.blueF()))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio of WCAG 2.2, 1 to 21."""
    a, b = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (a + 0.05) / (b + 0.05)


# What in the style sheet belongs to text: the height of fields and buttons.
_TEXT_LENGTH = re.compile(r"((?:min-height|min-width): )(\d\d+)px")


class Theme:
    """One colour scheme. Sizes and fonts are the same in both."""

    def __init__(self, scheme: SchemeName) -> None:
        self.scheme: SchemeName = scheme
        self._colors = {name: QColor(value) for name, value in tokens()[scheme].items()}
        accent = self._colors["accent"]
        candidates = [QColor("#FFFFFF"), QColor(tokens()["dark"]["window"])]
        self._colors["on_accent"] = max(candidates, key=lambda c: contrast(c, accent))
        # Qt reads eight digits as #AARRGGBB, the tokens write #RRGGBBAA; only "no tint" has them.
        self._tints = [
            None if len(value) == 9 else QColor(value) for value in tokens()["confidence"][scheme]
        ]

    def color(self, name: str) -> QColor:
        return QColor(self._colors[name])

    def tint(self, probability: float) -> QColor | None:
        """The background for a token of this probability; ``None`` means no tint."""
        for stop, color in zip(tokens()["confidence"]["stops"], self._tints, strict=True):
            if probability >= stop:
                return color
        return self._tints[-1]

    def tints(self) -> list[QColor | None]:
        """The scale from sure to unsure, for the legend."""
        return list(self._tints)

    def entity(self, entity_type: str) -> QColor:
        """The background for an entity type; an unknown type gets the neutral one."""
        family = ENTITY_FAMILY.get(entity_type)
        if family is None:
            return self.color("sunken")
        return QColor(tokens()["entity"][family][self.scheme])

    def score(self, value: float) -> QColor:
        """The text colour of a score: sure, to be checked, doubtful."""
        return self.color("ok" if value >= 0.9 else "text" if value >= 0.6 else "warn")

    def palette(self) -> QPalette:
        palette = QPalette()
        roles = {
            QPalette.ColorRole.Window: "window",
            QPalette.ColorRole.WindowText: "text",
            QPalette.ColorRole.Base: "surface",
            QPalette.ColorRole.AlternateBase: "sunken",
            QPalette.ColorRole.Text: "text",
            QPalette.ColorRole.PlaceholderText: "text_3",
            QPalette.ColorRole.Button: "surface",
            QPalette.ColorRole.ButtonText: "text",
            QPalette.ColorRole.BrightText: "danger",
            QPalette.ColorRole.ToolTipBase: "surface",
            QPalette.ColorRole.ToolTipText: "text",
            QPalette.ColorRole.Highlight: "accent",
            QPalette.ColorRole.HighlightedText: "on_accent",
            QPalette.ColorRole.Link: "accent",
            QPalette.ColorRole.LinkVisited: "accent",
            QPalette.ColorRole.Accent: "accent",
            QPalette.ColorRole.Mid: "line",
            QPalette.ColorRole.Midlight: "line",
            QPalette.ColorRole.Light: "surface",
            QPalette.ColorRole.Dark: "line",
            QPalette.ColorRole.Shadow: "line",
        }
        for role, name in roles.items():
            palette.setColor(role, self.color(name))
        for role in (
            QPalette.ColorRole.WindowText,
            QPalette.ColorRole.Text,
            QPalette.ColorRole.ButtonText,
        ):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("text_3"))
        return palette

    def style_sheet(self) -> str:
        """``app.qss`` with this scheme's colours, the sizes and the radii filled in."""
        values: dict[str, str] = {name: color.name() for name, color in self._colors.items()}
        values |= {f"radius_{k}": f"{v}px" for k, v in tokens()["radius"].items()}
        values |= {f"size_{k}": f"{px(v)}px" for k, v in tokens()["font"]["size"].items()}
        values |= {"box": f"{px(14)}px", "arrow": f"{px(12)}px"}
        values["scheme"] = self.scheme
        values["icons"] = (RESOURCES / "icons").as_posix()
        values["font_mono"] = ", ".join(f'"{f}"' for f in _families("mono"))
        template = (RESOURCES / "style" / "app.qss").read_text("utf-8")
        template = _TEXT_LENGTH.sub(lambda match: f"{match[1]}{px(int(match[2]))}px", template)
        return string.Template(template).substitute(values)


@cache
def _families(kind: str) -> tuple[str, ...]:
    """The wanted families that are installed, in the order of the tokens."""
    wanted = tokens()["font"]["family" if kind == "text" else "mono"]
    installed = set(QFontDatabase.families())
    return tuple(f for f in wanted if f in installed) or (wanted[-1],)


def font(size: str = "body", *, bold: bool = False, mono: bool = False) -> QFont:
    """A font of a token size (caption, small, body, title, page), measured in pixels."""
    result = QFont()
    result.setFamilies(list(_families("mono" if mono else "text")))
    result.setStyleHint(QFont.StyleHint.Monospace if mono else QFont.StyleHint.SansSerif)
    result.setPixelSize(px(tokens()["font"]["size"][size]))
    result.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return result


def line_height(size: str = "body") -> int:
    """The height of a line of running text in pixels, on the 4-pixel grid."""
    exact = float(tokens()["font"]["line_height"]) * px(tokens()["font"]["size"][size])
    return int(-(-exact // 4) * 4)


def dotted_pen() -> QPen:
    """The underline of tokens that read as unsure without colour: round dots."""
    pen = QPen(current().color("text"), 1.5)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setDashPattern([0.01, 2])
    return pen


class ThemeManager(QObject):
    """Applies the chosen scheme and font size to the application, and follows the system where
    asked to."""

    changed = Signal()
    #: The font size, in percent.
    scaled = Signal(int)

    def __init__(
        self, app: QApplication, choice: ThemeChoice = "system", percent: int = 100
    ) -> None:
        global _scale
        super().__init__(app)
        self._app = app
        self.choice: ThemeChoice = choice
        _scale = _within(percent) / 100
        app.setStyle("Fusion")
        app.setFont(font())
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)
        self.apply(choice)

    def apply(self, choice: ThemeChoice) -> None:
        global _current
        self.choice = choice
        _current = Theme(self._system_scheme() if choice == "system" else choice)
        self._app.setPalette(_current.palette())
        self._app.setStyleSheet(_current.style_sheet())
        self.changed.emit()

    @property
    def percent(self) -> int:
        return round(_scale * 100)

    def set_percent(self, percent: int) -> None:
        """Another font size, in percent of the tokens' own, at once and everywhere."""
        global _scale
        if _within(percent) == self.percent:
            return
        _scale = _within(percent) / 100
        self._app.setFont(font())
        for widget in QApplication.allWidgets():
            if lengths := widget.property(_LENGTHS):
                _set_lengths(widget, lengths)
        # Fonts and boxes of the style sheet; every widget hears of it as FontChange.
        self.apply(self.choice)
        self.scaled.emit(self.percent)

    def stop(self) -> None:
        """Follow the system no longer."""
        QGuiApplication.styleHints().colorSchemeChanged.disconnect(self._system_changed)

    @staticmethod
    def _system_scheme() -> SchemeName:
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return "dark" if dark else "light"

    @Slot()
    def _system_changed(self) -> None:
        if self.choice == "system" and self._system_scheme() != current().scheme:
            self.apply("system")


def _within(percent: int) -> int:
    return max(SCALES[0], min(SCALES[-1], percent))


_current: Theme | None = None


def current() -> Theme:
    """The scheme in force. Painting code asks each time, so a switch needs only a repaint."""
    global _current
    if _current is None:
        _current = Theme("light")
    return _current
