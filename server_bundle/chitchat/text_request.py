"""The contract of Triton's vLLM backend, read and answered. Imported inside a stub only.

Source: github.com/triton-inference-server/vllm_backend, src/utils/request.py (24.x to 26.x).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.chitchat import triton_io
from server_bundle.chitchat.detokenise import Pieces
from server_bundle.chitchat.opening import Layout
from server_bundle.chitchat.steps import Step
from server_bundle.chitchat.stop import StopScanner

_RETURNS = (
    "return_finish_reason",
    "return_cumulative_logprob",
    "return_logprobs",
    "return_num_input_tokens",
    "return_num_output_tokens",
)


@dataclass(frozen=True)
class TextRequest:
    """One request as the vLLM backend reads it, with our ``opening``, ``history``,
    ``reply_prefix`` and ``system``."""

    text_input: str
    stream: bool
    prepend_input: bool
    sampling: dict[str, Any]
    history: list[str]
    reply_prefix: str
    opening: list[str]
    returns: frozenset[str]
    system: str = ""

    @classmethod
    def read(cls, request: Any) -> TextRequest:
        """Raises :class:`triton_io.InvalidRequest` or ``InvalidParameter``."""
        text = triton_io.string(request, "text_input")
        if text is None:
            raise triton_io.InvalidRequest("text_input is missing")
        if triton_io.array(request, "image") is not None:
            raise triton_io.InvalidRequest("this model reads text only; leave image out")
        stream = bool(triton_io.flag(request, "stream"))
        exclude = triton_io.flag(request, "exclude_input_in_output")
        # As in the vLLM backend: a whole reply repeats its input unless told not to, and a stream
        # never does.
        prepend = not stream if exclude is None else not exclude
        if stream and prepend:
            raise triton_io.InvalidRequest(
                "when streaming, exclude_input_in_output = false is not allowed"
            )
        sampling = triton_io.sampling_values(
            request, triton_io.string(request, "sampling_parameters")
        )
        if "cancel_key" in sampling:
            raise triton_io.InvalidRequest("cancel_key is for the engine's own callers")
        return cls(
            text_input=text,
            stream=stream,
            prepend_input=prepend,
            sampling=sampling,
            history=triton_io.strings(request, "history") or [],
            reply_prefix=triton_io.string(request, "reply_prefix") or "",
            opening=triton_io.strings(request, "opening") or [],
            returns=frozenset(name for name in _RETURNS if triton_io.flag(request, name)),
            system=triton_io.string(request, "system") or "",
        )


@dataclass
class TextReply:
    """Collects steps into responses: one a step when streaming, one in all otherwise.

    ``dropped_turns`` of the history did not fit into the context.
    """

    request: TextRequest
    layout: Layout
    num_input_tokens: int = 0
    dropped_turns: int = 0
    stop: tuple[str, ...] = ()
    _steps: list[tuple[Step, str]] = field(default_factory=list)
    _cumulative: float = 0.0
    _stops: StopScanner[Step] = field(init=False)
    _pieces: Pieces = field(init=False)
    ended: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._stops = StopScanner(self.stop)
        self._pieces = self.layout.pieces(bool(self.request.reply_prefix))

    def add(self, step: Step) -> list[list[Any]]:
        """Take a step in; the output tensors of each response that is due now.

        The last of them is the final response where :attr:`ended` is true afterwards.
        """
        if step.token is not None:
            self._steps += self._stops.push(step, self._pieces.push(step.token))
        reason = "stop" if self._stops.matched else step.finish_reason
        if reason:
            self._steps += self._stops.flush()
        self.ended = bool(reason)
        steps, self._steps = self._steps, []
        if not self.request.stream:
            if not reason:
                self._steps = steps
                return []
            return [self._response(steps, reason)]
        due = [self._response([each], "") for each in steps[:-1]]
        if steps or reason:
            due.append(self._response(steps[-1:], reason))
        return due

    def fixed(self, text: str, reason: str) -> list[Any]:
        """The output tensors of a whole reply that no model made."""
        return self._response([], reason, text)

    @staticmethod
    def of_cancelling(found: bool) -> list[Any]:
        """The output tensors of the answer to a request that takes another back."""
        reason = "cancelled" if found else "not_found"
        return [_strings("text_output", ""), _strings("finish_reason", reason)]

    def _response(self, pairs: list[tuple[Step, str]], reason: str, text: str = "") -> list[Any]:
        steps = [step for step, _ in pairs]
        self._cumulative += sum(_log(step.probability) for step in steps)
        text += "".join(piece for _, piece in pairs)
        if self.request.prepend_input:
            text = self.request.text_input + text
        returns = self.request.returns
        outputs = [_strings("text_output", text)]
        if "return_finish_reason" in returns:
            outputs.append(_strings("finish_reason", reason or "None"))
        if "return_cumulative_logprob" in returns:
            outputs.append(
                pb_utils.Tensor("cumulative_logprob", np.array([self._cumulative], np.float32))
            )
        if "return_logprobs" in returns:
            logprobs = json.dumps([self._logprobs(s) for s in steps], ensure_ascii=False)
            outputs.append(_strings("logprobs", logprobs))
        if "return_num_input_tokens" in returns:
            outputs.append(
                pb_utils.Tensor("num_input_tokens", np.array([self.num_input_tokens], np.uint32))
            )
            outputs.append(
                pb_utils.Tensor("dropped_turns", np.array([self.dropped_turns], np.uint32))
            )
        if "return_num_output_tokens" in returns:
            outputs.append(pb_utils.Tensor("num_output_tokens", np.array([len(steps)], np.uint32)))
        if steps:
            outputs += [
                pb_utils.Tensor("token_id", np.array([s.token for s in steps], np.int32)),
                pb_utils.Tensor("confidence", np.array([s.confidence for s in steps], np.float32)),
                pb_utils.Tensor(
                    "probability", np.array([s.probability for s in steps], np.float32)
                ),
            ]
        return outputs

    def _logprobs(self, step: Step) -> dict[int, dict[str, Any]]:
        """vLLM's shape: token id → logprob, rank, decoded_token; the likeliest and the chosen."""
        entries = {}
        for place, (token, share) in enumerate(
            zip(step.top_ids, step.top_probabilities, strict=True), start=1
        ):
            entries[token] = {
                "logprob": _log(share),
                "rank": step.rank if token == step.token else place,
                "decoded_token": self.layout.text(token),
            }
        return entries


def _log(probability: float) -> float:
    return math.log(max(probability, 1e-45))  # JSON has no -inf


def _strings(name: str, value: str) -> Any:
    return pb_utils.Tensor(name, np.array([value.encode("utf-8")], np.object_))
