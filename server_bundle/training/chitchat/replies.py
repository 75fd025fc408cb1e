"""Replies of a model folder through the engine that serves it."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from pathlib import Path

from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.engine import Engine, Request
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.chitchat.sampling import Sampled

SAMPLING = SamplingParameters(
    temperature=0.7, top_p=0.9, max_tokens=80, no_repeat_ngram_size=4, seed=1, logprobs=0
)


class ReplyError(RuntimeError):
    """The engine could not make a reply; the message says why."""


class _Sink:
    def __init__(self, place: int, done: queue.SimpleQueue[tuple[int, list[int], str]]) -> None:
        self._place = place
        self._done = done
        self._tokens: list[int] = []

    def token(self, sampled: Sampled) -> None:
        self._tokens.append(sampled.token)

    def finish(self, reason: str) -> None:
        self._done.put((self._place, self._tokens, ""))

    def fail(self, message: str) -> None:
        self._done.put((self._place, [], message))


def replies(
    folder: Path, conversations: Sequence[Sequence[str]], parameters: SamplingParameters = SAMPLING
) -> list[str]:
    """The first draw for each conversation, unedited.

    Args:
        conversations: turns, user and bot in turn, the last one the user's.

    Raises:
        CheckpointError: the folder is no checkpoint.
        InvalidPrompt: a turn is empty or too long.
        ReplyError: the engine failed.
    """
    layout = PromptLayout.from_folder(folder)
    engine = Engine(
        load_network(folder), layout.vocabulary, slots=8, queue_limit=len(conversations) + 1
    )
    done: queue.SimpleQueue[tuple[int, list[int], str]] = queue.SimpleQueue()
    engine.start()
    try:
        for place, turns in enumerate(conversations):
            prompt = layout.encode(turns[:-1], turns[-1], parameters.max_tokens)
            engine.submit(
                Request(prompt.ids, prompt.types, prompt.reply_type, parameters, _Sink(place, done))
            )
        texts = [""] * len(conversations)
        for _ in conversations:
            place, tokens, error = done.get()
            if error:
                raise ReplyError(error)
            texts[place] = "".join(layout.text(token) for token in tokens)
    finally:
        engine.stop()
    return texts
