"""Stands before Triton's HTTP front end, which its own user could bring down by absurd requests.

Clients connect to the guard's address; Triton listens behind it on a Unix socket in the same
private folder. A request is read whole and checked (:mod:`desktop.launchers.http_checks`) before
Triton sees a byte of it; the answer is passed along byte for byte as it comes. The guard runs in
the supervisor's own event loop, so that nothing of it can outlive the supervisor.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import select
from collections.abc import Awaitable, Callable
from pathlib import Path

from desktop.launchers import http_checks, http_wire
from desktop.launchers.http_checks import Refused
from desktop.launchers.http_wire import Head
from desktop.triton.types import Endpoint

# How long a client that is refused may go on sending, so that it comes to read the answer.
_LINGER = 5.0
_PIECE = 1 << 16
# Two descriptors each, of the 1024 that a process may have by default.
MAX_CONNECTIONS = 256
# A body this small is checked faster than a thread could be asked to.
_SMALL = 1 << 14


class _Connection(asyncio.StreamReaderProtocol):
    """A client's connection. ``gone`` is set once it cannot be answered any more."""

    def __init__(self, serve: Callable[..., Awaitable[None]]) -> None:
        super().__init__(asyncio.StreamReader(limit=http_wire.MAX_HEAD), serve)
        self.gone = asyncio.Event()
        self._descriptor = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._descriptor = transport.get_extra_info("socket").fileno()
        super().connection_made(transport)

    def eof_received(self) -> bool | None:
        # A client that has sent all it wants to send may still read. Unix sockets tell the two
        # apart; on TCP the next write does.
        poll = select.poll()
        poll.register(self._descriptor, 0)
        if any(events & select.POLLHUP for _, events in poll.poll(0)):
            self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class HttpGuard:
    """Listens on ``endpoint.http``, demands ``endpoint.headers``, and passes on to the Unix socket
    ``behind``."""

    def __init__(self, endpoint: Endpoint, behind: Path) -> None:
        self._endpoint = endpoint
        self._behind = behind
        self._listener: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        # One large body at a time, since its objects may take many times its size.
        self._checking = asyncio.Semaphore(1)

    async def open(self) -> None:
        """Raises OSError where the address is taken."""
        loop = asyncio.get_running_loop()
        address = self._endpoint.http
        if address.startswith("unix:"):
            path = Path(address.removeprefix("unix:"))
            path.unlink(missing_ok=True)
            self._listener = await loop.create_unix_server(
                self._protocol, path, backlog=MAX_CONNECTIONS
            )
        else:
            host, _, port = address.removeprefix("http://").rpartition(":")
            self._listener = await loop.create_server(
                self._protocol, host, int(port), backlog=MAX_CONNECTIONS
            )

    async def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        if self._endpoint.http.startswith("unix:"):
            Path(self._endpoint.http.removeprefix("unix:")).unlink(missing_ok=True)
        connections = set(self._connections)
        for connection in connections:
            connection.cancel()
        if connections:
            await asyncio.wait(connections, timeout=1)

    def _protocol(self) -> _Connection:
        return _Connection(self._connected)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.transport.get_protocol()
        assert isinstance(connection, _Connection)
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) > MAX_CONNECTIONS:
                raise Refused(503, f"there are {MAX_CONNECTIONS} connections already")
            while await self._exchange(reader, writer, connection.gone):
                pass
        except Refused as refused:
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(_say_goodbye(reader, writer, refused), _LINGER)
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # one side has gone, or all of it ends
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event
    ) -> bool:
        """One request and its answer; whether another may follow. Raises :class:`Refused` where
        the connection is of no use after it."""
        head = await http_wire.read_head(reader)
        if head is None:
            return False
        self._demand_key(head)
        body = await http_wire.read_body(head, reader, writer)
        answering = asyncio.create_task(self._answer(head, body, writer))
        leaving = asyncio.create_task(gone.wait())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return answering.done() and answering.result() and not head.last
        finally:
            leaving.cancel()
            answering.cancel()
            # Triton stops computing only when the connection to it is closed.
            await asyncio.wait({answering})
            if not answering.cancelled():
                answering.exception()  # seen: that of a client who has gone is nobody's

    def _demand_key(self, head: Head) -> None:
        # Before the body is read: a stranger is not to fill our memory.
        for name, key in self._endpoint.headers.items():
            given = head.all(name.lower())
            if len(given) != 1 or not hmac.compare_digest(given[0].encode(), key.encode()):
                raise Refused(403, f"This API is restricted, expecting header '{name}'")

    async def _answer(self, head: Head, body: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer a request that was read whole; whether the connection can go on."""
        try:
            body, unpacked = await self._checked(head, body)
            return await self._pass_on(head, body, unpacked, writer)
        except Refused as refused:
            writer.write(http_wire.error(refused, last=head.last))
            await writer.drain()
            return True

    async def _checked(self, head: Head, body: bytes) -> tuple[bytes, bool]:
        """The body as the server shall get it, and whether it was unpacked."""
        encoding = (head.one("content-encoding") or "").lower()
        header_length = head.one("inference-header-content-length")

        def check() -> bytes:
            plain = http_checks.unpack(body, encoding)
            http_checks.check(head.path, plain, header_length)
            return plain

        if len(body) <= _SMALL and not encoding:
            return check(), False
        async with self._checking:
            return await asyncio.to_thread(check), bool(encoding)

    async def _pass_on(
        self, head: Head, body: bytes, unpacked: bool, writer: asyncio.StreamWriter
    ) -> bool:
        silence = Refused(502, "Triton does not answer; it may be starting or have ended just now")
        try:
            upstream, to_server = await asyncio.open_unix_connection(
                self._behind, limit=http_wire.MAX_HEAD
            )
        except OSError as error:
            raise silence from error
        try:
            try:
                to_server.write(head.passed_on(len(body), unpacked=unpacked))
                to_server.write(body)
                await to_server.drain()
                answer = await http_wire.read_answer(head.method, upstream)
            except (OSError, EOFError) as error:
                raise silence from error
            writer.write(answer.first)
            try:
                async for piece in answer.body(upstream):
                    writer.write(piece)
                    await writer.drain()
            except (OSError, EOFError, Refused):
                return False  # too late for an error: the missing end is one
            return answer.chunked or answer.length is not None
        finally:
            to_server.transport.abort()


async def _say_goodbye(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, refused: Refused
) -> None:
    """Answer, and read on for a while: a connection that is closed with something unread in it
    takes the answer along."""
    writer.write(http_wire.error(refused, last=True))
    await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    while await reader.read(_PIECE):
        pass
