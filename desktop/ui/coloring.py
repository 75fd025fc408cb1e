"""What the tint of a token tells: its probability, how open the choice was, or nothing."""

from __future__ import annotations

import enum
import math

from PySide6.QtGui import QColor

from desktop.triton.types import Token
from desktop.ui import theme

#: From these perplexities up a token has the next stronger tint.
PERPLEXITY_STOPS = (1.5, 2.5, 4.0, 7.0)
#: From here up it is underlined too.
UNDERLINE_FROM = 10.0
#: A passage of tokens less probable than this can be stepped to.
UNSURE_BELOW = 0.3


class Coloring(enum.StrEnum):
    PROBABILITY = "probability"
    PERPLEXITY = "perplexity"
    OFF = "off"

    @property
    def charted(self) -> bool:
        """Whether replies have the line of their probabilities under them."""
        return self is not Coloring.OFF

    def tint(self, token: Token) -> QColor | None:
        """The background, None for none."""
        if self is Coloring.OFF:
            return None
        if self is Coloring.PROBABILITY:
            return theme.current().tint(token.probability)
        value = perplexity(token)
        return theme.current().tints()[sum(value >= stop for stop in PERPLEXITY_STOPS)]

    def underlines(self, token: Token) -> bool:
        """Whether the token is among those that must stand out without colour."""
        if self is Coloring.PROBABILITY:
            return token.probability < theme.UNDERLINE_BELOW
        return self is Coloring.PERPLEXITY and perplexity(token) >= UNDERLINE_FROM


def perplexity(token: Token) -> float:
    """How many equally likely tokens the choice was like: exp of the entropy of the model's plain
    distribution at this place. What is not among the alternatives counts as one more outcome, so
    that this is a lower bound."""
    shares = [a.probability for a in token.alternatives] or [token.probability]
    rest = 1.0 - sum(shares)
    return math.exp(-sum(p * math.log(p) for p in (*shares, rest) if p > 0.0))
