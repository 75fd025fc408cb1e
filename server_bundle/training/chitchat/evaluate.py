"""Figures of a chat network: perplexity of held-out replies, variety of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from random import Random

import torch

from server_bundle.chitchat.network import ChitchatNetwork
from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.training.chitchat.batches import Batch, group
from server_bundle.training.chitchat.dialogues import LONG, Dialogue
from server_bundle.training.chitchat.forward import window_loss
from server_bundle.training.chitchat.rows import Rows
from server_bundle.training.chitchat.windows import Window, WindowMaker, encode_window


def held_out_windows(
    layout: PromptLayout, dialogues: Iterable[Dialogue], maker: WindowMaker, limit: int
) -> list[Window]:
    """At most ``limit`` windows with a loss on replies only, the same for the same dialogues."""
    chosen = list(dialogues)
    Random("held out").shuffle(chosen)
    windows: list[Window] = []
    for dialogue in chosen:
        if len(windows) == limit:
            break
        if dialogue.kind == LONG:
            window = maker.make(dialogue, Random(dialogue.turns[0]), noise=False)
            if window is None:
                continue
            only_replies = [w if w == 1.0 else 0.0 for w in window.weights]
            windows.append(Window(window.ids, window.types, window.targets, only_replies))
        else:
            windows.append(encode_window(layout, dialogue.turns, user_weight=0.0))
    return [window for window in windows if window.reply_tokens]


def to_rows(batch: Batch, rows: Rows) -> Batch:
    """A batch of vocabulary ids → one of places in the trained part of the table."""
    places = rows.lookup()
    return Batch(
        places[batch.ids],
        None if batch.types is None else places[batch.types],
        places[batch.targets],
        batch.weights,
    )


def perplexity(
    network: ChitchatNetwork, rows: Rows, windows: Sequence[Window], *, bf16: bool = False
) -> float:
    """exp of the mean negative log-likelihood of a reply's token, ``[SEP]`` included; NaN of none.

    Args:
        network: with the trained part of the table only.
    """
    if not windows:
        return math.nan
    loss = weight = 0.0
    with torch.inference_mode():
        for batch in group(windows, rows.pad):
            part = to_rows(batch, rows)
            loss += window_loss(
                network,
                *part.tensors(),
                pad_row=rows.pad_row,
                pad_shift=rows.pad_shift,
                bf16=bf16,
            ).item()
            weight += float(part.weights.sum())
    return math.exp(loss / weight)


def distinct(texts: Iterable[str], n: int) -> float:
    """Different character n-grams over all of them (Li et al. 2016, arXiv:1510.03055)."""
    grams = [text[i : i + n] for text in texts for i in range(len(text) - n + 1)]
    return len(set(grams)) / len(grams) if grams else math.nan
