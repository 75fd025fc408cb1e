"""How many replies run at once and on how many threads, chosen from the network's size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server_bundle import process
from server_bundle.chitchat.network import NetworkConfig

# Address space for keys and values; pages are touched only as replies fill them.
_CACHE_BYTES = 512 * 2**20
# Below this many parameters a matrix product is too small for a second thread to pay.
_SINGLE_THREAD_PARAMETERS = 20_000_000


@dataclass(frozen=True)
class EngineSettings:
    """``slots`` replies at once, ``queue_limit`` more wait, ``threads`` for one operation."""

    slots: int
    queue_limit: int
    threads: int

    @classmethod
    def choose(
        cls, network: NetworkConfig, parameters: Mapping[str, Any], size: int | None = None
    ) -> EngineSettings:
        """Defaults by size, overridden by ``slots``, ``queue_limit`` and ``threads`` in the config.

        Args:
            parameters: the ``parameters`` of a model configuration, name → ``{"string_value": …}``.
            size: how many weights there are, where ``network`` does not tell.
        """

        def given(name: str, default: int) -> int:
            entry = parameters.get(name)
            return max(1, int(entry["string_value"])) if entry else default

        slot_bytes = 2 * network.n_layer * network.n_positions * network.n_embd * 4
        slots = min(64, max(4, _CACHE_BYTES // slot_bytes))
        weights = size or network.vocab_size * network.n_embd + network.n_layer * (
            4 * network.n_embd**2 + 2 * network.n_embd * network.n_inner
        )
        cores = process.cores()
        return cls(
            slots=given("slots", slots),
            queue_limit=given("queue_limit", 256),
            threads=given("threads", 1 if weights < _SINGLE_THREAD_PARAMETERS else cores),
        )
