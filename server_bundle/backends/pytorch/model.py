"""Serves TorchScript where NVIDIA's libtorch backend is absent.

A Python-based Triton backend for ``backend: "pytorch"`` and ``platform: "pytorch_libtorch"``.
Inputs are passed to ``forward`` in the order of the config. Like NVIDIA's it reads the parameters
``INTRA_OP_THREAD_COUNT`` and ``INTER_OP_THREAD_COUNT``. A request with the parameter
``precision`` = ``bf16`` may be computed with bfloat16 products where the CPU has instructions for
them: about twice as fast, with about three exact digits. NVIDIA's ignores it.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import torch
import triton_python_backend_utils as pb_utils

# Every new shape makes oneDNN compile kernels, which it keeps (half a gigabyte of them in the end):
# batches in bfloat16 are padded to one of these.
ROWS = (1, 2, 4, 8, 12, 16, 24, 32)


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.inputs = [tensor["name"] for tensor in config["input"]]
        self.outputs = [tensor["name"] for tensor in config["output"]]
        self.batched = config["max_batch_size"] > 0
        self.device = torch.device("cpu")
        self.bf16 = args["model_instance_kind"] != "GPU" and has_bf16()
        if args["model_instance_kind"] == "GPU":
            self.device = torch.device("cuda", int(args["model_instance_device_id"]))
        set_threads(config.get("parameters", {}))
        file = config.get("default_model_filename") or "model.pt"
        path = Path(args["model_repository"]) / args["model_version"] / file
        self.module = torch.jit.load(str(path), map_location=self.device).eval()

    def execute(self, requests):
        groups = defaultdict(list)
        answers = [None] * len(requests)
        for i, request in enumerate(requests):
            try:
                tensors = [self.read(request, name) for name in self.inputs]
            except Exception as error:
                answers[i] = failure(error, pb_utils.TritonError.INVALID_ARG)
                continue
            # Only equal shapes can be one batch; a model without batching runs each by itself.
            shapes = tuple(t.shape[1:] for t in tensors) if self.batched else i
            groups[shapes, self.bf16 and wants_bf16(request)].append((i, tensors))
        for (_, bf16), group in groups.items():
            self.answer(group, bf16, requests, answers)
        return answers

    def answer(self, group, bf16, requests, answers):
        try:
            results = self.forward([tensors for _, tensors in group], bf16)
        except Exception as error:
            if len(group) == 1:
                i, tensors = group[0]
                answers[i] = refusal(error, dict(zip(self.inputs, tensors, strict=True)))
            else:  # one of them is bad: it must not take its neighbours along
                for one in group:
                    self.answer([one], bf16, requests, answers)
            return
        for (i, _), outputs in zip(group, results, strict=True):
            wanted = requests[i].requested_output_names()
            tensors = [tensor(n, outputs[n]) for n in self.outputs if n in wanted]
            answers[i] = pb_utils.InferenceResponse(tensors)

    def read(self, request, name):
        found = pb_utils.get_input_tensor_by_name(request, name)
        if found is None:
            raise ValueError(f"The input {name} is missing.")
        return torch.from_dlpack(found).to(self.device)

    def forward(self, rows, bf16=False):
        """``rows``: the inputs of each request → the outputs of each by name."""
        joined = [
            torch.cat(parts) if self.batched else parts[0] for parts in zip(*rows, strict=True)
        ]
        rows_given = len(joined[0])
        if bf16 and self.batched:
            joined = [padded(each) for each in joined]
        # Shapes change with every batch: specialising on them costs seconds and gains nothing.
        with (
            torch.inference_mode(),
            torch.jit.optimized_execution(False),
            torch.autocast("cpu", torch.bfloat16, enabled=bf16),
        ):
            results = self.module(*joined)
        results = [results] if isinstance(results, torch.Tensor) else list(results)
        if len(results) != len(self.outputs):
            raise ValueError(
                f"The module gives {len(results)} tensors, the config names {len(self.outputs)}."
            )
        if not self.batched:
            return [dict(zip(self.outputs, results, strict=True))]
        results = [result[:rows_given] for result in results]
        sizes = [len(tensors[0]) for tensors in rows]
        parts = [result.split(sizes) for result in results]
        return [dict(zip(self.outputs, one, strict=True)) for one in zip(*parts, strict=True)]


def set_threads(parameters):
    def value(name, default):
        return max(1, int(parameters.get(name, {}).get("string_value", default)))

    # The chat model shares the machine.
    torch.set_num_threads(value("INTRA_OP_THREAD_COUNT", (os.cpu_count() or 2) // 2))
    torch.set_num_interop_threads(value("INTER_OP_THREAD_COUNT", 1))


def has_bf16():
    """Whether this CPU multiplies bfloat16 itself (AMX or AVX-512 BF16); emulated it is slower."""
    checks = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name, bool)() for name in checks)


def wants_bf16(request):
    return json.loads(request.parameters() or "{}").get("precision") == "bf16"


def padded(batch):
    """With rows of zeros up to the next of ``ROWS``."""
    missing = next((rows for rows in ROWS if rows >= len(batch)), len(batch)) - len(batch)
    return torch.nn.functional.pad(batch, (0, 0) * (batch.dim() - 1) + (0, missing))


def tensor(name, value):
    value = value.detach().contiguous()
    if value.dtype == torch.bfloat16 and not value.is_cuda:
        value = value.float()  # numpy has no bfloat16
    if value.is_cuda:
        return pb_utils.Tensor.from_dlpack(name, torch.utils.dlpack.to_dlpack(value))
    return pb_utils.Tensor(name, value.numpy())


def refusal(error, tensors):
    """What a module raises on the CPU it raises because of its inputs: TorchScript has no other
    way to refuse them."""
    words = str(error)
    if isinstance(error, MemoryError) or "out of memory" in words or "CUDA" in words:
        return failure(error, pb_utils.TritonError.INTERNAL)
    shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in tensors.items())
    reason = words.strip().splitlines()[-1] if words.strip() else repr(error)
    sentence = f"The model cannot compute with these inputs ({shapes}): {reason}"
    return failure(ValueError(sentence), pb_utils.TritonError.INVALID_ARG)


def failure(error, code):
    sentence = str(error).strip().splitlines()[-1] if str(error).strip() else repr(error)
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(sentence, code))
