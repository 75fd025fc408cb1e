"""A server that is not there: the session's two collaborators, answering from memory.

Only for what a real server cannot be made to do on demand (a fixed reply, a failure, a hang) and
for screenshots, which must not change from run to run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from desktop.launchers.base import ServerState, ServerStatus, StatusCallback
from desktop.store.records import DEFAULT_SETTINGS
from desktop.triton.models import ModelLimits
from desktop.triton.types import (
    Alternative,
    Division,
    Endpoint,
    Entity,
    Finished,
    InvalidInput,
    ParsedAddress,
    Sampling,
    ServerUnavailable,
    Token,
    TritalkError,
)

DEFAULTS = DEFAULT_SETTINGS.sampling

MODELS = {
    "address_parser": "READY",
    "ibuddha_chitchat": "READY",
    "ibuddha_chitchat_bls": "READY",
    "ibuddha_chitchat_stream": "READY",
    "multitask_model": "READY",
}
_UNREADABLE = "the address holds no readable character, only control characters"
REASON = "no NVIDIA GPU and no Docker engine found; using the built-in Triton"

STARTING = ServerStatus(
    "embedded", REASON, ServerState.STARTING, "loading ibuddha_chitchat (2 of 5)"
)
READY = ServerStatus(
    "embedded",
    REASON,
    ServerState.READY,
    endpoint=Endpoint("unix:/run/user/1000/tritalk/g:1", "unix:/run/user/1000/tritalk/h"),
    models=MODELS,
    pid=4711,
)
FAILED = ServerStatus(
    "embedded",
    REASON,
    ServerState.FAILED,
    "Triton failed 3 times in a row: the process of the model multitask_model was killed.",
)


class FakeLease:
    def __init__(self, status: ServerStatus = READY) -> None:
        self._status = status
        self._callbacks: list[StatusCallback] = []
        self.closed = False

    def status(self) -> ServerStatus:
        return self._status

    def wait_ready(self, timeout: float = 120.0) -> ServerStatus:
        return self._status

    def subscribe(self, callback: StatusCallback) -> None:
        self._callbacks.append(callback)

    def close(self) -> None:
        self.closed = True

    def become(self, status: ServerStatus) -> None:
        """Report a change as a real lease does: from a thread of its own."""
        self._status = status

        def tell() -> None:
            for callback in self._callbacks:
                callback(status)

        thread = threading.Thread(target=tell)
        thread.start()
        thread.join()


def token(text: str, probability: float, others: str = "的了是我不") -> Token:
    """A token with made-up alternatives, itself among them."""
    rest = 1.0 - probability
    alternatives = [Alternative(text, ord(text[0]), probability)]
    for number, other in enumerate(c for c in others if c != text):
        alternatives.append(Alternative(other, ord(other), rest * 0.5 / (number + 1) ** 1.5))
    alternatives.sort(key=lambda a: -a.probability)
    return Token(text, ord(text[0]), min(1.0, probability * 1.3), probability, tuple(alternatives))


class FakeStream:
    def __init__(self, events: Sequence[Token | Exception], gap: float) -> None:
        self._events = events
        self._gap = gap
        self.cancelled = threading.Event()

    def __iter__(self) -> Iterator[Token | Finished]:
        began, sent, reason = time.monotonic(), [], "stop"
        for event in self._events:
            if self._gap and self.cancelled.wait(self._gap):
                reason = "cancelled"
                break
            if isinstance(event, Exception):
                raise event
            sent.append(event.text)
            yield event
        spent = max(1e-6, time.monotonic() - began)
        # Without a gap there is nothing to measure; pictures must not differ from run to run.
        first = (self._gap or 0.041) if sent else None
        rate = len(sent) / spent if self._gap else 212.0
        yield Finished(reason, "".join(sent), len(sent), 12, first, rate)

    def cancel(self) -> None:
        self.cancelled.set()


class FakeClient:
    """``script`` makes the events of a reply from the text and its history."""

    def __init__(
        self,
        script: Callable[[str, Sequence[str]], Sequence[Token | Exception]],
        gap: float = 0.0,
        addresses: dict[str, ParsedAddress] | None = None,
    ) -> None:
        self._script = script
        self._gap = gap
        self.addresses = addresses or {}
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.prefixes: list[str] = []
        self.models: list[str] = []
        self.openings: list[tuple[str, ...]] = []
        self.model_limits = {"ibuddha_chitchat_stream": ModelLimits(512, 13088, DEFAULTS)}
        self.samplings: list[Sampling | None] = []
        self.streams: list[FakeStream] = []
        self.closed = False
        self.parsed: list[str] = []
        self.dead = False
        self.hold = threading.Event()
        self.hold.set()
        self.hold_at: int | None = None

    def chat(
        self,
        text: str,
        history: Sequence[str] = (),
        sampling: Sampling | None = None,
        model: str = "",
        reply_prefix: str = "",
        opening: Sequence[str] = (),
    ) -> FakeStream:
        self.models.append(model)
        self.openings.append(tuple(opening))
        self.asked.append((text, tuple(history)))
        self.prefixes.append(reply_prefix)
        self.samplings.append(sampling)
        stream = FakeStream(self._script(text, history), self._gap)
        self.streams.append(stream)
        return stream

    def limits(self, model: str) -> ModelLimits | None:
        return self.model_limits.get(model)

    def parse(self, texts: Sequence[str]) -> list[ParsedAddress]:
        return [self.addresses[text] for text in texts]

    def parse_each(self, texts: Iterable[str]) -> Iterator[ParsedAddress | TritalkError]:
        """A text that is not among the addresses is refused; after ``hold_at`` of them, or without
        ``hold``, nothing comes."""
        for text in texts:
            if len(self.parsed) == self.hold_at:
                self.hold.clear()
            self.hold.wait()
            self.parsed.append(text)
            if self.dead:
                yield ServerUnavailable("the server is not running")
                return
            known = self.addresses.get(text)
            yield known or InvalidInput(_UNREADABLE)

    def close(self) -> None:
        self.closed = True
        self.hold.set()  # a closed connection ends the calls that wait on it


def _entities(text: str, parts: Sequence[tuple[str, str, float]]) -> tuple[Entity, ...]:
    found, at = [], 0
    for kind, part, score in parts:
        at = text.index(part, at)
        found.append(Entity(kind, part, at, at + len(part), score))
        at += len(part)
    return tuple(found)


FULL = "上海市青浦区华隆路1777号E通世界华新园A座501室"
BARE = "鼓楼区湖南路18号"
ADDRESSES = {
    FULL: ParsedAddress(
        FULL,
        _entities(
            FULL,
            [
                ("prov", "上海市", 0.99),
                ("district", "青浦区", 0.99),
                ("road", "华隆路", 0.98),
                ("roadno", "1777号", 0.98),
                ("poi", "E通世界华新园", 0.91),
                ("houseno", "A座", 0.86),
                ("roomno", "501室", 0.55),
            ],
        ),
        Division("上海市", "市辖区", "青浦区", "华新镇", "310118109", 0.93),
        (
            Division("上海市", "市辖区", "青浦区", "华新镇", "310118109", 0.93),
            Division("上海市", "市辖区", "青浦区", "徐泾镇", "310118103", 0.04),
        ),
    ),
    BARE: ParsedAddress(
        BARE,
        _entities(
            BARE, [("district", "鼓楼区", 0.99), ("road", "湖南路", 0.97), ("roadno", "18号", 0.98)]
        ),
        Division("江苏省", "南京市", "鼓楼区", "", "320106", 0.41),
        (
            Division("江苏省", "南京市", "鼓楼区", "", "320106", 0.41),
            Division("福建省", "福州市", "鼓楼区", "", "350102", 0.27),
            Division("江苏省", "徐州市", "鼓楼区", "", "320302", 0.2),
            Division("河南省", "开封市", "鼓楼区", "", "410204", 0.12),
        ),
    ),
}
