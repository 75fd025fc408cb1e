"""How a conversation becomes token ids: the layouts of CDial-GPT and of GPT2-chitchat.

CDial-GPT (thu-coai): ``[CLS] [speaker1] u1 [speaker2] u2 … [speakerN]``, the open reply begins
with its speaker's token and ends with ``[SEP]``; token types are 0 for ``[CLS]`` and the speaker's
id for each token of a segment. GPT2-chitchat: ``[CLS] u1 [SEP] u2 [SEP]``, no token types.

Text is one token a character: lower-cased, accents stripped, spaces removed, as BERT's tokenizer
does with characters that stand alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from server_bundle.chitchat import prompt_file
from server_bundle.chitchat.detokenise import Pieces
from server_bundle.chitchat.folder import (
    CheckpointError,
    Vocabulary,
    context_length,
    read_json,
    vocabulary_size,
)


class InvalidPrompt(ValueError):
    """The text or the history cannot be read; the message is one sentence for a person."""


@dataclass(frozen=True)
class Prompt:
    """A prompt ready for the engine. ``types`` is None for layouts without token types.

    ``dropped_turns`` earlier turns were left out so that the reply fits into the context.
    """

    ids: list[int]
    types: list[int] | None
    reply_type: int
    dropped_turns: int = 0


def normalise(text: str) -> str:
    """Lower-case, without accents, white space and control characters (as BertTokenizer cleans)."""
    kept = []
    for char in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(char)
        if category == "Mn" or category.startswith(("C", "Z")) or char in "\t\n\r\ufffd":
            continue
        kept.append(char)
    return "".join(kept)


@dataclass(frozen=True)
class PromptLayout:
    """A checkpoint's vocabulary and the way it wants its prompts.

    Attributes:
        tokens: the vocabulary, a token an id.
        speakers: ids of the user's and the bot's speaker token; None: turns end with ``[SEP]``.
        context: longest sequence of prompt and reply, in tokens.
        size: rows of the network's vocabulary, where it has more than there are tokens.
        turns: at most so many turns are given to the model, the new one among them; 0: all.
    """

    tokens: tuple[str, ...]
    cls: int
    pad: int
    sep: int
    unk: int
    speakers: tuple[int, int] | None
    context: int
    size: int = 0
    turns: int = 0
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {token: i for i, token in enumerate(self.tokens)})

    @classmethod
    def from_folder(cls, folder: Path) -> PromptLayout:
        """Read ``vocab.txt``, ``config.json`` and, where there is one, ``prompt.toml``; without
        one, speaker tokens mean CDial-GPT's layout.

        Raises:
            CheckpointError: the vocabulary is missing or lacks a special token.
        """
        tokens = read_vocabulary(folder)
        config = read_json(folder / "config.json")
        context = context_length(config)
        size = max(len(tokens), vocabulary_size(config) if config.get("vocab_size") else 0)
        file = prompt_file.read(folder, size, context)
        ids = file.ids if file else special_ids(folder, tokens)
        speakers = (ids["user"], ids["bot"]) if "user" in ids else None
        return cls(
            tokens,
            cls=ids["start"],
            pad=ids["pad"],
            sep=ids["end"],
            unk=ids["unknown"],
            speakers=speakers,
            context=file.context if file else context,
            size=size,
            turns=file.turns if file else 0,
        )

    @property
    def vocabulary(self) -> Vocabulary:
        """For sampling: ``[SEP]`` ends a reply, the other special tokens never occur in one."""
        special = {self.cls, self.pad, self.unk, *(self.speakers or ())}
        if "[MASK]" in self._ids:
            special.add(self._ids["[MASK]"])
        size = max(self.size, len(self.tokens))
        special.update(range(len(self.tokens), size))
        return Vocabulary(size, self.sep, tuple(sorted(special)))

    def encode_text(self, text: str) -> list[int]:
        """One id a character; INT ids, ``[UNK]`` for what the vocabulary lacks."""
        return [self._ids.get(char, self.unk) for char in normalise(text)]

    def text(self, token: int) -> str:
        """A token as it reads in a reply (word pieces without their ``##``)."""
        return self.tokens[token].removeprefix("##") if 0 <= token < len(self.tokens) else ""

    def pieces(self, continued: bool = False) -> Pieces:
        """Turns a reply's tokens into text: a token is a character, whatever stands before it."""
        return _Characters(self)

    def reply_prefix(self, ids: Sequence[int]) -> list[int]:
        """What a prompt holds of the reply already: the tokens after the one that opened it.

        In CDial-GPT's layout that is the bot's token, in GPT2-chitchat's the last ``[SEP]``. Empty
        where the prompt ends with somebody's own words.
        """
        openers = self.speakers or (self.sep,)
        start = next((i for i in range(len(ids) - 1, -1, -1) if ids[i] in openers), -1)
        if start < 0 or (self.speakers and ids[start] != self.reply_type(ids)):
            return []
        return list(ids[start + 1 :])

    def reply_type(self, ids: Sequence[int]) -> int:
        """The token type of every token of the reply: the reply speaker's id, 0 without types.

        A prompt that ends with text (the user's last words, or a reply to be continued) is answered
        by the bot, the second speaker.
        """
        if self.speakers is None:
            return 0
        return ids[-1] if ids[-1] in self.speakers else self.speakers[1]

    def encode(
        self,
        history: Sequence[str],
        text: str,
        reserve: int,
        reply_prefix: str = "",
        opening: Sequence[str] = (),
        system: str = "",
    ) -> Prompt:
        """The prompt for a reply to ``text``.

        Args:
            history: earlier turns, oldest first, user and bot in turn; oldest pairs are dropped
                until ``reserve`` tokens of the context are left for the reply.
            reply_prefix: how the reply begins; the prompt ends with it, of the reply's own type.
            opening: turns before the history, user and bot in turn, that are never dropped (a
                persona).
            system: none; this layout has no place for a system message.

        Raises:
            InvalidPrompt: a turn is empty, history or opening do not alternate, ``text`` alone or
                with the opening is too long, ``reply_prefix`` leaves no room to go on, or a system
                message is given.
        """
        if system:
            raise InvalidPrompt("this model takes no system message; give it an opening instead")
        turns = self._encode_turns(history, "history")
        lead = self._encode_turns(opening, "opening")
        current = self.encode_text(text)
        if not current:
            raise InvalidPrompt("the message is empty; write something first")
        prefix = self.encode_text(reply_prefix)
        reserve = min(reserve, self.context // 2)
        room = self.context - len(prefix) - reserve - 2  # [CLS] and the token opening the reply
        longest = self.context - 3 - 1
        if len(current) + 1 > room:
            if len(current) > longest - 16:
                count = f"has {len(current):,} characters"
                if len(current) > len(text):  # letters that fall into several tokens
                    count = f"has {len(text):,} characters that make {len(current):,} tokens"
                raise InvalidPrompt(f"the message {count}; this model reads at most {longest - 16}")
            if len(current) + len(prefix) > longest:
                raise InvalidPrompt(
                    f"the reply has {len(prefix):,} characters already; the model has no room "
                    f"to go on"
                )
            room = len(current) + 1
        used = len(current) + 1
        if lead:
            taken = sum(map(len, lead)) + len(lead)
            if used + taken + len(prefix) > longest - 16:
                raise InvalidPrompt(
                    f"the opening has {taken - len(lead):,} characters, which leaves no room for "
                    f"this message; shorten one of them"
                )
            room = max(room, used + taken)
            used += taken
        kept: list[list[int]] = []
        for i in range(len(turns) - 2, -1, -2):  # by pairs, so that the first is always the user's
            cost = len(turns[i]) + len(turns[i + 1]) + 2
            if used + cost > room or (self.turns and len(kept) + 3 > self.turns):
                break
            used += cost
            kept[:0] = turns[i : i + 2]
        return self._assemble([*lead, *kept, current], prefix, dropped=len(turns) - len(kept))

    def _encode_turns(self, turns: Sequence[str], name: str) -> list[list[int]]:
        if len(turns) % 2:
            raise InvalidPrompt(
                f"{name} must hold user and bot turns in pairs, but it has {len(turns)} turns"
            )
        encoded = [self.encode_text(turn) for turn in turns]
        for i, turn in enumerate(encoded):
            if not turn:
                raise InvalidPrompt(f"turn {i + 1} of the {name} is empty")
        return encoded

    def _assemble(self, turns: list[list[int]], prefix: list[int], dropped: int) -> Prompt:
        ids = [self.cls]
        if self.speakers is None:
            for turn in turns:
                ids.extend([*turn, self.sep])
            return Prompt([*ids, *prefix], None, 0, dropped)
        types = [0]
        for i, turn in enumerate(turns):
            speaker = self.speakers[i % 2]
            ids.extend([speaker, *turn])
            types.extend([speaker] * (len(turn) + 1))
        reply = self.speakers[1]
        return Prompt(
            [*ids, reply, *prefix], [*types, *[reply] * (len(prefix) + 1)], reply, dropped
        )


@dataclass
class _Characters:
    layout: PromptLayout

    def push(self, token: int) -> str:
        return self.layout.text(token)


def read_vocabulary(folder: Path) -> tuple[str, ...]:
    """The tokens of ``vocab.txt``, one a line. Raises :class:`CheckpointError`."""
    try:
        text = (folder / "vocab.txt").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"vocab.txt of {folder} cannot be read: {error}") from None
    # str.splitlines would also split at characters that are tokens themselves (U+2028, U+0085)
    return tuple(line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))


def special_ids(folder: Path, tokens: Sequence[str]) -> dict[str, int]:
    """The ids of the special tokens by what they are for: ``start``, ``end``, ``pad``,
    ``unknown`` and, where the vocabulary has speakers, ``user`` and ``bot``.

    Raises:
        CheckpointError: the vocabulary lacks one of the first four.
    """
    ids = {token: i for i, token in enumerate(tokens)}
    found = {}
    for use, token in (("start", "CLS"), ("end", "SEP"), ("pad", "PAD"), ("unknown", "UNK")):
        if f"[{token}]" not in ids:
            raise CheckpointError(f"vocab.txt of {folder} has no [{token}]")
        found[use] = ids[f"[{token}]"]
    if "[speaker1]" in ids and "[speaker2]" in ids:
        found |= {"user": ids["[speaker1]"], "bot": ids["[speaker2]"]}
    return found
