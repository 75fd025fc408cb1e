"""Asking for row after row as long as it takes: a server that fails is waited for, and a row that
brings it down again and again is given up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, Protocol

from desktop.triton.types import InvalidInput, ParsedAddress, ServerUnavailable, TritalkError

#: How often one row may bring the server down before it is answered by an error.
ATTEMPTS = 4

EMPTY = "The address is empty."

Result = dict[str, Any]
"""``{"entities", "division", "candidates"}`` as ``address_parser`` answers, ``{"error": …}``, or
empty for a row without content."""


def not_text(encoding: str) -> str:
    """What is said of an address with bytes that are not of the file's encoding."""
    return f"The address is not {encoding.upper()} text."


class AddressClient(Protocol):
    """What a run needs of :class:`desktop.triton.client.TritonClient`."""

    def parse_each(self, texts: Iterable[str]) -> Iterator[ParsedAddress | TritalkError]: ...
    def close(self) -> None: ...


def result_of(answer: ParsedAddress | TritalkError) -> Result:
    """An answer as it is kept. Raises an error that is not about the text."""
    if isinstance(answer, ParsedAddress):
        result = asdict(answer)
        del result["text"]
        return result
    if isinstance(answer, InvalidInput):
        return {"error": str(answer)}
    raise answer


def answer_all(
    answers: Callable[[AddressClient], Iterator[Result]],
    add: Callable[[Result], None],
    done: Callable[[], int],
    total: int,
    connect: Callable[[ServerUnavailable | None, float], AddressClient],
    cancelled: Callable[[], bool],
) -> None:
    """Until ``done()`` is ``total`` or ``cancelled()``.

    Args:
        answers: the results from the first unanswered row on, in order.
        add: keeps a result; ``done()`` counts it from then on.
        connect: a connection to a server that serves, which is closed here; gets the error that
            ended the last one and the seconds to pause first, waits for the server to come back,
            and may raise ServerUnavailable to give up.
    """
    attempts, stuck = 0, -1
    failure: ServerUnavailable | None = None
    while done() < total and not cancelled():
        client = connect(failure, 2.0**attempts / 2 if failure else 0.0)
        try:
            for result in answers(client):
                add(result)
                if cancelled():
                    return
        except ServerUnavailable as error:
            failure = error
            attempts = attempts + 1 if done() == stuck else 1
            stuck = done()
            if attempts > ATTEMPTS and not cancelled():
                add({"error": f"the server failed on this address: {error}"})
                failure, attempts = None, 0
        finally:
            client.close()
