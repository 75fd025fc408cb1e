"""How the database's rows and texts become records, and records rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from desktop.store.records import ChatSettings, ConversationInfo, Message, Role, Stage
from desktop.triton.types import Finished, Sampling

#: Characters of a message in the list of conversations.
PREVIEW = 80
# Characters of a search hit's line before the word: the line is narrow.
_BEFORE = 6


def clean(text: str) -> str:
    """Text as SQLite can keep it: half surrogates are replaced, NUL would end it."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def escape(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def snippet(text: str, word: str) -> str:
    """A line around the first place of ``word``."""
    flat = " ".join(text.split())
    at = max(0, flat.lower().find(word.lower()) - _BEFORE)
    return ("…" if at else "") + flat[at : at + PREVIEW]


def info(row: Sequence[Any]) -> ConversationInfo:
    identity, title, preview, created, updated, pinned = row
    return ConversationInfo(identity, title, preview, created, updated, bool(pinned))


def message(row: Sequence[Any]) -> Message:
    identity, parent, child, role, text, stage, error, reason, *figures = row
    n_in, first, rate, mean, model, n = figures
    finished = Finished(reason, text, n, n_in, first, rate) if reason else None
    return Message(
        Role(role),
        text,
        Stage(stage),
        finished=finished,
        error=error,
        id=identity,
        parent=parent,
        active_child=child,
        mean_probability=mean,
        tokens_loaded=n == 0,
        model=model,
    )


def write_settings(settings: ChatSettings) -> str:
    """All but persona and model, which have columns of their own."""
    data = asdict(settings)
    del data["persona"], data["model"]
    return json.dumps(data)


def read_settings(text: str, persona: str = "", model: str = "") -> ChatSettings | None:
    """Fields that this version does not know are left out, so that nothing makes a conversation
    unreadable."""
    try:
        data = json.loads(text) if text else None
        if data is None:
            return None
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in data.get("sampling", {}).items()
            if name in vars(Sampling())
        }
        return ChatSettings(Sampling(**known), int(data.get("history_turns", 2)), persona, model)
    except (ValueError, TypeError, AttributeError):
        return None
