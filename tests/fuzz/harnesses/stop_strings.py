"""Stop strings in a reply that comes in pieces of any size."""

from __future__ import annotations

from collections.abc import Iterable

from server_bundle.chitchat.stop import StopScanner
from tests.fuzz.harness import parts, text


def seeds() -> Iterable[bytes]:
    for stops, pieces in (("。\0\n", "你好\0。再见"), ("ab\0bc\0abcd", "a\0b\0c\0d"), ("", "x\0y")):
        yield stops.encode() + b"\xff" + pieces.encode()


def one(data: bytes) -> None:
    first, rest = parts(data, 2)
    stops = [stop for stop in text(first).split("\0") if stop]
    pieces = text(rest).split("\0")
    scanner: StopScanner[int] = StopScanner(stops)
    out: list[tuple[int, str]] = []
    for number, piece in enumerate(pieces):
        out += scanner.push(number, piece)
    out += scanner.flush()
    whole, said = "".join(pieces), "".join(piece for _, piece in out)
    assert whole.startswith(said)
    assert [number for number, _ in out] == list(range(len(out))), "a piece was lost or moved"
    if scanner.matched:
        assert any(whole.startswith(stop, len(said)) for stop in stops)
    else:
        assert said == whole
    assert not any(stop in said for stop in stops)
