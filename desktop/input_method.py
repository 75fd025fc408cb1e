"""Whether Chinese can be typed here: what the session asks for, what runs, what this Qt can speak.

Qt talks to input methods through plugins. The wheels of PySide6 hold the one for IBus and none for
Fcitx (6.11.3 has compose, ibus, qtvirtualkeyboard), and a plugin of the distribution does not load
into another Qt. Fcitx 5, however, also answers as the IBus portal
(``org.freedesktop.portal.IBus``), so where a session asks for Fcitx the program asks Qt for IBus
through its portal. That must be decided before Qt starts, by variables of this process alone.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Collection, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

_PLUGIN = re.compile(r"(?:lib)?(\w+?)platforminputcontextplugin\.(?:so|dylib|dll)")
_DAEMONS = {"fcitx5": "fcitx5", "fcitx": "fcitx", "ibus-daemon": "ibus"}
# Words of QT_IM_MODULE that mean Qt itself, or the compositor.
_OWN = ("compose", "simple", "none", "wayland", "qtvirtualkeyboard", "virtualkeyboard")
_PORTAL = {"QT_IM_MODULE": "ibus", "IBUS_USE_PORTAL": "1"}


@dataclass(frozen=True)
class InputMethod:
    """``detail``: what was found, or what to do, for ``tritalk doctor``. ``problem``: one sentence
    for the window where the session asks for what does not work. ``changes``: variables for this
    process that make it work."""

    ok: bool
    detail: str
    problem: str = ""
    changes: dict[str, str] = field(default_factory=dict)


def look(
    environment: Mapping[str, str], plugins: Collection[str], running: Collection[str]
) -> InputMethod:
    """What is to be done, from the variables, Qt's plugins and the daemons of this user.

    ``running``: of fcitx5, fcitx (version 4) and ibus.
    """
    asked = _asked(environment)
    wayland = bool(environment.get("WAYLAND_DISPLAY"))
    if asked in _OWN or (not asked and wayland):
        return InputMethod(True, "the compositor's" if wayland else f"Qt's own ({asked})")
    if not asked:
        # Nothing is said, as in a bare window manager: take what runs.
        asked = next((name for name in ("fcitx5", "ibus", "fcitx") if name in running), "")
        if not asked:
            return InputMethod(
                False,
                "none runs; to type Chinese run: sudo apt install fcitx5 fcitx5-chinese-addons "
                "(or ibus ibus-libpinyin), then log in again",
            )
    if asked.startswith("fcitx"):
        return _fcitx(plugins, running)
    if asked == "ibus" and "ibus" in plugins:
        return _ibus(environment, running)
    return _unspeakable(asked)


def _fcitx(plugins: Collection[str], running: Collection[str]) -> InputMethod:
    if any(name.startswith("fcitx") for name in plugins):
        return InputMethod(True, "fcitx, through Qt's plugin for it")
    if "ibus" not in plugins:
        return _unspeakable("fcitx")
    if "fcitx5" in running:
        return InputMethod(
            True, "fcitx5, as the IBus portal (this Qt has no plugin for fcitx)", "", dict(_PORTAL)
        )
    if "fcitx" in running:
        return _unspeakable("fcitx 4")
    # It may be started later: Qt's plugin waits for it.
    found = _asleep("fcitx5")
    return InputMethod(found.ok, found.detail, found.problem, dict(_PORTAL))


def _ibus(environment: Mapping[str, str], running: Collection[str]) -> InputMethod:
    if "ibus" in running:
        return InputMethod(True, "ibus, through Qt's plugin for it")
    if "fcitx5" in running:
        changes = {} if environment.get("IBUS_USE_PORTAL") else {"IBUS_USE_PORTAL": "1"}
        return InputMethod(True, "fcitx5, as the IBus portal", "", changes)
    return _asleep("ibus")


def _asleep(name: str) -> InputMethod:
    problem = f"this session asks for {name}, which is not running; start it to type Chinese"
    return InputMethod(False, problem, problem)


def _unspeakable(name: str) -> InputMethod:
    problem = (
        f"this session asks for {name}, which this Qt cannot speak to; "
        "use fcitx5 or ibus to type Chinese"
    )
    return InputMethod(False, problem, problem)


def _asked(environment: Mapping[str, str]) -> str:
    """The first input method that the session names: for Qt, else for X11, else for GTK."""
    named = environment.get("QT_IM_MODULES", "") or environment.get("QT_IM_MODULE", "")
    if not named:
        named = environment.get("XMODIFIERS", "").partition("@im=")[2]
    if not named:
        named = environment.get("GTK_IM_MODULE", "")
    first = next((each.strip().lower() for each in re.split("[;:]", named) if each.strip()), "")
    return {"fcitx5": "fcitx", "local": "", "gtk-im-context-simple": ""}.get(first, first)


def qt_plugins() -> set[str]:
    """The names of the input method plugins that Qt would find, read without loading Qt."""
    folders = [
        Path(each) for each in os.environ.get("QT_PLUGIN_PATH", "").split(os.pathsep) if each
    ]
    spec = importlib.util.find_spec("PySide6")
    if spec is not None and spec.origin is not None:
        folders.append(Path(spec.origin).parent / "Qt" / "plugins")
    found = set()
    for folder in folders:
        for path in folder.glob("platforminputcontexts/*"):
            if match := _PLUGIN.fullmatch(path.name):
                found.add(match[1])
    return found


def running() -> set[str]:
    """Which daemons of input methods run as this user."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            name = path.read_text().strip()
            if name in _DAEMONS and path.stat().st_uid == os.getuid():
                found.add(_DAEMONS[name])
        except OSError:
            continue  # it has ended
    return found


def prepare(environment: MutableMapping[str, str]) -> InputMethod:
    """Look, and change this process's variables before Qt reads them."""
    found = look(environment, qt_plugins(), running())
    environment.update(found.changes)
    if "QT_IM_MODULE" in found.changes:
        # The list goes before the single name.
        environment.pop("QT_IM_MODULES", None)
    return found
