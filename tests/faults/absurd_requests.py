"""Requests that no client should send, as bytes and messages made by hand.

Those marked KILLS ended tritonserver 24.10 when nothing stood before it.
"""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from typing import Any

ADDRESS = "/v2/models/address_parser/infer"
NETWORK = "/v2/models/multitask_model/infer"
GENERATE = "/v2/models/ibuddha_chitchat_stream/generate"
LOAD = "/v2/repository/models/nobody/load"
SHARED = "/v2/systemsharedmemory/region/r/register"
CUDA = "/v2/cudasharedmemory/region/r/register"
STRING = struct.pack("<I", 3) + b"abc"


def request(
    path: str,
    body: Any = b"",
    *headers: str,
    method: str = "POST",
    length: int | str | None = None,
) -> bytes:
    """A request's bytes. ``length``: what to say in Content-Length, "" for no such header."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: x", *headers]
    if length != "":
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def text(shape: Any = (1, 1), data: Any = ("杭州市",), **more: Any) -> dict[str, Any]:
    tensor = {"name": "text_input", "shape": shape, "datatype": "BYTES", "data": data, **more}
    return {"inputs": [{k: v for k, v in tensor.items() if v is not ...}]}


def ids(shape: Any, data: Any, **more: Any) -> dict[str, Any]:
    names = ("input_ids", "segment_ids", "input_mask")
    tensor = {"shape": shape, "datatype": "INT64", "data": data, **more}
    return {"inputs": [{"name": name, **tensor} for name in names]}


def binary(size: Any, data: bytes = STRING, shape: Any = (1, 1), length: Any = None) -> bytes:
    head = json.dumps(text(shape, ..., parameters={"binary_data_size": size})).encode()
    length = len(head) if length is None else length
    return request(ADDRESS, head + data, f"Inference-Header-Content-Length: {length}")


def chunked(body: bytes) -> bytes:
    return request(ADDRESS, body, "Transfer-Encoding: chunked", length="")


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


VALID = request(ADDRESS, text())
_JSON = json.dumps(text()).encode()
KILLS = {
    "an integer shape of 2^61": request(NETWORK, ids([2**61], [1])),
    "an integer shape of 2^60": request(NETWORK, ids([2**60, 1], [1])),
    "an integer shape of 2^33": request(NETWORK, ids([1, 2**33], [1])),
    "a million brackets": request(ADDRESS, b"[" * 1_000_000),
    "half a million pairs of brackets": request(ADDRESS, deep(500_000)),
    "deep data": request(ADDRESS, _JSON.replace(b'["', deep(100_000)[:100_000] + b'["', 1)),
    "a deep text to generate": request(GENERATE, b'{"text_input":' + deep(100_000) + b"}"),
    "a text to be classified": request(
        ADDRESS, {**text(), "outputs": [{"name": "result", "parameters": {"classification": 1}}]}
    ),
}
SHAPES = {
    f"a shape of {shape}": request(ADDRESS, text(shape))
    for shape in (
        [2**61],
        [2**62, 1],
        [2**63],
        [2**31, 1],
        [2**40, 1],
        [2**32, 2**32],
        [10**9, 1],
        [-1],
        [-1, -1],
        [0, 1],
        [5, 1],
        [],
        [1.5],
        ["1"],
        [[1]],
        [None],
        5,
        None,
    )
}
BODIES = {
    "a million dimensions": request(ADDRESS, text([1] * 1_000_000)),
    "more data than shape": request(ADDRESS, text((1, 1), ["x"] * 5)),
    "ragged data": request(ADDRESS, text((2, 1), [["a"], [["b"]]])),
    "data that is an object": request(ADDRESS, text((1, 1), {"a": 1})),
    "data that is a text": request(ADDRESS, text((1, 1), "abc")),
    "a number for a text": request(ADDRESS, text((1, 1), [1])),
    "a text for a number": request(NETWORK, ids([1, 1], ["x"])),
    "a fraction for an integer": request(NETWORK, ids([1, 1], [1.5])),
    "an integer of 31 digits": request(NETWORK, ids([1, 1], [10**30])),
    "an integer of 5000 digits": request(NETWORK, b'{"inputs":' + b"1" * 5000 + b"}"),
    "a number of 1e400": request(ADDRESS, b'{"inputs":[1e400]}'),
    "no data": request(ADDRESS, text((1, 1), ...)),
    "no shape": request(ADDRESS, text(...)),
    "no such type": request(ADDRESS, text(datatype="HUGE")),
    "a type that is a number": request(ADDRESS, text(datatype=7)),
    "a name that is a number": request(ADDRESS, text(name=7)),
    "inputs that are an object": request(ADDRESS, {"inputs": {"a": 1}}),
    "inputs that are numbers": request(ADDRESS, {"inputs": [1, 2]}),
    "no inputs": request(ADDRESS, {"inputs": []}),
    "300 inputs": request(ADDRESS, {"inputs": text()["inputs"] * 300}),
    "an input twice": request(ADDRESS, {"inputs": text()["inputs"] * 2}),
    "inputs twice": request(ADDRESS, b'{"inputs":[' + _JSON[11:-1] + b"," + _JSON[1:]),
    "an array": request(ADDRESS, [1]),
    "no body": request(ADDRESS),
    "no JSON": request(ADDRESS, b"hello"),
    "no UTF-8": request(ADDRESS, b'{"a":"\xff"}'),
    "NUL bytes": request(ADDRESS, bytes(100)),
    "half of a JSON": request(ADDRESS, _JSON[:-9]),
    "300,000 objects": request(ADDRESS, {"inputs": [{}] * 300_000}),
    "parameters in parameters": request(ADDRESS, {**text(), "parameters": {"a": {"b": 1}}}),
    "a priority of 2^70": request(ADDRESS, {**text(), "parameters": {"priority": 2**70}}),
    "a sequence of the wrong type": request(
        ADDRESS, {**text(), "parameters": {"sequence_start": "x"}}
    ),
    "an id that is an object": request(ADDRESS, {**text(), "id": {}}),
    "no such output": request(ADDRESS, {**text(), "outputs": [{"name": "nope"}]}),
    "outputs that are numbers": request(ADDRESS, {**text(), "outputs": [3]}),
    "no such shared memory": request(
        ADDRESS,
        text(
            data=...,
            parameters={
                "shared_memory_region": "r",
                "shared_memory_byte_size": 2**62,
                "shared_memory_offset": 2**62,
            },
        ),
    ),
    "17 MiB": request(ADDRESS, b" " * (17 << 20)),
    "a bad gzip": request(ADDRESS, _JSON, "Content-Encoding: gzip"),
    "a gzip cut short": request(ADDRESS, gzip.compress(_JSON)[:-9], "Content-Encoding: gzip"),
    "a bomb": request(ADDRESS, zlib.compress(bytes(99 << 20)), "Content-Encoding: deflate"),
    "an unknown coding": request(ADDRESS, _JSON, "Content-Encoding: br"),
}
BINARY = {
    "binary data larger than sent": binary(1000),
    "binary data of 2^62": binary(2**62),
    "binary data of -1": binary(-1),
    "binary data smaller than sent": binary(3),
    "binary data of another size than its shape": binary(7, shape=(2, 1)),
    "binary data of a text for size": binary("x"),
    "a text of 2^32-1 bytes in 8": binary(8, struct.pack("<I", 2**32 - 1) + b"abcd"),
    "a JSON longer than the body": binary(7, length=10**6),
    "a JSON of 2^63 bytes": binary(7, length=2**63),
    "a JSON of -1 bytes": binary(7, length=-1),
    "a JSON of abc bytes": binary(7, length="abc"),
    "a JSON of 10 bytes of its 100": binary(7, length=10),
    "two lengths of JSON": binary(7, length="5\r\nInference-Header-Content-Length: 7"),
}
FRAMES = {
    "a chunk of zz": chunked(b"zz\r\nabc\r\n0\r\n\r\n"),
    "a chunk of -5": chunked(b"-5\r\nabc\r\n0\r\n\r\n"),
    "a chunk of 2^64-1": chunked(b"f" * 16 + b"\r\nabc\r\n0\r\n\r\n"),
    "a chunk of 4 GiB": chunked(b"ffffffff\r\n" + bytes(17 << 20)),
    "a chunk longer than it says": chunked(b"2\r\nabc\r\n0\r\n\r\n"),
    "chunks and a length": request(ADDRESS, b"0\r\n\r\n", "Transfer-Encoding: chunked"),
    "an unknown transfer coding": request(ADDRESS, b"", "Transfer-Encoding: gzip", length=""),
    "a length of 2^62": request(ADDRESS, b"abc", length=2**62),
    "a length of 2^64": request(ADDRESS, b"abc", length=2**64),
    "a length of -1": request(ADDRESS, b"abc", length=-1),
    "a length of abc": request(ADDRESS, b"abc", length="abc"),
    "two lengths": request(ADDRESS, b"abc", "Content-Length: 1"),
    "another expectation": request(ADDRESS, _JSON, "Expect: wonders"),
    "a header of 1 MB": request("/v2", b"", "X: " + "a" * 1_000_000, method="GET"),
    "20,000 headers": request("/v2", b"", *["X: a"] * 20_000, method="GET"),
    "an address of 1 MB": request("/" + "a" * 1_000_000, method="GET"),
    "a header with a line feed": request("/v2", b"", "X: a\nY: b", method="GET"),
    "a header without a name": request("/v2", b"", ": a", method="GET"),
    "no request": b"\r\n\r\n\r\n",
    "random bytes": bytes(range(256)) + b"\r\n\r\n",
    "HTTP/9.9": b"GET /v2 HTTP/9.9\r\n\r\n",
    "an odd method": request("/v2", method="FOO"),
}
GENERATES = {
    "nothing to generate": request(GENERATE, b""),
    "no text to generate": request(GENERATE, {}),
    "a list to generate": request(GENERATE, [1]),
    "null to generate": request(GENERATE, {"text_input": None}),
    "an object to generate": request(GENERATE, {"text_input": {"a": 1}}),
    "100,000 texts to generate": request(GENERATE, {"text_input": ["a"] * 100_000}),
    "two megabytes to generate": request(GENERATE, {"text_input": "a" * 2_000_000}),
    "1000 names to generate": request(GENERATE, {f"k{i}": 1 for i in range(1000)}),
    "a temperature of 1e400": request(GENERATE, b'{"text_input":"x","temperature":1e400}'),
    "a temperature of 10^40": request(GENERATE, {"text_input": "x", "temperature": 10**40}),
    "deep parameters to generate": request(
        GENERATE, {"text_input": "x", "parameters": {"a": {"b": []}}}
    ),
    "half a surrogate pair": request(GENERATE, b'{"text_input":"\\ud800"}'),
}
CONTROL = {
    "a deep index": request("/v2/repository/index", deep(100_000)),
    "an index of 7": request("/v2/repository/index", 7),
    "to load with 7": request(LOAD, {"parameters": 7}),
    "to load with a number for a configuration": request(LOAD, {"parameters": {"config": 7}}),
    "to load with half a configuration": request(LOAD, {"parameters": {"config": "{"}}),
    "to load with a deep configuration": request(LOAD, {"parameters": {"config": "[" * 10**6}}),
    "deep logging": request("/v2/logging", deep(100_000)),
    "another log file": request("/v2/logging", {"log_file": "/nonexistent/x"}),
    "deep tracing": request("/v2/trace/setting", deep(100_000)),
    "a trace rate of 2^70": request("/v2/trace/setting", {"trace_rate": str(2**70)}),
    "shared memory without a key": request(SHARED, {}),
    "deep shared memory": request(SHARED, deep(100_000)),
    "a GPU handle that is none": request(
        CUDA, {"raw_handle": {"b64": "aGk="}, "device_id": 0, "byte_size": 10}
    ),
    "an absurd version": request(ADDRESS.replace("/infer", f"/versions/{10**20}/infer"), text()),
    "no such model": request("/v2/models/nobody/infer", text()),
}
# Triton itself answers these, in words, though with a 5xx that blames the server: their types are
# the models' and the interface's own affair.
LEFT_TO_TRITON = {
    "a number as the text": request(GENERATE, {"text_input": 7}),
    "a text as a flag": request(GENERATE, {"text_input": "x", "stream": "yes"}),
    "an index flag of the wrong type": request("/v2/repository/index", {"ready": "x"}),
    "a model that is not there to load": request(LOAD, {}),
    "logging of the wrong types": request("/v2/logging", {"log_info": "x"}),
    "a negative log level": request("/v2/logging", {"log_verbose_level": -5}),
    "tracing of the wrong types": request("/v2/trace/setting", {"trace_level": 7}),
    "shared memory of the wrong types": request(SHARED, {"key": 7, "offset": "x"}),
    "shared memory of a negative size": request(
        SHARED, {"key": "/nope", "offset": -1, "byte_size": -1}
    ),
    "shared memory that is not there": request(
        SHARED, {"key": "/nope", "offset": 0, "byte_size": 2**62}
    ),
    "a GPU handle of the wrong type": request(CUDA, {"raw_handle": 7}),
}
REFUSED = {
    **KILLS,
    **SHAPES,
    **BODIES,
    **BINARY,
    **FRAMES,
    **GENERATES,
    **CONTROL,
}
