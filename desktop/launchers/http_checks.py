"""What a request's body must be before Triton's HTTP front end may read it.

Triton 24.10 believes a shape before it looks at the data, and reads JSON by recursion: a shape of
2^61 or a million brackets end the whole server. Here each body is read once by a parser that
survives it. Formats: the KServe predict protocol v2 with Triton's extensions for binary data,
``generate`` and the model repository.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from itertools import chain
from typing import Any

MAX_BODY = 16 << 20  # bytes, also after decompression
# A text and its sampling; the models need seconds to refuse a text of many megabytes.
MAX_GENERATE = 1 << 20
MAX_DEPTH = 64
# Lists and objects of one body; Triton needs some hundred bytes for each.
MAX_CONTAINERS = 1 << 18
MAX_DIMENSIONS = 16
MAX_DIMENSION = 2**31 - 1
# Inputs, outputs or parameters of one request, or names of a ``generate`` body; the cost of those
# grows with their square.
MAX_NAMED = 256

# Bytes of an element; 0 where they vary.
_WIDTH = {
    **dict.fromkeys(("BOOL", "INT8", "UINT8"), 1),
    **dict.fromkeys(("INT16", "UINT16", "FP16", "BF16"), 2),
    **dict.fromkeys(("INT32", "UINT32", "FP32"), 4),
    **dict.fromkeys(("INT64", "UINT64", "FP64"), 8),
    "BYTES": 0,
}
_SCALARS = {str, int, float, bool}
_MAX_NUMBER = 2**63 - 1
# What Triton itself understands among a request's or a tensor's parameters.
_PARAMETERS: dict[str, type] = {
    "priority": int,
    "timeout": int,
    "sequence_start": bool,
    "sequence_end": bool,
    "binary_data_output": bool,
    "binary_data": bool,
    "binary_data_size": int,
    "classification": int,
    "shared_memory_region": str,
    "shared_memory_byte_size": int,
    "shared_memory_offset": int,
}
_INTEGER = re.compile(r"(U?)INT(\d+)")


class Refused(Exception):
    """The request goes no further; ``str`` is one sentence for its sender."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def unpack(body: bytes, encoding: str) -> bytes:
    """The body without its Content-Encoding: gzip, deflate (zlib's format) or none."""
    if encoding in ("", "identity") or not body:
        return body
    if encoding not in ("gzip", "deflate"):
        raise Refused(415, f"the content encoding {encoding[:40]!r} is not known")
    unpacker = zlib.decompressobj(47 if encoding == "gzip" else 15)
    try:
        unpacked = unpacker.decompress(body, MAX_BODY + 1)
    except zlib.error as error:
        raise Refused(400, f"the body is not {encoding} data") from error
    if len(unpacked) > MAX_BODY:
        raise too_large(MAX_BODY)
    if not unpacker.eof or unpacker.unused_data:
        raise Refused(400, f"the body is not {encoding} data of the length it has")
    return unpacked


def too_large(limit: int) -> Refused:
    return Refused(413, f"the body is larger than {limit >> 20} MiB")


def check(path: str, body: bytes, header_length: str | None) -> None:
    """Raises :class:`Refused` where Triton should not see ``body``. ``header_length``: the value of
    Inference-Header-Content-Length, how many bytes of an ``infer`` body are JSON."""
    action = path.rpartition("/")[2]
    generate = action in ("generate", "generate_stream")
    if not body and not generate:
        return
    if generate and len(body) > MAX_GENERATE:
        raise too_large(MAX_GENERATE)
    if action != "infer":
        root = _object(body)
        if generate:
            _check_generate(root)
        elif action == "load":
            _check_load(root)
        return
    length = len(body)
    if header_length is not None:
        if not re.fullmatch(r"[0-9]{1,9}", header_length) or int(header_length) > len(body):
            raise Refused(
                400, f"Inference-Header-Content-Length must be a number from 0 to {len(body)}"
            )
        length = int(header_length)
    if length:  # else the body is the only input's data
        _check_infer(_object(body[:length]), len(body) - length)


def _object(body: bytes, what: str = "the body") -> dict[str, Any]:
    """The JSON object that ``body`` is, such that every parser reads the same and survives."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Refused(400, f"{what} is not UTF-8 at byte {error.start}") from error
    if text.count("[") + text.count("{") > MAX_CONTAINERS:
        raise Refused(400, f"the JSON has more than {MAX_CONTAINERS:,} lists and objects")
    try:
        root = json.loads(text, object_pairs_hook=_members, parse_float=_number)
    except json.JSONDecodeError as error:
        raise Refused(400, f"{what} is not JSON: {error.msg} at {error.pos}") from error
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # an integer of thousands of digits
        raise Refused(400, "the JSON has a number that is too long") from error
    if type(root) is not dict:
        raise Refused(400, f"{what} must be a JSON object")
    level: list[Any] = [root]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if type(outer) in (list, dict)
            for inner in (outer.values() if type(outer) is dict else outer)
        ]
        if not level:
            break
    else:
        raise _too_deep()
    if "\\u" in text:
        try:
            json.dumps(root, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Refused(400, f"{what} has half a surrogate pair") from None
    return root


def _too_deep() -> Refused:
    return Refused(400, f"the JSON is nested more than {MAX_DEPTH} deep")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        # Of two members with one name Triton reads the first and Python the last.
        raise Refused(400, "the JSON has an object with the same name twice")
    return members


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise Refused(400, f"the number {text[:40]} is too large")
    return number


def _check_generate(root: dict[str, Any]) -> None:
    if len(root) > MAX_NAMED:
        raise Refused(400, f"the request has more than {MAX_NAMED} names")
    for name, value in root.items():
        if name == "parameters":
            _check_parameters("the request", value)
        else:
            _leaves(f"{name[:80]!r}", [value])


def _check_load(root: dict[str, Any]) -> None:
    parameters = root.get("parameters")
    if parameters is None:
        return
    _check_parameters("the request", parameters)
    config = parameters.get("config", "{}")
    if type(config) is not str:
        raise Refused(400, "the parameter 'config' must be a JSON object in a string")
    _object(config.encode(), "the parameter 'config'")  # Triton's own parser reads this text too


def _check_infer(root: dict[str, Any], rest: int) -> None:
    """``rest``: the bytes of binary data behind the JSON."""
    if "id" in root and type(root["id"]) is not str:
        raise Refused(400, "'id' must be a string")
    _check_parameters("the request", root.get("parameters", {}))
    for output in _named(root, "outputs") if "outputs" in root else ():
        name = f"output {output['name'][:80]!r}"
        parameters = output.get("parameters", {})
        _check_parameters(name, parameters)
        if parameters.get("classification"):
            # Asked of a text, even the number 1 ends Triton 24.10 (a division by its width, 0).
            raise Refused(400, f"{name} cannot be classified: the models here have no labels")
    announced = sum(_check_input(tensor) for tensor in _named(root, "inputs"))
    if announced != rest:
        raise Refused(
            400, f"the inputs announce {announced} bytes of binary data, but {rest} follow the JSON"
        )


def _named(root: dict[str, Any], what: str) -> list[dict[str, Any]]:
    """The inputs or the outputs: objects with names."""
    tensors = root.get(what)
    if type(tensors) is not list:
        raise Refused(400, f"the request must have a list {what!r}")
    if len(tensors) > MAX_NAMED:
        raise Refused(400, f"the request has more than {MAX_NAMED} {what}")
    for tensor in tensors:
        if type(tensor) is not dict or type(tensor.get("name")) is not str:
            raise Refused(400, f"each of the {what} must be an object with a name")
    return tensors


def _check_input(tensor: dict[str, Any]) -> int:
    """The bytes that this input takes of the binary data."""
    name = f"input {tensor['name'][:80]!r}"
    datatype, parameters = tensor.get("datatype"), tensor.get("parameters", {})
    if type(datatype) is not str or datatype not in _WIDTH:
        raise Refused(400, f"{name} must have one of the data types {', '.join(_WIDTH)}")
    elements = _elements(name, tensor.get("shape"))
    _check_parameters(name, parameters)
    sources = [
        source
        for source, where in (
            ("data", tensor),
            ("binary_data_size", parameters),
            ("shared_memory_region", parameters),
        )
        if source in where
    ]
    if len(sources) != 1:
        raise Refused(
            400, f"{name} must have either data, binary_data_size or shared_memory_region"
        )
    if sources == ["data"]:
        _check_data(name, datatype, elements, tensor["data"])
        return 0
    size = parameters.get(
        "binary_data_size" if sources == ["binary_data_size"] else "shared_memory_byte_size", 0
    )
    width = _WIDTH[datatype]
    # Each string is preceded by four bytes that tell its length.
    if size != elements * width if width else size < elements * 4:
        raise Refused(400, f"{name} of its shape cannot have {size} bytes of data")
    return int(size) if sources == ["binary_data_size"] else 0


def _elements(name: str, shape: Any) -> int:
    if type(shape) is not list or len(shape) > MAX_DIMENSIONS:
        raise Refused(400, f"{name} must have a shape, a list of at most {MAX_DIMENSIONS} numbers")
    if not all(type(size) is int and 0 <= size <= MAX_DIMENSION for size in shape):
        raise Refused(400, f"each dimension of {name} must be from 0 to {MAX_DIMENSION}")
    return math.prod(shape)


def _check_data(name: str, datatype: str, elements: int, data: Any) -> None:
    if type(data) is not list:
        raise Refused(400, f"the data of {name} must be a list")
    leaves = _leaves(f"the data of {name}", data)
    if len(leaves) != elements:
        raise Refused(
            400, f"{name} has {len(leaves)} elements of data, but its shape has {elements}"
        )
    kinds = set(map(type, leaves))
    integer = _INTEGER.fullmatch(datatype)
    if datatype == "BYTES":
        allowed: set[type] = {str}
    elif datatype == "BOOL":
        allowed = {bool, int}
    else:
        allowed = {int} if integer else {int, float}
    if kinds - allowed:
        raise Refused(400, f"the data of {name} must be of its type, {datatype}")
    if integer and leaves:
        bits = int(integer[2])
        low, high = (0, 2**bits - 1) if integer[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if min(leaves) < low or max(leaves) > high:
            raise Refused(400, f"the data of {name} must be from {low} to {high}")


def _leaves(name: str, data: list[Any]) -> list[Any]:
    """The elements of a nested list, all at the same depth."""
    while list in (kinds := set(map(type, data))):
        if kinds != {list}:
            raise Refused(400, f"{name} must have its elements all at the same depth")
        data = list(chain.from_iterable(data))
    if kinds - _SCALARS:
        raise Refused(400, f"{name} must consist of numbers, strings or booleans")
    return data


def _check_parameters(name: str, parameters: Any) -> None:
    if type(parameters) is not dict or not set(map(type, parameters.values())) <= _SCALARS:
        raise Refused(
            400, f"the parameters of {name} must be an object of numbers, strings and booleans"
        )
    if len(parameters) > MAX_NAMED:
        raise Refused(400, f"{name} has more than {MAX_NAMED} parameters")
    for key, value in parameters.items():
        wanted = _PARAMETERS.get(key)
        if wanted and type(value) is not wanted:
            raise Refused(400, f"the parameter {key!r} of {name} is of a wrong type")
        low = 0 if wanted else -(2**63)
        if type(value) is int and not low <= value <= _MAX_NUMBER:
            raise Refused(
                400, f"the parameter {key[:80]!r} of {name} must be from {low} to {_MAX_NUMBER}"
            )
