"""How a conversation becomes token ids for a model of transformers with a chat template.

Reads ``tokenizer.json`` (the ``tokenizers`` library's own file), ``chat_template.jinja``, the names
of special tokens in ``tokenizer_config.json``, and ``prompt.toml``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from server_bundle.chitchat import prompt_file
from server_bundle.chitchat.chat_template import ChatTemplate, TemplateRefuses
from server_bundle.chitchat.detokenise import Detokeniser, Pieces
from server_bundle.chitchat.folder import (
    CheckpointError,
    Vocabulary,
    context_length,
    read_json,
    vocabulary_size,
)
from server_bundle.chitchat.prompt import InvalidPrompt, Prompt
from server_bundle.chitchat.prompt_file import PromptFile

TEMPLATE = "chat_template.jinja"
TOKENIZER = "tokenizer.json"
# Private-use characters around control tokens that somebody typed: they are to be read as text.
_TYPED, _END_TYPED = "\U000f0000", "\U000f0001"
# A reply needs some room, whatever was asked for.
_LEAST_REPLY = 16


class TemplateLayout:
    """A tokenizer, a template and what ``prompt.toml`` says of them.

    Offers what :class:`server_bundle.chitchat.prompt.PromptLayout` does; there are no speakers.
    """

    speakers: tuple[int, int] | None = None

    def __init__(
        self, tokenizer: Tokenizer, template: ChatTemplate, size: int, file: PromptFile
    ) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._file = file
        self._detokeniser = Detokeniser(tokenizer)
        self.context = file.context
        added = tokenizer.get_added_tokens_decoder()
        special = {i for i, token in added.items() if token.special}
        # Embeddings are often padded to a round number of rows that no token has.
        unused = {i for i in range(size) if tokenizer.id_to_token(i) is None}
        stop = file.stop[0]
        self.vocabulary = Vocabulary(size, stop, tuple(sorted((special | unused) - {stop})))
        self.stops = file.stop
        self.pad = stop
        control = sorted((added[i].content for i in special), key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, control))) if control else None
        self._opener = self._find_opener()

    @classmethod
    def from_folder(cls, folder: Path) -> TemplateLayout:
        """Raises :class:`CheckpointError` where a file is missing or cannot be used."""
        config = read_json(folder / "config.json")
        size = vocabulary_size(config)
        file = prompt_file.read(folder, size, context_length(config))
        if file is None:
            raise CheckpointError(f"{prompt_file.NAME} is missing from {folder}")
        try:
            tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            source = (folder / TEMPLATE).read_text(encoding="utf-8")
        except Exception as error:  # tokenizers raises Exception itself
            raise CheckpointError(f"the tokenizer of {folder} cannot be read: {error}") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        words = read_json(folder / "tokenizer_config.json")
        return cls(tokenizer, ChatTemplate(source, special_names(words)), size, file)

    def text(self, token: int) -> str:
        """A token by itself, for a list of alternatives."""
        return self._detokeniser.shown(token)

    def pieces(self, continued: bool = False) -> Pieces:
        """Turns a reply's tokens into text; ``continued``: after a reply prefix."""
        return self._detokeniser.pieces(continued)

    def encode_text(self, text: str) -> list[int]:
        """The ids of a text, without any special token."""
        return self._ids(self._guard(text))

    def encode(
        self,
        history: Sequence[str],
        text: str,
        reserve: int,
        reply_prefix: str = "",
        opening: Sequence[str] = (),
        system: str = "",
    ) -> Prompt:
        """The prompt for a reply to ``text``; see ``PromptLayout.encode``.

        Args:
            system: what the system message says; empty: what ``prompt.toml`` has.

        Raises:
            InvalidPrompt: a turn is empty, history or opening do not alternate, the message is too
                long, or the template takes no such messages.
        """
        if not text.strip():
            raise InvalidPrompt("the message is empty; write something first")
        for name, turns in (("history", history), ("opening", opening)):
            if len(turns) % 2:
                raise InvalidPrompt(
                    f"{name} must hold user and bot turns in pairs, but it has {len(turns)} turns"
                )
            for i, turn in enumerate(turns):
                if not turn.strip():
                    raise InvalidPrompt(f"turn {i + 1} of the {name} is empty")
        said = system or self._file.system
        pairs = len(history) // 2
        most = pairs if not self._file.turns else min(pairs, (self._file.turns - 1) // 2)

        def attempt(kept: int) -> list[int]:
            turns = [*opening, *history[len(history) - 2 * kept :], text]
            return self._prompt(said, turns, reply_prefix)

        room = self.context - min(reserve, self.context // 2)
        ids = attempt(most)
        if len(ids) > room and most:
            low, high = 0, most  # the most pairs that fit are in [low, high)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if len(attempt(middle)) <= room else (low, middle)
            most, ids = low, attempt(low)
        if not ids:
            raise InvalidPrompt("this model's template makes nothing of a message")
        if len(ids) > self.context - _LEAST_REPLY:
            raise InvalidPrompt(
                f"the message has {len(text):,} characters that make {len(ids):,} tokens; "
                f"this model reads at most {self.context - _LEAST_REPLY}"
            )
        return Prompt(ids, None, 0, len(history) - 2 * most)

    def reply_prefix(self, ids: Sequence[int]) -> list[int]:
        """What a prompt holds of the reply already: what follows the opening of the reply."""
        width = len(self._opener)
        for start in range(len(ids) - width, -1, -1) if width else ():
            if list(ids[start : start + width]) == self._opener:
                return list(ids[start + width :])
        return []

    def reply_type(self, ids: Sequence[int]) -> int:
        """There are no token types: 0."""
        return 0

    def _prompt(self, system: str, turns: Sequence[str], reply_prefix: str) -> list[int]:
        messages = [{"role": "system", "content": system}] if system else []
        for i, turn in enumerate(turns):
            role = "assistant" if i % 2 else "user"
            messages.append({"role": role, "content": self._guard(turn)})
        try:
            rendered = self._template.render(messages)
        except TemplateRefuses as error:
            what = "takes no system message" if system else "takes no such messages"
            raise InvalidPrompt(f"this model's template {what}: {error}") from None
        except CheckpointError as error:
            raise InvalidPrompt(str(error)) from None
        return self._ids(rendered + self._guard(reply_prefix))

    def _guard(self, text: str) -> str:
        """Control tokens that somebody typed, marked."""
        plain = text.replace(_TYPED, "").replace(_END_TYPED, "")
        if self._control is None:
            return plain
        return self._control.sub(lambda match: f"{_TYPED}{match[0]}{_END_TYPED}", plain)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in re.split(f"({_TYPED}[^{_END_TYPED}]*{_END_TYPED})", text):
            if part.startswith(_TYPED):
                # Cut in two, a control token is a text like any other.
                typed = part.strip(_TYPED + _END_TYPED)
                for half in (typed[:1], typed[1:]):
                    ids += self._tokenizer.encode(half, add_special_tokens=False).ids
            elif part:
                ids += self._tokenizer.encode(part, add_special_tokens=False).ids
        return ids

    def _find_opener(self) -> list[int]:
        """The ids that open a reply: what the template adds for it."""
        try:
            message = [{"role": "user", "content": "x"}]
            open_, closed = self._template.render(message), self._template.render(message, False)
        except (CheckpointError, TemplateRefuses):
            return []
        return self._ids(open_[len(closed) :]) if open_.startswith(closed) else []


def special_names(words: dict[str, object]) -> dict[str, str]:
    """``bos_token`` and the like of a ``tokenizer_config.json``, for the template."""
    found = {}
    for name, value in words.items():
        word = value.get("content") if isinstance(value, dict) else value
        if name.endswith("_token") and isinstance(word, str):
            found[name] = word
    return found


def read_stops(folder: Path) -> tuple[int, ...]:
    """The ids that end a reply, of ``generation_config.json`` or else ``config.json``."""
    for name in ("generation_config.json", "config.json"):
        try:
            found = json.loads((folder / name).read_text(encoding="utf-8")).get("eos_token_id")
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        ids = found if isinstance(found, list) else [found]
        if ids and all(isinstance(i, int) and not isinstance(i, bool) for i in ids):
            return tuple(ids)
    return ()
