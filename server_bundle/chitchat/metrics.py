"""The engine's figures on Triton's metrics endpoint. Imported inside a stub only."""

from __future__ import annotations

import threading
from dataclasses import asdict

import triton_python_backend_utils as pb_utils

from server_bundle.chitchat.engine import Engine

_COUNTERS = {
    "tokens": ("tritalk_generated_tokens", "Tokens of replies made"),
    "prompt_tokens": ("tritalk_prompt_tokens", "Tokens of prompts read"),
    "requests": ("tritalk_requests", "Replies asked for"),
    "cancelled": ("tritalk_cancelled_requests", "Replies cancelled before their end"),
    "steps": ("tritalk_engine_steps", "Steps of the running batch"),
    "step_rows": (
        "tritalk_engine_step_rows",
        "Replies in the running batch, summed over its steps",
    ),
    "seconds_to_first_token": (
        "tritalk_seconds_to_first_token",
        "Seconds from a request's arrival to its first token, summed",
    ),
    "first_tokens": ("tritalk_first_tokens", "Replies whose first token was made"),
}
_GAUGES = {
    "running": ("tritalk_running_requests", "Replies in the running batch"),
    "waiting": ("tritalk_waiting_requests", "Replies waiting for a slot"),
}


class EngineMetrics:
    """Publishes an engine's :class:`Figures`, every 50 ms while they change.

    Each update is a round trip to Triton, so it is done beside the engine, not in its loop.
    """

    def __init__(self, engine: Engine, model: str, version: str, seconds: float = 0.05) -> None:
        self._engine = engine
        self._seconds = seconds
        labels = {"model": model, "version": version}
        # A metric goes when its family is collected, so the families are kept.
        self._families = []
        self._metrics = {}
        for names, kind in (
            (_COUNTERS, pb_utils.MetricFamily.COUNTER),
            (_GAUGES, pb_utils.MetricFamily.GAUGE),
        ):
            for field, (name, description) in names.items():
                family = pb_utils.MetricFamily(name=name, description=description, kind=kind)
                self._families.append(family)
                self._metrics[field] = family.Metric(labels=labels)
        self._published = dict.fromkeys(self._metrics, 0.0)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            self._publish()

    def _publish(self) -> None:
        for field, value in asdict(self._engine.figures).items():
            metric, before = self._metrics[field], self._published[field]
            if value == before:
                continue
            if field in _COUNTERS:
                metric.increment(value - before)
            else:
                metric.set(value)
            self._published[field] = value
