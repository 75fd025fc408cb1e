"""What the desktop reads from a server, which may be somebody else's and of any age."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from desktop import updates
from desktop.triton import chat_stream, client, control, metrics
from desktop.triton.models import ModelLimits, read_limits
from desktop.triton.types import Finished, ParsedAddress, ServerUnavailable, Token, TritalkError
from tests.fuzz.harness import allowed, json_or_deep, kinds, text

MAX_LEN = 8192
mutate = kinds(json_or_deep)


class Answer:
    """A response with these outputs, as tritonclient hands one out."""

    def __init__(self, **outputs: Any) -> None:
        self._outputs = outputs

    def as_numpy(self, name: str) -> Any:
        return self._outputs.get(name)


def seeds() -> Iterable[bytes]:
    place = {
        "province": "浙江省",
        "city": "杭州市",
        "district": "西湖区",
        "town": "",
        "code": "330106",
    }
    place["confidence"] = 0.9  # type: ignore[assignment]
    span = {"type": "road", "text": "文三路", "start": 0, "end": 3, "score": 0.99}
    address = {
        "text": "文三路", "entities": [span], "division": place, "candidates": [place],
        "contacts": [{"type": "name", "text": "文", "start": 0, "end": 1}],
        "one_line": "浙江省文三路",
    }  # fmt: skip
    yield b"\x00" + json.dumps(address, ensure_ascii=False).encode()
    entry = {"7": {"logprob": -0.5, "rank": 1, "decoded_token": "好"}}
    yield b"\x01" + json.dumps([entry], ensure_ascii=False).encode()
    defaults = json.dumps({"temperature": 0.7, "stop": []})
    told = {"context_tokens": "512", "vocabulary_size": "100", "sampling_defaults": defaults}
    parameters = {name: {"string_value": value} for name, value in told.items()}
    yield b"\x02" + json.dumps({"parameters": parameters}).encode()
    page = '# HELP x\nnv_inference_count{model="m",version="1"} 7\nnv_cpu_utilization 0.5 17\n'
    yield b"\x03" + page.encode()
    models = [{"name": "m", "version": "1", "state": "READY"}, {"name": "m", "reason": "x"}]
    yield b"\x04" + json.dumps({"models": models}).encode()
    releases = [{"tag_name": "v1.2.0-rc1", "html_url": "https://x.y/z", "draft": False}]
    yield b"\x05" + json.dumps(releases).encode()


def one(data: bytes) -> None:
    kind, content = (data[0] if data else 0) % 6, data[1:]
    if kind == 0:
        found = client._address(Answer(result=np.array([content], np.object_)))
        assert isinstance(found, ParsedAddress | TritalkError)
        if isinstance(found, ParsedAddress):
            check_address(found)
    elif kind == 1:
        with allowed(ServerUnavailable):
            *_, token, reason = chat_stream.read(reply(content))
            assert isinstance(token, Token)
            assert isinstance(reason, str)
            assert Finished(reason, token.text, 1, 0, None, None)
            assert all(isinstance(each.text, str) for each in token.alternatives)
    elif kind == 3:
        page = metrics.parse(text(content))
        metrics.compare(metrics.Snapshot(0.0, page), metrics.Snapshot(1.0, page))
    else:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            return  # gRPC gives values, not texts
        if kind == 2 and isinstance(value, dict):
            limits = read_limits(value)
            assert limits is None or isinstance(limits, ModelLimits)
            if limits is not None:
                json.dumps(limits.defaults.to_json())
        elif kind == 4:
            with allowed(ServerUnavailable):
                control.read_index(value)
        elif kind == 5:
            updates._newest(value if isinstance(value, list) else [value])


def reply(logprobs: bytes) -> Answer:
    return Answer(
        num_input_tokens=np.array([3], np.uint32),
        dropped_turns=None,
        text_output=np.array(["好".encode()], np.object_),
        finish_reason=np.array([b"stop"], np.object_),
        token_id=np.array([7], np.int32),
        logprobs=np.array([logprobs], np.object_),
        confidence=np.array([0.5], np.float32),
        probability=np.array([0.5], np.float32),
    )


def check_address(found: ParsedAddress) -> None:
    """As the window and the tables use it."""
    assert isinstance(found.text, str)
    assert isinstance(found.one_line, str)
    for span in found.entities:
        assert 0 <= span.start <= span.end
        assert 0 <= span.score <= 1
        assert isinstance(span.type, str)
        assert isinstance(span.text, str)
    for one_ in found.contacts:
        assert 0 <= one_.start <= one_.end
        assert isinstance(one_.text, str)
    for division in (found.division, *found.candidates):
        *names, confidence = vars(division).values()
        assert all(isinstance(name, str) for name in names)
        assert 0 <= confidence <= 1
