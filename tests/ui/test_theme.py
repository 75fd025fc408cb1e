"""Colours and contrast of both themes, and following the system."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication
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
