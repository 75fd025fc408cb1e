"""Token ids → text, a piece a token, as a reply streams.

A token of a sub-word vocabulary may end in the middle of a character. Such bytes wait for the rest
of it: no piece ever holds half a character, and bytes that never become one are dropped.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, Protocol


class Pieces(Protocol):
    """Turns one reply's tokens into text."""

    def push(self, token: int) -> str:
        """The text this token completes, perhaps none."""
        ...


def _byte_letters() -> dict[str, int]:
    """The letters that byte-level BPE writes bytes as (GPT-2's ``bytes_to_unicode``)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(b): b for b in printable}
    others = (b for b in range(256) if b not in set(printable))
    return letters | {chr(256 + n): b for n, b in enumerate(others)}


_LETTERS = _byte_letters()
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "\u2581"  # SentencePiece's visible space


class Detokeniser:
    """What of a ``tokenizers.Tokenizer`` is needed to turn ids into bytes, id by id.

    Byte-level BPE (GPT-2, Qwen, Llama 3) and SentencePiece with or without bytes (Llama 2, Gemma)
    are exact; any other decoder is asked for one token at a time.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        description = json.loads(tokenizer.to_str())
        kinds = set(_kinds(description.get("decoder")))
        self._byte_level = "ByteLevel" in kinds
        self._pieces = bool(kinds & {"Metaspace", "ByteFallback"}) or _replaces(description)
        # Which decoders take a space from the beginning of a text.
        self._strips = self._pieces and ("Strip" in kinds or "Metaspace" in kinds)
        self._special = {t["id"] for t in description.get("added_tokens", []) if t["special"]}
        self._added = {t["id"]: t["content"] for t in description.get("added_tokens", [])}

    def bytes_of(self, token: int) -> bytes:
        """A token's own bytes, UTF-8; none for a special token or an id that is none."""
        if token in self._special:
            return b""
        if token in self._added:
            return str(self._added[token]).encode()
        word = self._tokenizer.id_to_token(token)
        if word is None:
            return b""
        if self._byte_level:
            if all(letter in _LETTERS for letter in word):
                return bytes(_LETTERS[letter] for letter in word)
            return str(word).encode()
        if self._pieces:
            if byte := _BYTE_TOKEN.fullmatch(word):
                return bytes([int(byte[1], 16)])
            return str(word).replace(_SPACE, " ").encode()
        return str(self._tokenizer.decode([token])).encode()

    def pieces(self, continued: bool) -> Pieces:
        """For one reply; ``continued``: it goes on within a text that has begun."""
        return _Stream(self, strip=self._strips and not continued)

    def shown(self, token: int) -> str:
        """A token for a list of alternatives: its text; bytes that are no character as ``<0xE4>``;
        a special token by its name."""
        if token in self._special:
            return str(self._added[token])
        if self._tokenizer.id_to_token(token) is None:
            return f"<{token}>"  # a row of the network's vocabulary that no token has
        data = self.bytes_of(token)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return "".join(f"<0x{byte:02X}>" for byte in data)


class _Stream:
    def __init__(self, tokens: Detokeniser, *, strip: bool) -> None:
        self._tokens = tokens
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        self._strip = strip

    def push(self, token: int) -> str:
        text = self._decoder.decode(self._tokens.bytes_of(token))
        if self._strip and text:
            text, self._strip = text.removeprefix(" "), False
        return text


def _kinds(decoder: Any) -> list[str]:
    if not isinstance(decoder, dict):
        return []
    inner = [kind for each in decoder.get("decoders", []) for kind in _kinds(each)]
    return [str(decoder.get("type")), *inner]


def _replaces(description: dict[str, Any]) -> bool:
    """Whether the decoder is a list of steps that makes spaces of SentencePiece's."""
    steps = (description.get("decoder") or {}).get("decoders", [])
    return any(step.get("type") == "Replace" and step.get("content") == " " for step in steps)
