"""Triton's metrics page: fetched, read, and turned into what happened between two looks.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, version 0.0.4). Names:
https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/metrics.html
and, beginning with ``tritalk_``, those of :mod:`server_bundle.chitchat.metrics`.
"""

from __future__ import annotations

import http.client
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from desktop.launchers.health import request
from desktop.triton.types import Endpoint, ServerUnavailable

#: Every reply goes through the first, however it was asked for; every address through the others.
CHAT_MODEL = "ibuddha_chitchat"
ADDRESS_MODEL = "address_parser"
ADDRESS_NETWORK = "multitask_model"

_LINE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?")
_LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True)
class Snapshot:
    """The page as it was ``at`` a time in seconds of the monotonic clock: for each name the labels
    and the value of its samples."""

    at: float
    samples: dict[str, list[tuple[dict[str, str], float]]] = field(default_factory=dict)

    def total(self, name: str, **labels: str) -> float | None:
        """The sum over all samples with these labels, None where there is none."""
        values = [
            value
            for found, value in self.samples.get(name, ())
            if all(found.get(key) == wanted for key, wanted in labels.items())
        ]
        return sum(values) if values else None

    def by(self, name: str, label: str) -> dict[str, float]:
        """The values for each value of a label."""
        return {found.get(label, ""): value for found, value in self.samples.get(name, ())}


@dataclass(frozen=True)
class Gpu:
    """Its use, 0 to 1, and its memory in bytes; what the driver does not tell is None."""

    use: float | None
    memory_used: float | None
    memory_total: float | None


@dataclass(frozen=True)
class Figures:
    """What happened in the time before ``at`` (seconds of the monotonic clock). Rates are a second;
    batch sizes are means over executions, queue times milliseconds a request. None: not known, or
    nothing ran that it could be the mean of. ``cpu``: of the whole machine, 0 to 1; bytes else."""

    at: float
    replies: float | None = None
    addresses: float | None = None
    tokens: float | None = None
    chat_batch: float | None = None
    address_batch: float | None = None
    chat_queue: float | None = None
    address_queue: float | None = None
    cpu: float | None = None
    memory_used: float | None = None
    memory_total: float | None = None
    gpus: dict[str, Gpu] = field(default_factory=dict)


def fetch(endpoint: Endpoint, timeout: float = 5.0) -> Snapshot:
    """Read the metrics of a server. Raises :class:`ServerUnavailable`."""
    if not endpoint.metrics:
        raise ServerUnavailable("this server tells no metrics")
    try:
        status, page = request(endpoint.metrics, "GET", "/metrics", timeout=timeout)
    except (OSError, http.client.HTTPException) as error:
        raise ServerUnavailable("the server's metrics do not answer") from error
    if status != 200:
        raise ServerUnavailable(f"the server's metrics answered with HTTP status {status}")
    return Snapshot(time.monotonic(), parse(page.decode("utf-8", "replace")))


def parse(page: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """The samples of a page; a line that is none is passed over."""
    samples: dict[str, list[tuple[dict[str, str], float]]] = {}
    for name, labels, value in _lines(page):
        samples.setdefault(name, []).append((labels, value))
    return samples


def _lines(page: str) -> Iterator[tuple[str, dict[str, str], float]]:
    for line in page.splitlines():
        if line.startswith("#") or not (found := _LINE.fullmatch(line.strip())):
            continue
        try:
            value = float(found[3])
        except ValueError:
            continue
        if not math.isfinite(value):
            continue
        labels = {key: _unescape(text) for key, text in _LABEL.findall(found[2] or "")}
        yield found[1], labels, value


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], text)


def compare(before: Snapshot, now: Snapshot) -> Figures:
    """What happened between two looks at the same server. A counter that fell belongs to a server
    that was started anew: nothing is known of it for this once."""
    seconds = now.at - before.at

    def gain(name: str, **labels: str) -> float | None:
        old, new = before.total(name, **labels), now.total(name, **labels)
        if new is None or old is None or new < old:
            return None
        return new - old

    def rate(name: str, **labels: str) -> float | None:
        grown = gain(name, **labels)
        return grown / seconds if grown is not None and seconds > 0 else None

    def mean(total: str, count: str, model: str, scale: float = 1.0) -> float | None:
        summed, number = gain(total, model=model), gain(count, model=model)
        return summed / number * scale if summed is not None and number else None

    succeeded, queued = "nv_inference_request_success", "nv_inference_queue_duration_us"
    gpus = {}
    use = now.by("nv_gpu_utilization", "gpu_uuid")
    used = now.by("nv_gpu_memory_used_bytes", "gpu_uuid")
    total = now.by("nv_gpu_memory_total_bytes", "gpu_uuid")
    for uuid in sorted(use.keys() | used.keys()):
        gpus[uuid] = Gpu(use.get(uuid), used.get(uuid), total.get(uuid))
    return Figures(
        now.at,
        replies=rate(succeeded, model=CHAT_MODEL),
        addresses=rate(succeeded, model=ADDRESS_MODEL),
        tokens=rate("tritalk_generated_tokens"),
        chat_batch=mean("tritalk_engine_step_rows", "tritalk_engine_steps", CHAT_MODEL),
        address_batch=mean("nv_inference_count", "nv_inference_exec_count", ADDRESS_NETWORK),
        chat_queue=mean(queued, succeeded, CHAT_MODEL, 1e-3),
        address_queue=mean(queued, succeeded, ADDRESS_NETWORK, 1e-3),
        cpu=now.total("nv_cpu_utilization"),
        memory_used=now.total("nv_cpu_memory_used_bytes"),
        memory_total=now.total("nv_cpu_memory_total_bytes"),
        gpus=gpus,
    )
