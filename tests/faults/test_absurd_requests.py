"""Absurd requests to a real server: a sentence for each, and the server stays up."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import http.client
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import tritonclient.grpc.service_pb2 as messages
from tritonclient.grpc.service_pb2_grpc import GRPCInferenceServiceStub

from desktop.launchers import health
from desktop.launchers.http_guard import MAX_CONNECTIONS, HttpGuard
from desktop.triton.types import Endpoint
from tests.faults.absurd_requests import (
    ADDRESS,
    LEFT_TO_TRITON,
    REFUSED,
    STRING,
    VALID,
    chunked,
    request,
    text,
)
from tests.support.chat import ENDLESS, http_connection, metric
from tests.triton.tiny import wait_for

pytestmark = pytest.mark.triton

STREAM = "/v2/models/ibuddha_chitchat_stream/generate_stream"


def connect(server: Any) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(server.endpoint.http.removeprefix("unix:"))
    connection.settimeout(60)
    return connection


def exchange(connection: socket.socket, sent: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; the status and body of the answer."""
    connection.sendall(sent)
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.status, answer.read()


def ask(server: Any, sent: bytes) -> tuple[int, bytes]:
    with connect(server) as connection:
        return exchange(connection, sent)


def works(server: Any) -> bool:
    status, answer = ask(server, VALID)
    return status == 200 and "杭州市" in json.dumps(json.loads(answer), ensure_ascii=False)


@pytest.fixture(autouse=True)
def the_server_stays_up(server: Any) -> Iterator[None]:
    pid = server.status().pid
    yield
    assert works(server)
    assert server.status().pid == pid
    assert not _ended(pid)


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED)
def test_an_absurd_request_gets_a_sentence(server: Any, sent: bytes) -> None:
    status, body = ask(server, sent)
    # Triton has no better word than 501 for a log file that must not be changed.
    assert 400 <= status < 500 or status == 501, body
    (sentence,) = json.loads(body).values()
    assert len(sentence.split()) > 2


@pytest.mark.parametrize("sent", LEFT_TO_TRITON.values(), ids=LEFT_TO_TRITON)
def test_what_is_left_to_triton_gets_a_sentence_too(server: Any, sent: bytes) -> None:
    status, body = ask(server, sent)
    assert status >= 400
    assert len(json.loads(body)["error"].split()) > 2


def message(
    model: str, inputs: tuple[tuple[str, str, list[int]], ...], raw: list[bytes], **outputs: Any
) -> Any:
    made = messages.ModelInferRequest(model_name=model, raw_input_contents=raw)
    for name, datatype, shape in inputs:
        made.inputs.add(name=name, datatype=datatype, shape=shape)
    for name, parameters in outputs.items():
        made.outputs.add(name=name, parameters=parameters)
    return made


def texts(shape: list[int], raw: list[bytes], **outputs: Any) -> Any:
    return message("address_parser", (("text_input", "BYTES", shape),), raw, **outputs)


def numbers(shape: list[int], raw: list[bytes]) -> Any:
    names = ("input_ids", "segment_ids", "input_mask")
    return message("multitask_model", tuple((n, "INT64", shape) for n in names), raw)


EIGHT = [bytes(8)] * 3
REGION = messages.InferParameter(string_param="r")
NEGATIVE = messages.InferParameter(int64_param=-1)
ABSURD_MESSAGES = {
    **{
        f"texts of shape {shape}": texts(shape, [STRING])
        for shape in ([2**61], [2**63 - 1], [-1], [-1, -1], [1, 2**40], [2**31, 1], [])
    },
    **{
        f"numbers of shape {shape}": numbers(shape, EIGHT)
        for shape in ([2**61], [-1], [1, -1], [1, 2**40], [2**32, 2**32], [2**31, 1], [])
    },
    "fewer data than inputs": numbers([1, 1], EIGHT[:1]),
    "no data": numbers([1, 1], []),
    "empty data": numbers([1, 1], [b""] * 3),
    "ids out of range": numbers([1, 1], [b"\x7f" * 8] * 3),
    "a text of 2^32-1 bytes in 2": texts([1, 1], [b"\xff\xff\xff\xffab"]),
    "a text without a length": texts([1, 1], [b"ab"]),
    "two texts for one": texts([1, 1], [STRING * 2]),
    "an input twice": message("address_parser", (("text_input", "BYTES", [1, 1]),) * 2, [STRING]),
    "no such type": message("address_parser", (("text_input", "HUGE", [1, 1]),), [STRING]),
    "no such output": texts([1, 1], [STRING], nope={}),
    "no such shared memory": texts([1, 1], [STRING], result={"shared_memory_region": REGION}),
    "a negative number of classes": texts([1, 1], [STRING], result={"classification": NEGATIVE}),
    "no such model": message("nobody", (), []),
}


@pytest.mark.parametrize("sent", ABSURD_MESSAGES.values(), ids=ABSURD_MESSAGES)
def test_an_absurd_message_gets_a_sentence(server: Any, sent: Any) -> None:
    with (
        grpc.insecure_channel(server.endpoint.grpc) as channel,
        pytest.raises(grpc.RpcError) as raised,
    ):
        GRPCInferenceServiceStub(channel).ModelInfer(sent, timeout=60)
    assert raised.value.code() in (
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.INTERNAL,
    )
    assert len(raised.value.details().split()) > 2


# ---- what the guard passes on ----


def test_a_connection_serves_on_after_an_error(server: Any) -> None:
    with connect(server) as connection:
        for sent, wanted in [(VALID, 200), (request(ADDRESS, b"["), 400), (VALID, 200)]:
            assert exchange(connection, sent)[0] == wanted


def test_requests_may_follow_each_other_at_once_and_a_client_may_stop_sending(server: Any) -> None:
    with connect(server) as connection:
        connection.sendall(VALID * 3)
        connection.shutdown(socket.SHUT_WR)
        answered = b""
        while piece := connection.recv(1 << 16):
            answered += piece
    assert len(re.findall(rb"HTTP/1\.1 200 OK", answered)) == 3


def test_packed_and_chunked_bodies_are_understood(server: Any) -> None:
    body = json.dumps(text()).encode()
    packed = request(ADDRESS, gzip.compress(body), "Content-Encoding: gzip")
    in_two = chunked(b"5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (body[:5], len(body) - 5, body[5:]))
    patient = request(ADDRESS, body, "Expect: 100-continue")
    wanted = ask(server, VALID)
    assert [ask(server, sent) for sent in (packed, in_two, patient)] == [wanted] * 3


def test_a_reply_is_passed_on_token_by_token(server: Any) -> None:
    before = metric(server.endpoint, "tritalk_generated_tokens")
    sampling = json.dumps({"max_tokens": 400, "min_tokens": 400, "seed": 1, **ENDLESS})
    body = {"text_input": "你好", "stream": True, "sampling_parameters": sampling}
    connection = http_connection(server.endpoint)
    connection.request("POST", STREAM, json.dumps(body))
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.readline().startswith(b"data: ")
    assert metric(server.endpoint, "tritalk_generated_tokens") < before + 400
    rest = answer.read().decode()
    assert rest.count("token_id") == 399
    connection.close()


def test_too_many_connections_are_refused_and_no_others(server: Any) -> None:
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(connect(server)) for _ in range(MAX_CONNECTIONS)]
        assert exchange(crowd[-1], VALID)[0] == 200
        assert ask(server, VALID)[0] == 503
    wait_for(lambda: works(server))


def test_curl_sends_a_large_body_and_reads_the_refusal(server: Any, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(bytes(40 << 20))
    command = ["curl", "-s", "--unix-socket", server.endpoint.http.removeprefix("unix:")]
    command += ["--data-binary", f"@{large}", f"http://localhost{ADDRESS}"]
    answer = subprocess.run(command, capture_output=True, check=True).stdout
    assert json.loads(answer) == {"error": "the body is larger than 16 MiB"}


def test_where_no_server_answers_the_guard_says_so(server: Any, tmp_path: Path) -> None:
    endpoint = Endpoint("", f"unix:{tmp_path}/h")

    async def meet_nobody() -> tuple[int, bytes]:
        guard = HttpGuard(endpoint, tmp_path / "nobody")
        await guard.open()
        try:
            return await asyncio.to_thread(health.request, endpoint.http, "GET", "/v2/health/live")
        finally:
            await guard.close()

    status, body = asyncio.run(meet_nobody())
    assert status == 502
    assert "Triton does not answer" in json.loads(body)["error"]
    assert list(tmp_path.iterdir()) == []
