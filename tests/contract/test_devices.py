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
