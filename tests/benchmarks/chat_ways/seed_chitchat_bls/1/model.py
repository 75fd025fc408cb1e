"""The original application's BLS loop, rebuilt for comparison only.

One whole forward pass of the growing context for each token, one request after another, temperature
0.7, top-p 0.7, 64 tokens, the reply sent when it is whole. The one difference: special tokens are
taken out of the draw instead of ending the reply, so that every reply has 64 tokens.
"""

import numpy as np
import torch
import triton_python_backend_utils as pb_utils

SPECIAL = [0, 1, 2, 13086, 13087]
TOKENS = 64
TEMPERATURE = 0.7
TOP_P = 0.7


class TritonPythonModel:
    def execute(self, requests):
        return [self.reply(request) for request in requests]

    def reply(self, request):
        ids, mask, types = (
            torch.from_numpy(
                np.array(pb_utils.get_input_tensor_by_name(request, f"INPUT__{i}").as_numpy())
            )
            for i in range(3)
        )
        tokens, confidences = [], []
        for _ in range(TOKENS):
            inputs = [
                pb_utils.Tensor(f"INPUT__{i}", part.numpy())
                for i, part in enumerate((ids, mask, types))
            ]
            response = pb_utils.InferenceRequest(
                model_name="seed_chitchat", requested_output_names=["OUTPUT__0"], inputs=inputs
            ).exec()
            if response.has_error():
                raise pb_utils.TritonModelException(response.error().message())
            output = pb_utils.get_output_tensor_by_name(response, "OUTPUT__0")
            logits = torch.from_dlpack(output.to_dlpack())[0] / TEMPERATURE
            logits[SPECIAL] = -torch.inf
            shares = torch.softmax(nucleus(logits), dim=-1)
            token = int(torch.multinomial(shares, num_samples=1))
            tokens.append(token)
            confidences.append(float(shares[token]))
            ids = torch.cat((ids, torch.tensor([[token]])), 1)
            mask = torch.cat((mask, torch.tensor([[1]])), 1)
            types = torch.cat((types, torch.tensor([[token]])), 1)
        return pb_utils.InferenceResponse(
            [
                pb_utils.Tensor("OUTPUT__0", np.array(tokens, np.int32)),
                pb_utils.Tensor("OUTPUT__1", np.array(confidences, np.float32)),
            ]
        )


def nucleus(logits):
    """Logits with all but the likeliest tokens, which together reach TOP_P, at minus infinity."""
    ordered, order = torch.sort(logits, descending=True)
    beyond = torch.cumsum(torch.softmax(ordered, dim=-1), dim=-1) > TOP_P
    beyond[1:] = beyond[:-1].clone()
    beyond[0] = False
    logits[order[beyond]] = -torch.inf
    return logits
