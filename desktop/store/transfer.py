"""A conversation as a file: JSON with everything (and back), Markdown and HTML to be read.

JSON, version 1: ``{"format": "tritalk-conversation", "version": 1, "title", "created", "updated",
"settings": {"sampling", "history_turns", "persona", "model"}, "messages": [...]}``. A message has
``parent`` (the index of an earlier message, null for a first one), ``shown`` (whether it is on the
path that was shown), ``role`` (user, reply), ``text`` and, for replies, ``stage``, ``error``,
``model``, ``finish_reason``, ``input_tokens``, ``seconds_to_first_token``, ``tokens_per_second``,
``tokens``: ``text``, ``id``, ``confidence`` (null: chosen by hand), ``probability``,
``alternatives`` as ``[text, id, probability]``. Times are seconds since 1970. ``persona`` and
``model`` may be missing.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.store import convert
from desktop.store.database import Database
from desktop.store.records import (
    DEFAULT_SETTINGS,
    ChatSettings,
    ConversationInfo,
    Message,
    Role,
    Stage,
    new_id,
)
from desktop.store.tree import MessageTree
from desktop.triton.types import Alternative, Finished, Sampling, Token, TritalkError

_FORMAT = "tritalk-conversation"
_VERSION = 1


class TransferError(TritalkError):
    """A file cannot be read or written: one sentence."""


@dataclass(frozen=True)
class Conversation:
    """A whole conversation with its tokens; ``path`` is what it shows."""

    info: ConversationInfo
    settings: ChatSettings
    messages: tuple[Message, ...]
    path: tuple[Message, ...]


def read(database: Database, conversation: int) -> Conversation:
    """Raises :class:`TransferError` where it does not exist (any more)."""
    stored = database.load(conversation)
    if stored is None:
        raise TransferError("the conversation does not exist any more")
    messages = tuple(
        replace(each, tokens=database.tokens(each.id), tokens_loaded=True)
        for each in stored.messages
    )
    tree = MessageTree(messages, stored.active_root)
    return Conversation(
        stored.info, stored.settings or DEFAULT_SETTINGS, messages, tuple(tree.path())
    )


def export(database: Database, conversation: int, path: Path) -> None:
    """Write a file of the kind its name ends in (.json, .html, .md), whole or not at all.

    Raises :class:`TransferError`.
    """
    writers: dict[str, Callable[[Conversation], str]] = {
        ".json": to_json,
        ".html": to_html,
        ".md": to_markdown,
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise TransferError(f"the file's name must end in {', '.join(writers)}")
    text = writer(read(database, conversation))
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise TransferError(f"{path} cannot be written: {reason}") from error


def import_file(database: Database, path: Path) -> int:
    """Add the conversation of a JSON file as a new one; its id. Raises :class:`TransferError`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise TransferError(f"{path} holds no UTF-8 text") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise TransferError(f"{path} cannot be read: {reason}") from error
    found = from_json(text)
    database.adopt(found.info, found.settings, found.messages, found.path)
    return found.info.id


# JSON.


def to_json(conversation: Conversation) -> str:
    info = conversation.info
    places = {message.id: place for place, message in enumerate(conversation.messages)}
    shown = {message.id for message in conversation.path}
    return json.dumps(
        {
            "format": _FORMAT,
            "version": _VERSION,
            "title": info.title,
            "created": info.created,
            "updated": info.updated,
            "settings": asdict(conversation.settings),
            "messages": [
                _message_to_json(message, places, message.id in shown)
                for message in conversation.messages
            ],
        },
        ensure_ascii=False,
        indent=1,
    )


def _message_to_json(message: Message, places: dict[int, int], shown: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "parent": places[message.parent] if message.parent is not None else None,
        "shown": shown,
        "role": message.role,
        "text": message.text,
    }
    if message.role is Role.REPLY:
        finished = message.finished
        data |= {
            "stage": message.stage,
            "error": message.error,
            "model": message.model,
            "finish_reason": finished.finish_reason if finished else None,
            "input_tokens": finished.num_input_tokens if finished else 0,
            "seconds_to_first_token": finished.seconds_to_first_token if finished else None,
            "tokens_per_second": finished.tokens_per_second if finished else None,
            "tokens": [
                {
                    "text": token.text,
                    "id": token.token_id,
                    "confidence": None if math.isnan(token.confidence) else token.confidence,
                    "probability": token.probability,
                    "alternatives": [
                        [a.text, a.token_id, a.probability] for a in token.alternatives
                    ],
                }
                for token in message.tokens
            ],
        }
    return data


def from_json(text: str) -> Conversation:
    """The conversation of a file, under new ids. Raises :class:`TransferError`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise TransferError("the file is no JSON") from None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise TransferError("the file holds no conversation exported by Tritalk")
    if data.get("version") != _VERSION:
        raise TransferError("the file was written by a newer Tritalk")
    try:
        return _from_data(data)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise TransferError(f"the file is damaged ({error})") from None
    except RecursionError:
        raise TransferError("the file is damaged (it nests too deeply)") from None


def _from_data(data: dict[str, Any]) -> Conversation:
    messages: list[Message] = []
    path: list[Message] = []
    for each in data["messages"]:
        parent = None
        if each["parent"] is not None:
            place = _whole(each["parent"])
            if place >= len(messages):
                raise ValueError("a message comes before its parent")
            parent = messages[place].id
        messages.append(_message_from_data(each, parent))
        if each["shown"] is True:
            path.append(messages[-1])
    sampling = data["settings"]["sampling"]
    known = {k: v for k, v in sampling.items() if k in vars(Sampling()) and _is_number(v)}
    now = time.time()
    info = ConversationInfo(
        new_id(), _text(data["title"]), created=_number(data["created"]), updated=now
    )
    settings = ChatSettings(
        Sampling(**known),
        _whole(data["settings"]["history_turns"]),
        _text(data["settings"].get("persona", "")),
        _text(data["settings"].get("model", "")),
    )
    return Conversation(info, settings, tuple(messages), tuple(path))


def _message_from_data(data: dict[str, Any], parent: int | None) -> Message:
    role = Role(data["role"])
    message = Message(role, _text(data["text"]), parent=parent)
    if role is Role.USER:
        return message
    message.tokens = [
        Token(
            _text(token["text"]),
            _token_id(token["id"]),
            math.nan if token["confidence"] is None else _number(token["confidence"]),
            _number(token["probability"]),
            tuple(
                Alternative(_text(t), _whole(i), _number(p)) for t, i, p in token["alternatives"]
            ),
        )
        for token in data["tokens"]
    ]
    message.stage = Stage(data["stage"])
    if message.stage in (Stage.WAITING, Stage.STREAMING):
        message.stage = Stage.INTERRUPTED
    message.error = _text(data["error"])
    message.model = _text(data.get("model", ""))
    if message.tokens:
        message.text = "".join(token.text for token in message.tokens)
        shares = [token.probability for token in message.tokens]
        message.mean_probability = sum(shares) / len(shares)
    if data["finish_reason"] is not None:
        first, rate = data["seconds_to_first_token"], data["tokens_per_second"]
        message.finished = Finished(
            _text(data["finish_reason"]),
            message.text,
            len(message.tokens),
            _whole(data["input_tokens"]),
            None if first is None else _number(first),
            None if rate is None else _number(rate),
        )
    return message


def _text(value: Any) -> str:
    """As the store keeps it, so that nothing is there that could not be written out again."""
    if not isinstance(value, str):
        raise ValueError(f"{json.dumps(value)[:40]} is no text")
    return convert.clean(value)


def _is_number(value: Any) -> bool:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and math.isfinite(value)


def _number(value: Any) -> float:
    if not _is_number(value):
        raise ValueError(f"{json.dumps(value)[:40]} is no number")
    return float(value)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{json.dumps(value)[:40]} is no whole number")
    return value


def _token_id(value: Any) -> int:
    return value if value == -1 and not isinstance(value, float) else _whole(value)  # -1: fixed


# To be read.


def to_markdown(conversation: Conversation) -> str:
    """What is shown, as Markdown; the characters that would be marks are escaped."""
    lines = [f"# {_marked_down(conversation.info.title)}", ""]
    for message in conversation.path:
        speaker = "**User**" if message.role is Role.USER else "**Tritalk**"
        text = _marked_down(message.text).replace("\n", "  \n") or "–"
        lines += [f"{speaker}: {text}", ""]
    return "\n".join(lines)


def _marked_down(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>()#+-!|~" else char for char in text)


def to_html(conversation: Conversation) -> str:
    """What is shown, as one file without scripts; tokens have their colours and, under the mouse,
    their probabilities."""
    style = json.loads((paths.resources_dir() / "style" / "tokens.json").read_text("utf-8"))
    stops: Sequence[float] = style["confidence"]["stops"]
    title = escape(conversation.info.title)
    body = []
    for message in conversation.path:
        if message.role is Role.USER:
            body.append(f'<p class="user"><span>{_breaks(message.text)}</span></p>')
        elif message.tokens:
            spans = "".join(_span(token, stops) for token in message.tokens)
            body.append(f'<p class="reply">{spans}</p>')
        else:
            body.append(f'<p class="reply">{_breaks(message.text)}</p>')
    return (
        '<!doctype html>\n<html><head><meta charset="utf-8">\n'
        f"<title>{title}</title>\n<style>\n{_css(style, 'light')}"
        f"@media (prefers-color-scheme: dark) {{\n{_css(style, 'dark')}}}\n</style></head>\n"
        f"<body>\n<h1>{title}</h1>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _span(token: Token, stops: Sequence[float]) -> str:
    shade = next((n for n, stop in enumerate(stops) if token.probability >= stop), len(stops) - 1)
    unsure = " u" if token.probability < 0.2 else ""
    others = ", ".join(f"{a.text} {a.probability:.1%}" for a in token.alternatives)
    told = escape(f"{token.probability:.1%} ({others})", quote=True)
    return f'<span class="t{shade}{unsure}" title="{told}">{_breaks(token.text)}</span>'


def _breaks(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _css(style: dict[str, Any], scheme: str) -> str:
    colors, tints = style[scheme], style["confidence"][scheme]
    rules = [
        f"body {{ background: {colors['window']}; color: {colors['text']}; max-width: 46rem;"
        " margin: 2rem auto; padding: 0 1rem; font: 16px/1.7 sans-serif }",
        f".user {{ text-align: right }} .user span {{ background: {colors['user_bubble']};"
        " border-radius: 14px; padding: 6px 14px; display: inline-block; text-align: left }",
        ".u { text-decoration: underline dotted }",
    ]
    rules += [f".t{number} {{ background: {tint} }}" for number, tint in enumerate(tints)]
    return "\n".join(rules) + "\n"
