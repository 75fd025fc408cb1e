"""Reads the network of a chitchat checkpoint folder: config.json and weights.

Weights come from ``model.safetensors``, or from ``pytorch_model.bin`` with ``weights_only=True``; a
pickle that wants more than tensors is refused, never executed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from server_bundle import pickles
from server_bundle.chitchat.folder import (
    MOST,
    CheckpointError,
    context_length,
    read_json,
    size,
)
from server_bundle.chitchat.network import ChitchatNetwork, NetworkConfig


def network_config(config: dict[str, Any]) -> NetworkConfig:
    """Sizes from a transformers ``config.json`` of type ``gpt2`` or ``openai-gpt``. Raises
    :class:`CheckpointError`."""
    kind = config.get("model_type")
    if kind not in ("gpt2", "openai-gpt"):
        raise CheckpointError(
            f"model_type {kind!r} is not supported: expected 'gpt2' or 'openai-gpt'"
        )
    post_norm = kind == "openai-gpt"
    try:
        n_embd = size(config, "n_embd", MOST["n_embd"])
        n_head = size(config, "n_head", n_embd)
        if n_embd % n_head:
            raise CheckpointError(f"config.json: n_head {n_head} does not divide n_embd {n_embd}")
        wider = {"n_inner": config.get("n_inner") or 4 * n_embd}
        activation = str(config.get("afn" if post_norm else "activation_function", "gelu_new"))
        if post_norm and activation == "gelu":
            activation = "gelu_new"  # modeling_openai's ACT_FNS maps "gelu" to the tanh form
        return NetworkConfig(
            vocab_size=size(config, "vocab_size", MOST["vocab_size"]),
            n_positions=context_length(config),
            n_embd=n_embd,
            n_layer=size(config, "n_layer", MOST["n_layer"]),
            n_head=n_head,
            n_inner=size(wider, "n_inner", MOST["n_inner"]),
            layer_norm_epsilon=float(config.get("layer_norm_epsilon", 1e-5)),
            post_norm=post_norm,
            activation=activation,
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise CheckpointError(f"config.json lacks a usable size: {error}") from None


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The raw tensors of a checkpoint, under the names they were saved with."""
    safe = folder / "model.safetensors"
    pickled = folder / "pytorch_model.bin"
    try:
        if safe.exists():
            return load_file(safe)
        if pickled.exists():
            if pickles.is_compressed(pickled):
                raise CheckpointError("it is compressed, which no checkpoint of PyTorch is")
            state = torch.load(pickled, map_location="cpu", weights_only=True)
            return dict(state.get("model", state))
    except Exception as error:
        raise CheckpointError(f"the weights in {folder} cannot be read: {error}") from None
    raise CheckpointError(f"{folder} has neither model.safetensors nor pytorch_model.bin")


# transformers' names → ours. Their Conv1D keeps [in, out]; a Linear wants [out, in].
_BLOCK = {
    "ln_1.weight": "ln_1.weight",
    "ln_1.bias": "ln_1.bias",
    "ln_2.weight": "ln_2.weight",
    "ln_2.bias": "ln_2.bias",
    "attn.c_attn.weight": "qkv.weight",
    "attn.c_attn.bias": "qkv.bias",
    "attn.c_proj.weight": "attn_out.weight",
    "attn.c_proj.bias": "attn_out.bias",
    "mlp.c_fc.weight": "mlp_in.weight",
    "mlp.c_fc.bias": "mlp_in.bias",
    "mlp.c_proj.weight": "mlp_out.weight",
    "mlp.c_proj.bias": "mlp_out.bias",
}
_TOP = {
    "wte.weight": "wte.weight",
    "wpe.weight": "wpe.weight",
    "tokens_embed.weight": "wte.weight",
    "positions_embed.weight": "wpe.weight",
    "ln_f.weight": "ln_f.weight",
    "ln_f.bias": "ln_f.bias",
}
_CONV1D = ("qkv.weight", "attn_out.weight", "mlp_in.weight", "mlp_out.weight")


def convert(raw: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """transformers' tensor names and layouts → :class:`ChitchatNetwork`'s, in FP32."""
    state: dict[str, Tensor] = {}
    for name, tensor in raw.items():
        short = name.removeprefix("transformer.")
        if short in _TOP:
            state[_TOP[short]] = tensor.float()
            continue
        match = re.fullmatch(r"h\.(\d+)\.(.+)", short)
        if match and match[2] in _BLOCK:
            ours = _BLOCK[match[2]]
            value = tensor.float()
            state[f"blocks.{match[1]}.{ours}"] = value.T.contiguous() if ours in _CONV1D else value
    return state


def load_network(folder: Path) -> ChitchatNetwork:
    """The network of a checkpoint folder, FP32 on the CPU, in eval mode.

    Raises:
        CheckpointError: a file is missing or unreadable, or the weights do not fit the config.
    """
    config = network_config(read_json(folder / "config.json"))
    state = convert(read_weights(folder))
    # Before so many layers are made that the weights do not have.
    if (layers := len({name.split(".")[1] for name in state if name.startswith("blocks.")})) != (
        config.n_layer
    ):
        raise CheckpointError(
            f"the weights in {folder} do not fit its config.json: they have {layers} layers, not "
            f"{config.n_layer}"
        )
    with torch.device("meta"):
        network = ChitchatNetwork(config)
    try:
        network.load_state_dict(state, assign=True)
    except RuntimeError as error:
        raise CheckpointError(
            f"the weights in {folder} do not fit its config.json: {error}"
        ) from None
    return network.eval().requires_grad_(False)
