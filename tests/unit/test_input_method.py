"""What a session asks for, what Qt can speak, and what runs: what follows from them."""

from __future__ import annotations

import pytest

from desktop.input_method import look, prepare, qt_plugins

WHEEL = {"compose", "ibus", "qtvirtualkeyboard"}
PORTAL = {"QT_IM_MODULE": "ibus", "IBUS_USE_PORTAL": "1"}


def test_what_the_wheel_of_pyside_has() -> None:
    """The reason for all of this. If it has fcitx one day, it is used."""
    assert "ibus" in qt_plugins()


@pytest.mark.parametrize(
    "environment",
    [
        {"QT_IM_MODULE": "fcitx"},
        {"QT_IM_MODULE": "fcitx5", "WAYLAND_DISPLAY": "wayland-0"},
        {"QT_IM_MODULES": "fcitx;ibus", "QT_IM_MODULE": "compose"},
        {"XMODIFIERS": "@im=fcitx"},
        {"GTK_IM_MODULE": "fcitx"},
        {},
    ],
)
def test_fcitx_is_reached_as_the_ibus_portal(environment: dict[str, str]) -> None:
    found = look(environment, WHEEL, {"fcitx5"})
    assert found.ok
    assert not found.problem
    assert found.changes == PORTAL


def test_a_plugin_for_fcitx_is_used_where_qt_has_one() -> None:
    found = look({"QT_IM_MODULE": "fcitx"}, {"fcitx5", "ibus"}, {"fcitx5"})
    assert found.ok
    assert found.changes == {}


def test_ibus_is_spoken_to_directly_or_through_fcitx() -> None:
    asks = {"QT_IM_MODULE": "ibus"}
    assert look(asks, WHEEL, {"ibus"}).changes == {}
    assert look(asks, WHEEL, {"fcitx5"}).changes == {"IBUS_USE_PORTAL": "1"}
    assert look(asks | {"IBUS_USE_PORTAL": "1"}, WHEEL, {"fcitx5"}).changes == {}


@pytest.mark.parametrize(
    ("environment", "running", "problem"),
    [
        ({"QT_IM_MODULE": "fcitx"}, set(), "asks for fcitx5, which is not running"),
        ({"QT_IM_MODULE": "ibus"}, set(), "asks for ibus, which is not running"),
        ({"QT_IM_MODULE": "fcitx"}, {"fcitx"}, "asks for fcitx 4, which this Qt cannot"),
        ({"QT_IM_MODULE": "xim"}, {"fcitx5"}, "asks for xim, which this Qt cannot"),
    ],
)
def test_what_does_not_work_is_said(
    environment: dict[str, str], running: set[str], problem: str
) -> None:
    found = look(environment, WHEEL, running)
    assert not found.ok
    assert problem in found.problem
    assert found.detail == found.problem


def test_one_that_starts_later_will_be_found() -> None:
    assert look({"QT_IM_MODULE": "fcitx"}, WHEEL, set()).changes == PORTAL


def test_a_qt_without_any_plugin_is_said() -> None:
    assert "cannot speak" in look({"QT_IM_MODULE": "fcitx"}, {"compose"}, {"fcitx5"}).problem
    assert "cannot speak" in look({"QT_IM_MODULE": "ibus"}, {"compose"}, {"ibus"}).problem


def test_without_any_input_method_only_doctor_speaks() -> None:
    found = look({}, WHEEL, set())
    assert not found.ok
    assert not found.problem
    assert "fcitx5-chinese-addons" in found.detail


@pytest.mark.parametrize(
    "environment",
    [
        {"WAYLAND_DISPLAY": "wayland-0"},
        {"WAYLAND_DISPLAY": "wayland-0", "QT_IM_MODULE": "wayland"},
        {"QT_IM_MODULE": "compose"},
    ],
)
def test_what_needs_no_plugin_is_left_alone(environment: dict[str, str]) -> None:
    found = look(environment, WHEEL, set())
    assert found.ok
    assert found.changes == {}


def test_the_list_of_modules_gives_way() -> None:
    environment = {"QT_IM_MODULES": "fcitx", "QT_IM_MODULE": "fcitx"}
    prepare(environment)
    assert environment == PORTAL
