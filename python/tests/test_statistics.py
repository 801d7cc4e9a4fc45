"""Statistics against softmax written out."""
import threading
import time

import numpy as np
import pytest
from conftest import attention, yarn_frequencies

import ropescope as rs
from ropescope.attention import as_rows

RANDOM = np.random.default_rng(7)


def test_a_row_is_a_softmax(yarn):
    q, k = RANDOM.standard_normal((2, 96, 64))
    factor = 0.1 * np.log(4) + 1
    weights, logits = attention(q, k, yarn_frequencies(), factor)
    seen = rs.statistics(q, k, rs.recipe(yarn, length=96), exact=True, by_distance=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(weights > 0, weights * np.log(weights), 0).sum(1)
    np.testing.assert_allclose(seen.entropy[0], entropy, atol=1e-9)
    np.testing.assert_allclose(seen.max_logit[0], logits.max(1), atol=1e-9)
    np.testing.assert_array_equal(seen.argmax[0], logits.argmax(1))
    np.testing.assert_array_equal(seen.keys[0], np.arange(1, 97))
    np.testing.assert_allclose(seen.first_weight[0], weights[:, :4].sum(1), atol=1e-9)
    np.testing.assert_allclose(seen.mass.sum(2)[0], 1, atol=1e-9)


def test_mass_is_by_distance():
    q, k = RANDOM.standard_normal((2, 64, 32))
    weights, _ = attention(q, k, 10000.0 ** (-np.arange(16) / 16))
    seen = rs.statistics(q, k, method="rope", exact=True, by_distance=True)
    with pytest.raises(ValueError, match="by_distance=True"):
        rs.statistics(q, k, method="rope").mass
    distance = np.arange(64)[:, None] - np.arange(64)
    for low, high, mass in zip(seen.edges[:-1], seen.edges[1:], seen.mass[0].T):
        inside = (distance >= low) & (distance < high)
        np.testing.assert_allclose(mass, (weights * inside).sum(1), atol=1e-9)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 1e-5), ("float64", 1e-9)])
def test_types_are_read_as_they_are(dtype, tolerance):
    q, k = RANDOM.standard_normal((2, 2, 48, 32)).astype(dtype)
    expected = rs.statistics(q.astype("float64"), k.astype("float64"), method="rope", exact=True)
    got = rs.statistics(q, k, method="rope", exact=True)
    np.testing.assert_allclose(got.entropy, expected.entropy, atol=tolerance)


def test_bfloat16_is_the_upper_half_of_a_float():
    class Tensor:
        dtype = "torch.bfloat16"

        def __init__(self, bits):
            self.bits = bits

        def __array__(self, dtype=None, copy=None):
            return self.bits

    q, k = RANDOM.standard_normal((2, 48, 32)).astype("float32")
    upper = [(x.view(np.uint32) >> 16).astype(np.uint16) for x in (q, k)]
    cut = [(x.astype(np.uint32) << 16).view(np.float32) for x in upper]
    got = rs.statistics(Tensor(upper[0]), Tensor(upper[1]), method="rope")
    np.testing.assert_array_equal(got.entropy, rs.statistics(*cut, method="rope").entropy)


def test_strides_layouts_and_shared_keys():
    q = RANDOM.standard_normal((40, 8, 64))[:, ::2, ::2]
    k = RANDOM.standard_normal((40, 2, 32))
    got = rs.statistics(q, k, method="rope", layout="lhd", exact=True)
    assert got.entropy.shape == (4, 40)
    for head in range(4):
        alone = rs.statistics(q[:, head].copy(), k[:, head // 2].copy(), method="rope", exact=True)
        np.testing.assert_allclose(got.log_sum_exp[head], alone.log_sum_exp[0], atol=1e-12)


def test_nothing_is_copied():
    q = RANDOM.standard_normal((4, 64, 32))
    for given in (q, q[:, ::-1], q.transpose(0, 2, 1), q[..., 3::5], q.astype("float32"), q.astype("float16")):
        array, _ = as_rows(given, "q")
        assert np.shares_memory(array, given) and array.shape == given.shape


class OnlyDlpack:
    """A tensor of a library that numpy does not know."""

    def __init__(self, array):
        self.array = array
        self.asked = 0

    def __dlpack__(self, **words):
        self.asked += 1
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyArray:
    """The same by the older way."""

    def __init__(self, array):
        self.array = array
        self.asked = 0

    def __array__(self, dtype=None, copy=None):
        self.asked += 1
        return self.array


class NeedsDetach(OnlyArray):
    """As torch's tensors with a gradient: only what is detached can be read."""

    def detach(self):
        return OnlyArray(self.array)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("detach first")


@pytest.mark.parametrize("kind", [OnlyDlpack, OnlyArray, NeedsDetach])
def test_tensors_of_others_are_read_where_they_are(kind):
    q, k = RANDOM.standard_normal((2, 2, 48, 32)).astype("float32")
    array, _ = as_rows(kind(q), "q")
    assert np.shares_memory(array, q)
    got = rs.statistics(kind(q), kind(k), method="rope")
    np.testing.assert_array_equal(got.entropy, rs.statistics(q, k, method="rope").entropy)


def test_the_memory_of_a_copy_is_not_taken():
    """A row that is broadcast: 2 KB where a copy would take 64 GB."""
    row = RANDOM.standard_normal(64).astype("float32")
    k = np.broadcast_to(row, (32, 4096, 64))
    huge = np.broadcast_to(row, (32, 1 << 23, 64))
    array, _ = as_rows(huge, "k")
    assert array.strides == (0, 0, 4)
    seen = rs.statistics(k[:, -4:], k, method="nope", first_query=4092, queries=[4095])
    np.testing.assert_allclose(seen.entropy, np.log(4096), atol=1e-4)


def test_masks_queries_and_targets():
    q, k = RANDOM.standard_normal((2, 64, 32))
    inv_freq = 10000.0 ** (-np.arange(16) / 16)
    distance = np.arange(64)[:, None] - np.arange(64)
    weights, logits = attention(q, k, inv_freq, mask=(distance >= 0) & (distance < 10))
    seen = rs.statistics(q, k, method="rope", mask="window", window=10, queries=[20, 63], targets=[15, 3], exact=True)
    np.testing.assert_array_equal(seen.query[0], [20, 63])
    np.testing.assert_array_equal(seen.keys[0], 10)
    np.testing.assert_allclose(seen.target_weight[0, 0], weights[20, 15], atol=1e-9)
    assert seen.target_rank[0, 0] == (logits[20] > logits[20, 15]).sum()
    assert np.isnan(seen.target_weight[0, 1])  # out of the window
    both = rs.statistics(q, k, method="rope", mask="bidirectional", queries=1)
    assert both.keys[0, 0] == 64 and rs.statistics(q, k, method="rope", queries=3).query.tolist() == [[61, 62, 63]]


def test_fewer_queries_than_keys_are_the_last_tokens():
    """A step of decoding: the rows of q are the end of the context, and what is said of them is what all rows say."""
    q, k = RANDOM.standard_normal((2, 3, 64, 32))
    every = rs.statistics(q, k, method="rope", mask="causal", exact=True, by_distance=True)
    last = rs.statistics(q[:, -4:], k, method="rope", mask="causal", exact=True, by_distance=True)
    assert last.first_query == 60 and every.first_query == 0 and "at positions 60 to 63" in repr(last)
    np.testing.assert_array_equal(last.query, np.tile([60, 61, 62, 63], (3, 1)))
    for name in ("keys", "max_logit", "log_sum_exp", "entropy", "argmax", "first_weight", "mass"):
        np.testing.assert_allclose(getattr(last, name), getattr(every, name)[:, -4:], rtol=1e-12, err_msg=name)
    np.testing.assert_array_equal(rs.statistics(q[:, -4:], k, queries=2).query[0], [62, 63])


def test_first_query_says_where_the_queries_stand():
    q, k = RANDOM.standard_normal((2, 64, 32))
    every = rs.statistics(q, k, method="rope", exact=True)
    middle = rs.statistics(q[20:30], k, method="rope", first_query=20, exact=True)
    np.testing.assert_allclose(middle.entropy, every.entropy[:, 20:30], rtol=1e-12)
    np.testing.assert_array_equal(rs.statistics(q[:4], k, first_query=0).query[0], [0, 1, 2, 3])
    with pytest.raises(ValueError, match="first_query = 61: .*at most 60"):
        rs.statistics(q[:4], k, first_query=61)
    with pytest.raises(ValueError, match="q has 64 tokens and k has 4"):
        rs.statistics(q, k[:4])


def test_positions_and_counts_are_integers():
    q, k = RANDOM.standard_normal((2, 2, 64, 32))
    seen = rs.statistics(q, k, queries=8, by_distance=True, metrics=["score_by_distance"])
    for name in ("query", "keys", "argmax", "edges"):
        array = getattr(seen, name)
        assert array.dtype == np.int64 and not array.flags.writeable, name
    assert seen.entropy.dtype == np.float64
    curve = seen.curves["score_by_distance"]
    assert curve["logits"].dtype == np.int64 and curve["distance_tokens"].dtype == np.int64
    assert curve["score_mean_nats"].dtype == np.float64


def test_a_model_or_a_recipe_is_taken_as_it_stands():
    q, k = RANDOM.standard_normal((2, 2, 32, 128))
    expected = rs.statistics(q, k, model="llama-2-7b", method={"name": "pi", "factor": 2})
    recipe = rs.recipe("llama-2-7b", {"name": "pi", "factor": 2})
    for given in (
        rs.statistics(q, k, "llama-2-7b", method={"name": "pi", "factor": 2}),
        rs.statistics(q, k, recipe),
        rs.statistics(q, k, model=recipe),
        rs.statistics(q, k, "llama-2-7b", method=recipe),
        rs.statistics(q, k, rs.recipe("llama-2-7b"), method=recipe),
    ):
        np.testing.assert_array_equal(given.entropy, expected.entropy)
    assert not np.array_equal(rs.statistics(q, k, "llama-2-7b").entropy, expected.entropy)
    with pytest.raises(ValueError, match="model stands beside recipe"):
        rs.statistics(q, k, recipe, model="gpt2")


def test_metrics_are_in_the_summary():
    q, k = RANDOM.standard_normal((2, 64, 32))
    seen = rs.statistics(q, k, method="rope", metrics=["entropy"], exact=True)
    assert seen.summary["entropy_nats"] == pytest.approx(seen.entropy.mean(), rel=1e-9)


def test_wrong_shapes_are_refused():
    q, k = RANDOM.standard_normal((2, 16, 32))
    for call in (
        lambda: rs.statistics(q, k[:, :16]),
        lambda: rs.statistics(q[None, None], k),
        lambda: rs.statistics(q.astype(int), k),
        lambda: rs.statistics(q, k, mask="diagonal"),
        lambda: rs.statistics(q, k, mask="window"),
        lambda: rs.statistics(q, k, targets=[1]),
        lambda: rs.statistics(np.stack([q] * 3), np.stack([k] * 2)),
        lambda: rs.statistics(np.where(np.arange(32) == 5, np.nan, q), k),
        lambda: rs.statistics(q, k, metrics=["entropie"]),
    ):
        with pytest.raises((rs.Error, ValueError, TypeError)) as caught:
            call()
        assert str(caught.value)


def seconds_of_ticks(work):
    """Begin and end of `work()`, and when another thread ran in between."""
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        begin = time.monotonic()
        work()
        end = time.monotonic()
    finally:
        done.set()
        ticker.join()
    return begin, end, [t for t in ticks if begin < t < end]


def test_other_threads_run_meanwhile():
    """A call of one long stretch of C: another thread ticks through all of it."""
    q, k = RANDOM.standard_normal((2, 1, 16384, 64)).astype("float32")
    begin, end, ticks = seconds_of_ticks(lambda: rs.statistics(q, k, method="rope", threads=1))
    thirds = [sum(begin + i * (end - begin) / 3 <= t < begin + (i + 1) * (end - begin) / 3 for t in ticks) for i in range(3)]
    assert min(thirds) >= 3, (end - begin, thirds)


def test_two_threads_are_in_the_library_at_once():
    """Each waits, in a callback of its call, for the other one's."""
    both, got = threading.Barrier(2, timeout=60), []
    library = rs.Library()

    @library.method("meeting")
    def meeting(asked):
        both.wait()
        return asked.plain

    calls = [
        threading.Thread(target=lambda: got.append(rs.frequencies("llama-2-7b", method="meeting", library=library)))
        for _ in range(2)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    np.testing.assert_allclose(got, [rs.frequencies("llama-2-7b")] * 2, rtol=1e-14)


def test_threads_have_results_of_their_own():
    q, k = RANDOM.standard_normal((2, 2, 2048, 64)).astype("float32")
    expected = [rs.statistics(q[i], k[i], method="rope", threads=1).entropy for i in range(2)]
    results = [None, None]

    def observe(i):
        results[i] = rs.statistics(q[i], k[i], method="rope", threads=1).entropy

    workers = [threading.Thread(target=observe, args=(i,)) for i in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    np.testing.assert_array_equal(results, expected)
