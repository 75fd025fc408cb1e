"""Where a test has an engine in its own process put a reply."""

from __future__ import annotations

import threading
from collections.abc import Callable

from server_bundle.chitchat.sampling import Sampled


class Collected:
    """A sink that keeps what it gets; ``on_token`` runs in the engine's thread."""

    def __init__(self, on_token: Callable[[int], None] = lambda n: None) -> None:
        self.tokens: list[Sampled] = []
        self.end = ""
        self.error = ""
        self.done = threading.Event()
        self._on_token = on_token

    def token(self, sampled: Sampled) -> None:
        self.tokens.append(sampled)
        self._on_token(len(self.tokens))

    def finish(self, reason: str) -> None:
        assert not self.end
        self.end = reason
        self.done.set()

    def fail(self, message: str) -> None:
        self.error = message
        self.done.set()

    @property
    def reply(self) -> list[Sampled]:
        """Waits for its end."""
        assert self.done.wait(60)
        assert not self.error
        return self.tokens

    @property
    def ids(self) -> list[int]:
        return [t.token for t in self.reply]
