"""The chitchat engine as a decoupled Triton model: token ids in, tokens with confidence out."""

import json

import torch
import triton_python_backend_utils as pb_utils

from server_bundle import process
from server_bundle.chitchat import prefix, triton_io
from server_bundle.chitchat.cancel import CancelReader, InvalidCancelKey
from server_bundle.chitchat.engine import Engine, QueueFull, Request
from server_bundle.chitchat.metrics import EngineMetrics
from server_bundle.chitchat.opening import open_layout, open_network
from server_bundle.chitchat.parameters import (
    InvalidParameter,
    SamplingParameters,
    parse,
    without_stop,
)
from server_bundle.chitchat.responder import Responder
from server_bundle.chitchat.settings import EngineSettings


class TritonPythonModel:
    def initialize(self, args):
        process.keep_freed_memory()
        torch.set_num_threads(1)  # of this thread, which only loads: the engine's is to compute
        config = json.loads(args["model_config"])
        folder = triton_io.path_parameter(config, "chat_model")
        self.cancel = CancelReader(triton_io.path_parameter(config, "run_dir"))
        self.layout = open_layout(folder)
        on_gpu = args["model_instance_kind"] == "GPU"
        wanted = triton_io.parameter(config, "precision", "auto")
        gpu = int(args["model_instance_device_id"]) if on_gpu else None
        network = open_network(folder, self.layout, wanted, gpu)
        size = getattr(network, "size", None)  # a model of transformers; ours tells by its config
        settings = EngineSettings.choose(network.config, config.get("parameters", {}), size)
        self.responder = Responder()
        self.engine = Engine(
            network,
            self.layout.vocabulary,
            slots=settings.slots,
            queue_limit=settings.queue_limit,
            threads=settings.threads,
            context=self.layout.context,
            with_types=bool(self.layout.speakers),
            pace=self.responder.pace,
        )
        self.engine.start()
        self.metrics = EngineMetrics(self.engine, args["model_name"], args["model_version"])

    def execute(self, requests):
        for request in requests:
            client = triton_io.Client(request)
            try:
                self.engine.submit(self.read(request, client))
            except (prefix.InvalidRow, InvalidParameter, InvalidCancelKey) as error:
                client.fail(error)
            except QueueFull as error:
                client.fail(error, pb_utils.TritonError.UNAVAILABLE)

    def read(self, request, client):
        inputs = [triton_io.array(request, f"INPUT__{i}") for i in range(3)]
        ids, types = prefix.read_row(*inputs, self.layout.vocabulary.size, self.engine.context)
        parsed = parse(
            triton_io.sampling_values(request),
            SamplingParameters(),
            vocab_size=self.layout.vocabulary.size,
            context=self.engine.context,
        )
        parameters = without_stop(parsed)
        key = parameters.cancel_key
        if key:
            self.cancel.check(key)
        sink = self.responder.sink(client, key)
        return Request(
            ids=ids,
            types=types if self.layout.speakers else None,
            reply_type=self.layout.reply_type(ids),
            reply_prefix=self.layout.reply_prefix(ids),
            parameters=parameters,
            sink=sink,
            is_cancelled=(lambda: self.cancel.is_cancelled(key)) if key else sink.is_cancelled,
        )

    def finalize(self):
        self.engine.stop()
        self.responder.close()
        self.metrics.close()
        self.cancel.close()
