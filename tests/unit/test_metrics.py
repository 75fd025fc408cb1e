"""Triton's metrics page, read and compared."""

from __future__ import annotations

import math

import pytest

from desktop.triton import metrics
from desktop.triton.metrics import Figures, Gpu, Snapshot, compare, parse
from desktop.triton.types import Endpoint, ServerUnavailable

PAGE = """\
# HELP nv_inference_request_success Number of successful inference requests
# TYPE nv_inference_request_success counter
nv_inference_request_success{model="address_parser",version="1"} %(addresses)d
nv_inference_request_success{model="multitask_model",version="1"} %(addresses)d
nv_inference_request_success{model="ibuddha_chitchat",version="1"} %(replies)d
nv_inference_count{model="multitask_model",version="1"} %(addresses)d
nv_inference_exec_count{model="multitask_model",version="1"} %(runs)d
nv_inference_queue_duration_us{model="multitask_model",version="1"} %(queue)d
nv_inference_queue_duration_us{model="ibuddha_chitchat",version="1"} 0
tritalk_generated_tokens{model="ibuddha_chitchat",version="1"} %(tokens)d
tritalk_engine_steps{model="ibuddha_chitchat",version="1"} %(steps)d
tritalk_engine_step_rows{model="ibuddha_chitchat",version="1"} %(rows)d
nv_cpu_utilization %(cpu)s
nv_cpu_memory_total_bytes 25276059648
nv_cpu_memory_used_bytes 1902755840
"""
GPU = """\
nv_gpu_utilization{gpu_uuid="GPU-1"} 0.5
nv_gpu_memory_used_bytes{gpu_uuid="GPU-1"} 2e9
nv_gpu_memory_total_bytes{gpu_uuid="GPU-1"} 24000000000
nv_gpu_memory_used_bytes{gpu_uuid="GPU-0"} 1e9
"""
ZERO = {
    "addresses": 0,
    "replies": 0,
    "runs": 0,
    "queue": 0,
    "tokens": 0,
    "steps": 0,
    "rows": 0,
    "cpu": "0.25",
}


def look(at: float, more: str = "", **values: object) -> Snapshot:
    return Snapshot(at, parse(PAGE % {**ZERO, **values} + more))


def test_the_format() -> None:
    page = 'a{b="c\\"d\\\\",e="x\\ny"} 1 1700000000\nb 2.5e3\nnothing\nc{} NaN\nd +Inf\n# x 1\n'
    assert parse(page) == {
        "a": [({"b": 'c"d\\', "e": "x\ny"}, 1.0)],
        "b": [({}, 2500.0)],
    }


def test_sums_over_labels() -> None:
    found = Snapshot(0.0, parse('x{m="a",v="1"} 1\nx{m="a",v="2"} 2\nx{m="b",v="1"} 4\n'))
    assert found.total("x") == 7
    assert found.total("x", m="a") == 3
    assert found.total("x", m="c") is None
    assert found.total("y") is None


def test_two_looks_give_rates_and_means() -> None:
    before = look(10.0)
    now = look(
        12.0,
        GPU,
        addresses=40,
        replies=6,
        runs=10,
        queue=60_000,
        tokens=300,
        steps=100,
        rows=290,
        cpu="0.75",
    )
    assert compare(before, now) == Figures(
        12.0,
        replies=3.0,
        addresses=20.0,
        tokens=150.0,
        chat_batch=2.9,
        address_batch=4.0,
        chat_queue=0.0,
        address_queue=1.5,
        cpu=0.75,
        memory_used=1902755840.0,
        memory_total=25276059648.0,
        gpus={"GPU-0": Gpu(None, 1e9, None), "GPU-1": Gpu(0.5, 2e9, 24e9)},
    )


def test_nothing_happened() -> None:
    figures = compare(look(1.0), look(2.0))
    assert (figures.replies, figures.addresses, figures.tokens) == (0, 0, 0)
    assert figures.chat_batch is figures.address_batch is None
    assert figures.chat_queue is figures.address_queue is None
    assert figures.gpus == {}


def test_a_server_that_began_anew_gives_no_rate() -> None:
    figures = compare(look(1.0, tokens=500, replies=9), look(2.0, tokens=3, replies=1))
    assert figures.tokens is figures.replies is None
    assert figures.cpu == 0.25


def test_a_server_without_our_models() -> None:
    figures = compare(Snapshot(1.0), Snapshot(2.0))
    assert figures == Figures(2.0)


def test_the_same_moment_twice() -> None:
    figures = compare(look(1.0), look(1.0, tokens=5))
    assert figures.tokens is None or math.isfinite(figures.tokens)


def test_no_metrics_to_read() -> None:
    with pytest.raises(ServerUnavailable, match="tells no metrics"):
        metrics.fetch(Endpoint("unix:/nowhere/g:1"))
    with pytest.raises(ServerUnavailable, match="do not answer"):
        metrics.fetch(Endpoint("unix:/nowhere/g:1", metrics="unix:/nowhere/m"))
