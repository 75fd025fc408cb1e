"""``tritalk chat``: one reply, or a conversation in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from desktop.cli.session import server_session
from desktop.launchers import current
from desktop.models.chat import installed
from desktop.triton.chat_stream import ChatStream
from desktop.triton.models import stream_model
from desktop.triton.types import Finished, InvalidInput, Sampling, Token, TritalkError

_NUMBERS: dict[str, tuple[Callable[[str], float | int], str]] = {
    "temperature": (float, "0 to 2; 0 always takes the likeliest token"),
    "top-p": (float, "share of probability kept, above 0 and at most 1"),
    "top-k": (int, "number of tokens kept; 0 keeps all"),
    "max-tokens": (int, "longest reply in tokens"),
    "repetition-penalty": (float, "0.1 to 2; 1 is none"),
    "no-repeat-ngram-size": (int, "no n-gram of this length twice in a reply; 0 is off"),
    "seed": (int, "the same seed gives the same reply"),
}
# Shades of one hue as in the window: the less probable, the stronger (256-colour backgrounds).
_SHADES = ((0.9, ""), (0.7, "230"), (0.5, "223"), (0.3, "216"), (0.0, "209"))


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "chat",
        help="stream a reply, or talk in a loop",
        description="Stream one reply to TEXT, or talk in a loop without TEXT. What is not given "
        "below is as the model's own generation_config.json says.",
    )
    parser.add_argument(
        "text", nargs="?", metavar="TEXT", help="what to say, in quotes; none: a conversation"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="one JSON object a token as it arrives, then one with the figures",
    )
    for name, (kind, explanation) in _NUMBERS.items():
        parser.add_argument(f"--{name}", type=kind, metavar="N", help=explanation)
    parser.add_argument(
        "--stop",
        action="append",
        metavar="TEXT",
        help="the reply ends before this text; may be given up to 16 times",
    )
    parser.add_argument(
        "--model", metavar="NAME", default="", help="a chat model of tritalk models list"
    )
    parser.add_argument(
        "--system",
        metavar="TEXT",
        default="",
        help="the system message, for models whose chat template takes one",
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    names = (name.replace("-", "_") for name in _NUMBERS)
    sampling = Sampling(
        **{name: getattr(arguments, name) for name in names},
        stop=tuple(arguments.stop) if arguments.stop else None,
    )
    show: Callable[[Token | Finished], None] = show_json if arguments.json else Terminal()
    if arguments.text is not None and not arguments.text.strip():
        raise InvalidInput("the message is empty; write something first")
    model = stream_model(arguments.model)
    with server_session() as client:
        if arguments.model:
            _wait_until_loaded(model)
            _require(model, arguments.model)

        def ask(text: str, history: list[str]) -> ChatStream:
            return client.chat(
                text,
                history,
                sampling,
                model=stream_model(arguments.model),
                system=arguments.system,
            )

        if arguments.text is not None:
            stream_reply(ask(arguments.text, []), show)
            return 0
        return _converse(ask, show)


def _wait_until_loaded(model: str) -> None:
    """A server is ready before the imported models are, which may be large."""
    while (status := current()) is not None and status.models.get(model) == "LOADING":
        time.sleep(0.2)


def _require(model: str, name: str) -> None:
    """Say of a misspelt model that it is one, in the words of the other commands. One imported here
    is asked for all the same: the server's list may be older than it."""
    status = current()
    known = {*(status.models if status else ()), *(stream_model(m.name) for m in installed())}
    if model not in known and status is not None and status.models:
        raise InvalidInput(f"there is no chat model {name!r} here; see: tritalk models list")


def stream_reply(stream: ChatStream, show: Callable[[Token | Finished], None]) -> Finished:
    """Show a reply as it arrives. Ctrl+C stops the server's computation too and goes on up when the
    reply's end was shown; a second one goes up at once."""
    with _interrupts(stream):
        try:
            for event in stream:
                show(event)
                if isinstance(event, Finished):
                    return event
        finally:
            stream.cancel()
    raise AssertionError("a stream ends with Finished")


@contextlib.contextmanager
def _interrupts(stream: ChatStream) -> Iterator[None]:
    """Ctrl+C cancels ``stream``, once, and raises ``KeyboardInterrupt`` at the end of the block."""
    before = signal.getsignal(signal.SIGINT)
    if before in (None, signal.SIG_IGN):  # as of a command that a script put into the background
        yield
        return

    interrupted = False

    def stop(*_: object) -> None:
        nonlocal interrupted
        signal.signal(signal.SIGINT, before)
        interrupted = True
        stream.cancel()

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupted:
            raise KeyboardInterrupt


def _converse(
    ask: Callable[[str, list[str]], ChatStream], show: Callable[[Token | Finished], None]
) -> int:
    history: list[str] = []
    failed = False
    for text in _lines():
        try:
            finished = stream_reply(ask(text, history), show)
        except TritalkError as error:
            print(f"tritalk: {error}", file=sys.stderr)
            failed = True
            continue
        except KeyboardInterrupt:
            if not sys.stdin.isatty():
                raise
            print()
            continue
        if finished.reply:
            history += [text, finished.reply]
    return 1 if failed else 0


def _lines() -> Iterator[str]:
    """What is typed or piped in, line by line, blank lines left out."""
    interactive = sys.stdin.isatty()
    if interactive:
        print("(Ctrl+C stops a reply, Ctrl+D ends the conversation)", file=sys.stderr)
    while True:
        if interactive:
            print("> ", end="", file=sys.stderr, flush=True)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:  # a moment too late for the reply
            if not interactive:
                raise
            print(file=sys.stderr)
            continue
        if not line:
            return
        if line.strip():
            yield line.rstrip("\r\n")


def show_json(event: Token | Finished) -> None:
    print(json.dumps(asdict(event), ensure_ascii=False), flush=True)


class Terminal:
    """Shows tokens tinted by their probability where the terminal has colours, and the figures.

    ``numbers`` writes each token's probability behind it instead.
    """

    def __init__(self, *, numbers: bool = False) -> None:
        self._numbers = numbers
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
        self._colours = sys.stdout.isatty() and not numbers and not plain

    def __call__(self, event: Token | Finished) -> None:
        if isinstance(event, Token):
            print(self._token(event), end="", flush=True)
            return
        figures = [f"{event.tokens} tokens"]
        if event.seconds_to_first_token is not None:
            figures.append(f"first after {event.seconds_to_first_token * 1000:.0f} ms")
        if event.tokens_per_second is not None:
            figures.append(f"{event.tokens_per_second:.0f} tokens/s")
        if event.dropped_turns:
            figures.append(f"the {event.dropped_turns} oldest turns did not fit")
        figures.append(
            "a fixed answer, not the model's"
            if event.finish_reason == "care"
            else event.finish_reason
        )
        print(f"\n({', '.join(figures)})", flush=True)

    def _token(self, token: Token) -> str:
        text = printable(token.text)
        if self._numbers:
            return f"{text} {token.probability:.2f}  "
        shade = next(s for limit, s in _SHADES if token.probability >= limit)
        return f"\033[48;5;{shade};38;5;16m{text}\033[0m" if self._colours and shade else text


def printable(text: str) -> str:
    """Text without anything that a terminal would obey, but for the end of a line."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
