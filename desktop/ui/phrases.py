"""Sentences that come from the server and the launcher, in the language of the window.

They arrive in English, some with names and numbers in them. Each is listed here as a template, so
that it can be translated; a sentence that is not listed is shown as it came.
"""

from __future__ import annotations

import re
from functools import cache

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from desktop.ui import model_phrases, server_phrases, settings_phrases

_SOURCES = (
    # Why this launcher.
    QT_TRANSLATE_NOOP(
        "phrases", "no NVIDIA GPU and no Docker engine found; using the built-in Triton"
    ),
    QT_TRANSLATE_NOOP("phrases", "no NVIDIA GPU found; using the built-in Triton"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "an NVIDIA GPU but no Docker engine found; using the built-in Triton on the CPU",
    ),
    QT_TRANSLATE_NOOP("phrases", "the built-in Triton needs no image; using it, on the CPU"),
    QT_TRANSLATE_NOOP("phrases", "chosen by the user"),
    # What the launcher is doing.
    QT_TRANSLATE_NOOP("phrases", "looking for a server"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "a server with other settings is in use ({0}); stop it first (tritalk server stop) to have this one",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP("phrases", "starting the supervisor"),
    QT_TRANSLATE_NOOP("phrases", "waiting for the previous server to stop"),
    QT_TRANSLATE_NOOP("phrases", "waiting for another start to finish"),
    QT_TRANSLATE_NOOP("phrases", "preparing the model repository"),
    QT_TRANSLATE_NOOP("phrases", "starting Triton"),
    QT_TRANSLATE_NOOP("phrases", "loading {0} ({1} of {2})"),
    QT_TRANSLATE_NOOP("phrases", "running without {0}"),
    QT_TRANSLATE_NOOP("phrases", "ready"),
    QT_TRANSLATE_NOOP("phrases", "restarting Triton: {0}"),
    QT_TRANSLATE_NOOP("phrases", "the process of the model {0} was killed"),
    QT_TRANSLATE_NOOP("phrases", "stopping: {0}"),
    QT_TRANSLATE_NOOP("phrases", "stopped: {0}"),
    QT_TRANSLATE_NOOP("phrases", "ended: its supervisor was killed"),
    QT_TRANSLATE_NOOP("phrases", "Triton failed {0} times in a row: {1}"),
    # What is wrong with a request, or with its server.
    QT_TRANSLATE_NOOP("phrases", "the message is empty; write something first"),
    QT_TRANSLATE_NOOP("phrases", "the message has {0} characters; this model reads at most {1}"),
    QT_TRANSLATE_NOOP(
        "phrases", "the reply has {0} characters already; the model has no room to go on"
    ),
    QT_TRANSLATE_NOOP("phrases", "the address is empty"),
    QT_TRANSLATE_NOOP("phrases", "the address has {0} characters; at most {1} can be parsed"),
    QT_TRANSLATE_NOOP(
        "phrases", "the address holds no readable character, only control characters"
    ),
    QT_TRANSLATE_NOOP("phrases", "the server ended the request"),
    QT_TRANSLATE_NOOP("phrases", "the Triton server does not answer; it may be restarting"),
    QT_TRANSLATE_NOOP("phrases", "the server's list of models is not understood"),
    QT_TRANSLATE_NOOP(
        "phrases", "the server's answer is not understood; it is another Triton or an older one"
    ),
    QT_TRANSLATE_NOOP("phrases", "another program took the HTTP port"),
    QT_TRANSLATE_NOOP("phrases", "{0} is not valid Unicode text: {1}"),
    QT_TRANSLATE_NOOP("phrases", "the server is not running"),
    QT_TRANSLATE_NOOP("phrases", "the server did not become ready"),
    QT_TRANSLATE_NOOP("phrases", "the reply broke off"),
    # What is wrong with the input method.
    QT_TRANSLATE_NOOP(
        "phrases", "this session asks for {0}, which is not running; start it to type Chinese"
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "this session asks for {0}, which this Qt cannot speak to; use fcitx5 or ibus to type Chinese",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "This needs about {0} of memory, and {1} are free; close other programs, or try again to do it all the same",  # noqa: E501
    ),
    # What is wrong with a file of a conversation.
    QT_TRANSLATE_NOOP("phrases", "the conversation does not exist any more"),
    QT_TRANSLATE_NOOP("phrases", "the file's name must end in {0}"),
    QT_TRANSLATE_NOOP("phrases", "{0} cannot be written: {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} cannot be read: {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} holds no UTF-8 text"),
    QT_TRANSLATE_NOOP("phrases", "the file is no JSON"),
    QT_TRANSLATE_NOOP("phrases", "the file holds no conversation exported by Tritalk"),
    QT_TRANSLATE_NOOP("phrases", "the file was written by a newer Tritalk"),
    QT_TRANSLATE_NOOP("phrases", "the file is damaged ({0})"),
    # What is wrong with a file of addresses, or with one of its rows.
    QT_TRANSLATE_NOOP("phrases", "the address is not {0} text"),
    QT_TRANSLATE_NOOP("phrases", "the server failed on this address: {0}"),
    QT_TRANSLATE_NOOP("phrases", "{0} is no file; check its name"),
    QT_TRANSLATE_NOOP("phrases", "{0} is of no known kind; known are {1} files"),
    QT_TRANSLATE_NOOP("phrases", "{0} holds no rows"),
    QT_TRANSLATE_NOOP("phrases", "{0} is no readable XLSX file"),
    QT_TRANSLATE_NOOP("phrases", "{0} was changed while it was read; open it again"),
    QT_TRANSLATE_NOOP("phrases", "{0} is the file that is read; write to another one"),
    QT_TRANSLATE_NOOP("phrases", "{0} rows do not fit into a spreadsheet; choose csv or json"),
    QT_TRANSLATE_NOOP("phrases", "{0} was written by another Tritalk"),
    QT_TRANSLATE_NOOP("phrases", "{0} is damaged ({1})"),
    QT_TRANSLATE_NOOP("phrases", "another Tritalk is working on {0}; wait for it"),
    QT_TRANSLATE_NOOP("phrases", "wait for {0}, which is in work, or cancel it first"),
)

_TEMPLATES = tuple(
    str(source)
    for source in (
        *_SOURCES,
        *server_phrases.SOURCES,
        *settings_phrases.SOURCES,
        *model_phrases.SOURCES,
    )
)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Each template with the expression its sentences match; those that say more come first."""

    def said(template: str) -> tuple[bool, int]:
        return "{" in template, -len(re.sub(r"\{\d\}", "", template))

    result = []
    for template in sorted(_TEMPLATES, key=said):
        parts = (re.escape(part) for part in re.split(r"\{\d\}", template))
        result.append((re.compile("(.+?)".join(parts), re.IGNORECASE), template))
    return tuple(result)


def known(phrase: str) -> bool:
    """Whether the phrase is one that can be translated."""
    return any(pattern.fullmatch(_bare(phrase)) for pattern, _ in _patterns())


def phrase_words(phrase: str) -> str:
    """The phrase translated, parts that are phrases themselves included; else as it came."""
    bare = _bare(phrase)
    for pattern, template in _patterns():
        if match := pattern.fullmatch(bare):
            translated = QCoreApplication.translate("phrases", template)
            return _capital(translated.format(*(_inner(group) for group in match.groups())))
    return _capital(bare)


def sentence(phrase: str) -> str:
    """The phrase as a sentence, with the full stop of the language."""
    words = phrase_words(phrase)
    if not words or words[-1] in ".!?。！？":
        return words
    stop = "。" if words[-1] > "\u2e7f" else "."
    return words + stop


def _inner(part: str) -> str:
    words = phrase_words(part)
    return words if known(part) and words != _capital(part) else part


def _bare(phrase: str) -> str:
    return " ".join(phrase.split()).removesuffix(".")


def _capital(text: str) -> str:
    first = text.partition(" ")[0]
    if "_" in first or "/" in first:
        return text  # the name of a model, a path, an address
    return text[:1].upper() + text[1:]
