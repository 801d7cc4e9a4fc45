"""What the tests share."""
import json

import numpy as np
import pytest

pytest_plugins = ["pytester"]

YARN = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "rope_theta": 10000.0,
    "max_position_embeddings": 16384,
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
}


@pytest.fixture
def yarn():
    """A config.json as a dict: D = 64, YaRN by 4."""
    return json.loads(json.dumps(YARN))


@pytest.fixture
def yarn_file(tmp_path, yarn):
    """The same as a file."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(yarn, indent=2))
    return path


def yarn_frequencies(dim=64, base=10000.0, factor=4.0, original=4096, fast=32, slow=1):
    """Eq. 23 of arXiv:2309.00071 with transformers' whole bounds, written out."""
    pairs = dim // 2
    plain = base ** (-2 * np.arange(pairs) / dim)
    bound = lambda turns: dim * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(base))
    low, high = max(np.floor(bound(fast)), 0), min(np.ceil(bound(slow)), dim - 1)
    ramp = np.clip((np.arange(pairs) - low) / (high - low), 0, 1)
    return plain * (1 - ramp) + plain / factor * ramp


def attention(q, k, inv_freq, factor=1.0, mask=None):
    """Softmax of rotated q and k (L, D), halves side by side, written out: weights and logits (L, L)."""
    tokens, dim = q.shape
    angle = np.arange(tokens)[:, None] * inv_freq
    cos, sin = factor * np.cos(angle), factor * np.sin(angle)
    half = dim // 2
    turned = [np.hstack([x[:, :half] * cos - x[:, half:] * sin, x[:, :half] * sin + x[:, half:] * cos]) for x in (q, k)]
    logits = turned[0] @ turned[1].T / np.sqrt(dim)
    seen = np.tril(np.ones((tokens, tokens), bool)) if mask is None else mask
    logits = np.where(seen, logits, -np.inf)
    weights = np.exp(logits - logits.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True), logits
