"""BERT's own tokenizer with offsets, for checkpoints that were trained with it.

Text is cleaned, split at white space, punctuation and CJK characters, and each word taken apart by
greedy longest match against the vocabulary (Wu et al., arXiv 1609.08144), continuations marked ##.
The rules are those of ``BertTokenizerFast``; a contract test compares them.
"""

from __future__ import annotations

import unicodedata

from server_bundle.address.features import CLS, PAD, SEP, UNK, Encoding, check_vocabulary

MAX_WORD = 100

_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip

# A character with the half-open span of the text that it comes from.
Character = tuple[str, int, int]


def _is_cjk(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _CJK)


def _is_punctuation(character: str) -> bool:
    ascii_symbol = character.isascii() and character.isprintable() and not character.isalnum()
    return (ascii_symbol and character != " ") or unicodedata.category(character).startswith("P")


def _is_dropped(character: str) -> bool:
    return character == "\ufffd" or (
        character not in "\t\n\r" and unicodedata.category(character) in ("Cc", "Cf", "Co")
    )


class WordPieceTokenizer:
    """Same interface as :class:`CharacterTokenizer`. ``lower``: ``do_lower_case``, which also drops
    accents."""

    def __init__(self, tokens: list[str], lower: bool = False) -> None:
        check_vocabulary(tokens)
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.pad_id, self.unk_id = self.ids[PAD], self.ids[UNK]
        self.cls_id, self.sep_id = self.ids[CLS], self.ids[SEP]
        self.lower = lower

    def encode(self, text: str) -> Encoding:
        ids, offsets = [self.cls_id], [(0, 0)]
        for word in self._words(text):
            for id_, start, end in self._pieces(word):
                ids.append(id_)
                offsets.append((start, end))
        return Encoding([*ids, self.sep_id], [*offsets, (len(text), len(text))])

    def _words(self, text: str) -> list[list[Character]]:
        words: list[list[Character]] = [[]]
        for i, character in enumerate(text):
            if _is_dropped(character):
                continue
            if character.isspace():
                words.append([])
            elif _is_cjk(character):
                words += [[(c, i, i + 1) for c in self._folded(character)], []]
            else:
                for c in self._folded(character):
                    if _is_punctuation(c):
                        words += [[(c, i, i + 1)], []]
                    else:
                        words[-1].append((c, i, i + 1))
        return [word for word in words if word]

    def _folded(self, character: str) -> str:
        if not self.lower:
            return character
        plain = unicodedata.normalize("NFD", character)
        return "".join(c for c in plain if unicodedata.category(c) != "Mn").lower()

    def _pieces(self, word: list[Character]) -> list[tuple[int, int, int]]:
        """Id, start and end of each piece; one [UNK] where the word cannot be taken apart."""
        whole = [(self.unk_id, word[0][1], word[-1][2])]
        if len(word) > MAX_WORD:
            return whole
        letters = "".join(c for c, *_ in word)
        pieces = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                found = self.ids.get(("##" if start else "") + letters[start:end])
                if found is not None:
                    pieces.append((found, word[start][1], word[end - 1][2]))
                    start = end
                    break
            else:
                return whole
        return pieces
