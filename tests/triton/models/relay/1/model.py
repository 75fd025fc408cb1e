"""Passes on what the model named in its parameter ``engine`` streams: a BLS caller."""

import json
import threading

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.engine = json.loads(args["model_config"])["parameters"]["engine"]["string_value"]

    def execute(self, requests):
        threads = [threading.Thread(target=self._relay, args=(request,)) for request in requests]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _relay(self, request):
        sender = request.get_response_sender()
        call = pb_utils.InferenceRequest(
            model_name=self.engine,
            requested_output_names=["NUMBER"],
            inputs=[pb_utils.get_input_tensor_by_name(request, "COUNT")],
        )
        for response in call.exec(decoupled=True):
            if response.has_error():
                sender.send(pb_utils.InferenceResponse(error=response.error()))
            elif response.output_tensors():
                sender.send(response)
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
