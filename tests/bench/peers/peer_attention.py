#!/usr/bin/env python3
"""Peers of `statistics_*` and `last_*`: of each causal softmax row its maximum, log-sum-exp, entropy, argmax, and the
weight in log-spaced bins of distance. float32, 128 dims.

numpy_naive      softmax rows, np.bincount a row
numpy_skewed     rows of scores seen through a skewed view, so that columns are distances and the bins of many rows are
                 one np.add.reduceat; exp in place; the BLAS has the threads
numpy_tiles      the same by tiles that stay in the cache, merged as flash attention does; the threads have tiles, the
                 BLAS one thread: all that numpy lets one do
torch_naive      softmax, scatter_add by bins
torch_skewed     as numpy_skewed, with torch's own threads

Debian's torch takes any libblas.so.3. That must be OpenBLAS (libopenblas0-openmp) to be fair; where another one is
chosen, LD_PRELOAD=/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3 puts it first. side_by_side.py does so.
"""
import concurrent.futures
import math

import common

np = common.need("numpy")

DIM = 128
PER_OCTAVE = 4
HIDDEN = np.float32(-1e30)  # exp of it is 0, and 0 times it is 0, which -infinity's is not


def bin_edges(length):
    """As rs_log_edges: 0, then 2^(k/4) rounded down, each integer once, the last edge `length`."""
    edges, step = [0], 0
    while edges[-1] < length:
        edge = min(int(math.floor(2 ** (step / PER_OCTAVE) + 1e-9)), length)
        step += 1
        if edge != edges[-1]:
            edges.append(edge)
    return np.array(edges)


class Peer:
    """`run` fills `top` (maximum), `lse`, `entropy`, `argmax` and `bins` of the last queries of n keys."""

    bound = 1e-4  # of float32 sums, on the entropy
    dtype = np.float32

    def __init__(self, threads):
        self.threads = threads
        common.blas_threads(threads)

    def prepare(self, size):
        self.length, self.count = size
        rng = np.random.default_rng(1)
        self.k = rng.standard_normal((self.length, DIM), dtype=np.float64).astype(self.dtype)
        self.q = rng.standard_normal((self.count, DIM), dtype=np.float64).astype(self.dtype)
        self.first = self.length - self.count  # position of query 0
        self.edges = bin_edges(self.length)
        self.top, self.lse, self.entropy = (np.empty(self.count, self.dtype) for _ in range(3))
        self.argmax = np.empty(self.count, np.int64)
        self.bins = np.zeros((self.count, len(self.edges) - 1), self.dtype)

    def results(self):
        return [np.asarray(x) for x in (self.top, self.lse, self.entropy, self.argmax, self.bins)]

    def exact(self, row):
        m = self.first + row
        x = self.k[: m + 1].astype(np.longdouble) @ self.q[row].astype(np.longdouble) / np.sqrt(np.longdouble(DIM))
        weight = np.exp(x - x.max())
        total = weight.sum()
        lse = x.max() + np.log(total)
        bins = np.zeros(len(self.edges) - 1)
        bin_of = np.searchsorted(self.edges, m - np.arange(m + 1), side="right") - 1
        np.add.at(bins, bin_of, (weight / total).astype(float))
        return x.max(), lse, lse - (weight * x).sum() / total, x.argmax(), bins

    def check(self):
        """The largest error of all rows in two small cases, all queries and the last; infinite for a wrong argmax."""
        worst = 0.0
        for size in (611, 611), (2000, 40):
            self.prepare(size)
            self.run()
            got = self.results()
            for row in range(self.count):
                exact = self.exact(row)
                worst = max(worst, *(abs(float(got[i][row] - exact[i])) for i in range(3)))
                worst = max(worst, float(np.abs(got[4][row] - exact[4]).max()))
                if got[3][row] != exact[3]:
                    worst = math.inf
        return worst


def scale(q):
    return q / q.dtype.type(math.sqrt(DIM))


class NumpyNaive(Peer):
    name, BLOCK = "numpy_naive", 256

    def run(self):
        for begin in range(0, self.count, self.BLOCK):
            end = min(begin + self.BLOCK, self.count)
            keys = self.first + end
            x = scale(self.q[begin:end]) @ self.k[:keys].T
            position = np.arange(self.first + begin, keys)
            x[np.arange(keys) > position[:, None]] = -np.inf
            top = x.max(axis=1)
            weight = np.exp(x - top[:, None])
            total = weight.sum(axis=1)
            weight /= total[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                self.entropy[begin:end] = -np.nansum(weight * np.log(weight), axis=1)
            self.top[begin:end], self.lse[begin:end] = top, top + np.log(total)
            self.argmax[begin:end] = x.argmax(axis=1)
            for row in range(end - begin):
                seen = position[row] + 1
                bin_of = self.bin_of[seen - 1 :: -1] if seen <= len(self.bin_of) else None
                self.bins[begin + row] = np.bincount(bin_of, weights=weight[row, :seen], minlength=self.bins.shape[1])

    def prepare(self, size):
        super().prepare(size)
        self.bin_of = np.searchsorted(self.edges, np.arange(self.length), side="right") - 1


def skew(scores, rows, columns):
    """View V[r, d] = scores[r, d + rows - 1 - r]: where scores has keys in descending order, d is a distance."""
    line, item = scores.strides
    return np.lib.stride_tricks.as_strided(scores[:, rows - 1 :], (rows, columns), (line - item, item))


class NumpySkewed(Peer):
    name, BLOCK = "numpy_skewed", 128

    def prepare(self, size):
        super().prepare(size)
        self.rows = min(self.BLOCK, self.count)
        self.scores = np.empty(self.rows * (self.length + self.rows), self.dtype)
        self.weights = np.empty(self.rows * self.length, self.dtype)

    def run(self):
        backwards = np.ascontiguousarray(self.k[::-1])
        for begin in range(0, self.count, self.rows):
            self.block(begin, min(begin + self.rows, self.count), backwards)

    def block(self, begin, end, backwards):
        rows, keys = end - begin, self.first + end
        scores = self.scores[: rows * (keys + rows)].reshape(rows, keys + rows)
        np.matmul(scale(self.q[begin:end]), backwards[self.length - keys :].T, out=scores[:, :keys])
        scores[:, keys:] = HIDDEN  # distances beyond a row's first key
        x = skew(scores, rows, keys)
        for r in range(rows):  # of a row by itself, for which numpy makes no copy
            self.argmax[begin + r] = x[r].argmax()
        top = x[np.arange(rows), self.argmax[begin:end]]
        weight = self.weights[: rows * keys].reshape(rows, keys)
        np.subtract(x, top[:, None], out=weight)
        np.exp(weight, out=weight)
        inside = np.searchsorted(self.edges, keys)
        sums = np.add.reduceat(weight, self.edges[:inside], axis=1)
        total = sums.sum(axis=1)
        lse = top + np.log(total)
        self.top[begin:end], self.lse[begin:end] = top, lse
        self.entropy[begin:end] = lse - np.einsum("ij,ij->i", weight, x) / total
        self.argmax[begin:end] = self.first + np.arange(begin, end) - self.argmax[begin:end]
        self.bins[begin:end, :inside] = sums / total[:, None]


class NumpyTiles(Peer):
    """Tiles of ROWS queries and COLUMNS distances; of each row a running maximum, to which the sums are relative."""

    name, ROWS, COLUMNS = "numpy_tiles", 64, 4096

    def check(self):
        whole, self.COLUMNS = self.COLUMNS, 192  # so that small cases have tiles to merge
        error = super().check()
        self.COLUMNS = whole
        return error

    def prepare(self, size):
        super().prepare(size)
        common.blas_threads(1)
        self.pool = concurrent.futures.ThreadPoolExecutor(self.threads)

    def run(self):
        backwards = np.ascontiguousarray(self.k[::-1])
        rows = min(self.ROWS, max(1, self.count // self.threads))
        blocks = [(b, min(b + rows, self.count)) for b in range(0, self.count, rows)]
        # The last rows see the most keys: first come, first done.
        list(self.pool.map(lambda block: self.block(*block, backwards), reversed(blocks)))

    def block(self, begin, end, backwards):
        rows, dtype = end - begin, self.dtype
        q = scale(self.q[begin:end])
        buffer = np.empty(rows * (self.COLUMNS + rows - 1), dtype)
        weights = np.empty(rows * self.COLUMNS, dtype)
        state = {
            "top": np.full(rows, HIDDEN),
            "sums": np.zeros((rows, self.bins.shape[1]), dtype),
            "moment": np.zeros(rows, dtype),  # sum of weight times (score - top)
            "argmax": np.zeros(rows, np.int64),
        }
        for near in range(0, self.first + end, self.COLUMNS):
            far = min(near + self.COLUMNS, self.first + end)
            self.tile((begin, end, near, far), (q, backwards, buffer, weights), state)
        total = state["sums"].sum(axis=1)
        self.top[begin:end] = state["top"]
        self.lse[begin:end] = state["top"] + np.log(total)
        self.entropy[begin:end] = np.log(total) - state["moment"] / total
        self.argmax[begin:end] = self.first + np.arange(begin, end) - state["argmax"]
        self.bins[begin:end] = state["sums"] / total[:, None]

    def tile(self, place, arrays, state):
        begin, end, near, far = place
        q, backwards, buffer, weights = arrays
        rows, columns = end - begin, far - near
        scores = buffer[: rows * (columns + rows - 1)].reshape(rows, columns + rows - 1)
        # Key n stands in row length - 1 - n of `backwards`; column 0 is the key at distance `near` of the last query.
        row = self.length - self.first - end + near
        have = min(columns + rows - 1, self.length - row)
        np.matmul(q, backwards[row : row + have].T, out=scores[:, :have])
        scores[:, have:] = HIDDEN
        x = skew(scores, rows, columns)
        best = x.max(axis=1)
        better = best > state["top"]
        for r in np.flatnonzero(better):
            state["argmax"][r] = near + x[r].argmax()
        top = np.maximum(state["top"], best)
        lowered = state["top"] - top
        weight = weights[: rows * columns].reshape(rows, columns)
        np.subtract(x, top[:, None], out=x)
        np.exp(x, out=weight)
        if better.any():
            fade = np.exp(lowered)
            before = state["sums"].sum(axis=1)
            state["moment"] = np.where(before > 0, fade * (state["moment"] + before * lowered), 0).astype(self.dtype)
            state["sums"] *= fade[:, None]
            state["top"] = top
        low, high = np.searchsorted(self.edges, near, side="right") - 1, np.searchsorted(self.edges, far)
        starts = np.maximum(self.edges[low:high] - near, 0)
        state["sums"][:, low:high] += np.add.reduceat(weight, starts, axis=1)
        state["moment"] += np.einsum("ij,ij->i", weight, x)


class TorchPeer(Peer):
    def __init__(self, threads):
        super().__init__(threads)
        self.torch = common.need("torch")
        self.torch.set_num_threads(threads)

    def prepare(self, size):
        super().prepare(size)
        torch = self.torch
        self.tk, self.tq = torch.from_numpy(self.k), torch.from_numpy(self.q)
        self.top, self.lse, self.entropy = (torch.empty(self.count) for _ in range(3))
        self.argmax = torch.empty(self.count, dtype=torch.long)
        self.bins = torch.zeros(self.count, len(self.edges) - 1)


class TorchNaive(TorchPeer):
    name, BLOCK = "torch_naive", 256

    def prepare(self, size):
        super().prepare(size)
        bin_of = np.searchsorted(self.edges, np.arange(self.length), side="right") - 1
        self.bin_of = self.torch.from_numpy(bin_of)

    def run(self):
        torch = self.torch
        self.bins.zero_()
        for begin in range(0, self.count, self.BLOCK):
            end = min(begin + self.BLOCK, self.count)
            keys = self.first + end
            x = self.tq[begin:end] @ self.tk[:keys].T / math.sqrt(DIM)
            distance = torch.arange(self.first + begin, keys)[:, None] - torch.arange(keys)
            x = x.masked_fill(distance < 0, -math.inf)
            self.top[begin:end], self.argmax[begin:end] = x.max(dim=1)
            self.lse[begin:end] = torch.logsumexp(x, dim=1)
            weight = torch.softmax(x, dim=1)
            self.entropy[begin:end] = -torch.xlogy(weight, weight).sum(dim=1)
            self.bins[begin:end].scatter_add_(1, self.bin_of[distance.clamp(min=0)], weight)


class TorchSkewed(TorchPeer):
    name, BLOCK = "torch_skewed", 128

    def prepare(self, size):
        super().prepare(size)
        self.rows = min(self.BLOCK, self.count)
        self.scores = self.torch.empty(self.rows * (self.length + self.rows))
        self.weights = self.torch.empty(self.rows * self.length)

    def run(self):
        backwards = self.torch.flip(self.tk, [0])
        for begin in range(0, self.count, self.rows):
            self.block(begin, min(begin + self.rows, self.count), backwards)

    def block(self, begin, end, backwards):
        torch = self.torch
        rows, keys = end - begin, self.first + end
        scores = self.scores[: rows * (keys + rows)].view(rows, keys + rows)
        torch.mm(self.tq[begin:end] / math.sqrt(DIM), backwards[self.length - keys :].T, out=scores[:, :keys])
        scores[:, keys:] = float(HIDDEN)
        x = torch.as_strided(scores, (rows, keys), (keys + rows - 1, 1), scores.storage_offset() + rows - 1)
        top, at = x.max(dim=1)
        weight = self.weights[: rows * keys].view(rows, keys)
        torch.sub(x, top[:, None], out=weight)
        weight.exp_()
        inside = int(np.searchsorted(self.edges, keys))
        ends = list(self.edges[1:inside]) + [keys]
        sums = torch.stack([weight[:, low:high].sum(dim=1) for low, high in zip(self.edges[:inside], ends)], dim=1)
        total = sums.sum(dim=1)
        self.top[begin:end], self.lse[begin:end] = top, top + total.log()
        self.entropy[begin:end] = self.lse[begin:end] - (weight.mul_(x)).sum(dim=1) / total
        self.argmax[begin:end] = torch.arange(self.first + begin, keys) - at
        self.bins[begin:end, :inside] = sums / total[:, None]


ALL = [NumpyNaive, NumpySkewed, NumpyTiles, TorchNaive, TorchSkewed]

if __name__ == "__main__":
    jobs = {"statistics_f32": ((131072, 131072), (4096, 4096), ALL)}
    for queries in 64, 16, 4:
        jobs[f"last_{queries}"] = ((1000000, queries), (65536, queries), ALL)
    common.main(jobs, __doc__.splitlines()[0])
