"""Whole replies for rectangles of token ids: a BLS model over the chitchat engine."""

import json
import threading
from dataclasses import replace

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.chitchat import prefix, triton_io
from server_bundle.chitchat.caller import EngineCaller, EngineFailed
from server_bundle.chitchat.parameters import (
    InvalidParameter,
    SamplingParameters,
    parse,
    without_stop,
)
from server_bundle.chitchat.prompt import PromptLayout


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.layout = PromptLayout.from_folder(triton_io.path_parameter(config, "chat_model"))
        self.caller = EngineCaller(
            triton_io.parameter(config, "engine"), triton_io.path_parameter(config, "run_dir")
        )

    def execute(self, requests):
        for request in requests:
            client = triton_io.Client(request)
            try:
                rows, parameters = self.read(request)
            except (prefix.InvalidRow, InvalidParameter) as error:
                client.fail(error)
                continue
            answer = Answer(client, len(rows), self.layout.pad)
            for i, (ids, types) in enumerate(rows):
                self.caller.submit(client, self.decode, answer, i, ids, types, parameters)

    def read(self, request):
        inputs = [triton_io.array(request, f"INPUT__{i}") for i in range(3)]
        size, context = self.layout.vocabulary.size, self.layout.context
        parsed = parse(
            triton_io.sampling_values(request),
            SamplingParameters(),
            vocab_size=size,
            context=context,
        )
        parameters = replace(without_stop(parsed), cancel_key="")
        return prefix.read_rows(*inputs, size, context), parameters

    def decode(self, client, answer, row, ids, types, parameters):
        steps = []
        if parameters.seed is not None:  # rows of one request are different draws
            parameters = replace(parameters, seed=(parameters.seed + row) % 2**63)
        try:
            self.caller.reply(ids, types, parameters, client, steps.append)
            if steps[-1].finish_reason == "cancelled":
                raise EngineFailed("the request was cancelled")
            tokens = [step for step in steps if step.token is not None]
            answer.row(row, [t.token for t in tokens], [t.confidence for t in tokens])
        except Exception as error:
            answer.fail(error)

    def finalize(self):
        self.caller.close()


class Answer:
    """The response of one request, sent by whichever worker finishes its last row."""

    def __init__(self, client, rows, pad):
        self.client = client
        self.pad = pad
        self.rows = [None] * rows
        self.missing = rows
        self.lock = threading.Lock()

    def row(self, i, tokens, confidences):
        with self.lock:
            self.rows[i] = (tokens, confidences)
            self.missing -= 1
            if self.missing:
                return
        longest = max(len(tokens) for tokens, _ in self.rows)
        ids = np.full((len(self.rows), longest), self.pad, np.int32)
        shares = np.zeros((len(self.rows), longest), np.float32)
        for line, (row_ids, row_shares) in enumerate(self.rows):
            ids[line, : len(row_ids)] = row_ids
            shares[line, : len(row_shares)] = row_shares
        outputs = [pb_utils.Tensor("OUTPUT__0", ids), pb_utils.Tensor("OUTPUT__1", shares)]
        self.client.send(outputs, final=True)

    def fail(self, error):
        # The other rows end in vain: nothing is sent after this.
        self.client.fail(error, pb_utils.TritonError.UNAVAILABLE)
