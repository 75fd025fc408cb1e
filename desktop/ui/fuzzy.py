"""How well a few typed letters fit a name, as command palettes match: in order, gaps allowed."""

from __future__ import annotations

from typing import NamedTuple

_RUN = 5
_WORD_START = 8
_GAP = -1
_GAP_LIMIT = -3


class Match(NamedTuple):
    """``score``: larger is better. ``places``: the characters of the text that were typed."""

    score: int
    places: tuple[int, ...]


def match(typed: str, text: str) -> Match | None:
    """The best way to find the letters of ``typed`` in ``text`` in their order, None if there is
    none. Upper and lower case are one; blanks typed are passed over.

    Letters in a row and at the beginning of words count for more, gaps against it.
    """
    wanted = [c for c in typed.casefold() if not c.isspace()]
    best: dict[int, Match] = {-1: Match(0, ())}
    for number, letter in enumerate(wanted):
        # The best match of the letters so far, by the place of the last one.
        found: dict[int, Match] = {}
        for here, character in enumerate(text):
            if character.casefold() != letter:
                continue
            value = 1 + (_WORD_START if _begins_word(text, here) else 0)
            for place, before in best.items():
                if place < here:
                    gap = here - place - 1
                    step = max(gap * _GAP, _GAP_LIMIT) if gap else _RUN * bool(number)
                    candidate = Match(before.score + value + step, (*before.places, here))
                    if here not in found or candidate.score > found[here].score:
                        found[here] = candidate
        best = found
    return max(best.values(), key=lambda each: each.score, default=None)


def _begins_word(text: str, place: int) -> bool:
    if place == 0:
        return True
    before, here = text[place - 1], text[place]
    return not before.isalnum() or (before.islower() and here.isupper())
