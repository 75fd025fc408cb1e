"""What can be chosen among a token's alternatives, and the token that it becomes."""

from __future__ import annotations

import math

from desktop.triton.types import Alternative, Token

#: How the token that ends a reply is written among the alternatives.
END_TOKEN = "[SEP]"


def choosable(alternative: Alternative) -> bool:
    """Whether a reply can go on with it: special tokens have no text, except the end."""
    text = alternative.text
    special = len(text) > 1 and text.startswith("[") and text.endswith("]")
    return bool(text) and (not special or text == END_TOKEN)


def chosen_token(alternative: Alternative, before: Token) -> Token:
    """The alternative in the place of ``before``. Nobody drew it, so that it has no confidence."""
    return Token(
        alternative.text,
        alternative.token_id,
        math.nan,
        alternative.probability,
        before.alternatives,
    )
