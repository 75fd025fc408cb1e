"""The client when the server is not there, or goes away in the middle."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.triton import connection
from desktop.triton.chat_stream import ChatStream
from desktop.triton.client import TritonClient
from desktop.triton.types import (
    Endpoint,
    Finished,
    InvalidInput,
    Sampling,
    ServerUnavailable,
    Token,
)
from tests.support.chat import cancel_at_once

pytestmark = pytest.mark.triton
SHORT = Sampling(max_tokens=2, min_tokens=2)


def test_no_server_at_all(tmp_path: Path) -> None:
    with TritonClient(Endpoint(f"unix:{tmp_path}/g:1")) as client:
        assert not client.is_ready()
        with pytest.raises(ServerUnavailable, match="does not answer; it may be restarting"):
            list(client.chat("你好"))
        with pytest.raises(ServerUnavailable, match="does not answer; it may be restarting"):
            client.parse(["杭州市"])


def test_replies_one_after_the_other_share_a_connection(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    connect = connection.connect
    monkeypatch.setattr(connection, "connect", lambda e: made.append(e) or connect(e))
    with TritonClient(server.endpoint) as client:
        ends = [list(client.chat("你好", sampling=SHORT))[-1] for _ in range(3)]
        assert len(made) == 1
        assert [end.finish_reason for end in ends if isinstance(end, Finished)] == ["length"] * 3
        with pytest.raises(InvalidInput):
            list(client.chat(""))
        list(client.chat("你好", sampling=SHORT))
        assert len(made) == 2, "a stream that ended with an error is not used again"
        cancel_at_once(client.chat("你好", sampling=Sampling(max_tokens=400, min_tokens=400)))
        list(client.chat("你好", sampling=SHORT))
        assert len(made) == 3


def test_replies_beside_each_other_have_connections_of_their_own(server: Any) -> None:
    with TritonClient(server.endpoint) as client:
        for _ in range(2):
            one, other = iter(client.chat("你好", sampling=SHORT)), iter(client.chat("你好"))
            assert isinstance(next(one), Token)
            assert isinstance(next(other), Token)
            assert isinstance([*one][-1], Finished)
            assert isinstance([*other][-1], Finished)


def test_a_kept_connection_whose_server_is_gone_costs_no_reply(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Endpoint(f"unix:{tmp_path}/g:1")
    kept = connection.Connections(server.endpoint)
    for gone in (connection.connect(nowhere), connection.connect(nowhere)):
        kept.give_back(gone)
    *tokens, end = ChatStream(kept, "ibuddha_chitchat_stream", "你好", [], SHORT)
    assert len(tokens) == 2
    assert isinstance(end, Finished)
    client, used = kept.take()
    assert used
    kept.give_back(client)
    assert [each for each, _ in kept._idle] == [client], "the other one was still kept"
    kept.close()
    kept = connection.Connections(nowhere)
    kept.give_back(connection.connect(nowhere))
    kept.give_back(connection.connect(nowhere))
    tried = []
    connect = connection.connect
    monkeypatch.setattr(connection, "connect", lambda e: tried.append(e) or connect(e))
    with pytest.raises(ServerUnavailable, match="does not answer"):
        list(ChatStream(kept, "ibuddha_chitchat_stream", "你好", [], SHORT))
    assert tried == [nowhere], "it is tried once more, on a connection of its own"
    assert not kept._idle


def test_connections_to_another_machine_are_kept_for_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    far = connection.Connections(Endpoint("127.0.0.1:9"))
    near = connection.Connections(Endpoint("unix:/nowhere/g:1"))
    now = time.time()
    for after, kept in ((59, True), (61, False), (-5, False)):  # the clock may be put back
        for connections in (far, near):
            connections.give_back(connection.connect(connections.endpoint))
        monkeypatch.setattr(time, "time", lambda after=after: now + after)
        for connections, expected in ((far, kept), (near, True)):
            client, used = connections.take()
            assert used == expected
            client.close()
        monkeypatch.setattr(time, "time", lambda: now)


def test_a_client_closed_while_its_reply_comes_closes_that_connection_too(server: Any) -> None:
    client = TritonClient(server.endpoint)
    events = iter(client.chat("你好", sampling=SHORT))
    next(events)
    client.close()
    assert isinstance([*events][-1], Finished)
    assert client._streams._idle == []


def test_the_first_reply_of_a_server_that_came_back(fresh_server: Callable[..., Any]) -> None:
    running = fresh_server()
    status = running.lease.wait_ready()
    with TritonClient(status.endpoint) as client:
        list(client.chat("你好", sampling=SHORT))
        os.kill(status.pid, signal.SIGKILL)
        end = time.monotonic() + 60
        while running.lease.status().pid == status.pid:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert running.lease.wait_ready().endpoint == status.endpoint
        assert len(list(client.chat("你好", sampling=SHORT))) == 3


def test_a_server_killed_in_the_middle_of_a_reply(fresh_server: Callable[..., Any]) -> None:
    running = fresh_server()
    status = running.lease.wait_ready()
    sampling = Sampling(max_tokens=480, min_tokens=480, temperature=1.0, top_p=1.0)
    with TritonClient(status.endpoint) as client:
        received = []
        with pytest.raises(ServerUnavailable):  # noqa: PT012 - the error comes out of the loop
            for event in client.chat("你好", sampling=sampling):
                received.append(event)
                if len(received) == 10:
                    os.kill(status.pid, signal.SIGKILL)
        assert len(received) >= 10
        assert all(isinstance(event, Token) for event in received)
    end = time.monotonic() + 60
    while True:  # it is restarted; the next request works
        status = running.lease.wait_ready()
        try:
            with TritonClient(status.endpoint) as client:
                assert list(client.chat("你好", sampling=Sampling(max_tokens=2)))
                break
        except ServerUnavailable:
            assert time.monotonic() < end
            time.sleep(0.2)
