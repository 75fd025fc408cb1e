"""Turns of a dialogue → the token ids, targets and loss weights of one training window.

All replies of a window are trained at once: the target after a reply's last character is
``[SEP]`` though the input goes on with the next turn. Under a causal mask that is the same
objective as a sample for every reply, and no context is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.training.chitchat.dialogues import LONG, Dialogue
from server_bundle.training.chitchat.exclude import Exclusion
from server_bundle.training.chitchat.wording import (
    shorten_message,
    shorten_reply,
    uncommon_bigrams,
    vary,
)

USER_WEIGHT = 0.3
LONGEST = 480
_SILENT = 0.8  # of the long replies that take up nothing of the message, this share has no loss


@dataclass(frozen=True)
class Window:
    """One row of a batch. ``targets[i]`` is what follows ``ids[i]``, of loss ``weights[i]``."""

    ids: list[int]
    types: list[int] | None
    targets: list[int]
    weights: list[float]

    @property
    def reply_tokens(self) -> int:
        return sum(weight == 1.0 for weight in self.weights)


def encode_window(
    layout: PromptLayout,
    turns: Sequence[str],
    *,
    trained: Sequence[bool] | None = None,
    user_weight: float = USER_WEIGHT,
) -> Window:
    """A window of whole turns; what goes beyond the context (at most 480 tokens) is left out.

    Args:
        turns: user and bot in turn.
        trained: for each turn, whether it carries a loss; None: all.
        user_weight: the loss of a user's character, a reply's being 1.
    """
    limit = min(LONGEST, layout.context)
    ids, targets, weights = [layout.cls], [layout.pad], [0.0]
    types = [0]
    for i, turn in enumerate(turns):
        tokens = layout.encode_text(turn)
        if len(ids) + len(tokens) + 1 > limit:
            break
        bot = i % 2 == 1
        weight = (1.0 if bot else user_weight) if trained is None or trained[i] else 0.0
        if layout.speakers is not None:  # the speaker's token opens the turn
            ids.append(layout.speakers[i % 2])
            types.append(layout.speakers[i % 2])
            targets.append(layout.pad)
            weights.append(0.0)
        for token in tokens:
            targets[-1], weights[-1] = token, weight if token != layout.unk else 0.0
            ids.append(token)
            types.append(types[-1])
            targets.append(layout.pad)
            weights.append(0.0)
        if bot:
            targets[-1], weights[-1] = layout.sep, weight
        if layout.speakers is None:
            ids.append(layout.sep)
            targets.append(layout.pad)
            weights.append(0.0)
    return Window(ids, types if layout.speakers is not None else None, targets, weights)


class WindowMaker:
    """Windows of dialogues, worded anew for each use.

    Args:
        common: pairs of characters too frequent to show that a reply takes up a message.
        exclusion: texts that no user turn may be, not even after it was cut.
        openings: short dialogues of which one now and then stands before an exchange, as people
            change the subject; ``join`` is how often.
        blank: share of the characters of replies that the network does not see while it learns
            what follows them (user turns: a quarter of that), in short dialogues. It must look at
            the message instead of reciting (word dropout, Bowman et al. 2016, arXiv:1511.06349).
    """

    def __init__(
        self,
        layout: PromptLayout,
        common: frozenset[str],
        exclusion: Exclusion,
        openings: Sequence[Dialogue] = (),
        join: float = 0.0,
        blank: float = 0.0,
    ) -> None:
        self._layout = layout
        self._common = common
        self._exclusion = exclusion
        self._openings = openings
        self._join = join
        self._blank = blank

    def make(self, dialogue: Dialogue, random: Random, *, noise: bool = True) -> Window | None:
        """A window, or None when nothing of the dialogue is worth a loss."""
        if dialogue.kind == LONG:
            return self._long(dialogue, random)
        turns = list(dialogue.turns)
        if noise:
            turns[::2] = [vary(turn, random) for turn in turns[::2]]
            if self._openings and random.random() < self._join:
                first = random.choice(self._openings).turns[:4]
                turns = [*first, *turns]
            if any(self._exclusion.matches(turn) for turn in turns[::2]):
                return None
        window = encode_window(self._layout, turns)
        return self._blanked(window, random) if noise and self._blank else window

    def _blanked(self, window: Window, random: Random) -> Window:
        """``[UNK]`` in place of some characters; the targets stay."""
        layout = self._layout
        special = {layout.cls, layout.sep, *(layout.speakers or ())}
        ids = list(window.ids)
        for i in range(1, len(ids)):
            bot = window.weights[i] == 1.0
            share = self._blank if bot else self._blank / 4
            if ids[i] not in special and random.random() < share:
                ids[i] = layout.unk
        return replace(window, ids=ids)

    def _long(self, dialogue: Dialogue, random: Random) -> Window | None:
        pairs = len(dialogue.turns) // 2
        start = random.randrange(pairs)
        room = random.randint(64, 256)
        turns: list[str] = []
        trained: list[bool] = []
        for i in range(start, pairs):
            message = shorten_message(dialogue.turns[2 * i], random)
            reply = shorten_reply(message, dialogue.turns[2 * i + 1], self._common, random)
            if reply is None or self._exclusion.matches(message):
                break
            room -= len(message) + len(reply)
            if room < 0 and turns:
                break
            echo = uncommon_bigrams(message, self._common) & uncommon_bigrams(reply, self._common)
            turns += [message, reply]
            trained += [True, bool(echo) or random.random() >= _SILENT]
        if not any(trained[1::2]):
            return None
        return encode_window(self._layout, turns, trained=trained)
