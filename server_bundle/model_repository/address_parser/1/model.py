"""Texts in, parsed addresses out: a BLS model over the address network."""

import json
from pathlib import Path

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.address.parser import AddressParser, InvalidAddress


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        self.network = parameters["network"]["string_value"]
        self.parser = AddressParser(
            Path(parameters["address_model"]["string_value"]),
            self.run_network,
            int(parameters["network_batch"]["string_value"]),
        )

    def execute(self, requests):
        rows = [pb_utils.get_input_tensor_by_name(r, "text_input").as_numpy() for r in requests]
        try:
            results = iter(self.parser.parse([text for batch in rows for text in batch.flat]))
        except Exception as error:
            failed = pb_utils.TritonError(f"The address network failed: {error}")
            return [pb_utils.InferenceResponse(error=failed) for _ in requests]
        return [self.answer(batch.shape, [next(results) for _ in batch.flat]) for batch in rows]

    def answer(self, shape, results):
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
