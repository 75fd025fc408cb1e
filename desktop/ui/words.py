"""Things that have no text of their own, said in the language of the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from desktop.launchers.base import ServerState, ServerStatus
from desktop.store.schema import Notice, NoticeKind
from desktop.triton.types import TritalkError
from desktop.ui.phrases import phrase_words, sentence


def error_words(error: Exception) -> str:
    """One sentence for a person. Errors that are no :class:`TritalkError` are faults of ours."""
    if isinstance(error, TritalkError) and str(error).strip():
        return sentence(str(error))
    return QCoreApplication.translate("words", "Something went wrong: {0}").format(
        sentence(str(error)) or type(error).__name__
    )


def state_words(state: ServerState) -> str:
    translate = QCoreApplication.translate
    return {
        ServerState.STARTING: translate("words", "Starting"),
        ServerState.READY: translate("words", "Ready"),
        ServerState.DEGRADED: translate("words", "Degraded"),
        ServerState.STOPPING: translate("words", "Stopping"),
        ServerState.STOPPED: translate("words", "Stopped"),
        ServerState.FAILED: translate("words", "Failed"),
    }[state]


def launcher_words(launcher: str) -> str:
    translate = QCoreApplication.translate
    return {
        "": "",
        "embedded": translate("words", "embedded Triton"),
        "docker": translate("words", "Triton in Docker"),
        "remote": translate("words", "remote Triton"),
    }.get(launcher, launcher)


def status_words(status: ServerStatus) -> str:
    """The status bar's line: state, launcher, and what is happening."""
    parts = [state_words(status.state)]
    if status.launcher:
        parts.append(launcher_words(status.launcher))
    if status.state is not ServerState.READY and (message := message_words(status)):
        parts.append(message)
    return " · ".join(parts)


def message_words(status: ServerStatus) -> str:
    """What happens at the moment."""
    return phrase_words(status.message)


def reason_words(status: ServerStatus) -> str:
    """Why this launcher was chosen."""
    return phrase_words(status.reason)


def model_words(state: str) -> str:
    """A model's state; a reason after a colon stays as the server said it."""
    translate = QCoreApplication.translate
    head, colon, reason = state.partition(":")
    known = {
        "READY": translate("words", "ready"),
        "LOADING": translate("words", "loading"),
        "UNLOADING": translate("words", "unloading"),
        "UNAVAILABLE": translate("words", "unavailable"),
    }
    return known.get(head, head) + colon + reason


def notice_words(notice: Notice) -> str:
    """What happened to the file of the conversations, and what became of them."""
    translate = QCoreApplication.translate
    words = {
        NoticeKind.DAMAGED: translate(
            "words",
            "The file of your conversations is damaged. It was kept as {0}, and a new one begun.",
        ),
        NoticeKind.NEWER: translate(
            "words",
            "Your conversations were written by a newer Tritalk. They were kept as {0}, "
            "and a new file begun.",
        ),
        NoticeKind.MEMORY: translate(
            "words",
            "Conversations cannot be saved ({0}); they last until you close the window.",
        ),
        NoticeKind.UNWRITTEN: translate(
            "words", "Saving failed ({0}); it is tried again as long as the window is open."
        ),
    }
    return words[notice.kind].format(notice.detail)


def entity_name(entity_type: str) -> str:
    """The short name shown beside an entity; the type itself where it has none."""
    translate = QCoreApplication.translate
    return {
        "prov": translate("entity", "province"),
        "city": translate("entity", "city"),
        "district": translate("entity", "district"),
        "town": translate("entity", "town"),
        "community": translate("entity", "community"),
        "road": translate("entity", "road"),
        "roadno": translate("entity", "road no."),
        "poi": translate("entity", "place"),
        "subpoi": translate("entity", "sub-place"),
        "houseno": translate("entity", "building"),
        "cellno": translate("entity", "unit"),
        "floorno": translate("entity", "floor"),
        "roomno": translate("entity", "room"),
    }.get(entity_type, entity_type)
