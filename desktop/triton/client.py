"""The one client of a Triton server: chat streams, address requests, health, model control.

Every method blocks and may be called from any thread but a GUI thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType

from desktop.triton.types import Endpoint, Finished, ParsedAddress, Sampling, Token


class ChatStream:
    """One reply being streamed: iterate for :class:`Token` events, then one :class:`Finished`.

    ``cancel()`` may be called from any thread, any number of times; the iteration then ends with a
    ``Finished`` whose reason is ``cancelled``, holding what had arrived.
    Raises :class:`InvalidInput` or :class:`ServerUnavailable` out of the iteration.
    """

    def __iter__(self) -> Iterator[Token | Finished]:
        raise NotImplementedError

    def cancel(self) -> None:
        raise NotImplementedError


class TritonClient:
    """A connection to one server. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def chat(
        self,
        text: str,
        history: Sequence[str] = (),
        sampling: Sampling | None = None,
        model: str = "ibuddha_chitchat_stream",
    ) -> ChatStream:
        """Start a reply to ``text`` after ``history`` (oldest first, user and bot in turn)."""
        raise NotImplementedError

    def parse(self, texts: Sequence[str]) -> list[ParsedAddress]:
        """Parse addresses, answers in order; one wrong text raises :class:`InvalidInput`."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> TritonClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
