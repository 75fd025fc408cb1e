"""The chat network on another device than the CPU.

Meta tensors have shapes and dtypes but no values: a step that runs on them asks the device for
none, so on a GPU it never waits for one. (Fake "cuda" tensors, which would tell mixed devices too,
cannot be indexed by a PyTorch without CUDA.)
"""

from __future__ import annotations

import pytest
import torch

from server_bundle.chitchat import precision
from server_bundle.chitchat.folder import Vocabulary
from server_bundle.chitchat.graphs import GraphedDecode, sizes
from server_bundle.chitchat.network import ChitchatNetwork, KVCache, NetworkConfig
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.sampling import RowState, sample


@pytest.mark.parametrize("post_norm", [True, False], ids=["openai-gpt", "gpt2"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_steps_stay_on_their_device(post_norm: bool, dtype: torch.dtype) -> None:
    config = NetworkConfig(99, 32, 16, 2, 2, 64, 1e-5, post_norm)
    with torch.no_grad():
        network = precision.apply(ChitchatNetwork(config), str(dtype).removeprefix("torch."))
        network.to("meta")
        ids = torch.zeros(5, dtype=torch.long, device="meta")
        tokens = torch.zeros(3, dtype=torch.long, device="meta")
        cache = KVCache(config, 4, device="meta", dtype=dtype)
        everything = network(ids.unsqueeze(0), ids.unsqueeze(0))
        first = network.prefill(ids, ids, cache, 2)
        following = network.decode(tokens, tokens, tokens + 5, 5, cache)
        cache.move(2, 0, 6)
    for logits, shape in ((everything, (1, 5, 99)), (first, (99,)), (following, (3, 99))):
        assert logits.device.type == "meta"
        assert logits.dtype == torch.float32
        assert logits.shape == shape


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_a_gpu_gives_what_the_cpu_gives() -> None:
    torch.manual_seed(1)
    config = NetworkConfig(99, 32, 16, 2, 2, 64, 1e-5, post_norm=False)
    network = ChitchatNetwork(config).eval()
    ids = torch.randint(0, 99, (2, 20))
    with torch.inference_mode():
        expected = network(ids, ids)
        actual = network.cuda()(ids.cuda(), ids.cuda()).cpu()
        torch.testing.assert_close(actual, expected, atol=1e-3, rtol=1e-3)
        rows = [RowState(SamplingParameters(seed=i), prompt=[]) for i in range(2)]
        vocabulary = Vocabulary(99, 2, (0, 1, 3))
        on_gpu = sample(actual[:, -1].cuda(), rows, vocabulary)
    again = [RowState(SamplingParameters(seed=i), prompt=[]) for i in range(2)]
    on_cpu = sample(actual[:, -1], again, vocabulary)
    assert [s.token for s in on_gpu] == [s.token for s in on_cpu]


def test_a_step_of_fixed_shapes_gives_what_the_plain_one_gives() -> None:
    torch.manual_seed(2)
    config = NetworkConfig(99, 32, 16, 2, 2, 64, 1e-5, post_norm=False)
    network = ChitchatNetwork(config).eval()
    ids, types = torch.randint(0, 99, (2, 3, 20))
    lengths = [3, 11, 7]
    plain, fixed = KVCache(config, 4), KVCache(config, 4)
    with torch.inference_mode():
        for cache in (plain, fixed):
            for row, length in enumerate(lengths):
                network.prefill(ids[row, :length], types[row, :length], cache, row)
        for step in range(5):
            positions = torch.tensor([length + step for length in lengths])
            rows = torch.arange(3)
            told = (ids[rows, positions], types[rows, positions], positions)
            expected = network.decode(*told, int(positions.max()), plain)
            actual = network.decode_within(*told, 32, fixed)
            torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)


def test_graphs_are_recorded_for_a_few_sizes() -> None:
    assert sizes(1, 8) == [1, 2, 4, 8]
    assert sizes(1, 6) == [1, 2, 4, 6]
    assert sizes(128, 512) == [128, 256, 512]
    assert sizes(32, 32) == [32]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("with_types", [True, False])
def test_cuda_graphs_give_what_plain_steps_give(with_types: bool) -> None:
    torch.manual_seed(3)
    config = NetworkConfig(99, 256, 64, 2, 2, 256, 1e-5, post_norm=False)
    network = precision.apply(ChitchatNetwork(config).eval(), "float16").cuda()
    made = [KVCache(config, 6, device="cuda", dtype=torch.float16) for _ in range(2)]
    ids, types = torch.randint(0, 99, (2, 5, 250), device="cuda")
    with torch.inference_mode():
        steps = GraphedDecode(network, made[1], with_types=with_types)
        lengths = [3, 110, 7, 60, 124]
        for cache in made:
            for row, length in enumerate(lengths):
                type_row = types[row, :length] if with_types else None
                network.prefill(ids[row, :length], type_row, cache, row)
        for n in (5, 5, 4, 1, 1):  # across a span's end, and with fewer rows
            positions = torch.tensor(lengths[:n], device="cuda")
            rows = torch.arange(n, device="cuda")
            told = ids[rows, positions], types[rows, positions] if with_types else None, positions
            expected = network.decode(*told, max(lengths[:n]), made[0])
            actual = steps(*told, max(lengths[:n]), made[1])
            torch.testing.assert_close(actual, expected, atol=2e-2, rtol=2e-2)
            lengths = [length + 1 if i < n else length for i, length in enumerate(lengths)]
