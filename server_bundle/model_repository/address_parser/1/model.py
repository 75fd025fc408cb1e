"""Texts in, parsed addresses out: a BLS model over the address network."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.address.batching import Batcher
from server_bundle.address.parser import AddressParser, InvalidAddress

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
MAX_ROWS = 64


@dataclass
class Job:
    """One request: its texts, [rows, 1], and where its answer goes."""

    texts: np.ndarray
    sender: Any

    @property
    def rows(self):
        return self.texts.size


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        self.network = parameters["network"]["string_value"]
        version = parameters["network_version"]["string_value"]
        self.version = int(version)
        self.parser = AddressParser(
            Path(args["model_repository"]).parent / self.network / version,
            self.run_network,
            int(parameters["network_batch"]["string_value"]),
        )
        self.batcher = Batcher(self.answer, self.fail, max_rows=MAX_ROWS)

    def execute(self, requests):
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "text_input").as_numpy()
            self.batcher.put(Job(texts, request.get_response_sender()))

    def answer(self, jobs):
        results = iter(self.parser.parse([text for job in jobs for text in job.texts.flat]))
        for job in jobs:
            mine = [next(results) for _ in job.texts.flat]
            job.sender.send(self.response(job.texts.shape, mine), flags=FINAL)

    def fail(self, jobs, error):
        failed = pb_utils.TritonError(f"The address network failed: {error}")
        for job in jobs:
            job.sender.send(pb_utils.InferenceResponse(error=failed), flags=FINAL)

    def response(self, shape, results):
        for row, result in enumerate(results, 1):
            if isinstance(result, InvalidAddress):
                reason = f"Row {row}: {result}" if len(results) > 1 else str(result)
                error = pb_utils.TritonError(reason, pb_utils.TritonError.INVALID_ARG)
                return pb_utils.InferenceResponse(error=error)
        texts = [json.dumps(r, ensure_ascii=False).encode() for r in results]
        result = np.array(texts, dtype=object).reshape(shape)
        return pb_utils.InferenceResponse([pb_utils.Tensor("result", result)])

    def run_network(self, input_ids, segment_ids, input_mask):
        """INT64 [B, L] three times → FP32 [B, areas] and [B, types, L, L]."""
        response = pb_utils.InferenceRequest(
            model_name=self.network,
            model_version=self.version,
            parameters={"precision": "bf16"},
            requested_output_names=["cls_logits", "ner_logits"],
            preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU),
            inputs=[
                pb_utils.Tensor("input_ids", input_ids),
                pb_utils.Tensor("segment_ids", segment_ids),
                pb_utils.Tensor("input_mask", input_mask),
            ],
        ).exec()
        if response.has_error():
            raise RuntimeError(response.error().message())
        outputs = ("cls_logits", "ner_logits")
        return tuple(pb_utils.get_output_tensor_by_name(response, n).as_numpy() for n in outputs)

    def finalize(self):
        self.batcher.close()
