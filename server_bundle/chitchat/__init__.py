"""The chitchat GPT: checkpoints, network with KV cache, sampling, continuous batching, prompts."""
