"""The commands of the window as a whole: look, language, server, tray, help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.launchers.base import ServerState
from desktop.ui.shortcuts import Command

if TYPE_CHECKING:
    from desktop.ui.application import Application

_ENDED = (ServerState.STOPPED, ServerState.FAILED)


def add_commands(app: Application) -> None:
    """Bind every entry of the catalogue that no page binds."""
    window, session, rail = app.window, app.session, app.window.rail

    def parse_clipboard() -> None:
        window.show_page(1)
        window.address.paste_button.click()

    def ended() -> bool:
        return session.status.state in _ENDED

    def runs() -> bool:
        return session.status.state not in (*_ENDED, ServerState.STOPPING)

    Command(window, "parse_clipboard", parse_clipboard)
    Command(window, "start_server", session.start, ended)
    Command(window, "stop_server", session.stop, runs)
    Command(window, "tray", app.tray.toggle_close_to_tray, app.tray.available)
    Command(window, "larger", lambda: app.change_font_size(1))
    Command(window, "smaller", lambda: app.change_font_size(-1))
    Command(window, "normal_size", lambda: app.set_font_size(100))
    first = rail.menu.actions()[0]
    rail.menu.insertAction(first, Command(window, "settings", app.open_settings))
    rail.menu.insertSeparator(first)
    for name, choice in (("system_theme", "system"), ("light", "light"), ("dark", "dark")):
        Command(window, name, rail.theme_actions[choice].trigger)
    for name, choice in (("system_language", "system"), ("chinese", "zh"), ("english", "en")):
        Command(window, name, rail.language_actions[choice].trigger)
    rail.add_to_menu(
        [
            Command(window, "palette", app.palette.open),
            Command(window, "sheet", app.sheet.show_sheet),
            Command(window, "welcome", app.onboarding.begin),
        ]
    )
