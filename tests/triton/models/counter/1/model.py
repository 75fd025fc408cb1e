"""Counts to COUNT, a number every 50 ms: a stream to be interrupted."""

import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            count = int(pb_utils.get_input_tensor_by_name(request, "COUNT").as_numpy()[0])
            sender = request.get_response_sender()
            threading.Thread(target=self._count, args=(sender, count), daemon=True).start()

    def _count(self, sender, count):
        for number in range(count):
            time.sleep(0.05)
            tensor = pb_utils.Tensor("NUMBER", np.array([number]))
            sender.send(pb_utils.InferenceResponse([tensor]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
