"""Requests read from and answers passed along an HTTP/1.1 connection (RFC 9112), strictly: what two
readers could understand in two ways is refused."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus

from desktop.launchers.http_checks import MAX_BODY, Refused, too_large

MAX_HEAD = 32 << 10  # bytes
_MAX_TRAILERS = 32
_PIECE = 1 << 16

_REQUEST = re.compile(r"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.([01])")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*)")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[\t -~]*)?\r\n")
_STATUS = re.compile(r"HTTP/1\.[01] ([1-5][0-9]{2})(?: .*)?")
# Those of one connection only, and those of a body that is passed on in another form.
_NOT_PASSED_ON = {
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


@dataclass
class Head:
    """The first lines of a request; the names of ``headers`` as they came."""

    method: str
    target: str
    version: str
    headers: list[tuple[str, str]]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]

    def one(self, name: str) -> str | None:
        """The value of a header that may be there once."""
        values = self.all(name)
        if len(values) > 1:
            raise Refused(400, f"the request has more than one header {name!r}")
        return values[0] if values else None

    @property
    def last(self) -> bool:
        """Whether the connection ends with this request."""
        words = {w.strip().lower() for v in self.all("connection") for w in v.split(",")}
        return "close" in words or self.version == "0"

    def passed_on(self, length: int, *, unpacked: bool) -> bytes:
        """The head for the server, with a body of ``length`` bytes."""
        dropped = _NOT_PASSED_ON | ({"content-encoding"} if unpacked else set())
        lines = [f"{self.method} {self.target} HTTP/1.{self.version}"]
        lines += [f"{name}: {value}" for name, value in self.headers if name.lower() not in dropped]
        if length or self.method not in ("GET", "HEAD"):
            lines.append(f"Content-Length: {length}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next request's head; None where the connection ended before one."""
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise Refused(400, "the request ends within its headers") from error
        return None
    except asyncio.LimitOverrunError as error:
        raise Refused(431, f"the headers have more than {MAX_HEAD >> 10} KiB") from error
    first, *lines = text[:-4].split("\r\n")
    request = _REQUEST.fullmatch(first)
    if not request or "#" in request[2]:
        raise Refused(400, "the request does not begin with a line of HTTP/1.1")
    headers = []
    for line in lines:
        header = _HEADER.fullmatch(line)
        if not header:
            raise Refused(400, "the request has a line that is no header")
        headers.append((header[1], header[2].rstrip(" \t")))
    return Head(request[1], request[2], request[3], headers)


async def read_body(
    head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bytes:
    """The whole body, of at most :data:`MAX_BODY` bytes."""
    coding, length = head.one("transfer-encoding"), head.one("content-length")
    if coding is not None and length is not None:
        raise Refused(400, "the request has both a Content-Length and a Transfer-Encoding")
    if coding is not None and (coding.lower() != "chunked" or head.version == "0"):
        raise Refused(501, "the only Transfer-Encoding is chunked")
    if length is not None and not re.fullmatch(r"[0-9]{1,20}", length):
        raise Refused(400, "Content-Length must be a number")
    if int(length or 0) > MAX_BODY:
        raise too_large(MAX_BODY)
    if (expected := head.one("expect")) is not None:
        if expected.lower() != "100-continue":
            raise Refused(417, "the only expectation is 100-continue")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        if coding is None:
            return await reader.readexactly(int(length or 0))
        body = bytearray()
        async for piece in _chunks(reader, raw=False):
            body += piece
            if len(body) > MAX_BODY:
                raise too_large(MAX_BODY)
        return bytes(body)
    except asyncio.IncompleteReadError as error:
        raise Refused(400, "the body is shorter than announced") from error


async def _chunks(reader: asyncio.StreamReader, *, raw: bool) -> AsyncIterator[bytes]:
    """The data of a chunked body as it arrives; ``raw``: with its frame."""
    try:
        while True:
            line = await reader.readuntil(b"\r\n")
            size = _CHUNK.fullmatch(line)
            if not size:
                raise Refused(400, "the body has a chunk without a proper size")
            if raw:
                yield line
            left = int(size[1], 16)
            if not left:
                break
            while left:
                if not (piece := await reader.read(min(left, _PIECE))):
                    raise asyncio.IncompleteReadError(b"", left)
                left -= len(piece)
                yield piece
            if (end := await reader.readexactly(2)) != b"\r\n":
                raise Refused(400, "the body has a chunk longer than its size")
            if raw:
                yield end
        for _ in range(_MAX_TRAILERS):
            line = await reader.readuntil(b"\r\n")
            if raw:
                yield line
            if line == b"\r\n":
                return
        raise Refused(400, "the body has too many trailers")
    except asyncio.LimitOverrunError as error:
        raise Refused(400, "the body has a chunk without a proper size") from error


@dataclass
class Answer:
    """An answer that has begun: its first lines as they came, and how its body is framed."""

    first: bytes
    chunked: bool
    length: int | None  # None: it ends with the connection

    async def body(self, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
        """The rest, as it arrives. Raises IncompleteReadError where the server ended within it."""
        if self.chunked:
            async for piece in _chunks(reader, raw=True):
                yield piece
            return
        left = self.length
        while left is None or left > 0:
            piece = await reader.read(_PIECE if left is None else min(left, _PIECE))
            if not piece:
                if left is None:
                    return
                raise asyncio.IncompleteReadError(b"", left)
            yield piece
            left = None if left is None else left - len(piece)


async def read_answer(method: str, reader: asyncio.StreamReader) -> Answer:
    """Raises OSError or EOFError where the server does not answer in HTTP."""
    try:
        first = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise OSError("an answer without an end of its headers") from error
    status_line, *lines = first[:-4].decode("latin-1").split("\r\n")
    status = _STATUS.fullmatch(status_line)
    if not status:
        raise OSError("an answer that is not HTTP")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (s.partition(":") for s in lines)
    }
    if method == "HEAD" or status[1] in ("204", "304"):
        return Answer(first, False, 0)
    chunked = "chunked" in headers.get("transfer-encoding", "").lower()
    length = headers.get("content-length", "")
    return Answer(first, chunked, int(length) if length.isdecimal() else None)


def error(refused: Refused, *, last: bool) -> bytes:
    """An answer in the form of Triton's own errors; ``last``: the connection ends with it."""
    body = json.dumps({"error": str(refused)}, ensure_ascii=False).encode()
    head = (
        f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    return head.encode() + (b"Connection: close\r\n\r\n" if last else b"\r\n") + body
