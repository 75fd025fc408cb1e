"""NVIDIA's own load generator, perf_analyzer, loads every model with input it makes from a file.

It comes in the wheels of tritonclient up to 2.50 (``tritonclient-*.data/data/bin``) and in NVIDIA's
SDK container, and needs libb64 and the CUDA runtime library; the test is left out where it is not
on the PATH.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.triton,
    pytest.mark.skipif(not shutil.which("perf_analyzer"), reason="there is no perf_analyzer here"),
]

_IDS = [0, 13086, 20, 21, 22, 13087]  # [CLS] [speaker1] … [speaker2]
_ROW = {
    "INPUT__0": {"content": _IDS, "shape": [6]},
    "INPUT__1": {"content": [1] * 6, "shape": [6]},
    "INPUT__2": {"content": [0, 13086, 13086, 13086, 13086, 13087], "shape": [6]},
}
_SAMPLING = json.dumps({"max_tokens": 12, "min_tokens": 12})
_TEXTS = [
    {"text_input": [text], "stream": [True], "sampling_parameters": [_SAMPLING]}
    for text in ("今天好累啊", "你好")
]


@pytest.mark.parametrize(
    ("model", "data", "options"),
    [
        ("ibuddha_chitchat_stream", _TEXTS, "--streaming --async --concurrency-range 4"),
        ("ibuddha_chitchat_stream", _TEXTS, "--streaming --async --request-rate-range 4"),
        ("ibuddha_chitchat", [_ROW], "--streaming --async --concurrency-range 2"),
        ("ibuddha_chitchat_bls", [_ROW], "--concurrency-range 2"),
        ("address_parser", None, "--string-length 20 --concurrency-range 4"),
        (
            "multitask_model",
            None,
            "--input-data zero --shape input_ids:24 --shape segment_ids:24 --shape input_mask:24",
        ),
    ],
)
def test_perf_analyzer_loads_it(
    server: Any, tmp_path: Path, model: str, data: list[Any] | None, options: str
) -> None:
    words = ["perf_analyzer", "-m", model, "-i", "grpc", "-u", server.endpoint.grpc]
    if data is not None:
        file = tmp_path / "input.json"
        file.write_text(json.dumps({"data": data}), encoding="utf-8")
        words += ["--input-data", str(file)]
    done = subprocess.run(
        [*words, *options.split(), "--request-count", "12"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = re.search(r"Successful request count: (\d+)", done.stdout)
    assert found
    assert int(found[1]) >= 12
