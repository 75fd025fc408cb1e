"""What the client side hands out: typed events of a chat, a parsed address, errors in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class TritalkError(Exception):
    """One clear sentence for a person. ``str(error)`` is shown as it is."""


#: What reading JSON of another program may raise where that is not what it should be.
NOT_UNDERSTOOD = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


class InvalidInput(TritalkError):
    """The request itself is wrong (Triton said INVALID_ARGUMENT); sending it again won't help."""


class ServerUnavailable(TritalkError):
    """No server answers, or it went away in the middle; the next request may work."""


@dataclass(frozen=True)
class Endpoint:
    """Where a Triton server listens and what a client must send with each call.

    ``grpc`` is a gRPC target (``unix:/run/…/g:1`` or ``127.0.0.1:8001``); ``http`` and ``metrics``
    are ``unix:PATH`` or ``http://host:port``; ``metrics`` is empty when off. ``tls``: gRPC goes
    through TLS, trusting ``ca_file`` or, where that is empty, the system's certificates.
    """

    grpc: str
    http: str = ""
    metrics: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    tls: bool = False
    ca_file: str = ""


@dataclass(frozen=True)
class Sampling:
    """Sampling parameters of one reply; ``None`` leaves the choice to the model's own defaults.

    temperature 0..2 (0 = greedy), top_p (0, 1], top_k 0..vocabulary (0 = off), max_tokens
    1..context, min_tokens 0..max_tokens, repetition_penalty [0.1, 2], no_repeat_ngram_size 0..16
    (0 = off), seed 0..2**63-1, stop: the reply ends before the first of at most 16 texts.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    min_tokens: int | None = None
    repetition_penalty: float | None = None
    no_repeat_ngram_size: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if v is not None}


@dataclass(frozen=True)
class Alternative:
    """One of the likeliest tokens at a position. ``probability``: plain softmax of the logits."""

    text: str
    token_id: int
    probability: float


@dataclass(frozen=True)
class Token:
    """One token of a reply, as it arrives.

    ``confidence`` is the chosen token's share after temperature, top-k and top-p (1 when greedy);
    ``probability`` its share in the plain softmax of the logits. ``alternatives`` are at least
    five, likeliest first, the chosen token among them. A fixed answer comes as one token with the
    id -1, certain and without alternatives.
    """

    text: str
    token_id: int
    confidence: float
    probability: float
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Finished:
    """The end of a reply.

    ``finish_reason``: ``stop``, ``length``, ``cancelled``, or ``care``: a fixed answer to a message
    that speaks of suicide or self-harm, made by a rule and no model. ``dropped_turns`` of the
    history, the oldest, did not fit into the context.
    """

    finish_reason: str
    reply: str
    tokens: int
    num_input_tokens: int
    seconds_to_first_token: float | None
    tokens_per_second: float | None
    dropped_turns: int = 0

    @classmethod
    def cancelled(cls) -> Finished:
        """The end of a reply that was taken back, without text or figures."""
        return cls("cancelled", "", 0, 0, None, None)


@dataclass(frozen=True)
class Entity:
    """A typed span of an address: ``text[start:end]`` in Unicode code points, score in (0, 1)."""

    type: str
    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Division:
    """The official four-level division; empty strings where the text determines no level."""

    province: str = ""
    city: str = ""
    district: str = ""
    town: str = ""
    code: str = ""
    confidence: float = 0.0


@dataclass(frozen=True)
class Contact:
    """A name or a phone number beside an address: ``text[start:end]`` in Unicode code points."""

    type: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class ParsedAddress:
    """The answer of ``address_parser`` for one text. ``candidates``: divisions, best first.
    ``contacts``: of the types name and phone. ``one_line``: the address with official names, and
    nothing else."""

    text: str
    entities: tuple[Entity, ...]
    division: Division
    candidates: tuple[Division, ...]
    contacts: tuple[Contact, ...] = ()
    one_line: str = ""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ParsedAddress:
        """Raises one of :data:`NOT_UNDERSTOOD` where it is no such object."""
        return cls(
            text=str_of(data["text"]),
            entities=tuple(
                Entity(str_of(e["type"]), str_of(e["text"]), *_span(e), share_of(e["score"]))
                for e in data["entities"]
            ),
            division=_division(data["division"]),
            candidates=tuple(_division(c) for c in data["candidates"]),
            contacts=tuple(
                Contact(str_of(c["type"]), str_of(c["text"]), *_span(c))
                for c in data.get("contacts", ())
            ),
            one_line=str_of(data.get("one_line", "")),
        )


def _division(data: dict[str, Any]) -> Division:
    return Division(
        str_of(data["province"]),
        str_of(data["city"]),
        str_of(data["district"]),
        str_of(data["town"]),
        str_of(data["code"]),
        share_of(data["confidence"]),
    )


def _span(data: dict[str, Any]) -> tuple[int, int]:
    start, end = data["start"], data["end"]
    if not (type(start) is int and type(end) is int and 0 <= start <= end):
        raise ValueError("no span")
    return start, end


def str_of(value: Any) -> str:
    """A text that another program sent, half surrogates replaced. Raises ValueError."""
    if not isinstance(value, str):
        raise ValueError("no text")
    return value.encode("utf-8", "replace").decode()


def share_of(value: Any) -> float:
    """A number from 0 to 1 that another program sent, in FP32 perhaps a hair above. Raises
    ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1.001:
        raise ValueError("no share")
    return min(1.0, float(value))
