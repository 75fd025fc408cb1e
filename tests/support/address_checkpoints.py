"""Checkpoints of the address network in the seed's shape, with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from server_bundle.address.divisions import default_table
from server_bundle.address.network import AddressConfig, BertFourLevelArea

VOCABULARY = [
    "[PAD]", *(f"[unused{i}]" for i in range(1, 100)), "[UNK]", "[CLS]", "[SEP]", "[MASK]",
    *"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,-()#",
    *(f"##{c}" for c in "0123456789abcdefghijklmnopqrstuvwxyz"), "96", "##69", "so", "##ho",
    *(chr(0x4E00 + i) for i in range(0x51A6)),
]  # fmt: skip
AREAS = 1524


def seed_network(rope: bool, areas: int = AREAS, **sizes: int) -> BertFourLevelArea:
    torch.manual_seed(7)
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 512,
        "inner_dim": 64,
        **sizes,
    }
    config = AddressConfig(len(VOCABULARY), areas, rope=rope, scale=1.0, **shape)  # type: ignore[arg-type]
    return BertFourLevelArea(config).eval()


def write_checkpoint(
    folder: Path, network: BertFourLevelArea, *, pickled: bool = False, **config: Any
) -> Path:
    """As the seed leaves one: a BERT config without the heads' sizes; pickled weights nested in
    ``model`` under their old names."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    if pickled:
        old = {
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
                "LayerNorm.bias", "LayerNorm.beta"
            ): tensor
            for name, tensor in state.items()
        }
        torch.save({"model": old, "epoch": 3}, folder / "pytorch_model.bin")
    else:
        save_file(state, folder / "model.safetensors")
    shape = network.config
    bert = {
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "max_position_embeddings": shape.max_position_embeddings,
        "num_attention_heads": shape.num_attention_heads,
        "num_hidden_layers": shape.num_hidden_layers,
        "type_vocab_size": 2,
        "vocab_size": shape.vocab_size,
        "RoPE": shape.rope,
        **config,
    }
    (folder / "config.json").write_text(json.dumps(bert))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    nodes = default_table().areas()
    rows = [
        f"{i},{''.join(n.name for n in nodes[i % len(nodes)].chain())}"
        for i in range(shape.num_labels_cls)
    ]
    (folder / "label_cls.csv").write_text("\n".join(["label,name", *rows]) + "\n", "utf-8")
    return folder
