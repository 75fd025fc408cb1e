"""Colours and contrast of both themes, and following the system."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QCursor, QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.ui import theme
from desktop.ui.theme import ENTITY_FAMILY, Theme, contrast
from tests.ui.conftest import Fake


def test_chinese_shows_as_chinese(qtbot: QtBot) -> None:
    """Where a font lacks them, all characters look the same: as a box."""
    pictures = []
    for character in "你好地址":
        label = QLabel(character)
        label.setFont(theme.font("page"))
        qtbot.addWidget(label)
        pictures.append(label.grab().toImage())
    for number, picture in enumerate(pictures):
        assert picture not in pictures[:number]


SCHEMES = ("light", "dark")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_is_readable_on_every_background(scheme: theme.SchemeName) -> None:
    look = Theme(scheme)
    backgrounds = [look.color(n) for n in ("window", "surface", "sunken")]
    weak = []
    for text in ("text", "text_2", "text_3", "accent", "danger", "warn", "ok"):
        for background in backgrounds:
            if contrast(look.color(text), background) < 4.5:
                weak.append((text, background.name()))
    tints = [t for t in look.tints() if t is not None]
    entities = [look.entity(kind) for kind in ENTITY_FAMILY]
    for background in (*tints, *entities, look.color("user_bubble"), look.color("accent_soft")):
        if contrast(look.color("text"), background) < 4.5:
            weak.append(("text", background.name()))
    if contrast(look.color("on_accent"), look.color("accent")) < 4.5:
        weak.append(("on_accent", "accent"))
    assert weak == []


#: What delegates and other painting code write on what, beyond plain text on plain ground: text,
#: its ground, and where.
PAINTED = (
    ("text_2", "accent_soft", "the last line of the chosen conversation; shares in the popover"),
    ("text_2", "sunken", "a conversation under the mouse"),
    ("accent", "surface", "the chosen token in the popover; actions under the mouse"),
    ("text_2", "user_bubble", "the waiting words of a message"),
)


def rules() -> list[tuple[str, dict[str, str]]]:
    """Selectors of the style sheet with the names of their colours."""
    text = (theme.RESOURCES / "style" / "app.qss").read_text("utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = []
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", text):
        pairs = re.findall(r"([\w-]+)\s*:\s*([^;]+)", body)
        found.append((" ".join(selector.split()), {k: v.strip() for k, v in pairs}))
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_pair_of_the_style_sheet_is_readable(scheme: theme.SchemeName) -> None:
    look = Theme(scheme)
    weak, seen = [], 0
    grounds = ("window", "surface", "sunken")

    def check(text: str, ground: str, where: str) -> None:
        nonlocal seen
        seen += 1
        if contrast(look.color(text), look.color(ground)) < 4.5:
            weak.append((where, text, ground))

    for selector, style in rules():
        # Grooves, bars and handles carry no text.
        if re.search(r"::(groove|handle|chunk|sub-page|add-|indicator)|Splitter|divider", selector):
            continue
        for text_key, ground_key in (
            ("color", "background"),
            ("selection-color", "selection-background-color"),
        ):
            text = style.get(text_key, "").removeprefix("$")
            ground = style.get(ground_key, "").removeprefix("$")
            if ground == "transparent":
                ground = ""
            if text and ground:
                check(text, ground, selector)
            elif text:
                for each in grounds:
                    check(text, each, selector)
            elif ground:
                check("text", ground, selector)
    assert seen > 60
    for text, ground, where in PAINTED:
        check(text, ground, where)
    assert weak == []
    # What is no text but means something: 3 to 1 (WCAG 2.2, 1.4.11).
    assert contrast(look.color("accent"), look.color("accent_soft")) >= 3  # the chosen page's icon


def test_painting_code_uses_the_colours_of_the_theme_only() -> None:
    """A colour written elsewhere would be checked by nobody."""
    own = re.compile(r"""QColor\(\s*["\d]|["']#[0-9A-Fa-f]{6,8}["']""")
    allowed = {
        "theme.py": 1,  # white, as a candidate for text on the accent
        "icons.py": 1,  # the application's icon, whose black is not drawn
    }
    found = {}
    for path in sorted((theme.RESOURCES.parent / "desktop" / "ui").glob("*.py")):
        if count := len(own.findall(path.read_text("utf-8"))):
            found[path.name] = count
    assert found == allowed


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_scale_has_its_steps_where_the_tokens_put_them(scheme: theme.SchemeName) -> None:
    look = Theme(scheme)
    tokens = theme.tokens()["confidence"]
    assert look.tint(1.0) is None
    assert look.tint(0.9) is None
    for share, step in ((0.89, 1), (0.7, 1), (0.69, 2), (0.5, 2), (0.3, 3), (0.29, 4), (0.0, 4)):
        assert look.tint(share) == QColor(tokens[scheme][step])


def test_follows_the_system_until_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, fake: Callable[..., Fake]
) -> None:
    """A bare X server has no scheme to follow, so the system's word is put in its mouth."""
    app = fake().app
    hints = QGuiApplication.styleHints()
    app.theme.apply("system")
    assert theme.current().scheme == "light"
    monkeypatch.setattr(theme.ThemeManager, "_system_scheme", staticmethod(lambda: "dark"))
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.current().scheme == "dark"
    background = app.window.chat.view.viewport().grab().toImage().pixelColor(5, 5)
    assert background == theme.current().color("window")
    app.window.rail.theme_actions["light"].trigger()
    assert app.settings.value("theme") == "light"
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.current().scheme == "light"
    app.settings.remove("theme")


def test_the_settings_button_is_not_tinted_after_its_menu(
    fake: Callable[..., Fake], qtbot: QtBot
) -> None:
    """Its menu takes the pointer away from it, which Qt does not tell it."""
    app = fake().app
    rail = app.window.rail
    QCursor.setPos(app.window.mapToGlobal(app.window.rect().center()))
    rail.settings.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)  # as the click has left it
    rail.menu.popup(rail.settings.mapToGlobal(rail.settings.rect().topRight()))
    rail.menu.close()
    qtbot.waitUntil(lambda: not rail.settings.underMouse())
