"""What once broke the server, or lost something: each found by trying, each to stay mended."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint, InvalidInput, ParsedAddress, Sampling
from tests.support.chat import post, reply, stream, together

pytestmark = pytest.mark.triton


def test_stop_before_the_first_token_at_any_moment(server: Any) -> None:
    """The stub died after a few hundred of these: tensors freed without the interpreter lock."""
    pid = server.status().pid
    stubs = server.stub_pids("ibuddha_chitchat_stream")
    sampling = Sampling(min_tokens=100, max_tokens=200)

    def storm() -> int:
        with TritonClient(server.endpoint) as client:
            for i in range(150):
                stream = client.chat("你好", sampling=sampling)
                events = iter(stream)
                threading.Timer(i % 50 / 1000, stream.cancel).start()
                for _ in events:
                    pass
        return 1

    assert sum(together([storm] * 8)) == 8
    with TritonClient(server.endpoint) as client:
        assert reply(client, "你好", max_tokens=2)[1].tokens == 2
    assert server.status().pid == pid
    assert server.stub_pids("ibuddha_chitchat_stream") == stubs


def test_other_users_cannot_read_shared_memory(server: Any) -> None:
    regions = [
        p for p in Path("/dev/shm").iterdir() if p.name.startswith(f"tritalk_{server.launch_id}")
    ]
    assert len(regions) >= 5
    assert {stat.S_IMODE(p.stat().st_mode) for p in regions} == {0o600}


@pytest.mark.parametrize("name", ["家 a'b", "%41$x"])
def test_a_home_with_an_unusual_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_home: Path, name: str
) -> None:
    home = tmp_path / name
    environment = {**os.environ, "TRITALK_HOME": str(home), "LANG": "C", "LC_ALL": "C"}
    command = [sys.executable, "-m", "desktop", "parse", "杭州市文一西路1号"]
    done = subprocess.run(
        command, env=environment, capture_output=True, timeout=120, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "文一西路" in done.stdout
    monkeypatch.setenv("TRITALK_HOME", str(home))
    stop = [sys.executable, "-m", "desktop", "server", "stop"]
    subprocess.run(stop, env=environment, capture_output=True, timeout=60, check=False)


def test_an_unloaded_engine_is_loaded_again(fresh_server: Callable[..., Any]) -> None:
    server = fresh_server()
    status, text = post(server.endpoint, "/v2/repository/models/ibuddha_chitchat/unload", {})
    assert status == 200, text
    end = time.monotonic() + 30
    while post(server.endpoint, "/v2/repository/index", {"ready": True})[1].count("READY") > 4:
        assert time.monotonic() < end
        time.sleep(0.1)
    with TritonClient(server.endpoint) as client:
        assert reply(client, "你好", max_tokens=2)[1].tokens == 2


def test_no_address_is_lost_when_the_server_restarts(fresh_server: Callable[..., Any]) -> None:
    server = fresh_server()
    texts = [f"杭州市余杭区文一西路{n}号" for n in range(1500)]

    def recover() -> Endpoint:
        endpoint: Endpoint = server.lease.wait_ready().endpoint
        return endpoint

    answers = []
    with TritonClient(server.endpoint, recover=recover) as client:
        for answer in client.parse_each(texts):
            answers.append(answer)
            if len(answers) == 200:
                os.kill(server.stub_pids("address_parser")[0], signal.SIGKILL)
    assert all(isinstance(a, ParsedAddress) for a in answers)
    assert [a.text for a in answers if isinstance(a, ParsedAddress)] == texts


def test_half_a_surrogate_in_a_name_is_told_in_words(server: Any) -> None:
    inputs = []
    for name, value in (("text_input", "你好"), ("sampling_parameters", '{"\\ud800": 1}')):
        tensor = grpcclient.InferInput(name, [1], "BYTES")
        tensor.set_data_from_numpy(np.array([value.encode()], np.object_))
        inputs.append(tensor)
    with pytest.raises(InferenceServerException, match="is no sampling parameter"):
        stream(server.endpoint, "ibuddha_chitchat_stream", inputs)


def test_letters_that_fall_apart_are_counted_as_what_they_are(server: Any) -> None:
    with (
        TritonClient(server.endpoint) as client,
        pytest.raises(InvalidInput, match="400 characters that make 1,200 tokens"),
    ):
        reply(client, "각" * 400)


@pytest.mark.parametrize(
    ("length", "token"), [(600, 5), (9, -1), (9, 10**12)], ids=["long", "negative", "huge"]
)
def test_the_address_network_refuses_in_words(server: Any, length: int, token: int) -> None:
    ids = np.full((1, length), token, np.int64)
    inputs = []
    for name, array in (
        ("input_ids", ids),
        ("segment_ids", np.zeros_like(ids)),
        ("input_mask", np.ones_like(ids)),
    ):
        tensor = grpcclient.InferInput(name, [1, length], "INT64")
        tensor.set_data_from_numpy(array)
        inputs.append(tensor)
    with grpcclient.InferenceServerClient(server.endpoint.grpc) as client:
        sentence = rf"cannot compute with these inputs \(input_ids \[1, {length}\]"
        with pytest.raises(InferenceServerException, match=sentence) as caught:
            client.infer("multitask_model", inputs)
        assert "INVALID_ARGUMENT" in str(caught.value.status())
