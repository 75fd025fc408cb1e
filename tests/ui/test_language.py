"""Every string is translated, the files are up to date, and switching needs no restart."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot

from desktop import backup, restore, updates
from desktop.launchers.choice import reason_for_embedded
from desktop.ui import translate
from desktop.ui.language import resolve
from desktop.ui.phrases import known, phrase_words, sentence
from desktop.ui.status_bar import ElidedLabel
from tests.ui.conftest import Fake

FILES = ("tritalk_zh_CN.ts", "tritalk_en.ts")


@pytest.mark.parametrize("name", FILES)
def test_no_string_is_untranslated(name: str) -> None:
    open_strings = []
    for message in ET.parse(translate.TRANSLATIONS / name).iter("message"):
        source = message.findtext("source") or ""
        found = message.find("translation")
        assert found is not None
        texts = [form.text for form in found.findall("numerusform")] or [found.text]
        if found.get("type") or not all(texts):
            open_strings.append(source)
            continue
        for number, text in enumerate(texts):
            # A placeholder that is lost would be a word that is lost; one of a thing needs no "1".
            wanted = sorted(re.findall(r"\{\d\}|%n", source))
            has = sorted(re.findall(r"\{\d\}|%n", text or ""))
            if len(texts) > 1 and number == 0 and "%n" not in has and "%n" in wanted:
                wanted.remove("%n")
            assert has == wanted, source
    assert open_strings == []


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_up_to_date_with_the_sources(tmp_path: Path, name: str) -> None:
    def strings(path: Path) -> set[tuple[str, str]]:
        return {
            (context.findtext("name") or "", message.findtext("source") or "")
            for context in ET.parse(path).iter("context")
            for message in context.iter("message")
        }

    for each in FILES:
        shutil.copy(translate.TRANSLATIONS / each, tmp_path)
    translate.update(tmp_path)
    assert strings(tmp_path / name) == strings(translate.TRANSLATIONS / name)
    translate.compile_all(tmp_path)
    compiled = Path(name).with_suffix(".qm")
    assert (tmp_path / compiled).read_bytes() == (translate.TRANSLATIONS / compiled).read_bytes()


def visible_texts(window: QWidget) -> set[str]:
    found = set()
    for widget in window.findChildren(QWidget):
        if isinstance(widget, QLabel | QAbstractButton):
            full = widget.full_text() if isinstance(widget, ElidedLabel) else widget.text()
            found |= {full, widget.toolTip(), widget.accessibleName()}
    return {text for text in found if text}


def test_switching_leaves_no_english_behind(qtbot: QtBot, fake: Callable[..., Fake]) -> None:
    one = fake()
    qtbot.waitUntil(lambda: one.window.status.words.full_text().startswith("Ready"))
    # The model's limits come a moment later, and are in the words of the sampling panel.
    qtbot.waitUntil(lambda: "0 of 512 tokens" in visible_texts(one.window))
    english = visible_texts(one.window)
    assert "Send" in english
    one.window.rail.language_actions["zh"].trigger()
    one.app.qt.processEvents()
    chinese = visible_texts(one.window)
    # What may stay: names, and what the window took from the server.
    same = {t for t in english & chinese if not re.search("[\u4e00-\u9fff]", t)}
    names = set(one.app.session.status.models) | {"gRPC", "HTTP", "4711", "Docker", "F8"}
    names |= {one.app.session.status.endpoint.grpc, one.app.session.status.endpoint.http}
    assert same <= names
    assert "发送" in chinese
    assert one.app.settings.value("language") == "zh"
    one.window.rail.language_actions["en"].trigger()
    one.app.qt.processEvents()
    assert visible_texts(one.window) == english
    one.app.settings.remove("language")


#: What shows words, and the name under which a screen reader tells them.
SHOWING = {
    *("setText", "setToolTip", "setWindowTitle", "setPlaceholderText", "setAccessibleName"),
    *("setAccessibleDescription", "setInformativeText", "addItem", "setTitle", "setStatusTip"),
    *("QLabel", "QPushButton", "QCheckBox", "QRadioButton", "QGroupBox", "QAction", "QMessageBox"),
}
#: Names, also of keys, which are the same in every language.
NAMES = {"Tritalk", "GPU", "CPU", "Docker", "gRPC", "HTTP", "Apache-2.0", "English", "(Ctrl+"}


def test_no_word_is_written_past_the_translator() -> None:
    found = []
    for path in sorted(translate.SOURCES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name not in SHOWING:
                continue
            for argument in (*node.args, *(each.value for each in node.keywords)):
                parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
                for part in parts:
                    words = part.value if isinstance(part, ast.Constant) else None
                    if isinstance(words, str) and re.search("[A-Za-z]{2}", words):
                        found.append((path.name, node.lineno, words))
    assert [each for each in found if each[2].strip(" ·") not in NAMES] == []


def test_sentences_about_backups_and_updates_are_known() -> None:
    """Every text of an error in these files, with what it is about filled in."""
    said = []
    for module in (backup, restore, updates):
        assert module.__file__ is not None
        for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            for text in node.exc.args:
                if isinstance(text, ast.JoinedStr):
                    parts = (p.value if isinstance(p, ast.Constant) else "7" for p in text.values)
                    said.append("".join(str(part) for part in parts))
                elif isinstance(text, ast.Constant) and text.value != "cancelled":
                    said.append(str(text.value))
    said += [restore._NO_BACKUP, restore._NEWER, restore._DAMAGED.format("7")]
    said += [updates.check_url(""), updates.check_url("https://me:pw@example.org")]
    quiet = "redirected to where nothing is asked"  # becomes "does not answer"
    assert [each for each in said if not known(each) and each != quiet] == []
    assert len(said) > 10


def test_sentences_of_the_launcher_are_known(fake: Callable[..., Fake]) -> None:
    one = fake()
    assert known(reason_for_embedded())
    one.app.language.apply("zh")
    assert phrase_words("loading ibuddha_chitchat (2 of 5)") == "正在加载 ibuddha_chitchat（2/5）"
    assert phrase_words("restarting Triton: the process of the model x was killed") == (
        "正在重启 Triton：模型 x 的进程被终止"
    )
    assert sentence("the message is empty; write something first") == "消息是空的，请先写点什么。"
    assert sentence("The address has 9000 characters; at most 510 can be parsed.") == (
        "地址有 9000 个字，最多可以解析 510 个字。"
    )
    assert sentence("some new sentence") == "Some new sentence."


@pytest.mark.parametrize(
    ("wanted", "found"), [("zh_CN.UTF-8", "zh"), ("zh", "zh"), ("en_GB", "en"), ("de", "en")]
)
def test_the_environment_may_choose(
    monkeypatch: pytest.MonkeyPatch, wanted: str, found: str
) -> None:
    monkeypatch.setenv("TRITALK_LANG", wanted)
    assert resolve("system") == found
    assert resolve("en") == "en"


def test_translations_need_no_tool_to_be_installed() -> None:
    """lupdate and lrelease come with the Qt the application depends on."""
    for tool in ("lupdate", "lrelease"):
        done = subprocess.run(
            [str(translate.tool_path(tool)), "-version"], capture_output=True, text=True, check=True
        )
        assert tool in done.stdout
